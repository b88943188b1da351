"""Graphs made of another: of some vertices or edges, of groups of them, turned round, without directions.

All work on arrays in the memory of the graph. An induced subgraph needs no sorting, because vertices keep their order;
a contracted graph is built as any other, of edges between groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph import build_input as given
from frontier.graph.build import check_choice, from_edges
from frontier.graph.build_arrays import counts
from frontier.graph.build_sort import forward, take
from frontier.graph.reorder import ORIGINAL, original
from frontier.graph.row_makers import row_maker
from frontier.graph.several import vertex_ids
from frontier.graph.topology import Array, Topology, id_dtype, offset_dtype
from frontier.memory.base import Memory

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["contracted", "groups", "induced", "of_edges", "reversed_edges", "undirected", "vertex_mask"]

SELF_LOOPS = ("keep", "drop")
DUPLICATES = ("sum", "min", "max", "first", "last", "keep")


def induced(graph: Graph, vertices: Any) -> Graph:
    """Do the work of ``Graph.induced``."""
    top, memory = graph._topology, graph.placement.memory
    top.check_whole("a subgraph")
    xp = memory.xp
    mask = vertex_mask(graph, vertices)
    old = xp.flatnonzero(mask)
    new = (xp.cumsum(mask) - 1).astype(id_dtype(len(old)))  # the new id of each vertex that stays
    carry = top.weights is not None or bool(top.edges)
    offsets, targets, slots = row_maker(memory).induced(top, mask, old, new, carry)
    made = Topology(
        offsets.astype(offset_dtype(len(targets))),
        targets,
        None if top.weights is None else take(top.weights, slots),
        top.directed,
        None if top.labels is None else take(top.labels, old),
        {name: take(column, old) for name, column in top.vertices.items()}
        | {ORIGINAL: original(graph, old.astype(top.id_dtype))},
        {name: take(column, slots) for name, column in top.edges.items()},
    )
    return graph._wrap(made, graph.placement)


def vertex_mask(graph: Graph, vertices: Any) -> Array:
    """A new mask of a frontier, or of what one is made of."""
    n, memory = graph.num_vertices, graph.placement.memory
    of_frontier = hasattr(vertices, "is_all")
    if of_frontier:
        vertices.check(graph)
        if vertices.kind != "vertex":
            raise GraphError("a subgraph is induced by vertices, and this is a frontier of edges")
        vertices = vertices.ids
    if isinstance(vertices, set | frozenset | range):
        vertices = list(vertices)
    if graph.labels is not None and not of_frontier and not _is_mask(vertices):
        vertices = vertex_ids(graph, vertices, "vertices")
    found = _marked(memory, vertices, n, "vertices", "vertices", "a frontier, ids")
    if isinstance(found, int):
        raise GraphError(f"vertex {found} does not exist: valid are 0..{n - 1}")
    return found


def _marked(memory: Memory, some: Any, count: int, name: str, noun: str, taken: str) -> Array | int:
    """A new mask of ``count`` bools, of a mask or of ids; the first id that does not exist."""
    ids = given.one_dimensional(some, name, memory)
    if ids.dtype.kind == "b":
        if len(ids) != count:
            raise GraphError(f"a mask of {len(ids)} bools, but there are {count} {noun}")
        made: Array = memory.moved(ids, copy=True)
        return made
    mask: Array = memory.full(count, False, np.bool_)
    if len(ids) == 0:
        return mask
    if ids.dtype.kind not in "iu":
        raise GraphError(f"{name} are {taken} or a mask of bools, not {ids.dtype}")
    ids = memory.moved(ids)
    lowest, highest = int(ids.min()), int(ids.max())
    if lowest < 0 or highest >= count:
        return lowest if lowest < 0 else highest
    mask[ids] = True
    return mask


def _is_mask(vertices: Any) -> bool:
    kind = getattr(getattr(vertices, "dtype", None), "kind", "")
    return kind == "b" or (isinstance(vertices, list) and {*map(type, vertices)} == {bool})


def of_edges(graph: Graph, edges: Any) -> Graph:
    """Do the work of ``Graph.edge_subgraph``."""
    top, memory = graph._topology, graph.placement.memory
    top.check_whole("a subgraph")
    mask = _edge_mask(graph, edges)
    if not top.directed:
        mask |= take(mask, graph.in_edges)  # the slot of the other direction
    kept = memory.xp.flatnonzero(mask)
    made = Topology(
        memory.xp.searchsorted(kept, top.offsets).astype(offset_dtype(len(kept))),
        take(top.targets, kept),
        None if top.weights is None else take(top.weights, kept),
        top.directed,
        top.labels,
        top.vertices,
        {name: take(column, kept) for name, column in top.edges.items()},
    )
    return graph._wrap(made, graph.placement)


def _edge_mask(graph: Graph, edges: Any) -> Array:
    """A new mask of edge slots, of a frontier of edges, or of what one is made of."""
    m, memory = graph.num_slots, graph.placement.memory
    if hasattr(edges, "is_all"):
        edges.check(graph)
        if edges.kind != "edge":
            raise GraphError("edges or a frontier of edges are expected, and this is one of vertices")
        edges = edges.ids
    if isinstance(edges, set | frozenset | range):
        edges = list(edges)
    found = _marked(memory, edges, m, "edges", "edge slots", "a frontier, edge slots")
    if isinstance(found, int):
        raise GraphError(f"there is no edge slot {found}: there are {m}")
    return found


def reversed_edges(graph: Graph) -> Graph:
    """Do the work of ``Graph.reverse`` for a directed graph."""
    top = graph._topology
    top.check_whole("a reversed graph")
    carry = top.weights is not None or bool(top.edges)
    slots = graph.in_edges if carry else None  # comes with the lists
    offsets, ends = graph._in_lists()
    made = Topology(
        offsets,
        ends,
        None if top.weights is None else take(top.weights, slots),
        top.directed,
        top.labels,
        top.vertices,
        {name: take(column, slots) for name, column in top.edges.items()},
    )
    if top.spread is None:
        made.derived["in_lists"] = (top.offsets, top.ends)
    return graph._wrap(made, graph.placement)


def undirected(graph: Graph, duplicates: str) -> Graph:
    """Do the work of ``Graph.undirected``."""
    check_choice("duplicates", duplicates, DUPLICATES)
    top, memory = graph._topology, graph.placement.memory
    top.check_whole("an undirected graph")
    added = duplicates == "sum"
    weights = top.weights
    if weights is None and added:
        weights = memory.full(graph.num_slots, 1, np.int64)
    made = from_edges(
        graph.sources, graph.targets, weights, num_vertices=graph.num_vertices, duplicates=duplicates,
        labels=top.labels, vertices=top.vertices, edges={} if added else top.edges,
    )  # fmt: skip
    return made.to(graph.placement)


def contracted(graph: Graph, labels: Any, self_loops: str, duplicates: str) -> Graph:
    """Do the work of ``Graph.contracted``."""
    top, memory = graph._topology, graph.placement.memory
    top.check_whole("a contracted graph")
    check_choice("self_loops", self_loops, SELF_LOOPS)
    check_choice("duplicates", duplicates, DUPLICATES)
    values, group = groups(graph, labels)
    about = {"label": values, "size": counts(memory.xp, group, len(values), np.int64)}
    if duplicates == "sum" and graph.placement.edges is None:
        rows = row_maker(memory).contracted(
            top, lambda: graph.sources, _wide(graph), group, len(values), self_loops == "keep"
        )
        if rows is not None:
            between = Topology(rows.offsets, rows.targets, rows.weights, top.directed, None, about, {})
            return graph._wrap(between, graph.placement)
    src, dst, weights, columns = (_summed if duplicates == "sum" else _carried)(graph, group, len(values))
    made = from_edges(
        src,
        dst,
        weights,
        num_vertices=len(values),
        directed=top.directed,
        duplicates=duplicates,
        self_loops=self_loops,
        vertices=about,
        edges=columns,
    )
    return made.to(graph.placement)


#: Sources, targets, weights and columns of the edges between groups, undirected ones once.
Between = tuple[Array, Array, Array | None, dict[str, Array]]


def _summed(graph: Graph, group: Array, count: int) -> Between:
    """Edges with weights to be added up, some of which may have been already."""
    made = row_maker(graph.placement.memory).between(
        graph._topology, lambda: graph.sources, _wide(graph), group, count
    )
    return *made, {}


def _wide(graph: Graph) -> Array:
    """The weights as int64 or float64; 1 for each edge if there are none."""
    weights = graph._topology.weights
    if weights is None:
        made: Array = graph.placement.memory.xp.ones(graph.num_slots, np.int64)
        return made
    if weights.dtype == np.uint64 and len(weights) and graph.max_weight >= 2**63:
        raise GraphError(f"weights are added up as int64, and the greatest is {graph.max_weight}: use float64")
    return weights.astype(np.float64 if weights.dtype.kind == "f" else np.int64, copy=False)


def _carried(graph: Graph, group: Array, count: int) -> Between:
    """Edges with what belongs to them."""
    top = graph._topology
    src, dst, weights, columns = graph.sources, top.targets, top.weights, dict(top.edges)
    if not top.directed:
        once = forward(src, dst)
        src, dst = take(src, once), take(dst, once)
        weights = None if weights is None else take(weights, once)
        columns = {name: take(column, once) for name, column in columns.items()}
    return take(group, src), take(group, dst), weights, columns


def groups(graph: Graph, labels: Any) -> tuple[Array, Array]:
    """Return the labels that occur, ascending, and the number of each vertex's label among them."""
    n, memory = graph.num_vertices, graph.placement.memory
    array = given.one_dimensional(labels, "labels", memory)
    if len(array) != n:
        raise GraphError(f"{len(array)} labels, but there are {n} vertices")
    if array.dtype.kind == "b":  # a yes or no of each vertex
        array = array.astype(np.uint8)
    if n and array.dtype.kind not in "iu":
        raise GraphError(f"labels must be integers, not {array.dtype}")
    array = memory.moved(array)
    if n and not (int(array.min()) >= 0 and int(array.max()) < 4 * n):
        values, group = memory.xp.unique(array, return_inverse=True)
        return values, group.reshape(n).astype(id_dtype(n))
    # Most labels are vertex ids, and then need no sorting.
    occurs = memory.full(int(array.max()) + 1 if n else 0, False, np.bool_)
    occurs[array] = True
    number = memory.xp.cumsum(occurs) - 1
    return memory.xp.flatnonzero(occurs), take(number, array).astype(id_dtype(n))
