"""Loops with an order, made of other steps: how compiled backends run ``Loop(..., order=fr.by(...))``.

``near_far`` is delta-stepping in the form of Davidson, Baxter, Garland and Owens (Work-efficient parallel GPU methods
for single-source shortest paths, IPDPS 2014): elements with keys below a limit are worked on until there are no more,
the others wait in a pile; then the limit moves on. It starts at the least key that waits, so empty stretches are
skipped. Its width adapts to how many elements the passes before had, on a GPU also to how many wait (after ADDS; Wang,
Fussell, Lin, PPoPP 2021).

``sliding`` is for graphs without long lists on a GPU, where a pass must be one sweep: elements with larger keys wait in
the frontier itself, and the limit follows the wave of the search. In a model of synchronous passes on road networks and
grids it takes a fifth more passes than a search without limits (Bellman and Ford), and visits a vertex one to five
times instead of up to 400.

``exact`` keeps who waits in a field of bools, since elements may come back with any key.

What the loop needs are fields of the problem that nobody sees: their names end in two underscores.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.operators.advance import Advance
from frontier.operators.elementwise.compute import Compute
from frontier.operators.elementwise.filter import Filter
from frontier.operators.elementwise.reduce import Reduce
from frontier.operators.elementwise.split import Split
from frontier.operators.fields.set import Set
from frontier.operators.order.functors import (
    Tuning,
    all_wait,
    aside,
    counted,
    first,
    follow,
    fresh_of,
    given,
    held_of,
    key_of,
    least,
    limit_of,
    lower,
    lowest_of,
    near_of,
    one,
    put,
    take,
    waiting,
    waits,
    width_of,
    window,
    work,
    zero,
)
from frontier.program.layout import Layout
from frontier.program.loop import Loop, Sequence
from frontier.program.problem import edge, pile, scalar, vertex
from frontier.program.step import walk

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.order import Order
    from frontier.program.problem import Field, Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["first_delta", "prepare"]

Functor = Callable[..., Any]


#: More elements than there are.
NEVER = 2**62

#: On processors, and on a GPU, where the first limit is narrow.
CORES, GPU = Tuning(128, 32768, NEVER, 4), Tuning(8192, NEVER, 8192, 16)

#: Where limits slide they stride so many times farther: a pass costs more than relaxing twice. (road-NE takes 9.6 ms
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


#: The loop's own fields: those that the templates name.
OWN = ("limit", "least", "lower", "delta", "first", "rounds", "work", "batch", "waiting", "waited", "far", "waits")


class Names:
    """The names of one loop's own fields, and functors in which they stand for the templates' names.

    Parameters
    ----------
    number : int
        Which of a program's ordered loops it is.
    loop : Loop
    p : Problem

    Attributes
    ----------
    key : function
        Gives the key of an element.
    kind : str
        Of the elements: ``"vertex"`` or ``"edge"``.
    whole, wholly : bool
        Whether keys are integers; whether limits are too.
    """

    def __init__(self, number: int, loop: Loop, p: Problem) -> None:
        order = loop.order
        assert order is not None
        self.kind, self.whole = order.elements(p), order.kind(p) in "iu"
        self.exact = order.exact
        self.wholly = self.whole and self.exact and _whole(order.delta, p)
        # Loops of other programs on the problem may have fields of these names, which therefore tell their dtypes.
        suffix = f"{number}{'n' if self.whole else 'f'}{'n' if self.wholly else 'f'}{self.kind[0]}__"
        self._renamed = {name: f"{name}{suffix}" for name in OWN}
        if loop.count is not None:
            self._renamed["count"] = loop.count
        if isinstance(order.key, str):
            self._renamed["key"] = order.key
        if isinstance(order.delta, str) and order.delta != "auto":
            self._renamed["given"] = order.delta
        self.key = self.fn(key_of) if isinstance(order.key, str) else order.key

    def __getitem__(self, name: str) -> str:
        return self._renamed[name]

    def fn(self, template: Functor) -> Functor:
        """A functor with the loop's names in it; for loops over edges its argument is ``edge``."""
        code = template.__code__
        names = tuple(self._renamed.get(name, name) for name in code.co_names)
        variables = tuple("edge" if name == "v" and self.kind == "edge" else name for name in code.co_varnames)
        made = code.replace(co_names=names, co_varnames=variables)
        return types.FunctionType(made, template.__globals__, template.__name__, None, template.__closure__)

    def set(self, **values: Any) -> Set:
        """A Set of the loop's own scalars."""
        return Set(**{self[name]: self.fn(value) if callable(value) else value for name, value in values.items()})

    def fields(self) -> dict[str, Field]:
        """The loop's own fields."""
        made: dict[str, Field] = {name: scalar("int64") for name in ("rounds", "work", "batch", "waiting", "waited")}
        made |= {name: scalar("int64" if self.whole else "float64") for name in ("least", "lower")}
        made |= {name: scalar("int64" if self.wholly else "float64") for name in ("limit", "delta", "first")}
        made["far"] = pile(self.kind)
        if self.exact:
            made["waits"] = (vertex if self.kind == "vertex" else edge)("bool")
        return {self[name]: each for name, each in made.items()}


