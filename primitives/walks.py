"""Random walks, and the walks of node2vec.

A random walk goes from a vertex along one of its edges, again and again: each edge is equally likely (as in DeepWalk:
Perozzi, Al-Rfou, Skiena, 2014), or likely in proportion to its weight. For weights, prefix sums over the edges of each
vertex are made once, and each step is a binary search in them. A temporal walk takes edges whose times do not decrease
(Nguyen et al.: Continuous-time dynamic network embeddings, 2018); the edges of each vertex are put in the order of
their times once, so that those which may follow are the end of a list.

In a walk of node2vec (Grover, Leskovec: node2vec, scalable feature learning for networks, 2016) a step also depends on
the vertex before: going back has weight 1/p, going to a neighbour of that vertex 1, going farther away 1/q. Steps are
drawn by rejection: an edge is drawn as in a first-order walk, and kept with a probability in proportion to that weight
(Yang et al.: KnightKing, a fast distributed graph random walk engine, SOSP 2019). What exceeds the other weights, if
1/p does, is drawn apart, so that a small p does not make others be rejected more often.

Walk i draws its t-th number from ``fr.hash`` of the seed, i and t, so walks are the same on every backend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError
from frontier.graph import build_arrays as _build_arrays
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import check_number, check_seed, check_weights
from frontier.program.taking import at_graph
from frontier.registry import Argument, PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.problem import Field
    from frontier.program.schedule import Schedule

__all__ = [
    "Node2Vec", "TemporalWalks", "Walks", "WalksResult", "WeightedNode2Vec", "WeightedWalks", "node2vec_walks",
    "random_walks",
]  # fmt: skip


def key_of(p, i):
    """Return the number from which walk i draws."""
    return fr.hash(fr.hash(p.seed) + i)


def uniform(p, v, key, t):
    """Draw an edge of v, all equally likely; -1 if there is none."""
    degree = fr.degree(p, v)
    return fr.neighbours(p, v).start + fr.hash(key + t) % degree if degree > 0 else -1


def reaching(p, first, last, sum):
    """Return the first slot of those from ``first`` to ``last`` whose prefix sum exceeds ``sum``, or is the total."""
    total = p.upto[last]
    while first < last:
        middle = (first + last) >> 1
        if p.upto[middle] > sum or p.upto[middle] >= total:
            last = middle
        else:
            first = middle + 1
    return first


def by_weight(p, v, key, t):
    """Draw an edge of v in proportion to the weights; -1 if there is none of positive weight."""
    first = fr.neighbours(p, v).start
    last = first + fr.degree(p, v) - 1
    if last < first or p.upto[last] <= 0:
        return -1
    return reaching(p, first, last, fr.random(key, t) * p.upto[last])


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


def add_up(p, v):
    """Add up the weights of v's edges."""
    sum = 0.0
    for slot in fr.neighbours(p, v):
        sum += fr.weight(p, slot)
        p.upto[slot] = sum


def add_up_in_order(p, v):
    """Add up the weights of v's edges in the order of their times."""
    sum = 0.0
    for slot in fr.neighbours(p, v):
        sum += p.share[p.order[slot]]
        p.upto[slot] = sum


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


def node2vec_walk(p, i):
    """Take walk i of node2vec along edges of equal weight."""
    here = p.starts[i]
    begin = i * (p.length + 1)
    p.path[begin] = here
    before = -1
    tries = 0
    t = 0
    while t < p.length:
        degree = fr.degree(p, here)
        if degree == 0:
            break
        after = here
        if before < 0:
            after = fr.target(p, uniform(p, here, key_of(p, i), tries))
            tries += 1
        else:
            back = edge_to(p, here, before + 1) - edge_to(p, here, before)
            apart = back * max(p.back - p.most, 0.0)
            after = before
            while back < degree:  # else there is no other way
                number = fr.random(key_of(p, i), tries) * (degree * p.most + apart)
                if number >= degree * p.most:
                    after = before
                    tries += 1
                    break
                after = fr.target(p, uniform(p, here, key_of(p, i), tries + 1))
                tries += 3
                if fr.random(key_of(p, i), tries - 1) * p.most < bias(p, before, after):
                    break
        before = here
        here = after
        t += 1
        p.path[begin + t] = here
    p.end[i] = here


def upto_before(p, v, slot):
    """Return the sum of the weights of v's edges before a slot."""
    return p.upto[slot - 1] if slot > fr.neighbours(p, v).start else 0.0


def weighted_node2vec_walk(p, i):
    """Take walk i of node2vec along edges with weights."""
    here = p.starts[i]
    begin = i * (p.length + 1)
    p.path[begin] = here
    before = -1
    tries = 0
    t = 0
    while t < p.length:
        slot = by_weight(p, here, key_of(p, i), tries)
        tries += 1
        if slot < 0:
            break
        if before >= 0:
            total = upto_before(p, here, fr.neighbours(p, here).start + fr.degree(p, here))
            back = upto_before(p, here, edge_to(p, here, before + 1)) - upto_before(p, here, edge_to(p, here, before))
            apart = back * max(p.back - p.most, 0.0)
            while back < total:  # else there is no other way
                number = fr.random(key_of(p, i), tries) * (total * p.most + apart)
                if number >= total * p.most:
                    slot = edge_to(p, here, before)
                    tries += 1
                    break
                slot = by_weight(p, here, key_of(p, i), tries + 1)
                tries += 3
                if fr.random(key_of(p, i), tries - 1) * p.most < bias(p, before, fr.target(p, slot)):
                    break
        before = here
        here = fr.target(p, slot)
        t += 1
        p.path[begin + t] = here
    p.end[i] = here


