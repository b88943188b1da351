"""A run on ranks of one host whose GPUs reach each other's memory: one kernel on the GPU of every rank.

It is the kernel of several GPUs of one process (:mod:`frontier.distributed.devices.fused`), and every process launches
its own. Processes talk before a run, where kernels return, and at the end; kernels exchange by themselves what steps
have changed. What of fields comes to the GPU, and stays there, is in :mod:`frontier.distributed.devices.rank_fields`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier import tracing
from frontier.backends.cuda.execution import _running, build_of
from frontier.backends.run.interrupts import deferred
from frontier.compile import codes as return_codes
from frontier.distributed.devices.meeting_words import LOST, PATIENCE
from frontier.distributed.devices.part import Part
from frontier.distributed.devices.rank_fields import RankFields
from frontier.distributed.devices.rank_graph import bring_in_lists, check, graphs_there, problem_there, wants_in_lists
from frontier.distributed.devices.replicas import Replica, Sorts
from frontier.distributed.devices.touches import OneKernelError, touches_of
from frontier.distributed.ranks import walk
from frontier.distributed.ranks.graph_copies import Copies
from frontier.distributed.ranks.local_problem import own_part
from frontier.distributed.ranks.mapped_memory import make_room
from frontier.distributed.transport.rounds import common, met, sendable
from frontier.errors import DeviceLostError, DeviceMemoryError, FrontierError, NotConvergedError
from frontier.memory.arrays import to_host
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from frontier.distributed.transport.communicators import Communicator
    from frontier.memory.placement import Placement
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["RankExecution", "agreed"]

#: Kernels return for these because each rank must make something before they go on.
_WANTS = {return_codes.NEED_IN_EDGES, return_codes.NEED_CODE}


class RankExecution:
    """One rank's side of a run; see :class:`frontier.program.execution.Execution`.

    Parameters
    ----------
    step, p, f, schedule
        As for all executions; the problem is the host's.
    comm : Communicator
    inner : Placement
        Of this rank's GPU.
    reach : Mapped
        How kernels reach the arrays of other ranks.

    Raises
    ------
    OneKernelError
        If the program, or the graph, needs exchanges between steps.
    """

    def __init__(
        self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, comm: Communicator,
        inner: Placement, reach: Any,
    ) -> None:  # fmt: skip
        self.problem, self.done, self.frontier = p, False, f
        self._step, self._given, self._comm, self._reach = step, f, comm, reach
        self._memory = inner.memory
        self._starts = walk.starts_of(p.graph, comm.size)
        made = own_part(step, p, comm)
        check(made, self._starts)
        self._touches = touches_of(step, made, schedule, reach.afar)
        self._connected = False
        self._failed: BaseException | None = None  # of this rank alone: all are told before kernels go on
        self._launched = False  # since this rank has brought fields to the GPU
        self._part: Any = None
        self._host, self._schedule, self._inner = made, schedule, inner
        self._in_lists = wants_in_lists(step, made, schedule)

    def bring_in_lists(self) -> None:
        """Let all ranks have the in-lists that the program may walk; all call this together."""
        if self._in_lists:
            bring_in_lists(self._host.graph, self._comm)

    def make(self) -> None:
        """Make this rank's part of the run."""
        step, schedule, comm, rank = self._step, self._schedule, self._comm, self._comm.rank
        copies = Copies(self.problem.graph, self._inner)
        with self._memory.using("the part of a rank"):  # of a graph others read nothing
            graphs, owned = graphs_there(copies.of(self._host.graph), self._starts, rank)
        with self._memory.using("the part of a rank"), self._reach.using():
            there = problem_there(self._host, graphs[0], copies)
            self._replica = Replica(rank, there, self._memory, graphs[1], owned, Sorts())
            self._fields = RankFields(self.problem, self._replica, self._touches, self._starts, comm, self._reach)
            memories: list[Any] = [self._memory if each == rank or comm.together else None for each in range(comm.size)]
            self._part = Part(step, self._replica, self._given, schedule, self._touches, memories)
            self._alike = repr(build_of(graphs[0], step, schedule)), list(self._part._program.inputs.items())

    @property
    def passes(self) -> int:
        """Passes of all loops begun so far."""
        return 0 if self._part is None else self._part.passes

    # ---- what ranks tell each other around kernels ---------------------------------------------------------

    def connect(self) -> bool:
        """Tell the others where arrays lie, and note where theirs do; whether all have the same kernel.

        All ranks call this together.
        """
        if self._part is None:
            self._prepare()
        part, comm = self._part, self._comm
        told = met(comm, "looks whether kernels are alike", (part.complete, self._alike))
        if any(alike != self._alike for _, alike in told):
            return False
        with self._memory.using("the part of a rank"), self._reach.using():
            if any(complete for complete, _ in told):  # all must leave their kernels at the same places
                with self._noting():
                    part.complete_code()
            places = self._reach.places(part.places())
            part.connect(places, self._starts.tolist())
        self._connected = True
        return True

    def _prepare(self) -> None:
        """Do what :func:`agreed` does for processes: threads of one process come here together."""
        try:
            self.bring_in_lists()
            self.make()
        except BaseException:
            self.done = True
            raise

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes; how many were begun."""
        if self.done:
            return 0
        if not (self._connected or self.connect()):
            raise AssertionError("threads of one process have not the same kernel")
        before, ring = self.passes, None
        with deferred(patient=True) as pending:  # also while ranks talk before and after kernels
            self._fields.complete()
            self._launched = False
            with self._noting(), self._memory.using("the part of a rank"), self._reach.using():
                self._load()
                ring = self._part.begin_trace()
                self._memory.synchronize()
            try:
                self._go(before, passes, ring, pending)
            except BaseException as error:
                if getattr(error, "of_all_ranks", False) and self._launched:
                    self._finish(stopped=True)
                raise
            self._finish()
        if ring is not None and self._part.done:
            totals = self._comm.allgather(self._part.total())
            if self._comm.rank == 0 or not self._comm.together:
                tracing.add_ranks(totals)
        return self.passes - before

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Within it an error of this rank alone is noted, so that all raise it where the others would wait."""
        try:
            yield
        except FrontierError as error:
            self._failed = self._failed or sendable(error)

    def _go(self, before: int, passes: int | None, ring: Any, pending: deferred) -> None:
        while not self.done:
            begun = self.passes - before
            self._run(-1 if passes is None else passes - begun)
            if ring is not None:
                self._part.end_trace(ring)
            if self._handled(pending) and self.passes - before == passes:
                break

    def _run(self, budget: int) -> None:
        """Run the kernel until it returns, which those of all ranks do."""
        part, lock = self._part, _running[self._memory]
        first = self._comm.rank == 0 or not self._comm.together  # threads share a GPU
        if first:
            lock.acquire()
        try:
            self._prepared()
            if part.simulated:
                part.simulate(budget)
            else:
                part.begin(budget)
            part.end()
        finally:
            if first:
                lock.release()

    def _prepared(self) -> None:
        """Wait until all have prepared their kernels; if some could not, all raise why."""
        failed, self._failed = self._failed, None
        lists = self._part.in_lists
        told = met(self._comm, "runs a kernel", (failed, lists))
        for rank, (each, _) in enumerate(told):
            if each is not None:
                each.add_note(f"(rank {rank} of {self._comm.size})")
                raise common(each)
        if any(theirs != lists for _, theirs in told):  # one of them could not make its own
            self._part.forget_in_lists()
        self._launched = True

    def _handled(self, pending: deferred) -> bool:
        """Act on the reason for which the kernels returned; whether they are at a pass boundary."""
        part, comm = self._part, self._comm
        told = comm.allgather((part.code(), part.failed(), pending.pressed))  # from now on no kernel reads this GPU
        codes = {code for code, _, _ in told}
        if any(failed for _, failed, _ in told):
            self.done = True
            self._raise(part.failed())
        if LOST in codes or len(codes) != 1:
            self.done = True
            why = (
                f"GPUs have waited for another one for {PATIENCE / 1e9:.0f} seconds; it does not come"
                if LOST in codes else f"GPUs have not done the same; this is an error in Frontier: {codes}"
            )  # fmt: skip
            raise common((DeviceLostError if LOST in codes else FrontierError)(f"{self._step!r}: {why}"))
        boundary = False
        try:
            if codes <= _WANTS:  # what a rank may have no room for
                self._bring_what_is_wanted()
            else:
                boundary = part.handle()
        except FrontierError as error:  # all have the same
            if isinstance(error, NotConvergedError):
                error.result = self.problem
            raise common(error) from None
        finally:
            self.done = part.done
        if any(pressed for _, _, pressed in told):
            pending.pressed = False
            raise common(KeyboardInterrupt())
        return boundary

    def _bring_what_is_wanted(self) -> None:
        """Compile code or make in-lists; Ctrl-C meanwhile is of this rank alone, too."""
        try:
            with self._noting():
                self._part.handle()
        except KeyboardInterrupt as error:
            self._failed = error

    def _raise(self, failed: bool) -> None:
        """Raise on all ranks what a functor has raised on some."""
        error: Exception | None = None
        if failed:
            try:
                self._part.handle()
            except FrontierError as found:
                error = sendable(found)
        for rank, each in enumerate(self._comm.allgather(error)):
            if each is not None:
                each.add_note(f"(rank {rank} of {self._comm.size})")
                raise common(each)

    # ---- frontiers and piles -----------------------------------------------------------------------

    def _load(self) -> None:
        """Bring to the GPU what kernels may read."""
        self._fields.load()
        self._replica.prepare(self.problem)
        self._part.load(self.problem)

    def _finish(self, stopped: bool = False) -> None:
        """Let all ranks have frontiers, piles, and fields they are told.

        Kernels that have ``stopped`` with an error may not have told each other what they changed last.
        """
        part, p = self._part, self.problem
        part.done = self.done
        part.give()
        if part.lost:
            return
        with self._memory.using("the part of a rank"):
            portions = {name: part.pile(name) for name in part.piles}
            current = part.frontier
            ids = {name: (each.kind, to_host(each.ids)) for name, each in portions.items()}
            last = None if current is None else (current.kind, to_host(current.ids))
            self._fields.leave(stopped)
        told = self._comm.allgather((ids, last))
        for name in ids:
            p.piles[name] = self._united([piles[name] for piles, _ in told])
        given = self._given is not None and (self._step.passes_through or (self._step.own and self.done))
        self.frontier = self._given if given or last is None else self._united([each for _, each in told])
        self._reach.trim()

    def _united(self, portions: list[Any]) -> Frontier:
        """The elements of all ranks."""
        return Frontier._of(self.problem.graph, portions[0][0], ids=np.concatenate([ids for _, ids in portions]))


