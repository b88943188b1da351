"""Execution of a loop kernel on one GPU.

The table of addresses and state is the parameter list of the kernel, which the driver reads from host memory at the
launch. At its end, the kernel writes the state to pinned memory. So a run is one launch and one wait, without copies.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from frontier import tracing
from frontier.backends.cuda import launch
from frontier.backends.cuda.compile import runtime_words
from frontier.backends.cuda.program import Build, CudaProgram
from frontier.backends.run import worker_tables, workspace
from frontier.backends.run.execution import LoopExecution
from frontier.backends.run.workspace import Code, Workspace
from frontier.errors import DeviceLostError, FrontierError
from frontier.lowering.inputs import GraphArray, WorkerTable
from frontier.lowering.loops import lower
from frontier.lowering.phases import checking
from frontier.memory.arrays import to_host
from frontier.memory.base import Memory
from frontier.program.frontiers import Frontier
from frontier.program.layout import Layout
from frontier.program.loop import Loop
from frontier.program.schedule import Schedule
from frontier.program.step import walk

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["CudaExecution"]

#: With the constants of this schedule, a low-degree variant need not support pulls.
USUAL = Schedule().resolved()

#: Largest degree up to which a few lanes may process any list.
BOUNDED = 1024

#: A lock for each device: a cooperative grid occupies it entirely.
_running: dict[Memory, threading.Lock] = defaultdict(threading.Lock)


def build_of(g: Graph, step: Step, schedule: Schedule) -> Build:
    """The build that suits a graph; the full one, if the schedule asks for what only that has."""
    largest, edges = g.max_degree, g.placement.edges
    small = g.num_vertices + g.num_slots < 1 << runtime_words.HALF
    streams = edges is not None and edges.residence == "host"
    known: dict[Any, Build] = step.__dict__.setdefault("_builds", {})
    lists = g.traits.short_lists, 4 if largest <= 4 else 8, largest <= BOUNDED
    key = (schedule, tracing.active(), *lists, small, streams)
    build = known.get(key)
    if build is None:
        build = known[key] = _build_of(step, *key)
    return build


def _build_of(
    step: Step, schedule: Schedule, traced: bool, short_lists: bool, lanes: int, bounded: bool, small: bool,
    streams: bool,
) -> Build:  # fmt: skip
    schedule = schedule.resolved()
    asked = [schedule, *(part.schedule.resolved() for part in walk(step) if part.schedule is not None)]
    if any(one.deterministic for one in asked):
        raise FrontierError(
            "deterministic=True: the order of a GPU's threads differs from run to run; use it on g.to('cpu')"
        )
    plain = all(
        one.balance in ("auto", "thread") and one.dedup in ("auto", "claim")
        and all(getattr(one, x) == getattr(USUAL, x) for x in ("queue", "switch", "alpha", "beta", "hub_cache"))
        for one in asked
    )  # fmt: skip
    packs = small and any(getattr(part, "held", None) is not None for part in walk(step))
    return Build(plain and short_lists, lanes, bounded, _is_dense(step), traced, not schedule.fuse, packs, streams)


def _is_dense(step: Step) -> bool:
    """Whether no loop of a program begins with a few vertices."""
    few = any(part.takes_pile or _begins_with_few(part) for part in walk(step))
    return not few and not step.needs_frontier()


def _begins_with_few(step: Step) -> bool:
    if not isinstance(step, Loop):
        return False
    return step.take is not None or step.record is not None or step.over not in (None, "vertices", "edges")


def program_of(step: Step, p: Problem, given: str | None, schedule: Schedule) -> CudaProgram:
    """The program of a step for problems and graphs of this kind."""
    build = build_of(p.graph, step, schedule)
    program = lower(step, Layout.of(p), schedule, given, lambda a, b: CudaProgram(a, b, build))
    assert isinstance(program, CudaProgram)
    return program


@workspace.remembered
def code_of(step: Step, p: Problem, given: str | None, schedule: Schedule) -> Code:
    """The compiled code of a step for problems and graphs of this kind, made once."""
    known = step.__dict__.setdefault("_code", {})
    layout, build = Layout.of(p), build_of(p.graph, step, schedule)
    captures = step._captures  # looked at when the run began
    assert captures is not None
    key = (p.graph.placement.memory, layout, given, schedule, build, captures.key, checking())
    code = known.get(key)
    if code is None:
        program = program_of(step, p, given, schedule)
        program.captures = captures.parts


        def make(program: CudaProgram) -> Any:
            return launch.kernel(program, lambda: _blame(step, layout, schedule, given))

        code = known[key] = workspace.code_for(program, p.graph, make, lambda: launch.is_known(program))
    return cast("Code", code)


def _blame(step: Step, layout: Layout, schedule: Schedule, given: str | None) -> None:
    """Raise the FunctorError that the cpu backend would: what is wrong with a functor is wrong there too."""
    from frontier.backends.cpu.code import compiled

    compiled(lower(step, layout, schedule, given))


class CudaExecution(LoopExecution):
    """One run of a step on a GPU."""

    backend = "cuda"

    #: Whether the GPU cannot be used any more.
    _lost = False

    def __init__(self, step: Step, p: Problem, f: Frontier | None, schedule: Schedule) -> None:
        super().__init__(step, p, f, schedule)
        g = p.graph
        memory = g.placement.memory
        with memory.using():
            code = code_of(step, p, None if f is None else f.kind, schedule)
            work = workspace.take(g) or Workspace(g, memory.xp, launch.address_of)
            stream = launch.current_stream()
            if work.stream not in (None, stream):  # there a copy of a result may still wait
                memory.synchronize()
            work.stream = stream
            known = code.tables.get(work)
            self._begin(code, work, known or launch.Exchange(code.at, list(p.scalars.values())))
            if work.clock is None:
                self._counters().fill(0)
                work.clock = (0, 0)
            if known is None:
                self._fill(self._counters())
            self._prepare()

    def again(self, f: Frontier | None) -> bool:
        """Begin on the same problem once more, while its GPU is current; see LoopExecution."""
        work = self._workspace
        if self._lost or work.stream != launch.current_stream() or work.clock is None:
            return False
        return super().again(f)

    def _counters(self) -> Any:
        """The counters. They go on from where the last run left them, which saves a launch that would clear them."""
        return self._workspace.array("counters", "words", runtime_words.size(self._code.run.most_blocks))

    # ---- what a backend says -------------------------------------------------------------------------

    def _prepare_own(self) -> None:
        """Fill in where the counters stand. Scalars are passed with every call."""
        assert self._workspace.clock is not None
        words, at = self._words, self._at
        words[at["t"]], words[at["arrivals"]] = self._workspace.clock

    def _of_tables(self, given: WorkerTable) -> int:
        g, work, run = self._p.graph, self._workspace, self._code.run  # the whole program's may have more threads
        size = worker_tables.of_warp(g, given.edges)
        if given.what == "size":
            return size
        role = "words" if given.what == "keys" else "places"
        length = run.most_threads // 32 * (size + worker_tables.EXTRA)
        return work.address(f"table {given.what} {given.edges}", role, length)

    def _report(self) -> list[int]:
        self._workspace.clock = None  # so that the next run clears the counters
        found: list[int] = to_host(self._counters()[: runtime_words.FIRST]).tolist()
        return found

    def _view(self, address: int, dtype: np.dtype[Any], length: int) -> Any:
        if length == 0:
            return self._workspace.xp.empty(0, dtype)
        return launch.memory_at(address, dtype, length)

    def _copy(self, address: int, dtype: np.dtype[Any], length: int) -> Any:
        return launch.copied(address, dtype, length) if length else np.empty(0, dtype)

    def _far_bytes(self) -> float:
        g = self._p.graph
        if g.placement.residence["edges"] != "host":
            return 0
        each = g._topology.ends.nbytes / max(g.num_slots, 1)
        if g.weights is not None and GraphArray("weights") in self._program.inputs.values():
            each += g.weights.itemsize
        return float(each * (1 - getattr(g.placement.edges, "share", 0)))

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes; how many were begun."""
        with self._p.graph.placement.memory.using():
            return super().proceed(passes)

    def _give(self) -> None:
        if not self._lost:
            super()._give()

    def _call(self) -> None:
        work, table, words, at = self._workspace, self._table, self._words, self._at
        assert work.clock == (words[at["t"]], words[at["arrivals"]]), "a workspace is used by one run at a time"
        work.clock = None  # should the launch fail, the next run begins anew
        scalars = list(self._p.scalars.values())
        table.give(scalars)
        with _running[self._p.graph.placement.memory]:
            try:
                self._code.run(table)
            except DeviceLostError:
                self.done = self._lost = True  # nothing can be brought back
                raise
        table.take(scalars)
        work.clock = (words[at["t"]], words[at["arrivals"]])
