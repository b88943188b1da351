"""The graph: compressed sparse rows, in-edges made when first asked for, columns, labels.

A :class:`Graph` never changes. It is made by :func:`frontier.from_edges` and its sisters, by
:func:`frontier.read` or by a generator, all of which check what they are given; the class
itself trusts its arrays. What is derived from the rows (in-edges, the source of each slot, the
smallest weight) is built once, under a lock, and shared by all graphs that share the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from frontier.errors import GraphError
from frontier.graph import derived as _derived
from frontier.graph import moving
from frontier.graph.estimates import MemoryEstimate, estimate, register_memory
from frontier.graph.labels import LabelIndex, checked_id
from frontier.graph.topology import Array, Topology, id_dtype, offset_dtype
from frontier.graph.traits import Traits
from frontier.memory.arrays import to_host
from frontier.memory.placement import Placement

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse

__all__ = ["Graph", "MemoryEstimate", "id_dtype", "offset_dtype", "register_memory"]

Value = TypeVar("Value")


class Graph:
    """A graph in compressed sparse rows; immutable.

    Make one with :func:`frontier.from_edges`, :func:`frontier.from_csr`,
    :func:`frontier.from_scipy`, :func:`frontier.from_networkx`, :func:`frontier.from_pandas`,
    :func:`frontier.read` or a generator. The constructor trusts what it is given.

    An undirected graph holds each edge twice, once in the list of either end, and a self-loop
    once. Graphs are equal only to themselves, and can be pickled.

    Parameters
    ----------
    offsets : ndarray, shape (n + 1,)
        Vertex v's edges are the slots ``offsets[v]`` to ``offsets[v + 1] - 1``; int32, or int64
        from 2**31 slots on.
    targets : ndarray, shape (m,)
        The far end of each edge slot, ascending within each vertex's list; int32, or int64 from
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
        Where the arrays lie, and who computes on them: ``"cpu"`` or ``"python"``, with arrays of NumPy, or
        ``"cuda"`` or ``"cuda:1"``, with arrays of CuPy on that GPU.
    """

    __slots__ = ("__weakref__", "_placement", "_topology")

    def __init__(
        self,
        offsets: Array,
        targets: Array,
        weights: Array | None = None,
        *,
        directed: bool,
        labels: Array | None = None,
        vertices: Mapping[str, Array] | None = None,
        edges: Mapping[str, Array] | None = None,
        placement: Placement | str = "cpu",
    ) -> None:
        self._topology = Topology(offsets, targets, weights, directed, labels, vertices or {}, edges or {})
        self._placement = Placement.parse(placement)

    # -- size and kind ---------------------------------------------------------------------

    @property
    def num_vertices(self) -> int:
        """Number of vertices, n."""
        return len(self._topology.offsets) - 1

    @property
    def num_edges(self) -> int:
        """Number of edges; one that goes both ways, as in an undirected graph, counts once."""
        if self.directed:
            return self.num_slots
        return (self.num_slots + self._once("num_loops", lambda: _derived.num_loops(self))) // 2

    @property
    def num_slots(self) -> int:
        """Number of edge slots, m, the length of ``targets``: an undirected edge takes two, a self-loop one."""
        return len(self._topology.targets)

    @property
    def directed(self) -> bool:
        """Whether an edge goes one way only."""
        return self._topology.directed

    @property
    def symmetric(self) -> bool:
        """Whether every edge is known to have its reverse with the same weight."""
        return not self._topology.directed

    @property
    def placement(self) -> Placement:
        """Where the arrays of this graph lie, and who computes on them."""
        return self._placement

    @property
    def backend(self) -> str:
        """The placement as a string, such as ``"cpu"`` or ``"cuda:1"``."""
        return self._placement.name

    # -- arrays ----------------------------------------------------------------------------

    @property
    def offsets(self) -> Array:
        """Where each vertex's edge slots begin, shape (n + 1,)."""
        return self._topology.offsets

    @property
    def targets(self) -> Array:
        """Far end of each edge slot, shape (m,), ascending within each list."""
        return self._topology.targets

    @property
    def weights(self) -> Array | None:
        """Weight of each edge slot, shape (m,), or None."""
        return self._topology.weights

    @property
    def labels(self) -> Array | None:
        """Name of each vertex, shape (n,), or None."""
        return self._topology.labels

    @property
    def vertices(self) -> Mapping[str, Array]:
        """Columns of vertex data by name, each of shape (n,)."""
        return MappingProxyType(self._topology.vertices)

    @property
    def edges(self) -> Mapping[str, Array]:
        """Columns of edge data by name, each of shape (m,), in slot order."""
        return MappingProxyType(self._topology.edges)

    @property
    def sources(self) -> Array:
        """Source of each edge slot, shape (m,); built when first asked for."""
        return self._once("sources", lambda: _derived.sources(self))

    @property
    def out_degree(self) -> Array:
        """Number of edge slots of each vertex, shape (n,)."""
        return self._once("out_degree", lambda: _derived.out_degree(self))

    @property
    def max_degree(self) -> int:
        """Largest number of edge slots of a vertex; 0 where there is no vertex."""
        return self._once("max_degree", lambda: _derived.max_degree(self))

    @property
    def in_degree(self) -> Array:
        """Number of in-edges of each vertex, shape (n,)."""
        if self.symmetric:
            return self.out_degree
        return self._once("in_degree", lambda: _derived.in_degree(self))

    @property
    def in_offsets(self) -> Array:
        """Where each vertex's in-edges begin, shape (n + 1,); ``offsets`` where symmetric."""
        return self.offsets if self.symmetric else self._in_lists()[0]

    @property
    def in_sources(self) -> Array:
        """Source of each in-edge, shape (m,), ascending in each list.

        The same array as ``targets`` where the graph is symmetric.
        """
        return self.targets if self.symmetric else self._in_lists()[1]

    @property
    def in_edges(self) -> Array:
        """Edge slot of each in-edge, shape (m,), in the offsets' dtype.

        Built only when asked for: ``weights[in_edges]`` are the weights of the in-edges.
        """
        return self._once("in_edges", lambda: _derived.in_edges(self))

    @property
    def min_weight(self) -> Any:
        """Smallest weight; None where there is no weight."""
        return self._once("min_weight", lambda: _derived.smallest(self.weights))

    @property
    def max_weight(self) -> Any:
        """Largest weight; None where there is no weight."""
        return self._once("max_weight", lambda: _derived.largest(self.weights))

    @property
    def traits(self) -> Traits:
        """What kind of graph it is, found once: its degrees in numbers, whether it is symmetric.

        A program's choices may depend on it: ``Few if g.traits.short_lists else Many``.
        """
        return self._once(
            "traits", lambda: Traits.of(self.num_vertices, self.num_slots, self.max_degree, self.symmetric)
        )

    def cached(self, name: str, make: Callable[[], Value]) -> Value:
        """Give what follows from the graph, made when it is first asked for and kept as long as its arrays are.

        Parameters
        ----------
        name : str
            By which it is found again; best with the name of one's own module in it.
        make : callable
            Makes it, from the graph alone: others with the same arrays share it. It is called once even if several
            threads ask, and may ask for other cached values. An array of NumPy is read-only afterwards.

        Examples
        --------
        >>> g = fr.karate()
        >>> g.cached("mine.leaves", lambda: int((g.out_degree == 1).sum()))
        1
        """
        return self._once(f"cached {name}", make)

    def _in_lists(self) -> tuple[Array, Array]:
        return self._once("in_lists", lambda: _derived.in_lists(self))

    def _once(self, name: str, make: Callable[[], Value]) -> Value:
        """Give a derived value, made when it is first asked for."""
        found: Value | None = self._topology.derived.get(name)
        if found is None:
            with self._placement.memory.using(f"the {name.replace('_', ' ')} of a graph"):
                found = self._topology.once(name, make)
        return found

    # -- vertices by name ------------------------------------------------------------------

    def vertex_id(self, vertex: Any) -> int:
        """Give the id of a vertex, from its label or its id.

        Parameters
        ----------
        vertex : object
            A label where the graph has labels; else an integer from 0 to n - 1. An integer that
            is no label is taken as an id if no label is an integer.

        Raises
        ------
        GraphError
            There is no such vertex.
        """
        if self.labels is None:
            return checked_id(vertex, self.num_vertices)
        names = self.label_index
        assert names is not None
        return int(names.find(vertex))

    @property
    def label_index(self) -> LabelIndex | None:
        """Which vertex has which label, for results to speak of vertices as the graph does; None without labels."""
        labels = self.labels
        if labels is None:
            return None
        return self._once("label_index", lambda: LabelIndex(labels))

    def by_label(self, values: Any) -> dict[Any, Any]:
        """Give a result by label: ``g.by_label(fr.bfs(g, "a").level)["b"]``.

        Parameters
        ----------
        values : array-like, shape (n,)
            Entry v is about vertex v.

        Returns
        -------
        dict
            From label (from id, where the graph has no labels) to value.

        Raises
        ------
        GraphError
            There is not one value for each vertex.
        """
        array = to_host(values)
        if array.shape != (self.num_vertices,):
            raise GraphError(f"values of shape {array.shape}, but there are {self.num_vertices} vertices")
        labels = range(self.num_vertices) if self.labels is None else self.labels.tolist()
        return dict(zip(labels, array.tolist(), strict=True))

    # -- other graphs from this one --------------------------------------------------------

    def to(self, placement: Placement | str) -> Graph:
        """Give this graph at another placement: for another backend, or in another memory.

        Between ``"cpu"`` and ``"python"`` the arrays are shared. A GPU has its own: a graph is copied
        there once, with its columns of numbers, and gives the same copy the next time.

        Parameters
        ----------
        placement : {"cpu", "python", "cuda", "cuda:1", "auto"}, or Placement
            ``"cuda"`` is CuPy's current GPU, usually the first; ``"auto"`` takes the fastest backend
            that is there. A placement is that of another graph, ``h.placement``.

        Raises
        ------
        BackendUnavailableError
            The backend is not there; the message says what is missing.
        DeviceMemoryError
            The graph does not fit into the GPU's memory.
        GraphError
            There is no backend of that name.
        """
        return moving.moved(self, placement)

    @classmethod
    def _wrap(cls, topology: Topology, placement: Placement) -> Graph:
        graph = cls.__new__(cls)
        graph._topology = topology
        graph._placement = placement
        return graph

    def with_weights(self, weights: Any) -> Graph:
        """Give a graph with the same edges and other weights.

        Parameters
        ----------
        weights : array_like, shape (m,), or str or None
            A weight for each edge slot, the name of an edge column, or None for no weights.

        Raises
        ------
        GraphError
            The length is wrong, a weight is not a number, or the graph is undirected and the two
            directions of an edge differ.
        """
        from frontier.graph.build import reweighted

        with self._placement.memory.using("the weights of a graph"):
            return reweighted(self, weights)

    def with_columns(
        self, *, vertices: Mapping[str, Any] | None = None, edges: Mapping[str, Any] | None = None
    ) -> Graph:
        """Give the same graph with more columns, or other ones under the same names.

        Parameters
        ----------
        vertices : mapping of str to array_like, shape (n,)
            Columns of vertex data.
        edges : mapping of str to array_like, shape (m,) or (num_edges,)
            Columns of edge data: a value for each edge slot, or of an undirected graph one for each edge, which reaches
            both of its slots. Edges are those with ``sources <= targets``, in the order of their slots, as
            :meth:`to_pandas` gives them.

        Returns
        -------
        Graph
            Shares all arrays and all that has been derived from them.

        Raises
        ------
        GraphError
            A column has another length.

        Examples
        --------
        >>> h = g.with_columns(edges={"time": times})  # doctest: +SKIP
        >>> fr.Problem(h, time=fr.edge("int64", h.edges["time"]))  # doctest: +SKIP
        """
        from frontier.graph.build import recolumned

        with self._placement.memory.using("the columns of a graph"):
            return recolumned(self, vertices or {}, edges or {})

    def reordered(self, order: Any = "degree") -> Graph:
        """Give the same graph with its vertices numbered in another order.

        Parameters
        ----------
        order : "degree" or array_like, shape (n,)
            ``"degree"``: by falling out-degree, equals by their ids. An array: entry i is the old id of the new
            vertex i, each id once.

        Returns
        -------
        Graph
            With all that this one has: weights, labels, columns, self-loops, duplicates; lists ascend by the new ids.
            Its vertex column ``"original"`` holds the old id of each vertex; of a graph that is reordered again, the
            id before the first time.

        Raises
        ------
        GraphError
            The order is no permutation, or there is a vertex column ``"original"`` that is none.
        DeviceMemoryError
            It does not fit into the GPU's memory.

        Notes
        -----
        Sources and results are in the new ids. With ``old = h.vertices["original"]`` a result goes back by
        ``rank[old] = fr.pagerank(h).rank``; entries that are vertices, such as parents, are mapped by ``old[...]``.
        ``old.argsort()`` holds the new id of each old vertex.
        """
        from frontier.graph.reorder import reordered

        with self._placement.memory.using("another order of a graph"):
            return reordered(self, order)

    # -- memory ----------------------------------------------------------------------------

    def memory_estimate(
        self, primitive: str | None = None, *, in_edges: bool = False, bytes_per_vertex: int = 0
    ) -> MemoryEstimate:
        """Say how many bytes the graph takes, and a primitive on it.

        Parameters
        ----------
        primitive : str, optional
            The name of a shipped primitive, such as ``"bfs"``, or of one that was registered with ``memory``: adds its
            fields and frontiers, and the in-edges if it walks them.
        in_edges : bool
            Count the in-edges even if they are not built yet.
        bytes_per_vertex : int
            Bytes of further vertex fields, for a program of one's own.

        Raises
        ------
        GraphError
            There is no primitive of that name.

        Notes
        -----
        A primitive is counted from its fields and its programs with default arguments, nothing of which is made or
        run. ``fr.pagerank`` takes 4 bytes less of each vertex at tolerances from 1e-6 on; ``fr.betweenness`` is counted
        for one source, or for a graph too large to be copied; ``fr.sssp`` of a graph without weights as with weights of
        float64. Searches make the in-edges of a directed graph when they first pull, so those with
        ``direction="push"`` go without. These figures are within a tenth of what is used; threads of the host have some
        memory of their own besides.
        """
        return estimate(self, primitive, in_edges, bytes_per_vertex)

    # -- to other libraries ----------------------------------------------------------------

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Give the adjacency matrix; see :func:`frontier.to_scipy`."""
        from frontier.graph.convert import to_scipy

        return to_scipy(self)

    def to_networkx(self) -> networkx.Graph:
        """Give a NetworkX graph; see :func:`frontier.to_networkx`."""
        from frontier.graph.convert import to_networkx

        return to_networkx(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Give a table of edges; see :func:`frontier.to_pandas`."""
        from frontier.graph.convert import to_pandas

        return to_pandas(self)

    # -- Python ----------------------------------------------------------------------------

    def __repr__(self) -> str:
        parts = [
            "directed" if self.directed else "undirected",
            f"{self.num_vertices:,} vertices",
            f"{self.num_edges:,} edges" + ("" if self.directed else f" ({self.num_slots:,} slots)"),
        ]
        if self.weights is not None:
            parts.append(f"{self.weights.dtype} weights")
        if self.labels is not None:
            parts.append("labels")
        for kind, columns in (("vertex", self.vertices), ("edge", self.edges)):
            if columns:
                parts.append(f"{kind} columns {', '.join(columns)}")
        return f"<Graph: {', '.join(parts)}; {self._placement}>"

    def __reduce__(self) -> tuple[Any, ...]:
        host = moving.on_host(self)
        if host is not self:
            return Graph.to, (host, self._placement)
        return Graph._wrap, (self._topology, self._placement)
