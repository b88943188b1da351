"""Unique: remove duplicates from the frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.operators.shared.kernels import kernels
from frontier.program.frontiers import Frontier
from frontier.program.step import Operator

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState

__all__ = ["Unique"]


class Unique(Operator):
    """Remove the duplicates that a ``unique="cull"`` advance may have left.

    Only the cuda backend leaves any; on other backends this step does nothing.

    Examples
    --------
    >>> def add(p, v):
    ...     fr.atomic_add(p.calls, v, 1)
    >>> class Centre(fr.Enactor):
    ...     loop = fr.Sequence(fr.Advance(lambda p, dst: True, unique="cull"), fr.Unique(), fr.Compute(add))
    >>> p = fr.Problem(fr.star(4), calls=fr.vertex("int64"))
    >>> Centre(p).run(fr.Frontier(p.graph, [1, 2, 3])).calls
    array([1, 0, 0, 0])
    """

    name = "unique"
    passes_through = True

    def interpret(self, context: Context, f: Frontier) -> Frontier:
        """Run on the python backend."""
        return f

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """Let the backend do it, whose queues may be sets already."""
        kernels(builder, "advance").unique(builder, current)
