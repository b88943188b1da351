"""Who to follow: vertices that a vertex should have edges to.

Twitter recommended accounts in this way (Gupta, Goel, Lin, Sharma, Wang, Zadeh: WTF, the Who to Follow service at
Twitter, 2013; on GPUs: Geil, Wang, Owens: WTF, GPU!, 2014). The *circle of trust* of a user are the accounts of highest
personalised PageRank. SALSA on the graph of the circle and all whom it follows ranks these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import check_number
from frontier.registry import Argument, primitive

__all__ = ["FollowResult", "who_to_follow"]


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
    rank = np.asarray(to_host(fr.personalized_pagerank(g, user, damping=damping, schedule=schedule).rank))
    order = np.argsort(-rank, kind="stable")[: int(circle)]
    trusted = order[rank[order] > 0]
    inside = np.zeros(g.num_vertices, bool)
    inside[trusted] = True
    here = g.to("cpu")
    kept = inside[here.sources]
    src, dst = here.sources[kept], here.targets[kept]
    edges = fr.from_edges(src, dst, num_vertices=g.num_vertices, directed=True, duplicates="keep")
    authority = np.asarray(to_host(fr.salsa(edges.to(g.placement), schedule=schedule).authority)).copy()
    authority[user] = 0
    authority[here.targets[here.offsets[user] : here.offsets[user + 1]]] = 0
    best = np.argsort(-authority, kind="stable")[: int(count)]
    best = best[authority[best] > 0]
    return FollowResult(best, authority[best], trusted)
