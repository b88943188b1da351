"""One part's run of a program: the interpreter's loops, with every step divided among the parts.

Loops, conditions and scalars are the same on all parts, so that all decide alike. A step that may be divided runs on
the part's own elements, compiled by another backend; then the parts exchange what it has changed. Other steps (Set,
Swap, Take, Scan, counts) are run by every part as a whole.
"""

from __future__ import annotations

import copy
import pickle
import time
import zlib
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier import tracing
from frontier.backends.interrupts import deferred
from frontier.backends.python.interpreter import Context, Interpretation
from frontier.backends.ranks.exchange import Message, Written, changes, merge, packed, unpacked, values_of
from frontier.backends.ranks.own_part import check_whole, in_parts, own_part, part_for, push_only, pushing
from frontier.backends.ranks.writes import check_writes, written
from frontier.errors import FrontierError, FunctorError, GraphError, NotConvergedError
from frontier.functors.functor import location
from frontier.memory.placement import backend_named
from frontier.memory.shortage import explained
from frontier.partitions.partition import partition
from frontier.program.frontiers import Frontier
from frontier.program.step import captures_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.backends.ranks.communicators import Communicator
    from frontier.graph.graph import Graph
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Operator, Step

__all__ = ["Part"]


class _Walk(Context):
    """The interpreter's walk through a program, with steps divided among parts."""

    def __init__(self, p: Problem, schedule: ResolvedSchedule, comm: Communicator, inner: str) -> None:
        super().__init__(p, push_only(schedule) if in_parts(p) else schedule)
        self._comm, self._backend = comm, backend_named(inner)
        self._starts = _starts(p.graph, comm.size)
        self._written: dict[Step, list[Written]] = {}
        self.exchanges = 0
        #: Where the time of this run goes.
        self.total = tracing.RankTotal(comm.rank)
        #: Ctrl-C as this part has noted it, and whether some part has told all of it.
        self.pending: deferred | None = None
        self.stop = False

    def _one(self, step: Operator, f: Any) -> Any:
        return self._divided(step, f) if step.divides and isinstance(f, Frontier) else self._whole(step, f)

    def _whole(self, step: Operator, f: Any) -> Any:
        """Every part does the same."""
        check_whole(step, self.problem, f)
        if all(place == "scalars" for _, place in step.functors()):
            return step.interpret(self, f)
        current = f if isinstance(f, Frontier) else None
        return self._run_inner(step if isinstance(f, int) else _alone(step), current)

    def _divided(self, step: Operator, f: Frontier) -> Frontier:
        p = self.problem
        there = part_for(step, p, self._comm, self._backend.interprets) if in_parts(p) else p
        if step not in self._written:  # once in a run: it takes longer than an exchange
            self._written[step] = written(step, p)
        fields = self._written[step]
        message = Message(self.exchanges)
        before: dict[str, Any] = {}
        begun, sent, total = time.perf_counter(), self._comm.sent, self.total
        ran, waited = total.preparing + total.computing, total.waiting
        try:
            mine = self._mine(step, f)
            mine = Frontier._of(there.graph, mine.kind, ids=mine.ids)  # with the edges that are here
            before = values_of(p, step, fields, mine)
            after = self._run_inner(_alone(step), mine, there)
            message.fields = changes(p, before)
            message.scalars = {name: p.scalars[name].copy() for name, _ in step.partial()}
            message.piles = {name: packed(p.piles[name]) for name in step.fills()}
            if not step.passes_through:
                message.frontier = packed(after), after.kind
        except Exception as error:  # whatever it is, all parts raise it
            changes(p, before)
            if isinstance(error, MemoryError):  # here, where memory is short
                error = explained(error, f"running {step!r} on rank {self._comm.rank} of {self._comm.size}")
            message = Message(self.exchanges, _sendable(error))
        next_ = self._merged(step, f, fields, self._tell(message))
        seconds = time.perf_counter() - begun - (total.preparing + total.computing - ran)
        total.exchanges += 1
        total.merging += seconds - (total.waiting - waited)
        total.sent += self._comm.sent - sent
        if tracing.active():
            tracing.add(
                backend="ranks", step="exchange", number=self.passes, seconds=seconds, size_in=len(f),
                size_out=len(next_), rank=self._comm.rank, sent=self._comm.sent - sent, waited=total.waiting - waited,
            )  # fmt: skip
        return next_

    def _mine(self, step: Operator, f: Frontier) -> Frontier:
        """The elements of a frontier on which this part runs a step."""
        rank = self._comm.rank
        if not in_parts(self.problem) or f.kind == "vertex":
            return _own(step.stands_on(f), self._starts, rank)
        g = self.problem.graph  # f may be of the graph of all
        own = _own(Frontier.all(g, "edge") if f.is_all else Frontier._of(g, "edge", ids=f.ids), self._starts, rank)
        ends = step.stands_on(own)
        if ends.kind == f.kind:
            return own
        told = self._comm.gather(packed(ends))  # who has an edge knows its ends
        return _own(_union(ends, told), self._starts, rank)

    def _merged(self, step: Operator, f: Frontier, fields: list[Written], told: list[Message]) -> Frontier:
        p = self.problem
        merge(p, fields, [each.fields for each in told])
        for name, reduction in step.partial():
            scalar = p.scalars[name]
            parts = [each.scalars[name][0] for each in told]
            scalar[0] = reduction.merged(parts, scalar.dtype, self._combining)
        for name in step.fills():
            p.piles[name] = _union(p.piles[name], [each.piles[name] for each in told])
        if step.passes_through:
            return f
        return _union(Frontier(p.graph, (), told[0].frontier[1]), [each.frontier[0] for each in told])

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
                raise _common(FunctorError(f"{location(fn)} raised {kind}, of {total} and {value}")) from error

        return combine

    def _run_inner(self, step: Step, f: Frontier | None, p: Problem | None = None) -> Any:
        """Run one step on this part's elements, compiled."""
        if in_parts(self.problem):
            step = pushing(step)
        captures_of(step)  # which backends that compile expect to be known
        begun = time.perf_counter()
        traced = tracing.acting_as(self._comm.rank, self.passes) if tracing.active() else nullcontext()
        with traced:
            execution = self._backend.start(step, self.problem if p is None else p, f, self.schedule)
            ready = time.perf_counter()
            while not execution.done:
                execution.proceed()
        self.total.preparing += ready - begun
        self.total.computing += time.perf_counter() - ready
        return execution.frontier

    def tell_of_ctrl_c(self) -> None:
        """An exchange of nothing else, after a pass without one."""
        self._tell(Message(self.exchanges))

    def _tell(self, message: Message) -> list[Message]:
        message.stop = self.pending is not None and self.pending.pressed
        begun = time.perf_counter()
        told: list[Message] = self._comm.gather(message)
        self.total.waiting += time.perf_counter() - begun
        self.exchanges += 1
        self.stop = any(each.stop for each in told)
        for rank, each in enumerate(told):
            if each.error is not None:
                each.error.add_note(f"(rank {rank} of {self._comm.size})")
                raise _common(each.error)
        if len({each.step for each in told}) > 1:
            raise _common(FrontierError("the ranks are at different steps: they must run the same program"))
        return told


