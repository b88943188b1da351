"""What a backend is, and which there are: ``cpu``, ``cuda``, ``python``, and those that users register.

A backend runs steps (usually a loop) on problems. All else asks it: where its graphs lie, whether it is there, what
programs may know of it. A backend that compiles builds its :class:`~frontier.program.execution.Execution` on
:class:`frontier.backends.run.LoopExecution`, which has the workspace and the table of a run, and lowers steps with a
:class:`frontier.lowering.builder.Builder` of its own; the phases of the operators for it are in ``operators/``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from frontier.errors import FrontierError, GraphError
from frontier.lowering.registers import SMALL
from frontier.memory.host import HOST
from frontier.memory.placement import BACKENDS, SHIPPED, Placement, backend_names, placed, unknown

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.lowering.loops import Program
    from frontier.program.execution import Execution
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["Backend", "backend_names", "register_backend"]


class Backend(ABC):
    """Who computes: runs steps on problems, and says where the arrays of its graphs lie.

    A subclass sets ``name`` and overrides :meth:`start`; the rest suits backends on the processor. One that computes
    elsewhere overrides :meth:`placement` too. :func:`register_backend` makes it known.

    Attributes
    ----------
    name : str
        By which ``g.to(name)`` finds it; an identifier.
    interprets : bool
        Whether functors are called as the Python functions that they are. Then they may print and stop at breakpoints.
    massively_parallel : bool
        See :attr:`frontier.Placement.massively_parallel`.
    reads_edges_from : tuple of str
        The kinds of memory (``"host"``, ``"disk"``), beside that in which its arrays lie, from which it reads edges.
    """

    name: str
    interprets: bool = False
    massively_parallel: bool = False
    reads_edges_from: tuple[str, ...] = ()

    @abstractmethod
    def start(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> Execution:
        """Begin to run a step on a problem.

        Parameters
        ----------
        step : Step
            Checked; it suits the problem.
        p : Problem
        f : Frontier or None
            The current frontier, of the problem's graph; None where the step has its own.
        schedule : ResolvedSchedule
            What holds where a step does not say otherwise. It must not change a result.

        Returns
        -------
        Execution
            Nothing has run yet, and what it changes is in the problem alone.
        """

    def program(self, step: Step, p: Problem, given: str | None, schedule: ResolvedSchedule) -> Program:
        """Lower a step, without running or compiling it: what :meth:`frontier.Enactor.explain` shows.

        Parameters
        ----------
        step : Step
        p : Problem
            Its graph may lie elsewhere.
        given : {"vertex", "edge"} or None
            The kind of the current frontier; None where the step has its own.
        schedule : ResolvedSchedule

        Raises
        ------
        FrontierError
            It makes no programs.
        """
        raise FrontierError(f"the {self.name} backend makes no programs to show: explain(backend='cpu') shows cpu's")

    def placement(self, part: str = "") -> Placement:
        """Give the placement of ``"name"`` or, with a part, of ``"name:part"``.

        Raises
        ------
        BackendUnavailableError
            It is not there; the message says what is missing.
        GraphError
            There is no such part.
        """
        if part:
            raise unknown(f"{self.name}:{part}")
        return placed(self, HOST)

    def missing(self) -> str:
        """Say what it lacks here, and how to get it; empty if nothing."""
        return ""

    def describe(self, placement: Placement) -> str:
        """Say in words who computes: the name of a GPU, the number of threads. Empty if there is nothing to say."""
        return ""

    def may_pull(self, g: Graph) -> bool:
        """Whether a search on a graph with ``direction="auto"`` may pull, for which it needs in-edges."""
        return g.num_slots >= SMALL

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


def register_backend(backend: Backend) -> Backend:
    """Make a backend known to ``g.to`` and the command line; a later one of the same name replaces it.

    Raises
    ------
    GraphError
        Its name is not one, or that of a shipped backend.
    """
    name = getattr(backend, "name", None)
    if not isinstance(name, str) or not name.isidentifier() or name in (*SHIPPED, "auto"):
        raise GraphError(f"a backend cannot be called {name!r}: it takes an identifier that is no shipped backend's")
    BACKENDS[name] = backend
    return backend
