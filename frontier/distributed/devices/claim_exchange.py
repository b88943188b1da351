"""How steps that claim vertices run on several GPUs: in two ways, of which each pass takes one.

Where a push has many edges, each GPU claims in its own copy of the field, and owners take over what others have claimed
(:meth:`ClaimExchange.after`). Where it has few, GPUs claim at the owner, in its memory, and append to its frontier:
then one meeting is enough, but copies of other GPUs are behind, until a step needs them
(:meth:`ClaimExchange.catch_up`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.devices import claims
from frontier.distributed.devices.claim_phases import (
    adopting,
    catching_up,
    claiming,
    copying_field,
    copying_fields,
    delivering,
    storing_field,
)
from frontier.distributed.devices.meeting_words import COUNT_BITS, INBOXES, inbox_at
from frontier.distributed.devices.packing_phases import moving
from frontier.lowering.frontier_state import OUT, form
from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import Assign, Call, Choice, Phase, both, cast, differ
from frontier.lowering.kernels import FunctorName, Made
from frontier.lowering.phases import NARROW
from frontier.lowering.variables import WORKER, pointer

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.distributed.devices.claims import Claim
    from frontier.distributed.devices.own_frontiers import OwnFrontiers
    from frontier.lowering.frontier_state import FrontierState
    from frontier.lowering.ir import Expr, Local, Node, Value, Var

__all__ = ["ClaimExchange"]


class ClaimExchange:
    """What comes before and after the work of steps that claim, or need what is claimed.

    While a push is lowered, it says how owners get to know which vertices it accepts: see
    :class:`frontier.backends.cuda.program.Acceptance`.
    """

    def __init__(self, b: CudaProgram, frontiers: OwnFrontiers) -> None:
        self.b, self.frontiers, self.peers = b, frontiers, frontiers.peers
        self.touches = self.peers.touches

    # ---- what a push accepts -------------------------------------------------------------------------------

    def how(self, step: Any) -> str:
        """See ``deduplication`` of Advance."""
        work = self.b.current_work
        if work is not None and work.way == "claim":
            return "direct"
        return "share" if self.touches.claim(step) is None else "told"

    def tests(self, step: Any, target: FrontierState, passes_over: bool) -> dict[str, Value]:
        """Where accepted vertices are noted; ``claimed`` are bits of those of which this GPU knows it already."""
        how, made = self.how(step), dict[str, "Value"]()
        if how == "share":
            made["taken"], made["blocks"] = self.peers.touched("")
        if how == "direct":
            made["taken"] = self._frontiers_of_owners(target)
        if passes_over:
            made["claimed"] = self.peers.touched(self._claim(step).field)[0]
        return made

    def deliver(self, step: Any) -> Made:
        """What appends accepted vertices to their owners' frontiers."""
        claim, layout = self._claim(step), self.b.layout
        at, offsets_at = (FunctorName(f"{dtype}_at") for dtype in (layout.ids, layout.offsets))
        size = sum(map(self.peers.itemsize, (claim.field, *claim.along)))
        size += np.dtype(layout.ids).itemsize + np.dtype(layout.offsets).itemsize
        return Made(delivering, {"at": at, "offsets_at": offsets_at, "size": size, "big": self.b.big})

    def few(self, step: Any, source: FrontierState, target: FrontierState) -> Expr | None:
        """Whether a frontier, whose degrees are known, has few edges; None: the step does not claim at owners."""
        assert claims.FEW < 1 << COUNT_BITS  # accepted vertices are counted in so many bits
        plain = not (target.record or target.few) and step.edges == "out" and self.b.schedule.balance == "auto"
        if not (plain and self.touches.afar and self.touches.claim(step) is not None):
            return None
        return both(source.edges <= claims.FEW, source.count <= claims.FEW)

    def _claim(self, step: Any) -> Claim:
        found = self.touches.claim(step)
        assert found is not None
        return found

    def _frontiers_of_owners(self, target: FrontierState) -> Call:
        """Where the frontiers are to which owners' vertices are appended."""
        peers = self.peers
        queues, scans = (
            Choice(target.side, *(self._table_of(target.buffer(name, side), role) for side in "ab"))
            for name, role in (("ids", "vertex_queue"), ("scan", "scan"))
        )
        inbox = inbox_at(peers.parts) + self.b.keep("inbox")
        of_this = (peers.rank, *peers.own_range("vertex"), peers.box, peers.received)
        return Call("Frontiers", peers.starts, peers.parts, peers.boxes, inbox, queues, scans, *of_this)

    def _table_of(self, key: str, role: str) -> Expr:
        """Addresses of an array of a frontier on all GPUs."""
        self.b.input(key, Buffer(role), "an array of a frontier")
        return self.peers.table(key)

    # ---- before and after --------------------------------------------------------------------------------------

    def watched(self, claim: Claim, name: str, made: Expr, way: str) -> Expr | None:
        """What a step that claims sees instead of a field, so that its changes are noted."""
        peers, own = self.peers, self.peers.own_range("vertex")
        if way == "claim":
            there = (*own, peers.field_table(name), peers.starts, peers.parts)
            if name == claim.field:
                marks = peers.table(f"touched:{name}"), peers.blocks, peers.touched_at(name)
                return Call("route_claims", made, *there, *marks)
            return Call("route", made, *there) if name in claim.along else None
        if way == "pull":  # the next frontier says it
            return None
        if name == claim.field:
            return Call("watch_bits", made, *peers.touched(name))
        return Call("own", made, *own) if name in dict(claim.alike) else None

    def after(self, step: Any, claim: Claim, current: FrontierState, way: str) -> None:
        """Let owners have what others have claimed of theirs, and all know which vertices are claimed."""
        peers = self.peers
        if way == "push":
            peers.together(peers.tell(claim.field, everything=True), title="tell what has been claimed")
            title = "owners take over claims, and find the next frontier"
            after = self.frontiers.found(current)
            peers.together(self._take_claims(step, claim, current), after=after, title=title)
        else:
            peers.meet(peers.sized(current))
        given: dict[str, Value] = {
            "bits": pointer("uint32", current.bits), "others": self.frontiers.bits_of_others(current),
            **self._noted(claim.field), "received": peers.received, **peers.who(),
        }  # fmt: skip
        title = f"take over who is in the frontier, and that p.{claim.field} is claimed there"
        marks = self.touches.asked(claim.field)
        peers.together(self.b.kernel("adopt", adopting, given, marks=marks), title=title, meets=False)
        self.b.set(self.frontiers.complete(), current.bits)

    def _noted(self, name: str) -> dict[str, Value]:
        """Where a phase notes which elements are claimed that others own: that they are, and that all know it."""
        seen, _ = self.peers.touched(name)
        return {"seen": seen, "known": self.peers.known(name), "mine": self.b.field(name), "marker": 0}

    def _take_claims(self, step: Any, claim: Claim, current: FrontierState) -> Call:
        """Owners take over what other GPUs have claimed of their vertices."""
        peers = self.peers
        copies: Made | None = None
        fields: Value = 0
        alike = {name: self._alike(value) for name, value in claim.alike}
        move = Made(moving, {"packs": False, "unpacks": False, "based": False})
        for name in reversed((claim.field, *claim.along)):
            copied = Made(copying_field, {"at": peers.pointer_of(name), "move": move})
            one = Made(storing_field) if name in alike else copied
            copies = Made(copying_fields, {"first": one, "others": copies, "more": copies is not None})
            shared = Call("Shared", self.b.field(name), peers.field_table(name), 0, alike.get(name, 0))
            fields = Call("Several", shared, fields)
        given: dict[str, Value] = {
            "made": pointer("uint32", self.frontiers.next_bits(current)), "marked": peers.told(claim.field)[1],
            "fields": fields, "degrees": self.b.lists(step.edges)[0], "rank": peers.rank, "received": peers.received,
            **peers.own(),
        }  # fmt: skip
        size = sum(peers.itemsize(name) for name in (claim.field, *claim.along) if name not in alike)
        return self.b.kernel("claim", claiming, given, copy=copies, size=size, big=self.b.big)

    def _alike(self, value: str) -> Value:
        """What a step stores in all calls."""
        if not value.startswith("p."):
            return int(value)
        name = value.removeprefix("p.")
        scalar = self.b.scalars[name]
        return cast("int64", scalar) if self.b.layout.dtype(name) in NARROW else scalar

    # ---- in the owners' memory -----------------------------------------------------------------------------

    def at_owners(self, node: Local, nodes: list[Node]) -> None:
        """Add a push that claims at the owners, and appends to their frontiers."""
        claim, b, peers = self._claim(node.step), self.b, self.peers
        turn = b.keep("inbox")
        following = Choice(turn < INBOXES - 1, turn + 1, 0)
        b.set(turn, following)
        b.add(*nodes)
        phase = b.within[-1]
        assert isinstance(phase, Phase)
        phase.more = (*phase.more, Call("clear_inbox", WORKER, peers.box, inbox_at(peers.parts) + following))
        peers.meet(self._delivered(node.target))
        b.set(self._behind(claim.field), 1)

    def _delivered(self, target: FrontierState) -> list[Node]:
        """What becomes of the frontier to which all have appended."""
        queue, _ = self.frontiers.target(target, "vertex")
        place = inbox_at(self.peers.parts) + self.b.keep("inbox")
        return [
            *self.frontiers.turned(target, queue, "vertex"),
            Assign(target.count, Call("inbox_count", self.peers.box, place)),
            Assign(target.edges, Call("inbox_edges", self.peers.box, place)),
            Assign(target.form, form(OUT)),
            *self.peers.sized(target),
        ]

    def _behind(self, name: str) -> Var:
        """Whether copies of a claimed field do not have what others have claimed at owners."""
        return self.b.keep(f"behind:{name}")

    def catch_up(self, step: Any) -> None:
        """Let all GPUs know what has been claimed at owners, if the step needs that, or marks changes of its own."""
        used = {*self.touches.needed(step), *self.touches.watched(step, pushed=True)}
        peers = self.peers
        for name in sorted(self.touches.claimed & used) if self.touches.afar else ():
            behind = self._behind(name)
            with self.b.when(differ(behind, 0)):
                peers.together(peers.tell(name, everything=False), title="tell what has been claimed at owners")
                given: dict[str, Value] = {
                    **self._noted(name), "marked": peers.told(name)[1], "blocks": peers.blocks,
                    "received": peers.received, **peers.who(),
                }  # fmt: skip
                title, marks = f"take over that p.{name} is claimed", self.touches.asked(name)
                peers.together(self.b.kernel("catch_up", catching_up, given, marks=marks), title=title, meets=False)
                peers.turn(name)
                self.b.set(behind, 0)
