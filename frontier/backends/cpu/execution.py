"""Execution of a loop function by threads of the CPU."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from frontier.backends.cpu import helpers, runtime_words
from frontier.backends.cpu.code import compiled, is_known
from frontier.backends.run import field_copies, worker_tables, workspace
from frontier.backends.run.execution import LoopExecution
from frontier.backends.run.workspace import Code, Workspace
from frontier.compile.codes import EXPIRES
from frontier.lowering.builder import Builder
from frontier.lowering.inputs import FieldCopies, WorkerArray, WorkerTable
from frontier.lowering.loops import lower
from frontier.lowering.phases import checking
from frontier.native import threads
from frontier.native.processors import processors
from frontier.program.frontiers import Frontier
from frontier.program.layout import Layout
from frontier.program.time_limit import expires

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule, Schedule
    from frontier.program.step import Step

__all__ = ["CpuExecution"]

#: Graphs with fewer vertices and edges are processed by one worker, because waking another takes longer.
SMALL = 1 << 15

#: Edges and elements of a phase for each worker: with fewer, another thread costs more than it helps.
GRAIN = 1 << 8

#: Edges and elements processed without a helper after which it is woken if it sleeps: what waking takes, some 30 µs.
WAKING = 1 << 15

#: How many threads may work on a run, however many shares phases have; as many as can run at the same time if 0.
CORES = 0


#: Graphs of short lists with so many vertices and edges are pushed by vertices, whose lists are asked for ahead, and
#: which need no prefix sum. (BFS on road-NE takes 24 ms instead of 27, on the grid 53 instead of 64.) In-lists of
#: directed graphs may be long.
BY_VERTICES = 1 << 15


def suited(schedule: ResolvedSchedule, g: Graph) -> ResolvedSchedule:
    """The schedule, with the balance that suits a graph."""
    large = g.num_vertices + g.num_slots >= BY_VERTICES
    return schedule.by_vertices if large and g.traits.short_lists and g.traits.symmetric else schedule


def program_of(step: Step, p: Problem, given: str | None, schedule: Schedule) -> Builder:
    """The program of a step on such problems."""
    return lower(step, Layout.of(p), schedule, given)


@workspace.remembered
def code_of(step: Step, p: Problem, given: str | None, schedule: Schedule) -> Code:
    """The compiled code for a step on such problems, made once."""
    known = step.__dict__.setdefault("_code", {})
    layout = Layout.of(p)
    captures = step._captures  # looked at when the run began
    assert captures is not None
    key = ("cpu", layout, given, schedule, captures.key, checking())
    code = known.get(key)
    if code is None:
        program = program_of(step, p, given, schedule)
        program.captures = captures.parts
        code = known[key] = workspace.code_for(program, p.graph, compiled, lambda: is_known(program))
    return cast("Code", code)


class Table:
    """Addresses and state of a run, and the counters at which its workers meet."""

    def __init__(self, at: dict[str, int], workers: int) -> None:
        self.workers = workers
        self.counters = np.zeros(runtime_words.words(workers), np.int64)
        self._array = np.zeros(len(at), np.int64)
        self.state = self._array[at["pc"] :]
        self.words = self._array.data  # the array takes twice as long for one word
        self.address = address_of(self._array)
        self.user: object = None  # stands for the run whose arrays it has the addresses of

    def begin(self, state: Any = 0) -> None:
        """Begin a run with a state, and forget the run before."""
        self.state[...] = state
        self.counters.fill(0)
        self.counters[runtime_words.GRAIN], self.counters[runtime_words.WAKING] = GRAIN, WAKING


class CpuExecution(LoopExecution):
    """One run of a step on the CPU."""

    backend = "cpu"

    def __init__(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> None:
        schedule = suited(schedule, p.graph)
        super().__init__(step, p, f, schedule)
        code = code_of(step, p, None if f is None else f.kind, schedule)
        g = p.graph
        small = g.num_vertices + g.num_slots < SMALL
        self._alone = small or schedule.deterministic
        workers = self._workers()
        work = workspace.take(g) or Workspace(g, np, address_of)
        table = code.tables.get(work)
        known = table is not None and table.workers == workers
        self._begin(code, work, table if known else Table(code.at, workers))
        if not known:
            self._fill(self._table.counters)
        self._prepare()

    def _workers(self) -> int:
        return 1 if self._alone else threads.num_threads()

    def again(self, f: Frontier | None) -> bool:
        """Begin on the same problem once more; see LoopExecution."""
        return self._table.workers == self._workers() and super().again(f)

    def _point(self) -> None:
        super()._point()
        for name, word in self._code.scalars:
            self._words[word] = address_of(self._p.scalars[name])

    def _of_workers(self, name: str, given: WorkerArray) -> int:
        sizes = {"locals": runtime_words.LOCAL, "places": self._p.graph.num_vertices, "row": given.width}
        role = "places" if given.what == "places" else "words"
        return self._workspace.address(name, role, self._table.workers * sizes[given.what])

    def _of_copies(self, name: str, given: FieldCopies) -> int:
        length = field_copies.words_of(given, self._p.graph, self._table.workers)
        return self._workspace.address(name, "words", length) if length else 0

    def _of_tables(self, given: WorkerTable) -> int:
        size = worker_tables.of_thread(self._p.graph, given.edges)
        if given.what == "size":
            return size
        return self._workspace.address(f"tables {given.edges}", "words", self._table.workers * 2 * size)

    def _report(self) -> list[int]:
        found: list[int] = self._table.counters[: runtime_words.LINE].tolist()
        return found

    def _view(self, address: int, dtype: np.dtype[Any], length: int) -> np.ndarray:
        if length == 0:
            return np.empty(0, dtype)
        memory: Any = (ctypes.c_char * (length * dtype.itemsize)).from_address(address)
        return np.asarray(np.frombuffer(memory, dtype))

    def _call(self) -> None:
        run, address, workers = self._code.run, self._table.address, self._table.workers
        self._table.counters[EXPIRES] = expires()
        if workers == 1:
            run(address, 0, 1)
            return
        try:
            team = helpers.idle.take(min(workers, CORES or processors()) - 1)
        except BaseException as error:
            self.done = not isinstance(error, KeyboardInterrupt)
            raise
        counters = self._table.counters
        counters[runtime_words.HELPERS] = len(team)
        counters[runtime_words.MAILBOXES : runtime_words.MAILBOXES + len(team)] = [each.mailbox for each in team]
        try:
            run(address, 0, workers)
        finally:
            helpers.idle.give_back(team)


def address_of(array: np.ndarray) -> int:
    """Where an array lies."""
    try:
        return ctypes.addressof(_Byte.from_buffer(array))  # type: ignore[arg-type]  # a fifth of the other's time
    except (TypeError, ValueError):  # it is read-only, or empty
        return int(array.__array_interface__["data"][0])


_Byte = ctypes.c_char