def _starts(g: Graph, parts: int) -> NDArray[np.int64]:
    """First vertex of every part, and the number of vertices."""
    starts: NDArray[np.int64] = g.cached(f"starts of {parts} parts", lambda: partition(g, parts).starts)
    return starts


def _own(f: Frontier, starts: NDArray[np.int64], rank: int) -> Frontier:
    """The elements of a frontier that a part owns; an edge belongs to the owner of its source."""
    bounds = starts if f.kind == "vertex" else f.graph.offsets[starts]
    first, end = int(bounds[rank]), int(bounds[rank + 1])
    if f.is_all:
        ids = np.arange(first, end, dtype=f.id_dtype)
    else:
        ids = f.ids[(f.ids >= first) & (f.ids < end)]
    return Frontier._of(f.graph, f.kind, ids=ids)


def _union(like: Frontier, parts: list[Any]) -> Frontier:
    if any(part is None for part in parts):
        return Frontier.all(like.graph, like.kind)
    ids = np.unique(np.concatenate([unpacked(part, like) for part in parts]))
    return Frontier._of(like.graph, like.kind, ids=ids.astype(like.id_dtype, copy=False))


def _alone(step: Any) -> Any:
    """The step without a frontier of its own, for it gets a part of that."""
    if step.over is None:
        return step
    made = step.__dict__.get("_alone")
    if made is None:
        made = copy.copy(step)
        made.over = None
        step.__dict__["_alone"] = made
    return made


