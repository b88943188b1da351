"""Gunrock's rule for switching between push and pull, by numbers of vertices (Wang et al., PPoPP 2016)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Assign, Branch, Call, Expr, both, equal, expression
from frontier.program.registered import register_switch

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["gunrock"]


def gunrock(step: Advance, b: Builder, source: FrontierState) -> Expr:
    """Compare two estimates, of the edges that a push and a pull would walk.

    Pull if the push's is more than ``do_a`` times the pull's, and while it is more than ``do_b`` times that; then push
    for good.
    """
    state, visited = b.variable("turn"), b.variable("visited")  # state: 0 not yet, 1 pull, 2 push for good
    n, m = b.capacity("vertex"), b.capacity("edge")
    b.at_loop_start(Assign(state, expression(0)), Assign(visited, expression(0)))
    push, pull = b.local("push", "float64"), b.local("pull", "float64")
    schedule = b.schedule
    b.add(
        Assign(visited, Call("min", visited + source.count, n)),
        # Both times n times the visited, so that nothing is divided by zero.
        Assign(push, 1.0 * source.count * m * visited),
        Assign(pull, 1.0 * (n - visited) * n * n),
        Branch(
            both(equal(state, 0), push > pull * schedule.do_a),
            [Assign(state, expression(1))],
            [Branch(both(equal(state, 1), push <= pull * schedule.do_b), [Assign(state, expression(2))])],
        ),
    )
    return equal(state, 1)


register_switch("gunrock", gunrock)
