"""The same graph with its vertices renumbered: the implementation of ``Graph.reordered``.

Edges are sorted into rows again as for a new graph, in the memory of the graph. The sort is stable, so the two
directions of parallel undirected edges keep the same order in both lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier.errors import GraphError
from frontier.graph import build_input as given
from frontier.graph import derived
from frontier.graph.build_arrays import Rows, argsort, counts
from frontier.graph.build_sort import take
from frontier.graph.row_makers import row_maker
from frontier.graph.topology import Array, Topology

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["ORIGINAL", "original", "reordered"]

#: The vertex column that holds each vertex's id in the graph of which this is another order, or a part.
ORIGINAL = "original"


def reordered(graph: Graph, order: Any) -> Graph:
    """Do the work of ``Graph.reordered``."""
    graph._topology.check_whole("another order")
    old = _by_degree(graph) if isinstance(order, str) and order == "degree" else _checked(graph, order)
    new = _inverse(graph, old)
    first = original(graph, old)
    rows = _rows(graph, new)
    top = graph._topology
    made = Topology(
        rows.offsets.astype(top.offsets.dtype, copy=False),
        rows.targets.astype(top.id_dtype, copy=False),
        rows.weights,
        top.directed,
        None if top.labels is None else take(top.labels, old),
        {name: take(column, old) for name, column in top.vertices.items()} | {ORIGINAL: first},
        {name: take(column, rows.order) for name, column in top.edges.items()},
    )
    return graph._wrap(made, graph.placement)


# -- orders: entry i is the old id of the new vertex i ----------------------------------------------


def _by_degree(graph: Graph) -> Array:
    """Falling out-degree, then the old id."""
    order: Array = argsort(graph.placement.memory.xp, -derived.out_degree(graph))
    return order.astype(graph.id_dtype, copy=False)


def _checked(graph: Graph, order: Any) -> Array:
    """An order as an array of the graph's own, of as many ids as there are vertices."""
    if isinstance(order, str):
        raise GraphError(f"order must be 'degree' or an array of the old ids, not {order!r}")
    n, memory = graph.num_vertices, graph.placement.memory
    ids = given.one_dimensional(order, "order", memory)
    if len(ids) != n:
        raise GraphError(f"order has {len(ids)} entries for {n} vertices")
    if n and ids.dtype.kind not in "iu":
        raise GraphError(f"order must hold integers, the old ids, not {ids.dtype}")
    ids = memory.moved(ids)
    wrong = (ids < 0) | (ids >= n)
    if wrong.any():
        v = int(wrong.argmax())
        raise GraphError(f"order[{v}] is {ids[v]}, but vertices are 0 to {n - 1}")
    made: Array = ids.astype(graph.id_dtype)  # a copy: the caller may write to the array later
    return made


def _inverse(graph: Graph, order: Array) -> Array:
    """The new id of each old vertex; refuses an order that is no permutation."""
    n, memory = len(order), graph.placement.memory
    new: Array = memory.full(n, -1, order.dtype)
    new[order] = memory.xp.arange(n, dtype=order.dtype)
    absent = new < 0
    if absent.any():
        several = counts(memory.xp, order, n, order.dtype) > 1
        raise GraphError(
            f"order must be a permutation, but has vertex {int(several.argmax())} more than once and vertex "
            f"{int(absent.argmax())} not at all"
        )
    return new


def original(graph: Graph, order: Array) -> Array:
    """Return the ids in the first graph of the vertices in ``order``, which are those of a new graph.

    A column of that name is known by what it holds, so it may have gone through a file, or another library.
    """
    column = graph.vertices.get(ORIGINAL)
    if column is None:
        return order
    if not _are_ids(column):
        raise GraphError(
            f"a reordered graph or a subgraph keeps the ids it first had in a vertex column {ORIGINAL!r}, and this "
            "graph has a column of that name which does not hold each id once, at most: make the graph with another "
            "name for it"
        )
    return take(column, order)


def _are_ids(column: Array) -> bool:
    """Whether these may be ids of different vertices of some graph."""
    if column.dtype.kind not in "iu" or (len(column) and int(column.min()) < 0):
        return False
    ascending = column.copy()
    ascending.sort()
    return not (ascending[1:] == ascending[:-1]).any()


# -- rows -------------------------------------------------------------------------------------------


def _rows(graph: Graph, new: Array) -> Rows:
    """Sorted rows in the new ids; with the old slot of each new one if there are edge columns."""
    maker, columns = row_maker(graph.placement.memory), bool(graph.edges)
    carry = columns or graph.weights is not None
    beside = 2 * graph.id_dtype.itemsize  # both ends of an edge
    maker.check_room(graph.num_slots, f"another order of {graph.num_slots:,} edge slots", carry=carry, beside=beside)
    sources = graph._topology.built().get("sources")
    if sources is None:  # not graph.sources, which would keep it
        sources = maker.sources(graph.offsets, graph.id_dtype)
    src, dst = take(new, sources), take(new, graph.targets)
    del sources
    return maker.sorted_rows(src, dst, graph.num_vertices, weights=graph.weights, need_order=columns)
