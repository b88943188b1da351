"""A maximal independent set: no two of its vertices are neighbours, and no vertex can be added.

Every vertex has a rank, and the set is the one that a greedy algorithm finds that visits vertices by rank: v joins
unless a neighbour of lower rank has joined. In parallel, all vertices wait for their neighbours of lower rank only
(Luby: A simple parallel algorithm for the maximal independent set problem, 1986; Blelloch, Fineman, Shun: Greedy
sequential maximal independent set and matching are parallel on average, SPAA 2012). As in ECL-MIS (Burtscher, Devale,
Azimi, Jaiganesh, Powers: A high-quality and fast maximal independent set implementation for GPUs, 2018), ranks are
numbers of eight bits, vertices of low degree come first, which makes the set larger, a decision takes the place of the
rank, a vertex that joins turns its neighbours out, and decisions may be seen by others in the same pass. What is seen
and when does not change the set. In a pass a vertex looks at a few neighbours only, from where it stopped before, so
that none waits for one with a long list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.subgraphs import vertex_mask
from frontier.primitives._arguments import check_seed, named
from frontier.primitives._oriented import at_hand, simple
from frontier.primitives._ranked import before, draw
from frontier.registry import primitive

__all__ = ["IndependentSet", "IndependentSetApart", "IndependentSetResult", "maximal_independent_set"]

#: Ranks of vertices that are decided: before and after all others.
IN, OUT = -1, 127

#: Neighbours that a vertex looks at in a pass, and at once.
MOST, AT_ONCE = 128, (3, 2, 1, 0)


def rank(p, v):
    """Rank vertices by the number of bits of their degree, and at random among these; some are decided already."""
    if p.given[v] != 0:
        p.rank[v] = p.given[v]
        return
    size = 0
    while fr.degree(p, v) >> size and size < 14:
        size += 1
    p.rank[v] = 8 * size + draw(p, v) % 8


def unclear(p, v):
    """Return the place among v's neighbours of one before it that is not out, or up to which it has looked."""
    slots = fr.neighbours(p, v)
    place = slots.start + p.seen[v]
    end = min(place + MOST, slots.stop)
    found = end
    while found == end and place < end:
        for ahead in AT_ONCE:
            e = min(place + ahead, end - 1)
            if before(p, fr.target(p, e), v):
                found = e
        place += len(AT_ONCE)
    return found - slots.start


def decide(p, v):
    """Let v join if all neighbours before it are out, and turn the others out; true while v cannot know it."""
    if p.rank[v] == OUT:
        return False
    place = unclear(p, v)
    if place < fr.degree(p, v):
        p.seen[v] = place
        return True
    p.rank[v] = IN
    for e in fr.neighbours(p, v):
        if fr.target(p, e) != v and p.rank[fr.target(p, e)] != OUT:
            p.rank[fr.target(p, e)] = OUT
    return False


def decide_apart(p, v):
    """The same on a graph in parts, in which v finds out itself that a neighbour has joined."""
    if p.given[v] != 0:
        return False  # decided from the beginning
    for e in fr.neighbours(p, v):
        u = fr.target(p, e)
        if before(p, u, v):
            if p.rank[u] != IN:
                return True
            p.rank[v] = OUT
            return False
    p.rank[v] = IN
    return False


def chosen(p, v):
    """1 for a vertex of the set."""
    return 1 if p.rank[v] == IN else 0


def _program(decide):
    return (
        fr.Compute(rank, over="vertices"),
        fr.Loop(fr.Filter(decide), over="vertices", count="rounds"),
        fr.Reduce(chosen, "sum", into="count", over="vertices"),
    )


class IndependentSet(fr.Enactor):
    """The frontier contains the vertices that are undecided."""

    loop = _program(decide)


class IndependentSetApart(fr.Enactor):
    """The same on a graph in parts."""

    loop = _program(decide_apart)


@dataclass(frozen=True, eq=False, repr=False)
class IndependentSetResult(fr.Result, columns=("mask",)):
    """Result of :func:`maximal_independent_set`.

    Attributes
    ----------
    mask : ndarray of bool, shape (n,)
        Whether v is in the set.
    count : int
        Number of vertices in the set.
    """

    mask: NDArray[Any]
    count: int

    @property
    def members(self) -> list[Any]:
        """The vertices of the set, by their names."""
        return self.vertices_where("mask")


@primitive(
    "maximal_independent_set", "a maximal independent set",
    report=lambda g, r: {"vertices of the set": r.count},
)  # fmt: skip
def maximal_independent_set(
    g: fr.Graph, nodes: Any = None, *, seed: int = 0, schedule: fr.Schedule | None = None
) -> IndependentSetResult:
    """Find a maximal independent set: no two of its vertices are neighbours, and none can be added.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, and self-loops are ignored. A directed graph is first copied without
        directions.
    nodes : vertices, optional
        Vertices that the set must have: a frontier, a mask, ids, or labels if the graph has some.
    seed : int
        Another seed gives another set.
    schedule : Schedule, optional

    Returns
    -------
    IndependentSetResult
        To continue with it as a frontier: ``fr.Frontier(g, result.mask)``. It depends on the graph, the given vertices
        and the seed only.

    Raises
    ------
    GraphError
        If two of the given vertices are neighbours, or one does not exist.

    Notes
    -----
    A set of maximum size is hard to find; this one is maximal. O(n + m) work at most, and less in practice, as a vertex
    looks at its neighbours once, up to the first that it waits for or that is in the set. O(log² n + d) passes with
    high probability, where d is the highest degree divided by 128.

    Examples
    --------
    >>> fr.maximal_independent_set(fr.star(5), [1]).members
    [1, 2, 3, 4]
    """
    check_seed(seed)
    plain = simple(g) if g.directed else g
    apart = plain.placement.divides
    p = fr.Problem(
        plain,
        **({} if apart else {"seen": fr.vertex(plain.offsets.dtype)}),
        rank=fr.vertex("int8"),
        given=fr.vertex("int8", 0 if nodes is None else _given(plain, vertex_mask(g, nodes))),
        seed=fr.scalar("int64", seed),
        rounds=fr.scalar("int64"),
        count=fr.scalar("int64"),
    )
    if g.num_vertices:
        (IndependentSetApart if apart else IndependentSet)(p, schedule).run()
    return IndependentSetResult(p.rank == IN, int(p.count))


def _given(g: fr.Graph, mask: Any) -> Any:
    """Return IN for given members, OUT for their neighbours, and 0 for all others."""
    here = at_hand(g)
    mask = here.placement.memory.moved(mask)
    beside = here.targets[mask[here.sources] & (here.sources != here.targets)]
    inside = mask[beside]
    if bool(inside.any()):
        vertex = named(g, int(beside[inside][0]))
        raise GraphError(f"the given vertices are no independent set: {vertex!r} is a neighbour of another one")
    made = here.placement.memory.full(g.num_vertices, 0, np.int8)
    made[beside] = OUT
    made[mask] = IN
    return made
