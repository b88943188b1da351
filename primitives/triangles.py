"""Triangles of a graph: how many there are, and how many each vertex is a corner of.

The graph is oriented by degree (:mod:`frontier.primitives._oriented`), and for every edge that remains, the lists of
its two endpoints are intersected: each common neighbour makes a triangle, and each triangle is found once. This is the
algorithm "forward" (Schank, Wagner: Finding, counting and listing all triangles in large graphs, WEA 2005), which the
GAP benchmark suite and most systems on GPUs use, too. Where all lists are short, that takes less time than to make an
oriented graph, so there edges are left out by their ids, and so are two of the three ways to find a triangle.
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


def downwards(p, src, dst):
    """Keep one direction of each edge."""
    return src > dst


def one_in_order(p, u, v, w):
    """Every call in which w comes before v, which comes before u, is a triangle."""
    return 1 if w < v else 0


def corner_in_order(p, u, v, w):
    """Count such a triangle for its three corners."""
    return corner(p, u, v, w) if w < v else 0


class TrianglesOfShortLists(fr.Enactor):
    """The same on a graph with both directions of each edge."""

    loop = fr.Sequence(fr.Filter(downwards), fr.Intersect(one_in_order, "sum", into="count"), over="edges")


class CornersOfShortLists(fr.Enactor):
    """Both."""

    loop = fr.Sequence(fr.Filter(downwards), fr.Intersect(corner_in_order, "sum", into="count"), over="edges")


@dataclass(frozen=True, eq=False, repr=False)
class TrianglesResult(fr.Result, columns=("per_vertex",)):
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
    to_write={"per_vertex": True}, report=_facts,
)  # fmt: skip
def triangles(g: fr.Graph, *, per_vertex: bool = False, schedule: fr.Schedule | None = None) -> TrianglesResult:
    """Count the triangles: sets of three vertices with an edge between any two.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, parallel edges and opposite ones count as one, and self-loops not at
        all. (NetworkX takes undirected graphs only.)
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
    for each slot of g; where all lists are short, a list of half of the slots instead.

    Examples
    --------
    >>> fr.triangles(fr.complete(4)).count
    4
    """
    plain = simple(g)
    both = plain.traits.short_lists and not plain.placement.divides
    made = None if both else oriented(plain)
    fields = {"corners": fr.vertex("int64", combine="sum")} if per_vertex else {}
    p = fr.Problem(plain if made is None else made.graph, count=fr.scalar("int64"), **fields)
    counting, at_corners = (TrianglesOfShortLists, CornersOfShortLists) if both else (Triangles, Corners)
    (at_corners if per_vertex else counting)(p, schedule).run()
    if not per_vertex:
        return TrianglesResult(int(p.count))
    return TrianglesResult(int(p.count), p.corners if made is None else made.back(p.corners))
