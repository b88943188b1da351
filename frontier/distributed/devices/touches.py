"""What steps touch at elements of other GPUs, and how changes there are merged; which programs cannot be shared."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from frontier.distributed.devices import claims
from frontier.distributed.devices.claims import claim_of, free_values
from frontier.distributed.ranks.write_set import written
from frontier.errors import FrontierError
from frontier.lowering.phases import checking
from frontier.program.effects import effects
from frontier.program.layout import Layout
from frontier.program.loop import Loop, Sequence
from frontier.program.registered import is_users_balance
from frontier.program.step import scheduled, walk
from frontier.program.swapping import swaps_of, with_partners

if TYPE_CHECKING:
    from frontier.backends.run.workspace import Code
    from frontier.distributed.devices.claims import Claim
    from frontier.graph.graph import Graph
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["OneKernelError", "Touches", "touches_of"]


class OneKernelError(FrontierError):
    """A program cannot be shared by several GPUs inside one kernel on each."""


class Touches:
    """What the steps of a program touch.

    Parameters
    ----------
    program : Step
    p : Problem
    schedule : ResolvedSchedule
    afar : bool
        Whether atomics of a GPU reach the memory of the others.

    Attributes
    ----------
    changed : frozenset of str
        Vertex fields that are written by some step.
    mirrored : frozenset of str
        Those of them of which some step needs the elements of others: it reads them, or changes them by atomics. What
        is only stored to, its owner takes from whoever has stored it.
    summed : frozenset of str
        Those of them to which some step adds at elements of others.

    Raises
    ------
    OneKernelError
        If there is something in it that only the loop on the host can share.
    """

    def __init__(self, program: Step, p: Problem, schedule: ResolvedSchedule, afar: bool = True) -> None:
        if checking():
            raise OneKernelError("FRONTIER_CHECK")
        if any(field.width for field in p.fields.values()):
            raise OneKernelError("fields of several values")
        self.afar = afar
        self._vertex = {name for name, field in p.fields.items() if field.kind == "vertex"}
        self._combine: dict[Step, dict[str, str]] = {}
        self._leaders: dict[tuple[Step, str], str] = {}
        self._pulls: dict[Step, bool] = {}
        self._needed: dict[Step, set[str]] = {}
        self._unknown = False  # whether a balance is of the user's
        reached: set[str] = set()
        swaps = swaps_of(program)
        changed: set[str] = set().union(*swaps)
        for step, given in scheduled(program, schedule):
            _check(step, given)
            self._unknown |= is_users_balance(given.balance, "cuda")
            self._pulls[step] = self._pulls.get(step, False) or step.may_pull(given)  # it may stand in two places
            if step.divides and not step.counted:
                fields = written(step, p)
                followers = {each.name for each in fields if each.with_}
                if any(each.with_ in followers for each in fields):
                    raise OneKernelError("a field that goes along with one that goes along with another")
                self._combine[step] = {each.name: each.combine for each in fields}
                self._leaders |= {(step, each.name): each.with_ for each in fields}
            if self._pulls[step] and any(
                not (how or self._writes(step).get(name, set()) <= {step.far})
                for name, how in self._combine[step].items()
            ):
                raise OneKernelError("a pull that writes at the other end")
            needed = self._needed[step] = set()
            for fn, _ in step.functors():
                made = effects(fn)
                if not (made.exact and made.writes_known):
                    raise OneKernelError(f"{fn.__name__} passes its problem on")
                changed |= made.writes.keys()
                for name, where in (*made.reads.items(), *made.writes.items()):
                    stored = where is made.writes.get(name) and name not in made.atomics
                    if not (where <= self._own(step) or (stored and p.fields[name].combine != "sum")):
                        needed.add(name)
            reached |= needed
            changed |= {name for _, name in step.into_fields()}
        if changed & {name for pair in p._pairs for name in pair[:2]}:
            raise OneKernelError("fields that change together")
        arrays = {name for name, field in p.fields.items() if field.kind in ("edge", "array")}
        if arrays & changed:
            raise OneKernelError("fields of edges that change")
        reached = with_partners(reached, swaps)
        self.changed = frozenset(changed & self._vertex)
        self.mirrored = frozenset(reached & changed & self._vertex)
        combined = [self.combined(step, True) for step in self._combine]
        #: Vertex fields of which a GPU reads no other elements of others than it has stored itself.
        self.apart = frozenset(self._vertex - self.mirrored - (reached - changed))
        self.summed = frozenset(name for each in combined for name, how in each.items() if how == "sum")
        assert self.summed <= self.mirrored  # an atomic needs the element
        if any(names & self.summed for names in swaps):
            raise OneKernelError("fields that are added to, and exchanged")
        own = {step: self._own(step) for step in walk(program)}
        others = self._vertex - self.mirrored | {name for names in swaps for name in names}
        for step in own:  # what is stored at elements of others that are claimed already would not be told
            for made in (effects(fn) for fn, _ in step.functors()):
                others |= {name for name in made.stored if not made.writes[name] <= own[step]}
        self._free = free_values(own, p, own, others)
        found = {step: claim_of(step, p, how, self._free) for step, how in self._combine.items()}
        self._claims = {step: made for step, made in found.items() if made and not self.mirrored & {*made.along}}
        #: Mirrored fields of which GPUs do not have the values of others' elements, but whether there is one.
        self.claimed = frozenset(made.field for made in self._claims.values())
        self._asked = frozenset(name for name in self.claimed for step in self._needed if self._asks(step, name))
        #: For keys of compiled code.
        self.key = (
            tuple(sorted(self.mirrored)), tuple(tuple(sorted(each.items())) for each in combined),
            tuple(sorted(self._free.items())), tuple(self._claims.get(step) for step in self._combine),
            claims.FEW, afar,
        )  # fmt: skip
        #: Compiled code of the program, by the graph of each GPU, and by what else it depends on.
        self.codes: weakref.WeakKeyDictionary[Graph, dict[Any, Code]] = weakref.WeakKeyDictionary()
        #: Vertex fields of which every GPU reads and writes the elements that it owns, and no others.
        self.own_only = self._of_own(program, swaps)
        #: Vertex fields that are exchanged.
        self.swapped = frozenset().union(*swaps) & self._vertex

    def claim(self, step: Step) -> Claim | None:
        """What a step claims, of which GPUs tell each other bits."""
        return self._claims.get(step)

    def asked(self, name: str) -> bool:
        """Whether a step asks which elements of a claimed field are claimed, but for the far ends that it may claim.

        The kernels of users do not look at bits, either.
        """
        return self._unknown or name in self._asked

    def _asks(self, step: Step, name: str) -> bool:
        claim = self._claims.get(step)
        if claim is None or claim.field != name:
            return name in self._needed[step]
        made = [effects(fn) for fn, _ in step.functors()]
        where = set().union(*(uses.get(name, set()) for each in made for uses in (each.reads, each.writes)))
        return not where <= {step.far, *self._own(step)}

    def meets_claims(self, step: Step) -> bool:
        """Whether a step touches fields that other GPUs may change in this one's memory, in the next push."""
        touched = set(self._writes(step)).union(*(effects(fn).fields for fn, _ in step.functors()))
        return self.afar and any(touched & {made.field, *made.along} for made in self._claims.values())

    def needed(self, step: Step) -> frozenset[str]:
        """The fields of which a step needs elements of others."""
        return frozenset(self._needed[step])

    def _of_own(self, program: Step, swaps: list[set[str]]) -> frozenset[str]:
        kept = set(self._vertex)
        for step in walk(program):
            own, claim = self._own(step), self._claims.get(step)
            dropped = {name for name, _ in claim.alike} if claim else set()  # owners store these themselves
            for fn, _ in step.functors():
                made = effects(fn)
                for uses in (made.reads, made.writes):
                    kept -= {name for name, where in uses.items() if not where <= own} - dropped
            if not step.divides:
                kept -= {name for _, name in step.into_fields()}
        return frozenset(kept - with_partners({name for pair in swaps for name in pair if name not in kept}, swaps))

    def _own(self, step: Step) -> set[str]:
        """The indices that are elements of the GPU which runs the step, whichever way it goes."""
        if not step.divides:
            return set()
        return set() if self._pulls[step] else {step.near} if step.far else {"v", "src", "edge"}

    def combined(self, step: Step, pushed: bool) -> dict[str, str]:
        """The fields that a step changes at elements of others, and how changes are merged."""
        own = {step.near} if pushed else {step.far}
        writes = self._writes(step)
        found = {}
        for name, how in self._combine.get(step, {}).items():
            if name in writes and how and not writes[name] <= (own if step.far else {"v", "src"}):
                found[name] = how
        return found

    def leader(self, step: Step, name: str) -> str:
        """The field along with which a field changes, so that it takes the value of the same GPU; "" if there is none.

        See ``with_=``.
        """
        return self._leaders[step, name]

    def watched(self, step: Step, pushed: bool) -> list[str]:
        """The fields whose changes by a step concern others."""
        return sorted(self._writes(step).keys() & self._vertex & (self.mirrored | self.combined(step, pushed).keys()))

    def needs(self, step: Step) -> bool:
        """Whether a step needs elements of others that some step changes."""
        return bool(self._needed[step] & self.mirrored)

    def _writes(self, step: Step) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for fn, _ in step.functors():
            for name, where in effects(fn).writes.items():
                found.setdefault(name, set()).update(where)
        for _, name in step.into_fields():
            found.setdefault(name, set()).add(step.near)
        return found


