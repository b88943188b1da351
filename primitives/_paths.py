"""Paths from the parents that a search has found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontier.errors import GraphError
from frontier.graph.labels import LabelIndex
from frontier.memory.arrays import to_host

__all__ = ["path_to"]


def path_to(parent: NDArray[Any], vertex: Any, names: LabelIndex | None = None) -> list[Any]:
    """Follow parents back to the source, which is its own parent; empty if there is no path."""
    if names is not None:
        return names.of(path_to(parent, names.find(vertex)))
    if not isinstance(vertex, (int, np.integer)):
        raise GraphError(f"there is no vertex {vertex!r}: vertices are 0 to {len(parent) - 1}")
    if not 0 <= vertex < len(parent):
        raise GraphError(f"vertex {vertex} does not exist: valid are 0..{len(parent) - 1}")
    parent = to_host(parent)  # the whole array: reading one entry at a time would be one copy from the GPU each
    if parent[vertex] < 0:
        return []
    path = [int(vertex)]
    while parent[path[-1]] != path[-1]:
        path.append(int(parent[path[-1]]))
    return path[::-1]
