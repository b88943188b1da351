"""Orders implemented by a limit: elements with keys below it are processed, the others stay pending.

``near_far`` is delta-stepping in the form of Davidson, Baxter, Garland and Owens (Work-efficient parallel GPU methods
for single-source shortest paths, IPDPS 2014): elements with keys below a limit are processed until there are none, the
others are in a pile; then the limit is raised. It starts at the least pending key, so ranges without elements are
skipped. Its width adapts to the number of elements in the last passes, on a GPU also to the number of pending elements
(after ADDS; Wang, Fussell, Lin, PPoPP 2021). ``parting`` is the same where :mod:`frontier.operators.order.passes` says
that a pass may be a single step, which puts far vertices aside while it walks along edges.

``sliding`` is for graphs without long lists on a GPU, where a round should be a single pass: elements with larger keys
stay in the frontier itself, and the limit follows the wave of the search. In a model of synchronous passes on road
networks and grids it takes a fifth more passes than a search without limits (Bellman-Ford), and visits a vertex one to
five times instead of up to 400.
"""

from __future__ import annotations

from collections.abc import Callable
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
from frontier.operators.order.passes import parted
from frontier.program.loop import Loop, Sequence

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.operators.order.names import Names
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["near_far", "parting", "sliding", "tuning_of"]

#: More elements than there are.
NEVER = 2**62

#: On processors, and on a GPU, where the first limit is narrow.
CORES, GPU = Tuning(128, 32768, NEVER, 4), Tuning(8192, NEVER, 8192, 16)


def tuning_of(g: Graph) -> Tuning:
    """When the width of a limit changes."""
    return GPU if g.placement.massively_parallel else CORES


def near_far(loop: Loop, names: Names, p: Problem) -> Step:
    """Elements below the limit, as long as there are any; the others wait in a pile."""
    return _by_limits(loop, names, p, lambda steps, split: (*steps, split))


def parting(loop: Loop, names: Names, p: Problem) -> Step:
    """The same with passes of a single step."""
    return _by_limits(loop, names, p, lambda steps, split: parted(loop, steps, split))


def _by_limits(loop: Loop, names: Names, p: Problem, sorted_out: Callable[..., tuple[Step, ...]]) -> Step:
    """The loops of both; ``sorted_out`` makes a pass of its steps and a Split."""
    near, fresh = names.fn(near_of(names.key)), names.fn(fresh_of(names.key))
    limit = limit_of(1.0 if names.whole else 0.0, names.rounding(p))
    split = Split(near, rest=names["far"])
    inner = Loop(
        Reduce(names.fn(one), "sum", into=names["batch"]),
        names.set(work=work),
        *sorted_out(names.steps(loop), split),
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
        split,
        inner,
        take=names["far"],
        until=loop.until,
    )
    begin = names.set(limit=-np.inf, delta=first, rounds=0, work=0, waited=0)
    wait = Split(names.fn(aside), rest=names["far"], over=loop.over)
    return Sequence(*names.emptied(loop), *names.begin(loop), begin, wait, outer)


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
