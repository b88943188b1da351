"""The class Graph: compressed sparse rows (CSR), in-edges built on demand, columns, labels.

A :class:`Graph` is immutable. It is made by :func:`frontier.from_edges` and similar functions, by
:func:`frontier.read` or by a generator. Data derived from the rows (in-edges, the source of each slot,
the smallest weight) are built once, under a lock, and shared by all graphs that share the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from frontier.display import html
from frontier.errors import GraphError
from frontier.graph import compressing, moving
from frontier.graph import derived as _derived
from frontier.graph.estimates import MemoryEstimate, estimate, register_memory
from frontier.graph.labels import VertexNames, checked_id
from frontier.graph.packed import PackedIds
from frontier.graph.topology import Array, Topology, id_dtype, offset_dtype, plain
from frontier.graph.traits import Traits
from frontier.memory.arrays import to_host
from frontier.memory.placement import Placement

if TYPE_CHECKING:
    import networkx
    import pandas
    import polars
    import pyarrow
    import scipy.sparse

__all__ = ["Graph", "MemoryEstimate", "id_dtype", "offset_dtype", "register_memory"]

Value = TypeVar("Value")


class Graph:
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

    __slots__ = ("__weakref__", "_placement", "_topology")

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

    # -- size and kind ---------------------------------------------------------------------

    @property
    def num_vertices(self) -> int:
        """Number of vertices, n."""
        return len(self._topology.offsets) - 1

    @property
    def num_edges(self) -> int:
        """Number of edges; an edge that is stored in both directions, as in an undirected graph, counts once."""
        if self.directed:
            return self.num_slots
        return (self.num_slots + self._once("num_loops", lambda: _derived.num_loops(self))) // 2

    @property
    def num_slots(self) -> int:
        """Number of edge slots, m, the length of ``targets``: an undirected edge has two, a self-loop one."""
        return self._topology.num_slots

    @property
    def directed(self) -> bool:
        """Whether an edge goes one way only."""
        return self._topology.directed

    @property
    def symmetric(self) -> bool:
        """Whether every edge is known to have a reverse edge with the same weight."""
        return not self._topology.directed

    @property
    def placement(self) -> Placement:
        """Where the arrays of this graph lie, and which backend computes on them."""
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
        """Target of each edge slot, shape (m,), ascending within each adjacency list.

        If lists are :meth:`compressed`, the array is made anew, in O(m), whenever nobody has it any more.
        """
        return self._topology.targets

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """Dtype of vertex ids: int32, or int64 from 2**31 vertices on."""
        return self._topology.id_dtype

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
        """Source of each edge slot, shape (m,); built when first used."""
        return self._once("sources", lambda: _derived.sources(self))

    @property
    def out_degree(self) -> Array:
        """Number of edge slots of each vertex, shape (n,)."""
        return self._once("out_degree", lambda: _derived.out_degree(self))

    @property
    def out_weight(self) -> Array | None:
        """Sum of the weights of each vertex's edge slots, shape (n,), float64; None if there are no weights."""
        return None if self.weights is None else self._once("out_weight", lambda: _derived.out_weight(self))

    @property
    def max_degree(self) -> int:
        """Largest number of edge slots of a vertex; 0 if there is no vertex."""
        return self._once("max_degree", lambda: _derived.max_degree(self))

    @property
    def in_degree(self) -> Array:
        """Number of in-edges of each vertex, shape (n,)."""
        if self.symmetric:
            return self.out_degree
        return self._once("in_degree", lambda: _derived.in_degree(self))

    @property
    def in_offsets(self) -> Array:
        """Where each vertex's in-edges begin, shape (n + 1,); ``offsets`` if the graph is symmetric."""
        return self.offsets if self.symmetric else self._in_lists()[0]

    @property
    def in_sources(self) -> Array:
        """Source of each in-edge, shape (m,), ascending in each list.

        The same array as ``targets`` if the graph is symmetric.
        """
        return self.targets if self.symmetric else plain(self._in_lists()[1])

    @property
    def in_edges(self) -> Array:
        """Edge slot of each in-edge, shape (m,), in the offsets' dtype.

        Built only when used: ``weights[in_edges]`` are the weights of the in-edges.
        """
        return self._once("in_edges", lambda: _derived.in_edges(self))

    @property
    def min_weight(self) -> Any:
        """Smallest weight; None if there is no weight."""
        return self._once("min_weight", lambda: _derived.smallest(self.weights))

    @property
    def max_weight(self) -> Any:
        """Largest weight; None if there is no weight."""
        return self._once("max_weight", lambda: _derived.largest(self.weights))

    @property
    def traits(self) -> Traits:
        """Properties of the graph, computed once: degrees, and whether it is symmetric.

        Use them to choose between variants of a program: ``Few if g.traits.short_lists else Many``.
        """
        return self._once(
            "traits", lambda: Traits.of(self.num_vertices, self.num_slots, self.max_degree, self.symmetric)
        )

    def cached(self, name: str, make: Callable[[], Value]) -> Value:
        """Return a value derived from the graph. It is computed on first use and kept as long as the graph's arrays.

        Parameters
        ----------
        name : str
            The key of the value; include the name of your module in it.
        make : callable
            Computes the value. It must depend only on the graph, because graphs that share the same arrays share the
            value. It is called once, even if several threads need the value, and may use other cached values. A NumPy
            array becomes read-only.

        Examples
        --------
        >>> g = fr.karate()
        >>> g.cached("mine.leaves", lambda: int((g.out_degree == 1).sum()))
        1
        """
        return self._once(f"cached {name}", make)

    def _in_lists(self) -> tuple[Array, Array | PackedIds]:
        return self._once("in_lists", lambda: _derived.in_lists(self))

    def _once(self, name: str, make: Callable[[], Value]) -> Value:
        """Return a derived value, made when it is first asked for."""
        found: Value | None = self._topology.derived.get(name)
        if found is None:
            memory = self._placement.memory
            with memory.using(f"the {name.replace('_', ' ')} of a graph"):
                found = self._topology.once(name, make, memory.synchronize)
        return found

    # -- vertices by name ------------------------------------------------------------------

    def vertex_id(self, vertex: Any) -> int:
        """Return the id of a vertex, given its label, or its id if the graph has no labels.

        Parameters
        ----------
        vertex : object
            A label if the graph has labels; else an integer from 0 to n - 1.

        Raises
        ------
        GraphError
            If there is no such vertex.

        Examples
        --------
        >>> fr.from_edges(["ann"], ["bob"]).vertex_id("bob")
        1
        """
        return self.names.find(vertex)

    @property
    def names(self) -> VertexNames:
        """The names of the vertices, labels or ids, as results use them."""
        return self._once("names", lambda: VertexNames(self.labels, self.num_vertices))

    def __len__(self) -> int:
        """Number of vertices."""
        return self.num_vertices

    def __bool__(self) -> bool:
        """True, also without vertices: a graph is there."""
        return True

    def __iter__(self) -> Iterator[Any]:
        """The names of the vertices: labels, or ids if there are none."""
        return iter(self.names.column().tolist())

    def __contains__(self, vertex: Any) -> bool:
        """Whether there is a vertex of this name."""
        return vertex in self.names

    def neighbors(self, vertex: Any) -> list[Any]:
        """Return the vertices to which an edge leads from a vertex, by their names, in the order of ids.

        Those from which an edge leads to it are ``g.reverse().neighbors(vertex)``.

        Parameters
        ----------
        vertex : object
            A label if the graph has labels, else an id.

        Raises
        ------
        GraphError
            If there is no such vertex.

        Notes
        -----
        For looking at a graph; functors use :func:`frontier.neighbours`.

        Examples
        --------
        >>> fr.from_edges(["ann", "ann"], ["bob", "cid"]).neighbors("ann")
        ['bob', 'cid']
        """
        v = self.vertex_id(vertex)
        lo, hi = to_host(self.offsets[v : v + 2]).tolist()
        return self.names.of(to_host(self.targets[lo:hi]))

    def degree(self, vertex: Any) -> int:
        """Return the number of edges at a vertex: of a directed graph those in and out; a self-loop counts twice.

        Parameters
        ----------
        vertex : object
            A label if the graph has labels, else an id.

        Raises
        ------
        GraphError
            If there is no such vertex.

        Notes
        -----
        ``g.out_degree`` and ``g.in_degree`` are arrays for all vertices.

        Examples
        --------
        >>> fr.from_edges(["ann", "ann"], ["bob", "ann"]).degree("ann")
        3
        """
        v = self.vertex_id(vertex)
        if self.directed:
            return int(self.out_degree[v]) + int(self.in_degree[v])
        lo, hi = to_host(self.offsets[v : v + 2]).tolist()
        return int(hi - lo + (to_host(self.targets[lo:hi]) == v).sum())

    def by_label(self, values: Any) -> dict[Any, Any]:
        """Return a result by label: ``g.by_label(fr.bfs(g, "a").level)["b"]``.

        Parameters
        ----------
        values : array-like, shape (n,)
            Entry v belongs to vertex v.

        Returns
        -------
        dict
            From label (or id, if the graph has no labels) to value.

        Raises
        ------
        GraphError
            If there is not one value for each vertex.

        Examples
        --------
        >>> g = fr.from_edges(["ann"], ["bob"])
        >>> g.by_label(g.out_degree)
        {'ann': 1, 'bob': 1}
        """
        array = to_host(values)
        if array.shape != (self.num_vertices,):
            raise GraphError(f"values of shape {array.shape}, but there are {self.num_vertices} vertices")
        return dict(zip(self.names.column().tolist(), array.tolist(), strict=True))

    def labels_of(self, vertices: Any) -> list[Any]:
        """Return the labels of vertices, None for each that is -1: ``g.labels_of(fr.bfs(g, "a").parent)``.

        Parameters
        ----------
        vertices : array-like of int
            Ids, or -1, as results have them; ``g.labels[-1]`` would be the last label.

        Returns
        -------
        list
            Labels, or ids if the graph has no labels.

        Raises
        ------
        GraphError
            If there is no such vertex.

        Examples
        --------
        >>> fr.from_edges(["ann"], ["bob"]).labels_of([1, -1])
        ['bob', None]
        """
        ids = np.asarray(to_host(vertices))
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise GraphError(f"labels_of takes a list of ids, not {ids.dtype} of shape {ids.shape}")
        wrong = (ids < -1) | (ids >= self.num_vertices)
        if wrong.any():
            checked_id(ids[wrong][0], self.num_vertices)  # which says what is wrong
        return self.names.of(ids)

    # -- other graphs from this one --------------------------------------------------------

    def to(
        self, placement: Placement | str, *, edges: str | None = None, memory: int | str | None = None
    ) -> Graph:
        """Return this graph with another placement: for another backend, or in another memory.

        ``"cpu"`` and ``"python"`` share the arrays. A GPU has its own: the graph is copied there
        once, with its numeric columns, and the same copy is returned the next time. Of several GPUs, ``"cuda:0,1"``,
        each has the edges of its own vertices.

        Parameters
        ----------
        placement : {"cpu", "python", "cuda", "cuda:1", "cuda:0,1", "auto"}, or Placement
            ``"cuda"`` is CuPy's current GPU, usually the first; ``"auto"`` is the fastest backend
            that is available. You can pass the placement of another graph, ``h.placement``, or its ``str``, which says
            where edges lie, too.
        edges : {"device", "host", "disk", "auto"}, optional
            Where a GPU finds the arrays with one entry per edge: in its own memory (the default); in the host's, which
            it reads over its link; in files, of which the host reads what is wanted; or (``"auto"``) as many as fit in
            its own, and the others in the host's. Everything else, and the fields of problems, are in its own memory.
            Of several GPUs, each reads those of its own vertices over its own link. The CPU reads edges from the host's
            memory (the default) or, mapped, from files.
        memory : int or str, optional
            The bytes of each GPU's memory that edges may take with ``edges="auto"``, which it implies: ``2**32``,
            ``"4GiB"``.

        Raises
        ------
        BackendUnavailableError
            If the backend cannot be used on this machine; the message says what is missing.
        DeviceMemoryError
            If the graph does not fit into the GPU's memory.
        GraphError
            If there is no backend of that name, or it cannot read edges from there.

        Examples
        --------
        >>> fr.path(3).to("python")
        <Graph: undirected, 3 vertices, 2 edges (4 slots); python>
        """
        return moving.resident(self, placement, edges, memory)

    @classmethod
    def _wrap(cls, topology: Topology, placement: Placement) -> Graph:
        graph = cls.__new__(cls)
        graph._topology = topology
        graph._placement = placement
        return graph

    def with_weights(self, weights: Any) -> Graph:
        """Return a graph with the same edges and other weights.

        Parameters
        ----------
        weights : array_like, shape (num_slots,) or (num_edges,), or str or None
            A weight for each edge slot; or, if the graph is undirected, one for each edge, in the order of
            :meth:`with_columns`; or the name of an edge column, or None for no weights.

        Raises
        ------
        GraphError
            If the length is wrong, a weight is not a number, or the graph is undirected and the two
            directions of an edge have different weights.

        Examples
        --------
        >>> g = fr.from_edges([0, 1], [1, 2], directed=True)
        >>> g.with_weights([0.5, 2.0]).weights
        array([0.5, 2. ])
        >>> fr.path(3).with_weights([0.5, 2.0]).weights  # one for each edge, both ways
        array([0.5, 0.5, 2. , 2. ])
        """
        from frontier.graph.build import reweighted

        with self._placement.memory.using("the weights of a graph"):
            return moving.made_on_host(self, reweighted, weights)

    def with_columns(
        self, *, vertices: Mapping[str, Any] | None = None, edges: Mapping[str, Any] | None = None
    ) -> Graph:
        """Return the same graph with additional columns; they replace columns of the same name.

        Parameters
        ----------
        vertices : mapping of str to array_like, shape (n,)
            Columns of vertex data.
        edges : mapping of str to array_like, shape (m,) or (num_edges,)
            Columns of edge data: one value for each edge slot; or, if the graph is undirected, one for each edge, which
            is copied to both of its slots. Edges are then the slots with ``sources <= targets``, in slot order, as
            :meth:`to_pandas` returns them.

        Returns
        -------
        Graph
            Shares all arrays, and the data derived from them.

        Raises
        ------
        GraphError
            If a column has the wrong length.

        Examples
        --------
        >>> g = fr.path(3).with_columns(edges={"time": [8, 9]})
        >>> fr.Problem(g, time=fr.edge("int64", g.edges["time"])).time
        array([8, 8, 9, 9])
        """
        from frontier.graph.build import recolumned

        with self._placement.memory.using("the columns of a graph"):
            return moving.made_on_host(self, recolumned, vertices, edges)

    def compressed(self) -> Graph:
        """Return the same graph with compressed adjacency lists; a graph whose lists are compressed already, itself.

        The ids of 32 slots that follow each other take as many bits as the difference of the largest and the least of
        them, and two more. An R-MAT graph of a million vertices takes 19 bits a slot instead of 32, a grid whose rows
        follow each other 14. Every program runs as before, and slots keep their numbers; weights and columns stay as
        they are. On a GPU more edges fit, and edges in the host's memory arrive faster.

        Graphs that are made of this one, as by :meth:`reordered`, and those on several GPUs or processes have plain
        lists; :meth:`decompressed` is the inverse.

        Raises
        ------
        GraphError
            If ids in 32 slots differ by 2**32 or more.

        Examples
        --------
        >>> g = fr.grid(100, 100)
        >>> h = g.compressed()
        >>> bool((fr.bfs(h, 0).level == fr.bfs(g, 0).level).all())
        True
        """
        return compressing.compressed(self)

    def decompressed(self) -> Graph:
        """Return the same graph with plain adjacency lists; a graph whose lists are plain, itself.

        Examples
        --------
        >>> fr.karate().decompressed()
        <Graph: undirected, 34 vertices, 78 edges (156 slots); cpu>
        """
        return compressing.decompressed(self)

    def reordered(self, order: Any = "degree") -> Graph:
        """Return the same graph with its vertices renumbered.

        Parameters
        ----------
        order : "degree" or array_like, shape (n,)
            ``"degree"``: by descending out-degree, ties by id. An array: entry i is the old id of the new vertex i;
            each id must occur once.

        Returns
        -------
        Graph
            Keeps weights, labels, columns, self-loops and duplicates; lists are sorted by the new ids. Its vertex
            column ``"original"`` holds the old id of each vertex. If a graph is reordered again, it still holds the
            ids of the first graph.

        Raises
        ------
        GraphError
            If the order is not a permutation, or there is a vertex column ``"original"`` that is not one.
        DeviceMemoryError
            If it does not fit into the GPU's memory.

        Notes
        -----
        Sources and results use the new ids. With ``old = h.vertices["original"]``, map a result back by
        ``rank[old] = fr.pagerank(h).rank``, and values that are vertices, such as parents, by ``old[...]``.
        ``old.argsort()`` holds the new id of each old vertex.

        Examples
        --------
        >>> fr.star(4).reordered().neighbors(3)
        [0]
        """
        from frontier.graph.reorder import reordered

        with self._placement.memory.using("another order of a graph"):
            return moving.remade(self, reordered, order)

    def induced(self, vertices: Any) -> Graph:
        """Return the subgraph of some vertices, with all edges between them.

        Parameters
        ----------
        vertices : Frontier, or array_like
            A frontier of vertices of this graph, a mask of one bool for each vertex, or vertices in any order: labels
            if the graph has labels, else ids.

        Returns
        -------
        Graph
            Its vertices are in the order of their ids here. Keeps weights, labels, columns, self-loops and duplicates.
            Its vertex column ``"original"`` holds the id of each vertex in this graph; in a subgraph of a subgraph, or
            of a reordered graph, that in the first graph.

        Raises
        ------
        GraphError
            If a vertex does not exist, the graph is in parts, or there is a vertex column ``"original"`` that does not
            hold ids.

        Notes
        -----
        Takes O(n) time, and time in proportion to the number of edges that leave these vertices; the latter is divided
        among all processors.

        Examples
        --------
        >>> h = fr.karate().induced([0, 1, 2, 3, 8])
        >>> h.num_vertices, h.num_edges, h.vertices["original"].tolist()
        (5, 8, [0, 1, 2, 3, 8])
        """
        from frontier.graph.subgraphs import induced

        with self._placement.memory.using("a subgraph"):
            return moving.remade(self, induced, vertices)

    def edge_subgraph(self, edges: Any) -> Graph:
        """Return the graph with some of its edges only, and all of its vertices.

        Parameters
        ----------
        edges : Frontier, or array_like
            A frontier of edges of this graph, a mask of one bool for each edge slot, or edge slots in any order.

        Returns
        -------
        Graph
            Keeps weights, labels, columns, self-loops and duplicates, and the ids of vertices. Of an undirected graph
            an edge stays if one of its two slots is named, as in NetworkX either order of its ends will do; unlike
            there, vertices without edges stay, too.

        Raises
        ------
        GraphError
            If there is no such edge slot, the mask has another length, or the graph is in parts.

        Examples
        --------
        >>> g = fr.karate(weights=(1, 9))
        >>> heavy = g.edge_subgraph(g.weights >= 8)
        >>> heavy.num_vertices, heavy.num_edges < g.num_edges, heavy.min_weight
        (34, True, 8)
        """
        from frontier.graph.subgraphs import of_edges

        with self._placement.memory.using("a subgraph"):
            return moving.remade(self, of_edges, edges)

    def reverse(self) -> Graph:
        """Return the graph with all edges turned round; an undirected graph, itself.

        Returns
        -------
        Graph
            Keeps labels and columns; an edge keeps its weight and the values of edge columns, but has another slot.

        Raises
        ------
        GraphError
            If the graph is in parts.

        Notes
        -----
        Adjacency lists of the one are the in-edges of the other, which both share. If they have not been used yet, they
        are sorted.

        Examples
        --------
        >>> g = fr.from_edges([0, 0], [1, 2], [5, 7], directed=True)
        >>> g.reverse().sources.tolist(), g.reverse().weights.tolist()
        ([1, 2], [5, 7])
        """
        from frontier.graph.subgraphs import reversed_edges

        with self._placement.memory.using("a reversed graph"):
            return self if self.symmetric else moving.remade(self, reversed_edges)

    def undirected(self, *, duplicates: str = "sum") -> Graph:
        """Return the graph with the same edges, which go both ways; an undirected graph, itself.

        Parameters
        ----------
        duplicates : {"sum", "min", "max", "first", "last", "keep"}
            What to do with edges in opposite directions, and parallel ones. ``sum``: make them one edge, whose weight
            is the sum of theirs; without weights, it is their number. The others as in :func:`frontier.from_edges`.

        Returns
        -------
        Graph
            Keeps labels and vertex columns, and edge columns unless edges are added up.

        Examples
        --------
        >>> g = fr.from_edges([0, 1, 1], [1, 0, 2], directed=True)
        >>> g.undirected().weights.tolist(), g.undirected(duplicates="first").num_edges
        ([2, 2, 1, 1], 2)
        """
        from frontier.graph.subgraphs import undirected

        with self._placement.memory.using("an undirected graph"):
            return self if self.symmetric else moving.remade(self, undirected, duplicates)

    def with_states(self, leads: Any, label: Any = None) -> Graph:
        """Return the graph of pairs of a vertex and a state: its product with an automaton.

        A frontier of its vertices is one of pairs, so a search finds the paths whose edge labels the automaton accepts,
        and whatever else depends on more than where one is: fuel left, transfers made, parity of a walk.

        Parameters
        ----------
        leads : array_like of int, shape (states, labels)
            ``leads[s, l]`` is the state after an edge with label ``l`` in state ``s``; -1 if it cannot be taken then.
        label : array_like of int, shape (m,), or str, optional
            The label of each edge slot, or the name of the edge column that has it. By default all are 0.

        Returns
        -------
        Graph
            Directed. The vertex of the pair (v, s) is ``v * states + s``; vertex columns ``"vertex"`` and ``"state"``
            have both. It has an edge for each edge and each state in which that can be taken, with its weight and
            columns; the column ``"edge"`` has its slot. It takes up to ``states`` times the memory. Labels of vertices
            are not kept.

        Raises
        ------
        GraphError
            If there is no such state or label, or the graph is in parts.

        Examples
        --------
        Of a path, vertices that can be reached by an odd and by an even number of edges:

        >>> h = fr.path(3).with_states([1, 0])
        >>> (fr.bfs(h, 0).level.reshape(-1, 2) >= 0).tolist()
        [[True, False], [False, True], [True, False]]
        """
        from frontier.graph.states import with_states

        with self._placement.memory.using("a graph of states"):
            return moving.made_on_host(self, with_states, leads, label)

    def contracted(self, labels: Any, *, self_loops: str = "keep", duplicates: str = "sum") -> Graph:
        """Return the graph in which all vertices with the same label are one vertex.

        Parameters
        ----------
        labels : array_like of int, shape (n,)
            The label of each vertex, for example of its component or community.
        self_loops : {"keep", "drop"}
            What to do with edges between vertices of the same label: keep them as self-loops, or drop them.
        duplicates : {"sum", "min", "max", "first", "last", "keep"}
            What to do with several edges between the same two groups. ``sum``: make them one edge, whose weight is the
            sum of theirs (an undirected edge counted once), as int64 or float64; without weights, it is their number.
            The others keep one of them, or all, as in :func:`frontier.from_edges`, in the order of slots, with their
            weights and edge columns.

        Returns
        -------
        Graph
            One vertex for each label, in ascending order of labels. Vertex columns: ``"label"``, and ``"size"``, the
            number of vertices with that label. Other vertex columns and labels are not kept.

        Raises
        ------
        GraphError
            If there is not one integer for each vertex, or the graph is in parts.

        Notes
        -----
        Edges are sorted as by :func:`frontier.from_edges`. ``np.searchsorted(h.vertices["label"], labels)`` holds the
        new vertex of each old one.

        All processors share the work on edges. On the CPU, one thread alone numbers the labels and counts their
        vertices, which takes O(n), looks for the greatest weight, writes a 1 for each edge if there are no weights,
        and gathers edge columns of 1 or 2 bytes. With fewer than 65,536 edges it does everything.

        Examples
        --------
        >>> h = fr.path(4).contracted([7, 7, 7, 9])
        >>> h.vertices["label"].tolist(), h.sources.tolist(), h.targets.tolist(), h.weights.tolist()
        ([7, 9], [0, 0, 1], [0, 1, 0], [2, 1, 1])
        >>> g = fr.from_edges([0, 1, 2], [3, 3, 3], weights=[5, 2, 4])
        >>> g.contracted([0, 0, 0, 3], duplicates="min").weights.tolist()
        [2, 2]
        """
        from frontier.graph.subgraphs import contracted

        with self._placement.memory.using("a contracted graph"):
            return moving.remade(self, contracted, labels, self_loops, duplicates)

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
