"""Operators as plain calls: ``fr.advance(p, f, visit)`` is ``fr.Advance(visit)(p, f)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from frontier.operators.advance import Advance
from frontier.operators.advance.unique import Unique
from frontier.operators.buckets import Buckets
from frontier.operators.elementwise.compute import Compute
from frontier.operators.elementwise.filter import Filter
from frontier.operators.elementwise.reduce import Reduce
from frontier.operators.fields.set import Set
from frontier.operators.fields.swap import Swap
from frontier.operators.fields.take import Take
from frontier.operators.gather import Gather
from frontier.operators.intersect import Intersect
from frontier.operators.scan import Scan
from frontier.program.execution import run
from frontier.program.frontiers import Frontier
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
    "reduce",
    "scan",
    "set",
    "split",
    "swap",
    "take",
    "unique",
]


def advance(p: Problem, f: Elements, fn: Functor, **options: Any) -> Frontier:
    """Visit the edges of a frontier: the next frontier. Options as of :class:`Advance`."""
    return run(Advance(fn, **options), p, f)


def filter(p: Problem, f: Elements, fn: Functor, **options: Any) -> Frontier:
    """The elements for which the functor is true. Options as of :class:`Filter`."""
    return run(Filter(fn, **options), p, f)


def compute(p: Problem, f: Elements | None, fn: Functor, **options: Any) -> Frontier | None:
    """Call the functor once for every element; gives ``f``. Options as of :class:`Compute`."""
    given: Frontier | None = frontier_of(p, f)
    run(Compute(fn, **options), p, given)
    return given


def gather(p: Problem, f: Elements, fn: Functor, op: str, into: str, **options: Any) -> Frontier:
    """Reduce over the edges of every vertex, into a field; gives ``f``. Options as of :class:`Gather`."""
    given: Frontier = frontier_of(p, f)
    run(Gather(fn, op, into, **options), p, given)
    return given


def reduce(p: Problem, f: Elements | None, fn: Functor, op: str, into: str, **options: Any) -> Any:
    """Reduce over the frontier, into a scalar; gives its value. Options as of :class:`Reduce`."""
    run(Reduce(fn, op, into, **options), p, f)
    return getattr(p, into)


def split(p: Problem, f: Elements, fn: Functor, rest: str | None = None) -> tuple[Frontier, Frontier]:
    """Two frontiers: the elements for which the functor is true, and the others.

    With ``rest=`` the others are also added to that pile, as :class:`Split` does.
    """
    given: Frontier = frontier_of(p, f)
    near = run(Filter(fn), p, given)
    far = given - near
    if rest is not None:
        setattr(p, rest, getattr(p, rest) | far)
    return near, far


def buckets(p: Problem, f: Elements, fn: Functor, piles: Sequence[str], **options: Any) -> Frontier:
    """The elements of bucket 0; the others are added to the piles. Options as of :class:`Buckets`."""
    return run(Buckets(fn, piles, **options), p, f)


def intersect(
    p: Problem, f: Elements, fn: Functor, op: str | None = None, into: str | None = None, **options: Any
) -> Any:
    """Visit the common neighbours of every edge's ends; gives the scalar ``into``, or ``f`` without it."""
    given = frontier_of(p, f)
    run(Intersect(fn, op, into, **options), p, given)
    return given if into is None else getattr(p, into)


def scan(p: Problem, f: Elements, fn: Functor, into: str, total: str | None = None, **options: Any) -> Frontier:
    """Running sums over the frontier, into a field; gives ``f``. Options as of :class:`Scan`."""
    given: Frontier = frontier_of(p, f)
    run(Scan(fn, into, total, **options), p, given)
    return given


def take(p: Problem, pile: str) -> Frontier:
    """The content of a pile, which is empty after."""
    return run(Take(pile), p)


def set(p: Problem, **values: Any) -> None:
    """Scalars from functions of the problem, all computed before any is assigned."""
    run(Set(**values), p)


def swap(p: Problem, first: str, second: str) -> None:
    """Exchange two fields of one kind and dtype."""
    run(Swap(first, second), p)


def unique(p: Problem, f: Elements) -> Frontier:
    """The frontier without duplicates."""
    return run(Unique(), p, f)
