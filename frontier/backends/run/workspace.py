"""What later runs reuse: memory of loops (queues, prefix sums, bitmaps, stamps), and compiled code with its tables.

A fresh array costs a page fault for every 4 KiB, which takes as long as a short traversal. So workspaces are returned
to a pool of their graph when a run ends. There they stay until the graph goes, or until a GPU has too little memory.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from frontier import tracing
from frontier.compile import codes
from frontier.graph.sparse_offsets import SparseOffsets
from frontier.lowering.builder import Builder
from frontier.lowering.frontier_state import SMALL, FrontierState
from frontier.lowering.inputs import Buffer, Length
from frontier.lowering.module import words
from frontier.lowering.phases import checking
from frontier.memory import kept
from frontier.memory.shortage import explained
from frontier.program.schedule import Schedule
from frontier.system.forks import renewed

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = [
    "Code", "Workspace", "buffer_length", "code_for", "register_derived", "remembered", "retake", "roles",
    "take",
]  # fmt: skip

AnyProgram = TypeVar("AnyProgram", bound=Builder)

_pool: weakref.WeakKeyDictionary[Graph, list[Workspace]] = weakref.WeakKeyDictionary()
_lock = renewed(threading.Lock())

#: Workspaces that a graph keeps for later runs.
KEPT = 2


def roles(graph: Graph) -> dict[str, tuple[np.dtype[Any], int]]:
    """Dtype and length of the arrays of each role."""
    ids, slots = graph.id_dtype, graph.offsets.dtype
    n, m = graph.num_vertices, graph.num_slots
    return {
        "vertex_queue": (ids, n + 1),
        "edge_queue": (slots, m + 1),
        "scan": (slots, n + 1),
        "few_vertex": (ids, 64),
        "few_scan": (slots, 64),
        "bits": (np.dtype(np.uint64), (n + 63) // 64 + 1),
        "touched": (np.dtype(np.uint8), codes.blocks(n) * (codes.BLOCK + 1)),
        "claimed": (np.dtype(np.uint8), codes.blocks(n) * (codes.BLOCK // 4 + 1)),
        "told": (np.dtype(np.uint32), codes.blocks(n) * (codes.BLOCK // 32 + 1)),
        "marks": (np.dtype(np.int64), n + 2),
        "vertex_stamps": (np.dtype(np.int32), n + 1),
        "edge_stamps": (np.dtype(np.int32), m + 1),
        "places": (slots, n),  # of each worker
        "locks": (np.dtype(np.int64), codes.LOCKS),
    }


#: Arrays that operators make of a graph when a program first wants them, by their names.
DERIVED: dict[str, Callable[[Graph, str, int | None], Any]] = {}


def register_derived(name: str, make: Callable[[Graph, str, int | None], Any]) -> None:
    """Let the input ``Derived(name, edges, degree)`` be what ``make(graph, edges, degree)`` returns.

    That is a number, or an array that the graph keeps.
    """
    DERIVED[name] = make


def buffer_length(buffer: Buffer, graph: Graph) -> int:
    """The length of the array that a program's input is."""
    return graph.num_slots // buffer.longer + 1 if buffer.longer else roles(graph)[buffer.role][1]


class Workspace:
    """Arrays by name, made when first asked for.

    Parameters
    ----------
    graph : Graph
    xp : module
        NumPy or CuPy: where the arrays lie.
    address_of : callable
        Where an array lies.
    """

    def __init__(self, graph: Graph, xp: Any, address_of: Callable[[Any], int]) -> None:
        self.xp, self.address_of = xp, address_of
        self.arrays: dict[Any, Any] = {}
        self.epochs: dict[str, int] = {}
        self.stream: tuple[int, int] | None = None  # of a GPU, on which it was used last
        self.kept: dict[str, Any] = {}  # what a backend wants to find again
        self.clock: tuple[int, int] | None = None  # phases and arrivals that counters on a GPU have counted
        self._addresses: dict[Any, int] = {}
        self._made = roles(graph)

    def array(self, name: str, role: str, length: int | None = None) -> Any:
        """The array of a name; stamps begin as 0."""
        dtype, usual = self._made.get(role, (np.dtype(np.int64), 0))
        size = usual if length is None else length
        key = (name, role, size)
        if key not in self.arrays:
            zeros = role.endswith("stamps") or role in ("locks", "touched", "claimed")
            make = self.xp.zeros if zeros else self.xp.empty
            try:
                self.arrays[key] = make(size, dtype)
            except MemoryError as error:
                if self.xp is np:
                    raise explained(error, "the queues of a run") from None
                kept.release()
                self.arrays[key] = make(size, dtype)  # the driver of a GPU is asked where the run began
        return self.arrays[key]

    def bytes_on(self, index: int) -> int:
        """Bytes of its arrays on a GPU."""
        if self.xp is np:
            return 0
        arrays = (*self.arrays.values(), *self.kept.values())
        return sum(int(each.nbytes) for each in arrays if getattr(getattr(each, "device", None), "id", None) == index)

    def address(self, name: str, role: str, length: int | None = None) -> int:
        """Where the array of a name lies."""
        key = (name, role, length)
        if key not in self._addresses:
            self._addresses[key] = self.address_of(self.array(name, role, length))
        return self._addresses[key]

    def graph_address(self, graph: Graph, role: str) -> int:
        """Where an array of the graph lies; the graph itself, kept here, would never be freed."""
        if role not in self._addresses:
            self._addresses[role] = self.address_of(getattr(graph, role))
        return self._addresses[role]

    def packed_address(self, graph: Graph, what: str, part: str) -> int:
        """Where the ``"frames"`` or ``"words"`` of compressed ``"targets"`` or ``"in_sources"`` lie."""
        role = f"{what} {part}"
        if role not in self._addresses:
            whole = graph._topology.ends if what == "targets" or graph.symmetric else graph._in_lists()[1]
            self._addresses[role] = self.address_of(getattr(whole, part))
        return self._addresses[role]

    def sparse_part(self, graph: Graph, what: str, part: str) -> int:
        """What compiled code takes of ``"offsets"`` or ``"in_offsets"`` where one of them is doubly compressed.

        Of plain ones there is no directory: the pointers are of all vertices.
        """
        offsets: Any = getattr(graph, what)
        if not isinstance(offsets, SparseOffsets):
            return self.graph_address(graph, what) if part == "pointers" else 0
        value = getattr(offsets, part)
        return value if part in ("first", "length") else self.address_of(value)  # which lives as long as the graph

    def epoch(self, name: str, role: str) -> int:
        """An epoch that no entry of some stamps holds yet."""
        value = self.epochs.get(name, 0) + 1
        if value > 2**30:  # long before int32 would wrap within a run
            self.array(name, role)[:] = 0
            value = 1
        self.epochs[name] = value
        return value

    def give_back(self, graph: Graph) -> None:
        """Keep this for later runs on the graph."""
        with _lock:
            free = _pool.get(graph)
            if free is None:
                free = _pool[graph] = []
            if len(free) < KEPT:
                free.append(self)


