"""The k-truss: the largest subgraph in which every edge is in at least k - 2 triangles of the subgraph.

The number of triangles at an edge is its support. Edges with too little support are removed; each triangle that this
destroys lowers the support of its other edges, until all edges that are left have enough (Cohen: Trusses: cohesive
subgraphs for social network analysis, 2008; Wang, Cheng: Truss decomposition in massive networks, PVLDB 5, 2012). A
pass removes all edges without enough support at once, as in PKT (Kabir, Madduri: Parallel k-truss decomposition on
multicore systems, HPEC 2017). Before, all vertices are dropped that are not in the (k - 1)-core, which contains the
k-truss.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.memory.arrays import matching
from frontier.primitives._arguments import check_number
from frontier.primitives._oriented import at_hand, simple, slots_in, supports, with_slots
from frontier.primitives.core_numbers import core_numbers
from frontier.registry import Argument, primitive

__all__ = ["KTruss", "KTrussResult", "k_truss"]


def supported(p, edge):
    """The edge is in enough triangles."""
    return p.support[edge] >= p.needed


def remove(p, edge):
    """Remove an edge in this pass, and count it."""
    p.removed[edge] = p.turn
    return 1


def loosen(p, u, v, w, uv, uw, vw):
    """Destroy a triangle of a removed edge: its other edges lose support.

    If several of its edges are removed in this pass, the one with the smallest slot does it.
    """
    a = p.own[uw]
    b = p.own[vw]
    when_a = p.removed[a]
    when_b = p.removed[b]
    if 0 < when_a < p.turn or 0 < when_b < p.turn:
        return  # an earlier pass has destroyed it
    if (when_a and a < uv) or (when_b and b < uv):
        return
    if not when_a:
        fr.atomic_add(p.support, a, -1)
    if not when_b:
        fr.atomic_add(p.support, b, -1)


def settled(p):
    """No edge was removed."""
    return p.count == 0


class KTruss(fr.Enactor):
    """Remove edges without enough support, pass after pass, from a frontier that has one slot of each edge."""

    loop = fr.Loop(
        fr.Split(supported, rest="weak"),
        fr.Reduce(remove, "sum", into="count", over="weak"),
        fr.Loop(fr.Intersect(loosen), take="weak"),
        count="turn",
        until=settled,
    )


@dataclass(frozen=True, eq=False, repr=False)
class KTrussResult(fr.Result, columns=("mask",), rows="slot"):
    """Result of :func:`k_truss`.

    Attributes
    ----------
    k : int
    count : int
        Number of edges of the k-truss; parallel edges count as one.
    mask : ndarray of bool, shape (m,)
        Whether each edge slot of g belongs to the k-truss; both slots of an undirected edge do, or neither.
    degree : ndarray of int64, shape (n,)
        Number of edge slots of vertex v in the k-truss.
    graph : Graph
        The k-truss: g with these edges only. It has all vertices of g.
    """

    k: int
    count: int
    mask: NDArray[Any] = field(repr=False)
    degree: NDArray[Any] = field(repr=False)
    graph: fr.Graph = field(repr=False)

    def subgraph(self) -> fr.Graph:
        """Return the k-truss without the vertices that have no edge in it.

        Raises
        ------
        GraphError
            If the graph is in parts.
        """
        return self.graph.induced(self.degree > 0)


@primitive(
    "k_truss", "the largest subgraph whose edges are all in k - 2 triangles",
    arguments=(Argument("--k", "at least 2 (default: 3)", type=int),),
    report=lambda g, r: {"k": r.k, "edges": r.count, "vertices": int((r.degree > 0).sum())},
)  # fmt: skip
def k_truss(g: fr.Graph, k: int = 3, *, schedule: fr.Schedule | None = None) -> KTrussResult:
    """Find the k-truss: the largest subgraph in which every edge is in at least k - 2 triangles.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, parallel edges and opposite ones count as one, and self-loops do not
        belong to a truss. (NetworkX takes undirected graphs only.)
    k : int
        At least 2. The 2-truss consists of all edges, the 3-truss of those of the edges of triangles.
    schedule : Schedule, optional

    Returns
    -------
    KTrussResult
        To continue with its edges as a frontier: ``fr.Frontier(g, result.mask, kind="edge")``.

    Raises
    ------
    GraphError
        If k is not an integer of at least 2, and of 64 bits.

    Notes
    -----
    O(m sqrt(m)) work to count triangles, and for each removed edge the intersection of two lists.

    Examples
    --------
    >>> fr.k_truss(fr.from_edges([0, 1, 2, 2], [1, 2, 0, 3]), 3).graph
    <Graph: undirected, 4 vertices, 3 edges (6 slots); cpu>
    """
    check_number("k", k, lambda value: 2 <= value < 2**63 and value == int(value), "an integer, from 2 to 2**63 - 1")
    plain = simple(g)
    here = at_hand(plain)
    core = core_numbers(here, schedule=schedule).core >= k - 1
    mask = core[here.sources] & core[here.targets]
    xp = here.placement.memory.xp
    kept = xp.flatnonzero(mask)
    part = with_slots(plain, kept)
    slots, own, support = supports(part, schedule)
    p = fr.Problem(
        part,
        support=fr.edge("int32", support, combine="sum"),
        own=fr.edge(own.dtype, own),
        removed=fr.edge("int32"),
        weak=fr.pile("edge"),
        needed=fr.scalar("int64", int(k) - 2),
        count=fr.scalar("int64"),
        turn=fr.scalar("int64"),
    )
    KTruss(p, schedule).run(fr.Frontier(part, slots, kind="edge"))
    mask[kept] = matching(p.removed, own)[own] == 0
    count = int(mask.sum()) // 2
    if plain is not g:
        mask = xp.concatenate([mask, xp.zeros(1, np.bool_)])[slots_in(plain, g)]  # False is for self-loops
    truss = with_slots(g, xp.flatnonzero(mask))
    return KTrussResult(int(k), count, mask, at_hand(truss).out_degree.astype(np.int64), truss)
