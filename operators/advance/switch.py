"""Beamer's rule for switching an advance between push and pull.

A rule adds the decision of every pass to the loop function, where all workers make it from values that all of them
know. It returns the condition under which the pass pulls. :func:`frontier.register_switch` adds others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.frontier_state import SMALL
from frontier.lowering.ir import Assign, Branch, Expr, both, either, expression
from frontier.program.schedule import ResolvedSchedule

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["beamer"]

#: A pull was in vain if it has walked so many times as many edges as a push would have.
VAIN = 2


def beamer(step: Advance, b: Builder, source: FrontierState) -> Expr:
    """Beamer's rule, by the real number of the frontier's edges.

    Pull while the frontier has more than 1/alpha of the edges not yet walked; push again when it
    shrinks below 1/beta of the vertices. Additions, all measured: no pull where a sweep over all
    vertices costs more than the push, no push where it would walk more edges than a pull does, and with
    the usual constants no pull on small graphs, and after one that was in vain only where a push would
    walk half of the edges: a pull walks all edges of vertices that it does not reach, on a web most.
    """
    pulling, last = b.variable("pulling"), b.variable("last", "last_count")
    usual = (b.schedule.alpha, b.schedule.beta) == (ResolvedSchedule.alpha, ResolvedSchedule.beta)
    unexplored = b.variable("unexplored", "unexplored_edges")
    n, m = b.capacity("vertex"), b.capacity("edge")
    b.at_loop_start(Assign(pulling, expression(0)), Assign(unexplored, m), Assign(last, expression(0)))
    learns = usual and step.unique == "claimed"  # else vertices that were reached may be visited again
    if learns:
        pushed, vain = b.variable("pushed", "last_edges"), b.variable("vain", "pulled_in_vain")
        b.at_loop_start(Assign(vain, expression(0)), Assign(pushed, expression(0)))
    with b.when(b.frontiers.unscanned(source)):  # without a scan its edges are not known
        b.frontiers.scanned(source, step.edges)
    alpha, beta = b.schedule.alpha, b.schedule.beta
    count, edges = source.count, source.edges
    shrinks = both(count < last, count * beta < n, edges < (n >> 3) + unexplored)
    grows = [edges * alpha > unexplored, edges > (n >> 3)]
    if usual:
        grows.insert(0, m >= SMALL)
    if learns:
        grows.append(either(vain <= 0, edges * 2 > unexplored))
        left = unexplored - edges  # which the pass before has walked, if it pulled
        b.add(
            Branch(
                both(pulling > 0, left > pushed * VAIN), [Assign(vain, expression(1)), Assign(pulling, expression(0))]
            ),
            Assign(pushed, edges),
        )
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
