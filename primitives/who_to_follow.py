"""Whom to follow: recommendations from the neighbourhood of a vertex, as Twitter made them.

The *circle of trust* of a user are the accounts of highest personalised PageRank. SALSA on the edges from the circle to
all whom it follows ranks these, and those that the user follows already are left out. (Gupta, Goel, Lin, Sharma, Wang,
Zadeh: WTF, the Who to Follow service at Twitter, 2013; on GPUs: Geil, Wang, Owens: WTF, GPU!, 2014.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import check_number
from frontier.primitives.personalized_pagerank import personalized_pagerank
from frontier.primitives.salsa import salsa
from frontier.program.taking import at_graph
from frontier.registry import Argument, PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.schedule import Schedule

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


@at_graph
def who_to_follow(
    g: Graph,
    source: Any,
    *,
    count: int = 10,
    circle: int = 500,
    damping: float = 0.85,
    schedule: Schedule | None = None,
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


register_primitive(
    PrimitiveEntry(
        "who_to_follow", who_to_follow, "vertices that a vertex should have edges to",
        arguments=(
            Argument("--count", "how many to recommend (default: 10)", type=int),
            Argument("--circle", "size of the circle of trust (default: 500)", type=int),
        ),
        takes_source=True,
        report=lambda g, r: {"recommended": " ".join(map(str, r.recommended)) or "none", "circle": len(r.circle)},
    )
)  # fmt: skip