def take(graph: Graph) -> Workspace | None:
    """A workspace that an earlier run has given back, for one run."""
    with _lock:
        free = _pool.get(graph)
        return free.pop() if free else None


def retake(graph: Graph, work: Workspace) -> bool:
    """Take a workspace once more; False if another run has it, or it was not kept."""
    with _lock:
        free = _pool.get(graph)
        if free is None or work not in free:
            return False
        free.remove(work)
        return True


def _idle() -> list[list[Workspace]]:
    return [free for free in list(_pool.values()) if free and free[0].xp is not np]


def _idle_on(index: int) -> int:
    """Bytes of a GPU that workspaces take which no run has."""
    with _lock:
        return sum(work.bytes_on(index) for free in _idle() for work in free)


def _drop_idle() -> None:
    """Forget the workspaces on GPUs that no run has."""
    with _lock:
        dropped = [work for free in _idle() for work in free]
        for free in _idle():
            free.clear()
    del dropped  # their memory is freed once others may go on


kept.also(_idle_on, _drop_idle)


@dataclass(eq=False)
class Code:
    """A compiled program, and what its runs have in common.

    Attributes
    ----------
    program : Builder
    run : callable
        The loop function, or the kernel.
    whole : callable, optional
        Where ``run`` lacks what the program defers: compiles all of it.
    at : dict of str to int
        Position of every variable in the table.
    lengths : list of (str, int)
        Names of the arrays whose lengths checks ask for, and where these stand in the table.
    arrays, scalars : list of (str, int)
        Names of the problem's fields, and where their addresses stand in the table.
    piles : list of str
        Names of the piles that the program uses.
    given, result : dict of str to int
        Positions of the variables of the frontiers with which the program starts and ends.
    tables : mapping of Workspace to table
        Kept for later runs, since much is the same in all runs with a workspace.
    """

    program: Builder
    run: Any
    whole: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        layout, self.at = self.program.layout, words(self.program)
        self.arrays = [(name, self.at[f"field:{name}"]) for name, _ in layout.of_kind("vertex", "edge", "array")]
        self.scalars = [(name, self.at[f"scalar:{name}"]) for name, _ in layout.of_kind("scalar")]
        inputs = self.program.inputs.items()
        self.lengths = [(given.field, self.at[name]) for name, given in inputs if isinstance(given, Length)]
        self.piles = [name for name, _ in layout.of_kind("pile") if f"pile:{name}" in self.at]
        self.given, self.result = self._positions(self.program.given), self._positions(self.program.result)
        self.tables: weakref.WeakKeyDictionary[Workspace, Any] = weakref.WeakKeyDictionary()

    def complete(self) -> None:
        """Make ``run`` the whole program's, since a run has come to what is deferred."""
        whole = self.whole
        if whole is not None:  # else another thread's run was here first
            self.run, self.whole = whole(), None

    def _positions(self, current: FrontierState) -> dict[str, int]:
        return {name: self.at[var.name] for name, var in current.variables().items()}


#: Edge slots per vertex from which on a pull is expected, so that everything is compiled at once.
DENSE = 8


def code_for(program: AnyProgram, graph: Graph, make: Callable[[AnyProgram], Any], known: Callable[[], bool]) -> Code:
    """Code of a program, without what it defers as long as no run has come to it.

    Parameters
    ----------
    program : Builder
    graph : Graph
        The graph on which it runs first. If that is dense, everything is compiled at once, which is faster than twice.
    make : callable
        Compiles a program.
    known : callable
        Whether the code of the whole program is in memory or on disk.
    """
    dense = graph.num_slots >= max(SMALL, DENSE * graph.num_vertices)
    if not program.deferred or dense or known():
        return Code(program, make(program))
    return Code(program, make(program.without_deferred()), lambda: make(program))


CodeOf = Callable[["Step", "Problem", str | None, Schedule], Code]


def remembered(find: CodeOf) -> CodeOf:
    """Let a problem keep which code its last run of a step took: to find it among all takes microseconds."""

    def code_of(step: Step, p: Problem, given: str | None, schedule: Schedule) -> Code:
        key = (given, schedule, tracing.active(), checking(), step._captures)  # looked at when the run began
        last = p.workspace.get(("code", step))
        if last is None or last[0] != key:
            last = p.workspace["code", step] = (key, find(step, p, given, schedule))
        code: Code = last[1]
        return code

    return code_of
