"""Buckets: keep the elements of bucket 0, and add the others to one of several piles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import FrontierError, FunctorError
from frontier.functors.functor import arguments
from frontier.operators.shared.kernels import kernels
from frontier.program.frontiers import Frontier
from frontier.program.step import Functor, Operator, Over, check_field

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.program.problem import Problem
    from frontier.program.schedule import Schedule

__all__ = ["MOST", "Buckets"]

#: Piles that one step may fill.
MOST = 8


class Buckets(Operator):
    """Keep the elements whose bucket is 0; add those of bucket i to the i-th pile.

    Parameters
    ----------
    fn : function of the problem and ``v``, or of ``src, dst, edge, weight`` -> number
        Called exactly once for each element. Its value, truncated to an integer, is the number of the bucket. Values
        below 1, and NaN, mean bucket 0; values beyond the last pile mean the last pile. For example
        ``(p.distance[v] - p.base) / p.delta``.
    piles : sequence of str
        Names of up to eight different piles, for buckets 1, 2, ... A pile is a set, so adding an element twice has no
        effect. An element that is in another pile stays there, too.
    over, schedule
        See :class:`frontier.program.step.Step`.

    Notes
    -----
    A generalised Split: with one pile, ``Buckets(fn, ["far"])`` is ``Split(not fn, rest="far")``. This is Gunrock's
    priority queue of several levels. To turn bucket i into bucket i - 1, swap piles, or increase the base.

    Examples
    --------
    >>> def mark(p, v):
    ...     p.pile[v] = 2
    >>> class Sort(fr.Enactor):
    ...     loop = fr.Sequence(fr.Buckets(lambda p, v: v // 2, ["near", "far"]), fr.Take("far"), fr.Compute(mark))
    >>> p = fr.Problem(fr.path(5), near=fr.pile(), far=fr.pile(), pile=fr.vertex("int64"))
    >>> Sort(p).run(fr.Frontier.all(p.graph)).pile
    array([0, 0, 0, 0, 2])
    """

    name = "buckets"
    once_each = True
    divides = True

    def __init__(
        self, fn: Functor, piles: Sequence[str], over: Over = None, schedule: Schedule | None = None
    ) -> None:
        super().__init__(over, schedule)
        if isinstance(piles, str) or not 1 <= len(piles) <= MOST or len(set(piles)) < len(piles):
            raise FrontierError(f"Buckets(piles={piles!r}): names of 1 to {MOST} different piles, as ['soon', 'late']")
        self.fn, self.piles = fn, tuple(piles)
        arguments(fn, "element")

    def fills(self) -> tuple[str, ...]:
        return self.piles

    def functors(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, "element"

    def check(self, p: Problem) -> None:
        super().check(p)
        for name in self.piles:
            check_field(p, name, ("pile",), "piles")
        if len({p.piles[name].kind for name in self.piles}) > 1:
            raise FrontierError(f"Buckets(piles={self.piles!r}): piles of vertices and of edges do not go together")

    def interpret(self, context: Context, f: Frontier) -> Frontier:
        """Run on the python backend."""
        values = context.each(self.fn, f)
        numbers = np.fromiter((_bucket(value, len(self.piles)) for value in values), np.int64, len(f))
        piles = context.problem.piles
        for number, name in enumerate(self.piles, 1):
            piles[name] = piles[name] | Frontier._of(f.graph, f.kind, ids=f.ids[numbers == number])
        return Frontier._of(f.graph, f.kind, ids=f.ids[numbers == 0])

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """Add the phase of this step to a loop function."""
        kernels(builder, "buckets").lower(self, builder, current)


def _bucket(value: Any, last: int) -> int:
    if value is None:
        raise FunctorError("the functor of Buckets returned no value")
    return last if value >= last else int(value) if value >= 1 else 0
