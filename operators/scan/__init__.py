"""Scan: exclusive prefix sums over the frontier, in ascending order of ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import FrontierError, FunctorError
from frontier.functors.functor import arguments, location
from frontier.functors.numbers import refused_float
from frontier.operators.shared.kernels import kernels
from frontier.operators.shared.reductions import REDUCTIONS, reduced
from frontier.program.frontiers import Frontier
from frontier.program.step import Functor, Operator, Over, check_alone, check_field

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.program.problem import Problem
    from frontier.program.schedule import Schedule

__all__ = ["Scan"]


class Scan(Operator):
    """Set ``p.into[x]`` to the sum of the functor's values over all elements of the frontier with ids below x.

    Parameters
    ----------
    fn : function of the problem and ``v``, or of ``src, dst, edge, weight`` -> number
        Without side effects, as it may be called several times for an element. It must not read the
        field ``into``.
    into : str
        A vertex field for a frontier of vertices, an edge field for one of edges; of integers or floats. Only
        entries of the frontier's elements are written.
    total : str, optional
        A scalar for the sum over all elements, which is the value that the next element would get.
    over, schedule
        See :class:`frontier.program.step.Step`.

    Notes
    -----
    An exclusive prefix sum, for example to give each element its own position in an array. The frontier does not
    change. Integers accumulate in int64. Floats accumulate in float64, with bitwise equal results in every run with
    the same number of threads. Work: the frontier, and a bit for every vertex (edge) of the graph.

    Examples
    --------
    >>> class Positions(fr.Enactor):
    ...     loop = fr.Sequence(fr.Scan(lambda p, v: p.size[v], "start", "total"))
    >>> size = fr.vertex("int64", [2, 5, 1])
    >>> p = fr.Problem(fr.path(3), size=size, start=fr.vertex("int64"), total=fr.scalar("int64"))
    >>> result = Positions(p).run(fr.Frontier.all(p.graph))
    >>> result.start, int(result.total)
    (array([0, 2, 7]), 8)
    """

    name = "scan"
    once_each = True
    passes_through = True
    accumulates = True

    def __init__(
        self, fn: Functor, into: str, total: str | None = None, over: Over = None, schedule: Schedule | None = None
    ) -> None:
        super().__init__(over, schedule)
        self.fn, self.into, self.total = fn, into, total
        arguments(fn, "element")

    def functors(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, "element"

    def valued(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, "Scan"

    def into_fields(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, self.into

    def check(self, p: Problem) -> None:
        super().check(p)
        check_field(p, self.into, ("vertex", "edge"), "into")
        check_alone(p, self.into, f"Scan(into={self.into!r})")
        if self.total is not None:
            check_field(p, self.total, ("scalar",), "total")
        for name in (self.into, self.total):
            if name is not None and p.fields[name].dtype == np.bool_:
                raise FrontierError(f"Scan: field {name!r} holds bool, which no sum fits")
        if self.total is not None and p.arrays[self.into].dtype.kind == "f":
            dtype = p.scalars[self.total].dtype
            if dtype.kind in "iu":
                raise FrontierError(f"Scan(total={self.total!r}): {refused_float(dtype)}")
        from frontier.program.functor_checks import check_functor

        found = check_functor(self.fn, p)
        if found is None:
            return
        if self.into in found.reads:
            raise FunctorError(
                f"{location(self.fn)} reads field {self.into!r}, which this Scan writes: scan into another field"
            )
        if found.writes:
            raise FunctorError(
                f"{location(self.fn)} writes field {min(found.writes)!r}: the functor of a Scan has no side effects"
            )

    def check_kind(self, kinds: frozenset[str], field: str) -> None:
        """Raise FrontierError unless the frontier's elements are those of the field."""
        if kinds != {field}:
            raise FrontierError(f"Scan into the {field} field {self.into!r} runs over a frontier of that kind")

    def interpret(self, context: Context, f: Frontier) -> Frontier:
        """Run on the python backend."""
        from frontier.backends.python.view import stored

        p = context.problem
        self.check_kind(frozenset({f.kind}), p.fields[self.into].kind)
        field = p.arrays[self.into]
        ordered = Frontier._of(f.graph, f.kind, ids=np.sort(f.ids))
        total: Any = reduced(REDUCTIONS["sum"], (), field.dtype, location(self.fn))
        for x, value in zip(ordered.ids.tolist(), context.each(self.fn, ordered), strict=True):
            field[x] = stored(f"p.{self.into}[{x}]", total, field.dtype)
            total += reduced(REDUCTIONS["sum"], (value,), field.dtype, location(self.fn))
        if self.total is not None:
            scalar = p.scalars[self.total]
            scalar[0] = stored(f"p.{self.total}", total, scalar.dtype)
        return f

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """Add the phases of this step to a loop function."""
        kind = next(kind for name, kind, _ in builder.layout.fields if name == self.into)
        self.check_kind(current.kinds, kind)
        kernels(builder, "scan").lower(self, builder, current, kind)
