"""Filter: keep the elements of the frontier for which a functor is true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from frontier.functors.functor import arguments
from frontier.operators.shared.kernels import kernels
from frontier.program.frontiers import Frontier
from frontier.program.step import Functor, Operator, Over

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.program.schedule import Schedule

__all__ = ["Filter"]


class Filter(Operator):
    """Keep the elements for which the functor is true.

    Parameters
    ----------
    fn : function of the problem and ``v``, or of ``src, dst, edge, weight`` -> bool
        Called exactly once for each vertex (edge) of the frontier; side effects are allowed.
    over, schedule
        See :class:`frontier.program.step.Step`.

    Examples
    --------
    >>> def mark(p, v):
    ...     p.odd[v] = True
    >>> class Odd(fr.Enactor):
    ...     loop = fr.Sequence(fr.Filter(lambda p, v: v % 2 == 1), fr.Compute(mark))
    >>> p = fr.Problem(fr.path(4), odd=fr.vertex("bool"))
    >>> Odd(p).run(fr.Frontier.all(p.graph)).odd
    array([False,  True, False,  True])
    """

    name = "filter"
    only_selects = True
    exchanges_inside = True
    once_each = True
    divides = True

    def __init__(self, fn: Functor, over: Over = None, schedule: Schedule | None = None) -> None:
        super().__init__(over, schedule)
        self.fn = fn
        arguments(fn, "element")

    def functors(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, "element"

    def interpret(self, context: Context, f: Frontier) -> Frontier:
        """Run on the python backend."""
        keep = [bool(value) for value in context.each(self.fn, f)]
        return Frontier._of(f.graph, f.kind, ids=f.ids[keep])

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """Add the phase of this step to a loop function."""
        kernels(builder, "elementwise").lower_filter(self, builder, current)
