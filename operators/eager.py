"""Operators as plain calls: ``fr.advance(p, f, visit)`` is ``fr.Advance(visit)(p, f)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from frontier.operators.advance import Advance
from frontier.operators.advance.unique import Unique
from frontier.operators.buckets import Buckets
from frontier.operators.elementwise.compute import Compute
from frontier.operators.elementwise.filter import Filter
from frontier.operators.elementwise.put import Put
from frontier.operators.elementwise.reduce import Reduce
from frontier.operators.fields.set import Set
from frontier.operators.fields.swap import Swap
from frontier.operators.fields.take import Take
from frontier.operators.gather import Gather
from frontier.operators.intersect import Intersect
from frontier.operators.scan import Scan
from frontier.program.execution import run
from frontier.program.frontiers import Frontier
from frontier.program.step import check_field
from frontier.program.taking import Elements, frontier_of

if TYPE_CHECKING:
    from frontier.program.problem import Problem
    from frontier.program.step import Functor

__all__ = [
    "advance",
    "buckets",
    "compute",
    "filter",
    "gather",
    "intersect",
    "put",
    "reduce",
    "scan",
    "set",
    "split",
    "swap",
    "take",
    "unique",
]


def advance(p: Problem, f: Elements, fn: Functor, **options: Any) -> Frontier:
    """Visit the edges of a frontier and return the next frontier. Options as for :class:`Advance`."""
    return run(Advance(fn, **options), p, f)


def filter(p: Problem, f: Elements, fn: Functor, **options: Any) -> Frontier:
    """Return the elements for which the functor is true. Options as for :class:`Filter`."""
    return run(Filter(fn, **options), p, f)


def compute(p: Problem, f: Elements | None, fn: Functor, **options: Any) -> Frontier | None:
    """Call the functor once for every element; returns ``f``. Options as for :class:`Compute`."""
    given: Frontier | None = frontier_of(p, f)
    run(Compute(fn, **options), p, given)
    return given


def gather(p: Problem, f: Elements, fn: Functor, op: str, into: str, **options: Any) -> Frontier:
    """Reduce over the edges of every vertex to a field; returns ``f``. Options as for :class:`Gather`."""
    given: Frontier = frontier_of(p, f)
    run(Gather(fn, op, into, **options), p, given)
    return given


def reduce(p: Problem, f: Elements | None, fn: Functor, op: str, into: str, **options: Any) -> Any:
    """Reduce over the frontier to a scalar; returns its value. Options as for :class:`Reduce`."""
    run(Reduce(fn, op, into, **options), p, f)
    return getattr(p, into)


def split(p: Problem, f: Elements, fn: Functor, rest: str | None = None) -> tuple[Frontier, Frontier]:
    """Return two frontiers: the elements for which the functor is true, and the others.

    With ``rest=`` the others are also added to that pile, as :class:`Split` does.
    """
    given: Frontier = frontier_of(p, f)
    if rest is not None:
        check_field(p, rest, ("pile",), "rest")
    near = run(Filter(fn), p, given)
    far = given - near
    if rest is not None:
        setattr(p, rest, getattr(p, rest) | far)
    return near, far


def put(p: Problem, f: Elements, pile: str) -> Frontier:
    """Add a frontier to a pile; returns ``f``."""
    given: Frontier = frontier_of(p, f)
    run(Put(pile), p, given)
    return given


def buckets(p: Problem, f: Elements, fn: Functor, piles: Sequence[str], **options: Any) -> Frontier:
    """Return the elements of bucket 0 and add the others to the piles. Options as for :class:`Buckets`."""
    return run(Buckets(fn, piles, **options), p, f)


def intersect(
    p: Problem, f: Elements, fn: Functor, op: str | None = None, into: str | None = None, **options: Any
) -> Any:
    """Visit the common neighbours of the endpoints of every edge; returns the scalar ``into`` if given, else ``f``."""
    given = frontier_of(p, f)
    run(Intersect(fn, op, into, **options), p, given)
    return given if into is None else getattr(p, into)


def scan(p: Problem, f: Elements, fn: Functor, into: str, total: str | None = None, **options: Any) -> Frontier:
    """Write the exclusive prefix sums over the frontier to a field; returns ``f``. Options as for :class:`Scan`."""
    given: Frontier = frontier_of(p, f)
    run(Scan(fn, into, total, **options), p, given)
    return given


def take(p: Problem, pile: str) -> Frontier:
    """Return the content of a pile and empty the pile."""
    return run(Take(pile), p)


def set(p: Problem, **values: Any) -> None:
    """Assign scalars computed by functions of the problem; all are computed before any is assigned."""
    step = Set(**values)
    step.check(p)  # before any is assigned
    computed = {name: value for name, value in values.items() if callable(value)}
    if computed:
        run(Set(**computed), p)
    for name, value in values.items():
        if name not in computed:  # no program is needed for numbers, each of which would be compiled
            setattr(p, name, value)


def swap(p: Problem, first: str, second: str) -> None:
    """Exchange two fields of one kind and dtype."""
    run(Swap(first, second), p)


def unique(p: Problem, f: Elements) -> Frontier:
    """Return the frontier without duplicates."""
    return run(Unique(), p, f)
