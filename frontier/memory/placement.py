"""The class Placement: in which memory the arrays of a graph lie, and which backend computes on them.

This is the only module that compares names of backends. Backends themselves are defined by
:class:`frontier.backends.base.Backend`, in a higher layer. Here are only the attributes that a placement needs, and the
table in which backends are found by name.
"""

from __future__ import annotations

import importlib
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from frontier.errors import GraphError
from frontier.memory import detection
from frontier.memory.arrays import adopt, is_device
from frontier.memory.base import Memory

__all__ = [
    "BACKENDS", "EDGES", "KINDS", "SHIPPED",
    "Computing", "Placement", "backend_named", "backend_names", "backend_of", "placed", "unknown",
]  # fmt: skip


class Computing(Protocol):
    """The interface of a backend that placements and graphs use; see :class:`frontier.backends.base.Backend`."""

    name: str
    interprets: bool
    massively_parallel: bool
    reads_edges_from: tuple[str, ...]
    keeps_pairs: bool
    takes_order: bool
    divides: bool

    def start(self, step: Any, p: Any, f: Any, schedule: Any) -> Any:
        """Begin to run a step."""

    def program(self, step: Any, p: Any, given: Any, schedule: Any) -> Any:
        """Lower a step, without running it."""

    def placement(self, part: str = "") -> Placement:
        """Return the placement with this backend; ``part`` is what follows the colon in its name."""

    def placement_of(self, local: int) -> Placement:
        """Return the placement for one of several processes of this host."""

    def device(self, placement: Placement) -> str:
        """Return what identifies the device that computes."""

    def missing(self) -> str:
        """Return what is missing to use it on this machine."""

    def describe(self, placement: Placement) -> str:
        """Describe in words what computes."""

    def speaks(self) -> bool:
        """Whether this process prints."""

    def processes(self) -> int:
        """Return how many processes run each program together."""

    def alike(self, graph: Any) -> Any:
        """Return a graph that all these processes must have."""

    def field_store(self, graph: Any) -> Any:
        """Return what makes the arrays of a problem's fields."""

    def residing(self, graph: Any, placement: Placement, edges: str | None, memory: int | str | None) -> Placement:
        """Return the placement of a graph whose edges are to lie elsewhere."""

    def parts_for(self, num_slots: int, edges: Memory | None = None) -> tuple[Memory, ...]:
        """Return the memories over which it spreads so many edge slots, if it does."""

    def spread(self, graph: Any, placement: Placement) -> Any:
        """Return a copy of a graph whose edges are spread over these memories."""

    def build(self, shares: Any, placement: Placement, **options: Any) -> Any:
        """Build a graph of which each process has a part."""

    def telling(self) -> AbstractContextManager[None]:
        """Within it, a process prepares to build a graph."""

    def may_pull(self, g: Any) -> bool:
        """Whether searches may pull."""

    def __hash__(self) -> int:
        """Hash by identity: there is one object for each backend."""


#: The kinds of arrays: offsets (also of in-edges); arrays with one entry per edge slot (targets, weights, columns); and
#: arrays with one entry per vertex, and the fields of problems.
KINDS = ("offsets", "edges", "fields")


#: What stands between the name of a placement and where its edges lie.
EDGES = ", edges="


