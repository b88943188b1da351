"""How steps that claim vertices run on several GPUs: in two ways, of which each pass takes one.

Where a push has many edges, each GPU claims in its own copy of the field, and owners take over what others have claimed
(:meth:`Claims.exchange_claims`). Where it has few, GPUs claim at the owner, in its memory, and append to its frontier:
then one meeting is enough, but copies of other GPUs are behind, until a step needs them (:meth:`Claims.catch_up`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.compile.codes import BLOCK
from frontier.distributed.devices import claims
from frontier.distributed.devices.claim_phases import (
    adopting,
    catching_up,
    claiming,
    copying_field,
    copying_fields,
    delivering,
    storing_field,
    telling_claims,
)
from frontier.distributed.devices.meeting_words import COUNT_BITS, INBOXES, inbox_at
from frontier.distributed.devices.packing_phases import moving, packing
from frontier.distributed.devices.peers import Peers
from frontier.distributed.devices.phases import telling
from frontier.lowering.frontier_state import BITS, OUT, form
from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import Assign, Call, Choice, Counter, Phase, both, cast, differ, expression
from frontier.lowering.kernels import FunctorName, Made
from frontier.lowering.phases import NARROW
from frontier.lowering.variables import WORKER, pointer

if TYPE_CHECKING:
    from collections.abc import Callable

    from frontier.distributed.devices.claims import Claim
    from frontier.lowering.frontier_state import FrontierState
    from frontier.lowering.ir import Expr, Node, Value, Var

__all__ = ["Claims"]

class Claims(Peers):
    """The part of a program that is about claims."""

    #: What a push claims at the owners, while that is being lowered.
    _directly: Claim | None = None

    def begin_claims(self, step: Any, claim: Claim, pushed: bool) -> None:
        """Let what a step claims be noted; in a pull, the next frontier says it."""
        self._watched = [claim.field] if pushed else []
        self._stored = [name for name, _ in claim.alike] if pushed else []
        if not pushed:
            self.catch_up(step)

    def sharing(self, step: Any) -> str:
        """How owners get to know the vertices that a push accepts; see ``deduplication`` of Advance."""
        return "direct" if self._directly else "share" if self.touches.claim(step) is None else "told"

    def claimed_bits(self, step: Any) -> Expr:
        """Bits of the vertices of which this GPU knows that they are claimed: a push passes them over."""
        claim = self.touches.claim(step)
        assert claim is not None
        return self.touched(claim.field)[0]

    def exchange_claims(self, step: Any, claim: Claim, current: FrontierState, pushed: bool) -> None:
        """Let owners have what others have claimed of theirs, and all know which vertices are claimed."""
        self._stored = []
        if pushed:
            self._together(self._tell(claim.field, everything=True), title="tell what has been claimed")
            title = "owners take over claims, and find the next frontier"
            self._together(self._take_claims(step, claim, current), after=self._found(current), title=title)
        else:
            self._meet(self._sized(current))
        given: dict[str, Value] = {
            "bits": pointer("uint32", current.bits), "others": self.bits_of_others(current),
            **self._noted(claim.field), "received": self._received, **self._who(),
        }  # fmt: skip
        title = f"take over who is in the frontier, and that p.{claim.field} is claimed there"
        marks = self.touches.asked(claim.field)
        self._together(self.kernel("adopt", adopting, given, marks=marks), title=title, meets=False)
        self.set(self._complete(), current.bits)

    def _noted(self, name: str) -> dict[str, Value]:
        """Where a phase notes which elements are claimed that others own: that they are, and that all know it."""
        seen, _ = self.touched(name)
        mine = pointer(self.layout.dtype(name), self.state[f"field:{name}"])
        return {"seen": seen, "known": self._known(name), "mine": mine, "marker": 0}

    def _known(self, name: str) -> Expr:
        """Bits of the claimed elements of which all GPUs have been told."""
        return pointer("uint32", self._touched_at(name) + BLOCK // 8 * self.blocks)

    def _take_claims(self, step: Any, claim: Claim, current: FrontierState) -> Call:
        """Owners take over what other GPUs have claimed of their vertices."""
        copies: Made | None = None
        fields: Value = 0
        alike = {name: self._alike(value) for name, value in claim.alike}
        move = Made(moving, {"packs": False, "unpacks": False, "based": False})
        for name in reversed((claim.field, *claim.along)):
            one = Made(storing_field) if name in alike else Made(copying_field, {"at": self._at(name), "move": move})
            copies = Made(copying_fields, {"first": one, "others": copies, "more": copies is not None})
            shared = Call("Shared", self.field(name), self._field_table(name), 0, alike.get(name, 0))
            fields = Call("Several", shared, fields)
        given: dict[str, Value] = {
            "made": pointer("uint32", self.next_bits(current)), "marked": self._told(claim.field)[1],
            "fields": fields, "degrees": self.lists(step.edges)[0], "rank": self.rank, "received": self._received,
            **self._own(),
        }  # fmt: skip
        size = sum(self._size(name) for name in (claim.field, *claim.along) if name not in alike)
        return self.kernel("claim", claiming, given, copy=copies, size=size, big=self.big)

    def _alike(self, value: str) -> Value:
        """What a step stores in all calls."""
        if not value.startswith("p."):
            return int(value)
        name = value.removeprefix("p.")
        return cast("int64", self.scalars[name]) if self.layout.dtype(name) in NARROW else self.scalars[name]

    # ---- bitmaps of all GPUs -------------------------------------------------------------------------------

    def _complete(self) -> Var:
        """The address of the last bitmap that has the elements of all GPUs."""
        return self.keep("complete")

    @contextmanager
    def unless_complete(self, current: FrontierState) -> Iterator[None]:
        """Within it is added what makes a frontier's bitmap have the elements of all GPUs."""
        if not self.touches.claimed:
            yield
            return
        with self.when(differ(self._complete(), current.bits)):
            yield
            self.set(self._complete(), current.bits)

    def other_bitmap(self) -> None:
        """Say that no bitmap is known to have the elements of all GPUs."""
        if self.touches.claimed:
            self.set(self._complete(), 0)

    # ---- in the owners' memory -----------------------------------------------------------------------------

    def push(
        self,
        step: Any,
        source: FrontierState,
        target: FrontierState,
        emit: Callable[[], None],
        claims: Callable[[], None] | None = None,
    ) -> None:
        """Add a push: in passes with few edges, one that claims at the owners."""
        if claims is None or not self.claims_directly(step, target):
            self.catch_up(step)
            emit()
            self.exchange(step, target)
            return
        self.scanned(source, step.edges)
        with self.when(self.is_short(source)) as branch, self.directly(step, target):
            claims()
        with self.otherwise(branch):
            self.catch_up(step)
            emit()
            self.exchange(step, target)

    def pull(self, step: Any, source: FrontierState, target: FrontierState, emit: Callable[[], None]) -> None:
        """Add a pull, whose changes others are told of as bits."""
        self.begin_step(step, source, pushed=False)
        emit()
        self.exchange(step, target, pushed=False)

    def claims_directly(self, step: Any, target: FrontierState) -> bool:
        """Whether passes of a step with few edges claim at the owners."""
        plain = not (target.record or target.few) and step.edges == "out" and self.schedule.balance == "auto"
        return plain and self.touches.afar and self.touches.claim(step) is not None

    def is_short(self, source: FrontierState) -> Expr:
        """Whether a frontier, whose degrees are known, has few edges on all GPUs together."""
        assert claims.FEW < 1 << COUNT_BITS  # accepted vertices are counted in so many bits
        return both(self.edges_of(source) <= claims.FEW, self.size(source) <= claims.FEW)

    @contextmanager
    def directly(self, step: Any, target: FrontierState) -> Iterator[None]:
        """Within it, a push claims at the owners, and appends to their frontiers."""
        claim = self.touches.claim(step)
        assert claim is not None
        turn, behind = self.keep("inbox"), self._behind(claim.field)
        self.set(turn, Choice(turn < INBOXES - 1, turn + 1, 0))
        watched, stored, self._watched, self._stored, self._directly = self._watched, self._stored, [], [], claim
        yield
        self._watched, self._stored, self._directly = watched, stored, None
        phase = self._within[-1]
        assert isinstance(phase, Phase)
        following = Choice(turn < INBOXES - 1, turn + 1, 0)
        phase.more = (*phase.more, Call("clear_inbox", WORKER, self.box, inbox_at(self.parts) + following))
        self._meet(self._delivered(target))
        self.set(behind, 1)

    def _delivered(self, target: FrontierState) -> list[Node]:
        """What becomes of the frontier to which all have appended."""
        queue, _ = self.target(target, "vertex")
        place = inbox_at(self.parts) + self.keep("inbox")
        return [
            *self._turned(target, queue, "vertex"),
            Assign(target.count, Call("inbox_count", self.box, place)),
            Assign(target.edges, Call("inbox_edges", self.box, place)),
            Assign(target.form, form(OUT)),
            *self._sized(target),
        ]

    def deliver(self) -> Made:
        """What appends accepted vertices to their owners' frontiers."""
        assert self._directly is not None
        at, offsets_at = (FunctorName(f"{dtype}_at") for dtype in (self.layout.ids, self.layout.offsets))
        size = sum(map(self._size, (self._directly.field, *self._directly.along)))
        size += np.dtype(self.layout.ids).itemsize + np.dtype(self.layout.offsets).itemsize
        return Made(delivering, {"at": at, "offsets_at": offsets_at, "size": size, "big": self.big})

    def frontiers_of_owners(self, target: FrontierState) -> Call:
        """Where that is."""
        queues, scans = (
            Choice(target.side, *(self._table_of(target.buffer(name, side), role) for side in "ab"))
            for name, role in (("ids", "vertex_queue"), ("scan", "scan"))
        )
        inbox, own = inbox_at(self.parts) + self.keep("inbox"), self.own_range("vertex")
        of_this = (self.rank, *own, self.box, self._received)
        return Call("Frontiers", self.starts, self.parts, self.boxes, inbox, queues, scans, *of_this)

    def _table_of(self, key: str, role: str) -> Expr:
        """Addresses of an array of a frontier on all GPUs."""
        self.input(key, Buffer(role), "an array of a frontier")
        return self._table(key)

    def _behind(self, name: str) -> Var:
        """Whether copies of a claimed field do not have what others have claimed at owners."""
        return self.keep(f"behind:{name}")

    def catch_up(self, step: Any) -> None:
        """Let all GPUs know what has been claimed at owners, if the step needs that, or marks changes of its own."""
        used = {*self.touches.needed(step), *self.touches.watched(step, pushed=True)}
        for name in sorted(self.touches.claimed & used) if self.touches.afar else ():
            behind = self._behind(name)
            with self.when(differ(behind, 0)):
                self._together(self._tell(name, everything=False), title="tell what has been claimed at owners")
                given: dict[str, Value] = {
                    **self._noted(name), "marked": self._told(name)[1], "blocks": self.blocks,
                    "received": self._received, **self._who(),
                }  # fmt: skip
                title, marks = f"take over that p.{name} is claimed", self.touches.asked(name)
                self._together(self.kernel("catch_up", catching_up, given, marks=marks), title=title, meets=False)
                side = self.keep(f"side:{name}")
                self.set(side, 1 - side)
                self.set(behind, 0)

    def _watching(self, name: str, made: Expr) -> Expr:
        claim = self._directly
        if claim is None or name not in (claim.field, *claim.along):
            return super()._watching(name, made)
        there = (*self.own_range("vertex"), self._field_table(name), self.starts, self.parts)
        if name != claim.field:
            return Call("route", made, *there)
        return Call("route_claims", made, *there, self._table(f"touched:{name}"), self.blocks, self._touched_at(name))

    # ---- what all exchanges use ----------------------------------------------------------------------------

    def _tell(self, name: str, everything: bool) -> Call:
        """Tell what this GPU has touched: of all elements, or of those that it owns."""
        first, end = (0, self.capacity("vertex")) if everything else self.own_range("vertex")
        marks, flags = self.touched(name)
        given: dict[str, Value] = {
            "flags": flags, "told": self._told(name)[0], "first": first, "end": end,
            "starts": self.starts, "parts": self.parts, "blocks": self.blocks,
        }  # fmt: skip
        if name in self.touches.claimed:
            return self.kernel("tell", telling_claims, {"seen": marks, "known": self._known(name), **given})
        packs = not everything and self.packs(name)
        more: dict[str, Value] = {
            "mine": self.field(name) if packs else 0, "packed": self._packed(name)[0] if packs else 0,
            "touched": pointer("int64", self._touched_at(name)),
        }  # fmt: skip
        return self.kernel("tell", telling, {**more, **given}, pack=self._packing(name) if packs else None)

    def _packing(self, name: str) -> Made | None:
        """What packs the values of a field that its owner tells of, if others read them there."""
        if not self.packs(name):
            return None
        return Made(packing, {"move": Made(moving, {"packs": True, "unpacks": False, "based": False})})

    def _own(self) -> dict[str, Value]:
        first, end = self.own_range("vertex")
        return {"parts": self.parts, "first": first, "end": end, "blocks": self.blocks}

    def _size(self, name: str) -> int:
        return np.dtype(self.layout.dtype(name)).itemsize

    def _at(self, name: str) -> FunctorName:
        return FunctorName(f"{self.layout.dtype(name)}_at")

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
