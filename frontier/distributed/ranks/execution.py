"""One part's run of a program: the host's walk of one member (:mod:`frontier.distributed.walk`).

A step that may be divided runs on the part's own elements, compiled by another backend; then the parts exchange what it
has changed (``divided_step``). Other steps (Set, Take, Scan, counts) are run by every part as a whole, with all that
they touch.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier import tracing
from frontier.backends.python.hosted import alone
from frontier.backends.python.interpreter import Interpretation
from frontier.backends.run.interrupts import deferred
from frontier.distributed.partition.cuts import of_ranks
from frontier.distributed.partition.partition import partition
from frontier.distributed.ranks.access import touched
from frontier.distributed.ranks.agreement import check_alike, check_values, description, way
from frontier.distributed.ranks.divided_step import Exchange
from frontier.distributed.ranks.field_storage import visible
from frontier.distributed.ranks.grid import Grid
from frontier.distributed.ranks.grid_steps import block_of, in_block
from frontier.distributed.ranks.halo_updates import HaloUpdates
from frontier.distributed.ranks.local_frontier import LocalFrontier
from frontier.distributed.ranks.local_problem import in_parts, own_part, part_for, push_only
from frontier.distributed.ranks.mapped_memory import make_room
from frontier.distributed.ranks.pulls import may_pull, problem_to_pull, pulls
from frontier.distributed.ranks.scans import accumulated
from frontier.distributed.ranks.step_problem import StepProblem
from frontier.distributed.ranks.write_set import check_writes
from frontier.distributed.transport.device_arrays import in_kernels
from frontier.distributed.transport.messages import NOTHING
from frontier.distributed.transport.rounds import Note, common, met
from frontier.distributed.walk import DividedWalk, MemberRun
from frontier.errors import DeviceMemoryError, FrontierError, FunctorError, NotConvergedError
from frontier.functors.functor import location
from frontier.memory.host import HOST
from frontier.memory.placement import backend_named
from frontier.program.effects import effects
from frontier.program.frontiers import Frontier
from frontier.program.step import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.graph import Graph
    from frontier.memory.placement import Placement
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Functor, Operator, Step

__all__ = ["Part", "placed"]


class _Walk(DividedWalk):
    """One part's walk through a program: the group's member in this thread or process."""

    def __init__(
        self, program: Step, placed: StepProblem, schedule: ResolvedSchedule, comm: Communicator, rows: int
    ) -> None:
        self._given, self._placed = schedule, placed
        self._comm, self._backend = comm, placed.placement.backend
        super().__init__(placed.problem, push_only(schedule))
        p = placed.host
        self._starts = _starts(p.graph, comm.size)
        self._grid = Grid(rows, comm.size // rows, comm.rank) if rows > 1 else None
        halo = HaloUpdates(placed, comm, self._backend.interprets) if in_parts(p) else None
        steps = () if self._backend.interprets else walk(program)
        #: Steps that may pull; looked for once, since it takes longer than many a pass.
        self._turning = {each for each in steps if may_pull(each, p, schedule)}
        self.exchange = Exchange(program, placed, comm, self._starts, self._turning, halo, self._grid)
        #: Where the time of this run goes.
        self.total = tracing.RankTotal(comm.rank)
        self._touched: dict[Any, frozenset[str]] = {}
        #: As traces name what parts tell each other.
        self._name = "ranks" if p.graph.placement.memory is HOST else "cuda"

    def _plain_lists(self) -> Any:
        return super()._plain_lists() if self._backend.interprets else None  # else the host looks at no edges

    def refresh(self) -> None:
        """Look at the fields anew, after two were exchanged."""
        self._view = self._placed.view()

    def functor(self, fn: Functor, names: tuple[str, ...]) -> Callable[[dict[str, Any]], Any]:
        """The functor as a function of its arguments; one of no elements is called by all, and reads whole fields."""
        if not names:
            if fn not in self._touched:
                made = effects(fn)
                self._touched[fn] = frozenset(made.fields if made.exact else self.problem.arrays)
            with self._exchanging():
                self.exchange.mirrors.complete(self._touched[fn])
        return super().functor(fn, names)

    def _whole(self, step: Operator, f: Any) -> Any:
        """Every part does the same; or scans its own elements, where the graph is in parts."""
        if step.accumulates and isinstance(f, Frontier) and in_parts(self.problem):
            with self._exchanging(f):
                return accumulated(step, self.problem, f, self.exchange, self._run_inner, self._backend.interprets)
        if step not in self._touched:
            self._touched[step] = touched(step, self.problem)
        if self.exchange.halo is not None:
            self.exchange.halo.changed(self._touched[step])
        portions = [f] if isinstance(f, LocalFrontier) else []
        with self._exchanging():
            whole = self.exchange.mirrors.complete(self._touched[step], portions)
        return self._run_inner(step, None if isinstance(f, int) else whole[0] if portions else f)

    def _divided(self, step: Operator, f: Frontier) -> Frontier:
        p, placed = self.problem, self._placed
        if self.exchange.plans.in_blocks(step):
            return self._in_blocks(step, f)
        made = part_for(step, placed.host, self._comm, self._backend.interprets) if in_parts(p) else placed.host
        with self._exchanging(f) as sizes:
            mirrors = self.exchange.mirrors
            pull = step in self._turning and pulls(step, p, f, self._given, self._comm, mirrors)
            on = problem_to_pull(step, placed, self._comm, mirrors) if pull else placed.on(made)
            next_ = self.exchange.run(
                step, f, on.graph, lambda mine: self._run_inner(step, mine, on, pull), self._combining, pull
            )
            sizes.append(len(next_))
        return next_

    def _in_blocks(self, step: Operator, f: Frontier) -> Frontier:
        assert self._grid is not None
        made = block_of(self._placed.host, step, self._grid, self._starts, self._comm, self._backend.interprets)
        block = self._placed.on(made)
        with self._exchanging(f) as sizes:
            next_ = self.exchange.run(
                step, f, block.graph, lambda mine: self._run_inner(in_block(step), mine, block), self._combining
            )
            sizes.append(len(next_))
        return next_

    @contextmanager
    def _exchanging(self, f: Frontier | None = None, row: str = "exchange") -> Iterator[list[int]]:
        """Within it parts may tell each other something: it is counted what that takes, besides running the step."""
        comm, rounds, total = self._comm, self.exchange.rounds, self.total
        begun, number, sent, waited = time.perf_counter(), rounds.number, comm.sent, rounds.waited
        ran = total.preparing + total.computing
        sizes = [-1 if f is None else len(f)]
        yield sizes
        if rounds.number == number:
            return
        seconds = time.perf_counter() - begun - (total.preparing + total.computing - ran)
        sent, waited = comm.sent - sent, rounds.waited - waited
        total.exchanges += 1
        total.merging += seconds - waited
        total.waiting += waited
        total.sent += sent
        if tracing.active():
            tracing.add(
                backend=self._name, step=row, number=self.passes, seconds=seconds, size_in=sizes[0],
                size_out=sizes[-1], rank=comm.rank, sent=sent, waited=waited,
            )  # fmt: skip

    def _record(self, name: str, f: Frontier | None) -> None:
        """As the interpreter; a part sees only its own elements occur twice, and tells the others."""
        try:
            super()._record(name, f)
        except FrontierError as error:
            self.exchange.rounds.error = error

    def _combining(self, fn: Any) -> Any:
        """A user's reduction, as functors are called; where parts are compiled, its errors are as of compiled code."""
        call = self.plain(fn)
        if self._backend.interprets:
            return call

        def combine(total: Any, value: Any) -> Any:
            try:
                return call(total, value)
            except FrontierError:
                raise
            except Exception as error:  # whatever a user's function raises; all parts have the same
                kind = type(error).__name__
                raise common(FunctorError(f"{location(fn)} raised {kind}, of {total} and {value}")) from error

        return combine

    def _run_inner(self, step: Step, f: Frontier | None, p: Problem | None = None, pull: bool = False) -> Any:
        """Run one step on this part's elements, compiled."""
        p, acting = self.problem if p is None else p, (self._comm.rank, self.passes)
        if f is not None:
            step = alone(step, "pull" if pull else "push")
        run = MemberRun(self._backend, step, p, f, self.schedule, acting)
        made = run.finish()
        self.total.preparing += run.preparing
        self.total.computing += run.computing
        self.total.read += getattr(run.execution, "read", 0)
        return made

    def finish(self, f: Frontier | None) -> Frontier | None:
        """Let all parts have the piles, the frontier, and the fields that do not stay in parts."""
        piles = self.problem.piles
        names = [name for name, pile in piles.items() if isinstance(pile, LocalFrontier)]
        portions = [each for each in (f, *map(piles.get, names)) if isinstance(each, LocalFrontier)]
        with self._exchanging(row="result"):
            mirrors = self.exchange.mirrors
            whole = mirrors.complete(mirrors.results(), portions)
        mirrors.leave()
        if isinstance(f, LocalFrontier):
            f = whole.pop(0)
        piles.update(zip(names, whole, strict=True))
        if self.exchange.halo is not None:  # the host may change fields of edges before it goes on
            self.exchange.halo.changed(self.problem.arrays)
        return f


def _starts(g: Graph, parts: int) -> NDArray[np.int64]:
    """First vertex of every part, and the number of vertices."""
    spread = g._topology.spread
    if spread is not None and len(spread.memories) == parts:
        return spread.starts
    starts: NDArray[np.int64] = g.cached(f"starts of {parts} parts", lambda: of_ranks(partition(g, parts).starts))
    return starts


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
            self._walk = _Walk(step, placed, schedule, comm, rows)
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
