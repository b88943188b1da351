"""A maximal matching: edges without common endpoints, to which no edge can be added.

Every edge has a rank, and in each round every vertex points to the neighbour at its edge of lowest rank among those to
vertices without a partner. Two vertices that point to each other are matched. These edges are *locally dominant*
(Preis: Linear time 1/2-approximation algorithm for maximum weighted matching in general graphs, STACS 1999; Manne,
Bisseling: A parallel approximation algorithm for the weighted maximum matching problem, PPAM 2007), so the matching is
that of a greedy algorithm that visits edges by rank. Ranks are random, by which O(log n) rounds are expected (Israeli,
Itai, 1986; Blelloch, Fineman, Shun: Greedy sequential maximal independent set and matching are parallel on average,
SPAA 2012). With ``weighted``, heavier edges come first, and ranks decide between edges of equal weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives._arguments import check_seed, check_signed
from frontier.primitives._oriented import simple
from frontier.registry import Argument, primitive

__all__ = ["HeaviestMatching", "Matching", "MatchingResult", "maximal_matching"]


def single(p, src):
    """The neighbour has no partner."""
    return p.partner[src] == -1


def rank(p, src, dst):
    """A random number of the edge, the same from both ends; last of all for a self-loop."""
    if src == dst:
        return 2**62
    low = min(src, dst)
    return fr.hash(fr.hash(fr.hash(p.seed) + low) + src + dst - low) % 2**62


def weight_of(p, src, dst, weight):
    """The weight of an edge to another vertex."""
    return weight if src != dst else p.least


def rank_if_heaviest(p, src, dst, weight):
    """The rank of an edge of greatest weight; others come last."""
    return rank(p, src, dst) if weight == p.heaviest[dst] else 2**62


def match(p, v):
    """Match v with the vertex that it points to, if that points back; keep v while it has candidates and no partner."""
    u = p.choice[v]
    if u == -1 or u == v:
        return False
    if p.choice[u] != v:
        return True
    p.partner[v] = u
    return False


class Matching(fr.Enactor):
    """The frontier contains the vertices that may still find a partner."""

    loop = fr.Loop(fr.Gather(rank, "argmin", into="choice", where=single), fr.Filter(match), over="vertices")


class HeaviestMatching(fr.Enactor):
    """The same with heavier edges first."""

    loop = fr.Loop(
        fr.Gather(weight_of, "max", into="heaviest", where=single),
        fr.Gather(rank_if_heaviest, "argmin", into="choice", where=single),
        fr.Filter(match),
        over="vertices",
    )


@dataclass(frozen=True)
class MatchingResult:
    """Result of :func:`maximal_matching`.

    Attributes
    ----------
    partner : ndarray, shape (n,)
        The vertex that v is matched with, in the dtype of vertex ids; -1 if there is none.
    count : int
        Number of edges of the matching.
    """

    partner: NDArray[Any]
    count: int


@primitive(
    "maximal_matching", "a maximal matching",
    arguments=(Argument("--weighted", "whether heavier edges come first (default: no)", type=bool),),
    columns=("partner",), report=lambda g, r: {"edges of the matching": r.count},
)  # fmt: skip
def maximal_matching(
    g: fr.Graph, *, weighted: bool = False, seed: int = 0, schedule: fr.Schedule | None = None
) -> MatchingResult:
    """Find a maximal matching: edges without common endpoints, to which no edge can be added.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, and self-loops are ignored. A directed graph is first copied without
        directions.
    weighted : bool
        Whether heavier edges come first. If no weight is negative, the matching then has at least half of the greatest
        weight possible. The graph must be undirected.
    seed : int
        Another seed gives another matching, unless all weights are different.
    schedule : Schedule, optional

    Returns
    -------
    MatchingResult
        It depends on the graph and the arguments only. It has at least half as many edges as the largest matching.

    Raises
    ------
    GraphError
        With ``weighted``, if the graph is directed, has no weights, or weights of uint64 that int64 does not hold.

    Notes
    -----
    O((n + m) log n) expected work, in O(log n) rounds. With ``weighted`` the number of rounds depends on the weights:
    it is n / 2 on a path along which they rise.
    """
    check_seed(seed)
    fields = {
        "partner": fr.vertex(g.id_dtype, -1),
        "choice": fr.vertex(g.id_dtype, -1),
        "seed": fr.scalar("int64", seed),
    }
    if weighted:
        if g.directed or g.weights is None:
            raise GraphError("a matching of heavy edges needs an undirected graph with weights")
        check_signed(g, "a matching of heavy edges")
        whole = g.weights.dtype.kind in "iu"
        dtype = np.dtype(np.int64 if whole else np.float64)
        fields["heaviest"] = fr.vertex(dtype)
        fields["least"] = fr.scalar(dtype, np.iinfo(np.int64).min if whole else -np.inf)
    p = fr.Problem(simple(g) if g.directed else g, **fields)
    if g.num_vertices:
        (HeaviestMatching if weighted else Matching)(p, schedule).run()
    return MatchingResult(p.partner, int(g.placement.memory.xp.count_nonzero(p.partner >= 0)) // 2)
