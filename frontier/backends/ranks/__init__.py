"""The ranks backend: one program on several processes, or on several parts of one, which share the work of each step.

``communicators`` is how parts talk (MPI, or threads for tests), ``rounds`` is what they say each time, ``messages`` in
which form. ``execution`` walks through a program, ``dividing`` runs a step on one part and exchanges what it did.
``writes`` says which fields a step writes and what merges them, ``ends`` where it touches them, ``exchange`` finds
changes and merges them, ``mirrors`` knows what only owners know, ``portion`` is a part's share of a frontier. ``group``
runs several parts in one process. Of graphs in parts, ``needs`` says what a step looks at of other ranks' edges,
``ghosts`` fetches that, and ``borrowing`` keeps it current; ``accumulating`` runs scans.

Every part holds the whole graph and all fields; what is divided is the work. ``g.to("ranks")`` uses the processes that
mpirun has started, ``g.to("ranks:3")`` three parts of this process.
"""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from frontier.backends.base import Backend
from frontier.errors import BackendUnavailableError
from frontier.memory.host import HOST
from frontier.memory.placement import Placement, backend_named, placed, unknown

if TYPE_CHECKING:
    from frontier.backends.ranks.communicators import Communicator
    from frontier.graph.graph import Graph
    from frontier.graph.shares import Shares
    from frontier.lowering.loops import Program
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["BACKEND", "RanksBackend"]


class RanksBackend(Backend):
    """Divides the steps of a program among parts, each of which another backend runs.

    Parameters
    ----------
    parts : int
        Parts of this process; 0: the processes that mpirun has started.
    inner : str
        The backend that runs a part, ``"cpu"`` by default.
    """

    keeps_pairs = True
    divides = True

    def __init__(self, parts: int = 0, inner: str = "") -> None:
        self.parts, self.inner = parts, inner or "cpu"
        self.name = "ranks" + (f":{parts}" if parts else "") + (f",{inner}" if inner else "")

    def start(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> Any:
        """Begin to run a step."""
        from frontier.backends.ranks.communicators import Threads, world
        from frontier.backends.ranks.execution import Part
        from frontier.backends.ranks.group import Group

        if self.parts:
            return Group(step, p, f, schedule, Threads(self.parts).members, self.inner)
        return Part.agreed(step, p, f, schedule, world(), self.inner)

    def build(self, shares: Shares, placement: Placement, **options: Any) -> Graph:
        """Build a graph in parts; all ranks call this together."""
        from frontier.backends.ranks.communicators import Threads, world
        from frontier.backends.ranks.parts import divided_graph

        if not self.parts:
            return divided_graph(shares, [world()], placement, **options)
        shares = replace(shares, alone=False)  # there is one process, which gives all
        return divided_graph(shares, Threads(self.parts).members, placement, **options)

    def communicator(self) -> Communicator:
        """Return how this process talks to the others that run the same program."""
        from frontier.backends.ranks.communicators import Threads, world

        return Threads(1).members[0] if self.parts else world()

    def program(self, step: Step, p: Problem, given: str | None, schedule: ResolvedSchedule) -> Program:
        """Lower a step as the cpu backend does: here each step of it is a program of its own."""
        made: Program = backend_named("cpu").program(step, p, given, schedule)
        return made

    def placement(self, part: str = "") -> Placement:
        """Return the placement on the processes of mpirun, or, with a number, on parts of this process."""
        number, _, inner = part.partition(",")
        if part and (not number.isdecimal() or not int(number) or (inner and not _runs_parts(inner))):
            raise unknown(f"ranks:{part}")
        if not part:
            problem = self.missing()
            if problem:
                raise BackendUnavailableError(f"the backend 'ranks' cannot be used: {problem}")
            from frontier.backends.ranks.communicators import world

            world()
        return placed(_backend(int(number or 0), inner), HOST)

    def missing(self) -> str:
        """Return what is missing to use it on this machine."""
        if importlib.util.find_spec("mpi4py") is None:
            return "mpi4py is not installed: pip install mpi4py mpich"
        return ""

    def describe(self, placement: Placement) -> str:
        """Say how many parts there are."""
        from frontier.backends.ranks.communicators import world

        if self.parts:
            return f"{self.parts} parts of this process"
        return f"{world().size} processes, rank {world().rank}"

    def speaks(self) -> bool:
        """Whether this is rank 0."""
        from frontier.backends.ranks.communicators import world

        return self.parts > 0 or world().rank == 0

    def processes(self) -> int:
        """Return how many processes mpirun has started."""
        from frontier.backends.ranks.communicators import world

        return 1 if self.parts else world().size


BACKEND = RanksBackend()


def _runs_parts(name: str) -> bool:
    backend = backend_named(name)
    return not (backend.massively_parallel or backend.divides)


@cache
def _backend(parts: int, inner: str) -> RanksBackend:
    return RanksBackend(parts, inner) if parts else BACKEND
