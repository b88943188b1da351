"""Program: the text of a loop kernel. What differs from the cpu backend's text is here and in ``operators/*/cuda``.

A *narrow* build is for graphs whose largest degree is small (roads, grids, meshes): a few lanes share a vertex's
list, frontiers carry the first slot of every list along instead of the scan of degrees, and nothing is decided by
numbers of edges. All other graphs get the full build.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

import numpy as np

from frontier.backends.cuda import decider
from frontier.backends.cuda.runtime_words import FREE, scratch
from frontier.lowering.layout import Layout
from frontier.lowering.loops import Program
from frontier.lowering.module import CONTROL, module_text, words
from frontier.lowering.registers import IN, OUT, Register
from frontier.schedule import ResolvedSchedule

__all__ = ["Build", "CudaProgram", "scratch_of", "text"]

#: Calls of functors, see :mod:`frontier.backends.guards`.
CALLS = ("guarded", "guarded_value", "tried", "tried_value")

_IMPORTS = """from collections import namedtuple

import numpy as np

from frontier.backends.cuda.machine import *
from frontier.backends.cuda.machine import GUARDS, POINTERS, SHARED, bits_of, checked, integer
from frontier.backends.cuda.machine import device, key_down, key_up, phase, truth
from frontier.backends.cuda.runtime import *
from frontier.backends.cuda.appends import *
from frontier.backends.cuda.queues import *
from frontier.backends.cuda.steps import *
from frontier.backends.cuda.collectives import *

