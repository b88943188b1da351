"""A shortest path between two vertices.

Without weights, two breadth-first searches run, from the source and, against the edges, from the target (Pohl:
Bi-directional search, 1971). The one with fewer edges to follow goes one level farther, until it reaches a vertex that
the other has reached. Each knows all vertices within its depth, and they have not met before, so the depths add up to
the length of a shortest path, and any vertex where they meet is on one. With weights, there are two searches on graphs
of high degree, and one on others, which visits vertices in the order of their distance plus an estimate of what is left
(A*; Hart, Nilsson, Raphael: A formal basis for the heuristic determination of minimum cost paths, 1968), and skips what
cannot lead to a path shorter than the shortest known. Those programs are in ``primitives/_weighted_paths.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives._arguments import named
from frontier.primitives._both_ends import is_larger, is_smaller, work
from frontier.primitives._paths import path_of_ids
from frontier.primitives._piles import aside
from frontier.primitives._weighted_paths import AStar, MeetByWeight, Nearest, weighted_path
from frontier.program.taking import at_graph
from frontier.registry import Argument, primitive

__all__ = ["AStar", "Meet", "MeetByWeight", "Nearest", "ShortestPathResult", "shortest_path"]

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


def new(p, v):
    """1 for a vertex that the other search has not reached."""
    return 0 if p.parent[v] >= 0 and p.child[v] >= 0 else 1


def more(p):
    """How many vertices the searches have reached."""
    return p.visited + p.found


def deeper(p):
    """The search from the source has gone one level farther."""
    return p.depth + p.ahead


def deeper_back(p):
    """The search from the target has gone one level farther."""
    return p.depth_back + 1 - p.ahead


def finished(p):
    """The searches have met, or one of them has nowhere to go."""
    return p.middle < FAR or p.size == 0 or p.size_back == 0


class Meet(fr.Enactor):
    """Advance one search at a time, the one that has less to do."""

    loop = fr.Loop(
        fr.Loop(
            fr.Take("front"),
            fr.Advance(visit, where=fresh, unique="claimed"),
            fr.Reduce(meeting, "min", into="middle"),
            fr.Reduce(work, "sum", into="size"),
            fr.Reduce(new, "sum", into="found"),
            fr.Split(aside, rest="front"),
            times="ahead",
        ),
        fr.Loop(
            fr.Take("front_back"),
            fr.Advance(visit_back, where=fresh_back, unique="claimed", edges="in"),
            fr.Reduce(meeting, "min", into="middle"),
            fr.Reduce(work, "sum", into="size_back"),
            fr.Reduce(new, "sum", into="found"),
            fr.Split(aside, rest="front_back"),
            times="back",
        ),
        fr.Set(depth=deeper, depth_back=deeper_back, visited=more, ahead=is_smaller, back=is_larger),
        times="limit",
        until=finished,
    )


@dataclass(frozen=True, eq=False, repr=False)
class ShortestPathResult(fr.Result, rows="other"):
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

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each ``vertex`` of the path, with its ``position``."""
        names = np.fromiter(self.path[rows], object)  # which they are already
        return {"position": (np.arange(len(names)), False), "vertex": (names, False)}


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
        For a weighted search: an estimate of the distance from each vertex to the target. It must be consistent: that
        of a vertex is never greater than the weight of an edge from there plus the estimate of the vertex to which the
        edge leads (but for rounding), so that none is greater than the distance by more than that of the target is. The
        better it is, the fewer vertices are visited. Negative estimates count as 0; infinity is for vertices from which
        no path leads to the target. By default 0.
    schedule : Schedule, optional

    Returns
    -------
    ShortestPathResult
        Of several shortest paths, any one may be returned.

    Raises
    ------
    GraphError
        If a vertex does not exist, ``weighted`` without weights, or ``estimate`` without ``weighted``; if estimates are
        not consistent, NaN, or infinite for the target.
    NegativeWeightError
        If a weight is negative.

    Notes
    -----
    At most O(n + m) work without weights; on graphs of few levels, both searches together often visit a small part.
    An estimate is checked at all edges, once a call: a search that looked only at edges on its way could not notice
    that a better path was dropped for a wrong estimate.

    Examples
    --------
    >>> g = fr.from_edges(["ann", "bob", "ann"], ["bob", "cid", "cid"], [1.0, 1.0, 3.0])
    >>> fr.shortest_path(g, "ann", "cid", weighted=True).path
    ['ann', 'bob', 'cid']
    """
    start, end = g.vertex_id(source), g.vertex_id(target)
    if estimate is not None and not weighted:
        raise GraphError("an estimate needs weighted=True")
    ids, distance, visited = (
        weighted_path(g, start, end, estimate, schedule) if weighted else _unweighted(g, start, end, schedule)
    )
    return ShortestPathResult(g.names.of(ids), distance, visited)


def _unweighted(g: fr.Graph, start: int, end: int, schedule: fr.Schedule | None) -> tuple[list[int], float, int]:
    size, size_back = (1 + int(g.out_degree[v]) for v in (start, end))
    p = fr.Problem(
        g,
        parent=fr.vertex(g.id_dtype, -1),
        child=fr.vertex(g.id_dtype, -1),
        front=fr.pile(),
        front_back=fr.pile(),
        size=fr.scalar("int64", size),
        size_back=fr.scalar("int64", size_back),
        depth=fr.scalar("int64"),
        depth_back=fr.scalar("int64"),
        found=fr.scalar("int64"),
        visited=fr.scalar("int64", 1 + (start != end)),
        ahead=fr.scalar("int64", int(size <= size_back)),
        back=fr.scalar("int64", int(size > size_back)),
        middle=fr.scalar("int64", FAR if start != end else start),
        limit=fr.scalar("int64", 2 * g.num_vertices if start != end else 0),
    )
    p.parent[start], p.child[end] = start, end
    p.front, p.front_back = fr.Frontier(g, [start]), fr.Frontier(g, [end])
    Meet(p, schedule).run(fr.Frontier(g))
    middle, visited = int(p.middle), int(p.visited)
    if middle == FAR:
        return [], math.inf, visited
    return path_of_ids(p.parent, middle) + path_of_ids(p.child, middle)[-2::-1], int(p.depth + p.depth_back), visited


def _facts(g: fr.Graph, result: ShortestPathResult) -> dict[str, Any]:
    return {
        "distance": result.distance if result.path else "no path",
        "path": result.path,
        "visited": result.visited,
    }


@primitive(
    "shortest_path", "a shortest path between two vertices",
    arguments=(
        Argument("--target", "label or id of the vertex to reach (default: the last one)", type=str),
        Argument("--weighted", "minimize the sum of weights (default: no)", type=bool),
    ),
    takes_source=True, report=_facts,
)  # fmt: skip
def _on_command_line(g: fr.Graph, source: Any, *, target: str | None = None, **options: Any) -> ShortestPathResult:
    """The path to a vertex that is given by text, or to the last one."""
    last = g.num_vertices - 1 if target is None else g.names.find_text(target)
    return shortest_path(g, source, named(g, last), **options)
