"""Components by the labels of their vertices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frontier.memory.arrays import namespace_of, to_host
from frontier.memory.placement import Placement

__all__ = ["sizes_of"]


def sizes_of(label: NDArray[np.integer]) -> dict[int, int]:
    """Return the number of vertices of each component, by label, the largest first."""
    with Placement.of(label).memory.using("the sizes of components"):
        found = namespace_of(label).unique(label, return_counts=True)
    labels, sizes = map(to_host, found)
    order = np.argsort(-sizes, kind="stable")
    return dict(zip(labels[order].tolist(), sizes[order].tolist(), strict=True))