def _whole(delta: float | str | None, p: Problem) -> bool:
    """Whether a width is an integer."""
    if isinstance(delta, str):
        return delta in p.scalars and p.scalars[delta].dtype.kind in "iu"
    return delta is None or isinstance(delta, int)


# ---- loops ---------------------------------------------------------------------------------------------------


def _pass(loop: Loop, names: Names) -> tuple[Step, ...]:
    """The steps of a pass, counted if the loop says so."""
    count = (Set(**{loop.count: names.fn(counted)}),) if loop.count is not None else ()
    return (*count, *loop.steps)


def _begin(loop: Loop, names: Names) -> tuple[Step, ...]:
    """The first width, where a scalar holds it; else the host writes it."""
    assert loop.order is not None
    return (names.set(first=given),) if isinstance(loop.order.delta, str) and loop.order.delta != "auto" else ()


def _rounding(names: Names, p: Problem) -> float:
    """Of keys, and of limits that are compared with them."""
    dtypes = [p.arrays[name].dtype for name in names.key.__code__.co_names if name in p.arrays]
    narrow = not names.whole and np.dtype(np.float32) in dtypes
    return 2 * float(np.finfo(np.float32 if narrow else np.float64).eps)


def _near_far(loop: Loop, names: Names, p: Problem) -> Step:
    near, fresh = names.fn(near_of(names.key)), names.fn(fresh_of(names.key))
    tuning = GPU if p.graph.placement.massively_parallel else CORES
    limit = limit_of(1.0 if names.whole else 0.0, _rounding(names, p))
    inner = Loop(
        Reduce(names.fn(one), "sum", into=names["batch"]),
        names.set(work=work),
        *_pass(loop, names),
        Split(near, rest=names["far"]),
        count=names["rounds"],
        until=loop.until,
        schedule=loop.schedule,
    )
    outer = Loop(
        Filter(fresh),
        Reduce(names.key, "min", into=names["least"]),
        Reduce(names.fn(one), "sum", into=names["waiting"]),
        names.set(delta=width_of(tuning), waited=waiting, rounds=zero, work=zero),
        names.set(limit=limit),
        Split(near, rest=names["far"]),
        inner,
        take=names["far"],
        until=loop.until,
    )
    begin = names.set(limit=-np.inf, delta=first, rounds=0, work=0, waited=0)
    return Sequence(*_begin(loop, names), begin, Split(names.fn(aside), rest=names["far"], over=loop.over), outer)


