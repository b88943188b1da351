"""A program that several GPUs run at once: one kernel on each, which meet after the steps and decide alike.

Each GPU has copies of fields and the elements of a frontier that it owns. A step runs on these. Then follows the
exchange (that of steps which claim vertices is another one, see :mod:`frontier.distributed.devices.claim_program`):

1. If a push has changed elements of others, all meet, and owners bring together what all have made of theirs.
2. All meet. What each tells makes the size of the next frontier, and says whether anybody has failed or is to stop.
3. All copy what owners have changed of *mirrored* fields, which some step needs of elements of others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier.distributed.devices.barriers import can_meet
from frontier.distributed.devices.claim_program import Claims
from frontier.distributed.devices.combining_phases import combining, following
from frontier.distributed.devices.packing_phases import moving
from frontier.distributed.devices.phases import copying, finding, merging, sharing
from frontier.distributed.devices.touches import OneKernelError
from frontier.lowering.ir import Call
from frontier.lowering.kernels import Made
from frontier.lowering.variables import pointer

if TYPE_CHECKING:
    from frontier.lowering.frontier_state import FrontierState
    from frontier.lowering.ir import Value
    from frontier.lowering.kernels import Constant

__all__ = ["PeersProgram"]


class PeersProgram(Claims):
    """A program of which each of several GPUs runs a part, with what they exchange after each step."""

    def begin_step(self, step: Any, current: FrontierState, pushed: bool = True) -> None:
        """Let the fields be watched whose changes by the step concern others."""
        if step.far and current.kinds - {"vertex"}:
            raise OneKernelError("edges whose far ends others own")
        claim = self.touches.claim(step)
        if claim is not None:
            self.begin_claims(step, claim, pushed)
            return
        self.catch_up(step)
        self._watched = self.touches.watched(step, pushed)

    def exchange(self, step: Any, current: FrontierState, pushed: bool = True) -> None:
        """Bring together what GPUs have changed, and let all know the size of the next frontier."""
        watched, self._watched = self._watched, []
        claim = self.touches.claim(step)
        if claim is not None:
            self.exchange_claims(step, claim, current, pushed)
            return
        self.other_bitmap()
        combined = self.touches.combined(step, pushed)
        finds = pushed and step.far and not step.passes_through and current.kinds <= {"vertex"} and _finds(step)
        tells = [self._tell(name, everything=name in combined) for name in watched]
        if finds:
            tells.append(self._tell("", everything=True))
        if combined or finds:
            self._together(*tells, title="tell what has changed")
            leaders = {name: self.touches.leader(step, name) for name in combined}
            ordered = sorted(combined, key=lambda name: (leaders[name] not in combined, name))  # before their leaders
            self._bring_together(step, current, [self._merge(name, combined, leaders[name]) for name in ordered], finds)
        elif not step.passes_through:
            if not tells and can_meet(self._within):
                self._meet(self._sized(current))
            else:
                self._publish(current, *tells)
        elif tells:
            self._together(*tells, title="tell what has changed")
        elif self.touches.needs(step) or self.touches.meets_claims(step):
            # Before anybody changes what this step reads and another GPU may still be copying, or claims at its owner
            # what this step still looks at.
            self._meet()
        self._take_over([name for name in watched if name in self.touches.mirrored])
        for name in step.fills():
            self._publish_pile(name)
        for name in watched:
            side = self.keep(f"side:{name}")
            self.set(side, 1 - side)

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

    def _merge(self, name: str, combined: dict[str, str], leader: str) -> Call:
        """Owners bring together what all have made of their elements of a field."""
        bring, bases = self._combining(name, combined[name])
        if leader in combined:
            lead, of_leader = self._combining(leader, combined[leader])
            parts: dict[str, Constant] = {
                "at": self._at(name), "lead": lead, "lead_at": self._at(leader),
                "mirrored": name in self.touches.mirrored,
            }  # fmt: skip
            bring = Made(following, parts)
            table = self._field_table(leader)
            bases = Call("Shared", self.field(leader), table, self._told(leader)[1], of_leader)
        told, marked = self._told(name)
        given: dict[str, Value] = {
            "mine": self.field(name), "packed": self._packed(name)[0], "told": told,
            "fields": self._field_table(name), "marked": marked, "bases": bases, "rank": self.rank,
            "received": self._received, **self._own(),
        }  # fmt: skip
        return self.kernel("merge", merging, given, bring=bring, pack=self._packing(name), size=self._size(name))

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

    def _take_over(self, names: list[str]) -> None:
        """Take over what owners have changed of fields."""
        if names:
            title = f"take over what owners have changed of {', '.join(names)}"
            self._together(*map(self._share, names), title=title, meets=False)

    def _share(self, name: str) -> Call:
        based, packs = name in self.touches.summed, self.packs(name)
        given: dict[str, Value] = {
            "mine": self.field(name), "base": self._base(name)[0] if based else 0, "fields": self._field_table(name),
            "packs": self._packed(name)[1] if packs else self._field_table(name), "marked": self._told(name)[1],
            "blocks": self.blocks, "received": self._received, **self._who(),
        }  # fmt: skip
        move, unpack = (Made(moving, {"packs": False, "unpacks": each, "based": based}) for each in (False, True))
        copy = Made(copying, {"move": move, "unpack": unpack if packs else None, "size": self._size(name)})
        return self.kernel("share", sharing, given, at=self._at(name), copy=copy)


def _finds(step: Any) -> bool:
    return bool(step.output == "vertex")
