"""Paths from the parents that a search has found."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from frontier.graph.labels import VertexNames
from frontier.memory.arrays import to_host

__all__ = ["path_of_ids", "path_to"]


def path_to(parent: NDArray[Any], vertex: Any, names: VertexNames) -> list[Any]:
    """Follow parents back to the source, which is its own parent, by names; empty if there is no path."""
    return names.of(path_of_ids(parent, names.find(vertex)))


def path_of_ids(parent: NDArray[Any], vertex: int) -> list[int]:
    """Follow parents back to the source, by ids."""
    parent = to_host(parent)  # the whole array: reading one entry at a time would be one copy from the GPU each
    if parent[vertex] < 0:
        return []
    path = [vertex]
    while parent[path[-1]] != path[-1]:
        path.append(int(parent[path[-1]]))
    return path[::-1]
