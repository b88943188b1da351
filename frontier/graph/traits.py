"""Traits: what kind of graph it is, by which programs and backends choose."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Traits"]

#: Largest and mean degree up to which lists are short: roads, grids, meshes.
SHORT, MEAN = 32, 8


@dataclass(frozen=True, slots=True)
class Traits:
    """What kind of graph it is; see :attr:`frontier.Graph.traits`.

    Attributes
    ----------
    symmetric : bool
        Whether every edge is known to have its reverse with the same weight.
    max_degree : int
        Largest number of edge slots of a vertex; 0 where there is no vertex.
    mean_degree : float
        Edge slots by vertices; 0.0 where there is no vertex.
    short_lists : bool
        Whether no vertex has more than 32 edge slots and the mean is at most 8, as in roads, grids and meshes. The
        ``cuda`` backend has kernels of their own for such graphs, which never pull.
    """

    symmetric: bool
    max_degree: int
    mean_degree: float
    short_lists: bool

    @classmethod
    def of(cls, vertices: int, slots: int, max_degree: int, symmetric: bool) -> Traits:
        """Find the traits of a graph with so many vertices and edge slots."""
        mean = slots / vertices if vertices else 0.0
        return cls(symmetric, max_degree, mean, max_degree <= SHORT and slots <= MEAN * vertices)
