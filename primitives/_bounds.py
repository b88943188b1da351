"""Bounds of eccentricities by searches in an undirected graph; see :mod:`frontier.primitives.eccentricity`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.memory.arrays import to_host

__all__ = ["Bounds"]


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