""" + "\n".join(
    f"{name}_at = POINTERS[{name!r}]"
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
        "wide_int8", "wide_int16", "wide_int32",
    )
) + "\n" + "\n".join(f"{name}_shared = SHARED[{name!r}]" for name in ("int32", "uint32", "int64", "float64"))


@dataclass(frozen=True)
class Build:
    """What of a graph's shape the text depends on.

    Attributes
    ----------
    narrow : bool
        Whether every list is short.
    lanes : int
        Lanes that share a vertex's list where the balance is ``thread``: a power of two.
    bounded : bool
        Whether no list is so long that a few lanes would hold up the others.
    sweeps : bool
        Whether the program mostly goes over all vertices or edges: then the memory's bandwidth decides, not the
        length of the chain of loads in a pass.
    traced, single : bool
        Whether rows of a trace are written, and whether the kernel ends after every step. Constants of the text: all
        warps run the decisions between two phases, so what is not wanted there must not be there.
    packs : bool
        Whether the graph is so small that two counts of a phase may share a word.
    """

    narrow: bool = False
    lanes: int = 8
    bounded: bool = False
    sweeps: bool = False
    traced: bool = False
    single: bool = False
    packs: bool = False


class CudaProgram(Program):
    """A program whose workers are the threads of a cooperative grid."""

    backend = "cuda"

    #: The text of its module, once it is ready.
    whole_text: str | None = None

    def __init__(self, layout: Layout, schedule: ResolvedSchedule, build: Build) -> None:
        self.build, self.narrow = build, build.narrow
        self._whole = "True"
        #: Whether the phase in the making says by itself that its block has arrived.
        self.arrived = False
        #: Whether it counts who waits in the word of its count.
        self.holds = False
        #: Whether one thread of a block decides what comes next, see :mod:`frontier.backends.cuda.decider`.
        self.decides = not build.narrow or build.sweeps
        #: Whether a phase has so many loads of a thread in flight that registers are worth more than warps.
        self.roomy = False
        #: Of those phases, by number: their calls, and what all threads do after the barrier.
        self.calls: dict[int, tuple[tuple[str, ...], list[str]]] = {}
        #: Numbers of those that are deferred.
        self.deferred_calls: set[int] = set()
        #: Names of what all threads have computed together after a barrier.
        self.results: dict[str, None] = {}
        super().__init__(layout, schedule)

    @property
    def big(self) -> str:
        """Text for whether counts and edges do not fit into one word; narrow builds count no edges."""
        return str(self.layout.offsets == "int64" and not self.narrow)

    def mode(self, want: str) -> str:
        """Text for what an append writes beside the ids."""
        return "NOTHING" if not want else "START" if self.narrow else "PREFIX"

    def counter(self, word: str) -> str:
        """Text for a counter of the phase that has just ended."""
        return f"K[{word}]"

    def barrier(self) -> tuple[str, str]:
        """Lines that enter and leave a phase."""
        enter = f"slot = begin(C, slot, t, w, deadline, {self.narrow})"
        return enter, f"finish_packed(C, slot, {self._whole}, {self.arrived}, {self.holds})"

    def phase(self, *call: str, after: tuple[str, ...] = ()) -> None:
        """Work that is divided among the threads, then a barrier, then decisions from its counters."""
        if self.decides:
            decider.phase(self, call, after)
            return
        # Only where a phase counts more than its elements are the other words read.
        self._whole = "tracing" if any("EXAMINED" in line for line in after) else "False"
        if any("PILE_COUNT" in line or "BUCKETS" in line for line in after):
            self._whole = "True"
        super().phase(*call, after=after)

    @contextmanager
    def defer(self, label: int) -> Iterator[None]:
        """Begin a labelled block; it and what is added within are compiled when a run first comes there."""
        before = set(self.calls)
        with super().defer(label):
            yield
        self.deferred_calls |= self.calls.keys() - before

    def without_deferred(self) -> Self:
        """The same program, but that the run leaves with ``NEED_CODE`` where something deferred begins."""
        made = super().without_deferred()
        made.calls = {number: call for number, call in self.calls.items() if number not in self.deferred_calls}
        made.whole_text = None
        return made

    def scanned(self, register: Register, want: str) -> None:
        """Make it all, or a queue with the scan of its degrees; narrow builds need no scan."""
        if self.narrow:
            self.sparse(register)
        else:
            super().scanned(register, want)

    def _queue_of_bits(self, register: Register, want: str) -> None:
        queue, scan = self.target(register, "vertex")
        offsets, _ = self.lists(want)
        self.phase(
            f"queue_of_bits(C, slot, {self.big}, w, W, uint32_at({register.bits}), {self.capacity('vertex')}, "
            f"{self.layout.ids}_at({queue}), {self.layout.offsets}_at({scan}), {self.mode(want)}, {offsets})",
            after=self.produced(register, "vertex", want),
        )

    def single(self, register: Register, vertex: str) -> None:
        """One vertex, with its scan: every block writes the same, so no barrier of the grid is needed."""
        queue, scan = self.target(register, "vertex")
        put = "write_single" if self.decides else "put_single"
        ids, offsets = f"{self.layout.ids}_at({queue})", f"{self.layout.offsets}_at({scan})"
        self.line(
            f"{register.edges} = {put}({ids}, {offsets}, {self.mode('out')}, {self.lists('out')[0]}, {vertex})",
            f"{register.queue} = {queue}",
            f"{register.side} = 1 - {register.side}",
            f"{register.count} = 1",
            f"{register.form} = {OUT}",
            f"{register.kind} = 0",
        )

    def swap(self, first: str, second: str) -> None:
        """Exchange two fields, and count that, for a swap is no phase."""
        super().swap(first, second)
        self.line(f"{self.keep('swaps')} += 1")

    def carried(self, register: Register, edges: str) -> str:
        """Text for whether a queue carries the first slots of its lists."""
        return f"{register.form} == {OUT if edges == 'out' else IN}" if self.narrow else "False"



def scratch_of(program: CudaProgram) -> int:
    """Bytes of a block's scratch memory.

    Where no phase lays anything there, all of it is left to the first-level cache: an iteration of PageRank on R-MAT 24
    takes 5.1 ms instead of 5.4.
    """
    if "_shared(FREE" not in text(program):
        return FREE
    return scratch(*(np.dtype(name).itemsize for name in (program.layout.ids, program.layout.offsets)))


def text(program: CudaProgram) -> str:
    """The whole module of a program that is ready, made once."""
    if program.whole_text is None:
        program.whole_text = _text(program)
    return program.whole_text


def _text(program: CudaProgram) -> str:
    """The kernel's parameters are the words of the table, by value: so they take no registers."""
    names = [f"s_{name[2:]}" if name.startswith("p_") else name for name in words(program)]
    names = [f"given_{name}" if name in ("tracing", "single") else name for name in names]
    head = [
        f"def run(address, {', '.join(names)}):",
        "w = worker()",
        "W = workers()",
        "T = int64_at(address)",
        "C = int64_at(counters)",
        "F = float64_at(counters)",
        "K = int64_shared(0)",
        "slot = previous_slot(t)",
        "now = np.int64(0)",
        "deadline = np.int64(0)",
        "if w == 0:",
        "    now = clock()",
        "    deadline = now + nanoseconds",
    ]
    width = "np.int64" if program.layout.offsets == "int64" else "np.int32"
    build = program.build
    calls = [f"{name} = GUARDS[{not program.decides}].{name}" for name in CALLS]
    constants = [*program.checkers(), f"I = {width}", f"tracing = {build.traced}", f"single = {build.single}"]
    imports = "\n".join([_IMPORTS, *calls, *constants])
    assert CONTROL[0] == "counters"
    if program.decides:
        return module_text(program, imports, "@phase", "", decider.loop(program, head[0]))
    return module_text(program, imports, "@phase", "", head)
