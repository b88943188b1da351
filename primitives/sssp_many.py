"""Shortest paths from many sources, up to all pairs of a small graph.

Each vertex has a row: its distances from a group of sources. A round of the algorithm of Bellman (On a routing problem,
1958) multiplies the matrix of rows by that of the graph over the semiring of minimum and plus, for the vertices that
have an in-edge from a vertex whose row has changed. An edge is read once for all sources of a group, and its row of
sums is computed by vector instructions, or by the lanes of a warp.

Where a graph is deep, sources of a group reach a vertex one after another, and its row is computed anew each time. So
on processors the work is counted, and when it is more than that of a search from every source (Dijkstra's algorithm),
these take over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.several import vertex_ids
from frontier.primitives._arguments import check_lengths
from frontier.primitives._nearest_each import distances_from_each
from frontier.primitives._oriented import undivided
from frontier.registry import primitive

__all__ = ["SSSPMany", "SSSPManyResult", "sssp_many"]

#: Sources of a group, the least of these that is enough: rows are long enough for vectors, and stay in the cache. The
#: length of a row is part of a program, so each is compiled once.
SIZES = (8, 32, 128)

#: How often rows may be computed, on average, for each source of a group, and at most: a search of its own takes a
#: vertex as long as 8 rows of one number, or 100 of 128.
AGAIN, MOST = 8, 100

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


def row(p, v):
    """1 for a row, to be counted."""
    return 1


def total(p):
    """Return how many rows have been computed for this group."""
    return p.rows + p.now


def wasteful(p):
    """Searches one by one would have been done by now."""
    return p.rows > p.limit


class SSSPMany(fr.Enactor):
    """Rounds over the vertices whose distances may change, until none does, or there were too many."""

    loop = fr.Loop(
        fr.Advance(reach),
        fr.Reduce(row, "sum", into="now"),
        fr.Gather(through, "min", into="offer"),
        fr.Filter(improve),
        fr.Set(rows=total),
        until=wasteful,
    )


@dataclass(frozen=True, eq=False, repr=False)
class SSSPManyResult(fr.Result, columns=("distance",), rows="pair"):
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
    than levels of a breadth-first search. On deep graphs on processors O(m log n) for a source, as by Dijkstra's
    algorithm. A graph in parts is made whole, on processors, for this.

    Examples
    --------
    >>> fr.sssp_many(fr.from_edges([0, 1], [1, 2], [1.0, 2.0]), [0, 2]).distance
    array([[0., 1., 3.],
           [3., 2., 0.]])
    """
    if g.weights is None:
        raise GraphError("shortest paths need weights, and the graph has none: see bfs_many")
    check_lengths(g)
    n = g.num_vertices
    source = np.arange(n) if sources is None else vertex_ids(g, sources, "sources")
    here = undivided(g)
    memory = here.placement.memory
    memory.check_room(8 * n * len(source), f"distances from {len(source):,} sources")
    dtype, unreached = _kind(g)
    distance = memory.xp.full((len(source), n), unreached, dtype)
    for first, rows in distance_rows(here, source, schedule):
        distance[first : first + len(rows)] = rows
    return SSSPManyResult(source, distance)


def _kind(g: fr.Graph) -> tuple[np.dtype[Any], float]:
    """The dtype of distances, and which is that of vertices that are not reached."""
    assert g.weights is not None
    if g.weights.dtype.kind in "iu":
        return np.dtype(np.int64), int(np.iinfo(np.int64).max)
    return np.dtype(np.float64), np.inf


def distance_rows(
    g: fr.Graph, source: NDArray[np.int64], schedule: fr.Schedule | None
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield rows of distances of an undivided graph, some at a time, and the number of the first.

    Rows may be overwritten by the next ones.
    """
    if not len(source):
        return
    n, memory = g.num_vertices, g.placement.memory
    dtype, unreached = _kind(g)
    far = FAR if dtype.kind == "i" else np.inf
    size = next((size for size in SIZES if size >= len(source)), SIZES[-1])
    p = fr.Problem(
        g,
        distance=fr.vertex(dtype, far, shape=size),
        offer=fr.vertex(dtype, shape=size),
        sources=fr.scalar("int64", size),
        now=fr.scalar("int64"),
        rows=fr.scalar("int64"),
        limit=fr.scalar("int64", 2**62 if g.placement.massively_parallel else n * min(AGAIN * size, MOST)),
    )
    for first in range(0, len(source), size):
        group = source[first : first + size]
        p.distance[:] = far
        p.distance[memory.moved(group), memory.moved(np.arange(len(group)))] = 0
        p.rows = 0
        SSSPMany(p, schedule).run(fr.Frontier(g, np.unique(group)))
        if p.rows > p.limit:
            for rows in distances_from_each(g, source[first:], dtype, unreached, schedule):
                yield first, rows
                first += len(rows)
            return
        found = p.distance.T[: len(group)]
        yield first, memory.xp.where(found < far, found, unreached)
