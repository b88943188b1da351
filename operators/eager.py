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
    """Visit the edges of a frontier and return the next frontier. Options as for :class:`Advance`.

    Examples
    --------
    >>> g = fr.path(4)
    >>> sorted(fr.advance(fr.Problem(g), fr.Frontier(g, [1]), lambda p, dst: dst > 0))
    [2]
    """
    return run(Advance(fn, **options), p, f)


def filter(p: Problem, f: Elements, fn: Functor, **options: Any) -> Frontier:
    """Return the elements for which the functor is true. Options as for :class:`Filter`.

    Examples
    --------
    >>> p = fr.Problem(fr.path(6))
    >>> sorted(fr.filter(p, fr.Frontier.all(p.graph), lambda p, v: v % 2 == 1))
    [1, 3, 5]
    """
    return run(Filter(fn, **options), p, f)


def compute(p: Problem, f: Elements | None, fn: Functor, **options: Any) -> Frontier | None:
    """Call the functor once for every element; returns ``f``. Options as for :class:`Compute`.

    Examples
    --------
    >>> p = fr.Problem(fr.star(4), degree=fr.vertex("int64"))
    >>> def store(p, v):
    ...     p.degree[v] = fr.degree(p, v)
    >>> f = fr.compute(p, fr.Frontier.all(p.graph), store)
    >>> p.degree
    array([3, 1, 1, 1])
    """
    given: Frontier | None = frontier_of(p, f)
    run(Compute(fn, **options), p, given)
    return given


def gather(p: Problem, f: Elements, fn: Functor, op: str, into: str, **options: Any) -> Frontier:
    """Reduce over the edges of every vertex to a field; returns ``f``. Options as for :class:`Gather`.

    Examples
    --------
    >>> p = fr.Problem(fr.star(4), x=fr.vertex("float64", [1, 2, 3, 4]), total=fr.vertex("float64"))
    >>> f = fr.gather(p, fr.Frontier.all(p.graph), lambda p, src: p.x[src], "sum", "total")
    >>> p.total
    array([9., 1., 1., 1.])
    """
    given: Frontier = frontier_of(p, f)
    run(Gather(fn, op, into, **options), p, given)
    return given


def reduce(p: Problem, f: Elements | None, fn: Functor, op: str, into: str, **options: Any) -> Any:
    """Reduce over the frontier to a scalar; returns its value. Options as for :class:`Reduce`.

    Examples
    --------
    >>> p = fr.Problem(fr.path(3), x=fr.vertex("int64", [4, 9, 2]), largest=fr.scalar("int64"))
    >>> int(fr.reduce(p, fr.Frontier.all(p.graph), lambda p, v: p.x[v], "max", "largest"))
    9
    """
    run(Reduce(fn, op, into, **options), p, f)
    return getattr(p, into)


