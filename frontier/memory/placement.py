"""Placement: where the arrays of a graph lie, and who computes on them. No other module compares names of backends.

What a backend is says :class:`frontier.backends.base.Backend`, which stands above graphs and problems. Here is only
what a placement needs to know of one, and the table in which backends are found by name.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from frontier.errors import GraphError
from frontier.memory import detection
from frontier.memory.arrays import adopt, is_device
from frontier.memory.base import Memory

__all__ = [
    "BACKENDS", "KINDS", "SHIPPED",
    "Computing", "Placement", "backend_named", "backend_names", "backend_of", "placed", "unknown",
]  # fmt: skip


class Computing(Protocol):
    """A backend, as placements and graphs know it; :class:`frontier.backends.base.Backend` explains it."""

    name: str
    interprets: bool
    massively_parallel: bool
    reads_edges_from: tuple[str, ...]

    def start(self, step: Any, p: Any, f: Any, schedule: Any) -> Any:
        """Begin to run a step."""

    def program(self, step: Any, p: Any, given: Any, schedule: Any) -> Any:
        """Lower a step, without running it."""

    def placement(self, part: str = "") -> Placement:
        """Give the placement of a name, and of what follows it."""

    def missing(self) -> str:
        """Say what it lacks here."""

    def describe(self, placement: Placement) -> str:
        """Say in words who computes."""

    def may_pull(self, g: Any) -> bool:
        """Whether searches may pull."""

    def __hash__(self) -> int:
        """Of the object: there is one for each backend."""


#: What arrays of a graph there are: offsets, also of in-edges; what there is one of for each edge slot (far ends,
#: weights, columns); what there is one of for each vertex, and the fields of problems.
KINDS = ("offsets", "edges", "fields")


@dataclass(frozen=True)
class Placement:
    """Where the arrays of a graph lie, and which backend computes on them.

    ``g.placement`` is that of a graph, and ``g.to(placement)`` gives the graph there. ``str`` of it is the name that
    users know: ``"cpu"``, ``"python"``, ``"cuda"``, ``"cuda:1"``. Two are equal if backend and memories are the same.

    Parameters
    ----------
    backend : frontier.backends.Backend
        Who computes.
    memory : Memory
        Where arrays lie.
    edges : Memory, optional
        Where arrays with an entry for each edge lie, if not there too. The backend must be able to read them there.

    Raises
    ------
    GraphError
        The backend cannot read edges there.
    """

    backend: Computing
    memory: Memory
    edges: Memory | None = None
    name: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        name = f"{self.backend.name}{self.memory.part}"
        if self.edges is self.memory:
            object.__setattr__(self, "edges", None)
        elif self.edges is not None and self.edges.residence not in self.backend.reads_edges_from:
            own, other = self.memory.residence, self.edges.residence
            raise GraphError(f"{name!r} reads edges from {own} memory only, not from {other} memory")
        object.__setattr__(self, "name", name)

    # -- making one -----------------------------------------------------------------------------

    @classmethod
    def parse(cls, text: Placement | str) -> Placement:
        """Give the placement that a string names; a placement is given back as it is.

        Parameters
        ----------
        text : Placement or str
            The name of a backend, after a colon what it is asked for: ``"cuda:1"`` is the second GPU, ``"cuda"`` CuPy's
            current one. ``"auto"`` is the fastest that is there: a GPU, or the processor.

        Raises
        ------
        BackendUnavailableError
            It is not there; the message says what is missing.
        GraphError
            There is no such name.
        """
        if isinstance(text, Placement):
            return text
        if not isinstance(text, str):
            raise unknown(text)
        if text == "auto":
            found = detection.fastest()
            text = "cpu" if found is None else detection.named(found)
        name, colon, part = text.partition(":")
        if colon and not part:
            raise unknown(text)
        return backend_named(name, text).placement(part)

    @classmethod
    def of(cls, *arrays: Any) -> Placement:
        """Give the placement of the first of some arrays that lies on a GPU; the processor's if none does."""
        for each in arrays:
            if is_device(each):
                return cls.parse(detection.named(adopt(each).device.id))
        return cls.parse("cpu")

    # -- what lies where ------------------------------------------------------------------------

    def memory_of(self, kind: str) -> Memory:
        """Give the memory in which arrays of a kind lie; kinds are ``"offsets"``, ``"edges"`` and ``"fields"``."""
        return self.edges if kind == "edges" and self.edges is not None else self.memory

    @property
    def residence(self) -> dict[str, str]:
        """For each kind of arrays in what they lie: ``"host"``, ``"device"`` or ``"disk"``."""
        return {kind: self.memory_of(kind).residence for kind in KINDS}

    @property
    def massively_parallel(self) -> bool:
        """Whether passes are run by tens of thousands of threads, as on a GPU.

        Then many elements take no longer than few, and that there is a pass at all costs more than work done twice.
        Programs choose constants and variants by it, never results.
        """
        return self.backend.massively_parallel

    def shares_arrays_with(self, other: Placement) -> bool:
        """Whether a graph can be at both placements with the same arrays."""
        return self.memory is other.memory and self.edges is other.edges

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.backend.name, self.memory, self.edges)


def placed(backend: Computing, memory: Memory, edges: Memory | None = None) -> Placement:
    """Give a placement, the same object every time: two are then compared by identity, which is quick."""
    return _placed(backend, memory, None if edges is memory else edges)


@cache
def _placed(backend: Computing, memory: Memory, edges: Memory | None) -> Placement:
    return Placement(backend, memory, edges)


def _again(name: str, memory: Memory, edges: Memory | None) -> Placement:
    """The placement of a pickle, if its backend is registered in this process too."""
    return placed(backend_named(name), memory, edges)


# -- backends by name -------------------------------------------------------------------------------

#: Those that come with the package: ``BACKEND`` in the module of its name, imported when it is first asked for.
SHIPPED = ("cuda", "cpu", "python")

#: Those that have been asked for, and those of users; :func:`frontier.backends.base.register_backend` adds them.
BACKENDS: dict[str, Computing] = {}


def backend_named(name: str, asked: object = None) -> Computing:
    """Give the backend of a name, without what may follow a colon; if there is none, the error names what was asked."""
    found = BACKENDS.get(name)
    if found is None:
        if name not in SHIPPED:
            raise unknown(name if asked is None else asked)
        found = BACKENDS[name] = importlib.import_module(f"frontier.backends.{name}").BACKEND
    return found


def backend_of(asked: Placement | str) -> Computing:
    """Give the backend that a placement, or the name of one, speaks of, whether it can be used here or not."""
    if isinstance(asked, Placement):
        return asked.backend
    if not isinstance(asked, str):
        raise unknown(asked)
    return Placement.parse(asked).backend if asked == "auto" else backend_named(asked.partition(":")[0], asked)


def backend_names() -> list[str]:
    """Give the names of all backends, whether they can be used here or not; those of users last."""
    return [*SHIPPED, *sorted(set(BACKENDS) - set(SHIPPED))]


def unknown(name: object) -> GraphError:
    """The error for a string that names no placement."""
    own = "".join(f", {each!r}" for each in backend_names()[len(SHIPPED) :])
    return GraphError(f"there is no backend {name!r}: choose 'cpu', 'python', 'cuda', 'cuda:1'{own} or 'auto'")
