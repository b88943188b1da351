"""A program for the GPU and the source text of its kernel: what differs from the cpu backend.

The low-degree variant of a program (``low_degree``) is for graphs whose largest degree is small (roads, grids, meshes):
a few lanes share a vertex's list, frontiers carry the first slot of every list instead of the prefix sum of degrees,
and no decision depends on numbers of edges. All other graphs use the general variant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from frontier.backends.cuda.compile.runtime_words import FREE, NOTHING, PREFIX, START, scratch
from frontier.backends.cuda.printers import LeaderPrinter, ThreadPrinter
from frontier.lowering.builder import Builder
from frontier.lowering.frontier_forms import Frontiers
from frontier.lowering.frontier_state import IN, OUT, FrontierState, form
from frontier.lowering.ir import Call, Expr, Phase, Value, Var, equal, expression
from frontier.lowering.kernels import Made
from frontier.lowering.module import module_text
from frontier.lowering.printer import Printer
from frontier.lowering.variables import SLOT, WORDS, WORKER, WORKERS, pointer
from frontier.program.layout import Layout
from frontier.program.schedule import ResolvedSchedule

__all__ = ["Acceptance", "Build", "CudaFrontiers", "CudaProgram", "scratch_of", "text"]

#: Calls of functors, see :mod:`frontier.compile.functors.guards`.
CALLS = ("calling", "tried", "tried_value")

_MODES = {NOTHING: Var("NOTHING"), PREFIX: Var("PREFIX"), START: Var("START")}

_IMPORTS = """import numpy as np

from frontier.compile.argument_tuples import *
from frontier.backends.cuda.device.machine import *
from frontier.backends.cuda.device.machine import GUARDS, POINTERS, SHARED, bits_of, checked, integer
from frontier.backends.cuda.device.machine import key_down, key_up, namedtuple, phases, truth
from frontier.backends.cuda.device.runtime import *
from frontier.backends.cuda.device.reductions import *
from frontier.backends.cuda.device.appends import *
from frontier.backends.cuda.device.queues import *
from frontier.backends.cuda.device.collectives import *

""" + "\n".join(
    f"{name}_at = POINTERS[{name!r}]"
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
        "wide_int8", "wide_int16", "wide_int32",
    )
) + "\n" + "\n".join(f"{name}_shared = SHARED[{name!r}]" for name in ("int32", "uint32", "int64", "float64"))


@dataclass(frozen=True)
class Build:
    """The properties of a graph and a run on which a kernel's text depends.

    Attributes
    ----------
    low_degree : bool
        Whether every list is short.
    lanes : int
        Lanes that share a vertex's list where the balance is ``thread``: a power of two.
    bounded : bool
        Whether no list is so long that the few lanes which share it would hold up the others.
    dense : bool
        Whether the program mostly goes over all vertices or edges. Then its time depends on the memory's bandwidth, not
        on the length of the chain of loads in a pass.
    traced, single : bool
        Whether rows of a trace are written, and whether the kernel ends after every step. They are constants of the
        text, so that code for what is not wanted does not exist: all warps would run it between phases.
    packs : bool
        Whether the graph is so small that two counts of a phase may share a word.
    streams : bool
        Whether the edges lie in the host's memory, so that passes over all of them bring them window by window.
    short : bool
        Whether every list is short, where several GPUs run the program; ``low_degree`` is for one.
    """

    low_degree: bool = False
    lanes: int = 8
    bounded: bool = False
    dense: bool = False
    traced: bool = False
    single: bool = False
    packs: bool = False
    streams: bool = False
    short: bool = False


class Acceptance(Protocol):
    """Where several GPUs run a program: how the owners of vertices get to know which of them a push accepts."""

    def how(self, step: Any) -> str:
        """``"share"``, ``"told"`` or ``"direct"``: see ``deduplication`` of Advance."""

    def tests(self, step: Any, target: FrontierState, passes_over: bool) -> dict[str, Value]:
        """Arguments of the tests which vertices are accepted; ``passes_over`` those of which it is known already."""

    def deliver(self, step: Any) -> Made:
        """What appends vertices to their owners' frontiers, where that is how."""

    def few(self, step: Any, source: FrontierState, target: FrontierState) -> Expr | None:
        """Whether a frontier has so few edges that a push claims at the owners; None: this step never does."""


