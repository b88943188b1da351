"""The diameter, by bounds from a few searches.

A search from a vertex bounds the eccentricities of all others, as in :mod:`frontier.primitives.eccentricity`. Searches
begin in turn at the vertex with the largest upper bound and at that with the smallest lower bound, until no upper bound
exceeds the largest lower bound (Takes and Kosters: Determining the diameter of small world networks, 2011). Of a
directed graph, which has no such bounds, all vertices are searched from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.graph.labels import called
from frontier.primitives._bounds import Bounds, levels
from frontier.primitives._weighted_sums import check_weighted
from frontier.registry import Argument, primitive

__all__ = ["DiameterResult", "diameter"]


@dataclass(frozen=True, eq=False, repr=False)
class DiameterResult(fr.Result, rows="other"):
    """Result of :func:`diameter`.

    Attributes
    ----------
    diameter : int, or float by weights that are floats
        The largest distance between two vertices of which one reaches the other.
    source, target : int
        Two vertices at this distance; -1 without vertices.
    searches : int
        Number of searches.
    """

    diameter: float
    source: int
    target: int
    searches: int

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """One row: ``source``, ``target`` and ``diameter``."""
        ends = ((name, np.array([getattr(self, name)])) for name in ("source", "target", "diameter"))
        return {name: (value[rows], name != "diameter") for name, value in ends}


def _facts(g: fr.Graph, result: DiameterResult) -> dict[str, Any]:
    ends = f"{called(result.source, g.labels)} to {called(result.target, g.labels)}" if result.source >= 0 else "none"
    return {
        "diameter": result.diameter,
        "from": ends,
        "searches": result.searches,
        "slots": g.num_slots * result.searches,
    }


@primitive(
    "diameter", "largest distance between two vertices",
    arguments=(Argument("--weighted", "measure distances by weights (default: no)", type=bool),),
    report=_facts,
)  # fmt: skip
def diameter(g: fr.Graph, *, weighted: bool = False, schedule: fr.Schedule | None = None) -> DiameterResult:
    """Largest distance between two vertices of a graph.

    Parameters
    ----------
    g : Graph
        Edges are followed in their direction.
    weighted : bool
        Whether the lengths of edges are their weights, which must not be negative, instead of 1.
    schedule : Schedule, optional

    Returns
    -------
    DiameterResult
        Pairs without a path do not count; of a graph in several components, it is the largest of their diameters.

    Raises
    ------
    GraphError
        ``weighted`` without weights.
    NegativeWeightError
        ``weighted`` with a negative weight.

    Notes
    -----
    O(n + m) work for each search. An undirected graph often needs about ten; in the worst case, and in a directed
    graph, there is one for every vertex.

    Examples
    --------
    >>> fr.diameter(fr.grid(3, 4)).diameter
    5
    """
    if weighted:
        check_weighted(g)
    if not g.num_vertices:
        return DiameterResult(0, -1, -1, 0)
    if not g.symmetric:
        result = fr.eccentricity(g, weighted=weighted, schedule=schedule)
        return _ends(g, int(result.eccentricity.argmax()), result.searches, weighted, schedule)
    bounds = Bounds(g, weighted)
    searches = 0
    while len(left := np.flatnonzero(bounds.upper > bounds.lower.max())):
        source = int(bounds.choose(left, 1, searches % 2 == 0)[0])
        found = bounds.tighten(levels(g, source, weighted, schedule))
        bounds.lower[source] = bounds.upper[source] = found
        searches += 1
    return _ends(g, int(bounds.lower.argmax()), searches, weighted, schedule)


def _ends(g: fr.Graph, source: int, searches: int, weighted: bool, schedule: fr.Schedule | None) -> DiameterResult:
    """Return the result, with a vertex that is farthest from the source."""
    level = levels(g, source, weighted, schedule)
    return DiameterResult(level.max().item(), source, int(level.argmax()), searches + 1)
