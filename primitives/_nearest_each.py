"""Dijkstra's algorithm from many vertices, each search by one call of a functor, several at the same time.

What is reached waits in a binary heap (Williams: Algorithm 232, Heapsort, 1964), in which ``place`` finds a vertex
whose distance falls (Dijkstra: A note on two problems in connexion with graphs, 1959). Each search has its own rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr

__all__ = ["NearestEach", "distances_from_each"]

#: Bytes of the rows of searches that run together, unless these would be fewer than threads: Ctrl-C waits for them.
ROOM = 1 << 26


def rise(p, row, at, v):
    """Put v, with its distance, at this place of the heap, or above it."""
    distance = p.distance[row + v]
    while at > 0:
        above = (at - 1) >> 1
        u = p.heap[row + above]
        if p.distance[row + u] <= distance:
            break
        p.heap[row + at] = u
        p.place[row + u] = at
        at = above
    p.heap[row + at] = v
    p.place[row + v] = at


def sink(p, row, size, v):
    """Put v at the top of the heap, or below it."""
    distance = p.distance[row + v]
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        u = p.heap[row + below]
        if below + 1 < size and p.distance[row + p.heap[row + below + 1]] < p.distance[row + u]:
            below += 1
            u = p.heap[row + below]
        if distance <= p.distance[row + u]:
            break
        p.heap[row + at] = u
        p.place[row + u] = at
        at = below
    p.heap[row + at] = v
    p.place[row + v] = at


def search(p, i):
    """Find the distances from the i-th source, in row i."""
    row = i * p.n
    for v in range(p.n):
        p.distance[row + v] = p.far
        p.place[row + v] = -1
    source = p.source[i]
    p.distance[row + source] = 0
    p.heap[row] = source
    size = 1
    while size > 0:
        v = p.heap[row]
        size -= 1
        if size > 0:
            sink(p, row, size, p.heap[row + size])
        for edge in fr.neighbours(p, v):
            u = fr.target(p, edge)
            new = p.distance[row + v] + fr.weight(p, edge)
            if new < p.distance[row + u]:
                at = p.place[row + u]
                if at < 0:
                    at = size
                    size += 1
                p.distance[row + u] = new
                rise(p, row, at, u)


class NearestEach(fr.Enactor):
    """A search from each source."""

    loop = fr.Compute(search, over="count")


def distances_from_each(
    g: fr.Graph, sources: NDArray[Any], dtype: np.dtype[Any], far: Any, schedule: fr.Schedule | None
) -> Iterator[Any]:
    """Yield rows of distances, some at a time, one for each source; they are overwritten by the next."""
    n, ids, memory = g.num_vertices, g.id_dtype, g.placement.memory
    each = n * (dtype.itemsize + 2 * ids.itemsize)
    size = min(len(sources), max(fr.num_threads(), ROOM // each))
    memory.check_room(size * each, f"{size} searches for shortest paths")
    p = fr.Problem(
        g,
        distance=fr.array(memory.xp.empty(size * n, dtype)),
        heap=fr.array(memory.xp.empty(size * n, ids)),
        place=fr.array(memory.xp.empty(size * n, ids)),
        source=fr.array(memory.moved(np.zeros(size, np.int64))),
        count=fr.scalar("int64"),
        n=fr.scalar("int64", n),
        far=fr.scalar(dtype, far),
    )
    enactor = NearestEach(p, schedule)
    for first in range(0, len(sources), size):
        group = sources[first : first + size]
        p.count = len(group)
        p.source[: len(group)] = memory.moved(group)
        enactor.run()
        yield p.distance.reshape(size, n)[: len(group)]
