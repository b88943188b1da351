"""A shortest path between two vertices.

Without weights, two breadth-first searches run, from the source and, against the edges, from the target (Pohl:
Bi-directional search, 1971). The one with the smaller frontier goes one level farther, until it reaches a vertex that
the other has reached. Each knows all vertices within its depth, and they have not met before, so the depths add up to
the length of a shortest path, and any vertex where they meet is on one. With weights, one search visits vertices in the
order of their distance plus an estimate of what is left (A*; Hart, Nilsson, Raphael: A formal basis for the heuristic
determination of minimum cost paths, 1968), and skips what cannot lead to a path shorter than the shortest known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import frontier as fr
from frontier.errors import GraphError, NegativeWeightError
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import named, values_of_vertices
from frontier.primitives._paths import path_to
from frontier.primitives.sssp import _dtype, _may_wrap
from frontier.program.taking import at_graph
from frontier.registry import Argument, primitive

__all__ = ["AStar", "Meet", "Nearest", "ShortestPathResult", "shortest_path"]

FAR = np.iinfo(np.int64).max


def visit(p, src, dst):
    """The search from the source claims a target."""
    return fr.atomic_cas(p.parent, dst, -1, src) == -1


def fresh(p, dst):
    """The search from the source has not reached the target of an edge."""
    return p.parent[dst] == -1


def visit_back(p, src, dst):
    """The search from the target claims the source of an edge."""
    return fr.atomic_cas(p.child, src, -1, dst) == -1


def fresh_back(p, src):
    """The search from the target has not reached the source of an edge."""
    return p.child[src] == -1


def meeting(p, v):
    """The number of v, if both searches have reached it."""
    return v if p.parent[v] >= 0 and p.child[v] >= 0 else FAR


def one(p, v):
    """1 for each vertex, to count the frontier."""
    return 1


def never(p, v):
    """False, to move the whole frontier to the pile."""
    return False


def deeper(p):
    """The search from the source has gone one level farther."""
    return p.depth + p.ahead


def deeper_back(p):
    """The search from the target has gone one level farther."""
    return p.depth_back + 1 - p.ahead


def is_smaller(p):
    """1 if the search from the source has the smaller frontier."""
    return 1 if p.size <= p.size_back else 0


def is_larger(p):
    """1 if the search from the target has the smaller frontier."""
    return 1 if p.size > p.size_back else 0


def finished(p):
    """The searches have met, or one of them has nowhere to go."""
    return p.middle < FAR or p.size == 0 or p.size_back == 0


class Meet(fr.Enactor):
    """Advance one search at a time, the one with the smaller frontier."""

    loop = fr.Loop(
        fr.Loop(
            fr.Take("front"),
            fr.Advance(visit, where=fresh, unique="claimed"),
            fr.Reduce(meeting, "min", into="middle"),
            fr.Reduce(one, "sum", into="size"),
            fr.Split(never, rest="front"),
            times="ahead",
        ),
        fr.Loop(
            fr.Take("front_back"),
            fr.Advance(visit_back, where=fresh_back, unique="claimed", edges="in"),
            fr.Reduce(meeting, "min", into="middle"),
            fr.Reduce(one, "sum", into="size_back"),
            fr.Split(never, rest="front_back"),
            times="back",
        ),
        fr.Set(depth=deeper, depth_back=deeper_back, ahead=is_smaller, back=is_larger),
        times="limit",
        until=finished,
    )


def relax(p, src, dst, weight):
    """Relax an edge, unless no path through it can be shorter than that known to the target."""
    new = p.distance[src] + weight
    if new + p.left[dst] > p.distance[p.target]:
        return False
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new, src)


def bound(p, v):
    """A lower bound on the length of a path to the target through v."""
    return p.distance[v] + p.left[v]


class AStar(fr.Enactor):
    """Process vertices in the order of this bound."""

    loop = fr.Loop(fr.Advance(relax), order=fr.by(bound), over="source")


def relax_nearer(p, src, dst, weight):
    """The same without estimates."""
    new = p.distance[src] + weight
    if new >= p.distance[dst] or new > p.distance[p.target]:
        return False
    return new < fr.atomic_min(p.distance, dst, new, src)


class Nearest(fr.Enactor):
    """Process vertices in the order of their distance."""

    loop = fr.Loop(fr.Advance(relax_nearer), order=fr.by("distance"), over="source")


@dataclass(frozen=True)
class ShortestPathResult:
    """Result of :func:`shortest_path`.

    Attributes
    ----------
    path : list
        Vertices from source to target (labels, if the graph has labels); empty if there is no path.
    distance : int or float
        Number of edges of the path, or the sum of their weights; inf if there is no path.
    visited : int
        How many vertices were reached by the searches.
    """

    path: list[Any]
    distance: float
    visited: int


@at_graph
def shortest_path(
    g: fr.Graph,
    source: Any,
    target: Any,
    *,
    weighted: bool = False,
    estimate: ArrayLike | None = None,
    schedule: fr.Schedule | None = None,
) -> ShortestPathResult:
    """A shortest path from one vertex to another.

    Parameters
    ----------
    g : Graph
        Edges are followed in their direction.
    source, target : int or label
    weighted : bool
        Whether to minimize the sum of the weights, which must not be negative, instead of the number of edges.
    estimate : array of shape (n,), optional
        For a weighted search: an estimate of the distance from each vertex to the target, which is never too large. The
        better it is, the fewer vertices are visited. By default 0.
    schedule : Schedule, optional

    Returns
    -------
    ShortestPathResult
        Of several shortest paths, any one may be returned.

    Raises
    ------
    GraphError
        If a vertex does not exist, ``weighted`` without weights, or ``estimate`` without ``weighted``.
    NegativeWeightError
        If a weight is negative.

    Notes
    -----
    At most O(n + m) work without weights; on graphs of few levels, both searches together often visit a small part.
    """
    start, end = g.vertex_id(source), g.vertex_id(target)
    if estimate is not None and not weighted:
        raise GraphError("an estimate needs weighted=True")
    ids, distance, visited = (
        _weighted(g, start, end, estimate, schedule) if weighted else _unweighted(g, start, end, schedule)
    )
    names = g.label_index
    return ShortestPathResult(ids if names is None else names.of(ids), distance, visited)


def _unweighted(g: fr.Graph, start: int, end: int, schedule: fr.Schedule | None) -> tuple[list[int], float, int]:
    p = fr.Problem(
        g,
        parent=fr.vertex(g.id_dtype, -1),
        child=fr.vertex(g.id_dtype, -1),
        front=fr.pile(),
        front_back=fr.pile(),
        size=fr.scalar("int64", 1),
        size_back=fr.scalar("int64", 1),
        depth=fr.scalar("int64"),
        depth_back=fr.scalar("int64"),
        ahead=fr.scalar("int64", 1),
        back=fr.scalar("int64", 0),
        middle=fr.scalar("int64", FAR if start != end else start),
        limit=fr.scalar("int64", 2 * g.num_vertices if start != end else 0),
    )
    p.parent[start], p.child[end] = start, end
    p.front, p.front_back = fr.Frontier(g, [start]), fr.Frontier(g, [end])
    Meet(p, schedule).run(fr.Frontier(g))
    visited = int(g.placement.memory.xp.count_nonzero((p.parent & p.child) != -1))  # by one search or both
    middle = int(p.middle)
    if middle == FAR:
        return [], math.inf, visited
    return path_to(p.parent, middle) + path_to(p.child, middle)[-2::-1], int(p.depth + p.depth_back), visited


def _weighted(
    g: fr.Graph, start: int, end: int, estimate: Any, schedule: fr.Schedule | None
) -> tuple[list[int], float, int]:
    if g.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    if g.min_weight is not None and g.min_weight < 0:
        raise NegativeWeightError(f"shortest paths need weights that are not negative; the least is {g.min_weight}")
    if _may_wrap(g):
        raise GraphError("distances by these integer weights may not fit into 64 bits: use weights of float64")
    guide = {}
    if estimate is not None:
        left = values_of_vertices(g, "estimate", estimate)
        if np.isnan(left).any():
            raise GraphError(f"estimate holds numbers, and that of vertex {int(np.isnan(left).argmax())} is NaN")
        guide["left"] = fr.vertex("float64", left)
    dtype = _dtype(g, None)
    unreached = FAR if dtype.kind == "i" else math.inf
    p = fr.Problem(
        g,
        distance=fr.vertex(dtype, unreached, combine="min"),
        parent=fr.vertex("int64", -1, with_="distance"),
        **guide,
        source=fr.scalar("int64", start),
        target=fr.scalar("int64", end),
    )
    p.distance[start], p.parent[start] = 0, start
    (Nearest if estimate is None else AStar)(p, schedule).run()
    visited = int((p.parent >= 0).sum())
    if int(p.parent[end]) < 0:
        return [], math.inf, visited
    return path_to(p.parent, end), to_host(p.distance)[end].item(), visited


def _facts(g: fr.Graph, result: ShortestPathResult) -> dict[str, Any]:
    return {
        "distance": result.distance if result.path else "no path",
        "path": " ".join(map(str, result.path[:20])) + (" ..." if len(result.path) > 20 else ""),
        "visited": result.visited,
    }


@primitive(
    "shortest_path", "a shortest path between two vertices",
    arguments=(
        Argument("--target", "id of the vertex to reach (default: the last one)", type=int),
        Argument("--weighted", "minimize the sum of weights (default: no)", type=bool),
    ),
    takes_source=True, report=_facts,
)  # fmt: skip
def _on_command_line(g: fr.Graph, source: Any, *, target: int | None = None, **options: Any) -> ShortestPathResult:
    """The path to a vertex that is given by its id, or to the last one."""
    last = g.num_vertices - 1 if target is None else target
    return shortest_path(g, source, named(g, last), **options)
