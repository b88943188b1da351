"""Several vertices, as users give them: sources of searches, starts of walks, seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frontier.errors import GraphError
from frontier.memory.arrays import is_device, to_host

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["is_several", "vertex_ids"]


def is_several(vertices: Any) -> bool:
    """Whether these are several vertices, and not one: text is a label."""
    if isinstance(vertices, str | bytes | Mapping):
        return False
    return np.ndim(vertices) > 0 if is_device(vertices) else np.iterable(vertices)


def vertex_ids(graph: Graph, vertices: Any, what: str) -> NDArray[np.int64]:
    """Return the ids of several vertices, in the order in which they are given, on the host.

    Parameters
    ----------
    graph : Graph
    vertices : Frontier, or iterable
        A frontier of vertices, a mask of one bool for each vertex, or labels, or ids if the graph has no labels.
    what : str
        The name of the argument, for messages.

    Raises
    ------
    GraphError
        If a vertex does not exist, or these are not several vertices.
    """
    if hasattr(vertices, "is_all"):  # a frontier, whose class lies above this module
        vertices.check(graph)
        if vertices.kind != "vertex":
            raise GraphError(f"{what}: a frontier of vertices is needed, and this is one of edges")
        return np.asarray(to_host(vertices.ids), np.int64)
    if not is_several(vertices):
        raise GraphError(f"{what}={vertices!r}: a list of vertices, as [{vertices!r}]")
    given = to_host(vertices) if is_device(vertices) or isinstance(vertices, np.ndarray) else list(vertices)
    if isinstance(given, np.ndarray):
        if given.ndim != 1:
            raise GraphError(f"{what} of shape {given.shape}: a list, or an array of one dimension")
        if given.dtype.kind == "b":
            return _marked(given, graph.num_vertices, what)
        if given.dtype.kind in "iu" and graph.labels is None:
            wrong = (given < 0) | (given >= graph.num_vertices)
            if wrong.any():
                graph.vertex_id(given[wrong][0])  # which says what is wrong
            return given.astype(np.int64)
        given = given.tolist()
    return np.array([graph.vertex_id(vertex) for vertex in given], np.int64)


def _marked(mask: NDArray[np.bool_], n: int, what: str) -> NDArray[np.int64]:
    if len(mask) != n:
        raise GraphError(f"{what}: a mask of {len(mask)} bools, but there are {n} vertices")
    return mask.nonzero()[0].astype(np.int64)
