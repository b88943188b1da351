"""Where the ranges of a partition begin: vertices cut into pieces of equal number or weight, and hubs dealt out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from frontier.graph.graph import Graph
from frontier.graph.topology import Array
from frontier.memory.arrays import to_host

__all__ = [
    "HUB", "PER_VERTEX", "WORDS_FROM", "at_equal_weights", "at_shares", "by_hubs", "by_slots", "by_vertices",
    "most_square", "of_ranks", "whole_words", "with_edges",
]  # fmt: skip

#: What a vertex weighs, as a number of edge slots: its fields take memory and time even if it has no edges.
PER_VERTEX = 1

#: Vertices for each part from which on those of a rank are whole words of bitmaps, as kernels of several GPUs need.
#: Of a smaller graph, parts would be empty.
WORDS_FROM = 1 << 12

#: A hub has more than this many times the mean degree of the vertices that have edges.
HUB = 8


def most_square(parts: int) -> int:
    """Number of rows of the grid of so many parts that is nearest to a square, and no higher than wide."""
    return max(rows for rows in range(1, int(parts**0.5) + 1) if parts % rows == 0)


def by_vertices(graph: Graph, parts: int) -> Array:
    """First vertex of each part, and the end: equal numbers of vertices, up to one."""
    return np.arange(parts + 1, dtype=np.int64) * graph.num_vertices // parts


def by_slots(graph: Graph, parts: int) -> Array:
    """First vertex of each part, and the end: about equal weights, where a vertex weighs its edge slots and 1 more.

    Each cut is made where the weight before it is nearest to its share of the whole. So a part has at most its share
    and the weight of one vertex. A cut is found by bisection, with few reads even if the offsets lie on a GPU.
    """
    return at_equal_weights(graph.offsets, parts, graph.placement.memory.moved)


def at_equal_weights(offsets: Any, parts: int, moved: Callable[[Array], Any] = lambda ids: ids) -> Array:
    """The same from offsets alone; ``moved`` brings indices to where they lie."""
    return at_shares(lambda ids: to_host(offsets[moved(ids)]).astype(np.int64), len(offsets) - 1, parts)


def at_shares(slots_before: Callable[[Array], Array], n: int, parts: int) -> Array:
    """The same of n vertices from a function that says how many slots precede given vertices."""

    def before(vertex: Array) -> Array:
        """Weight of all vertices that precede the given ones."""
        weight: Array = slots_before(vertex) + PER_VERTEX * vertex
        return weight

    total = int(before(np.array([n]))[0])
    share = np.arange(parts + 1, dtype=np.int64) * total // parts
    low, high = np.zeros_like(share), np.full_like(share, n)
    while (low < high).any():  # the first vertex with at least the share before it
        middle = (low + high) // 2
        enough = before(middle) >= share
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle + 1)
    previous = np.maximum(low - 1, 0)
    nearer = share - before(previous) < before(low) - share
    return np.where(nearer, previous, low)


def whole_words(starts: Array) -> Array:
    """The starts of ranges, so that each begins with a word of a bitmap."""
    made = starts.copy()
    made[1:-1] = np.minimum((starts[1:-1] + 16) // 32 * 32, starts[-1])
    return made


def of_ranks(starts: Array) -> Array:
    """The starts of the ranges of ranks: whole words of bitmaps, unless the graph is small."""
    return whole_words(starts) if starts[-1] >= WORDS_FROM * (len(starts) - 1) else starts


def with_edges(graph: Graph) -> Array:
    """Which vertices are not isolated; a self-loop is an edge."""
    found: Array = to_host(graph.out_degree) > 0
    return found if graph.symmetric else found | (to_host(graph.in_degree) > 0)


def by_hubs(graph: Graph, parts: int) -> tuple[Array, Array]:
    """An order of the vertices, and where each part begins in it.

    A part has, in this order: its hubs, which are dealt out by falling degree, forwards and backwards in turn; a range
    of the other vertices that have edges, as they were numbered, which fills the part up to its share; and its share of
    the isolated vertices.
    """
    degree, linked = to_host(graph.out_degree).astype(np.int64), with_edges(graph)
    hub = degree * max(int(linked.sum()), 1) > HUB * graph.num_slots
    hubs, rest, isolated = np.flatnonzero(hub), np.flatnonzero(linked & ~hub), np.flatnonzero(~linked)
    hubs = hubs[np.argsort(-degree[hubs], kind="stable")]

    turn, seat = np.divmod(np.arange(len(hubs)), parts)
    dealt = np.where(turn % 2 == 0, seat, parts - 1 - seat)
    weight = degree + PER_VERTEX
    taken = np.bincount(dealt, weight[hubs], parts).astype(np.int64)
    owner = np.empty(len(degree), np.int64)
    owner[hubs] = dealt
    owner[rest] = _filled(taken, weight[rest])
    owner[isolated] = np.arange(len(isolated)) * parts // max(len(isolated), 1)

    listed = np.concatenate((hubs, rest, isolated))
    order = listed[np.argsort(owner[listed], kind="stable")]
    starts = np.zeros(parts + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=parts), out=starts[1:])
    return order, starts


def _filled(taken: Array, weight: Array) -> Array:
    """The part of each vertex of a row, so that all parts come to the same weight with what they already have."""
    parts, total = len(taken), int(taken.sum() + weight.sum())
    room = np.maximum(total // parts + 1 - taken, 0)
    ends = np.cumsum(room) / room.sum() * weight.sum()
    middle = np.cumsum(weight) - weight / 2  # a vertex goes where its middle lies
    return np.minimum(np.searchsorted(ends, middle, side="left"), parts - 1)
