"""Step: one use of an operator, in a loop or called by itself.

A step is data: what operator, which functors, which options. Backends read it; only its
``__call__`` runs it, as a program of one step on the same path as a declared loop. What backends must know of an
operator it declares here: nothing asks for one by its name.
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
from frontier.functors.functor import arguments
from frontier.program.frontiers import Frontier
from frontier.program.order import Order

if TYPE_CHECKING:
    from frontier.memory.placement import Placement
    from frontier.program.problem import Problem
    from frontier.program.schedule import Schedule
    from frontier.program.taking import Elements

__all__ = [
    "Operator", "Over", "Step", "captures_of", "check_field", "check_weights", "count_over", "frontier_over",
    "start_of", "walk",
]  # fmt: skip

#: What ``over=`` accepts: "vertices", "edges", a pile, a scalar that holds a vertex or a count, or a count.
Over = str | int | None

Functor = Callable[..., Any]


class Step:
    """Base of all operators' steps (:class:`Operator`), and of Loop and Sequence, which hold steps.

    Parameters
    ----------
    over : "vertices", "edges", name of a pile, name of a scalar, int, optional
        The step's own frontier; the current one is left alone. A scalar holds a vertex; for a functor of ``i`` it
        holds a count, as an int is one.
    schedule : Schedule, optional
        Departs from the schedule of the loop or enactor around it.
    """

    #: Name used in traces and messages.
    name = "step"
    #: Whether the current frontier is left as it was.
    passes_through = False
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

    _key: tuple[Any, ...] | None = None
    #: What its functors took from outside when a run began last, see :mod:`frontier.functors.captures`.
    _captures: Captures | None = None

    def __init__(self, over: Over = None, schedule: Schedule | None = None) -> None:
        if isinstance(over, bool) or not (over is None or isinstance(over, (str, int))):
            raise FrontierError(
                f"over={over!r}: 'vertices', 'edges', a pile, a scalar holding a vertex or a count, or a count"
            )
        if isinstance(over, int) and (not self.takes_count or over < 0):
            raise FrontierError(f"{type(self).__name__}(over={over!r}): only Compute and Reduce run over a count")
        self.over = over
        self.schedule = schedule

    def __call__(self, p: Problem, f: Elements | None = None) -> Frontier:
        """Run this step by itself: the next frontier. Without ``f`` it needs ``over=``."""
        return _run()(self, p, f)

    def explain(self, p: Problem, f: Elements | None = None, *, backend: Placement | str | None = None) -> str:
        """The program that this step becomes by itself, as pseudo-code; see :meth:`frontier.Enactor.explain`."""
        from frontier.program.execution import explain
        from frontier.program.taking import check_problem

        check_problem(p, self)
        return explain(self, p, f, backend=backend)

    def run(self, *_: Any, **__: Any) -> Any:
        """Steps do not run by this name: raises FrontierError."""
        raise FrontierError(f"{self!r} is a step: call it, step(p, f); an Enactor, whose loop it may be, has run()")

    @property
    def own(self) -> bool:
        """Whether this step has a frontier of its own and leaves the current one alone."""
        return self.over is not None

    @property
    def counted(self) -> bool:
        """Whether ``over=`` is a count: a number, or a scalar where the functor is one of ``i``."""
        if isinstance(self.over, int):
            return True
        if not (self.takes_count and isinstance(self.over, str)):
            return False
        return any("i" in arguments(fn, place) for fn, place in self.functors())

    def needs_frontier(self) -> bool:
        """Whether it cannot run without a current frontier."""
        return self.uses_frontier and not self.own

    def lacks(self) -> str:
        """Message for a run without a frontier."""
        return f"{self!r} needs a frontier to start with, or over="

    def functors(self) -> Iterator[tuple[Functor, str]]:
        """(functor, place) of all functors of this step; places as in :func:`functors.arguments`."""
        return iter(())

    def valued(self) -> Iterator[tuple[Functor, str]]:
        """(functor, who wants it) of those whose value is computed with."""
        return iter(())

    def into_fields(self) -> Iterator[tuple[Functor, str]]:
        """(functor, field) where a field or scalar gets what the functor returns, alone or with other values."""
        return iter(())

    def inner(self) -> tuple[Step, ...]:
        """The steps inside this one."""
        return ()

    def wants(self, after: str) -> str:
        """Which scan of its frontier's degrees helps: ``out``, ``in`` or none; ``after`` is for later steps."""
        return after if self.own or self.passes_through else ""

    def kinds_after(self, kinds: frozenset[str], piles: Mapping[str, str]) -> frozenset[str]:
        """Kinds of elements that the frontier may hold after this step, from those before."""
        return kinds

    def may_pull(self, schedule: Schedule) -> bool:
        """Whether a pull may run and leave the frontier as a bitmap."""
        return False

    def check(self, p: Problem) -> None:
        """Raise FrontierError where this step, or a functor of it, does not suit the problem."""
        if isinstance(self.over, str):
            start_of(p, self.over, self.counted)
        from frontier.functors.rules import check_value
        from frontier.program.effects import check_functor
        from frontier.program.races import warn_of_races

        for fn, place in self.functors():
            found = check_functor(fn, p)
            if found is not None:
                warn_of_races(self, fn, place, found, p)
        for fn, who in self.valued():
            check_value(fn, who)

    def but(self, replaced: Mapping[Functor, Functor]) -> Self:
        """A copy of this step, and of all steps inside it, with some functors replaced by others.

        Parameters
        ----------
        replaced : mapping from functor to functor
            The new functors take the place of the old ones wherever these are used.

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
        """What a copy is made of: without what has been found for this step, as compiled code."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def key(self) -> tuple[Any, ...]:
        """What makes two steps the same: type, functors and options, which never change."""
        if self._key is None:
            own = (_hashable(value) for name, value in sorted(vars(self).items()) if not name.startswith("_"))
            self._key = (type(self), *own)
        return self._key

    def __repr__(self) -> str:
        names = ", ".join(fn.__name__ for fn, _ in self.functors())
        return f"{type(self).__name__}({names})"


