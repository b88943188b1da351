"""The host's walk of one member through a program whose steps are divided among the members of a group.

Members are parts, of which a process has one or several, or the GPUs of a process. Each has a copy of the problem, and
a backend that runs steps on it. Loops, conditions and scalars are the same for all, so that all decide alike. A step
that may be divided runs on each member's own elements; then members exchange what it has changed (``divided_step``).
Other steps (Scan, counts) are run by every member as a whole, with all that they touch.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier import tracing
from frontier.backends.python.hosted import alone
from frontier.backends.python.interpreter import Context
from frontier.distributed.partition.cuts import of_ranks
from frontier.distributed.partition.partition import partition
from frontier.distributed.ranks.access import changed, touched
from frontier.distributed.ranks.divided_step import Exchange
from frontier.distributed.ranks.grid import Grid
from frontier.distributed.ranks.grid_steps import block_of, in_block
from frontier.distributed.ranks.halo_updates import HaloUpdates
from frontier.distributed.ranks.local_frontier import LocalFrontier
from frontier.distributed.ranks.local_problem import in_parts, part_for, push_only
from frontier.distributed.ranks.pulls import may_pull, problem_to_pull, pulls
from frontier.distributed.ranks.scans import accumulated
from frontier.distributed.transport.rounds import common
from frontier.errors import FrontierError, FunctorError
from frontier.functors.functor import location
from frontier.memory.host import HOST
from frontier.program.effects import effects
from frontier.program.frontiers import Frontier
from frontier.program.step import captures_of, walk
from frontier.system.forks import renewed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from frontier.distributed.ranks.step_problem import StepProblem
    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.graph import Graph
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Functor, Operator, Step

__all__ = ["Walk", "starts_of"]

#: Members that are threads begin steps one after another: the first may compile what all run.
_beginning = renewed(threading.Lock())


class Walk(Context):
    """One part's walk through a program: the group's member in this thread or process."""

    def __init__(
        self, program: Step, placed: StepProblem, schedule: ResolvedSchedule, comm: Communicator, rows: int
    ) -> None:
        self._given, self._placed = schedule, placed
        self._comm, self._backend = comm, placed.placement.backend
        super().__init__(placed.problem, push_only(schedule))
        p = placed.host
        self._starts = starts_of(p.graph, comm.size)
        self._grid = Grid(rows, comm.size // rows, comm.rank) if rows > 1 else None
        halo = HaloUpdates(placed, comm, self._backend.interprets) if in_parts(p) else None
        edges = placed.placement.edges
        pushes = self._backend.interprets or (edges is not None and edges.residence == "disk")  # always
        #: Steps that may pull; looked for once, since it takes longer than many a pass.
        self._turning = set() if pushes else {each for each in walk(program) if may_pull(each, p, schedule)}
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

    def _one(self, step: Operator, f: Any) -> Any:
        if step.divides and isinstance(f, Frontier):
            return self._divided(step, f)
        if all(place == "scalars" for _, place in step.functors()):
            return step.interpret(self, f)  # it sets scalars, or exchanges fields
        return self._whole(step, f)

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
            after = self._run_inner(step, None if isinstance(f, int) else whole[0] if portions else f)
            if self._backend.massively_parallel:
                self.exchange.as_first(changed(step, self.problem))
        return after

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
        p, total, begun = self.problem if p is None else p, self.total, time.perf_counter()
        if f is not None:
            step = alone(step, "pull" if pull else "push")
        captures_of(step)  # which backends that compile expect to be known
        with tracing.acting_as(self._comm.rank, self.passes) if tracing.active() else nullcontext():
            with _beginning:
                run: Any = self._backend.start(step, p, f, self.schedule)
            ready = time.perf_counter()
            while not run.done:
                run.proceed()
        total.preparing += ready - begun
        total.computing += time.perf_counter() - ready
        total.read += getattr(run, "read", 0)
        return run.frontier

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


def starts_of(g: Graph, parts: int) -> NDArray[np.int64]:
    """First vertex of every part, and the number of vertices."""
    spread = g._topology.spread
    if spread is not None and len(spread.memories) == parts:
        return spread.starts
    starts: NDArray[np.int64] = g.cached(f"starts of {parts} parts", lambda: of_ranks(partition(g, parts).starts))
    return starts
