"""Execution of a loop function: its table of addresses and state, and its results.

Backends differ in where arrays lie and how the function is called, which subclasses define.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier import tracing
from frontier.backends.run import windows, workspace
from frontier.backends.run.failures import failure
from frontier.backends.run.interrupts import deferred, undeferred
from frontier.backends.run.workspace import DERIVED, Code, Workspace, buffer_length
from frontier.compile import codes
from frontier.errors import FrontierError, FunctorError, GraphError, NotConvergedError
from frontier.lowering.frontier_state import ALL, BITS, HOW, QUEUE
from frontier.lowering.inputs import (
    Buffer,
    Derived,
    FieldCopies,
    GraphArray,
    HasInLists,
    Input,
    Length,
    Number,
    Size,
    WindowBuffer,
    Windows,
    WorkerArray,
    WorkerTable,
)
from frontier.lowering.phases import checking
from frontier.memory.arrays import to_host
from frontier.memory.disk import reading
from frontier.program.frontiers import Frontier
from frontier.program.time_limit import check as check_time
from frontier.program.time_limit import left

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.lowering.builder import Builder
    from frontier.program.problem import Problem
    from frontier.program.schedule import Schedule
    from frontier.program.step import Step

__all__ = ["LoopExecution"]

#: A run returns to Python after this long, for Ctrl-C.
NANOSECONDS = 100_000_000

#: Rows that the ring of a trace holds.
ROWS = 4096


class LoopExecution:
    """One run of a step; see :class:`frontier.program.execution.Execution`.

    A subclass calls :meth:`_begin` with the code, a workspace and a table: that of an earlier run with these, or a new
    one, which :meth:`_fill` fills; then :meth:`_prepare`.
    """

    #: Name in traces.
    backend = ""

    #: Bytes of edges that were read from outside the memory of the GPU, while there was a trace.
    read = 0

    done: bool
    _code: Code
    _workspace: Workspace
    _table: Any
    # Attributes of the code and the table that are needed many times in a run.
    _program: Builder
    _at: dict[str, int]
    _words: memoryview

    def __init__(self, step: Step, p: Problem, f: Frontier | None, schedule: Schedule) -> None:
        self._p, self._step, self._given = p, step, f
        self._single = not schedule.fuse
        # Of a run that begins again: the state with which it does, for arrays of which the table has the addresses if
        # `_me` was its last user.
        self._arrays: list[Any] = []
        self._image: Any = None
        self._me = object()
        self._kept: list[Any] = []  # arrays whose addresses are in the table, and to which there is no other reference
        self._stored: dict[str, Frontier] = {}
        self.done = False
        self._files = p.graph._topology.files() if p.graph.placement.edges is not None else []
        #: Whether it reads them where they are mapped; else windows of them are read, and compared then.
        self._compares = bool(self._files) and p.graph.placement.residence["fields"] == "host"
        self._passes: int | None = None  # set when the run is done, because others may use the table then
        self._result: Frontier | None = f

    def again(self, f: Frontier | None) -> bool:
        """Begin on the same problem once more, from another frontier; False if another run has its memory.

        It is also False if the run would be another one now, such as with ``FRONTIER_CHECK=1``.
        """
        if self._program.checks != checking() or not workspace.retake(self._p.graph, self._workspace):
            return False
        self._given = self._result = f
        self._kept, self._stored, self._passes, self.done = [], {}, None, False
        self._prepare(again=True)
        return True

    # ---- what a backend says -------------------------------------------------------------------------

    def _call(self) -> None:
        """Run the function until it returns."""
        raise NotImplementedError

    def _view(self, address: int, dtype: np.dtype[Any], length: int) -> Any:
        """Memory of the workspace as an array."""
        raise NotImplementedError

    def _copy(self, address: int, dtype: np.dtype[Any], length: int) -> Any:
        """A copy of a queue in the workspace; none on the host, where a frontier keeps it until it is asked for."""
        return self._view(address, dtype, length).copy() if length else np.empty(0, dtype)

    def _report(self) -> list[int]:
        """The counters' first words, in which a functor that has raised is reported."""
        raise NotImplementedError

    # ---- the table -----------------------------------------------------------------------------------

    def _begin(self, code: Code, work: Workspace, table: Any) -> None:
        """Take over a table with ``words``, a view of it that is quick to read and write, ``state`` and ``begin``."""
        self._code, self._workspace, self._table = code, work, table
        self._program, self._at, self._words = code.program, code.at, table.words

    def _set(self, name: str, value: int) -> None:
        self._words[self._at[name]] = value

    def _get(self, name: str) -> int:
        return self._words[self._at[name]]

    def _fill(self, counters: Any) -> None:
        """What is the same in every run of the program on the graph with this workspace: for a new table."""
        self._set("counters", self._workspace.address_of(counters))
        for name, given in self._program.inputs.items():
            self._set(name, self._input(name, given))
        self._code.tables[self._workspace] = self._table

    def _prepare(self, again: bool = False) -> None:
        """Write the part of the table that belongs to this run, which may begin again."""
        code, work, words, at, table = self._code, self._workspace, self._words, self._at, self._table
        arrays = list(self._p.arrays.values()) if again else []
        if again and table.user is self._me and self._image is not None and all(map(is_, arrays, self._arrays)):
            table.begin(self._image)
        else:
            table.begin()
            self._point()
            table.user = self._me
            if again:
                self._arrays, self._image = arrays, table.state.copy()
        words[at["nanoseconds"]] = NANOSECONDS
        words[at["single"]] = self._single
        self._prepare_own()
        if "stamps" in self._program.inputs:
            self._set("epoch", work.epoch("stamps", "vertex_stamps"))
        for name in code.piles:
            self._prepare_pile(name)
        if self._given is not None:
            self._load(self._given)

    def _point(self) -> None:
        """Write where the problem's arrays and scalars lie."""
        code, address_of, arrays, words = self._code, self._workspace.address_of, self._p.arrays, self._words
        for name, word in code.arrays:
            words[word] = address_of(arrays[name])
        for name, word in code.lengths:
            words[word] = len(arrays[name])

    def _prepare_own(self) -> None:
        """Fill in what only this backend's table has."""

    def _input(self, name: str, given: Input) -> int:
        """The number that an input of a name is, or the address."""
        g, work = self._p.graph, self._workspace
        match given:
            case Number(value):
                return value
            case Size(kind):
                return g.num_vertices if kind == "vertex" else g.num_slots
            case Length(field):
                return len(self._p.arrays[field])
            case GraphArray():
                return self._graph_array(given) if self._has_lists(given) else 0
            case HasInLists(numbers):
                return int(self._program.needs_in or (g.symmetric and not numbers))
            case Derived():
                ready = given.edges == "out" or self._program.needs_in or g.symmetric
                return self._derived(given) if ready else 0
            case Buffer():
                return work.address(name, given.role, buffer_length(given, g) if given.longer else None)
            case Windows() | WindowBuffer():
                return self._of_windows(given)
            case WorkerArray():
                return self._of_workers(name, given)
            case WorkerTable():
                return self._of_tables(given)
            case FieldCopies():
                return self._of_copies(name, given)
        raise AssertionError(f"no run has {given}")

    def _derived(self, given: Derived) -> int:
        found = DERIVED[given.name](self._listed, given.edges, given.degree)
        return found if isinstance(found, int) else self._workspace.address_of(found)  # which the graph keeps

    def _graph_array(self, array: GraphArray) -> int:
        g, work = self._p.graph, self._workspace
        if not array.part:
            return work.graph_address(g, array.name)
        part = work.sparse_part if array.name in ("offsets", "in_offsets") else work.packed_address
        return part(g, array.name, array.part)

    def _has_lists(self, array: GraphArray) -> bool:
        """Whether lists are there from the start of a run: in-lists may be wanted later."""
        if not array.of_in_lists or self._program.needs_in:
            return True
        return self._p.graph.symmetric and array.name != "in_edges"

    @property
    def _listed(self) -> Graph:
        """The graph of whose lists windows and the like are made."""
        return self._p.graph

    def _of_workers(self, name: str, given: WorkerArray) -> int:
        """Address of memory of the workers' own."""
        raise NotImplementedError

    def _of_tables(self, given: WorkerTable) -> int:
        """Size or address of tables of the workers' own; see :mod:`frontier.backends.run.worker_tables`."""
        raise NotImplementedError

    def _of_copies(self, name: str, given: FieldCopies) -> int:
        """Address of the copies of a field that workers add to; 0 if they are to add to the field itself."""
        raise NotImplementedError

    def _of_windows(self, given: Windows | WindowBuffer) -> int:
        """What a program wants of the windows of lists, and of the buffers to which they are copied."""
        g, work, edges = self._listed, self._workspace, given.edges
        if given.what == "table":
            return work.address_of(windows.windows(g, edges))  # which lives as long as the graph
        if given.what == "number":
            return windows.windows_number(g, edges)
        assert isinstance(given, WindowBuffer)
        places = windows.window_places(g, edges, given.column)
        if given.what == "places":
            return places
        size = -(-places * given.itemsize * windows.RING // 8) + 1
        return work.address(f"stream {edges} {given.column}", "words", size)

    def _bring_in_edges(self) -> None:
        """In-lists, wanted by a pull for the first time."""
        inputs = self._program.inputs.items()
        for name, given in inputs:
            if isinstance(given, GraphArray) and given.of_in_lists:
                self._set(name, self._graph_array(given))
            elif isinstance(given, Derived) and given.edges == "in":
                self._set(name, self._derived(given))
        for name, given in inputs:
            if isinstance(given, HasInLists):  # when all are there: there may have been no room for one
                self._set(name, 1)

    # ---- piles and frontiers ---------------------------------------------------------------------------

    def _prepare_pile(self, name: str) -> None:
        kind = self._p.piles[name].kind
        stamps = self._workspace.array(f"stamps_{name}", f"{kind}_stamps")
        self._set(f"pile:{name}", self._workspace.address_of(self._workspace.array(f"pile_{name}", f"{kind}_queue")))
        self._set(f"stamps:{name}", self._workspace.address_of(stamps))
        # A pile's epochs must differ from those that other runs have left in the same stamps.
        self._set(f"epoch:{name}", self._workspace.epoch(f"stamps_{name}", f"{kind}_stamps"))
        self._fill_pile(name)

    def _fill_pile(self, name: str) -> None:
        """Copy a pile that the host has set to where the loop function keeps it."""
        content = self._p.piles[name]
        self._set(f"epoch:{name}", self._get(f"epoch:{name}") + 1)
        if len(content):
            queue = self._view(self._get(f"pile:{name}"), content.id_dtype, len(content))
            queue[:] = self._workspace.xp.asarray(content.ids)
            stamps = self._view(self._get(f"stamps:{name}"), np.dtype(np.int32), content.capacity)
            stamps[queue] = self._get(f"epoch:{name}")
        self._set(f"held:{name}", len(content))
        self._stored[name] = content

    def _load(self, f: Frontier) -> None:
        """The frontier that the program starts with."""
        words, at = self._words, self._code.given
        words[at["kind"]] = f.kind == "edge"
        words[at["count"]] = len(f)
        if f.is_all:
            words[at["form"]] = ALL
            words[at["edges"]] = f.graph.num_slots
            return
        ids = self._workspace.xp.ascontiguousarray(f.ids, f.id_dtype)  # itself, as a rule: queues are only read
        self._kept.append(ids)
        words[at["queue"]] = self._workspace.address_of(ids)
        words[at["form"]] = QUEUE

    @property
    def frontier(self) -> Frontier | None:
        """The current frontier; after the end, what the step gave."""
        if self.done:
            return self._result
        with self._p.graph.placement.memory.using("the frontier of a run"):
            return self._current()

    def _current(self) -> Frontier | None:
        """What the program's result frontier holds."""
        g, words, at = self._p.graph, self._words, self._code.result
        if not self._program.result.kinds:
            return self._given
        kind = "edge" if words[at["kind"]] else "vertex"
        form, count = words[at["form"]], words[at["count"]]
        if form == ALL:
            return Frontier.all(g, kind)
        if form == BITS:
            size = g.num_vertices
            bits = self._view(words[at["bits"]], np.dtype(np.uint8), (size + 63) // 64 * 8)
            mask = self._workspace.xp.unpackbits(bits, bitorder="little")[:size].view(np.bool_)
            return Frontier._of(g, kind, mask=mask)
        dtype = g.id_dtype if kind == "vertex" else g.offsets.dtype
        return Frontier._of(g, kind, ids=self._copy(words[at["queue"]], dtype, count))

    # ---- running -------------------------------------------------------------------------------------------

    @property
    def passes(self) -> int:
        """Passes of all loops begun so far."""
        return self._get("passes") if self._passes is None else self._passes

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes; how many were begun."""
        if self.done:
            return 0
        words, at = self._words, self._at
        before = words[at["passes"]]
        for name, content in self._stored.items():
            if self._p.piles[name] is not content:
                self._fill_pile(name)
        ring = self._begin_trace()
        words[at["nanoseconds"]], limited = NANOSECONDS, left() is not None
        try:
            with deferred(patient=True) as pending:
                while not self.done:
                    if limited:
                        words[at["nanoseconds"]] = min(NANOSECONDS, int((left() or 0) * 1e9))
                    words[at["budget"]] = -1 if passes is None else passes - (words[at["passes"]] - before)
                    self._call_reading()
                    if ring is not None:
                        self._end_trace(ring)
                    if self._handle() and words[at["passes"]] - before == passes:
                        break
                    pending.check()
                    if limited and not self.done:
                        check_time(self._step, self.passes)
        finally:
            self._give()
        return self.passes - before

    def _call_reading(self) -> None:
        """Run for about 100 ms, or a pass; if a file of edges has changed by then, there is an error, and an end."""
        if not self._files:
            self._call()
            return
        try:
            with reading(self._files, zeros=True, compares=self._compares):
                self._call()
        except GraphError:
            self.done = True
            raise

    def _handle(self) -> bool:
        """Act on the reason for which the loop function returned; whether it is at a pass boundary."""
        code = self._get("code")
        if code == codes.DONE:
            self.done = True
            return True
        if code == codes.PAUSED:
            return True
        if code == codes.SINGLE:
            return False
        if code == codes.NEED_IN_EDGES:
            self._bring_in_edges()
            return False
        if code == codes.NEED_CODE:
            with undeferred():
                self._code.complete()
            return False
        detail = self._get("detail")
        self.done = code != codes.UNCONVERGED
        if code >= codes.FUNCTOR_FAILED or code == codes.CLAIMED_TWICE:  # which may have been stored over the other
            report = self._report()
            if code >= codes.FUNCTOR_FAILED or report[codes.FAILED]:
                fields = {name: self._field(name) for name in self._program.checked_fields()}
                raise failure(list(self._program.functors), report, fields)
        if code == codes.UNCONVERGED:
            raise NotConvergedError(f"{self._step!r} is not done after {detail} passes", self._p)
        if code == codes.BAD_VERTEX:
            name = list(self._p.scalars)[detail]
            raise GraphError(
                f"over={name!r}: vertex {self._p.scalars[name][0]} does not exist: valid are "
                f"0..{self._p.graph.num_vertices - 1}"
            )
        if code == codes.RECORD_FULL or (code == codes.CLAIMED_TWICE and self._program.records):
            raise FrontierError(f"{self._step!r}: a recorded element occurs in two passes")
        if code == codes.CLAIMED_TWICE:
            raise FunctorError(
                f"{self._step!r}: a step with unique='claimed' accepted an element more than once; "
                "run it on the python backend to see which"
            )
        raise FrontierError(f"{self._step!r}: the frontier and the pile hold elements of different kinds")

    def _field(self, name: str) -> Any:
        """A field, or an array of the graph that functors see."""
        arrays = self._p.arrays
        return arrays[name] if name in arrays else getattr(self._p.graph, name.removesuffix("__"))

    def _give(self) -> None:
        """Bring back to the problem what the loop function keeps: fields it has swapped, and piles."""
        p = self._p
        if self._program.swaps:
            held = {self._workspace.address_of(array): array for array in p.arrays.values()}
            for name in p.arrays:
                if len(p.arrays[name]):  # empty arrays may share an address
                    p.arrays[name] = held[self._get(f"field:{name}")]
        for name in self._code.piles:
            pile = p.piles[name]
            count = self._get(f"held:{name}")
            if count or len(pile):
                ids = self._copy(self._get(f"pile:{name}"), pile.id_dtype, count)
                p.piles[name] = Frontier._of(p.graph, pile.kind, ids=ids)
            self._stored[name] = p.piles[name]
        if not self.done:
            return
        own = self._step.own and self._given is not None
        unchanged = self._step.passes_through or own
        self._result = self._given if unchanged and self._given is not None else self._current()
        self._release()

    def _release(self) -> None:
        work, piles = self._workspace, self._code.piles
        self._passes = self._get("passes")
        if "stamps" in self._program.inputs:
            work.epochs["stamps"] = self._get("epoch")
        if piles:  # two may have been swapped; the highest epoch is safe for both
            highest = max(self._get(f"epoch:{name}") for name in piles)
            work.epochs.update((f"stamps_{name}", highest) for name in piles)
        work.give_back(self._p.graph)

    # ---- trace ---------------------------------------------------------------------------------------------

    def _begin_trace(self) -> Any:
        active = tracing.active()
        self._set("tracing", active)
        if not active:
            return None
        steps = len(self._program.steps)
        ring = self._workspace.xp.zeros(1 + codes.SUMS * steps + codes.ROW * ROWS, np.int64)
        self._set("ring", self._workspace.address_of(ring))
        self._set("rows", ROWS)
        return ring

    def _far_bytes(self) -> float:
        """Bytes that an edge has in memory other than the GPU's own."""
        return 0

    def _note_read(self, ring: Any) -> Any:
        """Add up the bytes that were read from elsewhere; the sums of all steps, as in the ring."""
        sums = ring[1 : 1 + codes.SUMS * len(self._program.steps)].reshape(-1, codes.SUMS)
        self.read += round(int(sums[:, [1, 3]].sum()) * self._far_bytes())
        return sums

    def _end_trace(self, kept: Any) -> None:
        names = self._program.steps
        ring = to_host(kept)
        sums = self._note_read(ring)
        for name, (calls, edges, nanoseconds, _) in zip(names, sums.tolist(), strict=True):
            if calls:
                tracing.add_totals(name, calls, edges, nanoseconds / 1e9)
        rows = ring[1 + codes.SUMS * len(names) :].reshape(-1, codes.ROW)
        written, far = int(ring[0]), self._far_bytes()
        tracing.add_lost(max(0, written - ROWS))
        for i in range(max(0, written - ROWS), written):
            step, number, direction, before, after, edges, took, brought = rows[i % ROWS].tolist()
            way, balance = HOW[direction]
            tracing.add_row(
                number=number, step=names[step], direction=way, balance=balance, size_in=before,
                size_out=after, edges=edges, seconds=took / 1e9, backend=self.backend,
                read=round((edges + brought) * far) if way else 0,
            )  # fmt: skip
        kept[:] = 0
