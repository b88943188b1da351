"""Compute: call a functor once for every element of the frontier."""

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

__all__ = ["Compute"]


class Compute(Operator):
    """Call the functor exactly once for each element; the frontier does not change.

    Parameters
    ----------
    fn : function of the problem and ``v``; of ``src, dst, edge, weight``; or of ``i``; see ``over`` for both
        Its return value is ignored.
    over : see Step
        May be a count: ``over=1024`` calls a functor of ``i`` for 0..1023; so does ``over="rounds"``, where that scalar
        holds 1024. (For a functor of ``v`` a scalar holds a vertex.) With the name of a field with several values
        (``shape=``) the functor takes ``v, i``, or for a field of edges ``i`` and any of ``src, dst, edge, weight``. It
        is called for each value, ``p.name[v, i]`` or ``p.name[edge, i]``.

    Examples
    --------
    >>> def double(p, v):
    ...     p.x[v] *= 2
    >>> class Double(fr.Enactor):
    ...     loop = fr.Loop(fr.Compute(double), over="vertices", times=3)
    >>> Double(fr.Problem(fr.path(3), x=fr.vertex("int64", [1, 2, 3]))).run().x
    array([ 8, 16, 24])
    """

    name = "compute"
    exchanges_inside = True
    once_each = True
    divides = True
    passes_through = True
    takes_count = True
    any_numbering = True

    def __init__(self, fn: Functor, over: Over = None, schedule: Schedule | None = None) -> None:
        super().__init__(over, schedule)
        self.fn = fn
        arguments(fn, "element")

    def functors(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, "element"

    def interpret(self, context: Context, f: Frontier | int) -> Frontier | int:
        """Run on the python backend."""
        for _ in context.each(self.fn, f, self.row_field):
            pass
        return f

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """Add the phase of this step to a loop function."""
        kernels(builder, "elementwise").lower_compute(self, builder, current)
