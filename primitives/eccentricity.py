"""Eccentricities, by bounds from a few searches.

The eccentricity of a vertex is its largest distance to a vertex that it reaches. In an undirected graph a search that
finds the eccentricity e of its source bounds that of every vertex at distance d: it is at least max(d, e - d), and at
most e + d. Half of the searches begin at vertices with the largest upper bounds, half at those with the smallest lower
bounds, until the bounds of all vertices meet (Takes and Kosters: Computing the eccentricity distribution of large
graphs, 2013). Of a directed graph, which has no such bounds, all vertices are searched from. Searches run by
:func:`frontier.bfs_many`, by weights by :func:`frontier.sssp_many`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._bounds import Bounds, levels_of_many
from frontier.primitives._weighted_sums import check_weighted
from frontier.primitives.diameter import DiameterResult as DiameterResult  # which may be looked for here
from frontier.primitives.diameter import diameter as diameter
from frontier.registry import Argument, primitive

__all__ = ["EccentricityResult", "eccentricity"]


@dataclass(frozen=True, eq=False, repr=False)
class EccentricityResult(fr.Result, columns=("eccentricity",)):
    """Result of :func:`eccentricity`.

    Attributes
    ----------
    eccentricity : ndarray of int64, or float64 by weights that are floats, shape (n,)
        The largest distance from v to a vertex that it reaches; 0 if it reaches no other.
    searches : int
        Number of searches.
    """

    eccentricity: NDArray[Any]
    searches: int

    @property
    def diameter(self) -> float:
        """The largest eccentricity; 0 without vertices."""
        largest: float = self.eccentricity.max(initial=0).item()
        return largest

    @property
    def radius(self) -> float:
        """The smallest eccentricity; 0 without vertices."""
        smallest: float = self.eccentricity.min().item() if len(self.eccentricity) else 0
        return smallest


@primitive(
    "eccentricity", "largest distance from every vertex",
    arguments=(Argument("--weighted", "measure distances by weights (default: no)", type=bool),),
    report=lambda g, r: {
        "diameter": r.diameter,
        "radius": r.radius,
        "searches": r.searches,
        "slots": g.num_slots * r.searches,
    },
)  # fmt: skip
def eccentricity(
    g: fr.Graph, *, weighted: bool = False, schedule: fr.Schedule | None = None
) -> EccentricityResult:
    """Eccentricity of every vertex: its largest distance to a vertex that it reaches.

    Parameters
    ----------
    g : Graph
        Edges are followed in their direction.
    weighted : bool
        Whether the lengths of edges are their weights, which must not be negative, instead of 1.
    schedule : Schedule, optional

    Returns
    -------
    EccentricityResult
        Vertices that cannot be reached do not count, where NetworkX raises an error. By weights that are floats, the
        eccentricities of an undirected graph are sums and differences of distances, so that last digits may differ.

    Raises
    ------
    GraphError
        ``weighted`` without weights.
    NegativeWeightError
        ``weighted`` with a negative weight.

    Notes
    -----
    O(n + m) work for each search, of which 64 run together. An undirected graph often needs a few hundred; in the worst
    case, and in a directed graph, one for every vertex. By weights, searches are those of :func:`frontier.sssp_many`.

    Examples
    --------
    >>> fr.eccentricity(fr.path(4)).eccentricity
    array([3, 2, 2, 3])
    """
    if weighted:
        check_weighted(g)
    bounds = Bounds(g, weighted)
    searches = 0
    while len(left := np.flatnonzero(bounds.lower < bounds.upper)):
        half = bounds.choose(left, 32, True)
        chosen = np.union1d(half, bounds.choose(left, 32, False)) if g.symmetric else left[:64]
        level = levels_of_many(g, chosen, weighted, schedule)
        for source, row in zip(chosen, level, strict=True):
            found = bounds.tighten(row) if g.symmetric else row.max()
            bounds.lower[source] = bounds.upper[source] = found
        searches += len(chosen)
    return EccentricityResult(bounds.lower, searches)
