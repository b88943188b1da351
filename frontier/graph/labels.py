"""Find a vertex by its label or by its id."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.topology import Array
from frontier.memory.arrays import is_device, to_host

__all__ = ["LabelIndex", "called", "checked_id"]


def called(vertex: int, labels: Array | None) -> str:
    """A vertex in words: by its number, and by its name if it has one."""
    return f"vertex {vertex}" if labels is None else f"vertex {vertex} ({labels[vertex]})"


def checked_id(vertex: Any, num_vertices: int) -> int:
    """Return a vertex id as an int, if there is such a vertex."""
    number = _number(vertex)
    if 0 <= number < num_vertices:
        return number
    if num_vertices == 0:
        raise GraphError(f"there is no vertex {_shown(vertex)}: the graph has no vertices")
    raise GraphError(f"there is no vertex {_shown(vertex)}: vertices are 0 to {num_vertices - 1}")


def _number(vertex: Any) -> int:
    """An integer, or one that lies on a GPU, as an int; -1 for anything else, such as a bool."""
    if isinstance(vertex, bool):
        return -1
    try:
        return operator.index(to_host(vertex)[()] if is_device(vertex) else vertex)
    except TypeError:
        return -1


def _shown(vertex: Any) -> str:
    """Return a vertex as messages show it."""
    return repr(vertex.item() if isinstance(vertex, np.generic) else vertex)


class LabelIndex:
    """The vertex of each label."""

    def __init__(self, labels: Array) -> None:
        self._labels = labels
        self._vertex = {label: v for v, label in enumerate(labels.tolist())}
        # then an integer is a label, never an id
        self._has_numbers = any(isinstance(label, int | float) for label in self._vertex)

    def __len__(self) -> int:
        return len(self._labels)

    def of(self, vertices: list[int]) -> list[Any]:
        """Return the labels of vertices."""
        labels: list[Any] = self._labels[vertices].tolist()
        return labels

    def find(self, vertex: Any) -> int:
        """Return the id of a vertex from its label, or from its id if no label is a number."""
        try:
            found = self._vertex.get(vertex)
        except TypeError:  # a list, for example, is not hashable
            found = None
        if found is not None:
            return found
        number, n = _number(vertex), len(self._labels)
        if n == 0 or (0 <= number < n and not self._has_numbers):
            return checked_id(vertex, n)
        some = ", ".join(repr(label) for label in self._labels[:3].tolist())
        more = ", ..." if n > 3 else ""
        raise GraphError(f"there is no vertex {_shown(vertex)}: the labels are {some}{more}")
