"""Execution of a loop function: its table of addresses and state, and what it gives back.

What differs between backends is where arrays lie and how the function is called: a subclass says that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier import tracing
from frontier.backends import codes
from frontier.backends.hubs import hub_ids, hub_number
from frontier.backends.interrupts import deferred
from frontier.backends.workspace import Workspace
from frontier.device import to_host
from frontier.errors import FrontierError, FunctorError, GraphError, NotConvergedError
from frontier.frontiers import Frontier
from frontier.lowering.loops import Program
from frontier.lowering.registers import ALL, BITS, HOW, QUEUE

if TYPE_CHECKING:
    from frontier.problem import Problem
    from frontier.schedule import Schedule
    from frontier.step import Step

__all__ = ["LoopExecution"]

#: A run returns to Python after this long, for Ctrl-C.
NANOSECONDS = 100_000_000

#: Rows that the ring of a trace holds.
ROWS = 4096


class LoopExecution:
    """One run of a step; see :class:`frontier.execution.Execution`.

    A subclass sets ``_program`` and ``_at`` (position of every variable in the table), the workspace and the counters,
    then calls :meth:`_prepare` (or, with a table used before, only its second part).
    """

    #: Name in traces.
    backend = ""

    _program: Program
    _at: dict[str, int]
    _workspace: Workspace
    _counters: Any
    _table: Any

    def __init__(self, step: Step, p: Problem, f: Frontier | None, schedule: Schedule) -> None:
        self._p, self._step, self._given = p, step, f
        self._single = not schedule.fuse
        self._kept: list[Any] = []  # arrays whose addresses are in the table
        self._stored: dict[str, Frontier] = {}
        self.done = False
        self._result: Frontier | None = f

    # ---- what a backend says -------------------------------------------------------------------------

    def _call(self) -> None:
        """Run the function until it returns."""
        raise NotImplementedError

    def _view(self, address: int, dtype: np.dtype[Any], length: int) -> Any:
        """Memory of the workspace as an array."""
        raise NotImplementedError

    def _local(self, name: str, role: str) -> int:
        """Address of the workers' own arrays."""
        raise NotImplementedError

    # ---- the table -----------------------------------------------------------------------------------

    def _set(self, name: str, value: int) -> None:
        self._table[self._at[name]] = value

    def _get(self, name: str) -> int:
        return int(self._table[self._at[name]])

    def _address(self, array: Any) -> int:
        self._kept.append(array)
        return self._workspace.address_of(array)

    def _prepare(self) -> None:
        """Fill a new table."""
        self._prepare_inputs()
        self._prepare_run()

    def _prepare_inputs(self) -> None:
        """What is the same in every run of the program on the graph with this workspace."""
        self._set("counters", self._address(self._counters))
        for name, role in self._program.inputs.items():
            self._set(name, self._input(name, role))

    def _prepare_run(self) -> None:
        """What belongs to this run."""
        p, program = self._p, self._program
        self._set("nanoseconds", NANOSECONDS)
        self._set("single", int(self._single))
        for name, array in p.arrays.items():
            self._set(f"a_{name}", self._address(array))
        self._prepare_own()
        if "stamps" in program.inputs:
            self._set("epoch", self._workspace.epoch("stamps", "vertex_stamps"))
        for name in self._piles():
            self._prepare_pile(name)
        if self._given is not None:
            self._load(self._given)

    def _prepare_own(self) -> None:
        """Fill in what only this backend's table has: here the addresses of scalars."""
        for name, scalar in self._p.scalars.items():
            self._set(f"p_{name}", int(scalar.ctypes.data))

    def _input(self, name: str, role: str) -> int:
        g, program, work = self._p.graph, self._program, self._workspace
        if role == "n":
            return g.num_vertices
        if role == "m":
            return g.num_edges
        if role in ("offsets", "targets", "weights", "sources"):
            return work.graph_address(g, role)
        if role in ("in_offsets", "in_sources"):
            return work.graph_address(g, role) if program.needs_in or g.symmetric else 0
        if role == "in_edges":
            return work.graph_address(g, role) if program.needs_in else 0
        if role == "has_in":
            ready = program.needs_in or (g.symmetric and name == "has_in")
            return int(ready)
        if role == "stamps":
            return work.address(name, "vertex_stamps")
        if role.startswith("hub_ids"):
            return work.address_of(hub_ids(g, role))  # which lives as long as the graph
        if role.startswith("hub"):
            return hub_number(g, role)
        if role == "local":
            return self._local(name, role)
        return work.address(name, role)

    def _bring_in_edges(self) -> None:
        """In-lists, wanted by a pull for the first time."""
        inputs = self._program.inputs
        for name, role in inputs.items():
            if role in ("in_offsets", "in_sources", "in_edges"):
                self._set(name, self._workspace.graph_address(self._p.graph, role))
            elif role == "has_in":
                self._set(name, 1)

    # ---- piles and frontiers ---------------------------------------------------------------------------

    def _piles(self) -> list[str]:
        return [name for name in self._p.piles if f"pile_{name}" in self._at]

    def _prepare_pile(self, name: str) -> None:
        kind = self._p.piles[name].kind
        stamps = self._workspace.array(f"stamps_{name}", f"{kind}_stamps")
        self._set(f"pile_{name}", self._address(self._workspace.array(f"pile_{name}", f"{kind}_queue")))
        self._set(f"stamps_{name}", self._address(stamps))
        # A pile's epochs must not meet those that other runs left in the same stamps.
        self._set(f"epoch_{name}", self._workspace.epoch(f"stamps_{name}", f"{kind}_stamps"))
        self._fill_pile(name)

    def _fill_pile(self, name: str) -> None:
        """Copy a pile that the host has set to where the loop function keeps it."""
        content = self._p.piles[name]
        dtype = content.id_dtype
        queue = self._view(self._get(f"pile_{name}"), dtype, len(content))
        queue[:] = self._workspace.xp.asarray(content.ids)
        capacity = content.capacity
        stamps = self._view(self._get(f"stamps_{name}"), np.dtype(np.int32), capacity)
        self._set(f"epoch_{name}", self._get(f"epoch_{name}") + 1)
        stamps[queue] = self._get(f"epoch_{name}")
        self._set(f"held_{name}", len(content))
        self._stored[name] = content

    def _load(self, f: Frontier) -> None:
        """The frontier that the program starts with."""
        register = self._program.given
        self._set(register.kind, int(f.kind == "edge"))
        self._set(register.count, len(f))
        if f.is_all:
            self._set(register.form, ALL)
            self._set(register.edges, f.graph.num_edges)
            return
        role = "ids" if f.kind == "vertex" else "slots"
        array = self._workspace.array(register.buffer(role, "a"), f"{f.kind}_queue")
        array[: len(f)] = self._workspace.xp.asarray(f.ids)
        self._set(register.queue, self._address(array))
        self._set(register.form, QUEUE)

    @property
    def frontier(self) -> Frontier | None:
        """The current frontier; after the end, what the step gave."""
        return self._result if self.done else self._current()

    def _current(self) -> Frontier | None:
        """What the program's result register holds."""
        g, register = self._p.graph, self._program.result
        if not register.kinds:
            return self._given
        kind = "edge" if self._get(register.kind) else "vertex"
        form, count = self._get(register.form), self._get(register.count)
        if form == ALL:
            return Frontier.all(g, kind)
        if form == BITS:
            size = g.num_vertices
            bits = self._view(self._get(register.bits), np.dtype(np.uint8), (size + 63) // 64 * 8)
            mask = self._workspace.xp.unpackbits(bits, bitorder="little")[:size].view(np.bool_)
            return Frontier._of(g, kind, mask=mask)
        dtype = g.targets.dtype if kind == "vertex" else g.offsets.dtype
        return Frontier._of(g, kind, ids=self._view(self._get(register.queue), dtype, count).copy())

    # ---- running -------------------------------------------------------------------------------------------

    @property
    def passes(self) -> int:
        """Passes of all loops begun so far."""
        return self._get("passes")

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes; how many were begun."""
        before = self._get("passes")
        for name, content in self._stored.items():
            if self._p.piles[name] is not content:
                self._fill_pile(name)
        ring = self._begin_trace()
        try:
            with deferred() as pending:
                while not self.done:
                    begun = self._get("passes") - before
                    left = -1 if passes is None else passes - begun
                    self._set("budget", left)
                    self._call()
                    if ring is not None:
                        self._end_trace(ring)
                    if self._handle() and self._get("passes") - before == passes:
                        break
                    pending.check()
        finally:
            self._give()
        return self._get("passes") - before

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
        detail = self._get("detail")
        self.done = code != codes.UNCONVERGED
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
        raise FrontierError(f"{self._step!r}: a frontier of the other kind than its pile's")

    def _give(self) -> None:
        """Bring back to the problem what the loop function keeps: fields it has swapped, and piles."""
        p = self._p
        if self._program.swaps:
            held = {self._workspace.address_of(array): array for array in p.arrays.values()}
            for name in p.arrays:
                if len(p.arrays[name]):  # empty arrays may share an address
                    p.arrays[name] = held[self._get(f"a_{name}")]
        for name in self._piles():
            pile = p.piles[name]
            ids = self._view(self._get(f"pile_{name}"), pile.id_dtype, self._get(f"held_{name}"))
            if len(ids) or len(pile):
                p.piles[name] = Frontier._of(p.graph, pile.kind, ids=ids.copy())
            self._stored[name] = p.piles[name]
        if not self.done:
            return
        own = self._step.own and self._given is not None
        unchanged = self._step.passes_through or own
        self._result = self._given if unchanged and self._given is not None else self._current()
        self._release()

    def _release(self) -> None:
        work = self._workspace
        if "stamps" in self._program.inputs:
            work.epochs["stamps"] = self._get("epoch")
        # Two piles may have been swapped; the highest epoch is safe for both.
        highest = max((self._get(f"epoch_{name}") for name in self._piles()), default=0)
        for name in self._piles():
            work.epochs[f"stamps_{name}"] = highest
        work.give_back(self._p.graph)

    # ---- trace ---------------------------------------------------------------------------------------------

    def _begin_trace(self) -> Any:
        self._set("tracing", int(tracing.active()))
        if not tracing.active():
            return None
        steps = len(self._program.steps)
        ring = self._workspace.xp.zeros(1 + codes.SUMS * steps + codes.ROW * ROWS, np.int64)
        self._set("ring", self._address(ring))
        self._set("rows", ROWS)
        return ring

    def _end_trace(self, kept: Any) -> None:
        names = self._program.steps
        ring = to_host(kept)
        sums = ring[1 : 1 + codes.SUMS * len(names)].reshape(-1, codes.SUMS)
        for name, (calls, edges, nanoseconds) in zip(names, sums.tolist(), strict=True):
            if calls:
                tracing.add_totals(name, calls, edges, nanoseconds / 1e9)
        rows = ring[1 + codes.SUMS * len(names) :].reshape(-1, codes.ROW)
        written = int(ring[0])
        tracing.add_lost(max(0, written - ROWS))
        for i in range(max(0, written - ROWS), written):
            step, number, direction, before, after, edges, took, _ = rows[i % ROWS].tolist()
            way, balance = HOW[direction]
            tracing.add_row(
                number=number, step=names[step], direction=way, balance=balance, size_in=before,
                size_out=after, edges=edges, seconds=took / 1e9, backend=self.backend,
            )  # fmt: skip
        kept[:] = 0
