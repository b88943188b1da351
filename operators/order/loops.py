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

from frontier.graph.by_weight import why_not_by_weight
from frontier.memory.reuse import kept_by
from frontier.operators.order.buckets import buckets, exact_buckets
from frontier.operators.order.by_weight import TAIL, by_weight, sorted_for, suits, why_not, worthwhile
from frontier.operators.order.exact import exact
from frontier.operators.order.limits import near_far, parting, sliding
from frontier.operators.order.names import Names
from frontier.operators.order.passes import is_single, offered, parts, suits_parting
from frontier.program.layout import Layout
from frontier.program.loop import Loop
from frontier.program.step import walk

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.problem import Field, Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["first_delta", "prepare", "remarks"]

#: Sliding limits advance this many times farther, since a pass costs more than relaxing twice. (road-NE takes 9.6 ms
#: instead of 10.5, and the grid 30.3 instead of 31.0.)
STRIDE = 2

#: The first limit is this many times as wide where passes put far vertices aside themselves, which makes them cheap:
#: three average weights. (On two cores road-NE takes 33 ms instead of 37, with 4.8 million relaxed edges instead of 6.)
NARROW = 3 / 8


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


def average_weight(g: Graph) -> float:
    """The mean of absolute weights, of some tens of thousands of them."""
    if g.weights is None or g.num_slots == 0:
        return 1.0
    average: float = g.cached("average_weight", lambda: _average_weight(g))
    return average


def _average_weight(g: Graph) -> float:
    assert g.weights is not None
    with np.errstate(over="ignore"):  # an infinite width has no limits
        return float(np.abs(g.weights[:: max(1, g.num_slots // 65536)]).mean())


def _first_delta(g: Graph) -> float:
    average = average_weight(g)
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
        Scalar -> a number, or what it is computed from: see :func:`_first_value`.
    sortable : bool
        Whether a loop would go by weight if the graph had lists by weight.
    """

    step: Step
    fields: dict[str, Field] = field(default_factory=dict)
    widths: dict[str, float | str] = field(default_factory=dict)
    sortable: bool = False


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
        if how == "near_far" and parts(step, self._p.graph, schedule):
            how = "parting"
        if how != "by_weight" and schedule.order == "auto" and _sorts(self._p.graph) and not why_not(step, self._p):
            self.made.sortable = True
        names = Names(self._loops, step, self._p, how)
        self._loops += 1
        self.made.fields.update(names.fields())
        delta = step.order.delta
        if isinstance(delta, (int, float)):
            self.made.widths[names["first"]] = delta
        elif delta == "auto" or (delta is None and not step.order.exact):
            self.made.widths[names["first"]] = _width(step, how)
        if how == "by_weight":
            self.made.widths |= {names[each]: each for each in ("tail", "enough", "heaviest")}
        if step.order.exact:
            return (exact_buckets if how == "buckets" else exact)(step, step.order, names)
        return _SHAPES[how](step, names, self._p)


#: How an order that is not exact is kept, by the schedule's name, or ``parting`` for ``near_far`` with cheap passes.
_SHAPES = {"near_far": near_far, "parting": parting, "sliding": sliding, "buckets": buckets, "by_weight": by_weight}


def _width(loop: Loop, how: str) -> str:
    """What the first width is computed from, as :func:`_first_value` names it."""
    if how == "by_weight":
        return "quarter" if offered(loop) == "weight" else "share"
    return {"parting": "narrow", "sliding": "stride"}.get(how, "auto")


def _kept_by(loop: Loop, p: Problem, schedule: ResolvedSchedule) -> str:
    """Return how a loop's order is implemented: as the schedule says, if that suits it."""
    order, how = loop.order, schedule.order
    assert order is not None
    if how == "auto":
        sorts = _sorts(p.graph) and p.graph.is_sorted_by_weight
        how = "by_weight" if sorts else "sliding" if _slides(p.graph) else "near_far"
    if how == "by_weight" and why_not(loop, p):
        how = "near_far"
    if how == "sliding" and (order.exact or not is_single(loop)):
        return "near_far"
    # One bucket for each key, if keys are integers. (Windows begin at the least pending key, buckets need not.)
    if how == "buckets" and order.exact and (order.delta is not None or order.kind(p) == "f"):
        return "near_far"
    return how


def _slides(g: Graph) -> bool:
    """Whether limits slide by themselves: on a GPU where all lists are short."""
    return g.placement.massively_parallel and g.traits.short_lists


def _sorts(g: Graph) -> bool:
    """Whether loops go by weight by themselves, once there are such lists."""
    return not g.placement.divides and worthwhile(g)


def prepare(step: Step, p: Problem, schedule: ResolvedSchedule, runs: bool = False) -> Step:
    """Return an equivalent program without orders, and add the fields that it needs to the problem.

    If it ``runs``, lists by weight are made where they are worth while.

    Raises
    ------
    FrontierError
        An order does not suit the problem.
    """
    g = p.graph
    lists = g.is_sorted_by_weight, suits(g), why_not_by_weight(g)
    how = _slides(g), _sorts(g), suits_parting(g), g.placement.massively_parallel, *lists, schedule
    known = step.__dict__.setdefault("_without_order", {})
    made: Program | None = known.get((Layout.of(p), how))
    if made is None:
        for part in walk(step):
            if isinstance(part, Loop):
                part.check(p)
        made = known[Layout.of(p), how] = _Expansion(step, p, schedule).made
    if made.sortable and runs and sorted_for(g, kept_by() is not None):
        return prepare(step, p, schedule)
    if any(name not in p.fields for name in made.fields):
        p._add({name: each for name, each in made.fields.items() if name not in p.fields})
        known[Layout.of(p), how] = made
    for name, width in made.widths.items():
        p.scalars[name][0] = _first_value(p, name, width)
    return made.step


def remarks(step: Step, p: Problem, schedule: ResolvedSchedule) -> list[str]:
    """Why loops of a program do not go by weight, although that was asked for."""
    found = []
    for part in walk(step):
        if isinstance(part, Loop) and part.order is not None:
            asked = part.schedule.over(schedule) if part.schedule is not None else schedule
            reason = why_not(part, p) if asked.order == "by_weight" else ""
            found += [f"{part.order!r} is kept by near_far, not by_weight: {reason}."] if reason else []
    return found


def _first_value(p: Problem, name: str, width: float | str) -> float:
    """Compute what a scalar holds at first, for a graph.

    Widths of limits: ``"auto"``, ``"stride"`` where they slide, ``"narrow"`` where a pass is cheap, ``"quarter"`` of an
    average weight, and its ``"share"`` for each edge of a vertex, so that about every other vertex has one in a window
    of widths. Where lists go by weight: ``"heaviest"``, what most weights are below, ``"tail"``, the edges before the
    last window, and ``"enough"``, edges of a push that make a look at all vertices cheap.
    """
    g = p.graph
    if width == "tail":
        return g.num_slots - g.num_slots // TAIL
    if width == "enough":
        return g.num_vertices
    if width in ("heaviest", "quarter", "share"):
        times = {"heaviest": 2, "quarter": 0.25, "share": 1 / max(g.traits.mean_degree, 1)}[width]
        width = max(average_weight(g) * times, 1e-300)
    elif isinstance(width, str):
        width = first_delta(g) * {"stride": STRIDE, "narrow": NARROW}.get(width, 1)
    return max(1, round(min(width, 2**40))) if p.scalars[name].dtype.kind == "i" else width
