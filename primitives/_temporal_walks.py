"""Temporal walks, for :func:`frontier.random_walks`: along edges whose times do not decrease.

(Nguyen et al.: Continuous-time dynamic network embeddings, 2018.) The edges of each vertex are put in the order of
their times once, so that those which may follow are the end of a list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph import build_arrays as _build_arrays
from frontier.graph.build_input import no_column
from frontier.primitives._walks import key_of, reaching

__all__ = ["TemporalWalks", "in_order"]


def since(p, first, beyond, time):
    """Return the first slot from ``first`` on, in the order of times, whose time is not before ``time``."""
    while first < beyond:
        middle = (first + beyond) >> 1
        if p.time[p.order[middle]] >= time:
            beyond = middle
        else:
            first = middle + 1
    return first


def temporal_walk(p, i):
    """Take walk i along edges whose times do not decrease."""
    here = p.starts[i]
    begin = i * (p.length + 1)
    p.path[begin] = here
    before = -1  # the slot by which it came
    t = 0
    while t < p.length:
        first = fr.neighbours(p, here).start
        beyond = first + fr.degree(p, here)
        may = since(p, first, beyond, p.time[before]) if before >= 0 else first
        passed = p.upto[may - 1] if may > first else 0.0
        left = p.upto[beyond - 1] - passed if may < beyond else 0.0
        if left <= 0:
            break
        before = p.order[reaching(p, may, beyond - 1, passed + fr.random(key_of(p, i), t) * left)]
        here = fr.target(p, before)
        t += 1
        p.path[begin + t] = here
    p.end[i] = here


def add_up_in_order(p, v):
    """Add up the weights of v's edges in the order of their times."""
    sum = 0.0
    for slot in fr.neighbours(p, v):
        sum += p.share[p.order[slot]]
        p.upto[slot] = sum


class TemporalWalks(fr.Enactor):
    """Walks along edges whose times do not decrease, likely in proportion to their shares."""

    loop = (fr.Compute(add_up_in_order, over="vertices"), fr.Compute(temporal_walk, over="walks"))


def in_order(g: fr.Graph, times: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The time of each edge slot, and the slots of each vertex by time."""
    if times not in g.edges:
        raise GraphError(no_column(times, "edge", g.edges))
    time = g.edges[times]
    if time.dtype.kind not in "iuf" or (time.dtype.kind == "f" and (time != time).any()):
        raise GraphError(f"the edge column {times!r} holds times, which are numbers")
    if time.dtype == np.uint64 and len(time) and int(time.max()) >= 2**63:
        raise GraphError(f"the edge column {times!r} holds times that are too large for int64")
    if time.dtype.kind == "u" or time.dtype.itemsize < 4:
        time = time.astype(np.int64)
    xp = g.placement.memory.xp
    order = _build_arrays.argsort(xp, time)
    return time, order[_build_arrays.argsort(xp, g.sources[order])]
