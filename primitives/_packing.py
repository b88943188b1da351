"""Places for the components of a layout: the widest in the middle, the others on rings around it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["apart"]


def apart(position: NDArray[np.float64], component: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Return positions at which components, moved as they are, do not lie on each other.

    Parameters
    ----------
    position : ndarray, shape (n, d)
    component : ndarray of int, shape (n,)
        Number of the component of each vertex, from 0 to ``count - 1``.
    count : int
    """
    order = np.argsort(component, kind="stable")
    first = np.searchsorted(component[order], np.arange(count))
    low, high = (each.reduceat(position[order], first) for each in (np.minimum, np.maximum))
    found: NDArray[np.float64] = position - ((low + high) / 2)[component]
    radius = np.sqrt(np.maximum.reduceat(np.square(found[order]).sum(axis=1), first))
    area = float(np.square(radius).sum())
    gap = (area / len(position)) ** 0.5 if area else 1.0  # about as far as vertices are from one another
    widest = np.argsort(-radius, kind="stable")
    found[:, :2] += _rings(radius[widest] + gap / 2)[np.argsort(widest)][component]
    return found


def _rings(radius: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return centres for discs that touch each other at most; radii do not ascend, and the first is in the middle."""
    centre = np.zeros((len(radius), 2))
    outer, done = float(radius[0]), 1
    while done < len(radius):
        ring = outer + radius[done]
        fitting = done + int(np.pi / np.arcsin(radius[-1] / ring)) + 1
        angle = 2 * np.arcsin(radius[done:fitting] / ring)
        number = max(int(np.searchsorted(np.cumsum(angle), 2 * np.pi, side="right")), 1)
        angle = angle[:number]
        if done + number < len(radius):
            angle *= 2 * np.pi / angle.sum()
        middle = np.cumsum(angle) - angle / 2
        centre[done : done + number] = ring * np.stack((np.cos(middle), np.sin(middle)), axis=1)
        outer, done = float(ring + radius[done]), done + number
    return centre
