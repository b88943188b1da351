"""Shortest paths from many sources, up to all pairs of a small graph.

Each vertex has a row: its distances from a group of sources. A round of the algorithm of Bellman (On a routing problem,
1958) multiplies the matrix of rows by that of the graph over the semiring of minimum and plus, for the vertices that
have an in-edge from a vertex whose row has changed. An edge is read once for all sources of a group, and its row of
sums is computed by vector instructions, or by the lanes of a warp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.several import vertex_ids
from frontier.primitives._arguments import check_lengths
from frontier.primitives._oriented import undivided
from frontier.registry import primitive

__all__ = ["SSSPMany", "SSSPManyResult", "sssp_many"]

#: Sources of a group at most: so many that a row is long enough for vectors, and rows stay in the cache.
GROUP = 128

#: The distance of vertices that are not reached, if distances are integers: adding a weight to it does not overflow.
FAR = 2**62


def reach(p, dst):
    """Every vertex with an in-edge from the frontier is in the next one."""
    return True


def through(p, src, weight, i):
    """The distance from source i over an edge."""
    return p.distance[src, i] + weight


def improve(p, v):
    """Keep the lesser distances of v; whether any is new."""
    better = False
    for i in range(p.sources):
        if p.offer[v, i] < p.distance[v, i]:
            p.distance[v, i] = p.offer[v, i]
            better = True
    return better


class SSSPMany(fr.Enactor):
    """Rounds over the vertices whose distances may change, until none does."""

    loop = fr.Loop(fr.Advance(reach), fr.Gather(through, "min", into="offer"), fr.Filter(improve))


@dataclass(frozen=True)
class SSSPManyResult:
    """Result of :func:`sssp_many`.

    Attributes
    ----------
    source : ndarray of int64, shape (k,)
        Vertex ids.
    distance : ndarray, shape (k, n)
        The least sum of weights of a path from each source to each vertex, int64 for integer weights and float64 for
        others; if there is no path, the maximum of int64, or infinity.
    """

    source: NDArray[Any]
    distance: NDArray[Any]


def _facts(g: fr.Graph, result: SSSPManyResult) -> dict[str, Any]:
    reached = result.distance < (np.iinfo(np.int64).max if result.distance.dtype.kind == "i" else np.inf)
    return {
        "sources": len(result.source),
        "reached": int(reached.sum()),
        "farthest": result.distance[reached].max().item() if len(result.source) else 0,
    }


@primitive("sssp_many", "distances by weights between all pairs", report=_facts, needs_weights=True)
def sssp_many(g: fr.Graph, sources: Any = None, *, schedule: fr.Schedule | None = None) -> SSSPManyResult:
    """Distances by weights from many vertices, or between all pairs.

    Parameters
    ----------
    g : Graph
        Weights must not be negative. Edges are followed in their direction.
    sources : sequence of vertices (labels, if the graph has labels), Frontier or mask, optional
        All vertices by default. A vertex may occur more than once.
    schedule : Schedule, optional

    Returns
    -------
    SSSPManyResult

    Raises
    ------
    GraphError
        If a source does not exist, the graph has no weights, or distances may not fit into 64 bits.
    NegativeWeightError
        If a weight is negative.
    FrontierMemoryError
        If the distances do not fit into memory.

    Notes
    -----
    O(m) work for a source and round; there are at most as many rounds as edges on a shortest path, usually few more
    than levels of a breadth-first search. On large graphs of many levels, as roads, :func:`frontier.sssp` for each
    source does less. A graph in parts is made whole, on processors, for this.
    """
    if g.weights is None:
        raise GraphError("shortest paths need weights, and the graph has none: see bfs_many")
    check_lengths(g)
    n = g.num_vertices
    source = np.arange(n) if sources is None else vertex_ids(g, sources, "sources")
    here = undivided(g)
    memory, whole = here.placement.memory, g.weights.dtype.kind in "iu"
    memory.check_room(8 * n * len(source), f"distances from {len(source):,} sources")
    far, dtype = (FAR, np.dtype(np.int64)) if whole else (np.inf, np.dtype(np.float64))
    distance = memory.xp.full((len(source), n), np.iinfo(np.int64).max if whole else np.inf, dtype)
    size = min(GROUP, len(source))
    if not size:
        return SSSPManyResult(source, distance)
    p = fr.Problem(
        here,
        distance=fr.vertex(dtype, far, shape=size),
        offer=fr.vertex(dtype, shape=size),
        sources=fr.scalar("int64", size),
    )
    for first in range(0, len(source), size):
        group = source[first : first + size]
        p.distance[:] = far
        p.distance[memory.moved(group), memory.moved(np.arange(len(group)))] = 0
        SSSPMany(p, schedule).run(fr.Frontier(here, np.unique(group)))
        found = p.distance.T[: len(group)]
        distance[first : first + size] = memory.xp.where(found < far, found, distance[first : first + size])
    return SSSPManyResult(source, distance)
