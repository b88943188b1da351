"""The classes Loop and Sequence: programs made of steps, as data.

A pass of a loop starts with the frontier that the pass before has left (by default), with the content of a pile
(``take``), or with a recorded frontier, the last one first (``replay``). The loop ends when there is no such element or
frontier left, or after a number of passes (``times``); that is tested before each pass.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from frontier.errors import FrontierError, warn
from frontier.functors.functor import arguments
from frontier.program.order import Order
from frontier.program.step import Functor, Over, Step, check_field

if TYPE_CHECKING:
    from frontier.program.problem import Problem
    from frontier.program.schedule import Schedule

__all__ = ["Loop", "Sequence", "kinds_after", "wanted"]


def _whole(name: str, value: Any, words: str) -> int:
    """A number of passes as Python's int."""
    try:
        return operator.index(value)
    except TypeError:
        raise FrontierError(f"{name}={value!r}: {words}") from None


def _steps(steps: tuple[Step, ...], where: str) -> tuple[Step, ...]:
    for step in steps:
        if hasattr(step, "program"):  # an enactor, or its class
            name = getattr(step, "__name__", type(step).__name__)
            raise FrontierError(f"{where} is made of steps; to run what {name} does, put its loop there: {name}.loop")
        if not isinstance(step, Step):
            raise FrontierError(f"{where} is made of steps such as fr.Advance(fn), not of {step!r}")
        last = _selecting(step)
        if last is not None and step.own and not isinstance(step, Loop):
            what = "" if last is step else f"{last!r}, the last of "
            warn(
                f"{what}{step!r} over {step.over!r}: nothing uses what it keeps, for {where} goes on with its "
                f"own frontier; fr.Sequence(step, ..., over={step.over!r}) goes on with it, fr.Put(pile) puts it "
                "aside, and fr.Compute only calls the functor"
            )
    if not steps:
        raise FrontierError(f"{where} needs at least one step")
    return steps


def _selecting(step: Step) -> Step | None:
    """The step with which a step ends, if it does nothing but select, so that only its result counts."""
    if isinstance(step, Sequence):
        last = step.steps[-1]
        return None if last.own else _selecting(last)
    return step if step.only_selects else None


def _warn_of_dropped(step: Step, feeds: dict[str, str | None]) -> None:
    """Warn if a step does nothing but select, and the next pass begins with something else."""
    last = None if step.own else _selecting(step)
    for name, fed in feeds.items():
        if last is not None and fed is not None and not str(fed).endswith("__"):  # as in what an order becomes
            warn(
                f"{last!r} ends a Loop with {name}={fed!r}: nothing uses what it keeps, for the next pass begins with "
                "something else; fr.Put(pile) puts it aside, and fr.Compute only calls the functor"
            )


def wanted(steps: tuple[Step, ...], after: str) -> str:
    """Which scan helps the first of some steps that uses one."""
    for step in reversed(steps):
        after = step.wants(after)
    return after


def kinds_after(
    steps: tuple[Step, ...], kinds: frozenset[str], piles: Mapping[str, str]
) -> frozenset[str]:
    """Kinds of elements that the frontier may hold after some steps."""
    for step in steps:
        if not step.own:
            kinds = step.kinds_after(kinds, piles)
    return kinds


def _need(steps: tuple[Step, ...]) -> bool:
    """Whether some steps, one after another, need a frontier to start with."""
    for step in steps:
        if step.needs_frontier():
            return True
        if step.takes_pile:
            return False  # from here on there is one
    return False


def _alone(step: Step) -> bool:
    """Whether a step neither needs the current frontier nor changes it."""
    if step.own:
        return True
    if isinstance(step, Loop) and step.times is None and not step.unfed:
        return False
    if step.inner():
        return all(map(_alone, step.inner()))
    return not step.uses_frontier and step.passes_through


def _check_order(order: Order, others: Mapping[str, object]) -> None:
    """Raise FrontierError if an order is none, or stands beside another feed."""
    if not isinstance(order, Order):
        raise FrontierError(f"order={order!r}: made by fr.by, as order=fr.by('distance')")
    for name, value in others.items():
        if value is not None:
            raise FrontierError(f"a Loop with order= takes no {name}=: what waits feeds it")