def _may_slide(loop: Loop) -> bool:
    """Whether a pass is one sweep along edges, so that who is not near may wait in its frontier."""
    if len(loop.steps) != 1 or loop.until is not None or not isinstance(loop.steps[0], Advance):
        return False
    step = loop.steps[0]
    return step.output == "vertex" and step.unique != "claimed" and step.part is None and step.over is None


def _sliding(loop: Loop, names: Names, p: Problem) -> Step:
    (step,) = loop.steps
    assert isinstance(step, Advance)
    held = copy.copy(step)
    held.hold, held.held = names.fn(held_of(names.key)), names["waiting"]
    return Sequence(
        *_begin(loop, names),
        names.set(delta=first),
        Loop(
            Reduce(names.key, "min", into=names["least"]),
            names.set(limit=limit_of(1.0 if names.whole else 0.0, _rounding(names, p))),
            Loop(
                Reduce(names.fn(one), "sum", into=names["batch"]),
                *_pass(loop, names)[:-1],
                held,
                names.set(limit=follow),
                until=names.fn(all_wait),
                schedule=loop.schedule,
            ),
            over=loop.over,
        ),
    )


def _exact(loop: Loop, order: Order, names: Names) -> Step:
    near, lowest = names.fn(near_of(names.key)), names.fn(lowest_of(names.key))
    into = (Set(**{order.into: names.fn(least)}),) if order.into is not None else ()
    begin: tuple[Step, ...] = (
        Compute(names.fn(put), over=loop.over),
        Split(names.fn(aside), rest=names["far"], over=loop.over),
    )
    found: tuple[Step, ...] = (Filter(names.fn(waits)), Reduce(names.key, "min", into=names["least"]))
    last: tuple[Step, ...]
    if order.delta is None:
        found += (Split(lowest, rest=names["far"]),)
        last = (
            Reduce(names.key, "min", into=names["lower"]),
            names.set(least=lower),
            Split(lowest, rest=names["far"]),
        )
    else:
        begin += (*_begin(loop, names), names.set(delta=first))
        found += (names.set(limit=window), Split(near, rest=names["far"]))
        last = (Split(near, rest=names["far"]),)
    taken, kept = Compute(names.fn(take)), Compute(names.fn(put))
    inner = Loop(*into, taken, *_pass(loop, names), kept, *last, until=loop.until, schedule=loop.schedule)
    return Sequence(*begin, Loop(*found, inner, take=names["far"], until=loop.until))


# ---- programs ------------------------------------------------------------------------------------------------


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
        names = Names(self._loops, step, self._p)
        self._loops += 1
        self.made.fields.update(names.fields())
        schedule = step.schedule.over(self._schedule) if step.schedule is not None else self._schedule
        slides = not step.order.exact and _slides(self._p.graph, schedule) and _may_slide(step)
        delta = step.order.delta
        if isinstance(delta, (int, float)):
            self.made.widths[names["first"]] = delta
        elif delta == "auto" or (delta is None and not step.order.exact):
            self.made.widths[names["first"]] = "stride" if slides else "auto"
        if step.order.exact:
            return _exact(step, step.order, names)
        return _sliding(step, names, self._p) if slides else _near_far(step, names, self._p)


def _slides(g: Graph, schedule: ResolvedSchedule) -> bool:
    """Whether limits slide: on a GPU where all lists are short, unless the schedule says otherwise."""
    if schedule.order != "auto":
        return schedule.order == "sliding"
    return g.placement.massively_parallel and g.traits.short_lists


def prepare(step: Step, p: Problem, schedule: ResolvedSchedule) -> Step:
    """Give the program without orders that does the same, and the problem the fields that it needs.

    Raises
    ------
    FrontierError
        An order does not suit the problem.
    """
    how = (_slides(p.graph, schedule), p.graph.placement.massively_parallel, schedule)
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
    """What a width is on a graph."""
    if isinstance(width, str):
        width = first_delta(p.graph) * (STRIDE if width == "stride" else 1)
    return max(1, round(min(width, 2**40))) if p.scalars[name].dtype.kind == "i" else width
