"""Traits of a graph, by which programs and backends choose variants."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Traits"]

#: Largest and mean degree up to which lists are short: roads, grids, meshes.
SHORT, MEAN = 32, 8


@dataclass(frozen=True, slots=True)
class Traits:
    """Properties of a graph; see :attr:`frontier.Graph.traits`.

    Attributes
    ----------
    symmetric : bool
        Whether every edge is known to have a reverse edge with the same weight.
    max_degree : int
        Largest number of edge slots of a vertex; 0 if there is no vertex.
    mean_degree : float
        Mean number of edge slots per vertex; 0.0 if there is no vertex.
    short_lists : bool
        Whether no vertex has more than 32 edge slots and the mean is at most 8, as in road networks, grids and meshes.
        The ``cuda`` backend has a low-degree variant of its kernels for such graphs, which never pulls.
    """

    symmetric: bool
    max_degree: int
    mean_degree: float
    short_lists: bool

    @classmethod
    def of(cls, vertices: int, slots: int, max_degree: int, symmetric: bool) -> Traits:
        """Compute the traits of a graph with the given numbers of vertices and edge slots."""
        mean = slots / vertices if vertices else 0.0
        return cls(symmetric, max_degree, mean, max_degree <= SHORT and slots <= MEAN * vertices)
