"""Adjacency lists in ascending order of weight, kept beside a graph's own, which are in the order of targets.

Searches that look at light edges first stop early in them: see :mod:`frontier.operators.order.by_weight`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontier.errors import GraphError
from frontier.graph.topology import Array, read_only

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = [
    "DIFFERENT", "ListsByWeight", "arrays_by_weight", "has_lists_by_weight", "has_room_beside", "lists_by_weight",
    "share_of_different", "slots_by_weight", "why_not_by_weight", "why_not_plain",
]  # fmt: skip

#: What a graph keeps of :func:`share_of_different`; vertices, and neighbours of each, of which it is computed.
DIFFERENT, SAMPLE = "share of different vertices at a distance of two", 32


class ListsByWeight(NamedTuple):
    """Lists of one direction; a vertex's places are those of its own list.

    Attributes
    ----------
    ends, weights : array, shape (m,)
        The far end and the weight of the edge at each place.
    """

    ends: Array
    weights: Array


def why_not_by_weight(g: Graph) -> str:
    """Return why a graph can have no lists sorted by weight; empty if it can."""
    return "it has no weights" if g.weights is None else why_not_plain(g)


def why_not_plain(g: Graph) -> str:
    """Return what keeps a graph from having plain lists, whole and in one memory; empty if it has."""
    top = g._topology
    if top.packed:
        return "its lists are compressed"
    if top.sparse:
        return "its offsets are doubly compressed"
    if g.placement.edges is not None:
        return f"its edges lie on the {g.placement.edges.residence}"
    if top.spread is not None or top.divided is not None:
        return "it is divided among GPUs or ranks"
    return ""


def has_room_beside(g: Graph) -> bool:
    """Whether a second copy of a graph's edges takes less than a quarter of the free memory.

    Nobody has asked for what is kept only to be faster, so it leaves room for what comes next.
    """
    wanted = 4 * sum(array.nbytes for kind, array in g._topology.arrays() if kind == "edges")
    return g.placement.memory.free(wanted) >= wanted


def has_lists_by_weight(g: Graph) -> bool:
    """Whether a graph has them already, of out-edges and of in-edges."""
    derived = g._topology.derived
    return all(_name(g, edges) in derived for edges in ("out", "in"))


def arrays_by_weight(g: Graph) -> list[Array]:
    """Return the arrays that a graph keeps for them."""
    built = g._topology.built()
    lists = [built[name] for name in {_name(g, edges) for edges in ("out", "in")} if name in built]
    slots = [built[name] for name in map(_slots_name, ("out", "in")) if name in built]
    return [*(array for each in lists for array in each), *slots]


def lists_by_weight(g: Graph, edges: str) -> ListsByWeight:
    """Return the lists of a direction by weight; they are made once, in O(m) for weights of few digits.

    Raises
    ------
    GraphError
        If the graph cannot have them.
    """
    made: ListsByWeight = g._once(_name(g, edges), lambda: _made(g, edges))
    return made


def slots_by_weight(g: Graph, edges: str) -> Array:
    """Return the slot of the edge at each place, in the dtype of offsets."""
    slots: Array = g._once(_slots_name(edges), lambda: _slots(g, edges))
    return slots


def _name(g: Graph, edges: str) -> str:
    """The name under which a graph keeps them; of a symmetric graph both directions are the same."""
    return f"lists by weight, {'out' if g.symmetric else edges}"


def _slots_name(edges: str) -> str:
    return f"slots by weight, {edges}"


def _slots(g: Graph, edges: str) -> Array:
    order = _order(g, edges, _unsorted(g, edges)[1])
    return read_only((order if edges == "out" else g.in_edges[order]).astype(g.offsets.dtype, copy=False))


def _made(g: Graph, edges: str) -> ListsByWeight:
    from frontier.graph.build_sort import take

    reason = why_not_by_weight(g)
    if reason:
        raise GraphError(f"lists cannot be sorted by weight: {reason}")
    ends, weights = _unsorted(g, edges)
    order = _order(g, edges, weights)
    return ListsByWeight(read_only(take(ends, order)), read_only(take(weights, order)))


def _unsorted(g: Graph, edges: str) -> tuple[Array, Array]:
    from frontier.graph.build_sort import take

    weights = g.weights
    assert weights is not None
    if edges == "out" or g.symmetric:
        return g.targets, weights
    return g.in_sources, take(weights, g.in_edges)


def _order(g: Graph, edges: str, weights: Any) -> Array:
    """The places of a direction's edges, list by list in ascending order of weight; equals stay as they are."""
    offsets = g.offsets if edges == "out" or g.symmetric else g.in_offsets
    if isinstance(weights, np.ndarray):
        return _on_host(offsets, weights)
    xp = g.placement.memory.xp
    keys = _keys(xp, weights)
    order = keys.argsort()  # CuPy's is stable
    sources = xp.searchsorted(offsets[1:], order, side="right").astype(np.int32 if len(offsets) < 2**31 else np.int64)
    made: Array = order[sources.argsort()].astype(offsets.dtype, copy=False)
    return made


