"""Dependencies of Brandes' algorithm one source after another, in plain Python: by weights, of edges, of any size.

Numbers of paths are Python's integers, so they are exact however large, and only their ratios are rounded. A second of
this is about a million edges and sources.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["EXACT", "dependencies"]

EXACT = 4_000_000
"""Vertices and edges, times sources, up to which they are computed."""

Tight = list[tuple[int, int, int]]


def dependencies(
    g: Graph, sources: Any, end: NDArray[Any], weighted: bool, endpoints: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum the dependencies of sources on vertices, and on edges.

    Parameters
    ----------
    g : Graph
        Whole, on the host.
    sources : sequence of int
    end : (n,) array
        1 for targets, 0 for others.
    weighted : bool
        By weights, which are positive.
    endpoints : bool
        Whether vertices get what begins or ends in them, too.

    Returns
    -------
    vertices : (n,) float64
    slots : (m,) float64
    """
    vertices, slots = np.zeros(g.num_vertices), np.zeros(g.num_slots)
    offsets, targets = g.offsets.tolist(), g.targets.tolist()
    weights = g.weights.tolist() if weighted and g.weights is not None else [1] * g.num_slots
    ends = end.tolist()
    for s in sources:
        order, tight = _search(offsets, targets, weights, int(s))
        paths = dict.fromkeys(order, 0)
        paths[int(s)] = 1
        for _, u, v in tight:
            paths[v] += paths[u]
        delta = dict.fromkeys(order, 0.0)
        for slot, u, v in reversed(tight):
            part = paths[u] / paths[v] * (ends[v] + delta[v])
            slots[slot] += part
            delta[u] += part
        for v in order:
            if v != s:
                vertices[v] += delta[v] + endpoints * ends[v]
        vertices[s] += endpoints * delta[int(s)]
    return vertices, slots


def _search(offsets: list[int], targets: list[int], weights: list[Any], source: int) -> tuple[list[int], Tight]:
    """Return the vertices by distance, and the last edges of shortest paths, by the distance where they begin."""
    distance: dict[int, Any] = {source: 0}
    done: set[int] = set()
    order = []
    queue: list[tuple[Any, int]] = [(0, source)]
    while queue:
        far, u = heapq.heappop(queue)
        if u in done:
            continue
        done.add(u)
        order.append(u)
        for slot in range(offsets[u], offsets[u + 1]):
            v, new = targets[slot], far + weights[slot]
            if v not in distance or new < distance[v]:
                distance[v] = new
                heapq.heappush(queue, (new, v))
    tight = [
        (slot, u, targets[slot])
        for u in order
        for slot in range(offsets[u], offsets[u + 1])
        if distance[u] < distance[targets[slot]] == distance[u] + weights[slot]
    ]
    return order, tight
