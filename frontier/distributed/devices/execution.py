"""A run on several GPUs: one walk of the host for all of them (:mod:`frontier.distributed.walk`).

A step that may be divided runs on all GPUs at once, on each for its part: steps along edges for the edges of the
vertices that the GPU owns, other steps for the elements that it owns. Then the GPUs exchange what it has changed. Steps
that are not divided run on the first GPU, and the others take over what they write.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier import tracing
from frontier.backends.cuda.execution import CudaExecution
from frontier.backends.python.hosted import Hosted, alone
from frontier.backends.python.interpreter import Interpretation
from frontier.distributed.devices import together
from frontier.distributed.devices.compaction import changed, marked
from frontier.distributed.devices.direction import Direction
from frontier.distributed.devices.exchange import flat, given_bytes, own_values, take, united
from frontier.distributed.devices.owners import kept_by_owners
from frontier.distributed.devices.replicas import Replica, replicas_of
from frontier.distributed.ranks.write_set import check_writes, written
from frontier.distributed.walk import DividedWalk, MemberRun, Outcome, merge_scalars
from frontier.memory.placement import backend_named
from frontier.program.effects import effects
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from frontier.backends.python.interpreter import Run
    from frontier.distributed.merge import Written
    from frontier.memory.base import Memory
    from frontier.program.loop import Loop
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Operator, Step

__all__ = ["DevicesExecution"]


class DevicesExecution(Interpretation):
    """A run on several GPUs."""

    _context: _Walk

    def __init__(
        self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, memories: Sequence[Memory]
    ) -> None:
        check_writes(step, p)
        kept = kept_by_owners(step, p, schedule)
        super().__init__(step, p, f, schedule, _Walk(p, schedule, replicas_of(p, memories), kept))

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes; how many were begun."""
        if self.done:
            return 0
        self._context.load()
        with self._context.problem.graph.placement.memory.using("a run on several GPUs"):
            try:
                return super().proceed(passes)
            finally:
                self._context.complete()