def touches_of(step: Step, p: Problem, schedule: ResolvedSchedule, afar: bool) -> Touches:
    """What the steps of a program touch on problems of this kind, found once."""
    fields = tuple((name, field.kind, field.combine, field.with_) for name, field in p.fields.items())
    captures = step._captures  # looked at when the run began
    assert captures is not None
    key = (schedule, fields, Layout.of(p), captures.key, checking(), claims.FEW, afar)
    known = step.__dict__.setdefault("_touches", {})
    found = known.get(key)
    if found is None:
        try:
            found = Touches(step, p, schedule, afar)
        except OneKernelError as error:
            found = error
        known[key] = found
    if isinstance(found, OneKernelError):
        raise OneKernelError(*found.args)
    made: Touches = found
    return made


def _check(step: Step, schedule: ResolvedSchedule) -> None:
    """Raise OneKernelError for what is not shared inside a kernel."""
    if isinstance(step, Loop):
        if step.order is not None:
            raise OneKernelError("loops with an order")
        return
    if isinstance(step, Sequence):
        return
    if not step.exchanges_inside or step.counted:
        raise OneKernelError(f"{step!r}")
    if (getattr(step, "output", None), getattr(step, "edges", None)) == ("edge", "in"):
        raise OneKernelError("edges that are found by the owners of their targets")
    if getattr(step, "hold", None) is not None:
        raise OneKernelError("vertices that are held back")
    if not all(reduction.runtime for _, reduction in step.partial()):
        raise OneKernelError("reductions by functions of the user")
    if schedule.hub_cache or schedule.deterministic or not schedule.fuse:
        raise OneKernelError("the schedule")