def _sendable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever pickling may raise: then its text is sent
        return FrontierError(f"{type(error).__name__}: {error}")
    return error


def _common(error: Any) -> Any:
    """Mark an error that all parts raise, so that it is printed once."""
    error.of_all_ranks = True
    return error


class Part(Interpretation):
    """The run of one part; the only one of its process under MPI."""

    def __init__(
        self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, comm: Communicator, inner: str,
        traced: bool,
    ) -> None:  # fmt: skip
        p = own_part(step, p, comm)
        check_writes(step, p)
        self.problem, self._comm, self._traced = p, comm, traced
        self._walk = _Walk(p, schedule, comm, inner)
        self._exchanges = self._passes = -1
        super().__init__(step, p, f, schedule, self._walk)

    @classmethod
    def agreed(
        cls, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, comm: Communicator, inner: str
    ) -> Part:
        """The same, once all ranks have begun with the same graph, program and values."""
        mine = _description(step, p, f)
        told = comm.gather((tracing.active(), mine))
        for rank, (_, other) in enumerate(told):
            for name, value in told[0][1].items():
                if other.get(name) != value:
                    raise _common(GraphError(
                        f"rank {rank} has not the same {name} as rank 0: all ranks must begin a run with the same "
                        "graph, program and values"
                    ))  # fmt: skip
        try:
            return cls(step, p, f, schedule, comm, inner, any(traced for traced, _ in told))
        except FunctorError as error:  # what the check refuses, it refuses on all ranks
            raise _common(error) from None

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes; how many were begun."""
        try:
            begun = super().proceed(passes)
        except NotConvergedError as error:  # all parts count alike
            raise _common(error) from None
        if self.done and self._traced:  # by some rank at least, as all know
            self._traced = False
            totals = self._comm.gather(self._walk.total)
            if self._comm.rank == 0 or not self._comm.together:
                tracing.add_ranks(totals)
        return begun

    def _look(self, pending: deferred) -> None:
        """Stop where all parts stop: one has told the others of Ctrl-C in an exchange."""
        walk = self._walk
        walk.pending = pending
        if walk.exchanges == self._exchanges and walk.passes != self._passes and not self.done:
            walk.tell_of_ctrl_c()  # the pass has exchanged nothing
        self._exchanges, self._passes = walk.exchanges, walk.passes
        if walk.stop:
            walk.stop = pending.pressed = False
            raise _common(KeyboardInterrupt())


def _description(step: Step, p: Problem, f: Frontier | None) -> dict[str, Any]:
    g = p.graph
    made = {"graph": g.cached("checksum", lambda: _checksum(g.offsets, g.targets, g.weights)), "program": repr(step)}
    made |= {f"p.{name}": (str(value.dtype), value.tobytes()) for name, value in p.scalars.items()}
    whole = (name for name in p.arrays if not (in_parts(p) and p.fields[name].kind == "edge"))
    made |= {f"p.{name}": _checksum(p.arrays[name]) for name in whole}
    made |= {f"p.{name}": _checksum(np.sort(pile.ids)) for name, pile in p.piles.items()}
    return made | {"frontier": None if f is None else len(f) if f.is_all else _checksum(np.sort(f.ids))}


def _checksum(*arrays: Any) -> tuple[Any, ...]:
    there = [np.ascontiguousarray(array) for array in arrays if array is not None]
    return tuple((len(array), str(array.dtype), zlib.crc32(array.data)) for array in there)
