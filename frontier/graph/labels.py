"""The names of vertices: labels, or ids."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.topology import Array
from frontier.memory.arrays import is_device, to_host

__all__ = ["VertexNames", "called", "checked_id"]


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


class VertexNames:
    """The names of the vertices of a graph: their labels, or their ids if it has none.

    Parameters
    ----------
    labels : ndarray, shape (n,), or None
    num_vertices : int
    """

    def __init__(self, labels: Array | None, num_vertices: int) -> None:
        self.labels = labels
        self._count = num_vertices

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> tuple[Any, ...]:
        return VertexNames, (self.labels, self._count)

    @functools.cached_property
    def _vertex(self) -> dict[Any, int]:
        """The vertex of each label."""
        return {} if self.labels is None else {label: v for v, label in enumerate(self.labels.tolist())}

    def column(self, vertices: Array | None = None) -> Array:
        """The names of vertices, of all by default, as an array; of objects, None for -1, where names are labels."""
        if self.labels is None:
            return np.arange(self._count) if vertices is None else vertices
        if vertices is None:
            return self.labels
        missing = vertices < 0
        if not missing.any():
            return self.labels[vertices]
        found = np.full(vertices.shape, None, object)
        found[~missing] = self.labels[vertices[~missing]]
        return found

    def of(self, vertices: Array | list[int]) -> list[Any]:
        """Return the names of vertices; None for -1, which stands for no vertex."""
        ids = np.asarray(vertices, np.int64)
        if self.labels is None:
            return [None if v < 0 else v for v in ids.tolist()]
        labels = self.labels[ids].tolist() if len(self.labels) else [None] * len(ids)
        return [None if v < 0 else label for v, label in zip(ids.tolist(), labels, strict=True)]

    def __contains__(self, vertex: Any) -> bool:
        """Whether there is a vertex of this name."""
        try:
            self.find(vertex)
        except GraphError:
            return False
        return True

    def find(self, vertex: Any) -> int:
        """Return the id of a vertex from its name; where there are labels, an id may be meant as one, and is none."""
        if self.labels is None:
            return checked_id(vertex, self._count)
        if getattr(vertex, "shape", None) == ():  # one number, perhaps on a GPU
            vertex = to_host(vertex)[()]
        try:
            found = self._vertex.get(vertex)
        except TypeError:  # a list, for example, is not hashable
            found = None
        if found is not None:
            return found
        raise GraphError(f"there is no vertex {_shown(vertex)}{self._instead(vertex)}: {self._what_there_is()}")

    def find_text(self, text: str) -> int:
        """Return the id of a vertex from the text of its name, as a command line gives it."""
        if self.labels is None:
            number = _integer(text)
            return checked_id(text if number is None else number, self._count)
        for label in (text, _integer(text), self._by_text().get(text)):
            if label is not None and label in self._vertex:
                return self._vertex[label]
        number = _integer(text)
        return self.find(text if number is None or any(isinstance(label, str) for label in self._vertex) else number)

    def _by_text(self) -> dict[str, Any]:
        """The labels that are no strings by what they are printed as."""
        return {str(label): label for label in self._vertex if not isinstance(label, str | int)}

    def _instead(self, vertex: Any) -> str:
        """A label that is written alike."""
        other: Any = _integer(vertex) if isinstance(vertex, str) else str(vertex)
        return f", but {other!r}" if other is not None and other in self._vertex else ""

    def _what_there_is(self) -> str:
        if not self._vertex:
            return "the graph has no vertices"
        first = list(itertools.islice(self._vertex, 3))
        kinds = {_KINDS.get(type(label), f"of type {type(label).__name__}") for label in self._vertex}
        kind = f"{kinds.pop()}, " if len(kinds) == 1 else ""
        more = ", ..." if len(self._vertex) > 3 else ""
        return f"the labels are {kind}{', '.join(map(repr, first))}{more}"


#: What the types of labels are called in messages.
_KINDS = {str: "strings", int: "integers", float: "floats", tuple: "tuples"}


def _integer(text: str) -> int | None:
    """The integer that a text is, as a file gives it; None if it is none."""
    number = text.removeprefix("-")
    return int(text) if number.isdecimal() and number.isascii() and len(number) < 1000 else None
