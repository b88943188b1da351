"""Eccentricities and the diameter, by bounds from a few searches.

The eccentricity of a vertex is its largest distance to a vertex that it reaches. In an undirected graph a search that
finds the eccentricity e of its source bounds that of every vertex at distance d: it is at least max(d, e - d), and at
most e + d. Searches begin in turn at vertices with the largest upper bounds and with the smallest lower bounds, until
the bounds of all vertices meet, or, for the diameter, no upper bound exceeds the largest lower bound (Takes and
Kosters: Computing the eccentricity distribution of large graphs, 2013). Of a directed graph, which has no such bounds,
all vertices are searched from. Searches run by :func:`frontier.bfs_many`, or one by one for the diameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.graph.labels import called
from frontier.memory.arrays import to_host
from frontier.registry import primitive

__all__ = ["DiameterResult", "EccentricityResult", "diameter", "eccentricity"]


@dataclass(frozen=True)
class EccentricityResult:
    """Result of :func:`eccentricity`.

    Attributes
    ----------
    eccentricity : ndarray of int64, shape (n,)
        The largest distance from v to a vertex that it reaches; 0 if it reaches no other.
    searches : int
        Number of searches.
    """

    eccentricity: NDArray[np.int64]
    searches: int

    @property
    def diameter(self) -> int:
        """The largest eccentricity; 0 without vertices."""
        return int(self.eccentricity.max(initial=0))

    @property
    def radius(self) -> int:
        """The smallest eccentricity; 0 without vertices."""
        return int(self.eccentricity.min()) if len(self.eccentricity) else 0


@dataclass(frozen=True)
class DiameterResult:
    """Result of :func:`diameter`.

    Attributes
    ----------
    diameter : int
        The largest distance between two vertices of which one reaches the other.
    source, target : int
        Two vertices at this distance; -1 without vertices.
    searches : int
        Number of searches.
    """

    diameter: int
    source: int
    target: int
    searches: int


class Bounds:
    """Lower and upper bounds of all eccentricities."""

    def __init__(self, g: fr.Graph) -> None:
        self.degree = np.asarray(to_host(g.out_degree))
        label = np.asarray(to_host(fr.connected_components(g).label))
        self.upper = np.bincount(label)[label] - 1  # no path visits a vertex twice
        self.lower = np.minimum(self.upper, 1 if g.symmetric else 0)

    def tighten(self, level: NDArray[Any]) -> int:
        """Use the levels of a search; return the eccentricity of its source."""
        found = int(level.max())
        reached = np.flatnonzero(level >= 0)
        d = level[reached].astype(np.int64)
        self.lower[reached] = np.maximum(self.lower[reached], np.maximum(d, found - d))
        self.upper[reached] = np.minimum(self.upper[reached], found + d)
        return found

    def choose(self, left: NDArray[Any], count: int, highest: bool) -> NDArray[Any]:
        """Return vertices with the largest upper, or smallest lower bounds; those of high degree first."""
        key = -self.upper[left] if highest else self.lower[left]
        return left[np.lexsort((-self.degree[left], key))[:count]]


def _facts(g: fr.Graph, result: EccentricityResult) -> dict[str, Any]:
    facts = {"diameter": result.diameter, "radius": result.radius, "searches": result.searches}
    return {**facts, "slots": g.num_slots * result.searches}


@primitive("eccentricity", "largest distance from every vertex", columns=("eccentricity",), report=_facts)
def eccentricity(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> EccentricityResult:
    """Eccentricity of every vertex: its largest distance to a vertex that it reaches.

    Parameters
    ----------
    g : Graph
        Edges have length 1, and are followed in their direction.
    schedule : Schedule, optional

    Returns
    -------
    EccentricityResult
        Vertices that cannot be reached do not count, where NetworkX raises an error.

    Notes
    -----
    O(n + m) work for each search, of which 64 run together. An undirected graph often needs a few hundred; in the worst
    case, and in a directed graph, one for every vertex.
    """
    bounds = Bounds(g)
    searches = 0
    while len(left := np.flatnonzero(bounds.lower < bounds.upper)):
        half = bounds.choose(left, 32, True)
        chosen = np.union1d(half, bounds.choose(left, 32, False)) if g.symmetric else left[:64]
        level = np.asarray(to_host(_many(g, chosen, schedule)))
        for source, row in zip(chosen, level, strict=True):
            found = bounds.tighten(row) if g.symmetric else int(row.max())
            bounds.lower[source] = bounds.upper[source] = found
        searches += len(chosen)
    return EccentricityResult(bounds.lower, searches)


def _many(g: fr.Graph, ids: NDArray[Any], schedule: fr.Schedule | None) -> Any:
    return fr.bfs_many(g, ids if g.labels is None else [g.labels[v] for v in ids], schedule=schedule).level


def _diameter_facts(g: fr.Graph, result: DiameterResult) -> dict[str, Any]:
    ends = f"{called(result.source, g.labels)} to {called(result.target, g.labels)}" if result.source >= 0 else "none"
    return {
        "diameter": result.diameter,
        "from": ends,
        "searches": result.searches,
        "slots": g.num_slots * result.searches,
    }


@primitive("diameter", "largest distance between two vertices", report=_diameter_facts)
def diameter(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> DiameterResult:
    """Largest distance between two vertices of a graph.

    Parameters
    ----------
    g : Graph
        Edges have length 1, and are followed in their direction.
    schedule : Schedule, optional

    Returns
    -------
    DiameterResult
        Pairs without a path do not count; of a graph in several components, it is the largest of their diameters.

    Notes
    -----
    O(n + m) work for each search. An undirected graph often needs about ten; in the worst case, and in a directed
    graph, there is one for every vertex.
    """
    if not g.num_vertices:
        return DiameterResult(0, -1, -1, 0)
    if not g.symmetric:
        result = eccentricity(g, schedule=schedule)
        return _ends(g, int(result.eccentricity.argmax()), result.searches, schedule)
    bounds = Bounds(g)
    searches = 0
    while len(left := np.flatnonzero(bounds.upper > bounds.lower.max())):
        source = int(bounds.choose(left, 1, searches % 2 == 0)[0])
        found = bounds.tighten(np.asarray(to_host(_search(g, source, schedule).level)))
        bounds.lower[source] = bounds.upper[source] = found
        searches += 1
    return _ends(g, int(bounds.lower.argmax()), searches, schedule)


def _search(g: fr.Graph, source: int, schedule: fr.Schedule | None) -> Any:
    return fr.bfs(g, source if g.labels is None else g.labels[source], schedule=schedule)


def _ends(g: fr.Graph, source: int, searches: int, schedule: fr.Schedule | None) -> DiameterResult:
    """Return the result, with a vertex that is farthest from the source."""
    level = np.asarray(to_host(_search(g, source, schedule).level))
    return DiameterResult(int(level.max()), source, int(level.argmax()), searches + 1)