def split(p: Problem, f: Elements, fn: Functor, rest: str | None = None) -> tuple[Frontier, Frontier]:
    """Return two frontiers: the elements for which the functor is true, and the others.

    With ``rest=`` the others are also added to that pile, as :class:`Split` does.

    Examples
    --------
    >>> p = fr.Problem(fr.path(5))
    >>> low, high = fr.split(p, fr.Frontier.all(p.graph), lambda p, v: v < 2)
    >>> sorted(low), sorted(high)
    ([0, 1], [2, 3, 4])
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
    """Add a frontier to a pile; returns ``f``.

    Examples
    --------
    >>> p = fr.Problem(fr.path(3), far=fr.pile())
    >>> f = fr.put(p, fr.Frontier(p.graph, [1, 2]), "far")
    >>> sorted(fr.take(p, "far"))
    [1, 2]
    """
    given: Frontier = frontier_of(p, f)
    run(Put(pile), p, given)
    return given


def buckets(p: Problem, f: Elements, fn: Functor, piles: Sequence[str], **options: Any) -> Frontier:
    """Return the elements of bucket 0 and add the others to the piles. Options as for :class:`Buckets`.

    Examples
    --------
    >>> p = fr.Problem(fr.path(5), near=fr.pile(), far=fr.pile())
    >>> sorted(fr.buckets(p, fr.Frontier.all(p.graph), lambda p, v: v // 2, ["near", "far"]))
    [0, 1]
    >>> sorted(fr.take(p, "near")), sorted(fr.take(p, "far"))
    ([2, 3], [4])
    """
    return run(Buckets(fn, piles, **options), p, f)


def intersect(
    p: Problem, f: Elements, fn: Functor, op: str | None = None, into: str | None = None, **options: Any
) -> Any:
    """Visit the common neighbours of the endpoints of every edge; returns the scalar ``into`` if given, else ``f``.

    Examples
    --------
    >>> p = fr.Problem(fr.complete(5), count=fr.scalar("int64"))
    >>> edges = fr.Frontier.all(p.graph, "edge")
    >>> int(fr.intersect(p, edges, lambda p, u, v, w: u < v and v < w, "sum", "count"))
    10
    """
    given = frontier_of(p, f)
    run(Intersect(fn, op, into, **options), p, given)
    return given if into is None else getattr(p, into)


def scan(p: Problem, f: Elements, fn: Functor, into: str, total: str | None = None, **options: Any) -> Frontier:
    """Write the exclusive prefix sums over the frontier to a field; returns ``f``. Options as for :class:`Scan`.

    Examples
    --------
    >>> p = fr.Problem(fr.path(3), size=fr.vertex("int64", [2, 5, 1]), start=fr.vertex("int64"))
    >>> f = fr.scan(p, fr.Frontier.all(p.graph), lambda p, v: p.size[v], "start")
    >>> p.start
    array([0, 2, 7])
    """
    given: Frontier = frontier_of(p, f)
    run(Scan(fn, into, total, **options), p, given)
    return given


def take(p: Problem, pile: str) -> Frontier:
    """Return the content of a pile and empty the pile.

    Examples
    --------
    >>> p = fr.Problem(fr.path(3), far=fr.pile())
    >>> f = fr.put(p, fr.Frontier(p.graph, [1, 2]), "far")
    >>> sorted(fr.take(p, "far")), len(fr.take(p, "far"))
    ([1, 2], 0)
    """
    return run(Take(pile), p)


def set(p: Problem, **values: Any) -> None:
    """Assign scalars computed by functions of the problem; all are computed before any is assigned.

    Examples
    --------
    >>> p = fr.Problem(fr.path(2), a=fr.scalar("int64", 1), b=fr.scalar("int64", 2))
    >>> fr.set(p, a=lambda p: p.b, b=lambda p: p.a)
    >>> int(p.a), int(p.b)
    (2, 1)
    """
    step = Set(**values)
    step.check(p)  # before any is assigned
    computed = {name: value for name, value in values.items() if callable(value)}
    if computed:
        run(Set(**computed), p)
    for name, value in values.items():
        if name not in computed:  # no program is needed for numbers, each of which would be compiled
            setattr(p, name, value)


def swap(p: Problem, first: str, second: str) -> None:
    """Exchange two fields of one kind and dtype.

    Examples
    --------
    >>> p = fr.Problem(fr.path(2), old=fr.vertex("int64", 1), new=fr.vertex("int64", 2))
    >>> fr.swap(p, "old", "new")
    >>> p.old
    array([2, 2])
    """
    run(Swap(first, second), p)


def unique(p: Problem, f: Elements) -> Frontier:
    """Return the frontier without duplicates.

    Examples
    --------
    >>> p = fr.Problem(fr.star(4))
    >>> f = fr.advance(p, fr.Frontier(p.graph, [1, 2, 3]), lambda p, dst: True, unique="cull")
    >>> sorted(fr.unique(p, f))
    [0]
    """
    return run(Unique(), p, f)
