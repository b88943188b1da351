"""Personalised PageRank, from seeds, and accounts to follow by it.

A surfer who jumps back to some seeds stays near them, so ranks say how near a vertex is to the seeds, by all paths
(Page, Brin, Motwani, Winograd 1999; Haveliwala: Topic-sensitive PageRank, 2002). It is :func:`frontier.pagerank` with
jumps to the seeds only.

``who_to_follow`` recommends accounts as Twitter did (Gupta, Goel, Lin, Sharma, Wang, Zadeh: WTF, the Who to Follow
service at Twitter, 2013; on GPUs: Geil, Wang, Owens: WTF, GPU!, 2014). The *circle of trust* of a user are the
accounts of highest personalised PageRank. SALSA on the graph of the circle and all whom it follows ranks these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.memory.arrays import namespace_of, to_host
from frontier.primitives._arguments import check_number
from frontier.primitives.pagerank import pagerank
from frontier.primitives.salsa import salsa
from frontier.registry import Argument, primitive

__all__ = ["FollowResult", "PersonalizedResult", "personalized_pagerank", "who_to_follow"]


@dataclass(frozen=True)
class PersonalizedResult:
    """Result of :func:`personalized_pagerank`.

    Attributes
    ----------
    rank : ndarray of float64, shape (n,) or (k, n)
        Sums to 1 for each of the k sets of seeds.
    iterations : int
        The most for any set.
    """

    rank: NDArray[Any]
    iterations: int


@primitive(
    "personalized_pagerank", "PageRank with jumps to a vertex",
    arguments=(
        Argument("--damping", "probability to follow an edge (default: 0.85)"),
        Argument("--tolerance", "L1 change to stop at (default: 1e-9)"),
    ),
    takes_source=True, columns=("rank",), report=lambda g, r: {"iterations": r.iterations},
)  # fmt: skip
def personalized_pagerank(
    g: fr.Graph,
    seeds: Any,
    *,
    damping: float = 0.85,
    tolerance: float = 1e-9,
    weighted: bool = False,
    max_iterations: int = 1000,
    schedule: fr.Schedule | None = None,
) -> PersonalizedResult:
    """PageRank with jumps to seeds only: how near each vertex is to them.

    Parameters
    ----------
    g : Graph
    seeds : vertex, sequence of vertices, or sequence of such sequences
        A vertex (or label); a set of vertices, to which jumps lead with the same probability; or several sets, each of
        which gets a row of ranks.
    damping, tolerance, weighted, max_iterations, schedule
        As of :func:`frontier.pagerank`.

    Returns
    -------
    PersonalizedResult

    Raises
    ------
    GraphError
        If a set has no seeds, a seed is no vertex, or for arguments out of range.
    NotConvergedError
        After ``max_iterations`` for a set, unless ``tolerance`` is 0.

    Notes
    -----
    O(n + m) work and three barriers per iteration and set; sets are computed one after another, with the same program.
    """
    several = _is_many(seeds) and len(seeds) > 0 and _is_many(seeds[0])
    sets = [_vertices(g, each) for each in (seeds if several else [seeds])]
    results = []
    for vertices in sets:
        jumps = np.bincount(vertices, minlength=g.num_vertices)
        results.append(
            pagerank(
                g, damping=damping, tolerance=tolerance, personalization=jumps, weighted=weighted,
                max_iterations=max_iterations, schedule=schedule,
            )
        )  # fmt: skip
    ranks = [each.rank for each in results]
    rank = namespace_of(ranks[0]).stack(ranks) if several else ranks[0]
    return PersonalizedResult(rank, max(each.iterations for each in results))


def _is_many(seeds: Any) -> bool:
    if isinstance(seeds, np.ndarray):
        return seeds.ndim > 0
    return isinstance(seeds, Sequence) and not isinstance(seeds, str | bytes)


def _vertices(g: fr.Graph, seeds: Any) -> NDArray[Any]:
    found = np.array([g.vertex_id(each) for each in (seeds if _is_many(seeds) else [seeds])], np.int64)
    if not len(found):
        raise GraphError("seeds: at least one vertex is needed in each set")
    return found


@dataclass(frozen=True)
class FollowResult:
    """Result of :func:`who_to_follow`.

    Attributes
    ----------
    recommended : ndarray of int64, shape (k,)
        Vertices, the best first.
    score : ndarray of float64, shape (k,)
        Their authorities.
    circle : ndarray of int64
        The circle of trust, the nearest first.
    """

    recommended: NDArray[Any]
    score: NDArray[Any]
    circle: NDArray[Any]


@primitive(
    "who_to_follow", "vertices that a vertex should have edges to",
    arguments=(
        Argument("--count", "how many to recommend (default: 10)", type=int),
        Argument("--circle", "size of the circle of trust (default: 500)", type=int),
    ),
    takes_source=True,
    report=lambda g, r: {"recommended": " ".join(map(str, r.recommended)) or "none", "circle": len(r.circle)},
)  # fmt: skip
def who_to_follow(
    g: fr.Graph,
    source: Any,
    *,
    count: int = 10,
    circle: int = 500,
    damping: float = 0.85,
    schedule: fr.Schedule | None = None,
) -> FollowResult:
    """Vertices that a vertex should have edges to.

    Parameters
    ----------
    g : Graph
        An edge from u to v says that u follows v.
    source : vertex (or label)
        For whom.
    count : int
        How many to recommend, at most.
    circle : int
        Size of the circle of trust, at most: the vertices nearest to the source, itself included.
    damping : float in [0, 1)
        Of the personalised PageRank.
    schedule : Schedule, optional

    Returns
    -------
    FollowResult
        Without the source, and without those that it follows already.

    Raises
    ------
    GraphError
        If the source is no vertex, or for arguments out of range.

    Notes
    -----
    A personalised PageRank of the graph, then SALSA on the edges of the circle.
    """
    whole = "a whole number, at least one"
    for name, value in (("count", count), ("circle", circle)):
        check_number(name, value, lambda x: x >= 1 and x == int(x), whole)
    user = g.vertex_id(source)
    rank = np.asarray(to_host(personalized_pagerank(g, user, damping=damping, schedule=schedule).rank))
    order = np.argsort(-rank, kind="stable")[: int(circle)]
    trusted = order[rank[order] > 0]
    inside = np.zeros(g.num_vertices, bool)
    inside[trusted] = True
    here = g.to("cpu")
    kept = inside[here.sources]
    src, dst = here.sources[kept], here.targets[kept]
    edges = fr.from_edges(src, dst, num_vertices=g.num_vertices, directed=True, duplicates="keep")
    authority = np.asarray(to_host(salsa(edges.to(g.placement), schedule=schedule).authority)).copy()
    authority[user] = 0
    authority[here.targets[here.offsets[user] : here.offsets[user + 1]]] = 0
    best = np.argsort(-authority, kind="stable")[: int(count)]
    best = best[authority[best] > 0]
    return FollowResult(best, authority[best], trusted)
