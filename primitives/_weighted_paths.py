"""The programs of :func:`frontier.shortest_path` for weights: with an estimate, from one end, and from both.

From both ends, each search has a reach: the least distance among the vertices that wait on its side. Whatever is nearer
is final. So a shorter path than the best one known would have to pass through a vertex that waits on either side, and
there is none once the two reaches add up to the length of the best (Goldberg, Harrelson: Computing the shortest path:
A* search meets graph theory, SODA 2005). An edge is not followed if no shorter path leads over it: what is left from
its end is the distance there on the other side, if that is final, or else at least the reach. On graphs of high degree,
two small balls of vertices hold a fraction of a large one; on roads, where balls grow in many passes, one search is
faster.

A search with estimates does not go by weight: a light edge may lead to a vertex with a large estimate. What is certain,
that no path is longer than the best known, would spare half to nine tenths of its edges; but on graphs for which lists
are sorted the check of the estimates alone takes longer than two searches without.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError
from frontier.memory.arrays import to_host
from frontier.operators.order.loops import first_delta
from frontier.primitives._arguments import check_lengths, named, values_of_vertices
from frontier.primitives._both_ends import is_larger, is_smaller, work
from frontier.primitives._paths import path_of_ids
from frontier.primitives._piles import aside
from frontier.primitives.sssp import _dtype

if TYPE_CHECKING:
    from frontier.program.problem import Field

__all__ = ["AStar", "MeetByWeight", "Nearest", "weighted_path"]

FAR = np.iinfo(np.int64).max

#: No path by integer weights is so long; the sum of two of these fits into int64.
NEVER = 2**62 - 1

#: Mean degree from which on two searches are faster. (Pairs of vertices, processor time on two cores: a fifth on R-MAT
#: 16, a twentieth on R-MAT 18 and on uniform random graphs; on a road network, 1.3 times as much.)
DENSE = 8

#: An estimate may exceed the weight of an edge and the estimate at its end by such a share, as rounded floats do.
ROOM, ROOM_FLOAT32 = 1e-9, 1e-6


def contradicted(p, src, dst, weight):
    """The number of a vertex from which an edge leads on for less than the estimates say."""
    there = weight + p.left[dst]
    return src if p.left[src] - there > p.room * there else FAR


def relax(p, src, dst, weight):
    """Relax an edge, unless no path through it can be shorter than that known to the target."""
    new = p.distance[src] + weight
    if new + p.left[dst] >= p.distance[p.target]:  # as where the estimate is infinite
        return False
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new, src)


def bound(p, v):
    """A lower bound on the length of a path to the target through v."""
    return p.distance[v] + p.left[v]


class AStar(fr.Enactor):
    """Look for an edge that contradicts the estimates; process vertices in the order of the bound."""

    loop = (
        fr.Reduce(contradicted, "min", into="wrong", over="edges"),
        fr.Loop(fr.Advance(relax), order=fr.by(bound), over="source"),
    )


def relax_nearer(p, src, dst, weight):
    """The same without estimates."""
    new = p.distance[src] + weight
    if new >= p.distance[dst] or new > p.distance[p.target]:
        return False
    return new < fr.atomic_min(p.distance, dst, new, src)


def best(p):
    """The length of the shortest path to the target that is known."""
    return p.distance[p.target]


class Nearest(fr.Enactor):
    """Process vertices in the order of their distance."""

    loop = fr.Loop(fr.Advance(relax_nearer), order=fr.by("distance", most=best), over="source")


def relax_ahead(p, src, dst, weight):
    """Relax an edge on the side of the source, unless no path through it can be shorter than the best."""
    new = p.distance[src] + weight
    if new >= p.distance[dst] or new + min(p.left[dst], p.reach_back) >= p.best:
        return False
    return new < fr.atomic_min(p.distance, dst, new, src)


def relax_back(p, src, dst, weight):
    """Relax an edge on the side of the target."""
    new = p.left[dst] + weight
    if new >= p.left[src] or new + min(p.distance[src], p.reach) >= p.best:
        return False
    return new < fr.atomic_min(p.left, src, new, dst)


def useful(p, v):
    """A path through v may be shorter than the best."""
    return p.distance[v] + min(p.left[v], p.reach_back) < p.best


def useful_back(p, v):
    """The same on the side of the target."""
    return p.left[v] + min(p.distance[v], p.reach) < p.best


def from_source(p, v):
    """The distance from the source."""
    return p.distance[v]


def to_target(p, v):
    """The distance to the target."""
    return p.left[v]


def near(p, v):
    """V is so near that it is processed now; the window widens with the distance."""
    return p.distance[v] <= p.reach * 1.0625 + p.width


def near_back(p, v):
    """The same on the side of the target."""
    return p.left[v] <= p.reach_back * 1.0625 + p.width


def length(p, v):
    """The length of a path through v, if both searches have reached it."""
    return p.distance[v] + p.left[v] if p.distance[v] < p.unreached and p.left[v] < p.unreached else p.unreached


def lesser(p):
    """The length of the best path so far."""
    return min(p.best, p.found)


def finished(p):
    """No path can be shorter than the best, or one side has nothing left to do."""
    return p.size == 0 or p.size_back == 0 or p.reach + p.reach_back >= p.best


class MeetByWeight(fr.Enactor):
    """Process the nearest vertices of one side at a time, of that which has less to do."""

    loop = fr.Loop(
        fr.Loop(
            fr.Take("front"),
            fr.Filter(useful),
            fr.Reduce(from_source, "min", into="reach"),
            fr.Reduce(work, "sum", into="size"),
            fr.Split(near, rest="front"),
            fr.Advance(relax_ahead),
            fr.Reduce(length, "min", into="found"),
            fr.Set(best=lesser),
            fr.Split(aside, rest="front"),
            times="ahead",
        ),
        fr.Loop(
            fr.Take("front_back"),
            fr.Filter(useful_back),
            fr.Reduce(to_target, "min", into="reach_back"),
            fr.Reduce(work, "sum", into="size_back"),
            fr.Split(near_back, rest="front_back"),
            fr.Advance(relax_back, edges="in"),
            fr.Reduce(length, "min", into="found"),
            fr.Set(best=lesser),
            fr.Split(aside, rest="front_back"),
            times="back",
        ),
        fr.Set(ahead=is_smaller, back=is_larger),
        times="limit",
        until=finished,
    )


def from_both_ends(g: fr.Graph) -> bool:
    """Whether two searches are to be used; measured on processors only."""
    return g.num_slots >= DENSE * g.num_vertices and not (g.placement.divides or g.placement.massively_parallel)


def weighted_path(
    g: fr.Graph, start: int, end: int, estimate: Any, schedule: fr.Schedule | None
) -> tuple[list[int], float, int]:
    """Return the ids of a path, its length, and how many vertices were reached."""
    if g.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    check_lengths(g)
    unreached = FAR if _dtype(g, None).kind == "i" else math.inf
    if estimate is None and from_both_ends(g):
        return _two_searches(g, start, end, unreached, schedule)
    return _one_search(g, start, end, unreached, estimate, schedule)


def _one_search(
    g: fr.Graph, start: int, end: int, unreached: float, estimate: Any, schedule: fr.Schedule | None
) -> tuple[list[int], float, int]:
    guide = {} if estimate is None else _guide(g, end, estimate)
    p = fr.Problem(
        g,
        distance=fr.vertex(_dtype(g, None), min(unreached, NEVER) if guide else unreached, combine="min"),
        parent=fr.vertex("int64", -1, with_="distance"),
        **guide,
        source=fr.scalar("int64", start),
        target=fr.scalar("int64", end),
    )
    p.distance[start], p.parent[start] = 0, start
    (AStar if guide else Nearest)(p, schedule).run()
    if guide and int(p.wrong) < FAR:
        raise GraphError(
            f"estimate: that of vertex {named(g, int(p.wrong))!r} is greater than the weight of an edge from there "
            "plus the estimate of the vertex to which it leads, so that a path found by it might not be a shortest one"
        )
    visited = int((p.parent >= 0).sum())
    if int(p.parent[end]) < 0:
        return [], math.inf, visited
    return path_of_ids(p.parent, end), to_host(p.distance)[end].item(), visited


def _guide(g: fr.Graph, end: int, estimate: Any) -> dict[str, Field]:
    """Return the fields of :class:`AStar` for an estimate, of the dtype of distances: sums of integers are exact."""
    left = to_host(values_of_vertices(g, "estimate", estimate))
    if np.isnan(left).any():
        raise GraphError(f"estimate holds numbers, and that of vertex {int(np.isnan(left).argmax())} is NaN")
    if np.isinf(left[end]):
        raise GraphError(f"estimate: that of the target, {named(g, end)!r}, is {left[end]}, and its distance is 0")
    # Nothing is less than 0 away. If the target is said to be, all others may be nearer by as much.
    left = np.maximum(left - max(left[end], 0.0), 0.0)
    room = ROOM_FLOAT32 if g.weights is not None and g.weights.dtype == np.float32 else ROOM
    if _dtype(g, None).kind == "i":
        left, room = np.minimum(np.floor(left + 1e-6), float(NEVER)).astype(np.int64), 0.0
    return {
        "left": fr.vertex(left.dtype, left),
        "room": fr.scalar("float64", room),
        "wrong": fr.scalar("int64"),
    }


def _two_searches(
    g: fr.Graph, start: int, end: int, unreached: float, schedule: fr.Schedule | None
) -> tuple[list[int], float, int]:
    dtype = _dtype(g, None)
    size, size_back = (1 + int(g.out_degree[v]) for v in (start, end))
    p = fr.Problem(
        g,
        distance=fr.vertex(dtype, unreached, combine="min"),
        parent=fr.vertex("int64", -1, with_="distance"),
        left=fr.vertex(dtype, unreached, combine="min"),
        child=fr.vertex("int64", -1, with_="left"),
        front=fr.pile(),
        front_back=fr.pile(),
        reach=fr.scalar(dtype),
        reach_back=fr.scalar(dtype),
        best=fr.scalar(dtype, unreached if start != end else 0),
        found=fr.scalar(dtype),
        unreached=fr.scalar(dtype, unreached),
        width=fr.scalar("float64", first_delta(g) / 8),  # about the least weight at a vertex: little is done twice
        size=fr.scalar("int64", size),
        size_back=fr.scalar("int64", size_back),
        ahead=fr.scalar("int64", int(size <= size_back)),
        back=fr.scalar("int64", int(size > size_back)),
        limit=fr.scalar("int64", 2 * g.num_vertices if start != end else 0),  # each pass is the last of some vertex
    )
    p.distance[start], p.parent[start] = 0, start
    p.left[end], p.child[end] = 0, end
    p.front, p.front_back = fr.Frontier(g, [start]), fr.Frontier(g, [end])
    MeetByWeight(p, schedule).run(fr.Frontier(g))
    visited = int(g.placement.memory.xp.count_nonzero((p.parent & p.child) != -1))  # by one search or both
    best = p.best
    if best == unreached:
        return [], math.inf, visited
    middle = int(((p.parent >= 0) & (p.child >= 0) & (p.distance + p.left == best)).argmax())
    return path_of_ids(p.parent, middle) + path_of_ids(p.child, middle)[-2::-1], best.item(), visited
