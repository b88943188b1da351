"""One part's run of a program: how parts begin it together, and where it stops (``walk`` is what it does)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier import tracing
from frontier.backends.python.interpreter import Interpretation
from frontier.backends.run.interrupts import deferred
from frontier.distributed.ranks.agreement import check_alike, check_values, description, way
from frontier.distributed.ranks.field_storage import visible
from frontier.distributed.ranks.local_problem import own_part
from frontier.distributed.ranks.mapped_memory import make_room
from frontier.distributed.ranks.step_problem import StepProblem
from frontier.distributed.ranks.walk import Walk
from frontier.distributed.ranks.write_set import check_writes
from frontier.distributed.transport.device_arrays import in_kernels
from frontier.distributed.transport.messages import NOTHING
from frontier.distributed.transport.rounds import Note, common, met
from frontier.errors import DeviceMemoryError, FrontierError, FunctorError, NotConvergedError
from frontier.memory.host import HOST
from frontier.memory.placement import backend_named

if TYPE_CHECKING:
    from frontier.distributed.transport.communicators import Communicator
    from frontier.memory.placement import Placement
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["Part", "placed"]


class Part(Interpretation):
    """The run of one part; the only one of its process under MPI."""

    def __init__(
        self, step: Step, placed: StepProblem, f: Frontier | None, schedule: ResolvedSchedule, comm: Communicator,
        traced: bool, rows: int = 1,
    ) -> None:  # fmt: skip
        p = placed.host
        check_writes(step, p)
        self.problem, self._comm, self._traced = p, comm, traced
        self.placed = placed
        with placed.using():
            self._walk = Walk(step, placed, schedule, comm, rows)
            #: Fields of which it uses other ranks' elements on the host, or brings them to a device.
            self._elsewhere = self._walk.exchange.plans.elsewhere() if placed.problem is p else list(p.arrays)
            f = placed.frontier(f)
        self._rounds, self._passes = -1, -1
        super().__init__(step, p, f, schedule, self._walk)

    @classmethod
    def agreed(
        cls, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, comm: Communicator,
        inner: Placement, rows: int = 1,
    ) -> Any:  # fmt: skip
        """The same, once all ranks have begun with the same graph, program and values.

        Where their GPUs reach each other's memory, it is a run whose kernels exchange by themselves, if there is one.
        """
        mine = description(step, p, f) | way(step, schedule, inner, rows)
        shown = visible(p)  # None if parts are threads of one process
        given_away, done = ([], {}) if shown is None else (shown.given_away(p), shown.done(p))
        told = met(comm, "begins a run", (tracing.active(), mine, given_away, done))
        comm.runs += 1
        check_alike([each for _, each, _, _ in told])
        if shown is not None:
            check_values(p, [each for *_, each in told], comm)
            shown.begin_run(comm.runs)
            shown.stay_whole(p, {name for _, _, names, _ in told for name in names})
        traced = {each for each, *_ in told}
        if inner.memory is not HOST and rows == 1 and in_kernels() and len(traced) == 1:
            devices: Any = backend_named("devices")
            one_kernel = devices.among(step, p, f, schedule, comm, inner)
            if one_kernel is not None:
                return one_kernel
        try:
            if inner.memory is not HOST:
                if shown is not None:
                    shown.settle(p)  # or the GPU has these fields twice
                _brought(own_part(step, p, comm), comm, inner)
            return cls(step, placed(step, p, comm, inner), f, schedule, comm, any(traced), rows)
        except FunctorError as error:  # what the check refuses, it refuses on all ranks
            raise common(error) from None

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes; how many were begun. Then all have what does not stay in parts."""
        shown = visible(self.problem)
        if shown is not None:  # the host may have changed fields
            shown.settle(self.problem)
            shown.write_rest(self.problem, self._elsewhere)
        with self.placed.using():
            self.placed.bring()
            self.placed.bring_piles()
            self._walk.exchange.mirrors.take_up()
            try:
                begun = super().proceed(passes)
            except BaseException as error:
                if isinstance(error, NotConvergedError):  # all parts count alike
                    common(error).result = self.problem
                if getattr(error, "of_all_ranks", False):
                    self._finish()
                raise
            self._finish()
        if self._walk.exchange.rounds.error is not None:  # nothing was exchanged since
            raise self._walk.exchange.rounds.error
        if self.done and self._traced:  # by some rank at least, as all know
            self._traced = False
            totals = self._comm.allgather(self._walk.total)
            if self._comm.rank == 0 or not self._comm.together:
                tracing.add_ranks(totals)
        return begun

    def _finish(self) -> None:
        """Let all parts have everything, where users see it."""
        self.frontier = self.placed.frontier_back(self._walk.finish(self.frontier))
        self.placed.bring_back()
        self.placed.bring_piles_back()

    def _look(self, pending: deferred) -> None:
        """Stop where all parts stop: one has told the others of Ctrl-C in an exchange."""
        walk, rounds = self._walk, self._walk.exchange.rounds
        rounds.pressed = pending
        if rounds.number == self._rounds and walk.passes != self._passes and not self.done:
            rounds.allgather(Note(), NOTHING)  # the pass has exchanged nothing
        self._rounds, self._passes = rounds.number, walk.passes
        if rounds.stop:
            rounds.stop = pending.pressed = False
            raise common(KeyboardInterrupt())


def placed(step: Step, p: Problem, comm: Communicator, inner: Placement) -> StepProblem:
    """A problem where a part's steps run, on what the part has of the graph.

    Raises
    ------
    FunctorError
        If a step needs edges that other ranks have.
    """
    return StepProblem.of(own_part(step, p, comm), inner)


def _brought(p: Problem, comm: Communicator, inner: Placement) -> None:
    """Bring the problem to where its steps run; if that has no room for one rank's, all raise its error."""
    told = comm.allgather(_lacking(p, inner))
    if any(isinstance(each, DeviceMemoryError) for each in told):
        make_room(comm, inner.memory)
        told = comm.allgather(_lacking(p, inner))
    for rank, each in enumerate(told):
        if each is not None:
            each.add_note(f"(rank {rank} of {comm.size})")
            raise common(each)


def _lacking(p: Problem, inner: Placement) -> FrontierError | None:
    """Why the problem cannot be brought to where its steps run."""
    try:
        StepProblem.of(p, inner)
    except FrontierError as error:
        return error.with_traceback(None)  # which holds what was made
    return None