class Operator(Step, ABC):
    """Base of the steps that do something themselves: what one means, and how it is compiled."""

    @abstractmethod
    def interpret(self, context: Any, f: Any) -> Any:
        """Run on the python backend: the next frontier.

        Parameters
        ----------
        context : frontier.backends.python.interpreter.Context
            ``context.problem``, ``context.functor(fn, names)`` and ``context.each(fn, f)``: its functors' values.
        f : Frontier, int or None
            The step's frontier; a count where ``over=`` is one; None where the step uses none and there is none.
        """

    @abstractmethod
    def lower(self, builder: Any, register: Any) -> None:
        """Add the phases of this step to a loop function.

        Parameters
        ----------
        builder : frontier.lowering.builder.Builder
            The loop function as far as it is made.
        register : frontier.lowering.registers.Register
            Where the step's frontier is, and where the next one goes.
        """


@cache
def _run() -> Callable[[Step, Problem, Elements | None], Frontier]:
    """``frontier.program.execution.run``, which needs steps itself."""
    from frontier.program.execution import run

    return run


def _replaced(value: Any, functors: Mapping[Functor, Functor]) -> Any:
    if isinstance(value, Step):
        made = copy.copy(value)  # without what has been found for the old functors: compiled code, for example
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
        return dataclasses.replace(value, key=_replaced(value.key, functors))
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
    """A step and all steps inside it, outermost first."""
    yield step
    for part in step.inner():
        yield from walk(part)


def captures_of(step: Step) -> Captures:
    """What the functors of a step, and of steps inside it, take from outside now: the same object if it is equal."""
    known: Captures | None = step.__dict__.get("_captures")
    if known is not None and known.unchanged():
        return known
    made = Captures(fn for part in walk(step) for fn, _ in part.functors())
    if known is not None and known.key == made.key:
        known.take_over(made)
        return known
    step.__dict__["_captures"] = made
    return made


def start_of(p: Problem, over: Over, counted: bool = False) -> tuple[str, str]:
    """What kind of start ``over`` names in a problem; ``counted`` says that it must be a count.

    Returns
    -------
    form : {"all", "pile", "single", "count"}
    kind : {"vertex", "edge", "count"}
    """
    if isinstance(over, int):
        return "count", "count"
    if counted:
        if over not in p.scalars:
            raise FrontierError(f"over={over!r}: a functor of i runs over a count, or a scalar that holds one")
        if p.scalars[over].dtype.kind not in "iu":
            raise FrontierError(f"over={over!r}: the scalar holds {p.scalars[over].dtype}, not a count")
        return "count", "count"
    if over == "vertices":
        return "all", "vertex"
    if over == "edges":
        return "all", "edge"
    if over in p.piles:
        return "pile", p.piles[over].kind
    if over in p.scalars:
        if p.scalars[over].dtype.kind not in "iu":
            raise FrontierError(f"over={over!r}: the scalar holds {p.scalars[over].dtype}, not a vertex")
        return "single", "vertex"
    raise FrontierError(f"over={over!r}: 'vertices', 'edges', a pile or a scalar of the problem")


def frontier_over(p: Problem, over: str) -> Frontier:
    """The frontier that ``over`` names, as the problem stands now."""
    form, kind = start_of(p, over)
    if form == "all":
        return Frontier.all(p.graph, kind)
    if form == "pile":
        return p.piles[over]
    return Frontier(p.graph, [int(p.scalars[over][0])])


def count_over(p: Problem, over: str) -> int:
    """The count that a scalar holds now; below 0 it is none, as in ``range``."""
    return max(0, int(p.scalars[over][0]))


def check_field(p: Problem, name: str, kinds: tuple[str, ...], what: str) -> None:
    """Raise FrontierError unless the problem has this field, of one of these kinds."""
    made = p.fields.get(name)
    if made is None:
        raise FrontierError(f"{what}: the problem has no field {name!r}; it has {', '.join(p.fields)}")
    if made.kind not in kinds:
        raise FrontierError(f"{what}: field {name!r} is of kind {made.kind}, not {' or '.join(kinds)}")


def check_weights(p: Problem, step: Step) -> None:
    """Raise where a functor takes a weight and the graph has none."""
    from frontier.errors import GraphError
    from frontier.functors.functor import location
    from frontier.program.effects import check_functor

    for fn, place in step.functors():
        found = check_functor(fn, p)
        if found is not None and "weights" in found.topology and p.graph.weights is None:
            raise GraphError(f"{location(fn)} asks for weights of edges, but the graph has none")
        if place != "scalars" and p.graph.weights is None and "weight" in arguments(fn, place):
            raise GraphError(f"{location(fn)} takes the weight of an edge, but the graph has no weights")
