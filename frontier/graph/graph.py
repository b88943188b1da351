"""The class Graph: compressed sparse rows (CSR), in-edges built on demand, columns, labels.

A :class:`Graph` is immutable. It is made by :func:`frontier.from_edges` and similar functions, by
:func:`frontier.read` or by a generator. Data derived from the rows (in-edges, the source of each slot,
the smallest weight) are built once, under a lock, and shared by all graphs that share the rows.

Its methods stand in base classes, one for each concern: arrays and what is derived from them (``graph_arrays``),
vertices by name (``graph_vertices``), the same graph in another form (``graph_forms``), and other graphs made of it
(``graph_transforms``). Here is how it is made, estimated, shown, pickled and converted for other libraries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from frontier.display import html
from frontier.errors import GraphError
from frontier.graph import moving
from frontier.graph.estimates import MemoryEstimate, estimate, register_memory
from frontier.graph.graph_forms import GraphForms
from frontier.graph.graph_transforms import GraphTransforms
from frontier.graph.graph_vertices import GraphVertices
from frontier.graph.packed import PackedIds
from frontier.graph.topology import Array, Topology, id_dtype, offset_dtype
from frontier.memory.placement import Placement

if TYPE_CHECKING:
    import networkx
    import pandas
    import polars
    import pyarrow
    import scipy.sparse

__all__ = ["Graph", "MemoryEstimate", "id_dtype", "offset_dtype", "register_memory"]


class Graph(GraphVertices, GraphForms, GraphTransforms):
    """A graph in compressed sparse rows; immutable.

    Make one with :func:`frontier.from_edges`, :func:`frontier.from_csr`,
    :func:`frontier.from_scipy`, :func:`frontier.from_networkx`, :func:`frontier.from_pandas`,
    :func:`frontier.read` or a generator. The constructor converts and sorts nothing: its arrays must be as described.

    An undirected graph stores each edge twice, once in the adjacency list of each endpoint, and a
    self-loop once. Graphs are compared by identity, and can be pickled.

    Parameters
    ----------
    offsets : ndarray, shape (n + 1,)
        Vertex v's edges are the slots ``offsets[v]`` to ``offsets[v + 1] - 1``; int32, or int64
        from 2**31 slots on.
    targets : ndarray, shape (m,)
        The target of each edge slot, ascending within each vertex's list; int32, or int64 from
        2**31 vertices on.
    weights : ndarray, shape (m,), optional
        Edge weights, in any number dtype.
    directed : bool
        If False, every edge must have its reverse, with the same weight.
    labels : ndarray, shape (n,), optional
        A unique name for each vertex.
    vertices, edges : mapping of str to ndarray, optional
        Columns of vertex data, shape (n,), and of edge data, shape (m,), in slot order.
    placement : Placement or str
        Where the arrays lie, and which backend computes on them: ``"cpu"`` or ``"python"``, with NumPy arrays, or
        ``"cuda"`` or ``"cuda:1"``, with CuPy arrays on that GPU.
    check : bool
        Whether all arrays are looked at once, in O(n + m); those on a GPU are copied to the host for it. With False
        they are trusted: compiled code follows wrong offsets and targets out of its memory.

    Raises
    ------
    GraphError
        If the arrays are not as described.

    Examples
    --------
    >>> g = fr.from_edges(["ann", "bob"], ["bob", "cid"], [0.5, 2.0])
    >>> len(g), "ann" in g, g.neighbors("bob"), g.degree("bob")
    (3, True, ['ann', 'cid'], 2)
    >>> g.offsets, g.targets, g.weights
    (array([0, 1, 3, 4], dtype=int32), array([1, 0, 2, 1], dtype=int32), array([0.5, 0.5, 2. , 2. ]))
    """

    __slots__ = ()

    def __init__(
        self,
        offsets: Array,
        targets: Array | PackedIds,
        weights: Array | None = None,
        *,
        directed: bool,
        labels: Array | None = None,
        vertices: Mapping[str, Array] | None = None,
        edges: Mapping[str, Array] | None = None,
        placement: Placement | str = "cpu",
        check: bool = True,
    ) -> None:
        if weights is not None and weights.dtype.kind not in "iuf":
            raise GraphError(f"weights must be real numbers, not {weights.dtype}")
        if check:
            from frontier.graph.validation import check_edges, check_kinds

            check_kinds(offsets, targets, weights, labels, vertices, edges)
            check_edges(offsets, targets, weights, directed=directed, labels=labels)
        self._topology = Topology(offsets, targets, weights, directed, labels, vertices or {}, edges or {})
        self._placement = Placement.parse(placement)

    @classmethod
    def _wrap(cls, topology: Topology, placement: Placement) -> Graph:
        graph = cls.__new__(cls)
        graph._topology = topology
        graph._placement = placement
        return graph

    # -- memory ----------------------------------------------------------------------------

    def memory_estimate(
        self, primitive: str | None = None, *, in_edges: bool = False, bytes_per_vertex: int = 0
    ) -> MemoryEstimate:
        """Estimate how many bytes the graph, and a primitive on it, take.

        Parameters
        ----------
        primitive : str, optional
            The name of a shipped primitive, such as ``"bfs"``, or of one that was registered with ``memory``. Adds its
            fields and frontiers, and the in-edges if it uses them.
        in_edges : bool
            Count the in-edges even if they are not built yet.
        bytes_per_vertex : int
            Bytes of additional vertex fields, for a program of your own.

        Raises
        ------
        GraphError
            If there is no primitive of that name.

        Notes
        -----
        The memory of a primitive is computed from its fields and its programs with default arguments, without making or
        running any of them. ``fr.pagerank`` takes 4 bytes less per vertex at tolerances of 1e-6 and above.
        ``fr.betweenness`` is counted for one source, or for a graph too large to be copied, and ``fr.sssp`` on a graph
        without weights as if weights were float64. Searches on a directed graph make its in-edges when they first pull,
        so with ``direction="push"`` they need none. Of a graph that is spread over several GPUs, the figures are those
        of the GPU that holds most, and ``each`` has the totals of all. The figures are within a tenth of what is used;
        threads of the host need some memory in addition.

        Examples
        --------
        >>> fr.karate().memory_estimate("bfs").total > 0
        True
        """
        return estimate(self, primitive, in_edges, bytes_per_vertex)

    # -- to other libraries ----------------------------------------------------------------

    def to_scipy(self, *, copy: bool = True) -> scipy.sparse.csr_array:
        """Return the adjacency matrix; see :func:`frontier.to_scipy`."""
        from frontier.graph.convert_sparse import to_scipy

        return to_scipy(self, copy=copy)

    def to_networkx(self) -> networkx.Graph:
        """Return a NetworkX graph; see :func:`frontier.to_networkx`."""
        from frontier.graph.convert_networkx import to_networkx

        return to_networkx(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a table of edges; see :func:`frontier.to_pandas`."""
        from frontier.graph.convert_tables import to_pandas

        return to_pandas(self)

    def to_polars(self) -> polars.DataFrame:
        """Return a table of edges; see :func:`frontier.to_polars`."""
        from frontier.graph.convert_tables import to_polars

        return to_polars(self)

    def to_arrow(self) -> pyarrow.Table:
        """Return a table of edges; see :func:`frontier.to_arrow`."""
        from frontier.graph.convert_tables import to_arrow

        return to_arrow(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table of edges for whatever understands Arrow's C interface, such as Polars, DuckDB and pandas."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    # -- Python ----------------------------------------------------------------------------

    def __repr__(self) -> str:
        parts = [
            "directed" if self.directed else "undirected",
            f"{self.num_vertices:,} vertices",
            f"{self.num_edges:,} edges" + ("" if self.directed else f" ({self.num_slots:,} slots)"),
        ]
        if self._topology.packed:
            parts.append("compressed lists")
        if self.weights is not None:
            parts.append(f"{self.weights.dtype} weights")
        if self.labels is not None:
            parts.append("labels")
        for kind, columns in (("vertex", self.vertices), ("edge", self.edges)):
            if columns:
                parts.append(f"{kind} columns {', '.join(columns)}")
        far = self._placement.edges
        where = "" if far is None else f", edges in {far.described} memory"
        return f"<Graph: {', '.join(parts)}; {self._placement.name}{where}>"

    def _repr_html_(self) -> str:
        """What it has, for notebooks."""
        return html.facts({
            "vertices": self.num_vertices,
            "edges": f"{self.num_edges:,}, {'directed' if self.directed else 'undirected'}",
            "weights": None if self.weights is None else self.weights.dtype,
            "labels": None if self.labels is None else ", ".join(map(str, self.names.of([*range(min(len(self), 5))])))
            + (", ..." if len(self) > 5 else ""),
            "vertex columns": ", ".join(self.vertices),
            "edge columns": ", ".join(self.edges),
            "placement": str(self._placement),
        }, html.text("Graph"))  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        host = moving.on_host(self)
        if host is not self:
            return Graph.to, (host, self._placement)
        return Graph._wrap, (self._topology, self._placement)
