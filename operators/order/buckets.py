"""Orders implemented by buckets, as in Julienne (Dhulipala, Blelloch, Shun, SPAA 2017) and GraphIt.

Bucket i holds the elements whose keys are at least ``base + i * width`` and below the beginning of the next bucket.
Each of a few buckets is a pile. Elements beyond the last bucket are in one more pile, and are distributed to the
buckets when these are empty; the base is then set to the least key. The first bucket that is not empty is processed
until it is, then the next. So a pending element is examined once for several buckets, and not every time a limit is
raised.

The bucket of a key follows only from ``base`` and ``width``, which do not change until all buckets are empty. (A
running sum of widths would round, and an element could fall between two buckets.) An element whose key has become less
is in two buckets; when it is taken from the second, its key shows that it belongs to an earlier one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from frontier.operators.buckets import Buckets
from frontier.operators.elementwise.compute import Compute
from frontier.operators.elementwise.filter import Filter
from frontier.operators.elementwise.reduce import Reduce
from frontier.operators.elementwise.split import Split
from frontier.operators.fields.swap import Swap
from frontier.operators.order.exact import exact_pass
from frontier.operators.order.functors import (
    aside,
    bucket_of,
    first,
    least,
    lower,
    new_of,
    next_bucket,
    one,
    place_of,
    place_width_of,
    put,
    rank_of,
    waiting,
    waits,
    width_of,
    work,
    zero,
)
from frontier.operators.order.limits import tuning_of
from frontier.operators.order.names import BUCKETS
from frontier.program.loop import Loop, Sequence

if TYPE_CHECKING:
    from frontier.operators.order.names import Names
    from frontier.program.order import Order
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["buckets", "exact_buckets"]

#: Buckets, without what is beyond the last.
COUNT = len(BUCKETS) - 1


def buckets(loop: Loop, names: Names, p: Problem) -> Step:
    """Elements of one bucket, as long as there are any; then those of the next."""
    piles = [names[name] for name in BUCKETS]
    place, later = names.fn(place_of(names.key, COUNT)), names.fn(bucket_of(names.key, COUNT))
    new = names.fn(new_of(names.key))
    width = place_width_of(1.0 if names.whole else 0.0, names.rounding(p))
    work_on = Loop(
        Filter(new),
        Loop(
            Reduce(names.fn(one), "sum", into=names["batch"]),
            names.set(work=work),
            *names.steps(loop),
            Buckets(later, piles[1:]),
            count=names["rounds"],
            until=loop.until,
            schedule=loop.schedule,
        ),
        take=piles[0],
        until=loop.until,
    )
    outer = Loop(
        Filter(new),
        Reduce(names.key, "min", into=names["least"]),
        Reduce(names.fn(one), "sum", into=names["waiting"]),
        names.set(delta=width_of(tuning_of(p.graph)), waited=waiting, rounds=zero, work=zero),
        names.set(base=least, width=width, bucket=0),
        Buckets(place, piles),
        _one_after_another(loop, names, work_on),
        take=piles[-1],
        until=loop.until,
    )
    begin = names.set(base=-np.inf, width=1.0, bucket=0, delta=first, rounds=0, work=0, waited=0)
    wait = Split(names.fn(aside), rest=piles[-1], over=loop.over)
    return Sequence(*names.emptied(loop), *names.begin(loop), begin, wait, outer)


def exact_buckets(loop: Loop, order: Order, names: Names) -> Step:
    """Passes of exactly the least key, which is an integer: a bucket for each."""
    piles = [names[name] for name in BUCKETS]
    rank = names.fn(rank_of(names.key, COUNT))
    work_on = Loop(
        Filter(names.fn(waits)),
        Reduce(names.key, "min", into=names["least"]),
        Buckets(rank, piles),
        Loop(
            *exact_pass(loop, order, names),
            Reduce(names.key, "min", into=names["lower"]),
            names.set(least=lower),
            Buckets(rank, piles),
            until=loop.until,
            schedule=loop.schedule,
        ),
        take=piles[0],
        until=loop.until,
    )
    outer = Loop(
        Filter(names.fn(waits)),
        Reduce(names.key, "min", into=names["least"]),
        names.set(base=least, width=1.0, bucket=0),
        Buckets(names.fn(place_of(names.key, COUNT)), piles),
        _one_after_another(loop, names, work_on),
        take=piles[-1],
        until=loop.until,
    )
    begin = (
        *names.emptied(loop),
        Compute(names.fn(put), over=loop.over),
        Split(names.fn(aside), rest=piles[-1], over=loop.over),
    )
    return Sequence(*begin, outer)


def _one_after_another(loop: Loop, names: Names, work_on: Step) -> Step:
    """Work on each bucket; then all move up, and the empty one is the last."""
    moves = (Swap(names[here], names[after]) for here, after in pairwise(BUCKETS[:COUNT]))
    return Loop(work_on, names.set(bucket=next_bucket), *moves, times=COUNT, until=loop.until)
