"""What the host puts into the table of a run before a program begins: numbers, and the addresses of arrays.

A program names its inputs by these values. :class:`frontier.backends.run.execution.LoopExecution` fills them in, and a
backend that has others, such as several GPUs, adds classes of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Buffer",
    "Derived",
    "FieldCopies",
    "GraphArray",
    "HasInLists",
    "Input",
    "Length",
    "Number",
    "Size",
    "WindowBuffer",
    "Windows",
    "WorkerArray",
    "WorkerTable",
]


class Input:
    """Base of all inputs."""


@dataclass(frozen=True)
class Number(Input):
    """A number of a step: programs that differ in nothing else are compiled once."""

    value: int


@dataclass(frozen=True)
class Length(Input):
    """The length of a field, for ``FRONTIER_CHECK=1``."""

    field: str


@dataclass(frozen=True)
class Size(Input):
    """The number of vertices, or of edge slots."""

    kind: str


@dataclass(frozen=True)
class GraphArray(Input):
    """An array of the graph, such as ``"targets"``, or a part of one that is compressed, such as its ``"words"``."""

    name: str
    part: str = ""

    @property
    def of_in_lists(self) -> bool:
        """Whether it must be made, unless every edge is there both ways."""
        return self.name in ("in_offsets", "in_sources", "in_edges")

    def __str__(self) -> str:
        return f"{self.name} {self.part}".strip()


@dataclass(frozen=True)
class HasInLists(Input):
    """Whether the in-lists are there; with ``numbers``, also the slots of their edges among the out-edges."""

    numbers: bool = False


@dataclass(frozen=True)
class Derived(Input):
    """A number or an array that an operator makes of the graph, perhaps by a degree that the schedule has set.

    See :func:`frontier.backends.run.workspace.register_derived`.
    """

    name: str
    edges: str
    degree: int | None = None


@dataclass(frozen=True)
class Buffer(Input):
    """An array that runs reuse, by its role: see :func:`frontier.backends.run.workspace.roles`.

    ``longer`` makes it as long as there may be vertices with so many edges.
    """

    role: str
    longer: int = 0


@dataclass(frozen=True)
class WorkerArray(Input):
    """Memory of each worker: its ``"locals"``, ``"places"`` for each vertex, or a ``"row"`` of so many values."""

    what: Literal["locals", "places", "row"]
    width: int = 0


@dataclass(frozen=True)
class WorkerTable(Input):
    """Hash tables of the workers: the size of each, all of them, or their keys and counts."""

    what: Literal["size", "all", "keys", "counts"]
    edges: str


@dataclass(frozen=True)
class FieldCopies(Input):
    """Copies of a field that is only added to, one for each worker but the first; 0 if there are none."""

    kind: str
    itemsize: int


@dataclass(frozen=True)
class Windows(Input):
    """The table of windows of lists that lie far away, or how many there are."""

    what: Literal["table", "number"]
    edges: str


@dataclass(frozen=True)
class WindowBuffer(Input):
    """The buffers for a column of windows, or how many places each has."""

    what: Literal["buffers", "places"]
    edges: str
    itemsize: int
    column: str
