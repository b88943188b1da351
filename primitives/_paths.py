"""Paths from the parents that a search has found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frontier.errors import GraphError
from frontier.graph.labels import VertexNames
from frontier.graph.several import is_several, vertex_ids
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["path_of_ids", "path_to", "several", "sources_of", "unreached"]


def unreached(distances: np.dtype[Any]) -> float:
    """The distance of a vertex that is not reached, by the dtype."""
    return int(np.iinfo(np.int64).max) if distances.kind == "i" else np.inf


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


def several(g: Graph, source: Any) -> bool:
    """Whether a source is several vertices; a tuple may be a label."""
    return is_several(source) and not (isinstance(source, tuple) and g.labels is not None and source in g.names)


def sources_of(g: Graph, source: Any) -> tuple[int | NDArray[np.int64], NDArray[np.int64]]:
    """Return one or several sources as a result has them: an id, or an array of ids; and always as a sorted array."""
    if not several(g, source):
        one = g.vertex_id(source)
        return one, np.array([one])
    ids = vertex_ids(g, source, "source")
    if not len(ids):
        raise GraphError("source holds no vertex")
    return ids, np.unique(ids)
