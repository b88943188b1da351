"""Enterprise's rule for switching between push and pull, by the hubs in the frontier (Liu and Huang, SC 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cpu.runtime_words import EXAMINED as EXAMINED_ON_CPU
from frontier.backends.cuda.compile.runtime_words import EXAMINED
from frontier.lowering.ir import Assign, Branch, Counter, Expr, both, equal, expression
from frontier.operators.advance.hub_inputs import hub_inputs
from frontier.operators.shared.phases import elements
from frontier.program.registered import register_switch

if TYPE_CHECKING:
    from frontier.backends.cpu.intrinsics import fetch_add
    from frontier.backends.cuda.device.appends import element_at
    from frontier.backends.cuda.device.reductions import add_up
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["hubs"]


def counting() -> Callable[..., Any]:
    """Counts the frontier's hubs: its vertices with more than ``least`` edges."""

    def phase(p, C, slot, w, W, everything, queue, total, offsets, least):
        found = np.int64(0)
        i = w
        while i < total:
            x = element_at(queue, everything, i)
            if np.int64(offsets[x + 1]) - np.int64(offsets[x]) > least:
                found += 1
            i += W
        add_up(C, slot, EXAMINED, found)

    return phase


def counting_on_cpu() -> Callable[..., Any]:
    """The same with the names of the CPU's runtime."""

    def phase(p, C, slot, w, W, everything, queue, total, offsets, least):
        found = np.int64(0)
        i = w
        while i < total:
            x = i if everything else np.int64(queue[i])
            if np.int64(offsets[x + 1]) - np.int64(offsets[x]) > least:
                found += 1
            i += W
        fetch_add(C, slot + EXAMINED_ON_CPU, found)

    return phase


def hubs(step: Advance, b: Builder, source: FrontierState) -> Expr:
    """Pull from when more than ``gamma`` of all hubs are in the frontier; never push again."""
    pulling = b.variable("pulling")
    b.at_loop_start(Assign(pulling, expression(0)))
    least, every = hub_inputs(step, b)
    enough = b.schedule.gamma * every
    # The hubs are counted only where the frontier has vertices enough.
    with b.when(both(equal(pulling, 0), every > 0, source.count > enough)):
        b.frontiers.sparse(source)
        given = elements(b, source, "vertex") | {"offsets": b.lists(step.edges)[0], "least": least}
        b.phase(
            b.kernel("count_hubs", {"cpu": counting_on_cpu, "cuda": counting}[b.backend], given),
            [Branch(Counter("EXAMINED") > enough, [Assign(pulling, expression(1))])],
            "count the hubs",
            work=source.count,
        )
    return pulling > 0


register_switch("hubs", hubs)
