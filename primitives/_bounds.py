"""Bounds of eccentricities by searches in an undirected graph; see :mod:`frontier.primitives.eccentricity`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import named

__all__ = ["Bounds", "levels", "levels_of_many"]


class Bounds:
    """Lower and upper bounds of all eccentricities."""

    def __init__(self, g: fr.Graph, weighted: bool = False) -> None:
        self.degree = np.asarray(to_host(g.out_degree))
        label = np.asarray(to_host(fr.connected_components(g).label))
        others = np.bincount(label)[label] - 1
        if weighted:
            assert g.weights is not None
            whole = g.weights.dtype.kind in "iu"
            self.upper = np.where(others > 0, 2**62 if whole else np.inf, 0).astype(np.int64 if whole else np.float64)
            self.lower = np.zeros_like(self.upper)
        else:
            self.upper = others  # no path visits a vertex twice
            self.lower = np.minimum(self.upper, 1 if g.symmetric else 0)

    def tighten(self, level: NDArray[Any]) -> Any:
        """Use the levels or distances of a search, -1 for unreached; return the eccentricity of its source."""
        found = level.max().item()
        reached = np.flatnonzero(level >= 0)
        d = level[reached].astype(self.upper.dtype)
        self.lower[reached] = np.maximum(self.lower[reached], np.maximum(d, found - d))
        self.upper[reached] = np.minimum(self.upper[reached], found + d)
        return found

    def choose(self, left: NDArray[Any], count: int, highest: bool) -> NDArray[Any]:
        """Return vertices with the largest upper, or smallest lower bounds; those of high degree first."""
        key = -self.upper[left] if highest else self.lower[left]
        return left[np.lexsort((-self.degree[left], key))[:count]]


def levels(g: fr.Graph, source: int, weighted: bool, schedule: fr.Schedule | None) -> NDArray[Any]:
    """Return the levels, or distances by weights, from one vertex; -1 for what is not reached."""
    if weighted:
        return measured(fr.sssp(g, named(g, source), parents=False, schedule=schedule).distance)
    return np.asarray(to_host(fr.bfs(g, named(g, source), schedule=schedule).level))


def levels_of_many(g: fr.Graph, sources: NDArray[Any], weighted: bool, schedule: fr.Schedule | None) -> NDArray[Any]:
    """The same from several vertices, a row for each."""
    if weighted:
        return measured(fr.sssp_many(g, named(g, sources), schedule=schedule).distance)
    return np.asarray(to_host(fr.bfs_many(g, named(g, sources), schedule=schedule).level))


def measured(distance: Any) -> NDArray[Any]:
    """Distances on the host, with -1 for what is not reached."""
    values = np.asarray(to_host(distance))
    far = np.iinfo(np.int64).max if values.dtype.kind == "i" else np.inf
    return np.where(values < far, values, -1)
