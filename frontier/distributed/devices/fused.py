"""A run on several GPUs of a program that is one kernel on each: they exchange inside their kernels.

The host launches the kernel on all GPUs, waits for all, and acts on why they returned, which is the same for all unless
one has failed. :mod:`frontier.distributed.devices.exchange_pass` makes the kernel.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from functools import cache
from itertools import combinations
from operator import is_
from typing import TYPE_CHECKING, Any

from frontier import tracing
from frontier.backends.cuda.execution import _running
from frontier.backends.run.interrupts import deferred
from frontier.compile import codes
from frontier.distributed.devices import loading
from frontier.distributed.devices.meeting_words import LOST, PATIENCE
from frontier.distributed.devices.part import Part
from frontier.distributed.devices.replicas import replicas_of
from frontier.distributed.devices.spread_fields import spread_fields
from frontier.distributed.devices.touches import OneKernelError, touches_of
from frontier.errors import DeviceLostError, FrontierError, NotConvergedError
from frontier.memory import detection, peers
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frontier.memory.base import Memory
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["FusedExecution"]


class FusedExecution:
    """One run on several GPUs; see :class:`frontier.program.execution.Execution`.

    Raises
    ------
    OneKernelError
        If the program, or these GPUs, need the loop on the host.
    """

    def __init__(
        self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, memories: Sequence[Memory]
    ) -> None:
        edges = p.graph.placement.edges
        if edges is not None and edges.residence == "disk":
            raise OneKernelError("the host reads edges on a disk")
        if not (p.graph.num_vertices and _reach(tuple(memories))):
            raise OneKernelError("no vertices, or GPUs that do not reach each other's memory")
        touches = touches_of(step, p, schedule, _atomics(tuple(memories)))
        self._step, self._p, self._given, self._touches = step, p, f, touches
        self._arrays = list(p.arrays.values())
        self._replicas = replicas_of(p, memories, touches)
        self._begun = loading.begin(p, self._replicas, touches.apart)
        self.parts = [Part(step, replica, f, schedule, touches, memories) for replica in self._replicas]
        if any(part.complete for part in self.parts):  # all must leave their kernels at the same places
            for part in self.parts:
                part.complete_code()
        self._connect()

    def _connect(self) -> None:
        """Let all GPUs know where the arrays of others lie; then the run may go on."""
        places = [part.places() for part in self.parts]
        starts = [*(replica.own["vertex"][0] for replica in self._replicas), self._p.graph.num_vertices]
        for part in self.parts:
            part.connect(places, starts)
        self.done = self._ahead = False

    def again(self, f: Frontier | None) -> bool:
        """Begin on the same problem once more; False if it begins otherwise, or another run has the memory of a GPU."""
        same = f is None and self._given is None and all(map(is_, self._p.arrays.values(), self._arrays))
        if not same or self._touches.swapped:
            return False
        for replica in self._replicas:
            replica.prepare(self._p)
        ready: list[Part] = []
        for part in self.parts:
            if not part.again(None):
                for other in ready:
                    other.give_up()
                return False
            ready.append(part)
        self._begun = loading.begin(self._p, self._replicas, self._touches.apart)
        self._connect()
        return True

    @property
    def passes(self) -> int:
        """Passes of all loops begun so far."""
        return self.parts[0].passes

    @property
    def frontier(self) -> Frontier | None:
        """The current frontier; after the end, what the step gave."""
        if self._given is not None and (self._step.passes_through or (self._step.own and self.done)):
            return self._given
        return self._united()

    def _united(self) -> Frontier | None:
        """The elements of all GPUs, on the first."""
        portions = [part.frontier for part in self.parts]
        return self._given if portions[0] is None else self._union(portions)

    def _union(self, portions: list[Any]) -> Frontier:
        """What each GPU has of a frontier, on the first."""
        first, g = self._replicas[0].memory, self._p.graph
        with first.using("the frontier of a run"):
            ids = [first.moved(each.ids) for each in portions if each is not None]
            first.synchronize()
            return Frontier._of(g, portions[0].kind, ids=first.xp.concatenate(ids))

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes; how many were begun."""
        if self.done:
            return 0
        before = self.passes
        loaded = self._load()
        rings = [part.begin_trace() for part in self.parts]
        follows = loaded is None and all(part.in_order for part in self.parts)
        if not follows:
            loading.wait(self._replicas)
        del loaded
        with deferred(patient=True) as pending:
            try:
                while not self.done:
                    begun = self.passes - before
                    self._run(-1 if passes is None else passes - begun, follows and not begun)
                    for part, ring in zip(self.parts, rings, strict=True):
                        if ring is not None:
                            part.end_trace(ring)
                    if self._handled() and self.passes - before == passes:
                        break
                    pending.check()
            finally:
                self._bring_back()
        if rings[0] is not None and self.parts[0].done:
            tracing.add_ranks([part.total() for part in self.parts])
        return self.passes - before

    def _load(self) -> Any:
        """Begin to let all GPUs have fields and scalars as they are now; what to keep while they have not finished."""
        first, touches = self._replicas[0], self._touches
        kept = loading.load(self._p, self._replicas, touches.apart, self._begun)
        # These are changed in place; others are known when they come back.
        spread_fields(self._p).fresh.difference_update(touches.changed & first.shared)
        for replica, part in zip(self._replicas, self.parts, strict=True):
            replica.prepare(self._p)
            part.load(self._p)
        return kept

    def _run(self, budget: int, follows: bool) -> None:
        """Run the kernels until all have returned; they may be launched while fields are being filled, and follow."""
        self._ahead = False
        if any(part.in_lists != self.parts[0].in_lists for part in self.parts):  # one had no room for them
            for part in self.parts:
                part.forget_in_lists()
        with ExitStack() as held:
            for memory in sorted({part.memory for part in self.parts}, key=lambda each: getattr(each, "index", 0)):
                held.enter_context(_running[memory])
            if self.parts[0].simulated:
                threads = [threading.Thread(target=part.simulate, args=(budget,)) for part in self.parts]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                for part in self.parts:
                    part.end()
                return
            if follows:  # while no other thread launches kernels, which would wait for each other by these streams
                loading.follow(self._replicas)
            for part in self.parts:
                part.begin(budget)
            ahead, error = all(part.alone for part in self.parts) and not self._touches.swapped, None
            try:
                if ahead:  # while kernels run, let copies wait behind them: the host then waits once
                    loading.give_parts(self._p, self._replicas, self._touches.changed)
            except Exception as found:
                error = found
            for part in self.parts:
                part.end()  # which knows best why a kernel has failed
            if error is not None:
                raise error
            self._ahead = ahead

    def _handled(self) -> bool:
        """Act on the reason for which the kernels returned; whether they are at a pass boundary."""
        failed = [part for part in self.parts if part.failed()]
        if failed:
            self.done = True
            failed[0].handle()
        if any(part.code() == LOST for part in self.parts):
            self.done = True
            raise DeviceLostError(
                f"{self._step!r}: GPUs have waited for another one for {PATIENCE / 1e9:.0f} seconds; it does not come"
            )
        found = {part.code() for part in self.parts}
        if len(found) != 1:
            self.done = True
            raise FrontierError(f"{self._step!r}: GPUs have not done the same; this is an error in Frontier: {found}")
        boundary = False
        try:
            for part in self.parts:
                boundary = part.handle()
        except NotConvergedError as error:
            error.result = self._p  # and not that of one GPU
            raise
        finally:
            self.done = self.parts[0].done
        return boundary

    def _bring_back(self) -> None:
        """Bring to the problem's arrays what only owners have."""
        for part in self.parts:
            part.done = self.done
            part.give()
        first = self._replicas[0]
        for name in self._touches.swapped - first.private:
            self._p.arrays[name] = first.whole.arrays[name]
        if any(part.lost for part in self.parts):
            return
        for name in self.parts[0].piles:
            self._p.piles[name] = self._union([part.pile(name) for part in self.parts])
        touches = self._touches
        changed = touches.changed
        if self._ahead and {part.code() for part in self.parts} <= {codes.DONE, codes.PAUSED}:
            changed = changed - first.private  # which are there already
        loading.bring_back(self._p, self._replicas, changed, touches.mirrored - touches.claimed)
        spread_fields(self._p).known(touches.changed)


@cache
def _atomics(memories: tuple[Memory, ...]) -> bool:
    """Whether atomics of each GPU reach the memory of all others."""
    numbers = sorted({int(getattr(memory, "index", 0)) for memory in memories})
    if detection.simulated() or len(numbers) == 1:
        return True
    found = {(pair.first, pair.second): pair.atomics for pair in peers.pairs(numbers[-1] + 1)}
    return all(found.get(pair, False) for pair in combinations(numbers, 2))


@cache
def _reach(memories: tuple[Memory, ...]) -> bool:
    """Whether kernels of each GPU reach the memory of all others, which is enabled."""
    if detection.simulated():
        return True
    runtime = detection.runtime()
    numbers = sorted({int(getattr(memory, "index", 0)) for memory in memories})
    pairs = [(a, b) for a in numbers for b in numbers if a != b]
    if not all(runtime.deviceCanAccessPeer(a, b) for a, b in pairs):
        return False
    for a, b in pairs:
        with detection.cupy().cuda.Device(a):
            try:
                runtime.deviceEnablePeerAccess(b)
            except RuntimeError as error:  # CuPy's, of the runtime
                if "AlreadyEnabled" not in str(error):
                    raise
    return True
