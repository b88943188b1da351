"""Betweenness of one source by plain array operations: what the results of the benchmark are compared with.

Brandes (2001), level by level: the edges of a level's vertices are laid out in a row and cut into chunks. Some twenty
array operations for a level, so a large grid takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.devices import Array
from benchmarks.gpu_graphs import chunks


def expand(xp: Any, g: fr.Graph, vertices: Array, chunk: int) -> Iterator[tuple[Array, Array]]:
    """Chunks of the edges that begin at some vertices: sources and targets."""
    begin = g.offsets[vertices].astype(np.int64)
    end = xp.cumsum(g.offsets[vertices + 1].astype(np.int64) - begin)
    if len(end) == 0:
        return
    shift = begin.copy()  # from the place in the row to the slot
    shift[1:] -= end[:-1]
    for lo, hi in chunks(int(end[-1]), chunk):
        place = xp.arange(lo, hi, dtype=np.int64)
        row = xp.searchsorted(end, place, side="right")
        yield vertices[row], g.targets[place + shift[row]]


def levels(xp: Any, g: fr.Graph, source: int, chunk: int, sigma: Array | None = None) -> tuple[Array, list[Array]]:
    """Levels of all vertices, and the vertices of each; adds the number of shortest paths to ``sigma``, if given."""
    n = g.num_vertices
    level = xp.full(n, -1, dtype=np.int32)
    claim = xp.zeros(n, dtype=np.int64)
    level[source] = 0
    if sigma is not None:
        sigma[source] = 1.0
    frontiers = [xp.asarray([source], dtype=np.int64)]
    while len(frontiers[-1]):
        depth, found = len(frontiers), []
        for src, dst in expand(xp, g, frontiers[-1], chunk):
            there = level[dst]
            new = dst[there == -1].astype(np.int64)
            order = xp.arange(len(new), dtype=np.int64)
            claim[new] = order  # of duplicates one remains
            new = new[claim[new] == order]
            level[new] = depth
            found.append(new)
            if sigma is not None:
                ahead = (there == -1) | (there == depth)
                xp.add.at(sigma, dst[ahead], sigma[src[ahead]])
        frontiers.append(xp.concatenate(found) if found else frontiers[-1][:0])
    return level, frontiers[:-1]


def dependencies(xp: Any, g: fr.Graph, source: int, chunk: int = 1 << 25) -> Array | None:
    """How much every vertex lies between the source and the others; None if paths are too many for float64."""
    sigma = xp.zeros(g.num_vertices, dtype=np.float64)
    level, frontiers = levels(xp, g, source, chunk, sigma)
    if not bool(xp.isfinite(sigma).all()):
        return None
    delta = xp.zeros(g.num_vertices, dtype=np.float64)
    for depth in range(len(frontiers) - 1, -1, -1):
        for src, dst in expand(xp, g, frontiers[depth], chunk):
            ahead = level[dst] == depth + 1
            src, dst = src[ahead], dst[ahead]
            xp.add.at(delta, src, sigma[src] / sigma[dst] * (1.0 + delta[dst]))
    delta[source] = 0.0
    return delta