class _Walk(DividedWalk, Hosted):
    """The walk of all GPUs: every one has the whole of all fields, and of the frontier."""

    def __init__(self, p: Problem, schedule: ResolvedSchedule, replicas: list[Replica], kept: frozenset[str]) -> None:
        self._replicas, self._kept, self._given = replicas, kept, schedule
        self._at_once = together.at_once([replica.memory for replica in replicas])
        self._plans: dict[Step, _Plan] = {}
        self._latest: tuple[Frontier | None, list[Frontier]] = None, []
        super().__init__(p, schedule)

    def load(self) -> None:
        """Let all GPUs have the fields as they are now."""
        self._replicas[0].memory.synchronize()  # whoever has written them
        self._each(lambda replica: replica.load(self.problem))

    def complete(self) -> None:
        """Bring to the problem the fields of which only owners have the values."""
        for replica in self._replicas[1:]:
            own = slice(*replica.own["vertex"])
            for name in self._kept:
                self.problem.arrays[name][own] = self._replicas[0].memory.moved(replica.whole.arrays[name][own])
        self._replicas[0].memory.synchronize()

    # ---- steps --------------------------------------------------------------------------------------

    def _whole(self, step: Operator, f: Any) -> Any:
        """A step that is not divided: the first GPU runs it."""
        p = self.problem
        first = self._replicas[0]
        first.prepare(p)
        current = self._copies(f)[0] if isinstance(f, Frontier) else None
        inner = step if isinstance(f, int) else alone(step, "push")
        with first.memory.using():
            made = MemberRun(backend_named("cuda"), inner, first.whole, current, self._given, (0, self.passes)).finish()
            first.memory.synchronize()
        names = _writes(step, p)
        self._each(lambda replica: _take_over(replica, p, names))
        return self._here(made) if isinstance(made, Frontier) else made

    def _on_host(self, step: Operator, f: Any) -> Any:
        """Run a step that looks at no elements; what fields it exchanges, it exchanges on all GPUs."""
        before, now = dict(self.problem.arrays), self.problem.arrays
        after = super()._on_host(step, f)
        if any(now[name] is not array for name, array in before.items()):
            names = {id(array): name for name, array in before.items()}
            for replica in self._replicas[1:]:
                held = dict(replica.whole.arrays)
                for name, array in now.items():
                    replica.whole.arrays[name] = held[names[id(array)]]
        return after

    def _divided(self, step: Operator, f: Frontier) -> Frontier:
        plan = self._plans.get(step)
        if plan is None:
            plan = self._plans[step] = _Plan(step, self.problem, self._given, self._kept)
        copies = self._copies(f)
        way = "push" if plan.direction is None else plan.direction.of(self._replicas[0], copies[0])
        parts: list[_Part] = []
        try:
            for replica, copy in zip(self._replicas, copies, strict=True):
                replica.prepare(self.problem)
                # One after another: the first may compile what all run.
                parts.append(_Part(plan, way, replica, copy, self._given, self.passes))
                if self._at_once:
                    parts[-1].ahead()
        except BaseException:
            self._each(lambda replica: replica.memory.synchronize())  # until nothing uses what is freed now
            raise
        outcomes = self._each_of(parts, _Part.run)
        begun = time.perf_counter()
        merge_scalars(self.problem, plan.step, [each.scalars for each in outcomes], self.plain)
        found: list[Any] = []
        if plan.fields or not plan.step.passes_through:
            found = self._each(lambda replica: _merged(replica, plan, outcomes))
        for name in plan.step.fills():
            pile = self.problem.piles[name]
            grown = united(self._replicas[0], [pile, *(each.piles[name] for each in outcomes)])
            self.problem.piles[name] = self._here(grown)
        next_ = f
        if not plan.step.passes_through:
            next_ = self._here(found[0])
            self._latest = next_, found
        if tracing.active():
            self._trace(parts, [given_bytes(each) for each in outcomes], begun, (len(f), len(next_)))
        return next_

    def _trace(self, parts: list[_Part], given: list[int], begun: float, sizes: tuple[int, int]) -> None:
        """Add to the trace what GPUs have given each other since ``begun``."""
        seconds, latest = time.perf_counter() - begun, max(part.ran.computing for part in parts)
        for part, sent in zip(parts, given, strict=True):
            rank, computing, read = part.replica.rank, part.ran.computing, part.ran.execution.read
            tracing.add(
                backend="cuda", step="exchange", number=self.passes, seconds=seconds, size_in=sizes[0],
                size_out=sizes[1], rank=rank, sent=sent, waited=latest - computing,
            )  # fmt: skip
            tracing.add_ranks([tracing.RankTotal(rank, 1, 0.0, computing, seconds, latest - computing, sent, read)])

    def _loop(self, loop: Loop, f: Frontier | None) -> Run:
        for plan in self._plans.values():
            if plan.direction is not None:
                plan.direction.begin()
        return (yield from super()._loop(loop, f))

    # ---- frontiers ----------------------------------------------------------------------------------

    def _here(self, f: Frontier) -> Frontier:
        """A frontier on the first GPU as one of the problem's graph."""
        g = self.problem.graph
        return Frontier.all(g, f.kind) if f.is_all else Frontier._of(g, f.kind, ids=f.ids)

    def _copies(self, f: Frontier) -> list[Frontier]:
        """The whole frontier on each GPU."""
        if self._latest[0] is not f:
            self._latest = f, self._each(lambda replica: _copied(replica, f))
        return self._latest[1]

    # ---- on all GPUs --------------------------------------------------------------------------------

    def _each(self, work: Callable[[Replica], Any]) -> list[Any]:
        """Let each GPU do something, all at the same time; what comes of it, in their order."""
        return self._each_of(self._replicas, work)

    def _each_of(self, items: Iterable[Any], work: Callable[[Any], Any]) -> list[Any]:
        return together.each(items, work, self._at_once)


class _Plan:
    """How a step is divided.

    Attributes
    ----------
    ways : dict of str to Operator
        The step without a frontier of its own, where it must push and where it must pull.
    direction : Direction or None
        What chooses between them; None if it only pushes, or is no matter of directions.
    by_rows : bool
        Whether it can run along the edges of own vertices with the whole frontier, rather than on own elements.
    streams : bool
        Whether the lists of all own vertices come window by window if the frontier is everything.
    fields : list of Written
        Those that it writes, without those that stay with owners.
    kinds : dict of str to str
        Whether a field has a value for each vertex or for each edge.
    merged : set of str
        Fields of which changes are merged; elements of the others are written by their owners only.
    """

    def __init__(self, step: Operator, p: Problem, schedule: ResolvedSchedule, kept: frozenset[str]) -> None:
        self.fields: list[Written] = [each for each in written(step, p) if each.name not in kept]
        self.kinds = {each.name: "edge" if p.fields[each.name].kind == "edge" else "vertex" for each in self.fields}
        touched = [effects(fn) for fn, _ in step.functors()]
        counts = next(step.partial(), None) is not None  # of the frontier, of which each GPU has the whole
        edges = p.graph.placement.edges
        far = "" if edges is None else edges.residence
        # From a disk it would read windows of others' lists. A gather in place must not touch what others own.
        mine = far == "disk" or getattr(step, "inplace", False)
        self.by_rows = step.by_rows and not mine and not counts and not any(each.topology for each in touched)
        self.streams = far == "host" and step.streams_lists and not any(each.topology for each in touched)
        # Along in-edges it is the owner of the target who writes at an edge, and not that of the edge, of the source.
        self.merged = {each.name for each in self.fields if each.combine or self.kinds[each.name] == "edge"}
        self.ways = {way: alone(step, way) for way in ("push", "pull")}
        self.direction: Direction | None = None
        given = schedule if step.schedule is None else step.schedule.over(schedule)
        # In a pull other GPUs walk along edges of the same source, so that only targets may be written.
        if self.by_rows and step.may_pull(given) and all(each.combine for each in self.fields):
            self.direction = Direction(p.graph, step, given)

    @property
    def step(self) -> Any:
        """The step, whichever way it goes."""
        return self.ways["push"]


