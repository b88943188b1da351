"""The class Frontiers: where the frontiers of a program lie, and what brings them from one form into another.

A machine that represents them otherwise has a subclass, which its builder is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from frontier.lowering.frontier_state import ALL, BITS, IN, OUT, QUEUE, FrontierState, form
from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import (
    Assign,
    Call,
    Choice,
    Counter,
    Expr,
    Item,
    Node,
    Together,
    Value,
    Var,
    both,
    differ,
    equal,
    expression,
)
from frontier.lowering.variables import SLOT, WORDS, WORKER, WORKERS, pointer
from frontier.program.order import display_name

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder

__all__ = ["Frontiers"]


class Frontiers:
    """The frontiers of one program.

    Attributes
    ----------
    all : list of FrontierState
        In the order in which scopes are met.
    """

    #: Whether large frontiers of vertices are in the order of their ids, as a rule.
    ascending = False
    #: The forms without a list.
    whole: tuple[int, ...] = (ALL,)

    def __init__(self, b: Builder) -> None:
        self.b = b
        self.all: list[FrontierState] = []
        self._places: dict[tuple[bool, int], int] = {}

    def new(self) -> FrontierState:
        """A frontier for a scope."""
        made = FrontierState.made(len(self.all), self.b, self._places)
        self.all.append(made)
        return made

    def queue(self, current: FrontierState, kind: str) -> Expr:
        """A frontier's ids, as an array."""
        return pointer(self.b.layout.element(kind), current.queue)

    def target(self, current: FrontierState, kind: str) -> tuple[Expr, Expr]:
        """Addresses of the queue (and of its scan) that the next frontier is written to."""
        if current.record:  # after the frontiers recorded before, so that none is copied
            at = self.recorded(current.record, self.filled(current.record))
            return at, self._side(current, "scan", "scan", 1)
        ids = "ids" if kind == "vertex" else "slots"
        role, scan = (f"few_{kind}", "few_scan") if current.few else (f"{kind}_queue", "scan")
        queue = self._side(current, ids, role, 1)
        return queue, queue if kind == "edge" else self._side(current, "scan", scan, 1)

    def _side(self, current: FrontierState, name: str, role: str, ahead: int) -> Expr:
        """Address of one of a frontier's two arrays: that of the next frontier, or of its own."""
        sides = [self.b.input(current.buffer(name, side), Buffer(role), f"the {name} of a frontier") for side in "ab"]
        return Choice(current.side, *(sides if ahead else reversed(sides)))

    def next_bits(self, current: FrontierState) -> Expr:
        """Address of the bitmap that the frontier does not use."""
        a = self.b.input(current.buffer("mask", "a"), Buffer("bits"))
        other = self.b.input(current.buffer("mask", "b"), Buffer("bits"))
        return Choice(differ(current.bits, a), a, other)

    def recorded(self, name: str, at: Expr) -> Expr:
        """Address of an element of a record."""
        size = 8 if self.b.layout.element(self.b.records[name]).endswith("64") else 4
        return self.b.input(f"record:{name}", Buffer(f"{self.b.records[name]}_queue"), f"record {name}") + at * size

    def filled(self, name: str) -> Var:
        """Number of elements in a record."""
        return self.b.keep(f"filled:{name}", f"{name}.size")

    def room_left(self, current: FrontierState, kind: str) -> Expr:
        """The number of elements that the next frontier may have."""
        capacity = self.b.capacity(kind)
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

    def all_of_its_own(self, current: FrontierState) -> Expr:
        """Whether a frontier has all vertices that this machine owns."""
        return self.everything(current)

    def in_a_row(self, current: FrontierState, kind: str) -> Expr:
        """Whether the elements of a frontier are a range, so that nobody has to read them: 1 more than the first, or 0.

        True is 1 here: everything begins with 0.
        """
        return self.everything(current)

    def own_range(self, kind: str) -> tuple[Expr, Expr] | None:
        """The first of the vertices or edges that this machine owns, and the one after the last; None: all are."""
        return None

    def unscanned(self, current: FrontierState) -> Expr:
        """Whether a frontier is a list without its degrees."""
        return equal(current.form, form(QUEUE))

    # ---- after a phase that made the next one ----------------------------------------------------------------

    def produced(self, current: FrontierState, kind: str, next_scan: str) -> list[Node]:
        """Nodes after a phase that appended the next frontier to :meth:`target`: they make it the current one.

        The phase has counted its elements, and their edges if it wrote a scan: ``next_scan`` says which.
        """
        queue, _ = self.target(current, kind)
        made = {"": QUEUE, "out": OUT, "in": IN}[next_scan if kind == "vertex" else ""]
        return [
            *self.turned(current, queue, kind),
            Assign(current.count, Counter("COUNT")),
            Assign(current.edges, Counter("EDGES")),
            Assign(current.form, form(made)),
        ]

    def turned(self, current: FrontierState, queue: Expr, kind: str) -> list[Node]:
        """Nodes that make what was written to the next queue the frontier's own."""
        return [
            Assign(current.queue, queue),
            Assign(current.side, 1 - current.side),
            Assign(current.kind, expression(int(kind == "edge"))),
        ]

    def _plain(self, current: FrontierState, queue: Expr, kind: str, count: Value) -> list[Node]:
        return [
            *self.turned(current, queue, kind),
            Assign(current.count, expression(count)),
            Assign(current.edges, expression(0)),
            Assign(current.form, form(QUEUE)),
        ]

    # ---- what a frontier is made of --------------------------------------------------------------------------

    def make_everything(self, current: FrontierState, kind: str) -> None:
        """Make a frontier everything."""
        self.b.set(current.form, form(ALL))
        self.b.set(current.kind, int(kind == "edge"))
        self.b.set(current.count, self.b.capacity(kind))
        self.b.set(current.edges, self.b.capacity("edge"))

    def single(self, current: FrontierState, vertex: Expr) -> None:
        """One vertex. Every worker writes the same id to the same place, so no barrier is needed."""
        queue, _ = self.target(current, "vertex")
        self.b.add(*self._plain(current, queue, "vertex", 1))
        self.b.set(Item(pointer(self.b.layout.ids, current.queue), 0), vertex)

    def copy(self, current: FrontierState, kind: str, pile: str, after: Sequence[Node] = ()) -> None:
        """Make a frontier a copy of what a pile holds."""
        target, _ = self.target(current, kind)
        element, count = self.b.layout.element(kind), self.b.state[f"held:{pile}"]
        queue = pointer(element, self.b.state[f"pile:{pile}"])
        self.b.phase(
            self.b.divided("copy_queue", queue, False, pointer(element, target), 0, count),
            [*self._plain(current, target, kind, count), *after],
            f"copy what {display_name(pile)} holds",
            work=count,
        )

    def borrow(self, current: FrontierState, kind: str, pile: str) -> None:
        """Make a frontier what a pile holds, where that lies: for a step that leaves the pile as it is."""
        self._lies(current, kind, self.b.state[f"pile:{pile}"], self.b.state[f"held:{pile}"])

    def replay(self, current: FrontierState, kind: str, queue: Expr, count: Expr) -> None:
        """Make a frontier what a pass has recorded, where that lies."""
        self._lies(current, kind, queue, count)

    def _lies(self, current: FrontierState, kind: str, queue: Expr, count: Expr) -> None:
        self.b.set(current.queue, queue)
        self.b.set(current.count, count)
        self.b.set(current.edges, 0)
        self.b.set(current.form, form(QUEUE))
        self.b.set(current.kind, int(kind == "edge"))

    def take(self, name: str, current: FrontierState) -> None:
        """Make a pile's content the frontier; the pile is empty after."""
        kind = self.b.pile(name)
        current.kinds = frozenset({kind})
        epoch = self.b.state[f"epoch:{name}"]
        empty = (Assign(self.b.state[f"held:{name}"], expression(0)), Assign(epoch, epoch + 1))
        self.copy(current, kind, name, empty)

    # ---- forms -----------------------------------------------------------------------------------------------

    def sparse(self, current: FrontierState) -> None:
        """Make a frontier a queue of ids, if a pull may have left a bitmap; one that is everything stays so."""
        if self.may_be_bits(current):
            with self.b.when(equal(current.form, form(BITS))):
                self.queue_of_bits(current, "out")

    def may_be_bits(self, current: FrontierState) -> bool:
        """Whether a frontier may be a bitmap here."""
        return current.dense

    def queue_of_bits(self, current: FrontierState, next_scan: str) -> None:
        """Make a frontier that is a bitmap a queue of ids, with the prefix sum of degrees that is wanted next."""
        queue, scan = self.target(current, "vertex")
        call = Call(
            "queue_of_bits", WORDS, SLOT, WORKER, WORKERS, pointer("uint64", current.bits), self.b.capacity("vertex"),
            self.b.lists(next_scan)[0], pointer(self.b.layout.ids, queue), pointer(self.b.layout.offsets, scan),
            self.b.local_array("local_ids"), self.b.local_array("local_prefix"),
        )  # fmt: skip
        self.b.phase(
            call, self.produced(current, "vertex", next_scan), "list the vertices of the bitmap",
            work=(self.b.capacity("vertex") >> 3) + current.count,
        )  # fmt: skip

    def scanned(self, current: FrontierState, next_scan: str) -> None:
        """Make a frontier a queue with the prefix sum of its degrees in a direction; everything stays as it is.

        Afterwards ``current.edges`` is their sum. Phases for this run only where the frontier has another form: often
        the step before wrote the prefix sum beside the ids.
        """
        wanted = OUT if next_scan == "out" else IN
        if self.may_be_bits(current):
            with self.b.when(equal(current.form, form(BITS))):
                self.queue_of_bits(current, next_scan)
        with self.b.when(self.other_than(current, wanted, *self.whole)):
            self.add_up(current, next_scan, wanted)

    def add_up(self, current: FrontierState, next_scan: str, wanted: int) -> None:
        """Add the phases that make a queue have the prefix sum of its degrees: its form is ``wanted`` then."""
        b, (offsets, _) = self.b, self.b.lists(next_scan)
        queue, before = pointer(b.layout.ids, current.queue), b.variable("before")
        b.phase(
            Call("scan_sums", WORDS, SLOT, WORKER, WORKERS, queue, current.count, offsets),
            [Assign(before, SLOT), Together(current.edges, Call("partial_total", WORDS, SLOT, WORKERS))],
            f"add up the {next_scan}-degrees",
            work=current.count,
        )
        scan = pointer(b.layout.offsets, self.scan_of(current))
        b.phase(
            Call("scan_write", WORDS, before, WORKER, WORKERS, queue, scan, current.count, offsets),
            [Assign(current.form, form(wanted))],
            f"write the prefix sum of the {next_scan}-degrees",
            work=current.count,
        )

    def bitmap(self, current: FrontierState, word: str, *more: Value) -> None:
        """Make a frontier a bitmap of words of a dtype, unless it is one already or everything."""
        b = self.b
        with b.when(self.other_than(current, BITS, ALL)):
            n = b.capacity("vertex")
            b.set(current.bits, self.next_bits(current))
            bits = pointer(word, current.bits)
            b.phase(b.divided("fill_bits", bits, n, *more), title="clear a bitmap", work=n >> 6)
            marks = b.divided("set_bits", bits, self.queue(current, "vertex"), current.count)
            b.phase(marks, title="mark the frontier in the bitmap", work=current.count)
