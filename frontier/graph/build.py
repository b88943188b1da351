"""Graphs from arrays: ``from_edges`` and ``from_csr``. The graph is made in the memory in which its edges lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from frontier.display.progress import Task
from frontier.errors import GraphError
from frontier.graph import build_input as given
from frontier.graph.build_arrays import Rows
from frontier.graph.build_sort import DUPLICATES, take
from frontier.graph.doubts import warn_of_duplicates, warn_of_gaps
from frontier.graph.graph import Graph
from frontier.graph.row_makers import row_maker
from frontier.graph.shares import Piece, Shares
from frontier.graph.topology import OF_ROWS, OF_WEIGHTS, Array, id_dtype, offset_dtype
from frontier.memory.arrays import is_device, to_host
from frontier.memory.base import Memory
from frontier.memory.placement import Placement

__all__ = ["SELF_LOOPS", "check_choice", "from_csr", "from_edges"]

#: What to do with an edge from a vertex to itself.
SELF_LOOPS = ("keep", "drop", "error")


def from_edges(
    src: Any,
    dst: Any = None,
    weights: Any = None,
    *,
    num_vertices: int | None = None,
    directed: bool = False,
    duplicates: str | None = None,
    self_loops: str = "keep",
    labels: Any = None,
    vertices: Mapping[str, Any] | None = None,
    edges: Mapping[str, Any] | None = None,
    placement: Placement | str | None = None,
    parts: bool = False,
) -> Graph:
    """Make a graph from the endpoints of its edges.

    Parameters
    ----------
    src, dst : array_like, shape (k,)
        The endpoints of each edge. Integers are vertex ids, from 0. Strings, tuples and other objects
        are labels: vertices are numbered in the order of their first appearance, edge by edge. Arrays on a
        GPU (CuPy arrays, or arrays with the CUDA array interface or DLPack) make a graph on that GPU. Without
        ``dst``, ``src`` is a list of pairs, ``[(0, 1), (1, 2)]``, or of triples with weights, or an array with two or
        three columns.
    weights : array_like, shape (k,), optional
        Edge weights: integers or floats, which keep their dtype. No NaN.
    num_vertices : int, optional
        Number of vertices, n; default: the largest id plus one, or the number of labels.
    directed : bool
        False (the default): every edge is undirected.
    duplicates : {"first", "last", "min", "max", "sum", "keep", "error"}, optional
        What to do with several edges between the same two vertices. Keep one: the first or the last,
        or the one with the smallest or largest weight (of several, the first). ``sum``: add their
        weights (columns are those of the first). ``keep``: keep all. ``error``: raise an error. In an
        undirected graph (a, b) and (b, a) are the same edge. Default: keep the first, with a warning if weights of
        duplicates differ.
    self_loops : {"keep", "drop", "error"}
        What to do with edges from a vertex to itself.
    labels : array_like, shape (n,), or bool, optional
        A unique label for each vertex. Labels in ``src`` and ``dst`` are looked up here; integers
        there are still ids. True: integers in ``src`` and ``dst`` are labels, too, however large.
    vertices, edges : mapping of str to array_like, optional
        Columns of vertex data, shape (n,), and of edge data, shape (k,), which follow the edges.
    placement : Placement or str, optional
        Where the graph shall be, as for :meth:`frontier.Graph.to`. ``"ranks"``: every process keeps the edges of its
        own vertices only; all processes call this together, with integers for ``src`` and ``dst``. ``"cuda:0,1"``: so
        does every GPU.
    parts : bool
        With ``placement="ranks"``: whether each process gives edges of its own, which together are those of the graph,
        in the order of ranks. If not, all give the same.

    Returns
    -------
    Graph
        On the cpu backend, or on cuda if ``src`` or ``dst`` lies on a GPU. The edges of each vertex
        are sorted by target; duplicates that are kept stay in the given order.

    Raises
    ------
    GraphError
        If an argument is invalid; the message says which, and where.
    DeviceMemoryError
        If the graph does not fit into the GPU's memory.

    Notes
    -----
    Takes time proportional to the number of edges (a bucketed radix sort on all threads). In
    addition to the graph and its input it takes 8 bytes of memory per edge slot, 12 with weights or
    columns; on a GPU 16, and 40 with weights or columns. The result does not depend on the number
    of threads; on a GPU, sums of several floats may differ in the last bits.

    Examples
    --------
    >>> fr.from_edges([0, 1], [1, 2])
    <Graph: undirected, 3 vertices, 2 edges (4 slots); cpu>
    >>> g = fr.from_edges(["ann", "bob"], ["bob", "cid"], [2.0, 0.5], directed=True)
    >>> g, g.labels.tolist()
    (<Graph: directed, 3 vertices, 2 edges, float64 weights, labels; cpu>, ['ann', 'bob', 'cid'])
    """
    labels = None if labels is False else labels
    there = None if placement is None else Placement.parse(placement)
    if there is not None and there.divides:
        options: dict[str, Any] = {"directed": directed, "duplicates": duplicates or "first", "self_loops": self_loops}
        with there.backend.telling():  # all others, which wait to build the graph, what is wrong here
            shares, more = _shares(src, dst, weights, num_vertices, labels, vertices, edges, parts, options)
        unsaid = {"duplicates": duplicates, "gaps": num_vertices if labels is None else labels}
        shares = replace(shares, doubts=frozenset(name for name, said in unsaid.items() if said is None))
        divided: Graph = there.backend.build(shares, there, **more, **options)
        return divided
    check_choice("duplicates", "first" if duplicates is None else duplicates, DUPLICATES)
    check_choice("self_loops", self_loops, SELF_LOOPS)
    if dst is None:
        src, dst, weights = given.pairs(src, weights)
    if parts:
        raise GraphError('parts=True goes with placement="ranks", of which each process may have a part of the edges')
    made = _whole(
        src, dst, weights, num_vertices, directed, duplicates, self_loops, labels, vertices, edges
    )
    return made if there is None else made.to(there)


def _shares(
    src: Any, dst: Any, weights: Any, num_vertices: Any, labels: Any, vertices: Any, edges: Any, parts: bool,
    options: dict[str, Any],
) -> tuple[Shares, dict[str, Any]]:  # fmt: skip
    """The edges that this process gives for a graph in parts, and what is known of vertices."""
    for choice, known in (("duplicates", DUPLICATES), ("self_loops", SELF_LOOPS)):
        check_choice(choice, options[choice], known)
    if dst is None:
        src, dst, weights = given.pairs(src, weights)
    src_ids, dst_ids, names = given.end_points(src, dst, labels)
    if names is not None and (labels is None or labels is True):
        raise GraphError("where several processes build a graph together, vertices are integers from 0")
    n = given.vertex_count({"src": src_ids, "dst": dst_ids}, num_vertices, names)
    count = len(src_ids)
    weight_array = None if weights is None else given.weights_of(weights, count)
    edge_columns = given.columns(edges, count, "edge")
    agreed = num_vertices is not None or names is not None
    if vertices and parts and not agreed:
        raise GraphError("with columns of vertices, say num_vertices=")
    vertex_columns = given.columns(vertices, n, "vertex", copy=True)
    shares = Shares.of(Piece(src_ids, dst_ids, weight_array, edge_columns), n if agreed or not parts else None, parts)
    return shares, {"labels": names, "vertices": vertex_columns}


def _whole(
    src: Any, dst: Any, weights: Any, num_vertices: Any, directed: bool, duplicates: str | None, self_loops: str,
    labels: Any, vertices: Any, edges: Any,
) -> Graph:  # fmt: skip
    """The graph where its edges are, with warnings of what is probably not meant."""
    place = Placement.of(src, dst)
    memory = place.memory
    with Task("building the graph"), memory.using("building the graph"):
        src_ids, dst_ids, names = given.end_points(src, dst, labels, memory)
        n = given.vertex_count({"src": src_ids, "dst": dst_ids}, num_vertices, names, memory)
        count = len(src_ids)
        weight_array = None if weights is None else given.weights_of(weights, count, memory=memory)
        edge_columns = given.columns(edges, count, "edge", memory=memory)
        vertex_columns = given.columns(vertices, n, "vertex", copy=True, memory=memory)
        if self_loops == "error" and (src_ids == dst_ids).any():
            edge = int((src_ids == dst_ids).argmax())
            raise GraphError(f"edge {edge} is a self-loop of vertex {src_ids[edge]}")
        rows = _rows(
            memory,
            src_ids,
            dst_ids,
            n,
            duplicates=duplicates or "first",
            watch=duplicates is None and weights is not None,
            both=not directed,
            drop_loops=self_loops == "drop",
            weights=weight_array,
            need_order=bool(edge_columns),
        )
        if rows.order is not None:
            edge_columns = {name: take(column, rows.order) for name, column in edge_columns.items()}
        if rows.differ is not None:
            warn_of_duplicates(*rows.differ, names)
        if num_vertices is None and names is None:
            warn_of_gaps(memory, rows, directed)
    return Graph(
        rows.offsets,
        rows.targets,
        rows.weights,
        directed=directed,
        labels=names,
        vertices=vertex_columns,
        edges=edge_columns,
        placement=place,
        check=False,
    )


def _rows(memory: Memory, src: Array, dst: Array, num_vertices: int, **options: Any) -> Rows:
    """Sorted rows, made where the edges are."""
    maker = row_maker(memory)
    carry = options["need_order"] or options.get("weights") is not None
    what = f"building the rows of {len(src):,} edges"
    maker.check_room(len(src), what, both=options.get("both", False), carry=carry, ids=src.itemsize)
    return maker.sorted_rows(src, dst, num_vertices, **options)


def from_csr(
    offsets: Any,
    targets: Any,
    weights: Any = None,
    *,
    directed: bool = True,
    labels: Any = None,
    vertices: Mapping[str, Any] | None = None,
    edges: Mapping[str, Any] | None = None,
) -> Graph:
    """Make a graph from compressed sparse rows.

    The arrays are used without a copy if their dtypes fit and each list is sorted; do not write to
    them afterwards. All edges are kept, including duplicates and self-loops. Arrays on a GPU make
    a graph on that GPU.

    Parameters
    ----------
    offsets : array_like, shape (n + 1,)
        Vertex v's edges are at ``offsets[v]`` to ``offsets[v + 1] - 1``.
    targets : array_like, shape (m,)
        The target of each edge.
    weights : array_like, shape (m,), optional
        Edge weights.
    directed : bool
        If False, the rows must contain both directions of every edge, with the same weight, which is checked.
    labels, vertices, edges
        As in :func:`from_edges`; columns of edge data have shape (m,).

    Raises
    ------
    GraphError
        If an argument is invalid.

    Examples
    --------
    >>> fr.from_csr([0, 2, 3, 3], [1, 2, 2]).neighbors(0)
    [1, 2]
    """
    place = Placement.of(offsets, targets)
    with place.memory.using("making the graph"):
        return _from_csr(place, offsets, targets, weights, directed, labels, vertices, edges)


def _from_csr(
    place: Placement, offsets: Any, targets: Any, weights: Any, directed: bool, labels: Any, vertices: Any, edges: Any
) -> Graph:
    memory = place.memory
    target_ids = given.vertex_ids(targets, "targets", memory)
    names = None if labels is None else given.label_array(labels)
    starts = _checked_offsets(offsets, len(target_ids), memory)
    n = given.vertex_count({"targets": target_ids}, len(starts) - 1, names, memory)
    m = len(target_ids)
    weight_array = None if weights is None else given.weights_of(weights, m, memory=memory)
    edge_columns = given.columns(edges, m, "edge", memory=memory)
    vertex_columns = given.columns(vertices, n, "vertex", memory=memory)
    starts = starts.astype(offset_dtype(m), copy=False)
    target_ids = target_ids.astype(id_dtype(n), copy=False)
    if not _ascending(starts, target_ids):
        rows = _rows(memory, row_maker(memory).sources(starts, target_ids.dtype), target_ids, n, need_order=True)
        assert rows.order is not None
        starts, target_ids, order = rows.offsets, rows.targets, rows.order
        weight_array = None if weight_array is None else take(weight_array, order)
        edge_columns = {name: take(column, order) for name, column in edge_columns.items()}
    graph = Graph(
        starts,
        target_ids,
        weight_array,
        directed=True,
        labels=names,
        vertices=vertex_columns,
        edges=edge_columns,
        placement=place,
        check=False,
    )
    if directed:
        return graph
    check_symmetric(graph)
    return Graph(
        starts,
        target_ids,
        weight_array,
        directed=False,
        labels=names,
        vertices=vertex_columns,
        edges=edge_columns,
        placement=place,
        check=False,
    )


def transpose(graph: Graph, permutation: bool) -> tuple[Array, Array, Array | None]:
    """Return in-offsets, in-sources and, if asked for, the edge slot of each in-edge."""
    return row_maker(graph.placement.memory).transposed(graph._topology, permutation)


def is_symmetric(graph: Graph) -> bool:
    """Whether every edge of a directed graph has its reverse with the same weight."""
    if not np.array_equal(graph.out_degree, graph.in_degree):
        return False
    slots = None if graph.weights is None else graph.in_edges
    if not np.array_equal(graph.in_sources, graph.targets):
        return False
    if graph.weights is None or slots is None:
        return True
    return bool(np.array_equal(take(graph.weights, slots), graph.weights))


def check_symmetric(graph: Graph) -> None:
    """Refuse a directed graph that is not symmetric, and name an edge that shows it."""
    if is_symmetric(graph):
        return
    n = graph.num_vertices
    forth = graph.sources.astype(np.int64) * n + graph.targets
    back = row_maker(graph.placement.memory).sources(graph.in_offsets, np.int64) * n + graph.in_sources
    differ = np.flatnonzero(forth != back)
    if len(differ) == 0:
        assert graph.weights is not None
        check_symmetric_weights(graph, graph.weights)
        return
    # both ascend: the smaller one is there, or there more often, in one direction only
    forth_key, back_key = int(forth[differ[0]]), int(back[differ[0]])
    s, d = divmod(min(forth_key, back_key), n)
    if back_key < forth_key:
        s, d = d, s
    raise GraphError(f"an undirected graph needs every edge in both directions, but ({s}, {d}) has no reverse")


def reweighted(graph: Graph, weights: Any) -> Graph:
    """Do the work of :meth:`frontier.Graph.with_weights`."""
    if isinstance(weights, str):
        if weights not in graph.edges:
            raise GraphError(given.no_column(weights, "edge", graph.edges))
        weights = graph.edges[weights]
    once = weights is not None and _length(weights) == graph.num_edges != graph.num_slots
    both = "" if graph.directed else f", or {graph.num_edges} edges"
    length, what = (graph.num_edges, "edges") if once else (graph.num_slots, f"edge slots{both}")
    array = None if weights is None else given.weights_of(weights, length, what, True, graph.placement.memory)
    if array is not None and once:
        array = _both_ways(graph, array)
    elif array is not None and graph.symmetric:
        check_symmetric_weights(graph, array)
    top = graph._topology
    return _with(graph, array, top.vertices, top.edges, OF_ROWS)


def recolumned(graph: Graph, vertices: Mapping[str, Any] | None, edges: Mapping[str, Any] | None) -> Graph:
    """Do the work of :meth:`frontier.Graph.with_columns`."""
    edges = {} if edges is None else edges
    if not hasattr(edges, "items"):
        given.columns(edges, 0, "edge")  # refuses it
    top, memory = graph._topology, graph.placement.memory
    once = {name: values for name, values in edges.items() if _length(values) == graph.num_edges != graph.num_slots}
    slots = {name: values for name, values in edges.items() if name not in once}
    found = given.columns(vertices, graph.num_vertices, "vertex", True, memory)
    several = "edges" if graph.directed else f"edges, or {graph.num_edges} that go both ways"
    added = given.columns(slots, graph.num_slots, "edge", True, memory, several)
    for name, column in given.columns(once, graph.num_edges, "edge", True, memory).items():
        added[name] = _both_ways(graph, column)
    both = {name: added[name] for name in edges}  # in the order in which they were given
    return _with(graph, top.weights, {**top.vertices, **found}, {**top.edges, **both}, (*OF_ROWS, *OF_WEIGHTS))


def _length(values: Any) -> int:
    """The number of values, -1 of what is no list or array."""
    return len(values) if hasattr(values, "__len__") and getattr(values, "ndim", None) != 0 else -1


def _both_ways(graph: Graph, values: Array) -> Array:
    """A value for each edge of an undirected graph as one for each slot."""
    xp = graph.placement.memory.xp if is_device(values) else np
    sources, targets, back = graph.sources, graph.targets, graph.in_edges
    if xp is np:
        sources, targets, back = map(to_host, (sources, targets, back))
    column: Array = xp.empty(graph.num_slots, values.dtype)
    column[sources <= targets] = values
    column[sources > targets] = column[back[sources > targets]]
    return column


def _with(
    graph: Graph,
    weights: Array | None,
    vertices: Mapping[str, Array],
    edges: Mapping[str, Array],
    kept: tuple[str, ...],
) -> Graph:
    """The same rows with other data; ``kept`` are names of what has been derived and holds for it too."""
    top = graph._topology
    top.check_whole("another version")
    if top.spread is not None:
        weights = None if weights is None else top.spread.taken(weights)
        edges = {name: top.spread.taken(column) for name, column in edges.items()}
    made = Graph(
        top.offsets,
        top.ends,
        weights,
        directed=top.directed,
        labels=top.labels,
        vertices=vertices,
        edges=edges,
        placement=graph.placement,
        check=False,
    )
    made._topology.derived.update({name: value for name, value in top.built().items() if name in kept})
    if top.spread is not None:
        top.spread.share_out(made._topology, graph.placement)
    return made


def check_symmetric_weights(graph: Graph, weights: Array) -> None:
    """Refuse weights that differ between the two directions of an edge of a symmetric graph."""
    back = take(weights, graph.in_edges)
    if np.array_equal(back, weights):
        return
    slot = int(np.argmax(back != weights))
    s, d = graph.sources[slot], graph.targets[slot]
    raise GraphError(
        f"in an undirected graph both directions of an edge have the same weight, but ({s}, {d}) "
        f"has {weights[slot]} and ({d}, {s}) has {back[slot]}"
    )


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a value that is none of those that an argument may have."""
    if value not in choices:
        raise GraphError(f"{name} must be one of {', '.join(choices)}, not {value!r}")


def _checked_offsets(offsets: Any, m: int, memory: Memory) -> Array:
    array = given.one_dimensional(offsets, "offsets", memory)
    if len(array) == 0:
        raise GraphError("offsets must have at least one entry")
    if array.dtype.kind not in "iu":
        raise GraphError(f"offsets must be integers, not {array.dtype}")
    if array[0] != 0 or array[-1] != m:
        raise GraphError(f"offsets must go from 0 to the number of targets, {m}, not from {array[0]} to {array[-1]}")
    down = array[1:] < array[:-1]
    if down.any():
        raise GraphError(f"offsets must not fall, but do at vertex {int(np.argmax(down))}")
    made: Array = memory.xp.ascontiguousarray(memory.moved(array))
    return made


def _ascending(offsets: Array, targets: Array) -> bool:
    """Whether each list ascends."""
    falls = targets[1:] < targets[:-1]
    begins = offsets[:-1][offsets[1:] > offsets[:-1]]  # of the lists that are not empty
    begins = begins[begins > 0]
    return bool(np.count_nonzero(falls) == np.count_nonzero(falls[begins - 1]))