class Walks(fr.Enactor):
    """Walks along edges that are equally likely; one call of the functor takes a whole walk."""

    loop = fr.Compute(walk, over="walks")


class WeightedWalks(fr.Enactor):
    """Walks along edges that are likely in proportion to their weights."""

    loop = (fr.Compute(add_up, over="vertices"), fr.Compute(weighted_walk, over="walks"))


class TemporalWalks(fr.Enactor):
    """Walks along edges whose times do not decrease, likely in proportion to their shares."""

    loop = (fr.Compute(add_up_in_order, over="vertices"), fr.Compute(temporal_walk, over="walks"))


class Node2Vec(fr.Enactor):
    """Walks of node2vec along edges of equal weight."""

    loop = fr.Compute(node2vec_walk, over="walks")


class WeightedNode2Vec(fr.Enactor):
    """Walks of node2vec along edges with weights."""

    loop = (fr.Compute(add_up, over="vertices"), fr.Compute(weighted_node2vec_walk, over="walks"))


@dataclass(frozen=True)
class WalksResult:
    """Result of :func:`random_walks` and :func:`node2vec_walks`.

    Attributes
    ----------
    path : ndarray, shape (k, length + 1)
        The vertices of each walk, from its start on; -1 after its end, if it has come to one early.
    end : ndarray, shape (k,)
        The last vertex of each walk.
    """

    path: NDArray[Any]
    end: NDArray[Any]


@at_graph
def random_walks(
    g: Graph,
    starts: Any = None,
    length: int = 80,
    *,
    weighted: bool = False,
    times: str | None = None,
    seed: int = 0,
    schedule: Schedule | None = None,
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
    _check(g, length, seed, weighted)
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
    return _run(g, walks, starts, length, seed, schedule, more)


@at_graph
def node2vec_walks(
    g: Graph,
    starts: Any = None,
    length: int = 80,
    *,
    p: float = 1.0,
    q: float = 1.0,
    weighted: bool = False,
    seed: int = 0,
    schedule: Schedule | None = None,
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
    """
    _check(g, length, seed, weighted)
    for name, value in (("p", p), ("q", q)):
        check_number(name, value, lambda x: 1e-6 <= x <= 1e6, "a number from 1e-6 to 1e6")
    more = {
        "back": fr.scalar("float64", 1 / p),
        "away": fr.scalar("float64", 1 / q),
        "most": fr.scalar("float64", max(1.0, 1 / q)),
        **({"upto": fr.edge("float64")} if weighted else {}),
    }
    return _run(g, WeightedNode2Vec if weighted else Node2Vec, starts, length, seed, schedule, more)


def _run(
    g: Graph, walks: type[fr.Enactor], starts: Any, length: int, seed: int, schedule: Schedule | None,
    more: dict[str, Field],
) -> WalksResult:  # fmt: skip
    ids = _starts(g, starts)
    xp, dtype, length = g.placement.memory.xp, g.id_dtype, int(length)
    problem = fr.Problem(
        g,
        starts=fr.array(ids.astype(dtype)),
        path=fr.array(xp.full(len(ids) * (length + 1), -1, dtype)),
        end=fr.array(xp.full(len(ids), -1, dtype)),
        walks=fr.scalar("int64", len(ids)),
        length=fr.scalar("int64", length),
        seed=fr.scalar("int64", seed),
        **more,
    )
    if len(ids):
        walks(problem, schedule).run()
    return WalksResult(problem.path.reshape(len(ids), length + 1), problem.end)


def _check(g: Graph, length: int, seed: int, weighted: bool) -> None:
    check_number("length", length, lambda x: 0 <= x < 2**31 and x == int(x), "a whole number from 0")
    check_seed(seed)
    if not weighted:
        return
    if g.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    check_weights(g, "walks", plural=True)


def _starts(g: Graph, starts: Any) -> NDArray[Any]:
    """The ids at which walks start."""
    n = g.num_vertices
    if starts is None:
        return np.arange(n)
    given = np.atleast_1d(to_host(starts))
    if given.ndim != 1:
        raise GraphError(f"starts of shape {given.shape}: give one vertex for each walk")
    if g.labels is not None or given.dtype.kind not in "iu":
        return np.array([g.vertex_id(vertex) for vertex in given.tolist()], np.int64)
    wrong = (given < 0) | (given >= n)
    if wrong.any():
        g.vertex_id(given[wrong][0].item())  # which says what is wrong
    return given


def _in_order(g: Graph, times: str) -> tuple[NDArray[Any], NDArray[Any]]:
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


def _facts(g: Graph, result: WalksResult) -> dict[str, Any]:
    steps = int((result.path >= 0).sum()) - len(result.path)
    return {"walks": len(result.path), "steps": steps, "slots": steps}


_ARGUMENTS = (
    Argument("--length", "number of steps (default: 80)", type=int),
    Argument("--weighted", "take edges in proportion to their weights (default: no)", type=bool),
)

register_primitive(
    PrimitiveEntry(
        "random_walks", random_walks, "a random walk from every vertex",
        arguments=(*_ARGUMENTS, Argument("--times", "edge column of times that must not decrease", type=str)),
        columns=("end",), report=_facts,
    )
)  # fmt: skip

register_primitive(
    PrimitiveEntry(
        "node2vec_walks", node2vec_walks, "a walk of node2vec from every vertex",
        arguments=(
            *_ARGUMENTS,
            Argument("--p", "weight of going back is 1/p (default: 1)"),
            Argument("--q", "weight of going away is 1/q (default: 1)"),
        ),
        columns=("end",), report=_facts,
    )
)  # fmt: skip
