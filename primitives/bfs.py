"""Breadth-first search: levels and parents.

The search proceeds level by level. Every vertex of the frontier claims its unvisited neighbours, and the claimed
vertices are the next frontier. Because of the condition on the target (``unvisited``), the backend may also pull: every
unvisited vertex then searches its in-edges for a parent (Beamer, Asanovic, Patterson: Direction-optimizing
breadth-first search, SC 2012), as in Gunrock and GAP. Unlike in Gunrock, the claim is always a compare-and-swap, so
parents are exact and no filter is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.labels import LabelIndex
from frontier.memory.arrays import to_host
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


@dataclass(frozen=True)
class BFSResult:
    """Result of :func:`bfs`; entry v of an array belongs to vertex v.

    Attributes
    ----------
    source : int
        Vertex id.
    level : ndarray of int32, shape (n,)
        Number of edges on a shortest path from the source; -1 if there is none.
    parent : ndarray of shape (n,)
        The vertex before v on such a path; -1 if there is none. The source is its own parent.
    names : object, or None
        Index of the graph's labels, used by :meth:`path_to`; None if the graph has no labels.
    """

    source: int
    level: NDArray[Any]
    parent: NDArray[Any]
    names: LabelIndex | None = field(default=None, repr=False, compare=False)

    def path_to(self, vertex: Any) -> list[Any]:
        """Return the vertices of a shortest path from the source to a vertex; empty if there is none.

        If the graph has labels, the result consists of labels, and ``vertex`` is a label, or an id if no label is a
        number. Otherwise they are ids.
        """
        return path_to(self.parent, vertex, self.names)


def path_to(parent: NDArray[Any], vertex: Any, names: LabelIndex | None = None) -> list[Any]:
    """Follow parents back to the source, which is its own parent; empty if there is no path."""
    if names is not None:
        return names.of(path_to(parent, names.find(vertex)))
    if not isinstance(vertex, (int, np.integer)):
        raise GraphError(f"there is no vertex {vertex!r}: vertices are 0 to {len(parent) - 1}")
    if not 0 <= vertex < len(parent):
        raise GraphError(f"vertex {vertex} does not exist: valid are 0..{len(parent) - 1}")
    parent = to_host(parent)  # the whole array: reading one entry at a time would be one copy from the GPU each
    if parent[vertex] < 0:
        return []
    path = [int(vertex)]
    while parent[path[-1]] != path[-1]:
        path.append(int(parent[path[-1]]))
    return path[::-1]


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
    reached = result.level >= 0
    return {
        "source": result.source,
        "reached": int(np.count_nonzero(reached)),
        "depth": int(result.level.max()),
        "slots": int(g.out_degree[reached].sum()),
    }


@primitive(
    "bfs", "levels and parents of a breadth-first search",
    columns=("level", "parent"), verify="bfs", report=_facts, takes_source=True,
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
    return BFSResult(vertex, p.level, p.parent, g.label_index)
