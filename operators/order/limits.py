"""Orders implemented by a limit: elements with keys below it are processed, the others stay pending.

``near_far`` is delta-stepping in the form of Davidson, Baxter, Garland and Owens (Work-efficient parallel GPU methods
for single-source shortest paths, IPDPS 2014): elements with keys below a limit are processed until there are none, the
others are in a pile; then the limit is raised. It starts at the least pending key, so ranges without elements are
skipped. Its width adapts to the number of elements in the last passes, on a GPU also to the number of pending elements
(after ADDS; Wang, Fussell, Lin, PPoPP 2021).

``sliding`` is for graphs without long lists on a GPU, where a round should be a single pass: elements with larger keys
stay in the frontier itself, and the limit follows the wave of the search. In a model of synchronous passes on road
networks and grids it takes a fifth more passes than a search without limits (Bellman-Ford), and visits a vertex one to
five times instead of up to 400.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frontier.operators.advance import Advance
from frontier.operators.advance.holding import Holding
from frontier.operators.elementwise.filter import Filter
from frontier.operators.elementwise.reduce import Reduce
from frontier.operators.elementwise.split import Split
from frontier.operators.order.functors import (
    Tuning,
    all_wait,
    aside,
    first,
    follow,
    fresh_of,
    held_of,
    limit_of,
    near_of,
    one,
    waiting,
    width_of,
    work,
    zero,
)
from frontier.program.loop import Loop, Sequence

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.operators.order.names import Names
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["may_slide", "near_far", "sliding", "tuning_of"]

#: More elements than there are.
NEVER = 2**62

#: On processors, and on a GPU, where the first limit is narrow.
CORES, GPU = Tuning(128, 32768, NEVER, 4), Tuning(8192, NEVER, 8192, 16)


def tuning_of(g: Graph) -> Tuning:
    """When the width of a limit changes."""
    return GPU if g.placement.massively_parallel else CORES


def near_far(loop: Loop, names: Names, p: Problem) -> Step:
    """Elements below the limit, as long as there are any; the others wait in a pile."""
    near, fresh = names.fn(near_of(names.key)), names.fn(fresh_of(names.key))
    limit = limit_of(1.0 if names.whole else 0.0, names.rounding(p))
    inner = Loop(
        Reduce(names.fn(one), "sum", into=names["batch"]),
        names.set(work=work),
        *names.steps(loop),
        Split(near, rest=names["far"]),
        count=names["rounds"],
        until=loop.until,
        schedule=loop.schedule,
    )
    outer = Loop(
        Filter(fresh),
        Reduce(names.key, "min", into=names["least"]),
        Reduce(names.fn(one), "sum", into=names["waiting"]),
        names.set(delta=width_of(tuning_of(p.graph)), waited=waiting, rounds=zero, work=zero),
        names.set(limit=limit),
        Split(near, rest=names["far"]),
        inner,
        take=names["far"],
        until=loop.until,
    )
    begin = names.set(limit=-np.inf, delta=first, rounds=0, work=0, waited=0)
    wait = Split(names.fn(aside), rest=names["far"], over=loop.over)
    return Sequence(*names.emptied(loop), *names.begin(loop), begin, wait, outer)


def may_slide(loop: Loop) -> bool:
    """Whether a pass is a single Advance, so that elements that are not near may stay in its frontier."""
    if len(loop.steps) != 1 or loop.until is not None or not isinstance(loop.steps[0], Advance):
        return False
    step = loop.steps[0]
    whole = step.part is None and step.stop is None and step.over is None
    return step.output == "vertex" and step.unique != "claimed" and whole


def sliding(loop: Loop, names: Names, p: Problem) -> Step:
    """The limit follows the wave; elements beyond it stay in the frontier."""
    (step,) = loop.steps
    assert isinstance(step, Advance)
    held = Holding.of(step, names.fn(held_of(names.key)), names["waiting"])
    return Sequence(
        *names.begin(loop),
        names.set(delta=first),
        Loop(
            Reduce(names.key, "min", into=names["least"]),
            names.set(limit=limit_of(1.0 if names.whole else 0.0, names.rounding(p))),
            Loop(
                Reduce(names.fn(one), "sum", into=names["batch"]),
                *names.steps(loop)[:-1],
                held,
                names.set(limit=follow),
                until=names.fn(all_wait),
                schedule=loop.schedule,
            ),
            over=loop.over,
        ),
    )