def _on_host(offsets: Array, weights: Array) -> Array:
    """Each list by itself, on all threads."""
    from frontier.graph import by_weight_kernels as kernels
    from frontier.graph.build_sort import stretches, workers_for
    from frontier.native import threads

    keys = _keys(np, weights)
    offsets, order = read_only(offsets), np.arange(len(weights), dtype=offsets.dtype)  # lists may begin after 0
    workers = workers_for(len(weights))
    bounds = np.searchsorted(offsets, stretches(len(weights), workers), side="left").tolist()
    bounds[0], bounds[-1] = 0, len(offsets) - 1

    def work(w: int) -> None:
        first, end = bounds[w], bounds[w + 1]
        longest = int(np.diff(offsets[first : end + 1]).max(initial=0))
        kernels.sort_lists(
            offsets, first, end, keys, order, np.empty(longest, keys.dtype), np.empty(longest, keys.dtype),
            np.empty(longest, order.dtype), np.zeros(256, np.int64),
        )  # fmt: skip

    threads.run(work, workers)
    return order


def _keys(xp: Any, weights: Any) -> Any:
    """Unsigned integers in the order of weights."""
    kind, size = weights.dtype.kind, max(weights.dtype.itemsize, 4)
    wide: Any = np.dtype(f"u{size}").type
    if kind == "u":
        return weights.astype(wide)
    sign = wide(1 << (8 * size - 1))
    found = (weights.astype(f"{kind}{size}") + 0).view(wide)  # -0.0 becomes 0.0
    if kind == "i":
        return found ^ sign
    return xp.where(found & sign != 0, ~found, found | sign)


def share_of_different(g: Graph) -> float:
    """Of vertices at a distance of two, as edges lead there, the share that differs: the median of a sample."""
    share: float = g.cached(DIFFERENT, lambda: _different(g))
    return share


def _different(g: Graph) -> float:
    xp = g.placement.memory.xp
    some = xp.arange(0, g.num_vertices, max(1, g.num_vertices // (16 * SAMPLE)))
    near = some[g.offsets[some + 1] > g.offsets[some]]
    near = near[:: max(1, len(near) // SAMPLE)][:SAMPLE]
    ends = [near.reshape(-1, 1)]
    known = xp.ones((len(near), 1), bool)
    for _ in range(2):  # the ends of evenly spread edges of each list, row by row
        begin = g.offsets[ends[-1]][..., None]
        degree = g.offsets[ends[-1] + 1][..., None] - begin
        number = xp.arange(SAMPLE)
        place = begin + (number * degree) // xp.maximum(xp.minimum(degree, SAMPLE), 1)
        known = known[..., None] & (number < degree)
        found = g.targets[xp.where(known, place, 0)]
        ends.append(found.reshape(len(near), -1))
        known = known.reshape(len(near), -1)
    rows = xp.sort(xp.where(known, ends[-1], -1), axis=1)
    different = (rows[:, 1:] != rows[:, :-1]).sum(axis=1) + (rows[:, 0] >= 0)
    shares = different / xp.maximum(known.sum(axis=1), 1)
    return float(xp.median(shares))
