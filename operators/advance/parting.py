"""Advances that put some of the vertices they accept aside: near and far in one sweep along the edges.

An accepted vertex for which ``keep`` is false is added to a pile instead of the next frontier. It is the same as an
Advance and a Split after it, without the pass over all that was accepted, if whatever changes the functor's answer for
a vertex also has the step accept the vertex, as loops with an order promise. Then the last call that changes it decides
as the Split would; a vertex for which an earlier one has decided otherwise is in the pile too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from frontier.errors import FrontierError
from frontier.operators.advance import Advance
from frontier.operators.elementwise.split import Split

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.step import Functor

__all__ = ["Parting"]


class Parting(Advance):
    """An Advance whose next frontier is what a Split after it would keep.

    Parameters
    ----------
    step : Advance
        Along out-edges, without ``part``, ``stop``, ``hold`` and ``over``; its output is vertices, and it does not
        promise to claim them.
    split : Split
        Its functor may be called for a vertex more than once.
    unique : {"exact", "cull"}
        As of Advance; the pile holds a vertex once in any case.

    Notes
    -----
    It always pushes, with the balance ``thread``, which is slow for very long adjacency lists. Only the backends
    ``python`` and ``cpu`` run it.
    """

    keep: Functor
    split: Split

    def __init__(self, step: Advance, split: Split, unique: str) -> None:
        super().__init__(step.fn, where=step.where, unique=unique, edges=step.edges, schedule=step.schedule)
        if step.output != "vertex" or unique == "claimed" or step.edges != "out":
            raise FrontierError(f"Parting({step!r}): it needs an Advance to vertices, which it makes unique")
        if step.part or step.stop or step.hold or step.own:
            raise FrontierError(f"Parting({step!r}): it needs a plain Advance")
        self.keep, self.split = split.fn, split

    def fills(self) -> tuple[str, ...]:
        return self.split.fills()

    def functors(self) -> Iterator[tuple[Functor, str]]:
        yield from super().functors()
        yield self.keep, "vertex"

    def check(self, p: Problem) -> None:
        super().check(p)
        self.split.check(p)

    def wants(self, after: str) -> str:
        return ""

    def interpret(self, context: Context, f: Frontier) -> Frontier:
        """Run on the python backend."""
        return self.split.interpret(context, super().interpret(context, f))

    def __repr__(self) -> str:
        return f"Advance({', '.join(fn.__name__ for fn, _ in self.functors())})"
