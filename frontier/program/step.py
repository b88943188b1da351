"""The class Step: an operator with its functors and options, in a loop or called by itself.

A step is data, which backends read. Calling a step runs it as a program of one step, on the same path as a declared
loop. Whatever backends must know about an operator, it declares by the methods below; backends never test for an
operator by name.
"""

from __future__ import annotations

import copy
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from frontier.errors import FrontierError
from frontier.functors.captures import Captures
from frontier.functors.functor import arguments, location
from frontier.program.order import Order
from frontier.program.over import Over, check_values, start_of

if TYPE_CHECKING:
    from frontier.memory.placement import Placement
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule, Schedule
    from frontier.program.taking import Elements

__all__ = [
    "Operator", "Over", "Step", "captures_of", "check_field", "check_weights", "scheduled", "walk",
]  # fmt: skip

Functor = Callable[..., Any]


class Step:
    """Base class of the steps of all operators (:class:`Operator`), and of Loop and Sequence, which contain steps.

    Parameters
    ----------
    over : "vertices", "edges", name of a pile, name of a scalar, name of a field, int, optional
        The step's own frontier, on which it runs instead of the current one, which does not change. A scalar holds a
        vertex, or for a functor of ``i`` a count. A field has several values a vertex or edge, and the functor takes
        ``i`` besides that. An int is a count.
    schedule : Schedule, optional
        Overrides choices of the schedule of the surrounding loop or enactor.
    """

    #: Name used in traces and messages.
    name = "step"
    #: Whether the current frontier is left as it was.
    passes_through = False
    #: Whether it does nothing but choose the next frontier, besides what its functor writes.
    only_selects = False
    #: Whether it works on a frontier at all.
    uses_frontier = True
    #: Whether ``over=`` may be a count.
    takes_count = False
    #: Whether :meth:`check` compares lengths of arrays, which are not part of a problem's layout.
    measures = False
    #: Whether it makes the next frontier from a pile, whatever the frontier was.
    takes_pile = False
    #: Whether it calls its functor exactly once for each element, and gives no others.
    once_each = False
    #: Whether it can write the next frontier at the place where a loop records it.
    fills_record = False
    #: Whether several parts can run it, each on some of the elements; if not, each runs it as a whole.
    divides = False
    #: Whether each part can run it on its own elements alone and then adds the sums of the parts before it.
    accumulates = False
    #: Whether it reads the adjacency lists of vertices that another part may own.
    reads_lists = False
    #: Whether several GPUs can run it inside one kernel on each, and exchange there what it has changed.
    exchanges_inside = False
    #: Whether a pass may push or pull.
    chooses_direction = False
    #: Whether it does the same however vertices are numbered, if its functors do.
    any_numbering = False
    #: Whether it mostly waits for values of far ends, which lie closer together where vertices are numbered by degree.
    gains_by_degree = False
    #: The parameter of its functors that is the element itself, so that no other part writes there.
    near = "v"
    #: The parameter that is the other end of an edge; empty if it does not walk along edges.
    far = ""

    #: For a copy that is given some elements instead of all: the field over whose values the step runs.
    rows_given = ""

    _key: tuple[Any, ...] | None = None
    #: What its functors took from outside when a run began last, see :mod:`frontier.functors.captures`.
    _captures: Captures | None = None

    def __init__(self, over: Over = None, schedule: Schedule | None = None) -> None:
        if isinstance(over, bool) or not (over is None or isinstance(over, (str, int))):
            raise FrontierError(
                f"over={over!r}: 'vertices', 'edges', a pile, a scalar holding a vertex or a count, or a count"
            )
        if isinstance(over, int) and self.takes_count and over < 0:
            raise FrontierError(f"{type(self).__name__}(over={over!r}): a count is not negative")
        if isinstance(over, int) and not self.takes_count:
            raise FrontierError(f"{type(self).__name__}(over={over!r}): only Compute and Reduce run over a count")
        self.over = over
        self.schedule = schedule

    def __call__(self, p: Problem, f: Elements | None = None) -> Frontier:
        """Run this step by itself and return the next frontier. Without ``f`` it needs ``over=``."""
        return _run()(self, p, f)

    def explain(self, p: Problem, f: Elements | None = None, *, backend: Placement | str | None = None) -> str:
        """Return the program that this step is lowered to by itself; see :meth:`frontier.Enactor.explain`."""
        from frontier.program.execution import explain
        from frontier.program.taking import check_problem

        check_problem(p, self)
        return explain(self, p, f, backend=backend)

    def run(self, *_: Any, **__: Any) -> Any:
        """Raise FrontierError: a step is called, it has no method of this name."""
        raise FrontierError(f"{self!r} is a step: call it, step(p, f); an Enactor, whose loop it may be, has run()")

    @property
    def own(self) -> bool:
        """Whether this step has a frontier of its own, so that the current one does not change."""
        return self.over is not None

    @property
    def counted(self) -> bool:
        """Whether ``over=`` is a count: a number, or a scalar if the functor takes ``i`` alone."""
        if isinstance(self.over, int):
            return True
        if not (self.takes_count and isinstance(self.over, str)):
            return False
        return any(arguments(fn, place) == ("i",) for fn, place in self.functors())

    @property
    def row_field(self) -> str:
        """The field over all of whose values it runs, as its functor takes ``i`` besides an element; else empty."""
        if not self.takes_count or isinstance(self.over, int):
            return ""
        if not any({"i"} < {*arguments(fn, place)} for fn, place in self.functors()):
            return ""
        return self.over or self.rows_given

    def without_over(self) -> Self:
        """Return a copy without a frontier of its own, which is given some of the elements of that."""
        made = copy.copy(self)
        if self.row_field:
            made.rows_given = self.row_field
        made.over = None
        return made

    def needs_frontier(self) -> bool:
        """Whether it cannot run without a current frontier."""
        return self.uses_frontier and not self.own

    def lacks(self) -> str:
        """Return the error message for a run without a frontier."""
        return f"{self!r} needs a frontier to start with, or over="

    def functors(self) -> Iterator[tuple[Functor, str]]:
        """Return (functor, place) for all functors of this step; places are those of :func:`functors.arguments`."""
        return iter(())

    def valued(self) -> Iterator[tuple[Functor, str]]:
        """Return (functor, name of its user for messages) for all functors whose return value is used in arithmetic."""
        return iter(())

    def into_fields(self) -> Iterator[tuple[Functor, str]]:
        """Return (functor, field) where the functor's value, or a reduction of its values, is stored in the field."""
        return iter(())

    def combining(self) -> Iterator[Functor]:
        """Functions of two numbers, registered by users, by which it reduces."""
        return iter(())

    def stands_on(self, f: Frontier) -> Frontier:
        """The elements that are divided among parts, for a step that divides."""
        return f

    def partial(self) -> Iterator[tuple[str, Any]]:
        """Return (scalar, reduction) for the scalars it writes: what parts got is reduced again."""
        return iter(())

    def splits(self, p: Problem) -> bool:
        """Whether several parts can run it for the same element, each along some of its edges."""
        return False

    def folds(self) -> Iterator[tuple[str, Any]]:
        """Return (field, reduction) for the fields that get reductions over lists: what parts got is reduced again."""
        return iter(())

    def fills(self) -> tuple[str, ...]:
        """Names of piles that it adds to."""
        return ()

    def inner(self) -> tuple[Step, ...]:
        """The steps inside this one."""
        return ()

    def wants(self, after: str) -> str:
        """Return which prefix sum of degrees the step can use, ``out``, ``in`` or none; ``after``: later steps."""
        return after if self.own or self.passes_through else ""

    def kinds_after(self, kinds: frozenset[str], piles: Mapping[str, str]) -> frozenset[str]:
        """Return the kinds of elements that the frontier may hold after this step, given those before."""
        return kinds

    def may_pull(self, schedule: Schedule) -> bool:
        """Whether a pull may run and leave the frontier as a bitmap."""
        return False

    def check(self, p: Problem) -> None:
        """Raise FrontierError if this step, or one of its functors, does not fit the problem."""
        if self.row_field:
            check_values(self.row_field, self.functors(), p)
        elif isinstance(self.over, str):
            start_of(p, self.over, self.counted)
        from frontier.functors.rules import check_value
        from frontier.program.functor_checks import check_functor, check_plain, check_width
        from frontier.program.races import warn_of_races

        width = p.fields[self.row_field].width if self.row_field else 0
        for fn in self.combining():
            check_plain(fn, p)
            check_value(fn, type(self).__name__)
        for fn, place in self.functors():
            found = check_functor(fn, p)
            if found is not None:
                check_width(fn, found, p, width)
                warn_of_races(self, fn, place, found, p)
        for fn, who in self.valued():
            check_value(fn, who)

    def replace(self, replaced: Mapping[Functor, Functor]) -> Self:
        """Return a copy of this step, and of all steps inside it, with some functors replaced.

        Parameters
        ----------
        replaced : mapping from functor to functor
            From old functors to the new ones, which replace them everywhere.

        Raises
        ------
        FrontierError
            If one of the functors is not used in the step.
        """
        used = {fn for step in walk(self) for fn, _ in step.functors()}
        for fn in replaced:
            if fn not in used:
                raise FrontierError(f"{self!r} does not use {getattr(fn, '__name__', fn)}")
        made: Self = _replaced(self, replaced)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy: without what is cached with this step, such as compiled code."""
        # of a copy, since another thread, which runs the step too, may note something in it meanwhile
        return {name: value for name, value in dict(vars(self)).items() if not name.startswith("_")}

    def key(self) -> tuple[Any, ...]:
        """Return the key by which two steps are equal: type, functors and options, which never change."""
        if self._key is None:
            own = (_hashable(value) for name, value in sorted(dict(vars(self)).items()) if not name.startswith("_"))
            self._key = (type(self), *own)
        return self._key

    def __repr__(self) -> str:
        names = ", ".join(fn.__name__ for fn, _ in self.functors())
        return f"{type(self).__name__}({names})"


class Operator(Step, ABC):
    """Base class of the steps of operators: what a step means, and how it is compiled."""

    @abstractmethod
    def interpret(self, context: Any, f: Any) -> Any:
        """Run the step on the python backend and return the next frontier.

        Parameters
        ----------
        context : frontier.backends.python.interpreter.Context
            Has the problem, ``context.problem``, and calls functors: ``context.functor(fn, names)``,
            ``context.each(fn, f)``.
        f : Frontier, int or None
            The step's frontier; a number if ``over=`` is a count; None if there is no frontier and the step needs none.
        """

    @abstractmethod
    def lower(self, builder: Any, current: Any) -> None:
        """Add the phases of this step to a loop function.

        Parameters
        ----------
        builder : frontier.lowering.builder.Builder
            Collects the nodes of the loop function.
        current : frontier.lowering.frontier_state.FrontierState
            The variables of the step's frontier, which receive the next one.
        """


@cache
def _run() -> Callable[[Step, Problem, Elements | None], Frontier]:
    """Return ``frontier.program.execution.run``, imported late because that module imports this one."""
    from frontier.program.execution import run

    return run


def _replaced(value: Any, functors: Mapping[Functor, Functor]) -> Any:
    if isinstance(value, Step):
        made = copy.copy(value)  # without what is cached for the old functors, such as compiled code
        for name, inner in vars(made).items():
            setattr(made, name, _replaced(inner, functors))
        for fn, place in made.functors():
            arguments(fn, place)
        return made
    if isinstance(value, tuple):
        return tuple(_replaced(inner, functors) for inner in value)
    if isinstance(value, dict):
        return {name: _replaced(inner, functors) for name, inner in value.items()}
    if isinstance(value, Order):
        return dataclasses.replace(value, key=_replaced(value.key, functors), most=_replaced(value.most, functors))
    return functors.get(value, value) if callable(value) else value


def _hashable(value: Any) -> Any:
    if isinstance(value, Step):
        return value.key()
    if isinstance(value, (tuple, list)):
        return tuple(_hashable(item) for item in value)
    if isinstance(value, dict):
        return tuple((name, _hashable(item)) for name, item in value.items())
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    return value


def walk(step: Step) -> Iterator[Step]:
    """Yield a step and all steps inside it, outermost first."""
    yield step
    for part in step.inner():
        yield from walk(part)


def scheduled(step: Step, outer: ResolvedSchedule) -> Iterator[tuple[Step, ResolvedSchedule]]:
    """Yield the same, each with the schedule that holds for it: what it sets itself, and the rest from around it."""
    given = outer if step.schedule is None else step.schedule.over(outer)
    yield step, given
    for part in step.inner():
        yield from scheduled(part, given)


def captures_of(step: Step) -> Captures:
    """Return what the functors of a step and of its inner steps capture now; the same object while that is equal."""
    known: Captures | None = step.__dict__.get("_captures")
    if known is not None and known.unchanged():
        return known
    made = Captures(fn for part in walk(step) for fn in (*(fn for fn, _ in part.functors()), *part.combining()))
    if known is not None and known.key == made.key:
        known.take_over(made)
        return known
    step.__dict__["_captures"] = made
    return made


def check_field(p: Problem, name: str, kinds: tuple[str, ...], what: str, *, rows: bool = False) -> None:
    """Raise FrontierError unless the problem has this field, of one of these kinds; ``rows`` of several values."""
    made = p.fields.get(name)
    if made is None:
        there = ", ".join(each for each in p.fields if not each.endswith("__"))  # hidden ones are of programs
        raise FrontierError(f"{what}: the problem has no field {name!r}; it has {there}")
    if made.kind not in kinds:
        raise FrontierError(f"{what}: field {name!r} is of kind {made.kind}, not {' or '.join(kinds)}")
    if made.width and not rows:
        raise FrontierError(f"{what}: field {name!r} has {made.width} values each; only functors use such fields")


def check_alone(p: Problem, name: str, what: str) -> None:
    """Raise FrontierError if a field is one of a pair, which functors alone write."""
    for pair in p._pairs:
        if name in pair[:2]:
            raise FrontierError(f"{what}: p.{pair.other} goes along with p.{pair.key}, and only functors write to them")


def check_weights(p: Problem, step: Step) -> None:
    """Raise GraphError if a functor takes a weight and the graph has none, or one that int64 does not hold."""
    from frontier.errors import GraphError
    from frontier.program.functor_checks import check_functor

    weights = p.graph.weights
    for fn, place in step.functors():
        found = check_functor(fn, p)
        asks = found is not None and "weights" in found.topology
        takes = place != "scalars" and "weight" in arguments(fn, place)
        if asks and weights is None:
            raise GraphError(f"{location(fn)} asks for weights of edges, but the graph has none")
        if takes and weights is None:
            raise GraphError(f"{location(fn)} takes the weight of an edge, but the graph has no weights")
        if (asks or takes) and weights is not None and weights.dtype == "uint64":
            greatest = p.graph.max_weight or 0
            if greatest >= 2**63:
                raise GraphError(
                    f"{location(fn)} reads weights of edges as int64, and the greatest is {greatest}: use float64"
                )
