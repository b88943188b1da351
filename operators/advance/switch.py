"""The rules for switching an advance between push and pull, which ``Schedule(switch=...)`` selects.

A rule adds the decision of every pass to the loop function, where all workers make it from values that all of them
know. It returns the condition under which the pass pulls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from frontier.lowering.frontier_state import SMALL
from frontier.lowering.inputs import Hubs
from frontier.lowering.ir import Assign, Branch, Call, Counter, Expr, Value, both, equal, expression
from frontier.operators.shared.kernels import kernels
from frontier.operators.shared.phases import elements
from frontier.program.schedule import ResolvedSchedule

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["RULES", "hub_inputs", "hub_list"]


def beamer(step: Advance, b: Builder, source: FrontierState) -> Expr:
    """Beamer's rule, by the real number of the frontier's edges.

    Pull while the frontier has more than 1/alpha of the edges not yet walked; push again when it
    shrinks below 1/beta of the vertices. Three additions, all measured: no pull where a sweep over all
    vertices costs more than the push, no push where it would walk more edges than a pull does, and with
    the usual constants no pull on small graphs.
    """
    pulling, last = b.variable("pulling"), b.variable("last", "last_count")
    unexplored = b.variable("unexplored", "unexplored_edges")
    n, m = b.capacity("vertex"), b.capacity("edge")
    b.at_loop_start(Assign(pulling, expression(0)), Assign(unexplored, m), Assign(last, expression(0)))
    with b.when(b.unscanned(source)):  # without a scan its edges are not known
        b.scanned(source, step.edges)
    alpha, beta = b.schedule.alpha, b.schedule.beta
    count, edges = b.size(source), b.edges_of(source)
    shrinks = both(count < last, count * beta < n, edges < (n >> 3) + unexplored)
    grows = [edges * alpha > unexplored, edges > (n >> 3)]
    if (alpha, beta) == (ResolvedSchedule.alpha, ResolvedSchedule.beta):
        grows.insert(0, m >= SMALL)
    b.add(
        Branch(
            pulling > 0,
            [Branch(shrinks, [Assign(pulling, expression(0))])],
            [Branch(both(*grows), [Assign(pulling, expression(1))])],
        ),
        Assign(last, count),
        Assign(unexplored, unexplored - edges),
        # Vertices may be visited again: a new sweep begins.
        Branch(unexplored <= 0, [Assign(unexplored, m if step.unique != "claimed" else expression(0))]),
    )
    return pulling > 0


def gunrock(step: Advance, b: Builder, source: FrontierState) -> Expr:
    """Gunrock's rule, by numbers of vertices: two estimates, of the edges that a push and a pull would walk.

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


def hubs(step: Advance, b: Builder, source: FrontierState) -> Expr:
    """Enterprise's rule: pull from when more than ``gamma`` of all hubs are in the frontier; never back."""
    pulling = b.variable("pulling")
    b.at_loop_start(Assign(pulling, expression(0)))
    least, every = hub_inputs(step, b)
    enough = b.schedule.gamma * every
    # The hubs are counted only where the frontier has vertices enough.
    with b.when(both(equal(pulling, 0), every > 0, source.count > enough)):
        b.sparse(source)
        parameters = elements(b, source, "vertex") | {"offsets": b.lists(step.edges)[0], "least": least}
        b.phase(
            kernels(b, "elementwise").count_hubs(b, parameters),
            [Branch(Counter("EXAMINED") > enough, [Assign(pulling, expression(1))])],
            "count the hubs",
            work=source.count,
        )
    return pulling > 0


def hub_inputs(step: Advance, b: Builder) -> tuple[Value, Expr]:
    """The degree that hubs exceed, and how many vertices do."""
    asked = b.schedule.hub_degree
    if asked != "auto":
        return int(asked), b.input(f"hubs_{step.edges}_{asked}", Hubs("count", step.edges, int(asked)), "hubs")
    return (
        b.input(f"hub_degree_{step.edges}", Hubs("degree", step.edges), "hub_degree"),
        b.input(f"hubs_{step.edges}", Hubs("count", step.edges), "hubs"),
    )


def hub_list(step: Advance, b: Builder) -> Expr:
    """The hubs' ids."""
    asked = b.schedule.hub_degree
    if asked == "auto":
        return b.array(f"hub_ids_{step.edges}", Hubs("ids", step.edges), b.layout.ids)
    return b.array(f"hub_ids_{step.edges}_{asked}", Hubs("ids", step.edges, int(asked)), b.layout.ids)


#: Name in a schedule -> the rule.
RULES: dict[str, Callable[[Advance, Builder, FrontierState], Expr]] = {
    "beamer": beamer, "gunrock": gunrock, "hubs": hubs,
}  # fmt: skip
