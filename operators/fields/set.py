"""Set: compute scalars from scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import FrontierError
from frontier.functors.functor import arguments, location
from frontier.functors.numbers import refused_float
from frontier.program.frontiers import Frontier
from frontier.program.step import Functor, Operator, check_field

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.program.problem import Problem

__all__ = ["Set"]


def check_number(value: Any, dtype: np.dtype[Any], what: str) -> None:
    """Raise FrontierError unless a scalar of this dtype holds a number."""
    if dtype.kind not in "iu":
        return
    if isinstance(value, float):
        raise FrontierError(f"{what}: {refused_float(dtype)}")
    limits = np.iinfo(dtype)
    if not limits.min <= value <= limits.max:
        raise FrontierError(f"{what}: the scalar of {dtype} holds {limits.min}..{limits.max}")


class Set(Operator):
    """``Set(name=fn, ...)``: assign scalars; all values are computed before any of them is assigned.

    Parameters
    ----------
    **values : function of the problem -> number, or a number
        Functors read scalars and entries of ``fr.array`` fields, and have no side effects.

    Examples
    --------
    >>> class Fibonacci(fr.Enactor):
    ...     loop = fr.Loop(fr.Set(a=lambda p: p.b, b=lambda p: p.a + p.b), times=10)
    >>> p = fr.Problem(fr.path(2), a=fr.scalar("int64", 0), b=fr.scalar("int64", 1))
    >>> int(Fibonacci(p).run().a)
    55
    """

    name = "set"
    exchanges_inside = True
    uses_frontier = False
    passes_through = True
    any_numbering = True

    def __init__(self, **values: Callable[..., Any] | float) -> None:
        super().__init__()
        if not values:
            raise FrontierError("Set(name=function, ...) needs at least one scalar to set")
        self.values = {
            name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()
        }
        for name, value in values.items():
            if callable(value):
                arguments(value, "scalars")
            elif not isinstance(value, (int, float, np.number, np.bool_)) or isinstance(value, complex):
                raise FrontierError(f"Set({name}=...): a function of the problem or a number, not {value!r}")

    def functors(self) -> Iterator[tuple[Functor, str]]:
        for value in self.values.values():
            if callable(value):
                yield value, "scalars"

    def valued(self) -> Iterator[tuple[Functor, str]]:
        for name, value in self.values.items():
            if callable(value):
                yield value, f"Set({name}=...)"

    def into_fields(self) -> Iterator[tuple[Functor, str]]:
        for name, value in self.values.items():
            if callable(value):
                yield value, name

    def check(self, p: Problem) -> None:
        super().check(p)
        for name, value in self.values.items():
            check_field(p, name, ("scalar",), "Set")
            if not callable(value):
                check_number(value, p.scalars[name].dtype, f"Set({name}={value!r})")

    def interpret(self, context: Context, f: Frontier | None) -> Frontier | None:
        """Run on the python backend."""
        from frontier.backends.python.view import stored

        p = context.problem
        made = {
            name: context.functor(value, ())({}) if callable(value) else value
            for name, value in self.values.items()
        }
        for name, value in made.items():
            fn = self.values[name]
            what = f"{location(fn)}: p.{name}" if callable(fn) else f"p.{name}"
            p.scalars[name][0] = stored(what, value, p.scalars[name].dtype)
        return f

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """A decision that all workers make alike: no phase of its own."""
        builder.set_scalars(self.values)
