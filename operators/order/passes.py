"""What a loop's passes consist of, which decides how its order may be implemented."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.operators.advance import Advance
from frontier.operators.advance.parting import Parting
from frontier.program.effects import effects

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.operators.elementwise.split import Split
    from frontier.program.loop import Loop
    from frontier.program.order import Order
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["is_single", "key_field", "lowers", "offered", "parted", "parts", "suits_parting"]


def is_single(loop: Loop) -> bool:
    """Whether a pass is a single Advance, so that elements that are not near may stay in its frontier."""
    if len(loop.steps) != 1 or loop.until is not None or not isinstance(loop.steps[0], Advance):
        return False
    step = loop.steps[0]
    whole = step.part is None and step.stop is None and step.over is None
    return step.output == "vertex" and step.unique != "claimed" and whole


def lowers(order: Order, step: Advance) -> bool:
    """Whether all that the functor does is an ``atomic_min`` on which the key of ``dst`` depends.

    It accepts the edge just where that succeeds, and stores elsewhere only there.
    """
    found = effects(step.fn)
    field = next(iter(found.along.get("", ())), None)
    if field is None or not (found.exact and found.writes_known) or found.atomics.get(field) != {"min"}:
        return False
    others = found.writes.keys() - {field}
    if found.writes[field] != {"dst"} or any(found.along.get(name) != {field} for name in others):
        return False
    if isinstance(order.key, str):
        return order.key == field
    read = effects(order.key)
    return read.exact and all(read.reads.get(name, {"v"}) == {"v"} for name in found.writes)


def key_field(order: Order) -> str:
    """The field of the key, or of the width that the key is minus; empty if it is made in another way."""
    return order.key if isinstance(order.key, str) else next(iter(effects(order.key).negated), "")


def offered(loop: Loop) -> str:
    """What the functor of a pass is known to offer ``dst``, doing nothing where that is no less than the key.

    ``weight``: the key of ``src`` plus the weight. ``cap``: the width of ``src``, or the weight if that is less, where
    keys are minus the width. Empty if nothing is known.
    """
    (step,), order = loop.steps, loop.order
    assert isinstance(step, Advance)
    assert order is not None
    if order.adds or order.caps:
        return "weight" if order.adds else "cap"
    operation, offers = ("min", "weight") if isinstance(order.key, str) else ("max", "cap")
    field, found = key_field(order), effects(step.fn)
    if not (found.exact and found.writes_known) or found.relaxes.get(field) != {offers}:
        return ""
    if found.atomics[field] != {operation} or field in found.stored:
        return ""
    same = all(found.along.get(name) == {field} for name in {"", *found.writes} - {field})
    return offers if same else ""


def suits_parting(g: Graph) -> bool:
    """Whether far vertices are put aside while edges are walked: on processors, where all lists are short.

    (road-NE takes 44 ms instead of 48, the grid a third less, and a path of 200,000 vertices 12 instead of 19.)
    """
    return g.traits.short_lists and not (g.placement.massively_parallel or g.placement.divides)


def parts(loop: Loop, g: Graph, schedule: ResolvedSchedule) -> bool:
    """Whether passes of a loop do.

    The last call that lowers a vertex's key must be one that accepts it. (A Split after the Advance is sure to see the
    least key, whichever call has accepted the vertex.) Another way to visit edges, if the schedule asks for one, has no
    such step.
    """
    assert loop.order is not None
    if loop.order.exact or not suits_parting(g) or not is_single(loop):
        return False
    step = loop.steps[0]
    assert isinstance(step, Advance)
    if step.schedule is not None:
        schedule = step.schedule.over(schedule)
    if step.edges != "out" or step.hold or schedule.direction == "pull" or schedule.balance not in ("auto", "thread"):
        return False
    return bool(offered(loop)) or lowers(loop.order, step)


def parted(loop: Loop, steps: tuple[Step, ...], split: Split) -> tuple[Step, ...]:
    """Make one step of the last one of a pass and the Split after it; to relax edges twice is harmless."""
    *others, last = steps
    assert loop.order is not None
    assert isinstance(last, Advance)
    unique = "cull" if offered(loop) else last.unique
    return (*others, Parting(last, split, unique))