def _suits(order: Order, p: Problem) -> None:
    """Raise FrontierError where an order does not suit the problem."""
    if isinstance(order.key, str):
        check_field(p, order.key, ("vertex", "edge"), "fr.by")
        if order.kind(p) == "b":
            raise FrontierError(f"fr.by({order.key!r}): keys are numbers, and the field holds bools")
    if isinstance(order.delta, str) and order.delta != "auto":
        check_field(p, order.delta, ("scalar",), "delta")
    if isinstance(order.most, str):
        check_field(p, order.most, ("scalar",), "most")
    if order.into is not None:
        check_field(p, order.into, ("scalar",), "into")
        if order.kind(p) == "f" and p.scalars[order.into].dtype.kind != "f":
            raise FrontierError(
                f"fr.by(into={order.into!r}): keys are floats, and the scalar holds {p.scalars[order.into].dtype}"
            )


class Sequence(Step):
    """Run steps one after another; the next frontier is that of the last step.

    Examples
    --------
    >>> def double(p, v):
    ...     p.x[v] *= 2
    >>> class DoubleLarge(fr.Enactor):
    ...     loop = fr.Sequence(fr.Filter(lambda p, v: p.x[v] > 1), fr.Compute(double))
    >>> p = fr.Problem(fr.path(3), x=fr.vertex("int64", [1, 2, 3]))
    >>> DoubleLarge(p).run(fr.Frontier.all(p.graph)).x
    array([1, 4, 6])
    """

    name = "sequence"
    any_numbering = True

    def __init__(self, *steps: Step, over: Over = None, schedule: Schedule | None = None) -> None:
        super().__init__(over, schedule)
        self.steps = _steps(steps, "a Sequence")

    def needs_frontier(self) -> bool:
        return not self.own and _need(self.steps)

    def inner(self) -> tuple[Step, ...]:
        return self.steps

    def wants(self, after: str) -> str:
        return after if self.own else wanted(self.steps, after)

    def kinds_after(self, kinds: frozenset[str], piles: Mapping[str, str]) -> frozenset[str]:
        return kinds if self.own else kinds_after(self.steps, kinds, piles)

    def __repr__(self) -> str:
        return f"Sequence({', '.join(map(repr, self.steps))})"


