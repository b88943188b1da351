"""The same graph with its vertices numbered in another order: the work of ``Graph.reordered``.

Edges are sorted into rows again as for a new graph, where the graph lies. The sort keeps the order of equals, so the
two directions of an undirected edge that is there several times still stand in the same order in both lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier import _build_arrays, _derived, device
from frontier import _build_input as given
from frontier._build_arrays import Rows
from frontier._build_sort import sorted_rows, take
from frontier._topology import Array, Topology
from frontier.errors import GraphError
from frontier.memory import check_room

if TYPE_CHECKING:
    from frontier.graph import Graph

__all__ = ["ORIGINAL", "reordered"]

#: The vertex column that holds each vertex's id before the first reordering.
ORIGINAL = "original"


def reordered(graph: Graph, order: Any) -> Graph:
    """Do the work of ``Graph.reordered``."""
    old = _by_degree(graph) if isinstance(order, str) and order == "degree" else _checked(graph, order)
    new = _inverse(graph, old)
    original = _original(graph, old)
    rows = _rows(graph, new)
    top = graph._topology
    made = Topology(
        rows.offsets.astype(top.offsets.dtype, copy=False),
        rows.targets.astype(top.targets.dtype, copy=False),
        rows.weights,
        top.directed,
        None if top.labels is None else take(top.labels, old),
        {name: take(column, old) for name, column in top.vertices.items()} | {ORIGINAL: original},
        {name: take(column, rows.order) for name, column in top.edges.items()},
    )
    return graph._wrap(made, graph.backend)


# -- orders: entry i is the old id of the new vertex i ----------------------------------------------


def _by_degree(graph: Graph) -> Array:
    """Falling out-degree, then the old id."""
    order: Array = _build_arrays._argsort(device.namespace(graph.backend), -_derived.out_degree(graph))
    return order.astype(graph.targets.dtype, copy=False)


def _checked(graph: Graph, order: Any) -> Array:
    """An order as an array of the graph's own, of as many ids as there are vertices."""
    if isinstance(order, str):
        raise GraphError(f"order must be 'degree' or an array of the old ids, not {order!r}")
    n, place = graph.num_vertices, graph.backend
    ids = given.one_dimensional(order, "order", place)
    if len(ids) != n:
        raise GraphError(f"order has {len(ids)} entries for {n} vertices")
    if n and ids.dtype.kind not in "iu":
        raise GraphError(f"order must hold integers, the old ids, not {ids.dtype}")
    ids = device.moved(ids, place)
    wrong = (ids < 0) | (ids >= n)
    if wrong.any():
        v = int(wrong.argmax())
        raise GraphError(f"order[{v}] is {ids[v]}, but vertices are 0 to {n - 1}")
    made: Array = ids.astype(graph.targets.dtype)  # a copy: the caller may write to the array later
    return made


def _inverse(graph: Graph, order: Array) -> Array:
    """The new id of each old vertex; refuses an order that is no permutation."""
    n, xp = len(order), device.namespace(graph.backend)
    new: Array = device.full(graph.backend, n, -1, order.dtype)
    new[order] = xp.arange(n, dtype=order.dtype)
    absent = new < 0
    if absent.any():
        several = _build_arrays.counts(xp, order, n, order.dtype) > 1
        raise GraphError(
            f"order must be a permutation, but has vertex {int(several.argmax())} more than once and vertex "
            f"{int(absent.argmax())} not at all"
        )
    return new


def _original(graph: Graph, order: Array) -> Array:
    """The ids before the first reordering, in the new order.

    A column of that name is known by what it holds, so it may have gone through a file, or another library.
    """
    column = graph.vertices.get(ORIGINAL)
    if column is None:
        return order
    try:
        _inverse(graph, _checked(graph, column))
    except GraphError:
        raise GraphError(
            f"a reordered graph keeps the ids it first had in a vertex column {ORIGINAL!r}, and this graph has a "
            "column of that name which does not hold each id once: make the graph with another name for it"
        ) from None
    return take(column, order)


# -- rows -------------------------------------------------------------------------------------------


def _rows(graph: Graph, new: Array) -> Rows:
    """Sorted rows in the new ids; with the old slot of each new one if there are edge columns."""
    from frontier.build import sources_of

    place, columns = graph.backend, bool(graph.edges)
    if device.is_cuda(place):
        ends = 2 * graph.targets.itemsize * graph.num_slots
        sorting = _build_arrays.bytes_for(graph.num_slots, both=False, carry=columns or graph.weights is not None)
        check_room(ends + sorting, f"another order of {graph.num_slots:,} edge slots", device.HINT, place)
    sources = graph._topology.built().get("sources")
    if sources is None:  # not graph.sources, which would keep it
        sources = sources_of(place, graph.offsets, graph.targets.dtype)
    src, dst = take(new, sources), take(new, graph.targets)
    del sources
    carried: dict[str, Any] = {"weights": graph.weights, "need_order": columns}
    if device.is_cuda(place):
        return _build_arrays.sorted_rows(device.namespace(place), src, dst, graph.num_vertices, **carried)
    return sorted_rows(src, dst, graph.num_vertices, **carried)
