"""Find a vertex by its label or by its id."""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.topology import Array
from frontier.memory.arrays import is_device, to_host

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["LabelIndex", "called", "checked_id", "vertex_of_text"]


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


def vertex_of_text(graph: Graph, text: str) -> int:
    """Return the id of the vertex that a text names, as an option of the command line: by its label, else by its id."""
    names = graph.label_index
    if names is not None:
        return names.find_text(text)
    number = _integer(text)
    return checked_id(text if number is None else number, graph.num_vertices)


class LabelIndex:
    """The vertex of each label."""

    def __init__(self, labels: Array) -> None:
        self._labels = labels
        self._vertex = {label: v for v, label in enumerate(labels.tolist())}

    def __len__(self) -> int:
        return len(self._labels)

    def of(self, vertices: Array | list[int]) -> list[Any]:
        """Return the labels of vertices; None for -1, which stands for no vertex."""
        ids = np.asarray(vertices, np.int64)
        labels = self._labels[ids].tolist() if len(self._labels) else [None] * len(ids)
        return [None if v < 0 else label for v, label in zip(ids.tolist(), labels, strict=True)]

    def find(self, vertex: Any) -> int:
        """Return the id of a vertex from its label; an id is not understood, for it may be meant as a label."""
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
        """Return the id of a vertex from the text of its label, as a command line gives it."""
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
