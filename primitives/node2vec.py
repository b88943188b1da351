"""The walks of node2vec: random walks of which a step depends on the vertex before, too.

Going back to that vertex has weight 1/p, going to a neighbour of it 1, going farther away 1/q (Grover, Leskovec:
node2vec, scalable feature learning for networks, 2016). Steps are drawn by rejection: an edge is drawn as in a
first-order walk, and kept with a probability in proportion to that weight (Yang et al.: KnightKing, a fast distributed
graph random walk engine, SOSP 2019). What exceeds the other weights, if 1/p does, is drawn apart, so that a small p
does not make others be rejected more often.
"""

from __future__ import annotations

from typing import Any

import frontier as fr
from frontier.primitives._arguments import check_number
from frontier.primitives._oriented import on_every_rank
from frontier.primitives._scaled import with_rows_scaled
from frontier.primitives._walks import ARGUMENTS, WalksResult, add_up, by_weight, check, facts, key_of, run, uniform
from frontier.registry import Argument, primitive

__all__ = ["Node2Vec", "WeightedNode2Vec", "node2vec_walks"]


def edge_to(p, v, u):
    """Return the first edge of v, in a sorted list, whose target is at least u; the slot after the list if none is."""
    first = fr.neighbours(p, v).start
    beyond = first + fr.degree(p, v)
    while first < beyond:
        middle = (first + beyond) >> 1
        if fr.target(p, middle) >= u:
            beyond = middle
        else:
            first = middle + 1
    return first


def is_edge(p, v, u):
    """Whether there is an edge from v to u."""
    slot = edge_to(p, v, u)
    return slot < fr.neighbours(p, v).start + fr.degree(p, v) and fr.target(p, slot) == u


def bias(p, before, after):
    """Return the weight of a step to ``after`` from a neighbour of ``before``, without what is drawn apart."""
    if after == before:
        return min(p.back, p.most)
    return 1.0 if is_edge(p, before, after) else p.away


def edges_before(p, v, slot):
    """Return the number of v's edges before a slot."""
    return slot - fr.neighbours(p, v).start


def weight_before(p, v, slot):
    """Return the sum of the weights of v's edges before a slot."""
    return p.upto[slot - 1] if slot > fr.neighbours(p, v).start else 0.0


def walking(draw, upto, skipped):
    """Return a functor that takes walk i: ``draw`` gives an edge, and ``upto`` how much the edges before one weigh.

    Numbers are drawn one after another, of which each step but the first skips some.
    """

    def walk(p, i):
        here = p.starts[i]
        begin = i * (p.length + 1)
        p.path[begin] = here
        before = -1
        tries = 0
        t = 0
        while t < p.length:
            total = upto(p, here, fr.neighbours(p, here).start + fr.degree(p, here))
            if total <= 0:
                break
            if before < 0:
                slot = draw(p, here, key_of(p, i), tries)
                tries += 1
            else:
                slot = edge_to(p, here, before)
                tries += skipped
                back = upto(p, here, edge_to(p, here, before + 1)) - upto(p, here, slot)
                apart = back * max(p.back - p.most, 0.0)
                while back < total:  # else there is no other way
                    number = fr.random(key_of(p, i), tries) * (total * p.most + apart)
                    if number >= total * p.most:
                        slot = edge_to(p, here, before)
                        tries += 1
                        break
                    slot = draw(p, here, key_of(p, i), tries + 1)
                    tries += 3
                    if fr.random(key_of(p, i), tries - 1) * p.most < bias(p, before, fr.target(p, slot)):
                        break
            before = here
            here = fr.target(p, slot)
            t += 1
            p.path[begin + t] = here
        p.end[i] = here

    return walk


class Node2Vec(fr.Enactor):
    """Walks of node2vec along edges of equal weight."""

    loop = fr.Compute(walking(uniform, edges_before, 0), over="walks")


class WeightedNode2Vec(fr.Enactor):
    """Walks of node2vec along edges with weights."""

    loop = (fr.Compute(add_up, over="vertices"), fr.Compute(walking(by_weight, weight_before, 1), over="walks"))


@primitive(
    "node2vec_walks", "a walk of node2vec from every vertex",
    arguments=(
        *ARGUMENTS,
        Argument("--p", "weight of going back is 1/p (default: 1)"),
        Argument("--q", "weight of going away is 1/q (default: 1)"),
    ),
    report=facts,
)  # fmt: skip
def node2vec_walks(
    g: fr.Graph,
    starts: Any = None,
    length: int = 80,
    *,
    p: float = 1.0,
    q: float = 1.0,
    weighted: bool = False,
    seed: int = 0,
    schedule: fr.Schedule | None = None,
) -> WalksResult:
    """Second-order random walks of node2vec.

    Parameters
    ----------
    g : Graph
        Walks follow the direction of its edges.
    starts, length, weighted, seed, schedule
        As in :func:`random_walks`.
    p : float
        The larger it is, the less often a walk goes straight back: such a step has weight 1/p.
    q : float
        The larger it is, the closer a walk stays to where it came from: a step to a vertex to which there is no edge
        from the vertex before has weight 1/q. Steps to the other vertices have weight 1. With ``weighted``, these are
        factors of the weights of edges.

    Returns
    -------
    WalksResult

    Raises
    ------
    GraphError
        As :func:`random_walks`, and unless p and q are between 1e-6 and 1e6.
    NegativeWeightError
        If ``weighted``, and a weight is negative.

    Notes
    -----
    A step draws max(1, 1/q) / min(1, 1/p, 1/q) edges at most, on average, and looks each up in a sorted list: O(log d)
    work.

    Examples
    --------
    >>> fr.node2vec_walks(fr.star(3), [1], length=2, p=0.1, q=2.0, seed=1).path.shape
    (1, 3)
    """
    check(g, length, seed, weighted)
    g = on_every_rank(with_rows_scaled(g) if weighted else g)
    for name, value in (("p", p), ("q", q)):
        check_number(name, value, lambda x: 1e-6 <= x <= 1e6, "a number from 1e-6 to 1e6")
    more = {
        "back": fr.scalar("float64", 1 / p),
        "away": fr.scalar("float64", 1 / q),
        "most": fr.scalar("float64", max(1.0, 1 / q)),
        **({"upto": fr.edge("float64")} if weighted else {}),
    }
    return run(g, WeightedNode2Vec if weighted else Node2Vec, starts, length, seed, schedule, more)
