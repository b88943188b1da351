"""Breadth-first search: levels and parents.

The search proceeds level by level. Every vertex of the frontier claims its unvisited neighbours, and the claimed
vertices are the next frontier. Because of the condition on the target (``unvisited``), the backend may also pull: every
unvisited vertex then searches its in-edges for a parent (Beamer, Asanovic, Patterson: Direction-optimizing
breadth-first search, SC 2012), as in Gunrock and GAP. Unlike in Gunrock, the claim is always a compare-and-swap, so
parents are exact and no filter is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._paths import path_to
from frontier.program.problem import Field
from frontier.program.taking import at_graph
from frontier.registry import Plan, primitive

__all__ = ["BFS", "BFSResult", "bfs", "bfs_problem"]


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


@dataclass(frozen=True, eq=False, repr=False)
class BFSResult(fr.Result, columns=("level", "parent"), ids=("parent",)):
    """Result of :func:`bfs`; entry v of an array belongs to vertex v.

    Attributes
    ----------
    source : int
        Vertex id.
    level : ndarray of int32, shape (n,)
        Number of edges on a shortest path from the source; -1 if there is none.
    parent : ndarray of shape (n,)
        The vertex before v on such a path; -1 if there is none. The source is its own parent.
    """

    source: int
    level: NDArray[Any]
    parent: NDArray[Any]

    def path_to(self, vertex: Any) -> list[Any]:
        """Return the vertices of a shortest path from the source to a vertex; empty if there is none.

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


@primitive(
    "bfs", "levels and parents of a breadth-first search",
    verify="bfs", takes_source=True,
    report=lambda g, r: {
        "source": r.source,
        "reached": int(np.count_nonzero(r.level >= 0)),
        "depth": int(r.level.max()),
        "slots": int(g.out_degree[r.level >= 0].sum()),
    },
    memory=lambda g: Plan(_fields(g.id_dtype), [BFS]),
)  # fmt: skip
def bfs(g: fr.Graph, source: Any, *, schedule: fr.Schedule | None = None) -> BFSResult:
    """Breadth-first search from one vertex.

    Parameters
    ----------
    g : Graph
        The search follows the direction of its edges.
    source : int or label
        The vertex to start from; a label if the graph has labels.
    schedule : Schedule, optional

    Returns
    -------
    BFSResult
        Levels are unique. Of several possible parents, any one may be returned.

    Raises
    ------
    GraphError
        If the source does not exist.

    Notes
    -----
    O(n + m) work, one barrier per level.
    """
    vertex = g.vertex_id(source)
    p = fr.Problem(g, **_fields(g.id_dtype))
    p.source = vertex  # which the program reaches: on a GPU, writing to arrays from the host is slow
    BFS(p, schedule).run()
    return BFSResult(vertex, p.level, p.parent)
