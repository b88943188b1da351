"""Where the ranges of a partition begin: vertices cut into pieces of equal number, or of equal weight."""

from __future__ import annotations

import numpy as np

from frontier.graph.graph import Graph
from frontier.graph.topology import Array
from frontier.memory.arrays import to_host

__all__ = ["PER_VERTEX", "by_slots", "by_vertices"]

#: What a vertex weighs, as a number of edge slots: its fields take memory and time even if it has no edges.
PER_VERTEX = 1


def by_vertices(graph: Graph, parts: int) -> Array:
    """First vertex of each part, and the end: equal numbers of vertices, up to one."""
    return np.arange(parts + 1, dtype=np.int64) * graph.num_vertices // parts


def by_slots(graph: Graph, parts: int) -> Array:
    """First vertex of each part, and the end: about equal weights, where a vertex weighs its edge slots and 1 more.

    Each cut is made where the weight before it is nearest to its share of the whole. So a part has at most its share
    and the weight of one vertex. A cut is found by bisection, with few reads even if the offsets lie on a GPU.
    """
    offsets, n = graph.offsets, graph.num_vertices

    def before(vertex: Array) -> Array:
        """Weight of all vertices that precede the given ones."""
        where = vertex if isinstance(offsets, np.ndarray) else graph.placement.memory.moved(vertex)
        weight: Array = to_host(offsets[where]).astype(np.int64) + PER_VERTEX * vertex
        return weight

    total = graph.num_slots + PER_VERTEX * n
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
