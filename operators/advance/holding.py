"""Advances that hold some vertices of their frontier back: what limits that slide are made of.

A vertex for which ``hold`` is true is not expanded: none of its edges is visited, and it is in the next frontier again.
So one step processes the vertices that are due, and keeps the others for later passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from frontier.errors import FrontierError
from frontier.functors.functor import arguments
from frontier.operators.advance import Advance
from frontier.program.step import Functor, check_field

if TYPE_CHECKING:
    from frontier.program.problem import Problem

__all__ = ["Holding"]


class Holding(Advance):
    """An Advance that holds vertices back.

    Parameters
    ----------
    fn, options
        As of :class:`frontier.Advance`.
    hold : function of the problem and ``v`` -> bool
        Vertices for which it is true stay in the frontier. It is called once for every vertex of the frontier, and may
        see fields before or after other calls of the step have changed them. With ``unique="claimed"`` the functor must
        not accept a vertex that is held back. In a loop with ``record=`` no vertex may be held back, because each
        vertex is recorded only once.
    held : str, optional
        Name of a scalar that is set to the number of vertices held back.

    Notes
    -----
    It always pushes, with the balance ``thread``, which is slow for very long adjacency lists.
    """

    def __init__(self, fn: Functor, *, hold: Functor, held: str | None = None, **options: Any) -> None:
        super().__init__(fn, **options)
        arguments(hold, "vertex")
        if self.stop is not None:
            raise FrontierError("Holding(stop=...): vertices that are held have no edges to stop at")
        if self.output != "vertex":
            raise FrontierError(f"Holding(output={self.output!r}): held vertices need output='vertex'")
        self.hold, self.held = hold, held

    @classmethod
    def of(cls, step: Advance, hold: Functor, held: str) -> Holding:
        """Return an Advance without ``part`` and ``stop`` that also holds vertices back."""
        options = {name: getattr(step, name) for name in ("where", "output", "unique", "edges", "over", "schedule")}
        return cls(step.fn, hold=hold, held=held, **options)

    def functors(self) -> Iterator[tuple[Functor, str]]:
        yield from super().functors()
        assert self.hold is not None
        yield self.hold, "vertex"

    def check(self, p: Problem) -> None:
        super().check(p)
        if self.held is not None:
            check_field(p, self.held, ("scalar",), "held")

    def __repr__(self) -> str:
        return f"Advance({', '.join(fn.__name__ for fn, _ in self.functors())})"
