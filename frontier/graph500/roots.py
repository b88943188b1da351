"""The search keys: distinct random vertices that have a neighbour other than themselves."""

from __future__ import annotations

import numpy as np

from frontier.graph.topology import Array
from frontier.graph500.edges import EdgeList

__all__ = ["draw_roots", "with_neighbor"]


def with_neighbor(edges: EdgeList, num_vertices: int, lo: int = 0, hi: int | None = None) -> Array:
    """Whether each vertex has an edge to another vertex, among a range of the edges."""
    found = np.zeros(num_vertices, np.bool_)
    for block in edges.blocks(lo, hi):
        src, dst = edges.src[block], edges.dst[block]
        proper = src != dst
        found[src[proper]] = True
        found[dst[proper]] = True
    return found


def draw_roots(connected: Array, count: int, seed: int) -> Array:
    """Draw ``count`` distinct vertices of those that are connected; all of them if there are fewer."""
    candidates = np.flatnonzero(connected)
    drawn = np.random.default_rng(seed).choice(len(candidates), min(count, len(candidates)), replace=False)
    return candidates[drawn]
