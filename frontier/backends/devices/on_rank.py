"""A run on ranks of one host whose GPUs reach each other's memory: one kernel on the GPU of every rank.

It is the kernel of several GPUs of one process (:mod:`frontier.backends.devices.fused`), and every process launches its
own. Processes talk before a run, where kernels return, and at the end; kernels exchange by themselves what steps have
changed. Fields lie in the host's memory, as those of all ranks: a run brings to the GPU what it needs of them, and back
what this rank owns, or all if the kernel knows all.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier import tracing
from frontier.backends import codes as ends
from frontier.backends.cuda import launch
from frontier.backends.cuda.execution import _running, build_of
from frontier.backends.devices.meeting_words import LOST, PATIENCE
from frontier.backends.devices.part import Part
from frontier.backends.devices.rank_graph import bring_in_lists, check, graphs_there, problem_there, wants_in_lists
from frontier.backends.devices.replicas import Replica, Sorts
from frontier.backends.devices.touches import OneKernelError, touches_of
from frontier.backends.interrupts import deferred
from frontier.backends.ranks import execution
from frontier.backends.ranks.away import read
from frontier.backends.ranks.copies import Copies
from frontier.backends.ranks.exchange import stays
from frontier.backends.ranks.fields import whole
from frontier.backends.ranks.own_part import own_part
from frontier.backends.ranks.reach import make_room
from frontier.backends.ranks.rounds import common, met, sendable
from frontier.errors import DeviceLostError, DeviceMemoryError, FrontierError, NotConvergedError
from frontier.memory.arrays import to_host
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from frontier.backends.ranks.communicators import Communicator
    from frontier.backends.ranks.values import Values
    from frontier.memory.placement import Placement
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["RankExecution", "agreed"]

#: Kernels return for these because each rank must make something before they go on.
_WANTS = {ends.NEED_IN_EDGES, ends.NEED_CODE}


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
        self._starts = execution._starts(p.graph, comm.size)
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
            self._complete()
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
            totals = self._comm.gather(self._part.total())
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
        told = comm.gather((part.code(), part.failed(), pending.pressed))  # from now on no kernel reads this GPU
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
        for rank, each in enumerate(self._comm.gather(error)):
            if each is not None:
                each.add_note(f"(rank {rank} of {self._comm.size})")
                raise common(each)

    # ---- fields, frontiers and piles -----------------------------------------------------------------------

    def _complete(self) -> None:
        """Let all ranks have fields as a whole of which the kernel reads other ranks' elements."""
        p, shown = self.problem, self.problem._shown
        for name in () if shown is None else shown.in_parts(p):
            if self._own(name, name in self._touches.apart) == slice(None):
                whole(shown.of(p, name))

    def _load(self) -> None:
        """Bring to the GPU what the kernel may read: of fields that it touches apart, this rank's elements."""
        p, shown, apart = self.problem, self.problem._shown, self._touches.apart
        arrays = self._replica.whole.arrays
        fields = {name: None if shown is None else shown.field(host) for name, host in p.arrays.items()}
        for name, field in fields.items():
            if field is not None and field.away is not None and _is_another(field.away.array, name, arrays):
                field.settle()  # as when a run that was paused goes on after one with fr.Swap
        for name, field in fields.items():
            own = self._own(name, name in apart)
            if field is None:
                _write(self._memory, arrays[name][own], p.arrays[name][own])
            else:
                self._bring(field, arrays[name], own)
        self._replica.prepare(p)
        self._part.load(p)

    def _bring(self, field: Values, array: Any, own: slice) -> None:
        """Bring some elements of a field to an array: from where the last run has left them, or from the host."""
        away = field.away
        if away is not None and away.has(own):
            if away.array is not array:
                array[own] = away.array[own]
            return
        if field.lacks is not None and own == slice(None):  # others' elements are not written
            self._fill(field, array, own)
            own = field.range()
        elif field.fresh:
            self._fill(field, array, own)
        if field.fresh:
            return
        if away is not None and away.has(own):
            array[own] = away.array[own]
        else:
            _write(self._memory, array[own], field.settled()[own])

    def _fill(self, field: Values, array: Any, some: slice) -> None:
        """Fill an array with what is not written of a field."""
        self._memory.fill(array[some], field.lacks)
        for at, value in field.given(some):
            self._memory.fill(array[at : at + 1], value)

    def _own(self, name: str, apart: bool) -> slice:
        """The elements of a field that this rank has: all, or its own."""
        p, kind = self.problem, self.problem.fields[name].kind
        if stays(p, name) or (apart and kind == "vertex"):
            return slice(*self._replica.own[kind])
        return slice(None)

    def _finish(self, stopped: bool = False) -> None:
        """Bring back what the kernel has changed; let all ranks have frontiers, piles, and fields they are told.

        Kernels that have ``stopped`` with an error may not have told each other what they changed last.
        """
        part, p, touches = self._part, self.problem, self._touches
        part.done = self.done
        part.give()
        if part.lost:
            return
        names = [name for name in p.arrays if name in touches.changed | touches.swapped]
        everywhere = frozenset() if stopped else touches.mirrored - touches.claimed
        with self._memory.using("the part of a rank"):
            portions = {name: part.pile(name) for name in part.piles}
            current = part.frontier
            ids = {name: (each.kind, to_host(each.ids)) for name, each in portions.items()}
            last = None if current is None else (current.kind, to_host(current.ids))
            if p._shown is None:
                self._bring_back(names, everywhere)
            else:
                self._leave(names, everywhere)
        told = self._comm.gather((ids, last))
        for name in ids:
            p.piles[name] = self._united([piles[name] for piles, _ in told])
        given = self._given is not None and (self._step.passes_through or (self._step.own and self.done))
        self.frontier = self._given if given or last is None else self._united([each for _, each in told])
        self._reach.trim()

    def _united(self, portions: list[Any]) -> Frontier:
        """The elements of all ranks."""
        return Frontier._of(self.problem.graph, portions[0][0], ids=np.concatenate([ids for _, ids in portions]))

    def _bring_back(self, names: list[str], everywhere: Collection[str]) -> None:
        """Let the host of each rank have all elements of some fields, of which kernels know some ``everywhere``."""
        p, (first, end) = self.problem, self._replica.own["vertex"]
        for name in names:
            some = self._own(name, name not in everywhere)
            read(self._replica.whole.arrays[name][some], p.arrays[name][some])
        told = [name for name in names if name not in everywhere]
        for rank, each in enumerate(self._comm.gather({name: p.arrays[name][first:end] for name in told})):
            for name in told:
                p.arrays[name][self._starts[rank] : self._starts[rank + 1]] = each[name]

    def _leave(self, names: list[str], everywhere: Collection[str]) -> None:
        """Leave fields on the GPU until somebody asks; all ranks take over what others own of short ones."""
        p, shown = self.problem, self.problem._shown
        short = set(shown.told_to_all(p))
        told = [name for name in names if name not in everywhere and name in short]
        if told:
            self._take_over(told)
        for name in names:
            some = self._own(name, name not in everywhere and name not in short)
            shown.of(p, name).left(self._memory, self._replica.whole.arrays[name], some)

    def _take_over(self, names: list[str]) -> None:
        """Copy from other GPUs what their ranks own of some fields; they change it when they have met once more."""
        arrays = [self._replica.whole.arrays[name] for name in names]
        for rank, places in enumerate(self._reach.places([launch.address_of(array) for array in arrays])):
            some = slice(int(self._starts[rank]), int(self._starts[rank + 1]))
            if rank == self._comm.rank or some.start == some.stop:
                continue
            for array, place in zip(arrays, places, strict=True):
                array[some] = launch.memory_like(array, place)[some]
        self._memory.synchronize()


def _is_another(array: Any, name: str, arrays: Mapping[str, Any]) -> bool:
    """Whether an array is that of another name."""
    return array is not arrays[name] and any(array is each for each in arrays.values())


def _write(memory: Any, array: Any, values: Any) -> None:
    """Write values of the host to an array on the GPU."""
    if not isinstance(array, np.ndarray) and array.flags.c_contiguous:
        array.set(np.ascontiguousarray(values))
    else:
        array[...] = memory.moved(values)


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