def agreed(
    step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, comm: Communicator, inner: Placement,
    reach: Any,
) -> RankExecution | None:  # fmt: skip
    """Return a run that all ranks have begun alike; None if it needs exchanges between steps.

    All ranks call this together.
    """
    made, refused, failed = None, False, None
    try:
        made = RankExecution(step, p, f, schedule, comm, inner, reach)
    except OneKernelError:  # of all
        refused = True
    except FrontierError as error:  # of all, too
        failed = sendable(error)
    if made is not None:
        made.bring_in_lists()
        refused, failed = _tried(made)
    told = met(comm, "begins a run in kernels", (refused, failed))
    if made is not None and any(isinstance(each, DeviceMemoryError) for _, each in told):
        make_room(comm, inner.memory)
        if failed is not None:
            refused, failed = _tried(made)
        told = met(comm, "begins a run in kernels", (refused, failed))
    for rank, (_, each) in enumerate(told):
        if each is not None:
            each.add_note(f"(rank {rank} of {comm.size})")
            raise common(each)
    if made is None or any(no for no, _ in told):
        return None
    return made if made.connect() else None


def _tried(made: RankExecution) -> tuple[bool, Exception | None]:
    """Whether a run needs exchanges between steps, and why this rank cannot make its part."""
    try:
        made.make()
    except OneKernelError:
        return True, None
    except FrontierError as error:  # of this rank alone, whose GPU has no room, or of all
        return False, sendable(error).with_traceback(None)  # which holds what was made
    return False, None
