"""The part of a program that each of several GPUs runs: who owns what, frontiers of which each has a part, meetings.

What decides the control flow is the same on all GPUs: scalars, sizes, and how a frontier is represented. So all GPUs
tell each other these when they meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from frontier.backends.cuda.compile.runtime_words import MAX, MIN, OR, SUM
from frontier.backends.cuda.program import Build, CudaProgram
from frontier.compile.codes import BLOCK
from frontier.distributed.devices.barriers import all_meet, can_meet, let_meet
from frontier.distributed.devices.inputs import BOX, Bound, Group, InputArray, Packed, SharedArray, Table
from frontier.distributed.devices.meeting_words import REAL, RECEIVED, sums_at
from frontier.distributed.devices.phases import completing
from frontier.distributed.devices.printer import PeersPrinter
from frontier.lowering.frontier_state import BITS, IN, OUT, OWN, QUEUE, form
from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import (
    Assign,
    Call,
    Choice,
    Const,
    Counter,
    Phase,
    Swap,
    Together,
    Var,
    both,
    cast,
    either,
    equal,
)
from frontier.lowering.variables import SLOT, WORDS, WORKER, WORKERS, pointer
from frontier.program.order import display_name

if TYPE_CHECKING:
    from frontier.distributed.devices.touches import Touches
    from frontier.lowering.frontier_state import FrontierState
    from frontier.lowering.ir import Expr, Node, Value
    from frontier.lowering.phases import Functor
    from frontier.program.layout import Layout
    from frontier.program.schedule import ResolvedSchedule

__all__ = ["Peers"]

#: GPUs meet in one of so many passes, a power of two, of a loop that needs no meeting: it takes longer than a pass may.
SELDOM = 64

_OPERATIONS = {"SUM": SUM, "MIN": MIN, "MAX": MAX, "OR": OR}


class Peers(CudaProgram):
    """A program of which each of several GPUs runs a part.

    :mod:`frontier.distributed.devices.part` fills in who owns what, and tables with an address for each GPU.
    """

    shares = True
    imports = "\nfrom frontier.distributed.devices.meeting import *\n"

    def __init__(self, layout: Layout, schedule: ResolvedSchedule, build: Build, touches: Touches) -> None:
        self.touches = touches
        self._sizes: dict[int, tuple[Var, Var]] = {}
        self._watched: list[str] = []
        self._stored: list[str] = []
        self._exchanges: list[Node] = []
        super().__init__(layout, schedule, build)
        # With 40 registers a thread instead of 64, shortest paths of R-MAT 24 take a twentieth longer on two H100s, and
        # a step with next to nothing to do 5 microseconds. But pulls of a search wait for memory: they take a sixth
        # less with 40 registers, and more warps.
        self.low_occupancy = not touches.claimed or schedule.direction == "push"
        self.rank, self.parts = self.input("rank", Group("rank")), self.input("parts", Group("parts"))
        self.starts = pointer("int64", self.input("starts", Group("starts")))
        self.box = pointer("int64", self.input("box", BOX))
        self.boxes = pointer("int64", self.input("boxes", Table(BOX)))
        #: The number of the last meeting; what phases have left since in the words STOP and ERROR.
        self.meetings, self.stopped, self.failed = (self.keep(name) for name in ("meetings", "stopped", "failed"))
        self.blocks = self.input("field_blocks", Group("blocks"))
        self._received = pointer("int64", self.input("box", BOX) + 8 * (sums_at(self.parts) + RECEIVED))

    @property
    def exchanges(self) -> list[Node]:
        """The phases in which GPUs exchange what has changed."""
        return self._exchanges

    @property
    def described(self) -> str:
        """What runs the program, in words."""
        return f"several GPUs, each of which runs: {super().described}"

    def printer(self) -> PeersPrinter:
        """What makes the text of the kernel."""
        return PeersPrinter(self)

    # ---- who owns what, and where it lies ------------------------------------------------------------------

    def own_range(self, kind: str) -> tuple[Expr, Expr]:
        """The first vertex or edge that this GPU owns, and the one after the last."""
        return self.input(f"{kind}_first", Bound(kind, False)), self.input(f"{kind}_end", Bound(kind, True))

    def _who(self) -> dict[str, Value]:
        """What a phase is given that reads what others own."""
        return {"starts": self.starts, "rank": self.rank, "parts": self.parts}

    def _table(self, key: str, array: SharedArray | None = None) -> Expr:
        """Addresses of an array on all GPUs: of the input of a key, or another one."""
        return pointer("int64", self.input(f"table:{key}", Table(array or InputArray(key))))

    def touched(self, name: str) -> tuple[Expr, Expr]:
        """Marks that say which elements of a field a step has touched, and which blocks of them.

        These are bytes, but of claimed fields bits, of all elements that this GPU knows to be claimed. For the field ""
        they are the vertices that a push accepts.
        """
        address = self._touched_at(name)
        if name in self.touches.claimed:
            return pointer("uint32", address), pointer("uint8", address + BLOCK // 4 * self.blocks)
        return pointer("uint8", address), pointer("uint8", address + BLOCK * self.blocks)

    def _touched_at(self, name: str) -> Var:
        """Where these marks lie."""
        return self.input(f"touched:{name}", Buffer("claimed" if name in self.touches.claimed else "touched"))

    def _told(self, name: str) -> tuple[Expr, Expr]:
        """What this GPU tells of the elements of a field that it has touched, and the table of what all tell.

        These are two arrays in turns, for others may still read the last one; what a push accepts is read at once.
        """
        keys = [f"told:{name}:{each}" for each in ("ab" if name else "a")]
        addresses, tables = [self.input(key, Buffer("told")) for key in keys], [self._table(key) for key in keys]
        if not name:
            return pointer("uint32", addresses[0]), tables[0]
        side = self.keep(f"side:{name}")
        return pointer("uint32", Choice(side, *reversed(addresses))), Choice(side, *reversed(tables))

    def packs(self, name: str) -> bool:
        """Whether owners pack the values of a field that others take over from them."""
        return name in self.touches.mirrored and name not in self.touches.claimed

    def _packed(self, name: str) -> tuple[Expr, Expr]:
        """Where this GPU packs values of a field, and where all do; two arrays in turns, as of what they tell."""
        if not self.packs(name):
            return Const(0), Const(0)
        sides = {f"packed:{name}:{side}": Packed(name, side) for side in "ab"}
        addresses = [self.input(key, array) for key, array in sides.items()]
        tables = [self._table(key, array) for key, array in sides.items()]
        side = self.keep(f"side:{name}")
        packed = pointer(self.layout.dtype(name), Choice(side, *reversed(addresses)))
        return packed, Choice(side, *reversed(tables))

    def _field_table(self, name: str) -> Expr:
        """Addresses of a field on all GPUs; Swap exchanges them as it does the fields."""
        return pointer("int64", self.keep(f"fields:{name}"))

    def _base(self, name: str) -> tuple[Expr, Expr]:
        """What a field to which others add had before, and the addresses of that on all GPUs."""
        return pointer(self.layout.dtype(name), self.keep(f"base:{name}")), pointer("int64", self.keep(f"bases:{name}"))

    def _seen(self, name: str) -> Expr:
        return self._watching(name, super()._seen(name))

    def field(self, name: str) -> Expr:
        """A field of the problem, as an array, whose changes are noted where they concern others."""
        return self._watching(name, super().field(name))

    def _watching(self, name: str, made: Expr) -> Expr:
        if name in self._stored:
            return Call("own", made, *self.own_range("vertex"))
        watch = "watch" if name in self.touches.mirrored else "watch_stores"
        if name in self.touches.claimed:
            watch = "watch_bits"
        return Call(watch, made, *self.touched(name)) if name in self._watched else made

    def swap(self, first: str, second: str) -> None:
        """Exchange two fields, and where they lie on the other GPUs."""
        super().swap(first, second)
        kind = next(kind for name, kind, _ in self.layout.fields if name == first)
        stems = {"vertex": ("fields", "base", "bases"), "pile": ("all_held",)}
        for stem in stems.get(kind, ()):
            self.add(Swap(self.keep(f"{stem}:{first}"), self.keep(f"{stem}:{second}")))

    # ---- frontiers -----------------------------------------------------------------------------------------

    def new_frontier(self) -> FrontierState:
        """A frontier for a scope, of which each GPU has a part."""
        made = super().new_frontier()
        self._sizes[made.number] = self.variable("all_count", "count"), self.variable("all_edges", "edges")
        return made

    def sizes(self, current: FrontierState) -> tuple[Var, Var]:
        """The variables for the numbers of elements and of edges on all GPUs."""
        return self._sizes[current.number]

    def size(self, current: FrontierState) -> Expr:
        """The number of elements of a frontier on all GPUs."""
        return self.sizes(current)[0]

    def edges_of(self, current: FrontierState) -> Expr:
        """The sum of the degrees of a frontier on all GPUs."""
        return self.sizes(current)[1]

    def _sized(self, current: FrontierState) -> list[Node]:
        """Nodes after a meeting at which GPUs have told the sizes of their parts."""
        count, edges = self.sizes(current)
        return [Assign(count, Counter("ALL_COUNT")), Assign(edges, Counter("ALL_EDGES"))]

    def everything_in(self, current: FrontierState, kind: str) -> None:
        """Make a frontier everything, which is a list here."""
        first, end = self.own_range(kind)
        target, _ = self.target(current, kind)
        call = self.divided("fill_range", pointer(self.layout.element(kind), target), first, end)
        made = [*self._plain(current, target, kind, end - first), Assign(current.form, form(OWN))]
        self.phase(call, made, f"list the {kind} ids of this GPU")
        self._set_sizes(current, self.capacity(kind), 0)

    def in_a_row(self, current: FrontierState, kind: str) -> Expr:
        """As on one machine: a frontier that is everything begins with the first element that this GPU owns."""
        first, _ = self.own_range(kind)
        return Choice(equal(current.form, form(OWN)), first + 1, 0)

    def unscanned(self, current: FrontierState) -> Expr:
        """Whether a frontier is a list without its degrees."""
        return either(equal(current.form, form(QUEUE)), equal(current.form, form(OWN)))

    def all_of_its_own(self, current: FrontierState) -> Expr:
        """Whether a list of vertices, which are distinct, has all that this GPU owns."""
        first, end = self.own_range("vertex")
        return equal(current.count, end - first)

    def single(self, current: FrontierState, vertex: Expr) -> None:
        """Make a frontier one vertex, which its owner has."""
        super().single(current, vertex)
        self._set_sizes(current, 1, current.edges)
        first, end = self.own_range("vertex")
        with self.when(both(vertex >= first, vertex < end)) as owned:
            pass
        with self.otherwise(owned):
            self.set(current.count, 0)
            self.set(current.edges, 0)

    def _set_sizes(self, current: FrontierState, count: Value, edges: Value) -> None:
        for var, value in zip(self.sizes(current), (count, edges), strict=True):
            self.set(var, value)

    def scanned(self, current: FrontierState, next_scan: str) -> None:
        """Make a frontier a queue with the prefix sum of its degrees; afterwards all know the sum of all degrees."""
        wanted = OUT if next_scan == "out" else IN
        with self.when(equal(current.form, form(BITS))):
            self._queue_of_bits(current, next_scan)
        with self.when(self.other_than(current, wanted)):
            offsets, _ = self.lists(next_scan)
            queue, before = pointer(self.layout.ids, current.queue), self.variable("before")
            total: list[Node] = [
                Assign(before, SLOT), Together(current.edges, Call("partial_total", WORDS, SLOT, WORKERS))
            ]  # fmt: skip
            sums = Call("scan_sums", WORDS, SLOT, WORKER, WORKERS, queue, current.count, offsets)
            self.phase(sums, total, f"add up the {next_scan}-degrees")
            scan = pointer(self.layout.offsets, self.scan_of(current))
            write = Call("scan_write", WORDS, before, WORKER, WORKERS, queue, scan, current.count, offsets)
            after = [Assign(current.form, form(wanted))]
            self.phase(write, after, f"write the prefix sum of the {next_scan}-degrees")
            self._publish(current)

    def sparse(self, current: FrontierState) -> None:
        """Make a frontier a list; both a push and a pull may have left a bitmap."""
        if "edge" not in current.kinds:
            with self.when(equal(current.form, form(BITS))):
                self._queue_of_bits(current, "out")

    def _queue_of_bits(self, current: FrontierState, next_scan: str) -> None:
        queue, scan = self.target(current, "vertex")
        written = self.written(next_scan)
        call = Call(
            "queue_of_own", WORDS, SLOT, self.big, WORKER, WORKERS, pointer("uint32", current.bits),
            *self.own_range("vertex"), pointer(self.layout.ids, queue), pointer(self.layout.offsets, scan),
            self.mode(written), self.lists(next_scan)[0],
        )  # fmt: skip
        self.phase(call, self.produced(current, "vertex", written), "list the vertices of the bitmap")

    def shared_bitmap(self, current: FrontierState, word: str) -> None:
        """Make a frontier a bitmap that has the elements of all GPUs."""
        own = self.own_range("vertex")
        with self.when(self.other_than(current, BITS)):
            self.set(current.bits, self.next_bits(current))
            bits = pointer(word, current.bits)
            self.phase(self.divided("clear_words", bits, *own), title="clear a bitmap")
            marks = self.divided("set_bits", bits, self.queue(current, "vertex"), current.count)
            self.phase(marks, title="mark the frontier in the bitmap", meets=True)
            self.other_bitmap()
        given: dict[str, Value] = {
            "bits": pointer(word, current.bits), "others": self.bits_of_others(current),
            "received": self._received, **self._who(),
        }  # fmt: skip
        with self.unless_complete(current):
            self.phase(self.kernel("complete", completing, given), title="take over the bits of the other GPUs")

    def unless_complete(self, current: FrontierState) -> AbstractContextManager[object]:
        """Within it is added what makes a frontier's bitmap have the elements of all GPUs."""
        return nullcontext()

    def other_bitmap(self) -> None:
        """Say that no bitmap is known to have the elements of all GPUs."""

    def bits_of_others(self, current: FrontierState) -> Expr:
        """The table of the bitmaps of a frontier on all GPUs."""
        a, b = (current.buffer("mask", side) for side in "ab")
        return Choice(equal(current.bits, self.input(a, Buffer("bits"))), self._table(a), self._table(b))

    # ---- piles ---------------------------------------------------------------------------------------------

    def held_in(self, pile: str) -> Var:
        """The number of elements of a pile on all GPUs, each of which has those that it owns."""
        return self.keep(f"all_held:{pile}", f"len({display_name(pile)})")

    def copy(
        self,
        current: FrontierState,
        kind: str,
        queue: Expr,
        count: Expr,
        after: Sequence[Node] = (),
        what: str = "the ids",
    ) -> None:
        """Make a frontier a copy of what a pile holds."""
        super().copy(current, kind, queue, count, after, what)
        pile = next(key for key, var in self.state.items() if var is queue).removeprefix("pile:")
        self._set_sizes(current, self.held_in(pile), 0)

    def borrow(self, current: FrontierState, kind: str, pile: str) -> None:
        """Make a frontier what a pile holds, where that lies."""
        super().borrow(current, kind, pile)
        self._set_sizes(current, self.held_in(pile), 0)

    def take(self, name: str, current: FrontierState) -> None:
        """Make a pile's content the frontier; the pile is empty after."""
        super().take(name, current)
        self.set(self.held_in(name), 0)

    def _publish_pile(self, name: str) -> None:
        """Let all know how much a pile holds."""
        call = Call("publish", WORDS, SLOT, WORKER, self.state[f"held:{name}"], 1 + SUM)
        told = [Assign(self.held_in(name), Counter("ALL_VALUE"))]
        self.phase(call, told, f"tell how much {display_name(name)} holds", meets=True)

    # ---- meetings ------------------------------------------------------------------------------------------

    def phase(
        self,
        call: Call,
        after: Sequence[Node] = (),
        title: str = "",
        functors: Sequence[Functor | None] = (),
        writes: Sequence[str] = (),
        meets: bool = False,
        more: Sequence[Call] = (),
        *,
        work: Expr | None = None,
    ) -> None:
        """Work that is divided among the threads, then a barrier, at which all GPUs may meet."""
        super().phase(call, after, title, functors, writes, work=work)
        made = self._within[-1]
        assert isinstance(made, Phase)
        made.meets, made.more = meets, tuple(more)

    def _meet(self, after: Sequence[Node] = ()) -> None:
        """Let all GPUs meet at the barrier of the last phase, or at one of its own."""
        if can_meet(self._within):
            let_meet(self._within, after)
        else:
            self.phase(Call("nothing"), after, "meet the other GPUs", meets=True)

    def _publish(self, current: FrontierState, *more: Call) -> None:
        """Let all know the size of a frontier, after doing more."""
        call = Call("publish_size", WORDS, SLOT, self.big, WORKER, current.count, current.edges)
        title = "tell what has changed, and the size of the frontier" if more else "tell the size of the frontier"
        self._together(*more, call, after=self._sized(current), title=title)

    def _together(self, *calls: Call, title: str, after: Sequence[Node] = (), meets: bool = True) -> None:
        """Do several things in one phase."""
        if calls or after:
            call, *more = calls or [Call("nothing")]
            self.phase(call, after, title, meets=meets, more=more)
            self._exchanges.append(self._within[-1])

    def replayed(self, current: FrontierState) -> None:
        """Let all GPUs know the size of a frontier that has been taken from a record."""
        self._publish(current)

    def leave(self, code: str, detail: Value | None = None) -> None:
        """Return to the host; if only this GPU finds a reason to, it says so when it meets the others."""
        if code != "RECORD_FULL":
            super().leave(code, detail)
            return
        self.set(self.failed, Var(code))
        self.phase(Call("nothing"), title="tell the other GPUs", meets=True)

    def end_pass(self, number: Expr) -> None:
        """Meet once in a while, if the passes of a loop do not: else nobody learns that all are to stop."""
        if not all_meet(self._within):
            with self.when(equal(number & (SELDOM - 1), 0)):
                self.phase(Call("nothing"), title="meet the other GPUs", meets=True)

    def end(self) -> None:
        """Meet at the end, where whoever has failed says so."""
        self.phase(Call("nothing"), title="meet the other GPUs", meets=True)

    def shared_scalar(self, name: str, operation: str, real: bool) -> None:
        """Combine what a scalar has on each GPU, in their order."""
        scalar, number = self.scalars[name], _OPERATIONS[operation]
        dtype, call = ("float64", "publish_real") if real else ("int64", "publish")
        how = REAL + number if real else 1 + number
        told = Call(call, WORDS, SLOT, WORKER, cast(dtype, scalar), how)
        value: Expr = Call("float_of", Counter("ALL_VALUE")) if real else Counter("ALL_VALUE")
        after = [Assign(scalar, self.typed(name, value))]
        self.phase(told, after, f"combine the results of the GPUs: {operation.lower()}", meets=True)
