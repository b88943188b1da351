"""Breadth-first search from many sources, 64 at a time.

A word of each vertex has one bit for each of 64 searches, so that searches that reach a vertex on the same level share
its edges (MS-BFS; Then et al.: The more the merrier: efficient multi-source graph traversal, 2014). ``visit`` holds the
searches of which a vertex is in the frontier, ``seen`` those that have reached it. An edge passes on the bits that its
target has not seen; a pull of a vertex ends when all searches have reached it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._arguments import named
from frontier.primitives._searches import fields, places
from frontier.program.taking import at_graph
from frontier.registry import Argument, primitive

__all__ = ["BFSMany", "BFSManyResult", "bfs_many"]


def all_searches(p):
    """The word in which every search of this turn has its bit."""
    left = p.sources - 64 * (p.turn - 1)
    return -1 if left >= 64 else (1 << left) - 1


def begin(p, v):
    """Reset v; true if it is a source of this turn."""
    place = p.place[v] - 64 * (p.turn - 1)
    bits = 1 << place if 0 <= place < 63 else 0
    if place == 63:
        bits = -9223372036854775808  # the sign of a word of 64 bits
    p.seen[v] = bits
    p.visit[v] = bits
    p.next[v] = 0
    return bits != 0


def spread(p, src, dst):
    """Pass on the searches that have not reached the target."""
    new = p.visit[src] & ~p.seen[dst]
    return new != 0 and (fr.atomic_or(p.next, dst, new) & new) != new


def missed(p, dst):
    """Some search has not reached the target yet."""
    return (p.seen[dst] | p.next[dst]) != p.all


def arrive(p, v):
    """Return the searches that reach v on this level, which are its part of the next frontier."""
    new = p.next[v] & ~p.seen[v]
    p.visit[v] = new
    p.seen[v] |= new
    p.next[v] = 0
    return new


def settle(p, v):
    """Store the level of v in each search that reaches it now."""
    new = arrive(p, v)
    for i in range(64):
        if (new >> i) & 1:
            p.level[(64 * (p.turn - 1) + i) * p.n + v] = p.depth


class BFSMany(fr.Enactor):
    """Turn after turn of 64 searches; ``place`` of a source says which search it begins, others have -1."""

    loop = fr.Loop(
        fr.Set(all=all_searches, depth=0),
        fr.Sequence(
            fr.Filter(begin),
            fr.Loop(fr.Advance(spread, where=missed), fr.Compute(settle), count="depth"),
            over="vertices",
        ),
        times="turns",
        count="turn",
    )


@dataclass(frozen=True, eq=False, repr=False)
class BFSManyResult(fr.Result, columns=("level",), rows="pair"):
    """Result of :func:`bfs_many`.

    Attributes
    ----------
    source : ndarray of int64, shape (k,)
        Vertex ids.
    level : ndarray of int32, shape (k, n)
        Number of edges on a shortest path from each source to each vertex; -1 if there is none.
    """

    source: NDArray[Any]
    level: NDArray[Any]


@at_graph
def bfs_many(g: fr.Graph, sources: Any = None, *, schedule: fr.Schedule | None = None) -> BFSManyResult:
    """Levels of breadth-first searches from many vertices.

    Parameters
    ----------
    g : Graph
        Searches follow the direction of its edges.
    sources : sequence of vertices (labels, if the graph has labels), Frontier or mask, optional
        All vertices by default. A vertex may occur more than once.
    schedule : Schedule, optional

    Returns
    -------
    BFSManyResult

    Raises
    ------
    GraphError
        If a source does not exist.
    FrontierMemoryError
        If the levels do not fit into memory.

    Notes
    -----
    At most O(n + m) work for each source, and often not much more for 64 of them than for one. The levels take 4 bytes
    per source and vertex.

    Examples
    --------
    >>> fr.bfs_many(fr.path(4), [0, 3]).level
    array([[0, 1, 2, 3],
           [3, 2, 1, 0]], dtype=int32)
    """
    every = np.arange(g.num_vertices)
    place, which = (every, every) if sources is None else places(g, sources)
    n, count = g.num_vertices, int(which.max(initial=-1)) + 1
    g.placement.memory.check_room(4 * n * count, f"levels from {count:,} sources")
    level = g.placement.memory.xp.full(count * n, -1, np.int32)
    vertices = np.flatnonzero(place >= 0)
    level[g.placement.memory.moved(place[vertices] * n + vertices)] = 0
    p = fr.Problem(g, **fields(g, place, count), level=fr.array(level))
    del level
    BFSMany(p, schedule).run()
    found = p.level.reshape(count, n)
    if not np.array_equal(which, np.arange(count)):
        found = found[g.placement.memory.moved(which)]
    return BFSManyResult(vertices[which], found)


@primitive(
    "bfs_many", "levels of breadth-first searches from many vertices",
    arguments=(Argument("--count", "how many sources, by id from the first on (default: 64)", type=int),),
    takes_source=True,
    report=lambda g, r: {
        "sources": len(r.source),
        "reached": int((r.level >= 0).sum()),
        "depth": int(r.level.max()),
        "slots": g.num_slots * len(r.source),
    },
)  # fmt: skip
def _on_command_line(g: fr.Graph, source: Any, *, count: int = 64, **options: Any) -> BFSManyResult:
    """Search from several vertices, by id from the given one on: no option holds a list."""
    first, n = g.vertex_id(source), g.num_vertices
    return bfs_many(g, named(g, (first + np.arange(min(count, n))) % n), **options)