class _Part:
    """One GPU's part of a step, in a pass by its number: it is compiled if needed, and keeps what it may change."""

    def __init__(
        self, plan: _Plan, way: str, replica: Replica, f: Frontier, schedule: ResolvedSchedule, number: int
    ) -> None:
        self.plan, self.replica, self._f = plan, replica, f
        with replica.memory.using("a step on several GPUs"):
            arrays = replica.whole.arrays
            self._before = {name: arrays[name].copy() for name in plan.merged}
            step, problem, mine = plan.ways[way], replica.whole, f
            if plan.streams and mine.is_all and mine.kind == "vertex":
                problem = replica.rows  # whose windows have own vertices only
                mine = Frontier.all(problem.graph, "vertex")
            elif way == "pull" or (plan.by_rows and not mine.is_all):
                problem = replica.rows
                mine = Frontier._of(problem.graph, mine.kind, ids=mine.ids)
            else:
                mine = replica.owned(step.stands_on(mine))
            self.ran = MemberRun(backend_named("cuda"), step, problem, mine, schedule, (replica.rank, number))

    def ahead(self) -> None:
        """Let the GPU begin; the others follow."""
        if isinstance(self.ran.execution, CudaExecution):
            with self.replica.memory.using("a step on several GPUs"):
                self.ran.execution.ahead()

    def run(self) -> Outcome:
        """Run it, and find what has changed."""
        plan, replica, p = self.plan, self.replica, self.replica.whole
        with replica.memory.using("a step on several GPUs"):
            after = self.ran.finish()
            found = None if plan.step.passes_through else _listed(replica.memory, after)
            made = Outcome.of(p, plan.step, found, {})
            for each in plan.fields:
                array = p.arrays[each.name]
                ids = p.graph.id_dtype if plan.kinds[each.name] == "vertex" else p.graph.offsets.dtype
                if each.name in plan.merged:
                    ids = ids if array.ndim == 1 else np.dtype(np.int64)
                    before = flat(self._before.pop(each.name))
                    made.changed[each.name] = changed(replica.memory, flat(array), before, ids)
                else:
                    made.owned[each.name] = own_values(replica, array, plan.kinds[each.name], self._f)
            replica.memory.synchronize()
        return made


def _merged(replica: Replica, plan: _Plan, outcomes: list[Outcome]) -> Frontier | None:
    """Bring together on one GPU what all have given: its fields, and the next frontier."""
    with replica.memory.using("what several GPUs exchange"):
        take(replica, plan.fields, outcomes)
        found = None
        if not plan.step.passes_through:
            found = united(replica, [each.frontier for each in outcomes if each.frontier is not None])
        replica.memory.synchronize()  # before any GPU writes again to what was read here
        return found


def _listed(memory: Memory, f: Frontier) -> Frontier:
    """A frontier with a list of its elements, which a pull leaves as marks."""
    if f.is_all or f._ids is not None:
        return f
    return Frontier._of(f.graph, f.kind, ids=marked(memory, f.mask, f.id_dtype))


def _copied(replica: Replica, f: Frontier) -> Frontier:
    g = replica.whole.graph
    if f.is_all:
        return Frontier.all(g, f.kind)
    with replica.memory.using("the ids of a frontier"):
        ids = replica.memory.moved(f.ids if f._ids is None else f._ids)
        replica.memory.synchronize()
    return Frontier._of(g, f.kind, ids=ids)


def _take_over(replica: Replica, p: Problem, names: Iterable[str]) -> None:
    if replica.rank:
        with replica.memory.using("the fields of a problem"):
            for name in names:
                replica.whole.arrays[name][...] = replica.memory.moved(p.arrays[name])
            replica.memory.synchronize()


def _writes(step: Step, p: Problem) -> list[str]:
    """The fields that a step may write."""
    touched = [effects(fn) for fn, _ in step.functors()]
    if not all(each.writes_known for each in touched):
        return list(p.arrays)
    names = {name for each in touched for name in each.writes} | {name for _, name in step.into_fields()}
    names |= {pair.other for pair in p._pairs if pair.key in names}
    return [name for name in p.arrays if name in names]
