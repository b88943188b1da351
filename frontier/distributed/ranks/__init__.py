"""The ranks backend: one program on several processes, or on several parts of one, which share the work of each step.

A run: ``execution`` is that of one part, ``agreement`` what all must begin with, ``walk`` goes through the program, and
``plans`` is what is known of its steps. ``divided_step`` runs a step on one part: ``write_set`` says which fields it
writes and how changes merge, ``access`` at whose elements, ``changes`` finds what it has changed, and
:mod:`frontier.distributed.merge` merges that. ``pulls``, ``scans`` and ``partial_reductions`` are steps that need more.
``local_frontier`` is a part's share of a frontier, ``mirrors`` are elements that only their owners know, ``readers``
says which parts read what, and ``selective_mirrors`` tells these alone. ``group`` runs several parts in one process, as
threads, or on a GPU each.

Memory: ``local_backend`` finds the backend and the device that run a part, ``step_problem`` holds its problem there,
with ``graph_copies``; ``local_problem`` is that of a graph in parts. Programs see ``fields`` and ``edge_fields`` as
arrays in parts, and ``visible_fields`` knows which of them ranks have as a whole; ``field_storage`` says where values
lie, and ``deferred_fields`` are those that kernels have left on GPUs, which may reach each other's ``mapped_memory``.

Graphs in parts (``graphs``): ``building`` brings edges to the ``local_rows`` of a rank by ``row_filling`` and, if they
are many, ``row_kernels``; ``degree_counts``, ``in_edges`` and ``symmetry`` are derived from them. ``remote_reads`` says
what a step looks at of other ranks' edges, ``halo`` fetches that, and ``halo_updates`` keeps it current. Where parts
lie in a ``grid``, ``grid_steps`` run on ``block_graphs``.

Every part holds the whole graph unless that has been made in parts, and all fields of vertices but long ones that a
program touches at a rank's own elements alone; what is divided is the work. ``g.to("ranks")`` uses the processes that
mpirun or torchrun has started, ``g.to("ranks:3")`` three parts of this process, and ``g.to("ranks:6,2d")`` six parts in
a grid.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from frontier.backends.base import Backend
from frontier.distributed.ranks.grid import is_shape, rows_of
from frontier.errors import BackendUnavailableError, FrontierError
from frontier.memory.host import HOST
from frontier.memory.placement import Placement, backend_named, placed, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.graph import Graph
    from frontier.graph.shares import Shares
    from frontier.lowering.builder import Builder
    from frontier.program.field_store import FieldStore
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
        Parts of this process; 0: the processes that mpirun or torchrun has started.
    inner : str
        The backend that runs a part. By default parts of a process have ``"cpu"``, and processes the first backend
        of which each has a device of its own; else ``"cpu"``, too.
    shape : str
        Of the grid in which the parts lie: ``"2d"``, or rows and columns as in ``"2x3"``; empty: in one row.
    """

    keeps_pairs = True
    divides = True

    def __init__(self, parts: int = 0, inner: str = "", shape: str = "") -> None:
        self.parts, self.inner, self.shape = parts, inner, shape
        self.name = "ranks" + (f":{parts}" if parts else "") + "".join(f",{each}" for each in (shape, inner) if each)

    def start(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> Any:
        """Begin to run a step."""
        from frontier.distributed.ranks.execution import Part
        from frontier.distributed.ranks.group import Group
        from frontier.distributed.ranks.local_backend import inner_for
        from frontier.distributed.transport.communicators import world
        from frontier.distributed.transport.threads import Threads

        if self.parts:
            members = Threads(self.parts).members
            inner = inner_for(self.inner, members[0], step, schedule)
            return Group.of(step, p, f, schedule, members, inner, rows_of(self.shape, self.parts))
        inner = inner_for(self.inner, world(), step, schedule)
        return Part.agreed(step, p, f, schedule, world(), inner, rows_of(self.shape, world().size))

    def field_store(self, g: Graph) -> FieldStore:
        """Return the store of one problem: with arrays in parts, unless this process has all parts."""
        from frontier.distributed.ranks.edge_fields import PartFields
        from frontier.distributed.ranks.visible_fields import VisibleFields

        return PartFields() if self.parts else VisibleFields()

    def alike(self, graph: Graph) -> Graph:
        """Return a graph; if ranks have not the same, all raise GraphError."""
        from frontier.distributed.ranks.agreement import check_graph
        from frontier.distributed.transport.communicators import world

        if not self.parts:
            check_graph(graph, world())
        return graph

    def build(self, shares: Shares, placement: Placement, **options: Any) -> Graph:
        """Build a graph in parts; all ranks call this together."""
        from frontier.distributed.ranks.graphs import divided_graph
        from frontier.distributed.transport.communicators import world
        from frontier.distributed.transport.threads import Threads

        if not self.parts:
            return divided_graph(shares, [world()], placement, **options)
        shares = replace(shares, alone=False)  # there is one process, which gives all
        return divided_graph(shares, Threads(self.parts).members, placement, **options)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Within it, a rank prepares to build a graph; what goes wrong is raised by all, which meet to build it."""
        from frontier.distributed.ranks.building import agree
        from frontier.distributed.transport.communicators import world

        failed: Exception
        try:
            yield
            return
        except (FrontierError, OSError) as error:
            if self.parts or hasattr(error, "of_all_ranks"):
                raise
            failed = error
        agree(world(), failed)  # which raises it, or that of an earlier rank

    def communicator(self) -> Communicator:
        """Return how this process talks to the others that run the same program."""
        from frontier.distributed.transport.communicators import world
        from frontier.distributed.transport.threads import Threads

        return Threads(1).members[0] if self.parts else world()

    def program(self, step: Step, p: Problem, given: str | None, schedule: ResolvedSchedule) -> Builder:
        """Lower a step as the cpu backend does: here each step of it is a program of its own."""
        made: Builder = backend_named("cpu").program(step, p, given, schedule)
        return made

    def placement(self, part: str = "") -> Placement:
        """Return the placement on the processes of mpirun, or on parts of this process.

        ``part`` is the number of these parts, none for processes, and after commas, as there is need: the shape of a
        grid, and the backend that runs a part.
        """
        number, *options = part.split(",")
        shapes = [each for each in options if is_shape(each)]
        others = [each for each in options if not is_shape(each)]
        known = not number or (number.isdecimal() and int(number) > 0)
        if not known or len(shapes) > 1 or len(others) > 1 or not all(map(_runs_parts, others)):
            raise unknown(f"ranks:{part}" if number else f"ranks{part}")
        if not number:
            problem = self.missing()
            if problem:
                raise BackendUnavailableError(f"the backend 'ranks' cannot be used: {problem}")
        made = _backend(int(number or 0), "".join(others), "".join(shapes))
        made._inner()  # so that all processes know it, and what is missing is said here
        rows_of(made.shape, made.parts or made.processes())
        return placed(made, HOST)

    def missing(self) -> str:
        """Return what is missing to use it on this machine."""
        from frontier.distributed.transport.communicators import given
        from frontier.distributed.transport.table import transport

        return "" if given() else transport().missing()

    def describe(self, placement: Placement) -> str:
        """Say how many parts there are."""
        from frontier.distributed.transport.communicators import world

        rows, inner = rows_of(self.shape, self.parts or world().size), self._inner()
        grid, device = f" in {rows} rows" if rows > 1 else "", inner.backend.describe(inner)
        on = f", on {inner}: {device}" if inner.massively_parallel else ""
        if self.parts:
            return f"{self.parts} parts of this process{grid}{on}"
        if world().size == 1:
            return f"1 process, as no others were started{on}"
        return f"{world().size} processes{grid}, rank {world().rank}{on}"

    def _inner(self) -> Placement:
        """Where the parts of this process are run; the first time all processes ask together."""
        from frontier.distributed.ranks.local_backend import inner_of

        return inner_of(self.inner, self.communicator())

    def speaks(self) -> bool:
        """Whether this is rank 0."""
        from frontier.distributed.transport.communicators import world

        return self.parts > 0 or world().rank == 0

    def processes(self) -> int:
        """Return how many processes mpirun has started."""
        from frontier.distributed.transport.communicators import world

        return 1 if self.parts else world().size


BACKEND = RanksBackend()


def _runs_parts(name: str) -> bool:
    return not backend_named(name).divides


@cache
def _backend(parts: int, inner: str, shape: str) -> RanksBackend:
    return RanksBackend(parts, inner, shape) if parts or inner or shape else BACKEND
