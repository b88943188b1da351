"""Random walks: along edges that are equally likely, by weights, or along times.

A random walk goes from a vertex along one of its edges, again and again: each edge is equally likely (as in DeepWalk:
Perozzi, Al-Rfou, Skiena, 2014), or likely in proportion to its weight. A temporal walk takes edges whose times do not
decrease (Nguyen et al.: Continuous-time dynamic network embeddings, 2018); the edges of each vertex are put in the
order of their times once, so that those which may follow are the end of a list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph import build_arrays as _build_arrays
from frontier.primitives._walks import (
    ARGUMENTS,
    WalksResult,
    add_up,
    by_weight,
    check,
    facts,
    key_of,
    reaching,
    run,
    uniform,
)
from frontier.program.problem import Field
from frontier.registry import Argument, primitive

__all__ = ["TemporalWalks", "Walks", "WalksResult", "WeightedWalks", "random_walks"]


def walk(p, i):
    """Take walk i along edges that are equally likely."""
    here = p.starts[i]
    begin = i * (p.length + 1)
    p.path[begin] = here
    t = 0
    while t < p.length:
        slot = uniform(p, here, key_of(p, i), t)
        if slot < 0:
            break
        here = fr.target(p, slot)
        t += 1
        p.path[begin + t] = here
    p.end[i] = here


def weighted_walk(p, i):
    """Take walk i along edges that are likely in proportion to their weights."""
    here = p.starts[i]
    begin = i * (p.length + 1)
    p.path[begin] = here
    t = 0
    while t < p.length:
        slot = by_weight(p, here, key_of(p, i), t)
        if slot < 0:
            break
        here = fr.target(p, slot)
        t += 1
        p.path[begin + t] = here
    p.end[i] = here


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


class Walks(fr.Enactor):
    """Walks along edges that are equally likely; one call of the functor takes a whole walk."""

    loop = fr.Compute(walk, over="walks")


class WeightedWalks(fr.Enactor):
    """Walks along edges that are likely in proportion to their weights."""

    loop = (fr.Compute(add_up, over="vertices"), fr.Compute(weighted_walk, over="walks"))


class TemporalWalks(fr.Enactor):
    """Walks along edges whose times do not decrease, likely in proportion to their shares."""

    loop = (fr.Compute(add_up_in_order, over="vertices"), fr.Compute(temporal_walk, over="walks"))


@primitive(
    "random_walks", "a random walk from every vertex",
    arguments=(*ARGUMENTS, Argument("--times", "edge column of times that must not decrease", type=str)),
    columns=("end",), report=facts,
)  # fmt: skip
def random_walks(
    g: fr.Graph,
    starts: Any = None,
    length: int = 80,
    *,
    weighted: bool = False,
    times: str | None = None,
    seed: int = 0,
    schedule: fr.Schedule | None = None,
) -> WalksResult:
    """Random walks from given vertices, all at the same time.

    Parameters
    ----------
    g : Graph
        Walks follow the direction of its edges.
    starts : array_like of int or label, shape (k,), optional
        Where each walk starts; a vertex may occur several times. By default, one walk starts at every vertex.
    length : int
        Number of steps.
    weighted : bool
        Whether an edge is taken in proportion to its weight; else all edges of a vertex are equally likely.
    times : str, optional
        Name of an edge column of numbers. Walks then take only edges whose time is not before that of the edge by which
        they came.
    seed : int
        Walks depend only on the graph, the arguments and the seed: they are the same on every backend.
    schedule : Schedule, optional

    Returns
    -------
    WalksResult
        A walk ends early at a vertex without an edge that it may take.

    Raises
    ------
    GraphError
        If a start does not exist, ``weighted`` without weights or with infinite ones, or there is no column ``times``.
    NegativeWeightError
        If ``weighted``, and a weight is negative.

    Notes
    -----
    O(k length) work; with weights O(m + k length log d), where d is the largest degree; with times the edges are sorted
    first.
    """
    check(g, length, seed, weighted)
    more: dict[str, Field] = {}
    walks: type[fr.Enactor] = Walks
    if times is not None:
        time, order = _in_order(g, times)
        walks = TemporalWalks
        more = {
            "time": fr.edge(time.dtype, time),
            "order": fr.edge(g.offsets.dtype, order),
            "share": fr.edge("float64", 1.0 if not weighted or g.weights is None else g.weights),
            "upto": fr.edge("float64"),
        }
    elif weighted:
        walks = WeightedWalks
        more = {"upto": fr.edge("float64")}
    return run(g, walks, starts, length, seed, schedule, more)


def _in_order(g: fr.Graph, times: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The time of each edge slot, and the slots of each vertex by time."""
    if times not in g.edges:
        raise GraphError(f"there is no edge column {times!r}: there is {', '.join(map(repr, g.edges)) or 'none'}")
    time = g.edges[times]
    if time.dtype.kind not in "iuf" or (time.dtype.kind == "f" and (time != time).any()):
        raise GraphError(f"the edge column {times!r} holds times, which are numbers")
    if time.dtype.kind == "u" or time.dtype.itemsize < 4:
        time = time.astype(np.int64)
    xp = g.placement.memory.xp
    order = _build_arrays._argsort(xp, time)
    return time, order[_build_arrays._argsort(xp, g.sources[order])]
