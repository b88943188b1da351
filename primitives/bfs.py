"""Breadth-first search: levels and parents.

The search proceeds level by level. Every vertex of the frontier claims its unvisited neighbours, and the claimed
vertices are the next frontier. Because of the condition on the target (``unvisited``), the backend may also pull: every
unvisited vertex then searches its in-edges for a parent (Beamer, Asanovic, Patterson: Direction-optimizing
breadth-first search, SC 2012), as in Gunrock and GAP. Unlike in Gunrock, the claim is always a compare-and-swap, so
parents are exact and no filter is needed.

From several sources, to a depth or to a target run programs of their own, so that a plain search tests for none of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives._arguments import check_number
from frontier.primitives._paths import path_of_ids, path_to, several, sources_of
from frontier.program.problem import Field
from frontier.program.taking import at_graph
from frontier.registry import Argument, Plan, primitive

__all__ = ["BFS", "BFSResult", "BFSTo", "BFSWithin", "bfs", "bfs_problem"]


def visit(p, src, dst):
    """Claim dst for src: of all edges that lead to dst, exactly one succeeds."""
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.level[dst] = p.depth
        return True
    return False


def unvisited(p, dst):
    """The target has not been claimed yet."""
    return p.parent[dst] == -1


def begin(p, v):
    """The source is its own parent."""
    p.parent[v] = v
    p.level[v] = 0


class BFS(fr.Enactor):
    """Compute levels and parents from the vertex in the scalar ``source``; ``depth`` is the number of the pass."""

    loop = fr.Sequence(
        fr.Compute(begin, over="source"),
        fr.Loop(fr.Advance(visit, where=unvisited, unique="claimed"), over="source", count="depth"),
    )


def deep_enough(p):
    """The search has come to its last level."""
    return p.depth >= p.limit


def is_target(p, v):
    """1 for the target, to be looked for on each level."""
    return 1 if v == p.target else 0


def found_or_deep_enough(p):
    """The last pass has reached the target, or there are no more levels to go."""
    return p.found > 0 or p.depth >= p.limit


class BFSWithin(fr.Enactor):
    """The same from the pile ``starts``, up to the depth ``limit``; ``front`` is where to go on: nowhere at depth 0."""

    loop = (
        fr.Compute(begin, over="starts"),
        fr.Loop(
            fr.Advance(visit, where=unvisited, unique="claimed"), over="front", count="depth", until=deep_enough
        ),
    )


class BFSTo(fr.Enactor):
    """The same, which ends with the level of the vertex ``target``."""

    loop = (
        fr.Compute(begin, over="starts"),
        fr.Loop(
            fr.Advance(visit, where=unvisited, unique="claimed"),
            fr.Reduce(is_target, "max", into="found"),
            over="front",
            count="depth",
            until=found_or_deep_enough,
        ),
    )


@dataclass(frozen=True, eq=False, repr=False)
class BFSResult(fr.Result, columns=("level", "parent"), ids=("parent",)):
    """Result of :func:`bfs`; entry v of an array belongs to vertex v.

    Attributes
    ----------
    source : int, or ndarray of int64, shape (k,)
        Vertex id, or the ids of several sources.
    level : ndarray of int32, shape (n,)
        Number of edges on a shortest path from the (nearest) source; -1 if there is none.
    parent : ndarray of shape (n,)
        The vertex before v on such a path; -1 if there is none. A source is its own parent.
    target : int, optional
        Id of the vertex at which the search has stopped, or tried to.
    max_depth : int, optional
        The level to which the search went: what is farther has -1. None: it went as far as there are edges.
    """

    source: int | NDArray[Any]
    level: NDArray[Any]
    parent: NDArray[Any]
    target: int | None = None
    max_depth: int | None = None

    @property
    def path(self) -> list[Any]:
        """The vertices of a shortest path to ``target``, as :meth:`path_to` returns them."""
        if self.target is None:
            raise GraphError("there is no target: call fr.bfs with target=, or path_to(vertex)")
        return self.names.of(path_of_ids(self.parent, self.target))

    def path_to(self, vertex: Any) -> list[Any]:
        """Return the vertices of a shortest path from the (nearest) source to a vertex; empty if there is none.

        If the graph has labels, ``vertex`` is one, and the result consists of them. Otherwise they are ids.
        """
        return path_to(self.parent, vertex, self.names)


@at_graph
def bfs_problem(g: fr.Graph, source: int, **fields: Field) -> fr.Problem:
    """Return the problem of a search that has reached its source; ``fields`` are more fields for your own functors."""
    p = fr.Problem(g, **_fields(g.id_dtype), **fields)
    p.source = p.parent[source] = source
    p.level[source] = 0
    return p


@lru_cache(maxsize=4)
def _fields(ids: np.dtype[Any]) -> dict[str, Field]:
    """Return the fields of the problem; they are declarations without data, and making them takes 5 microseconds."""
    return {
        "parent": fr.vertex(ids, -1, combine="claim"),
        "level": fr.vertex("int32", -1, combine="min", with_="parent"),
        "depth": fr.scalar("int32", 0),
        "source": fr.scalar(ids, 0),
    }


def _facts(g: fr.Graph, result: BFSResult) -> dict[str, Any]:
    found = {
        "source": result.source,
        "reached": int(np.count_nonzero(result.level >= 0)),
        "depth": int(result.level.max()),
        "slots": int(g.out_degree[result.level >= 0].sum()),
    }
    return found if result.target is None else {**found, "path": result.path or "no path"}


@primitive(
    "bfs", "levels and parents of a breadth-first search",
    arguments=(
        Argument("--max-depth", "how many levels to go (default: all)", type=int),
        Argument("--target", "label or id of a vertex at which to stop", type=str, vertex=True),
    ),
    verify="bfs", takes_source=True,
    report=_facts,
    memory=lambda g: Plan(_fields(g.id_dtype), [BFS]),
)  # fmt: skip
def bfs(
    g: fr.Graph,
    source: Any,
    *,
    target: Any = None,
    max_depth: int | None = None,
    schedule: fr.Schedule | None = None,
) -> BFSResult:
    """Breadth-first search from one vertex, or from several at once.

    Parameters
    ----------
    g : Graph
        The search follows the direction of its edges.
    source : int or label, or sequence of vertices, Frontier or mask
        The vertex to start from; a label if the graph has labels. Of several, levels are those from the nearest.
    target : int or label, optional
        Stop with the level on which this vertex is reached. Farther ones stay unreached.
    max_depth : int, optional
        Go no farther than this level.
    schedule : Schedule, optional

    Returns
    -------
    BFSResult
        Levels are unique. Of several possible parents, any one may be returned. With a target, its ``path`` holds the
        vertices of a shortest path.

    Raises
    ------
    GraphError
        If a source or the target does not exist, there is no source, or ``max_depth`` is no whole number from 0 on.

    Notes
    -----
    O(n + m) work, one barrier per level. All shortest paths: :func:`frontier.predecessors`.

    Examples
    --------
    >>> g = fr.from_edges(["ann", "bob", "cid", "dan"], ["bob", "cid", "dan", "eve"])
    >>> fr.bfs(g, "ann", target="cid").path
    ['ann', 'bob', 'cid']
    >>> fr.bfs(g, ["ann", "eve"]).to_dict()
    {'ann': 0, 'bob': 1, 'cid': 2, 'dan': 1, 'eve': 0}
    """
    if target is not None or max_depth is not None or several(g, source):
        return _limited(g, source, target, max_depth, schedule)
    vertex = g.vertex_id(source)
    p = fr.Problem(g, **_fields(g.id_dtype))
    p.source = vertex  # which the program reaches: on a GPU, writing to arrays from the host is slow
    BFS(p, schedule).run()
    return BFSResult(vertex, p.level, p.parent)


def _limited(g: fr.Graph, source: Any, target: Any, max_depth: Any, schedule: fr.Schedule | None) -> BFSResult:
    """Search from several sources, or not everywhere."""
    given, starts = sources_of(g, source)
    end = None if target is None else g.vertex_id(target)
    limit = None
    if max_depth is not None:
        words = "a whole number of levels, from 0 on"
        limit = int(check_number("max_depth", max_depth, lambda x: x >= 0 and x == int(x), words))
    p = fr.Problem(
        g,
        **_fields(g.id_dtype),
        starts=fr.pile(),
        front=fr.pile(),
        limit=fr.scalar("int64", g.num_vertices if limit is None else min(limit, g.num_vertices)),
        target=fr.scalar("int64", -1 if end is None else end),
        found=fr.scalar("int64"),
    )
    p.starts = fr.Frontier(g, starts)
    if limit != 0 and not (starts == end).any():
        p.front = fr.Frontier(g, starts)
    (BFSWithin if end is None else BFSTo)(p, schedule).run()
    if end is not None and (starts == end).any():
        limit = 0
    elif p.found > 0:
        limit = int(p.depth)
    return BFSResult(given, p.level, p.parent, end, limit)