class CudaFrontiers(Frontiers):
    """The frontiers of a program for a GPU."""

    b: CudaProgram

    def scanned(self, current: FrontierState, next_scan: str) -> None:
        """Make a frontier a queue with the prefix sum of its degrees, which low-degree builds do not need."""
        if self.b.low_degree:
            self.sparse(current)
        else:
            super().scanned(current, next_scan)

    def queue_of_bits(self, current: FrontierState, next_scan: str) -> None:
        """Make a frontier that is a bitmap a queue of ids, and what appends carry of the lists that are wanted next."""
        queue, scan = self.target(current, "vertex")
        written, own = self.b.written(next_scan), self.own_range("vertex")
        call = Call(
            "queue_of_bits" if own is None else "queue_of_own", WORDS, SLOT, self.b.big, WORKER, WORKERS,
            pointer("uint32", current.bits), *(own or (self.b.capacity("vertex"),)),
            pointer(self.b.layout.ids, queue), pointer(self.b.layout.offsets, scan),
            self.b.mode(written), self.b.lists(next_scan)[0],
        )  # fmt: skip
        self.b.phase(call, self.produced(current, "vertex", written), "list the vertices of the bitmap")

    def single(self, current: FrontierState, vertex: Expr) -> None:
        """Make a frontier one vertex, with its scan. All blocks write the same, so no barrier of the grid is needed."""
        queue, scan = self.target(current, "vertex")
        put = "write_single" if self.b.decides else "put_single"
        ids, offsets = pointer(self.b.layout.ids, queue), pointer(self.b.layout.offsets, scan)
        self.b.set(current.edges, Call(put, ids, offsets, self.b.mode("out"), self.b.lists("out")[0], vertex))
        self.b.add(*self.turned(current, queue, "vertex"))
        self.b.set(current.count, 1)
        self.b.set(current.form, form(OUT))


