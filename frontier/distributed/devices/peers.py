"""What a program knows of the GPUs that run it together: who owns what, where their arrays lie, and how they meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from frontier.backends.cuda.compile.runtime_words import SUM
from frontier.compile.codes import BLOCK
from frontier.distributed.devices.barriers import can_meet, let_meet
from frontier.distributed.devices.claim_phases import telling_claims
from frontier.distributed.devices.inputs import BOX, Bound, Group, InputArray, Packed, SharedArray, Table
from frontier.distributed.devices.meeting_words import RECEIVED, sums_at
from frontier.distributed.devices.packing_phases import moving, packing
from frontier.distributed.devices.phases import telling
from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import Assign, Call, Choice, Const, Counter
from frontier.lowering.kernels import FunctorName, Made
from frontier.lowering.variables import SLOT, WORDS, WORKER, pointer
from frontier.program.order import display_name

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.distributed.devices.touches import Touches
    from frontier.lowering.frontier_state import FrontierState
    from frontier.lowering.ir import Expr, Node, Phase, Value, Var

__all__ = ["Peers"]


class Peers:
    """The GPUs that run a program, each of them a part of it, as the program of one of them sees them.

    :mod:`frontier.distributed.devices.part` fills in who owns what, and tables with an address for each GPU.

    Attributes
    ----------
    meetings, stopped, failed : Var
        The number of the last meeting; what phases have left since in the words STOP and ERROR.
    exchanges : list of Phase
        The phases in which GPUs exchange what has changed.
    """

    def __init__(self, b: CudaProgram, touches: Touches) -> None:
        self.b, self.touches = b, touches
        self.sizes: dict[int, tuple[Var, Var]] = {}
        self.exchanges: list[Phase] = []
        self.rank, self.parts = b.input("rank", Group("rank")), b.input("parts", Group("parts"))
        self.starts = pointer("int64", b.input("starts", Group("starts")))
        self.box = pointer("int64", b.input("box", BOX))
        self.boxes = pointer("int64", b.input("boxes", Table(BOX)))
        self.meetings, self.stopped, self.failed = (b.keep(name) for name in ("meetings", "stopped", "failed"))
        self.blocks = b.input("field_blocks", Group("blocks"))
        self.received = pointer("int64", b.input("box", BOX) + 8 * (sums_at(self.parts) + RECEIVED))

    # ---- who owns what, and where it lies ------------------------------------------------------------------

    def own_range(self, kind: str) -> tuple[Expr, Expr]:
        """The first vertex or edge that this GPU owns, and the one after the last."""
        return self.b.input(f"{kind}_first", Bound(kind, False)), self.b.input(f"{kind}_end", Bound(kind, True))

    def own(self) -> dict[str, Value]:
        """What a phase is given in which owners look at their elements."""
        first, end = self.own_range("vertex")
        return {"parts": self.parts, "first": first, "end": end, "blocks": self.blocks}

    def who(self) -> dict[str, Value]:
        """What a phase is given that reads what others own."""
        return {"starts": self.starts, "rank": self.rank, "parts": self.parts}

    def table(self, key: str, array: SharedArray | None = None) -> Expr:
        """Addresses of an array on all GPUs: of the input of a key, or another one."""
        return pointer("int64", self.b.input(f"table:{key}", Table(array or InputArray(key))))

    def touched(self, name: str) -> tuple[Expr, Expr]:
        """Marks that say which elements of a field a step has touched, and which blocks of them.

        These are bytes, but of claimed fields bits, of all elements that this GPU knows to be claimed. For the field ""
        they are the vertices that a push accepts.
        """
        address = self.touched_at(name)
        if name in self.touches.claimed:
            return pointer("uint32", address), pointer("uint8", address + BLOCK // 4 * self.blocks)
        return pointer("uint8", address), pointer("uint8", address + BLOCK * self.blocks)

    def touched_at(self, name: str) -> Var:
        """Where these marks lie."""
        return self.b.input(f"touched:{name}", Buffer("claimed" if name in self.touches.claimed else "touched"))

    def known(self, name: str) -> Expr:
        """Bits of the claimed elements of which all GPUs have been told."""
        return pointer("uint32", self.touched_at(name) + BLOCK // 8 * self.blocks)

    def told(self, name: str) -> tuple[Expr, Expr]:
        """What this GPU tells of the elements of a field that it has touched, and the table of what all tell.

        These are two arrays in turns, for others may still read the last one; what a push accepts is read at once.
        """
        keys = [f"told:{name}:{each}" for each in ("ab" if name else "a")]
        addresses, tables = [self.b.input(key, Buffer("told")) for key in keys], [self.table(key) for key in keys]
        if not name:
            return pointer("uint32", addresses[0]), tables[0]
        side = self.side(name)
        return pointer("uint32", Choice(side, *reversed(addresses))), Choice(side, *reversed(tables))

    def side(self, name: str) -> Var:
        """Which of two arrays it is the turn of."""
        return self.b.keep(f"side:{name}")

    def turn(self, name: str) -> None:
        """Let it be the other array's turn."""
        side = self.side(name)
        self.b.set(side, 1 - side)

    def packs(self, name: str) -> bool:
        """Whether owners pack the values of a field that others take over from them."""
        return name in self.touches.mirrored and name not in self.touches.claimed

    def packed(self, name: str) -> tuple[Expr, Expr]:
        """Where this GPU packs values of a field, and where all do; two arrays in turns, as of what they tell."""
        if not self.packs(name):
            return Const(0), Const(0)
        sides = {f"packed:{name}:{side}": Packed(name, side) for side in "ab"}
        addresses = [self.b.input(key, array) for key, array in sides.items()]
        tables = [self.table(key, array) for key, array in sides.items()]
        side = self.side(name)
        packed = pointer(self.b.layout.dtype(name), Choice(side, *reversed(addresses)))
        return packed, Choice(side, *reversed(tables))

    def packing(self, name: str) -> Made | None:
        """What packs the values of a field that its owner tells of, if others read them there."""
        if not self.packs(name):
            return None
        return Made(packing, {"move": Made(moving, {"packs": True, "unpacks": False, "based": False})})

    def field_table(self, name: str) -> Expr:
        """Addresses of a field on all GPUs; Swap exchanges them as it does the fields."""
        return pointer("int64", self.b.keep(f"fields:{name}"))

    def base(self, name: str) -> tuple[Expr, Expr]:
        """What a field to which others add had before, and the addresses of that on all GPUs."""
        base = pointer(self.b.layout.dtype(name), self.b.keep(f"base:{name}"))
        return base, pointer("int64", self.b.keep(f"bases:{name}"))

    def itemsize(self, name: str) -> int:
        """Bytes of an element of a field."""
        return np.dtype(self.b.layout.dtype(name)).itemsize

    def pointer_of(self, name: str) -> FunctorName:
        """What makes a pointer to a field, for a kernel."""
        return FunctorName(f"{self.b.layout.dtype(name)}_at")

    # ---- sizes on all GPUs ---------------------------------------------------------------------------------

    def size(self, current: FrontierState) -> tuple[Var, Var]:
        """The variables for a frontier's numbers of elements and of edges on all GPUs."""
        if current.number not in self.sizes:
            made = self.b.variable("all_count", "count"), self.b.variable("all_edges", "edges")
            self.sizes[current.number] = made
        return self.sizes[current.number]

    def set_size(self, current: FrontierState, count: Value, edges: Value) -> None:
        """Give these variables values that all GPUs know."""
        for var, value in zip(self.size(current), (count, edges), strict=True):
            self.b.set(var, value)

    def sized(self, current: FrontierState) -> list[Node]:
        """Nodes after a meeting at which GPUs have told the sizes of their parts."""
        count, edges = self.size(current)
        return [Assign(count, Counter("ALL_COUNT")), Assign(edges, Counter("ALL_EDGES"))]

    def held_in(self, pile: str) -> Var:
        """The number of elements of a pile on all GPUs, each of which has those that it owns."""
        return self.b.keep(f"all_held:{pile}", f"len({display_name(pile)})")

    # ---- meetings ------------------------------------------------------------------------------------------

    def meet(self, after: Sequence[Node] = (), *, alone: bool = False) -> None:
        """Let all GPUs meet at the barrier of the last phase, or (or always, if ``alone``) at one of its own."""
        if not alone and can_meet(self.b.within):
            let_meet(self.b.within, after)
        else:
            self.b.phase(Call("nothing"), after, "meet the other GPUs").meets = True

    def together(self, *calls: Call, title: str, after: Sequence[Node] = (), meets: bool = True) -> None:
        """Do several things in one phase of the exchange."""
        if calls or after:
            call, *more = calls or [Call("nothing")]
            made = self.b.phase(call, after, title)
            made.meets, made.more = meets, tuple(more)
            self.exchanges.append(made)

    def publish(self, current: FrontierState, *more: Call) -> None:
        """Let all know the size of a frontier, after doing more."""
        call = Call("publish_size", WORDS, SLOT, self.b.big, WORKER, current.count, current.edges)
        title = "tell what has changed, and the size of the frontier" if more else "tell the size of the frontier"
        self.together(*more, call, after=self.sized(current), title=title)

    def publish_pile(self, name: str) -> None:
        """Let all know how much a pile holds."""
        call = Call("publish", WORDS, SLOT, WORKER, self.b.state[f"held:{name}"], 1 + SUM)
        told = [Assign(self.held_in(name), Counter("ALL_VALUE"))]
        self.b.phase(call, told, f"tell how much {display_name(name)} holds").meets = True

    def tell(self, name: str, everything: bool) -> Call:
        """Tell what this GPU has touched: of all elements, or of those that it owns."""
        first, end = (0, self.b.capacity("vertex")) if everything else self.own_range("vertex")
        marks, flags = self.touched(name)
        given: dict[str, Value] = {
            "flags": flags, "told": self.told(name)[0], "first": first, "end": end,
            "starts": self.starts, "parts": self.parts, "blocks": self.blocks,
        }  # fmt: skip
        if name in self.touches.claimed:
            return self.b.kernel("tell", telling_claims, {"seen": marks, "known": self.known(name), **given})
        packs = not everything and self.packs(name)
        more: dict[str, Value] = {
            "mine": self.b.field(name) if packs else 0, "packed": self.packed(name)[0] if packs else 0,
            "touched": pointer("int64", self.touched_at(name)),
        }  # fmt: skip
        return self.b.kernel("tell", telling, {**more, **given}, pack=self.packing(name) if packs else None)
