"""Random walks: along edges that are equally likely, by weights, or along times.

A random walk goes from a vertex along one of its edges, again and again: each edge is equally likely (as in DeepWalk:
Perozzi, Al-Rfou, Skiena, 2014), or likely in proportion to its weight. Walks along edges whose times do not decrease
are in :mod:`frontier.primitives._temporal_walks`.
"""

from __future__ import annotations

from typing import Any

import frontier as fr
from frontier.primitives._oriented import on_every_rank
from frontier.primitives._scaled import with_rows_scaled
from frontier.primitives._temporal_walks import TemporalWalks, in_order
from frontier.primitives._walks import ARGUMENTS, WalksResult, add_up, by_weight, check, facts, key_of, run, uniform
from frontier.program.problem import Field
from frontier.registry import Argument, primitive

__all__ = ["TemporalWalks", "Walks", "WalksResult", "WeightedWalks", "random_walks"]


def walking(draw):
    """Return a functor that takes walk i along the edges that ``draw(p, v, key, t)`` gives, until there is none."""

    def walk(p, i):
        here = p.starts[i]
        begin = i * (p.length + 1)
        p.path[begin] = here
        t = 0
        while t < p.length:
            slot = draw(p, here, key_of(p, i), t)
            if slot < 0:
                break
            here = fr.target(p, slot)
            t += 1
            p.path[begin + t] = here
        p.end[i] = here

    return walk


class Walks(fr.Enactor):
    """Walks along edges that are equally likely; one call of the functor takes a whole walk."""

    loop = fr.Compute(walking(uniform), over="walks")


class WeightedWalks(fr.Enactor):
    """Walks along edges that are likely in proportion to their weights."""

    loop = (fr.Compute(add_up, over="vertices"), fr.Compute(walking(by_weight), over="walks"))


@primitive(
    "random_walks", "a random walk from every vertex",
    arguments=(*ARGUMENTS, Argument("--times", "edge column of times that must not decrease", type=str)),
    report=facts,
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
    starts : sequence of vertices (labels, if the graph has labels), Frontier or mask, optional
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

    Examples
    --------
    >>> walks = fr.random_walks(fr.from_edges(["ann"], ["bob"]), ["ann"], length=3)
    >>> walks.path, walks.to_pandas()["vertex"].tolist()
    (array([[0, 1, 0, 1]], dtype=int32), ['ann', 'bob', 'ann', 'bob'])
    """
    check(g, length, seed, weighted)
    g = on_every_rank(with_rows_scaled(g) if weighted else g)
    more: dict[str, Field] = {}
    walks: type[fr.Enactor] = Walks
    if times is not None:
        time, order = in_order(g, times)
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
