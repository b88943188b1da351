"""Jaccard and overlap coefficients of the endpoints of every edge: how similar their neighbourhoods are.

The common neighbours of the endpoints of an edge are the triangles at that edge. They are counted on the graph oriented
by degree, where each triangle is found once and counts at its three edges; the coefficients then follow from the
degrees. (Jaccard: The distribution of the flora in the alpine zone, New Phytologist 11, 1912; Szymkiewicz, 1934, and
Simpson, 1943, for the overlap coefficient.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.memory.arrays import matching
from frontier.primitives._oriented import at_hand, on_every_rank, simple, slots_in, supports
from frontier.registry import primitive

__all__ = ["Jaccard", "JaccardResult", "jaccard"]


def similarity(p, src, dst, edge):
    """Compute both coefficients of an edge, whose common neighbours were counted at one of its two slots."""
    common = p.support[p.own[edge]]
    a = fr.degree(p, src)
    b = fr.degree(p, dst)
    p.common[edge] = common
    p.jaccard[edge] = common / (a + b - common)
    p.overlap[edge] = common / min(a, b)


class Jaccard(fr.Enactor):
    """Compute the coefficients of all edges of a simple graph from the number of triangles at each."""

    loop = fr.Compute(similarity, over="edges")


@dataclass(frozen=True, eq=False, repr=False)
class JaccardResult(fr.Result, columns=("jaccard", "overlap", "common"), rows="slot"):
    """Result of :func:`jaccard`; entry e of an array belongs to edge slot e.

    Attributes
    ----------
    jaccard : ndarray of float64, shape (m,)
        The number of common neighbours of both endpoints, divided by the number of vertices that are a neighbour of
        either. An endpoint is a neighbour of the other, so the coefficient of an edge is less than 1.
    overlap : ndarray of float64, shape (m,)
        The number of common neighbours, divided by the number of neighbours of the endpoint that has fewer.
    common : ndarray of int64, shape (m,)
        The number of common neighbours.
    """

    jaccard: NDArray[Any]
    overlap: NDArray[Any]
    common: NDArray[Any]


def _facts(g: fr.Graph, result: JaccardResult) -> dict[str, Any]:
    if not g.num_slots:
        return {"edges": 0}
    return {"mean jaccard": float(result.jaccard.mean()), "mean overlap": float(result.overlap.mean())}


@primitive("jaccard", "Jaccard and overlap coefficients of the endpoints of every edge", report=_facts)
def jaccard(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> JaccardResult:
    """Compute how similar the neighbourhoods of the endpoints of every edge are.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter: neighbours are those along edges of either direction, each once.
        Parallel edges count as one, and self-loops not at all. A self-loop itself, both of whose endpoints are one
        vertex, has the coefficients 1, and the neighbours of that vertex in common.
    schedule : Schedule, optional

    Returns
    -------
    JaccardResult

    Notes
    -----
    O(m sqrt(m)) work. On ranks, each needs all edges.

    Examples
    --------
    >>> fr.jaccard(fr.complete(4)).jaccard[:3]
    array([0.5, 0.5, 0.5])
    """
    g = on_every_rank(g)
    plain = simple(g)
    _, own, support = supports(plain, schedule)
    here = at_hand(plain)
    xp = here.placement.memory.xp
    p = fr.Problem(
        plain,
        support=fr.edge("int32", support),
        own=fr.edge(own.dtype, own),
        common=fr.edge("int64"),
        jaccard=fr.edge("float64"),
        overlap=fr.edge("float64"),
    )
    Jaccard(p, schedule).run()
    found = [matching(values, own) for values in (p.jaccard, p.overlap, p.common)]
    if plain is not g:
        places = slots_in(plain, g)
        found = [xp.concatenate([values, xp.ones(1, values.dtype)])[places] for values in found]
        loops = xp.flatnonzero(places == plain.num_slots)
        found[2][loops] = here.out_degree[at_hand(g).targets[loops]]
    return JaccardResult(*found)
