"""Beamer's rule for switching an advance between push and pull.

A rule adds the decision of every pass to the loop function, where all workers make it from values that all of them
know. It returns the condition under which the pass pulls. :func:`frontier.register_switch` adds others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.frontier_state import SMALL
from frontier.lowering.ir import Assign, Branch, Expr, both, expression
from frontier.program.schedule import ResolvedSchedule

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["beamer"]


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
    with b.when(b.frontiers.unscanned(source)):  # without a scan its edges are not known
        b.frontiers.scanned(source, step.edges)
    alpha, beta = b.schedule.alpha, b.schedule.beta
    count, edges = source.count, source.edges
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