@dataclass(frozen=True)
class Placement:
    """Where the arrays of a graph lie, and which backend computes on them.

    ``g.placement`` is the placement of a graph, and ``g.to(placement)`` returns the graph with another one.
    ``str(placement)`` is what that is asked for: ``"cpu"``, ``"python"``, ``"cuda"``, ``"cuda:1"``, or with edges in
    another memory ``"cuda, edges='host'"``, of which ``placement.name`` is ``"cuda"``. :meth:`frontier.Graph.to` takes
    such a string, too; with ``edges='auto'``, as many edges are on the GPU as fit then. Two placements are equal if
    they have the same backend and the same memories.

    Parameters
    ----------
    backend : frontier.backends.Backend
        The backend that computes.
    memory : Memory
        The memory in which arrays lie.
    edges : Memory, optional
        The memory of arrays with one entry per edge, if it is a different one. The backend must be able to read it.

    Raises
    ------
    GraphError
        If the backend cannot read edges from that memory.

    Examples
    --------
    >>> g = fr.karate()
    >>> g.placement.name, str(g.to("python").placement)
    ('cpu', 'python')
    """

    backend: Computing
    memory: Memory
    edges: Memory | None = None
    name: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        name = self.backend.name
        if ":" not in name:  # one that names several GPUs says which
            name += self.memory.part
        if self.edges is self.memory:
            object.__setattr__(self, "edges", None)
        elif self.edges is not None and self.edges.residence not in self.backend.reads_edges_from:
            known = " and ".join((self.memory.residence, *self.backend.reads_edges_from))
            raise GraphError(f"{name!r} reads edges from {known} memory only, not from {self.edges.residence} memory")
        object.__setattr__(self, "name", name)

    # -- making one -----------------------------------------------------------------------------

    @classmethod
    def parse(cls, text: Placement | str) -> Placement:
        """Return the placement that a string names; a placement is returned unchanged.

        Parameters
        ----------
        text : Placement or str
            The name of a backend, which may be followed by a colon and a device: ``"cuda:1"`` is the second GPU,
            ``"cuda"`` CuPy's current one, ``"cuda:0,1"`` the first two together, ``"cuda:all"`` all that this process
            sees. ``"auto"`` is the fastest backend that is available: a GPU, or the CPU.

        Raises
        ------
        BackendUnavailableError
            If the backend cannot be used on this machine; the message says what is missing.
        GraphError
            If there is no such name.
        """
        if isinstance(text, Placement):
            return text
        if not isinstance(text, str):
            raise unknown(text)
        if text == "auto":
            found = detection.fastest()
            text = "cpu" if found is None else detection.named(found)
        name, part = _name_and_part(text)
        return backend_named(name, text).placement(part)

    @classmethod
    def of(cls, *arrays: Any) -> Placement:
        """Return the placement of the first array that lies on a GPU; ``"cpu"`` if none does."""
        for each in arrays:
            if is_device(each):
                return cls.parse(detection.named(adopt(each).device.id))
        return cls.parse("cpu")

    # -- what lies where ------------------------------------------------------------------------

    def memory_of(self, kind: str) -> Memory:
        """Return the memory of the arrays of a kind: ``"offsets"``, ``"edges"`` or ``"fields"``."""
        return self.edges if kind == "edges" and self.edges is not None else self.memory

    @property
    def residence(self) -> dict[str, str]:
        """Where the arrays of each kind lie, as a dict: ``"host"``, ``"device"`` or ``"disk"``."""
        return {kind: self.memory_of(kind).residence for kind in KINDS}

    @property
    def massively_parallel(self) -> bool:
        """Whether passes are run by tens of thousands of threads, as on a GPU.

        Then processing many elements takes no longer than processing few, and an additional pass costs more than
        redundant work. Programs use this to choose constants and variants; results must not depend on it.
        """
        return self.backend.massively_parallel

    @property
    def divides(self) -> bool:
        """Whether several parts run each step, on copies of the fields that are merged afterwards.

        Then an update is seen by other parts only in the next step. Programs that need it earlier choose another
        variant by this.
        """
        return self.backend.divides

    def shares_arrays_with(self, other: Placement) -> bool:
        """Whether a graph can be at both placements with the same arrays."""
        return self.memory is other.memory and self.edges == other.edges

    def __str__(self) -> str:
        far = self.edges
        return self.name if far is None else f"{self.name}{EDGES}{(far.asked or far.residence)!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.backend.name, self.memory, self.edges)


def placed(backend: Computing, memory: Memory, edges: Memory | None = None) -> Placement:
    """Return a placement; always the same object for the same arguments, so that comparing placements is quick."""
    return _placed(backend, memory, None if edges is memory else edges)


@cache
def _placed(backend: Computing, memory: Memory, edges: Memory | None) -> Placement:
    return Placement(backend, memory, edges)


def _again(name: str, memory: Memory, edges: Memory | None) -> Placement:
    """Restore the placement from a pickle; its backend must be registered in this process, too."""
    backend = backend_named(name) if name.isidentifier() else Placement.parse(name).backend
    return placed(backend, memory, edges)


# -- backends by name -------------------------------------------------------------------------------

#: Shipped backends. Each is ``BACKEND`` in the module of its name, which is imported when it is first needed.
SHIPPED = ("cuda", "cpu", "python", "ranks")

#: Backends that users reach by other names: this one by ``"cuda:0,1"``.
UNNAMED = ("devices",)

#: Folders of those that do not stand in ``backends``.
_FOLDERS = {"ranks": "distributed", "devices": "distributed"}

#: Backends imported so far, and those of users, which :func:`frontier.backends.base.register_backend` adds.
BACKENDS: dict[str, Computing] = {}


def _name_and_part(text: str) -> tuple[str, str]:
    """Split the name of a placement; the part follows a colon, or begins with a comma: ``"ranks,2d"``."""
    name, colon, part = text.partition(":")
    if colon:
        if not part:
            raise unknown(text)
        return name, part
    name, comma, options = text.partition(",")
    return name, comma + options


def backend_named(name: str, asked: object = None) -> Computing:
    """Return the backend of a name (without colon and device); ``asked`` is what an error message quotes."""
    found = BACKENDS.get(name)
    if found is None:
        if name not in (*SHIPPED, *UNNAMED):
            raise unknown(name if asked is None else asked)
        found = BACKENDS[name] = importlib.import_module(f"frontier.{_FOLDERS.get(name, 'backends')}.{name}").BACKEND
    return found


def backend_of(asked: Placement | str) -> Computing:
    """Return the backend of a placement or of its name, even if it cannot be used on this machine."""
    if isinstance(asked, Placement):
        return asked.backend
    if not isinstance(asked, str):
        raise unknown(asked)
    return Placement.parse(asked).backend if asked == "auto" else backend_named(re.split("[:,]", asked)[0], asked)


def backend_names() -> list[str]:
    """Return the names of all backends, even if they cannot be used on this machine; those of users come last."""
    return [*SHIPPED, *sorted(set(BACKENDS) - {*SHIPPED, *UNNAMED})]


def unknown(name: object) -> GraphError:
    """Return the error for a string that names no placement."""
    own = "".join(f", {each!r}" for each in backend_names()[len(SHIPPED) :])
    shipped = "'cpu', 'python', 'cuda', 'cuda:1', 'ranks', 'ranks:3'"
    return GraphError(f"there is no backend {name!r}: choose {shipped}{own} or 'auto'")