class Loop(Step):
    """Repeat steps. Each repetition is a pass; by default the loop ends when a pass leaves an empty frontier.

    Parameters
    ----------
    *steps : Step
        The steps of one pass. Each maps the current frontier to the next one. When a step begins, all calls of the
        step before are finished and what they wrote is visible.
    over : see Step
        The frontier with which the loop starts, instead of the current one.
    take : str, optional
        Each pass starts with the content of this pile; the loop ends when it is empty.
    replay : str, optional
        Each pass starts with a frontier recorded under this name, beginning with the last one.
    times : int or str, optional
        Number of passes, or the scalar that holds it.
    until : function of the problem, optional
        Tested after each pass; ends the loop when true. If every step has a frontier of its own or needs none, it may
        be the only condition that ends the loop.
    count : str, optional
        Scalar to which 1 is added before each pass; in a replay it is set to the number of the recorded pass.
    record : str, optional
        Record the frontier that each pass starts with, under this name. No element may occur in two passes.
    max_steps : int, optional
        More passes than this raise NotConvergedError.
    order : made by :func:`frontier.by`, optional
        Each pass processes pending elements with small keys, and the elements that its steps produce become pending.
        The loop ends when none is pending, and leaves an empty frontier.

    Examples
    --------
    >>> class Sum(fr.Enactor):
    ...     loop = fr.Loop(fr.Set(total=lambda p: p.total + p.turn), times=5, count="turn")
    >>> p = fr.Problem(fr.path(2), total=fr.scalar("int64"), turn=fr.scalar("int64"))
    >>> int(Sum(p).run().total)
    15
    """

    name = "loop"

    def __init__(
        self,
        *steps: Step,
        over: Over = None,
        take: str | None = None,
        replay: str | None = None,
        times: int | str | None = None,
        until: Functor | None = None,
        count: str | None = None,
        record: str | None = None,
        max_steps: int | None = None,
        order: Order | None = None,
        schedule: Schedule | None = None,
    ) -> None:
        super().__init__(over, schedule)
        self.steps = _steps(steps, "a Loop")
        feeds = [name for name, value in (("take", take), ("replay", replay), ("times", times)) if value is not None]
        if len(feeds) > 1:
            raise FrontierError(f"a Loop is fed by one thing: {' and '.join(feeds)} do not go together")
        if take is not None and over is not None:
            raise FrontierError("a Loop is fed by one thing: take and over do not go together")
        if replay is not None and over is not None:
            raise FrontierError("a Loop is fed by one thing: replay and over do not go together")
        if times is not None and not isinstance(times, str):
            times = _whole("times", times, "a number of passes, or the name of a scalar that holds one")
            if times < 0:
                raise FrontierError(f"times={times}: a number of passes is not negative")
        if max_steps is not None:
            max_steps = _whole("max_steps", max_steps, "a number of passes")
            if max_steps < 1:
                raise FrontierError(f"max_steps={max_steps}: at least one")
        for what, name in (("record", record), ("replay", replay)):
            if name is not None and not (isinstance(name, str) and name.isidentifier()):
                raise FrontierError(f"{what}={name!r}: a name, as 'levels'")
        if until is not None:
            arguments(until, "scalars")
        if order is not None:
            _check_order(order, {"times": times, "take": take, "replay": replay, "record": record,
                                 "max_steps": max_steps})  # fmt: skip
        if until is None:
            _warn_of_dropped(self.steps[-1], {"take": take, "replay": replay})
        self.order = order
        self.take, self.replay, self.times = take, replay, times
        self.until, self.count, self.record, self.max_steps = until, count, record, max_steps
        self.any_numbering = not (order or take or replay or record)

    @property
    def own(self) -> bool:
        return self.over is not None or self.take is not None or self.replay is not None

    @property
    def unfed(self) -> bool:
        """Whether only ``until`` ends it: its steps take nothing from the current frontier."""
        alone = self.times is None and self.until is not None and not self.own and self.order is None
        return alone and all(map(_alone, self.steps))

    def needs_frontier(self) -> bool:
        if self.own or self.unfed:
            return False
        return self.times is None or _need(self.steps)

    def lacks(self) -> str:
        free = all(map(_alone, self.steps))
        return super().lacks() + (", times= or until=" if free else "")

    def inner(self) -> tuple[Step, ...]:
        return self.steps

    def wants(self, after: str) -> str:
        return after if self.own else wanted(self.steps, after)

    def kinds_after(self, kinds: frozenset[str], piles: Mapping[str, str]) -> frozenset[str]:
        return kinds if self.own else self.kinds_within(kinds, piles)

    def kinds_within(self, kinds: frozenset[str], piles: Mapping[str, str]) -> frozenset[str]:
        """Kinds of elements that a pass may begin with: those at first, and what passes leave."""
        while True:
            more = kinds | kinds_after(self.steps, kinds, piles)
            if more == kinds:
                return kinds
            kinds = more

    def functors(self) -> Iterator[tuple[Functor, str]]:
        if self.until is not None:
            yield self.until, "scalars"
        if self.order is not None and callable(self.order.key):
            yield self.order.key, "element"
        if self.order is not None and callable(self.order.most):
            yield self.order.most, "scalars"

    def valued(self) -> Iterator[tuple[Functor, str]]:
        if self.until is not None:
            yield self.until, "until"
        if self.order is not None and callable(self.order.key):
            yield self.order.key, "fr.by"
        if self.order is not None and callable(self.order.most):
            yield self.order.most, "most"

    def check(self, p: Problem) -> None:
        super().check(p)
        if self.order is not None:
            _suits(self.order, p)
        if self.take is not None:
            check_field(p, self.take, ("pile",), "take")
        for what, name in (("times", self.times), ("count", self.count)):
            if isinstance(name, str):
                check_field(p, name, ("scalar",), what)
                dtype = p.fields[name].dtype
                if dtype is None or dtype.kind not in "iu":
                    raise FrontierError(f"{what}={name!r}: the scalar must hold an integer")

    def __repr__(self) -> str:
        return f"Loop({', '.join(map(repr, self.steps))})"
