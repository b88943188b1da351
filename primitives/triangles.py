"""Triangles of a graph: how many there are, and how many each vertex is a corner of.

The graph is oriented by degree (:mod:`frontier.primitives._oriented`), and for every edge that remains, the lists of
its two endpoints are intersected: each common neighbour makes a triangle, and each triangle is found once. This is the
algorithm "forward" (Schank, Wagner: Finding, counting and listing all triangles in large graphs, WEA 2005), which the
GAP benchmark suite and most systems on GPUs use, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._oriented import oriented, simple
from frontier.registry import Argument, primitive

__all__ = ["Corners", "Triangles", "TrianglesResult", "triangles"]


def one(p, u, v, w):
    """Every call is a triangle."""
    return 1


def corner(p, u, v, w):
    """Count a triangle for its three corners."""
    fr.atomic_add(p.corners, u, 1)
    fr.atomic_add(p.corners, v, 1)
    fr.atomic_add(p.corners, w, 1)
    return 1


class Triangles(fr.Enactor):
    """Count the triangles of an oriented graph, into the scalar ``count``."""

    loop = fr.Intersect(one, "sum", into="count", over="edges")


class Corners(fr.Enactor):
    """Count them also at each vertex, into the vertex field ``corners``."""

    loop = fr.Intersect(corner, "sum", into="count", over="edges")


@dataclass(frozen=True)
class TrianglesResult:
    """Result of :func:`triangles`.

    Attributes
    ----------
    count : int
        Number of triangles.
    per_vertex : ndarray of int64, shape (n,), or None
        Number of triangles that vertex v is a corner of; three times ``count`` in all. None if not asked for.
    """

    count: int
    per_vertex: NDArray[Any] | None = None


def _facts(g: fr.Graph, result: TrianglesResult) -> dict[str, Any]:
    facts = {"triangles": result.count}
    if result.per_vertex is not None and g.num_vertices:
        facts["most at a vertex"] = int(result.per_vertex.max())
    return facts


@primitive(
    "triangles", "number of triangles, in all and at each vertex",
    arguments=(Argument("--per-vertex", "count them at each vertex, too", type=bool),),
    columns=("per_vertex",), report=_facts,
)  # fmt: skip
def triangles(g: fr.Graph, *, per_vertex: bool = False, schedule: fr.Schedule | None = None) -> TrianglesResult:
    """Count the triangles: sets of three vertices with an edge between any two.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, parallel edges count as one, and self-loops not at all.
    per_vertex : bool
        Whether to count them at each vertex as well. On a GPU this takes two to three times as long, because each
        triangle is added to three counters.
    schedule : Schedule, optional

    Returns
    -------
    TrianglesResult

    Notes
    -----
    O(m sqrt(m)) work. In addition to g it takes an oriented graph, with a slot for each edge, and to make it 20 bytes
    for each slot of g.
    """
    made = oriented(simple(g))
    fields = {"count": fr.scalar("int64")}
    if not per_vertex:
        p = fr.Problem(made.graph, **fields)
        Triangles(p, schedule).run()
        return TrianglesResult(int(p.count))
    p = fr.Problem(made.graph, corners=fr.vertex("int64", combine="sum"), **fields)
    Corners(p, schedule).run()
    return TrianglesResult(int(p.count), made.back(p.corners))
