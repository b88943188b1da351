"""The class Backend, of which ``cpu``, ``cuda`` and ``python`` are subclasses, and the registration of others.

A backend runs steps (usually a loop) on problems. It also says where its graphs lie, whether it can be used on this
machine, and what programs may know about it.

A backend that compiles derives its :class:`~frontier.program.execution.Execution` from
:class:`frontier.backends.run.execution.LoopExecution`, which has the workspace and the table of a run, and lowers steps
with its own :class:`frontier.lowering.builder.Builder`. The operators' phases for each backend are in ``operators/``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from frontier.errors import FrontierError, GraphError
from frontier.lowering.frontier_state import SMALL
from frontier.memory.disk import DISK
from frontier.memory.host import HOST
from frontier.memory.placement import BACKENDS, SHIPPED, Placement, backend_names, placed, unknown
from frontier.program.field_store import FieldStore

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.graph.shares import Shares
    from frontier.lowering.builder import Builder
    from frontier.memory.base import Memory
    from frontier.program.execution import Execution
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["Backend", "backend_names", "register_backend"]


class Backend(ABC):
    """Base class of backends: a backend runs steps on problems, and says where the arrays of its graphs lie.

    A subclass sets ``name`` and overrides :meth:`start`; the other methods suit backends on the CPU. A backend that
    computes elsewhere also overrides :meth:`placement`. :func:`register_backend` registers it.

    Attributes
    ----------
    name : str
        An identifier, by which ``g.to(name)`` finds it.
    interprets : bool
        Whether functors are called as ordinary Python functions, in which ``print`` and breakpoints work.
    massively_parallel : bool
        See :attr:`frontier.Placement.massively_parallel`.
    reads_edges_from : tuple of str
        Other kinds of memory (``"host"``, ``"disk"``), besides its own, from which it can read edges.
    keeps_pairs : bool
        Whether two fields of which one goes along with the other share words; see :mod:`frontier.program.pairs`.
    takes_order : bool
        Whether it takes loops with an order as they are; if not, they are expanded to steps for it.
    divides : bool
        See :attr:`frontier.Placement.divides`.

    Examples
    --------
    A backend that counts runs, which the python backend carries out:

    >>> from frontier.backends import Backend, register_backend
    >>> class Counting(Backend):
    ...     name, interprets, runs = "counting", True, 0
    ...     def start(self, step, p, f, schedule):
    ...         self.runs += 1
    ...         return fr.Placement.parse("python").backend.start(step, p, f, schedule)
    >>> counting = register_backend(Counting())
    >>> g = fr.path(4).to("counting")
    >>> fr.bfs(g, 0).level.tolist(), counting.runs
    ([0, 1, 2, 3], 1)
    """

    name: str
    interprets: bool = False
    massively_parallel: bool = False
    reads_edges_from: tuple[str, ...] = ()
    keeps_pairs: bool = False
    takes_order: bool = False
    divides: bool = False

    @abstractmethod
    def start(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> Execution:
        """Begin to run a step on a problem.

        Parameters
        ----------
        step : Step
            Has been checked against the problem.
        p : Problem
        f : Frontier or None
            The current frontier, of the problem's graph; None if the step has its own.
        schedule : ResolvedSchedule
            Used for choices that the steps leave open. It must not change a result.

        Returns
        -------
        Execution
            Has not run anything yet. Running it changes nothing but the problem.
        """

    def program(self, step: Step, p: Problem, given: str | None, schedule: ResolvedSchedule) -> Builder:
        """Lower a step, without running or compiling it: what :meth:`frontier.Enactor.explain` shows.

        Parameters
        ----------
        step : Step
        p : Problem
            Its graph may lie elsewhere.
        given : {"vertex", "edge"} or None
            The kind of the current frontier; None if the step has its own.
        schedule : ResolvedSchedule

        Raises
        ------
        FrontierError
            If the backend does not lower steps to programs.
        """
        raise FrontierError(f"the {self.name} backend has no programs to show; try explain(backend='cpu')")

    def placement(self, part: str = "") -> Placement:
        """Return the placement ``"name"`` or, with a part, ``"name:part"``.

        Raises
        ------
        BackendUnavailableError
            If it cannot be used on this machine; the message says what is missing.
        GraphError
            If there is no such part.
        """
        if part:
            raise unknown(f"{self.name}:{part}")
        return placed(self, HOST)

    def placement_of(self, local: int) -> Placement:
        """Return the placement for one of several processes of this host, by its number: they take turns at devices."""
        return self.placement()

    def residing(self, graph: Graph, placement: Placement, edges: str | None, memory: int | str | None) -> Placement:
        """Return the placement of a graph whose edges are to lie in another memory: what ``Graph.to`` is asked for.

        Raises
        ------
        GraphError
            If the backend cannot read edges from there.
        """
        own = placement.memory.residence
        if edges == own and memory is None:
            return placed(self, placement.memory)
        if edges == DISK.residence and edges in self.reads_edges_from and memory is None:
            return placed(self, placement.memory, DISK)
        what = f"edges={edges!r}" if memory is None else f"memory={memory!r}"
        known = " and ".join((own, *self.reads_edges_from))
        raise GraphError(f"{what} is not possible on {placement.name!r}, which reads edges from {known} memory only")

    def device(self, placement: Placement) -> str:
        """Return what identifies the device that computes, among those of all hosts; empty if processes share it."""
        return ""

    def missing(self) -> str:
        """Return what is missing to use it on this machine, and how to get it; empty if nothing is."""
        return ""

    def describe(self, placement: Placement) -> str:
        """Describe in words what computes: the name of a GPU, the number of threads. May be empty."""
        return ""

    def speaks(self) -> bool:
        """Whether this process prints what the command line prints: one of several that all have the same."""
        return True

    def processes(self) -> int:
        """Return how many processes run each program together."""
        return 1

    def alike(self, graph: Graph) -> Graph:
        """Return a graph, which all processes that run each program together must have; they ask together."""
        return graph

    def field_store(self, g: Graph) -> FieldStore:
        """Return what makes the arrays of a problem's fields, and says what users see of them."""
        return FieldStore()

    def build(self, shares: Shares, placement: Placement, **options: Any) -> Graph:
        """Build a graph of which each process has a part, where :attr:`divides`; options as of ``fr.from_edges``."""
        raise FrontierError(f"the {self.name} backend does not divide graphs")

    def telling(self) -> AbstractContextManager[None]:
        """Within it, a process prepares to build a graph; what goes wrong is raised by all that build it together."""
        return nullcontext()

    def parts_for(self, num_slots: int, edges: Memory | None = None) -> tuple[Memory, ...]:
        """Return the memories over which it spreads so many edge slots; none: they are in one piece.

        ``edges`` is the memory where they are to lie, if it is another one than that of a graph's other arrays.
        """
        return ()

    def spread(self, graph: Graph, placement: Placement) -> Graph:
        """Return a copy of a graph whose edges are spread over the memories that :meth:`parts_for` returns."""
        raise FrontierError(f"the {self.name} backend does not spread edges over several memories")

    def may_pull(self, g: Graph) -> bool:
        """Whether a search on a graph with ``direction="auto"`` may pull, for which it needs in-edges."""
        return g.num_slots >= SMALL

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


def register_backend(backend: Backend) -> Backend:
    """Register a backend for ``g.to`` and the command line; it replaces an earlier one of the same name.

    Raises
    ------
    GraphError
        If its name is not an identifier, or is that of a shipped backend.
    """
    name = getattr(backend, "name", None)
    if not isinstance(name, str) or not name.isidentifier() or name in (*SHIPPED, "auto"):
        raise GraphError(f"a backend cannot be called {name!r}: it takes an identifier that is no shipped backend's")
    BACKENDS[name] = backend
    return backend
