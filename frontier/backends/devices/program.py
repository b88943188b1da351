"""A program that several GPUs run at once: one kernel on each, which meet after the steps and decide alike.

Each GPU has whole fields and the elements of a frontier that it owns. A step runs on these. Then follows the exchange:

1. If a push has changed elements of others, all meet, and owners bring together what all have made of theirs.
2. All meet. What each tells makes the size of the next frontier, and says whether anybody has failed or is to stop.
3. All copy what owners have changed of *mirrored* fields, which some step needs of elements of others.

What decides the control flow is the same on all GPUs: scalars, sizes, and how a frontier is represented.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.codes import BLOCK
from frontier.backends.cuda.printers import LeaderPrinter
from frontier.backends.cuda.program import Build, CudaProgram
from frontier.backends.cuda.runtime_words import MAX, MIN, OR, SUM
from frontier.backends.devices.meeting_words import COMPUTED, MERGED, REAL, RECEIVED, sums_at
from frontier.backends.devices.phases import (
    combining,
    completing,
    copying,
    finding,
    following,
    merging,
    settling,
    sharing,
    telling,
)
from frontier.backends.devices.touches import OneKernelError
from frontier.lowering.frontier_state import BITS, IN, OUT, form
from frontier.lowering.ir import (
    Assign,
    Branch,
    Call,
    Choice,
    Counter,
    Deferred,
    Phase,
    Region,
    Swap,
    Together,
    Var,
    both,
    cast,
    equal,
    expression,
)
from frontier.lowering.kernels import FunctorName, Made
from frontier.lowering.printer import indented
from frontier.lowering.variables import CODE, SLOT, STOP, WORDS, WORKER, WORKERS, pointer
from frontier.program.order import display_name

if TYPE_CHECKING:
    from frontier.backends.devices.touches import Touches
    from frontier.lowering.frontier_state import FrontierState
    from frontier.lowering.ir import Expr, Node, Value
    from frontier.lowering.kernels import Constant
    from frontier.lowering.phases import Functor
    from frontier.program.layout import Layout
    from frontier.program.schedule import ResolvedSchedule

__all__ = ["PeersProgram"]

_OPERATIONS = {"SUM": SUM, "MIN": MIN, "MAX": MAX, "OR": OR}


class PeersProgram(CudaProgram):
    """A program of which each of several GPUs runs a part.

    Inputs whose role begins with ``peer`` are filled by :mod:`frontier.backends.devices.fused`: the rank and number of
    GPUs, ranges, and tables with an address for each GPU.
    """

    shares = True
    imports = "\nfrom frontier.backends.devices.meeting import *\n"

    def __init__(self, layout: Layout, schedule: ResolvedSchedule, build: Build, touches: Touches) -> None:
        self.touches = touches
        self._sizes: dict[int, tuple[Var, Var]] = {}
        self._watched: list[str] = []
        self._exchanges: list[Node] = []
        super().__init__(layout, schedule, build)
        self.rank, self.parts = self.input("rank", "peer rank"), self.input("parts", "peer parts")
        self.starts = pointer("int64", self.input("starts", "peer starts"))
        self.box = pointer("int64", self.input("box", "peer box"))
        self.boxes = pointer("int64", self.input("boxes", "peer boxes"))
        #: The number of the last meeting; what phases have left since in the words STOP and ERROR.
        self.meetings, self.stopped, self.failed = (self.keep(name) for name in ("meetings", "stopped", "failed"))
        self.blocks = self.input("field_blocks", "peer blocks")
        self._received = pointer("int64", self.input("box", "peer box") + 8 * (sums_at(self.parts) + RECEIVED))

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
        return self.input(f"{kind}_first", f"peer {kind} first"), self.input(f"{kind}_end", f"peer {kind} end")

    def _table(self, key: str) -> Expr:
        """Addresses of an array on all GPUs."""
        return pointer("int64", self.input(f"table:{key}", f"peer table {key}"))

    def touched(self, name: str) -> tuple[Expr, Expr]:
        """Bytes that say which elements of a field a step has touched, and which blocks of them.

        For the field "" these are the vertices that a push accepts.
        """
        address = self.input(f"touched:{name}", "touched")
        return pointer("uint8", address), pointer("uint8", address + BLOCK * self.blocks)

    def _told(self, name: str) -> tuple[Expr, Expr]:
        """What this GPU tells of the elements of a field that it has touched, and the table of what all tell.

        These are two arrays in turns, for others may still read the last one; what a push accepts is read at once.
        """
        keys = [f"told:{name}:{each}" for each in ("ab" if name else "a")]
        addresses, tables = [self.input(key, "told") for key in keys], [self._table(key) for key in keys]
        if not name:
            return pointer("uint32", *addresses), *tables
        side = self.keep(f"side:{name}")
        return pointer("uint32", Choice(side, *reversed(addresses))), Choice(side, *reversed(tables))

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
        watch = "watch" if name in self.touches.mirrored else "watch_stores"
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
        self.phase(call, self._plain(current, target, kind, end - first), f"list the {kind} ids of this GPU")
        self._set_sizes(current, self.capacity(kind), 0)

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
        call = Call(
            "queue_of_own", WORDS, SLOT, self.big, WORKER, WORKERS, pointer("uint32", current.bits),
            *self.own_range("vertex"), pointer(self.layout.ids, queue), pointer(self.layout.offsets, scan),
            self.mode(next_scan), self.lists(next_scan)[0],
        )  # fmt: skip
        self.phase(call, self.produced(current, "vertex", next_scan), "list the vertices of the bitmap")

    def shared_bitmap(self, current: FrontierState, word: str) -> None:
        """Make a frontier a bitmap that has the elements of all GPUs."""
        own = self.own_range("vertex")
        with self.when(self.other_than(current, BITS)):
            self.set(current.bits, self.next_bits(current))
            bits = pointer(word, current.bits)
            self.phase(self.divided("clear_words", bits, *own), title="clear a bitmap")
            marks = self.divided("set_bits", bits, self.queue(current, "vertex"), current.count)
            self.phase(marks, title="mark the frontier in the bitmap", meets=True)
        a, b = (current.buffer("mask", side) for side in "ab")
        others = Choice(equal(current.bits, self.input(a, "bits")), self._table(a), self._table(b))
        given: dict[str, Value] = {
            "bits": pointer(word, current.bits), "others": others, "received": self._received, **self._who()
        }  # fmt: skip
        self.phase(self.kernel("complete", completing, given), title="take over the bits of the other GPUs")

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
    ) -> None:
        """Work that is divided among the threads, then a barrier, at which all GPUs may meet."""
        super().phase(call, after, title, functors, writes)
        made = self._within[-1]
        assert isinstance(made, Phase)
        made.meets, made.more = meets, tuple(more)

    def _meet(self, after: Sequence[Node] = ()) -> None:
        """Let all GPUs meet at the barrier of the last phase, or at one of its own."""
        if _can_meet(self._within):
            _let_meet(self._within, after)
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

    # ---- steps ---------------------------------------------------------------------------------------------

    def begin_step(self, step: Any, current: FrontierState, pushed: bool = True) -> None:
        """Let the fields be watched whose changes by the step concern others."""
        if step.far and current.kinds - {"vertex"}:
            raise OneKernelError("edges whose far ends others own")
        self._watched = self.touches.watched(step, pushed)

    def exchange(self, step: Any, current: FrontierState, pushed: bool = True) -> None:
        """Bring together what GPUs have changed, and let all know the size of the next frontier."""
        watched, self._watched = self._watched, []
        dealt = self.touches.dealt(step, pushed)
        finds = pushed and step.far and not step.passes_through and current.kinds <= {"vertex"} and _finds(step)
        tells = [self._tell(name, everything=name in dealt) for name in watched]
        if finds:
            tells.append(self._tell("", everything=True))
        if dealt or finds:
            self._together(*tells, title="tell what has changed")
            leaders = {name: self.touches.leader(step, name) for name in dealt}
            ordered = sorted(dealt, key=lambda name: (leaders[name] not in dealt, name))  # before their leaders
            self._bring_together(step, current, [self._merge(name, dealt, leaders[name]) for name in ordered], finds)
        elif not step.passes_through:
            if not tells and _can_meet(self._within):
                self._meet(self._sized(current))
            else:
                self._publish(current, *tells)
        elif tells:
            self._together(*tells, title="tell what has changed")
        elif self.touches.needs(step):
            self._meet()  # before anybody changes what this step reads and another GPU may still be copying
        self._take_over([name for name in watched if name in self.touches.mirrored | self.touches.summed])
        for name in step.fills():
            self._publish_pile(name)
        for name in watched:
            side = self.keep(f"side:{name}")
            self.set(side, 1 - side)

    def _tell(self, name: str, everything: bool) -> Call:
        """Tell what this GPU has touched: of all elements, or of those that it owns."""
        first, end = (0, self.capacity("vertex")) if everything else self.own_range("vertex")
        bytes_, flags = self.touched(name)
        given: dict[str, Value] = {
            "touched": bytes_, "flags": flags, "told": self._told(name)[0], "first": first, "end": end,
            "starts": self.starts, "parts": self.parts, "blocks": self.blocks,
        }  # fmt: skip
        return self.kernel("tell", telling, given)

    def _who(self) -> dict[str, Value]:
        return {"starts": self.starts, "rank": self.rank, "parts": self.parts}

    def _own(self) -> dict[str, Value]:
        first, end = self.own_range("vertex")
        return {"parts": self.parts, "first": first, "end": end, "blocks": self.blocks}

    def _size(self, name: str) -> int:
        return np.dtype(self.layout.dtype(name)).itemsize

    def _at(self, name: str) -> FunctorName:
        return FunctorName(f"{self.layout.dtype(name)}_at")

    def _bring_together(self, step: Any, current: FrontierState, merges: list[Call], finds: bool) -> None:
        """Owners merge what all have made of their elements, and find the next frontier."""
        title = "owners merge changes"
        if finds:
            made = self._find(step, current)
            self._together(*merges, made, after=self._found(current), title=f"{title}, and find the next frontier")
        elif step.passes_through:
            self._together(*merges, title=title)
        else:
            self._publish(current, *merges)

    def _merge(self, name: str, dealt: dict[str, str], leader: str) -> Call:
        """Owners bring together what all have made of their elements of a field."""
        bring, bases = self._combining(name, dealt[name])
        if leader in dealt:
            lead, of_leader = self._combining(leader, dealt[leader])
            parts: dict[str, Constant] = {
                "at": self._at(name), "lead": lead, "lead_at": self._at(leader),
                "mirrored": name in self.touches.mirrored,
            }  # fmt: skip
            bring = Made(following, parts)
            table = self._field_table(leader)
            bases = Call("Shared", self.field(leader), table, self._told(leader)[1], of_leader)
        told, marked = self._told(name)
        given: dict[str, Value] = {
            "mine": self.field(name), "told": told, "fields": self._field_table(name), "marked": marked,
            "bases": bases, "rank": self.rank, "received": self._received, **self._own(),
        }  # fmt: skip
        return self.kernel("merge", merging, given, bring=bring, size=self._size(name))

    def _combining(self, name: str, combine: str) -> tuple[Made, Value]:
        """Return what makes one value of those of all GPUs, and the old values that it needs for that."""
        flag = self.layout.dtype(name) == "bool"
        bring = Made(combining, {"at": self._at(name), "combine": combine, "flag": flag})
        return bring, self._base(name)[1] if name in self.touches.summed else 0

    def _find(self, step: Any, current: FrontierState) -> Call:
        """Owners bring together which of their vertices have been found: the next frontier."""
        given: dict[str, Value] = {
            "made": pointer("uint32", self.next_bits(current)), "marked": self._told("")[1],
            "degrees": self.lists(step.edges)[0], **self._own(),
        }  # fmt: skip
        return self.kernel("find", finding, given, big=self.big)

    def _found(self, current: FrontierState) -> list[Node]:
        """What becomes of the frontier then."""
        return [
            Assign(current.bits, self.next_bits(current)),
            Assign(current.count, Counter("COUNT")),
            Assign(current.edges, Counter("EDGES")),
            Assign(current.form, form(BITS)),
            Assign(current.kind, expression(0)),
            *self._sized(current),
        ]

    def _take_over(self, names: list[str]) -> None:
        """Take over what owners have changed of fields, and note what this GPU has given to them."""
        calls = [self._share(name) if name in self.touches.mirrored else self._settle(name) for name in names]
        if calls:
            self._together(*calls, title=f"take over what owners have changed of {', '.join(names)}", meets=False)

    def _share(self, name: str) -> Call:
        based = name in self.touches.summed
        given: dict[str, Value] = {
            "mine": self.field(name), "base": self._base(name)[0] if based else 0, "fields": self._field_table(name),
            "marked": self._told(name)[1], "blocks": self.blocks, "received": self._received, **self._who(),
        }  # fmt: skip
        copy = Made(copying, {"based": based, "size": self._size(name)})
        return self.kernel("share", sharing, given, at=self._at(name), copy=copy)

    def _settle(self, name: str) -> Call:
        given: dict[str, Value] = {
            "mine": self.field(name), "base": self._base(name)[0], "told": self._told(name)[0],
            "blocks": self.blocks, **self._who(),
        }  # fmt: skip
        return self.kernel("settle", settling, given, copy=Made(copying, {"based": False, "size": 0}))


def _finds(step: Any) -> bool:
    return bool(step.output == "vertex")


def _can_meet(nodes: list[Node]) -> bool:
    """Whether some nodes end with a phase at whose barrier nobody meets yet, on every path."""
    if not nodes:
        return False
    last = nodes[-1]
    if isinstance(last, Phase):
        return not last.meets
    if isinstance(last, Branch):
        return _can_meet(last.yes) and _can_meet(last.no)
    return isinstance(last, (Region, Deferred)) and _can_meet(last.body)


def _let_meet(nodes: list[Node], after: Sequence[Node]) -> None:
    last = nodes[-1]
    if isinstance(last, Phase):
        last.meets = True
        last.after.extend(after)
    elif isinstance(last, Branch):
        _let_meet(last.yes, after)
        _let_meet(last.no, after)
    elif isinstance(last, (Region, Deferred)):
        _let_meet(last.body, after)


class PeersPrinter(LeaderPrinter):
    """Prints a kernel whose GPUs meet at some of its barriers."""

    program: PeersProgram

    def function(self) -> list[str]:
        """Lines of the kernel; for a trace the first thread adds up how long phases take."""
        lines = super().function()
        if not self.program.build.traced:
            return lines
        box = self._by_thread(self.program.box)
        at = f"{box}[{self._by_thread(expression(sums_at(self.program.parts)))}"
        begin = next(i for i, line in enumerate(lines) if line.startswith("        clear_next("))
        end = next(i for i, line in enumerate(lines) if line == f"        {self.meeting('')[0]}")
        exchanges = [number for number, phase in self._calls.items() if phase in self.program.exchanges]
        kind = " or ".join(f"call == {number}" for number in exchanges) or "False"
        spent = ["if w == 0:", f"    {at} + ({MERGED} if {kind} else {COMPUTED})] += clock() - begun"]
        return [*lines[:begin], "        begun = clock()", *lines[begin:end], *indented(spent, 2), *lines[end:]]

    def announced(self, call: str) -> list[str]:
        """Lines that number the meetings."""
        return [f"if {self._meets(call)}:", f"    {self.place(self.program.meetings)} += 1"]

    def noted(self, phase: Phase) -> list[str]:
        """Only what all know together ends a run; what this GPU finds alone it tells at the next meeting."""
        stopped, failed = self.place(self.program.stopped), self.place(self.program.failed)
        error, stop = self.counter(Counter("ERROR")), self.counter(Counter("STOP"))
        if not phase.meets:
            return [f"{stopped} |= {stop}", f"if {error} != 0:", f"    {failed} = {error}"]
        error = self.counter(Counter("ALL_ERROR"))
        return [
            f"{stopped} = 0",
            f"{self.place(STOP)} |= {self.counter(Counter('ALL_STOP'))}",
            f"if {error} != 0:",
            f"    {self.assigned(CODE, error)}",
            "    break",
        ]

    def meeting(self, arrivals: str) -> list[str]:
        """Lines of the barrier at the end of a phase, at which all GPUs may meet."""
        program = self.program
        who = ", ".join(map(self._by_thread, (program.box, program.boxes, program.rank, program.parts)))
        when = ", ".join(self.place(var) for var in (program.meetings, program.stopped, program.failed))
        return [
            f"if {self._meets('call')}:",
            f"    meet(C, slot, {arrivals}, {program.big}, {who}, {when})",
            "else:",
            *(f"    {line}" for line in super().meeting(arrivals)),
        ]

    def _meets(self, call: str) -> str:
        numbers = [number for number, phase in self._calls.items() if phase.meets]
        return " or ".join(f"{call} == {number}" for number in numbers) or "False"
