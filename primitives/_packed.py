"""Shortest paths with distance and parent in one word, so that one atomic sets both.

The bits of a float32 that is not negative, read as an integer, have the order of the numbers. With the distance in the
upper half of an int64 and the parent in the lower half, the least word belongs to the shortest path. A vertex is
relaxed again only if the upper half gets less, so every parent is nearer than its child, unless a weight vanishes by
rounding: then the distance does not grow along an edge, which :func:`stands_still` detects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["FIELDS", "PackedSSSP", "may_pack", "stands_still"]

#: The words, at first infinitely far with the parent -1, and the largest distance.
FIELDS = {
    "best": fr.vertex("int64", (0x7F800000 << 32) | 0xFFFFFFFF, combine="min"),
    "top": fr.scalar("float64"),
}


def distance_of(word):
    """The float32 in the upper half."""
    return np.int32(word >> 32).view(np.float32)


def packed(far, vertex):
    """A distance and a vertex in one word."""
    return (np.int64(np.float32(far).view(np.int32)) << 32) | vertex


def relax(p, src, dst, weight):
    """Offer dst a shorter way through src."""
    new = packed(distance_of(p.best[src]) + weight, src)
    return new >> 32 < p.best[dst] >> 32 and new >> 32 < fr.atomic_min(p.best, dst, new) >> 32


def distance(p, v):
    """The distance of the vertex."""
    return distance_of(p.best[v])


def unpack(p, v):
    """Distance and parent apart; returns the distance of a vertex that is reached."""
    far = distance_of(p.best[v])
    p.distance[v] = far
    if far < p.unreached:
        p.parent[v] = p.best[v] & 0xFFFFFFFF
        return np.float64(far)
    return 0.0


class PackedSSSP(fr.Enactor):
    """The search with the words of the field ``best``, which are taken apart at the end."""

    loop = (
        fr.Loop(fr.Advance(relax), order=fr.by(distance, adds="weight"), over="source"),
        fr.Reduce(unpack, "max", into="top", over="vertices"),
    )


def may_pack(g: Graph, dtype: np.dtype[Any]) -> bool:
    """Whether distances and vertices fit into a word, and no weight is 0."""
    fits = dtype == np.float32 and g.id_dtype == np.int32
    return bool(fits and g.min_weight is not None and g.min_weight > 0)


def stands_still(g: Graph, top: float) -> bool:
    """Whether adding the least weight might leave a distance up to the largest as it is."""
    assert g.min_weight is not None
    return bool(g.min_weight <= np.spacing(np.float32(top)) / 2)  # half of a unit may be rounded either way
