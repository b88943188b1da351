"""Split: keep some elements of the frontier, and add the others to a pile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from frontier.functors.functor import arguments
from frontier.operators.shared.kernels import kernels
from frontier.program.frontiers import Frontier
from frontier.program.order import display_name
from frontier.program.step import Functor, Operator, Over, check_field

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.program.problem import Problem
    from frontier.program.schedule import Schedule

__all__ = ["Split"]


class Split(Operator):
    """Keep the elements for which the functor is true; add the others to a pile.

    Parameters
    ----------
    fn : function of the problem and ``v``, or of ``src, dst, edge, weight`` -> bool
        Called exactly once for each element, for example ``distance below the limit``.
    rest : str
        The pile to which the other elements are added. A pile is a set, so adding an element twice has no effect.
    over, schedule
        See :class:`frontier.program.step.Step`.

    Notes
    -----
    Gunrock's priority queue of two levels: the near pile is processed until it is empty, the far pile later
    (Davidson et al., Work-efficient parallel GPU methods for SSSP, IPDPS 2014).

    Examples
    --------
    >>> def mark(p, v):
    ...     p.late[v] = True
    >>> class Later(fr.Enactor):
    ...     loop = fr.Sequence(fr.Split(lambda p, v: v < 2, "far"), fr.Take("far"), fr.Compute(mark))
    >>> p = fr.Problem(fr.path(4), far=fr.pile(), late=fr.vertex("bool"))
    >>> Later(p).run(fr.Frontier.all(p.graph)).late
    array([False, False,  True,  True])
    """

    name = "split"
    exchanges_inside = True
    once_each = True
    divides = True
    both = False

    def __init__(
        self, fn: Functor, rest: str, over: Over = None, schedule: Schedule | None = None
    ) -> None:
        super().__init__(over, schedule)
        self.fn, self.rest = fn, rest
        arguments(fn, "element")

    def fills(self) -> tuple[str, ...]:
        return (self.rest,)

    def functors(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, "element"

    def check(self, p: Problem) -> None:
        super().check(p)
        check_field(p, self.rest, ("pile",), "rest")

    def title(self) -> str:
        """What the step's phase is called."""
        what = "put: add all" if self.both else "split: append elements to keep, and add the others"
        return f"{what} to {display_name(self.rest)}"

    def interpret(self, context: Context, f: Frontier) -> Frontier:
        """Run on the python backend."""
        keep = [bool(value) for value in context.each(self.fn, f)]
        others = [not value for value in keep]
        piles = context.problem.piles
        piles[self.rest] = piles[self.rest] | Frontier._of(f.graph, f.kind, ids=f.ids[others])
        return Frontier._of(f.graph, f.kind, ids=f.ids[keep])

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """Add the phase of this step to a loop function."""
        kernels(builder, "elementwise").lower_split(self, builder, current)
