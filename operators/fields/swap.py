"""Swap: exchange two fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier.errors import FrontierError
from frontier.program.frontiers import Frontier
from frontier.program.step import Operator, check_alone, check_field

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.program.problem import Problem

__all__ = ["Swap"]


class Swap(Operator):
    """Exchange two fields of one kind, dtype and number of values, without copying.

    Parameters
    ----------
    first, second : str
        Names of two vertex fields, edge fields, arrays of one length, scalars or piles.

    Examples
    --------
    >>> class Exchange(fr.Enactor):
    ...     loop = fr.Sequence(fr.Swap("old", "new"))
    >>> p = fr.Problem(fr.path(2), old=fr.vertex("int64", 1), new=fr.vertex("int64", 2))
    >>> Exchange(p).run().old
    array([2, 2])
    """

    name = "swap"
    exchanges_inside = True
    uses_frontier = False
    passes_through = True
    measures = True
    any_numbering = True

    def __init__(self, first: str, second: str) -> None:
        super().__init__()
        self.first, self.second = first, second

    def check(self, p: Problem) -> None:
        every = ("vertex", "edge", "array", "scalar", "pile")
        check_field(p, self.first, every, "Swap", rows=True)
        check_field(p, self.second, every, "Swap", rows=True)
        check_alone(p, self.first, "Swap")
        check_alone(p, self.second, "Swap")
        a, b = p.fields[self.first], p.fields[self.second]
        same = a.kind == b.kind and a.dtype == b.dtype
        if a.kind == "pile":
            same = same and a.init == b.init
        if a.kind == "array":
            same = same and len(a.init) == len(b.init)
        if not same:
            raise FrontierError(
                f"Swap({self.first!r}, {self.second!r}): fields of one kind and dtype, "
                f"not {a.kind} {a.dtype} and {b.kind} {b.dtype}"
            )
        if a.width != b.width:
            raise FrontierError(
                f"Swap({self.first!r}, {self.second!r}): fields of equally many values each, "
                f"not {a.width or 1} and {b.width or 1}"
            )

    def interpret(self, context: Context, f: Frontier | None) -> Frontier | None:
        """Run on the python backend."""
        p, a, b = context.problem, self.first, self.second
        stores: tuple[dict[str, Any], ...] = (p.arrays, p.scalars, p.piles)
        for store in stores:
            if a in store:
                store[a], store[b] = store[b], store[a]
        context.refresh()
        return f

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """A decision that all workers make alike: no phase of its own."""
        builder.swap(self.first, self.second)

    def __repr__(self) -> str:
        return f"Swap({self.first!r}, {self.second!r})"
