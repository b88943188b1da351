"""A program that several GPUs run at once: one kernel on each, which meet after the steps and decide alike.

Each GPU has whole fields and the elements of a frontier that it owns. A step runs on these. Then follows the exchange:

1. If a push has changed elements of others, all meet, and owners bring together what all have made of theirs.
2. All meet. What each tells makes the size of the next frontier, and says whether anybody has failed or is to stop.
3. All copy what owners have changed of *mirrored* fields, which some step needs of elements of others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.devices.claims.phases import adopting, claiming, copying_field, copying_fields, storing_field
from frontier.backends.devices.peers import Peers, can_meet
from frontier.backends.devices.phases import (
    combining,
    copying,
    finding,
    following,
    merging,
    settling,
    sharing,
    telling,
)
from frontier.backends.devices.touches import OneKernelError
from frontier.lowering.frontier_state import BITS, form
from frontier.lowering.ir import Assign, Call, Counter, cast, expression
from frontier.lowering.kernels import FunctorName, Made
from frontier.lowering.phases import NARROW
from frontier.lowering.variables import pointer

if TYPE_CHECKING:
    from frontier.backends.devices.claims.steps import Claim
    from frontier.lowering.frontier_state import FrontierState
    from frontier.lowering.ir import Node, Value
    from frontier.lowering.kernels import Constant

__all__ = ["PeersProgram"]


class PeersProgram(Peers):
    """A program of which each of several GPUs runs a part, with what they exchange after each step."""

    def begin_step(self, step: Any, current: FrontierState, pushed: bool = True) -> None:
        """Let the fields be watched whose changes by the step concern others."""
        if step.far and current.kinds - {"vertex"}:
            raise OneKernelError("edges whose far ends others own")
        claim = self.touches.claim(step)
        if claim is not None:
            self._watched = [claim.field] if pushed else []  # in a pull, the next frontier says it
            self._stored = [name for name, _ in claim.alike] if pushed else []
            return
        self._watched = self.touches.watched(step, pushed)

    def tells(self, step: Any) -> bool:
        """Whether what a push changes says which vertices it accepts."""
        return self.touches.claim(step) is not None

    def exchange(self, step: Any, current: FrontierState, pushed: bool = True) -> None:
        """Bring together what GPUs have changed, and let all know the size of the next frontier."""
        watched, self._watched = self._watched, []
        claim = self.touches.claim(step)
        if claim is not None:
            self._stored = []
            self._exchange_claims(step, claim, current, pushed)
            return
        self.set(self.complete, 0)
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
            if not tells and can_meet(self._within):
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

    def _exchange_claims(self, step: Any, claim: Claim, current: FrontierState, pushed: bool) -> None:
        """Let owners have what others have claimed of theirs, and all know which vertices are claimed."""
        if pushed:
            self._together(self._tell(claim.field, everything=True), title="tell what has been claimed")
            title = "owners take over claims, and find the next frontier"
            self._together(self._take_claims(step, claim, current), after=self._found(current), title=title)
        else:
            self._meet(self._sized(current))
        given: dict[str, Value] = {
            "bits": pointer("uint32", current.bits), "others": self.bits_of_others(current),
            "mine": self.field(claim.field), "marker": 0, "received": self._received, **self._who(),
        }  # fmt: skip
        title = f"take over who is in the frontier, and that p.{claim.field} is claimed there"
        self._together(self.kernel("adopt", adopting, given), title=title, meets=False)
        self.set(self.complete, current.bits)

    def _take_claims(self, step: Any, claim: Claim, current: FrontierState) -> Call:
        """Owners take over what other GPUs have claimed of their vertices."""
        copies: Made | None = None
        fields: Value = 0
        alike = {name: self._alike(value) for name, value in claim.alike}
        for name in reversed((claim.field, *claim.along)):
            one = Made(storing_field) if name in alike else Made(copying_field, {"at": self._at(name)})
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

    def _tell(self, name: str, everything: bool) -> Call:
        """Tell what this GPU has touched: of all elements, or of those that it owns."""
        first, end = (0, self.capacity("vertex")) if everything else self.own_range("vertex")
        _, flags = self.touched(name)
        bytes_ = pointer("int64", self.input(f"touched:{name}", "touched"))
        given: dict[str, Value] = {
            "touched": bytes_, "flags": flags, "told": self._told(name)[0], "first": first, "end": end,
            "starts": self.starts, "parts": self.parts, "blocks": self.blocks,
        }  # fmt: skip
        return self.kernel("tell", telling, given)

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
        bring = Made(combining, {"at": self._at(name), "combine": combine, "dtype": str(self.layout.dtype(name))})
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
