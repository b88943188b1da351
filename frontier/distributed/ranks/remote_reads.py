"""What a step needs of edges that other ranks have, on a graph in parts; refused is what cannot be brought.

A rank has the edges of its own vertices. What may be brought are the lists of the far ends of its edges, and entries at
the slots of its in-edges. Lists and slots farther away would be, step by step, the whole graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from frontier.errors import FunctorError
from frontier.functors.functor import arguments, location
from frontier.program.effects import effects

if TYPE_CHECKING:
    from frontier.program.effects import Effects
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["HELP", "RemoteReads", "at_own_edges", "names_of", "needs"]

HELP = 'the graph is in parts; g.to("cpu").to("ranks") has the whole graph on every rank'


@dataclass(frozen=True)
class RemoteReads:
    """What a step needs of edges that other ranks have.

    Attributes
    ----------
    lists : frozenset of str
        Arrays of the graph, and fields of edges, that it reads in the lists of far ends.
    slots : frozenset of str
        Those that it reads at the slots of in-edges.
    numbered : bool
        Whether it asks for the slots of in-edges, or for lists beside them.
    """

    lists: frozenset[str] = frozenset()
    slots: frozenset[str] = frozenset()
    numbered: bool = False


def names_of(step: Step) -> set[str]:
    """What its functors take of edges."""
    return {name for fn, place in step.functors() if place in ("edge", "edge value") for name in arguments(fn, place)}


def needs(step: Step, p: Problem) -> RemoteReads:
    """Return what a step needs.

    Raises
    ------
    FunctorError
        If that is more than can be brought.
    """
    inwards = step.far == "src"
    named = names_of(step)
    numbered = inwards and ("edge" in named or getattr(step, "output", None) == "edge")
    found: dict[str, set[str]] = {"lists": {"targets"} if step.reads_lists else set(), "slots": set()}
    for fn, _ in step.functors():
        touched = effects(fn)
        numbered = numbered or (inwards and bool(touched.topology))
        if "in_offsets" in touched.topology:
            raise FunctorError(f'{location(fn)} looks for in-edges, fr.neighbours(p, v, "in"): {HELP}')
        fields = {name for name, field in p.fields.items() if field.kind == "edge"}
        if not touched.exact and fields:
            raise FunctorError(f"{location(fn)}: it is not known which fields of edges it uses, and where: {HELP}")
        for name, slots in touched.slots.items():
            if name not in p.fields:
                for slot in slots:
                    where = _where(step, slot)
                    if where == "any":
                        raise FunctorError(f"{location(fn)} looks up edges, which may be those of other ranks: {HELP}")
                    found.get(where, set()).add(name)
        for name in fields & touched.fields:
            at = {_where(step, slot) for slot in _slots(touched.reads, touched.slots, name)}
            written = {_where(step, slot) for slot in _slots(touched.writes, touched.slots, name)}
            if "any" in at | written:
                raise FunctorError(
                    f"{location(fn)} uses p.{name}, a field of edges, at another index than its own edge, which may be "
                    f"that of another rank: {HELP}"
                )
            if written - {"own"}:
                raise FunctorError(
                    f"{location(fn)} writes p.{name}, a field of edges, at edges that other ranks have, whose changes "
                    f"are not merged: write at its own edge, and read there; {HELP}"
                )
            for where in at - {"own"}:
                found[where].add(name)
    if numbered and "weight" in named:
        found["slots"].add("weights")
    return RemoteReads(frozenset(found["lists"]), frozenset(found["slots"]), numbered)


def at_own_edges(step: Step, touched: Effects, name: str) -> bool:
    """Whether a functor writes a field of edges only at edges of the part that runs the step."""
    return all(_where(step, slot) == "own" for slot in _slots(touched.writes, touched.slots, name))


def _slots(indices: dict[str, set[str]], slots: dict[str, set[str]], name: str) -> set[str]:
    """The slots at which a functor uses a field of edges."""
    found = indices.get(name, set()) - {""}
    return found - {"any"} | slots[name] if "any" in found else found


def _where(step: Step, slot: str) -> str:
    """Whose edge a slot is: ``own``, in the ``lists`` of far ends, among the ``slots`` of in-edges, or ``any``."""
    if slot.startswith("list "):
        vertex = slot.removeprefix("list ")
        if not (step.divides or step.accumulates):  # every rank runs it on all elements
            return "any"
        if step.near == "u":
            own, far = {"u"}, {"v"}
        else:
            own, far = ({step.near}, {step.far}) if step.far else ({"v", "src"}, {"dst"})
        return "own" if vertex in own else "lists" if vertex in far else "any"
    if slot == "edge":
        return "slots" if step.near == "dst" else "own"
    return {"uv": "own", "uw": "own", "vw": "lists"}.get(slot, "any")
