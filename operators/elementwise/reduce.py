"""Reduce: combine a value of every element of the frontier to one scalar."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from frontier.functors.functor import arguments, constant, location
from frontier.operators.shared.kernels import kernels
from frontier.operators.shared.reductions import check_into, combination, find, reduced, registered
from frontier.program.frontiers import Frontier
from frontier.program.step import Functor, Operator, Over, check_field

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.program.problem import Problem
    from frontier.program.schedule import Schedule

__all__ = ["Reduce"]


class Reduce(Operator):
    """Set the scalar ``p.into`` to a reduction of the functor's values over the frontier.

    Parameters
    ----------
    fn : function of the problem and ``v``; of ``src, dst, edge, weight``; or of ``i`` (or both, see over) -> number
        Called exactly once for each element; it may also write to fields.
    op : {"sum", "min", "max", "any", "all", "or"}, or the name of a registered reduction
        Float values accumulate in float64, integers in int64.
    into : str
        Name of the scalar. An empty frontier gives the identity of the operation.
    over : see Step
        May be a count, a scalar that holds one, or a field with several values, as in Compute.

    Examples
    --------
    >>> class Largest(fr.Enactor):
    ...     loop = fr.Sequence(fr.Reduce(lambda p, v: p.x[v], "max", "largest"))
    >>> p = fr.Problem(fr.path(3), x=fr.vertex("int64", [4, 9, 2]), largest=fr.scalar("int64"))
    >>> int(Largest(p).run(fr.Frontier.all(p.graph)).largest)
    9
    """

    name = "reduce"
    exchanges_inside = True
    once_each = True
    passes_through = True
    takes_count = True
    any_numbering = True
    divides = True

    def __init__(
        self, fn: Functor, op: str, into: str, over: Over = None, schedule: Schedule | None = None
    ) -> None:
        super().__init__(over, schedule)
        self.reduction = find(op, "Reduce")
        self.fn, self.op, self.into = fn, op, into
        arguments(fn, "element")

    def functors(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, "element"

    def valued(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, "Reduce"

    def partial(self) -> Iterator[tuple[str, Any]]:
        yield self.into, self.reduction

    def combining(self) -> Iterator[Functor]:
        yield from registered(self.reduction)

    def into_fields(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, self.into

    def check(self, p: Problem) -> None:
        super().check(p)
        check_field(p, self.into, ("scalar",), "into")
        check_into(self.op, self.reduction, self.into, p.scalars[self.into].dtype, "Reduce")

    def interpret(self, context: Context, f: Frontier | int) -> Frontier | int:
        """Run on the python backend."""
        from frontier.backends.python.view import stored

        scalar = context.problem.scalars[self.into]
        made = self.reduction
        combine = combination(made, scalar.dtype, context.plain)
        result = reduced(made, context.each(self.fn, f, self.row_field), scalar.dtype, location(self.fn), combine)
        scalar[0] = stored(f"p.{self.into}", result, scalar.dtype)
        return f

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """Add the phase of this step to a loop function."""
        from frontier.lowering.ir import expression

        number = constant(self.fn)
        if self.op == "sum" and isinstance(number, int) and not builder.layout.dtype(self.into).startswith("float"):
            # Counting takes no sweep: a frontier knows its size.
            count = builder.count_over(self.over) if self.counted else current.count
            columns = builder.width(self.row_field) if self.row_field else 1
            builder.add(builder.assign(self.into, expression(count) * (columns * int(number))))
            return
        kernels(builder, "elementwise").lower_reduce(self, builder, current)
