"""The class Builder, through which operators add their nodes to a program: frontiers, scalars and piles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frontier.functors.functor import has_loop
from frontier.lowering.control_flow import ControlFlow
from frontier.lowering.frontier_state import ALL, BITS, IN, OUT, QUEUE, FrontierState, form
from frontier.lowering.inputs import Buffer, WorkerArray
from frontier.lowering.ir import (
    Assign,
    Call,
    Choice,
    Counter,
    Decide,
    Expr,
    Item,
    Node,
    Swap,
    Together,
    Value,
    Var,
    both,
    cast,
    differ,
    equal,
    expression,
)
from frontier.lowering.phases import VALUE, Functor
from frontier.lowering.variables import SLOT, WORDS, WORKER, WORKERS, pointer
from frontier.program.layout import Layout
from frontier.program.order import display_name
from frontier.program.schedule import ResolvedSchedule

__all__ = ["Builder", "Functor"]

#: How many edges' worth of work one call of a functor with a loop is, besides those of its list.
LOOPING = 16


class Builder(ControlFlow):
    """A program in the making: frontiers, scalars and piles in addition to control flow.

    Attributes
    ----------
    steps : list of str
        Names of the steps, for the trace.
    records : dict of str to str
        Name of a record -> kind of its elements.
    frontiers : list of FrontierState
        In the order in which scopes are met.
    """

    #: Whose program it is; the operators make their phases for it.
    backend = "cpu"

    #: What divides the work of a phase, as in "the threads' results".
    sharers = "threads"

    #: Whether all lists are known to be short, so that a pull is not worth while.
    low_degree = False

    def __init__(self, layout: Layout, schedule: ResolvedSchedule) -> None:
        super().__init__(layout, schedule)
        self.steps: list[str] = []
        self.records: dict[str, str] = {}
        self.next_scan = ""
        self.swaps = False  # whether fields are exchanged
        self.frontiers: list[FrontierState] = []
        self._places: dict[tuple[bool, int], int] = {}

    @property
    def described(self) -> str:
        """What runs the program, in words."""
        return "cpu: one function, run by one thread, which other threads help in phases that have enough work"

    @property
    def title(self) -> str:
        """Return the name of the program for the report that it is being compiled."""
        return " ".join(self.steps) + " with pull" * bool(self.deferred)

    # ---- several machines ----------------------------------------------------------------------------------------

    # A program that runs on several GPUs at once has on each of them a part of every frontier. What it decides by, it
    # must ask for by these methods; here one machine has everything.

    #: Whether there are several.
    shares = False

    def begin_step(self, step: Any, current: FrontierState, pushed: bool = True) -> None:
        """Say which step is lowered next, and in which direction it is to go."""

    def exchange(self, step: Any, current: FrontierState, pushed: bool = True) -> None:
        """Let all machines know what a step has changed, and how large the frontier is that it has left."""

    def push(
        self,
        step: Any,
        source: FrontierState,
        target: FrontierState,
        emit: Callable[[], None],
        claims: Callable[[], None] | None = None,
    ) -> None:
        """Add a push along the edges of a frontier, which ``emit`` adds, and what machines exchange for it.

        ``claims`` adds one that changes fields in the memory of the machine that owns an element, for passes with few
        edges; None: there is none.
        """
        emit()

    def pull(self, step: Any, source: FrontierState, target: FrontierState, emit: Callable[[], None]) -> None:
        """Add a pull, which ``emit`` adds, and what machines exchange for it."""
        emit()

    def end_pass(self, number: Expr) -> None:
        """Add what comes at the end of a loop's pass, of which this is the number."""

    def end(self) -> None:
        """Add what comes at the end of the program."""

    def size(self, current: FrontierState) -> Expr:
        """The number of elements of a frontier on all machines."""
        return current.count

    def edges_of(self, current: FrontierState) -> Expr:
        """The sum of the degrees of a frontier on all machines."""
        return current.edges

    def held_in(self, pile: str) -> Expr:
        """The number of elements of a pile on all machines."""
        return self.state[f"held:{pile}"]

    def everything_in(self, current: FrontierState, kind: str) -> None:
        """Make a frontier everything."""
        self.set(current.form, form(ALL))
        self.set(current.kind, int(kind == "edge"))
        self.set(current.count, self.capacity(kind))
        self.set(current.edges, self.capacity("edge"))

    def replayed(self, current: FrontierState) -> None:
        """Let all machines know the size of a frontier that has been taken from a record."""

    def shared_bitmap(self, current: FrontierState, word: str) -> None:
        """Make a frontier a bitmap that has the elements of all machines."""
        raise NotImplementedError

    def shared_scalar(self, name: str, operation: str, real: bool) -> None:
        """Combine what a scalar has on each machine."""

    # ---- frontiers ---------------------------------------------------------------------------------------------

    def new_frontier(self) -> FrontierState:
        """A frontier for a scope."""
        made = FrontierState.made(len(self.frontiers), self, self._places)
        self.frontiers.append(made)
        return made

    # About how much work a phase has: see Phase.work.

    def work_on(self, count: Value, fn: Functor | None = None, edges: bool = False) -> Expr:
        """The work on so many elements, for which a functor is called, each with its edges if there are ``edges``.

        A functor with a loop is taken to go over a list of edges, and some.
        """
        mean = self.capacity("edge") // Call("max", self.capacity("vertex"), 1) + 1
        looping = fn is not None and any(has_loop(part.function.__code__) for part in self.captured(fn).reached())
        each = mean * (LOOPING if looping else 1) if edges else mean + LOOPING if looping else expression(1)
        return expression(count) * each

    def queue(self, current: FrontierState, kind: str) -> Expr:
        """A frontier's ids, as an array."""
        return pointer(self.layout.element(kind), current.queue)

    def target(self, current: FrontierState, kind: str) -> tuple[Expr, Expr]:
        """Addresses of the queue (and of its scan) that the next frontier is written to."""
        if current.record:
            return self._recorded(current, kind)
        ids = "ids" if kind == "vertex" else "slots"
        role, scan = (f"few_{kind}", "few_scan") if current.few else (f"{kind}_queue", "scan")
        queue = self._side(current, ids, role, 1)
        return queue, queue if kind == "edge" else self._side(current, "scan", scan, 1)

    def _side(self, current: FrontierState, name: str, role: str, ahead: int) -> Expr:
        """Address of one of a frontier's two arrays: that of the next frontier, or of its own."""
        sides = [self.input(current.buffer(name, side), Buffer(role), f"the {name} of a frontier") for side in "ab"]
        return Choice(current.side, *(sides if ahead else reversed(sides)))

    def next_bits(self, current: FrontierState) -> Expr:
        """Address of the bitmap that the frontier does not use."""
        a = self.input(current.buffer("mask", "a"), Buffer("bits"))
        other = self.input(current.buffer("mask", "b"), Buffer("bits"))
        return Choice(differ(current.bits, a), a, other)

    def _recorded(self, current: FrontierState, kind: str) -> tuple[Expr, Expr]:
        """Where a loop that keeps its frontiers has them written: after those kept before, so that none is copied."""
        return self.recorded(current.record, self.filled(current.record)), self._side(current, "scan", "scan", 1)

    def recorded(self, name: str, at: Expr) -> Expr:
        """Address of an element of a record."""
        size = 8 if self.layout.element(self.records[name]).endswith("64") else 4
        return self.input(f"record:{name}", Buffer(f"{self.records[name]}_queue"), f"record {name}") + at * size

    def filled(self, name: str) -> Var:
        """Number of elements in a record."""
        return self.keep(f"filled:{name}", f"{name}.size")

    def room_left(self, current: FrontierState, kind: str) -> Expr:
        """The number of elements that the next frontier may have."""
        capacity = self.capacity(kind)
        return capacity - self.filled(current.record) if current.record else capacity

    def scan_of(self, current: FrontierState) -> Expr:
        """Address of the prefix sum of a frontier's degrees: at i, the number of edges before those of element i."""
        return self._side(current, "scan", "few_scan" if current.few else "scan", 0)

    def other_than(self, current: FrontierState, *forms: int) -> Expr:
        """Whether a frontier has none of some forms."""
        return both(*(differ(current.form, form(each)) for each in forms))

    def everything(self, current: FrontierState) -> Expr:
        """Whether a frontier is everything."""
        return equal(current.form, form(ALL))

    def in_a_row(self, current: FrontierState, kind: str) -> Expr:
        """Whether the elements of a frontier are a range, so that nobody has to read them: 1 more than the first, or 0.

        True is 1 here: everything begins with 0.
        """
        return self.everything(current)

    def unscanned(self, current: FrontierState) -> Expr:
        """Whether a frontier is a list without its degrees."""
        return equal(current.form, form(QUEUE))

    def produced(self, current: FrontierState, kind: str, next_scan: str) -> list[Node]:
        """Nodes after a phase that appended the next frontier to :meth:`target`: they make it the current one.

        The phase has counted its elements, and their edges if it wrote a scan: ``next_scan`` says which.
        """
        queue, _ = self.target(current, kind)
        made = {"": QUEUE, "out": OUT, "in": IN}[next_scan if kind == "vertex" else ""]
        return [
            *self._turned(current, queue, kind),
            Assign(current.count, Counter("COUNT")),
            Assign(current.edges, Counter("EDGES")),
            Assign(current.form, form(made)),
        ]

    def _turned(self, current: FrontierState, queue: Expr, kind: str) -> list[Node]:
        """Nodes that make what was written to the next queue the frontier's own."""
        return [
            Assign(current.queue, queue),
            Assign(current.side, 1 - current.side),
            Assign(current.kind, expression(int(kind == "edge"))),
        ]

    def for_kinds(self, current: FrontierState, emit: Callable[[str], None]) -> None:
        """Emit nodes for each kind of elements that the frontier may hold here."""
        *others, last = sorted(current.kinds, reverse=True)
        outer = self._within
        for kind in others:
            with self.when(equal(current.kind, int(kind == "edge"))) as branch:
                emit(kind)
            self._within = branch.no
        emit(last)
        self._within = outer

    def local_array(self, key: str) -> Expr:
        """A worker's own array of collected elements."""
        return pointer("int64", self.input(key, WorkerArray("locals")) + WORKER * (8 * Var("LOCAL")))

    def places(self) -> Expr:
        """A worker's own array with an edge slot for each vertex; it may hold anything at first."""
        dtype = self.layout.offsets
        size = np.dtype(dtype).itemsize * self.capacity("vertex")
        return pointer(dtype, self.input("places", WorkerArray("places")) + WORKER * size)

    def sparse(self, current: FrontierState) -> None:
        """Make a frontier a queue of ids, if a pull may have left a bitmap; one that is everything stays so."""
        if current.dense:
            with self.when(equal(current.form, form(BITS))):
                self._queue_of_bits(current, "out")

    def _queue_of_bits(self, current: FrontierState, next_scan: str) -> None:
        queue, scan = self.target(current, "vertex")
        call = Call(
            "queue_of_bits", WORDS, SLOT, WORKER, WORKERS, pointer("uint64", current.bits), self.capacity("vertex"),
            self.lists(next_scan)[0], pointer(self.layout.ids, queue), pointer(self.layout.offsets, scan),
            self.local_array("local_ids"), self.local_array("local_prefix"),
        )  # fmt: skip
        self.phase(
            call, self.produced(current, "vertex", next_scan), "list the vertices of the bitmap",
            work=(self.capacity("vertex") >> 3) + current.count,
        )  # fmt: skip

    def scanned(self, current: FrontierState, next_scan: str) -> None:
        """Make a frontier a queue with the prefix sum of its degrees in a direction; everything stays as it is.

        Afterwards ``current.edges`` is their sum. Phases for this run only where the frontier has another form: often
        the step before wrote the prefix sum beside the ids.
        """
        wanted = OUT if next_scan == "out" else IN
        if current.dense:
            with self.when(equal(current.form, form(BITS))):
                self._queue_of_bits(current, next_scan)
        with self.when(self.other_than(current, wanted, ALL)):
            offsets, _ = self.lists(next_scan)
            queue = pointer(self.layout.ids, current.queue)
            before = self.variable("before")
            self.phase(
                Call("scan_sums", WORDS, SLOT, WORKER, WORKERS, queue, current.count, offsets),
                [
                    Assign(before, SLOT),
                    Together(current.edges, Call("partial_total", WORDS, SLOT, WORKERS)),
                ],
                f"add up the {next_scan}-degrees",
                work=current.count,
            )
            scan = pointer(self.layout.offsets, self.scan_of(current))
            self.phase(
                Call("scan_write", WORDS, before, WORKER, WORKERS, queue, scan, current.count, offsets),
                [Assign(current.form, form(wanted))],
                f"write the prefix sum of the {next_scan}-degrees",
                work=current.count,
            )

    def copy(
        self,
        current: FrontierState,
        kind: str,
        queue: Expr,
        count: Expr,
        after: Sequence[Node] = (),
        what: str = "the ids",
    ) -> None:
        """Make a frontier a copy of a queue of ids."""
        target, _ = self.target(current, kind)
        element = self.layout.element(kind)
        self.phase(
            self.divided("copy_queue", pointer(element, queue), False, pointer(element, target), 0, count),
            [*self._plain(current, target, kind, count), *after],
            f"copy {what}",
            work=count,
        )

    def borrow(self, current: FrontierState, kind: str, pile: str) -> None:
        """Make a frontier what a pile holds, where that lies: for a step that leaves the pile as it is."""
        self.set(current.queue, self.state[f"pile:{pile}"])
        self.set(current.count, self.state[f"held:{pile}"])
        self.set(current.edges, 0)
        self.set(current.form, form(QUEUE))
        self.set(current.kind, int(kind == "edge"))

    def _plain(self, current: FrontierState, queue: Expr, kind: str, count: Value) -> list[Node]:
        return [
            *self._turned(current, queue, kind),
            Assign(current.count, expression(count)),
            Assign(current.edges, expression(0)),
            Assign(current.form, form(QUEUE)),
        ]

    def single(self, current: FrontierState, vertex: Expr) -> None:
        """One vertex. Every worker writes the same id to the same place, so no barrier is needed."""
        queue, _ = self.target(current, "vertex")
        self.add(*self._plain(current, queue, "vertex", 1))
        self.set(Item(pointer(self.layout.ids, current.queue), 0), vertex)

    # ---- what steps without phases do ------------------------------------------------------------------------------

    def typed(self, scalar: str, value: Value) -> Expr:
        """A value as the scalar's dtype holds it."""
        dtype = self.layout.dtype(scalar)
        if dtype == "bool":
            return Call("truth", value)
        return cast(dtype, value if dtype.startswith("float") else Call("integer", value))

    def assign(self, scalar: str, value: Value) -> Assign:
        """Node that gives a scalar a value, in its own dtype."""
        return Assign(self.scalars[scalar], self.typed(scalar, value))

    def decided(self, fn: Functor, wants: str = "") -> Var:
        """A variable that gets the value of a functor of the problem alone; the run ends if it raises."""
        self.functor(fn)
        made = self.local("decided", "any", f"{fn.__name__}(p)")
        self.add(Decide(made, fn, self.problem(), wants))
        return made

    def set_scalars(self, values: dict[str, Any]) -> None:
        """All values are computed before any is assigned."""
        made = {}
        for name, value in values.items():
            wants = "" if self.layout.dtype(name) == "bool" else VALUE
            found = self.decided(value, wants) if callable(value) else value
            made[name] = self.local("value", self.layout.dtype(name), f"the new {display_name(name)}")
            self.set(made[name], self.typed(name, found))
        for name, value in made.items():
            self.set(self.scalars[name], value)

    def swap(self, first: str, second: str) -> None:
        """Exchange two fields: addresses, or a scalar's values, or what a pile is made of."""
        self.swaps = True
        kind = next(kind for name, kind, _ in self.layout.fields if name == first)
        if kind == "scalar":
            self.add(Swap(self.scalars[first], self.scalars[second]))
            return
        stems = ("pile", "held", "epoch", "stamps") if kind == "pile" else ("field",)
        if kind == "pile":
            self.pile(first)
            self.pile(second)
        for stem in stems:
            self.add(Swap(self.keep(f"{stem}:{first}"), self.keep(f"{stem}:{second}")))

    def pile(self, name: str) -> str:
        """Declare what a pile is made of; the kind of its elements."""
        for stem, meaning in (("pile", "{}"), ("held", "len({})"), ("epoch", ""), ("stamps", "")):
            self.keep(f"{stem}:{name}", meaning.format(display_name(name)))
        return self.layout.dtype(name)

    def take(self, name: str, current: FrontierState) -> None:
        """The pile's content becomes the frontier; the pile is empty after."""
        kind = self.pile(name)
        current.kinds = frozenset({kind})
        held, epoch = self.state[f"held:{name}"], self.state[f"epoch:{name}"]
        empty = (Assign(held, expression(0)), Assign(epoch, epoch + 1))
        self.copy(current, kind, self.state[f"pile:{name}"], held, empty, f"what {display_name(name)} holds")
