"""Loops with an order, rewritten to other steps: how compiled backends run ``Loop(..., order=fr.by(...))``.

The schedule says how the order is implemented: by limits (``limits.py``) or by buckets (``buckets.py``). Orders that
are kept exactly are implemented in ``exact.py``.

A loop needs fields of its own, which users do not see: their names end in two underscores (``names.py``).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from frontier.operators.order.buckets import buckets, exact_buckets
from frontier.operators.order.exact import exact
from frontier.operators.order.limits import may_slide, near_far, sliding
from frontier.operators.order.names import Names
from frontier.program.layout import Layout
from frontier.program.loop import Loop
from frontier.program.step import walk

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.problem import Field, Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["first_delta", "prepare"]

#: Sliding limits advance this many times farther, since a pass costs more than relaxing twice. (road-NE takes 9.6 ms
#: instead of 10.5, and the grid 30.3 instead of 31.0.)
STRIDE = 2


def first_delta(g: Graph) -> float:
    """Width of the first limit: eight average weights on roads and meshes, less where degrees are high.

    On a graph of high degree one average weight reaches nearly everything, and what is taken too early is taken again;
    on a road many steps must share one limit, or barriers decide. (Measured with weights of 1 to 64: on R-MAT 20 widths
    of 4 to 9 are best and 16 takes half as long again; on road-NE 64 to 1024 differ by 15 %.)
    """
    if g.weights is None or g.num_slots == 0:
        return 1.0
    delta: float = g.cached("first_delta", lambda: _first_delta(g))
    return delta


def _first_delta(g: Graph) -> float:
    assert g.weights is not None
    with np.errstate(over="ignore"):  # an infinite width has no limits
        average = float(np.abs(g.weights[:: max(1, g.num_slots // 65536)]).mean())
    degree = g.traits.mean_degree
    if degree >= 8 and g.placement.massively_parallel:
        return max(average / 4, 1e-300)  # and widens while few wait
    return max(average * (8.0 if degree < 8 else 8.0 / degree), 1e-300)


@dataclass
class Program:
    """A program without orders, the fields that it needs, and the first widths of its loops.

    Attributes
    ----------
    step : Step
    fields : dict of str to Field
    widths : dict of str to (float or str)
        Scalar -> a number, or ``"auto"``, or ``"stride"`` for that where limits slide.
    """

    step: Step
    fields: dict[str, Field] = field(default_factory=dict)
    widths: dict[str, float | str] = field(default_factory=dict)


class _Expansion:
    """Takes the orders out of one program."""

    def __init__(self, step: Step, p: Problem, schedule: ResolvedSchedule) -> None:
        self._p, self._schedule, self._loops = p, schedule, 0
        self.made = Program(step)
        self.made.step = self._without(step)

    def _without(self, step: Step) -> Step:
        inner = tuple(self._without(each) for each in step.inner())
        if any(new is not old for new, old in zip(inner, step.inner(), strict=True)):
            step = copy.copy(step)
            step.steps = inner  # type: ignore[attr-defined]  # only Loop and Sequence have inner steps
        if not isinstance(step, Loop) or step.order is None:
            return step
        schedule = step.schedule.over(self._schedule) if step.schedule is not None else self._schedule
        how = _kept_by(step, self._p, schedule)
        names = Names(self._loops, step, self._p, how == "buckets")
        self._loops += 1
        self.made.fields.update(names.fields())
        delta = step.order.delta
        if isinstance(delta, (int, float)):
            self.made.widths[names["first"]] = delta
        elif delta == "auto" or (delta is None and not step.order.exact):
            self.made.widths[names["first"]] = "stride" if how == "sliding" else "auto"
        if step.order.exact:
            return (exact_buckets if how == "buckets" else exact)(step, step.order, names)
        return _SHAPES[how](step, names, self._p)


#: How an order that is not exact is kept, by the schedule's name.
_SHAPES = {"near_far": near_far, "sliding": sliding, "buckets": buckets}


def _kept_by(loop: Loop, p: Problem, schedule: ResolvedSchedule) -> str:
    """Return how a loop's order is implemented: as the schedule says, if that suits it."""
    order, how = loop.order, schedule.order
    assert order is not None
    if how == "auto":
        how = "sliding" if _slides(p.graph) else "near_far"
    if how == "sliding" and (order.exact or not may_slide(loop)):
        return "near_far"
    # One bucket for each key, if keys are integers. (Windows begin at the least pending key, buckets need not.)
    if how == "buckets" and order.exact and (order.delta is not None or order.kind(p) == "f"):
        return "near_far"
    return how


def _slides(g: Graph) -> bool:
    """Whether limits slide by themselves: on a GPU where all lists are short."""
    return g.placement.massively_parallel and g.traits.short_lists


def prepare(step: Step, p: Problem, schedule: ResolvedSchedule) -> Step:
    """Return an equivalent program without orders, and add the fields that it needs to the problem.

    Raises
    ------
    FrontierError
        An order does not suit the problem.
    """
    how = (_slides(p.graph), p.graph.placement.massively_parallel, schedule)
    known = step.__dict__.setdefault("_without_order", {})
    made: Program | None = known.get((Layout.of(p), how))
    if made is None:
        for part in walk(step):
            if isinstance(part, Loop):
                part.check(p)
        made = known[Layout.of(p), how] = _Expansion(step, p, schedule).made
    if any(name not in p.fields for name in made.fields):
        p._add({name: each for name, each in made.fields.items() if name not in p.fields})
        known[Layout.of(p), how] = made
    for name, width in made.widths.items():
        p.scalars[name][0] = _first_width(p, name, width)
    return made.step


def _first_width(p: Problem, name: str, width: float | str) -> float:
    """Compute the default width for a graph."""
    if isinstance(width, str):
        width = first_delta(p.graph) * (STRIDE if width == "stride" else 1)
    return max(1, round(min(width, 2**40))) if p.scalars[name].dtype.kind == "i" else width
