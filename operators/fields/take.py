"""Take: make the content of a pile the frontier, and empty the pile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from frontier.program.frontiers import Frontier
from frontier.program.step import Operator, check_field

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.program.problem import Problem
    from frontier.program.schedule import Schedule

__all__ = ["Take"]


class Take(Operator):
    """Make the content of a pile the next frontier, and empty the pile.

    Parameters
    ----------
    pile : str
        Name of the pile.

    Examples
    --------
    >>> def mark(p, v):
    ...     p.late[v] = True
    >>> class Later(fr.Enactor):
    ...     loop = fr.Sequence(fr.Take("far"), fr.Compute(mark))
    >>> p = fr.Problem(fr.path(4), far=fr.pile(), late=fr.vertex("bool"))
    >>> f = fr.put(p, fr.Frontier(p.graph, [2, 3]), "far")
    >>> Later(p).run([]).late
    array([False, False,  True,  True])
    """

    name = "take"
    exchanges_inside = True
    takes_pile = True
    uses_frontier = False

    def __init__(self, pile: str, schedule: Schedule | None = None) -> None:
        super().__init__(None, schedule)
        self.pile = pile

    def check(self, p: Problem) -> None:
        super().check(p)
        check_field(p, self.pile, ("pile",), "Take")

    def kinds_after(self, kinds: frozenset[str], piles: Mapping[str, str]) -> frozenset[str]:
        return frozenset({piles[self.pile]})

    def interpret(self, context: Context, f: Frontier | None) -> Frontier:
        """Run on the python backend."""
        piles = context.problem.piles
        taken = piles[self.pile]
        piles[self.pile] = Frontier(taken.graph, (), taken.kind)
        return taken

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """Exchange two queues: a decision that all workers make alike."""
        builder.frontiers.take(self.pile, current)

    def __repr__(self) -> str:
        return f"Take({self.pile!r})"
