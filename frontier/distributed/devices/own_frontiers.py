"""Frontiers of which each of several GPUs has the elements that it owns.

How a frontier is represented is the same on all GPUs. None is everything there: of that, each has a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from frontier.backends.cuda.program import CudaFrontiers
from frontier.distributed.devices.peers import Peers
from frontier.distributed.devices.phases import completing
from frontier.lowering.frontier_state import BITS, OWN, QUEUE, form
from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import (
    Assign,
    Choice,
    Counter,
    both,
    differ,
    either,
    equal,
    expression,
)
from frontier.lowering.variables import pointer

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.distributed.devices.touches import Touches
    from frontier.lowering.frontier_state import FrontierState
    from frontier.lowering.ir import Expr, Node, Value, Var

__all__ = ["OwnFrontiers"]


class OwnFrontiers(CudaFrontiers):
    """The frontiers of a program of which each of several GPUs runs a part."""

    ascending = True  # they come from bitmaps
    whole = ()

    def __init__(self, b: CudaProgram, touches: Touches) -> None:
        super().__init__(b)
        self.peers = Peers(b, touches)

    def own_range(self, kind: str) -> tuple[Expr, Expr]:
        """The first vertex or edge that this GPU owns, and the one after the last."""
        return self.peers.own_range(kind)

    # ---- what a frontier is made of ------------------------------------------------------------------------

    def make_everything(self, current: FrontierState, kind: str) -> None:
        """Make a frontier everything, which is a list here."""
        first, end = self.own_range(kind)
        target, _ = self.target(current, kind)
        call = self.b.divided("fill_range", pointer(self.b.layout.element(kind), target), first, end)
        made = [*self._plain(current, target, kind, end - first), Assign(current.form, form(OWN))]
        self.b.phase(call, made, f"list the {kind} ids of this GPU")
        self.peers.set_size(current, self.b.capacity(kind), 0)

    def single(self, current: FrontierState, vertex: Expr) -> None:
        """Make a frontier one vertex, which its owner has."""
        super().single(current, vertex)
        self.peers.set_size(current, 1, current.edges)
        first, end = self.own_range("vertex")
        with self.b.when(both(vertex >= first, vertex < end)) as owned:
            pass
        with self.b.otherwise(owned):
            self.b.set(current.count, 0)
            self.b.set(current.edges, 0)

    def copy(self, current: FrontierState, kind: str, pile: str, after: Sequence[Node] = ()) -> None:
        """Make a frontier a copy of what a pile holds."""
        super().copy(current, kind, pile, after)
        self.peers.set_size(current, self.peers.held_in(pile), 0)

    def borrow(self, current: FrontierState, kind: str, pile: str) -> None:
        """Make a frontier what a pile holds, where that lies."""
        super().borrow(current, kind, pile)
        self.peers.set_size(current, self.peers.held_in(pile), 0)

    def replay(self, current: FrontierState, kind: str, queue: Expr, count: Expr) -> None:
        """Make a frontier what a pass has recorded, and let all GPUs know its size."""
        super().replay(current, kind, queue, count)
        self.peers.publish(current)

    def take(self, name: str, current: FrontierState) -> None:
        """Make a pile's content the frontier; the pile is empty after."""
        super().take(name, current)
        self.b.set(self.peers.held_in(name), 0)

    def found(self, current: FrontierState) -> list[Node]:
        """What becomes of a frontier whose bits owners have found, and all have told how many they are."""
        return [
            Assign(current.bits, self.next_bits(current)),
            Assign(current.count, Counter("COUNT")),
            Assign(current.edges, Counter("EDGES")),
            Assign(current.form, form(BITS)),
            Assign(current.kind, expression(0)),
            *self.peers.sized(current),
        ]

    # ---- forms ---------------------------------------------------------------------------------------------

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

    def may_be_bits(self, current: FrontierState) -> bool:
        """Whether a frontier may be a bitmap here; both a push and a pull may have left one."""
        return "edge" not in current.kinds

    def add_up(self, current: FrontierState, next_scan: str, wanted: int) -> None:
        """Add the phases that make the prefix sum of a queue's degrees; afterwards all know the sum of all degrees."""
        super().add_up(current, next_scan, wanted)
        self.peers.publish(current)

    def bitmap(self, current: FrontierState, word: str, *more: Value) -> None:
        """Make a frontier a bitmap that has the elements of all GPUs."""
        b = self.b
        with b.when(self.other_than(current, BITS)):
            b.set(current.bits, self.next_bits(current))
            bits = pointer(word, current.bits)
            b.phase(b.divided("clear_words", bits, *self.own_range("vertex")), title="clear a bitmap")
            marks = b.divided("set_bits", bits, self.queue(current, "vertex"), current.count)
            b.phase(marks, title="mark the frontier in the bitmap").meets = True
            self.other_bitmap()
        given: dict[str, Value] = {
            "bits": pointer(word, current.bits), "others": self.bits_of_others(current),
            "received": self.peers.received, **self.peers.who(),
        }  # fmt: skip
        with self._unless_complete(current):
            b.phase(b.kernel("complete", completing, given), title="take over the bits of the other GPUs")

    def bits_of_others(self, current: FrontierState) -> Expr:
        """The table of the bitmaps of a frontier on all GPUs."""
        a, b = (current.buffer("mask", side) for side in "ab")
        first = equal(current.bits, self.b.input(a, Buffer("bits")))
        return Choice(first, self.peers.table(a), self.peers.table(b))

    def complete(self) -> Var:
        """The address of the last bitmap that has the elements of all GPUs: steps that claim leave such ones."""
        return self.b.keep("complete")

    def other_bitmap(self) -> None:
        """Say that no bitmap is known to have the elements of all GPUs."""
        if self.peers.touches.claimed:
            self.b.set(self.complete(), 0)

    @contextmanager
    def _unless_complete(self, current: FrontierState) -> Iterator[None]:
        """Within it is added what makes a frontier's bitmap have the elements of all GPUs."""
        if not self.peers.touches.claimed:
            yield
            return
        with self.b.when(differ(self.complete(), current.bits)):
            yield
            self.b.set(self.complete(), current.bits)
