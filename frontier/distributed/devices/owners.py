"""Fields of which a program only uses the element that it stands on: the owner's values are enough during a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.program.effects import effects
from frontier.program.loop import Loop
from frontier.program.step import walk
from frontier.program.swapping import swaps_of, with_partners

if TYPE_CHECKING:
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["kept_by_owners"]


def kept_by_owners(program: Step, p: Problem, schedule: ResolvedSchedule) -> frozenset[str]:
    """Names of the vertex fields that no step needs of vertices that another GPU owns.

    They are read and written at the element that a step stands on: at ``v``, or the near end of edges that it pushes
    along.
    """
    kept = {name for name, field in p.fields.items() if field.kind == "vertex"}
    kept -= {name for pair in p._pairs for name in pair[:2]}
    for step in walk(program):
        given = schedule if step.schedule is None else step.schedule.over(schedule)
        own = {step.near} if step.divides and not (step.counted or step.may_pull(given)) else set()
        for fn, _ in step.functors():
            touched = effects(fn)
            if not (touched.exact and touched.writes_known):
                return frozenset()
            for uses in (touched.reads, touched.writes):
                kept -= {name for name, indices in uses.items() if not indices <= own}
        if not step.divides:
            kept -= {name for _, name in step.into_fields()}
        if isinstance(step, Loop) and step.order is not None and isinstance(step.order.key, str):
            kept.discard(step.order.key)
    return frozenset(kept - with_partners({name for name in p.fields if name not in kept}, swaps_of(program)))