class CudaProgram(Builder):
    """A program whose workers are the threads of a cooperative grid."""

    backend = "cuda"
    sharers = "blocks"

    #: The text of its module, once it is ready; what that imports besides the runtime of all kernels.
    whole_text: str | None = None
    imports = ""

    #: How owners get to know what is accepted, where several GPUs run it.
    acceptance: Acceptance | None = None

    def __init__(
        self,
        layout: Layout,
        schedule: ResolvedSchedule,
        build: Build,
        frontiers: Callable[[CudaProgram], CudaFrontiers] = CudaFrontiers,
    ) -> None:
        self.build, self.low_degree = build, build.low_degree
        #: Whether the phase in the making announces by itself that its block has arrived at the barrier.
        self.arrived = False
        #: Whether it counts the vertices that it holds back in the same word as those that it appends.
        self.holds = False
        #: Whether one thread of a block decides what comes next, see :mod:`frontier.backends.cuda.printers`.
        self.decides = not build.low_degree or build.dense
        #: Whether a phase has so many loads per thread in flight that more registers help more than more warps.
        self.low_occupancy = False
        #: Whether a phase uses the block's scratch memory, and whether it holds edges there.
        self.scratch = self.sifts = False
        #: Who runs it, if that is not one GPU alone, and what makes its text then.
        self.runners = ""
        self.prints: Callable[[CudaProgram], Printer] | None = None
        super().__init__(layout, schedule, frontiers)

    @property
    def described(self) -> str:
        """What runs the program, and on which graphs, in words."""
        low = f"graphs of low degree, {self.build.lanes} lanes to a list"
        lists = low if self.low_degree else "graphs of any degrees"
        who = "one thread of each block" if self.decides else "each of them"
        control = f"{who} executes the control flow between phases"
        return f"{self.runners}cuda: one kernel, run by all threads of the GPU; for {lists}; {control}"

    @property
    def big(self) -> bool:
        """Whether the numbers of elements and of edges do not fit into one word; low-degree builds count no edges."""
        return self.layout.offsets == "int64" and not self.low_degree

    def printer(self) -> Printer:
        """What makes the text of the kernel."""
        return (self.prints or (LeaderPrinter if self.decides else ThreadPrinter))(self)

    def written(self, next_scan: str) -> str:
        """Which scan an append writes beside the ids if the next step wants ``next_scan``.

        None in a big build: what an append reserves there are two words, so a place in the queue and the edges before
        it would not go together. Where the scan is needed, phases of their own make it.
        """
        return "" if self.big else next_scan

    def mode(self, next_scan: str) -> Var:
        """What an append writes beside the ids."""
        return _MODES[self.mode_number(next_scan)]

    def mode_number(self, next_scan: str) -> int:
        """The same as a constant."""
        return NOTHING if not next_scan else START if self.low_degree else PREFIX

    def carries(self, next_scan: str) -> bool:
        """Whether an append writes the first slots of the lists beside the ids."""
        return bool(next_scan) and self.low_degree

    def phase(self, *given: Any, **named: Any) -> Phase:
        """Work that is divided among the threads, then a barrier, then decisions from its counters."""
        made = super().phase(*given, **named)
        made.arrived, made.waits = self.arrived, self.holds
        return made

    def without_deferred(self) -> Self:
        """The same program, but that the run leaves with ``NEED_CODE`` where something deferred begins."""
        made = super().without_deferred()
        made.whole_text = None
        return made

    def swap(self, first: str, second: str) -> None:
        """Exchange two fields, and count the swaps: since they are no phases, nothing else would tell of them."""
        super().swap(first, second)
        swaps = self.keep("swaps", "swaps")
        self.set(swaps, swaps + 1)

    def carried(self, current: FrontierState, edges: str) -> Expr:
        """Whether a frontier's queue carries the first slots of its vertices' lists."""
        return equal(current.form, form(OUT if edges == "out" else IN)) if self.low_degree else expression(False)


def scratch_of(program: CudaProgram) -> int:
    """Bytes of a block's scratch memory.

    If no phase uses any, it is left to the first-level cache: then an iteration of PageRank on R-MAT 24 takes 5.1 ms
    instead of 5.4.
    """
    if not program.scratch:
        return FREE
    ids, offsets = (np.dtype(name).itemsize for name in (program.layout.ids, program.layout.offsets))
    return scratch(ids, offsets, program.sifts)


def text(program: CudaProgram) -> str:
    """The whole module of a program that is ready, made once."""
    if program.whole_text is None:
        program.whole_text = _text(program)
    return program.whole_text


def _text(program: CudaProgram) -> str:
    width = "np.int64" if program.layout.offsets == "int64" else "np.int32"
    build = program.build
    calls = [f"{name} = GUARDS[{not program.decides}].{name}" for name in CALLS]
    ids, offsets = program.layout.ids, program.layout.offsets
    constants = [f"ids_shared = {ids}_shared", f"offsets_shared = {offsets}_shared"]
    constants += [f"IDS = {np.dtype(ids).itemsize}", f"OFFSETS = {np.dtype(offsets).itemsize}"]
    constants += [f"I = {width}", f"tracing = {build.traced}", f"single = {build.single}"]
    phase = "phase = phases(globals())"
    pointers = [f"{name}_at = POINTERS[{name!r}]" for name in program.pointer_types()]
    imports = "\n".join([_IMPORTS, *pointers, *calls, *program.checkers(), *constants, phase])
    return module_text(program, imports + program.imports, program.printer().function())
