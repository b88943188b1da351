"""Scores of pairs of vertices that may become neighbours, by the neighbours that they have in common.

Each pair is a merge of two sorted lists, which finds common neighbours and adds up what each of them gives. (Liben-
Nowell, Kleinberg: The link-prediction problem for social networks, JASIST 58, 2007; Adamic, Adar: Friends and neighbors
on the web, Social Networks 25, 2003; Zhou, Lü, Zhang: Predicting missing links via local information, European Physical
Journal B 71, 2009.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.several import vertex_ids
from frontier.memory.arrays import to_host
from frontier.primitives._oriented import at_hand, repeated, undivided
from frontier.program.taking import at_graph

__all__ = ["LinkPrediction", "LinkPredictionResult", "link_prediction"]


def score(p, i):
    """Merge the lists of a pair; the two themselves are no common neighbours, as they might be by self-loops."""
    u = p.first[i]
    v = p.second[i]
    a = fr.neighbours(p, u).start
    b = fr.neighbours(p, v).start
    end_a = a + fr.degree(p, u)
    end_b = b + fr.degree(p, v)
    union = end_a - a + end_b - b
    common = 0
    adamic_adar = 0.0
    allocation = 0.0
    while a < end_a and b < end_b:
        x = fr.target(p, a)
        y = fr.target(p, b)
        if x == y:
            union -= 1
            if x != u and x != v:
                degree = p.degree[x]
                common += 1
                allocation += 1.0 / degree
                adamic_adar += 1.0 / math.log(degree) if degree > 1 else math.inf
        a += 1 if x <= y else 0
        b += 1 if y <= x else 0
    p.common[i] = common
    p.jaccard[i] = common / union if union > 0 else 0.0
    p.adamic_adar[i] = adamic_adar
    p.allocation[i] = allocation


class LinkPrediction(fr.Enactor):
    """Score all pairs."""

    loop = fr.Compute(score, over="pairs")


@dataclass(frozen=True, eq=False, repr=False)
class LinkPredictionResult(fr.Result, rows="other"):
    """Result of :func:`link_prediction`; entry i of an array belongs to the i-th pair.

    Attributes
    ----------
    source, target : ndarray of int64, shape (k,)
        Vertex ids of the pairs.
    common : ndarray of int64, shape (k,)
        The number of common neighbours.
    jaccard : ndarray of float64, shape (k,)
        That, divided by the number of vertices that are a neighbour of either; 0 if there is none.
    adamic_adar : ndarray of float64, shape (k,)
        The sum of 1 / log(degree) over common neighbours.
    resource_allocation : ndarray of float64, shape (k,)
        The sum of 1 / degree over common neighbours.
    preferential_attachment : ndarray of int64, shape (k,)
        The product of both degrees.
    """

    source: NDArray[Any]
    target: NDArray[Any]
    common: NDArray[Any]
    jaccard: NDArray[Any]
    adamic_adar: NDArray[Any]
    resource_allocation: NDArray[Any]
    preferential_attachment: NDArray[Any]

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each pair: ``source``, ``target`` and all scores."""
        return {name: (self.host_array(name)[rows], name in ("source", "target")) for name in self.__dataclass_fields__}


@at_graph
def link_prediction(g: fr.Graph, pairs: Iterable[Any], *, schedule: fr.Schedule | None = None) -> LinkPredictionResult:
    """Score pairs of vertices by their common neighbours and degrees, as NetworkX's functions of these names do.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter; parallel edges count as one. A self-loop adds 2 to a degree.
    pairs : iterable of pairs of vertices (labels, if the graph has labels), or integer array of shape (k, 2)
    schedule : Schedule, optional

    Returns
    -------
    LinkPredictionResult
        All five scores of each pair.

    Raises
    ------
    GraphError
        If a vertex does not exist, or these are no pairs.

    Notes
    -----
    O(d) work for a pair whose vertices have d neighbours. Results are the same in every run. A graph in parts is made
    whole, on processors, for this.

    Examples
    --------
    >>> found = fr.link_prediction(fr.karate(), [(0, 33), (9, 10)])
    >>> found.common.tolist(), found.preferential_attachment.tolist()
    ([4, 0], [272, 6])
    """
    first, second = _ends(g, pairs)
    g = _as_undirected(undivided(g))
    here = at_hand(g)
    xp, moved = here.placement.memory.xp, g.placement.memory.moved
    loops = here.sources[here.sources == here.targets]
    degree = here.out_degree.astype(np.int64)
    if len(loops):
        degree = degree + xp.bincount(loops, minlength=g.num_vertices)
    zeros = np.zeros(len(first))
    p = fr.Problem(
        g,
        first=fr.array(moved(first)),
        second=fr.array(moved(second)),
        degree=fr.vertex("int64", degree),
        common=fr.array(moved(zeros.astype(np.int64))),
        jaccard=fr.array(moved(zeros)),
        adamic_adar=fr.array(moved(zeros)),
        allocation=fr.array(moved(zeros)),
        pairs=fr.scalar("int64", len(first)),
    )
    if len(first):
        LinkPrediction(p, schedule).run()
    attachment = to_host(degree)[first] * to_host(degree)[second]
    return LinkPredictionResult(
        moved(first), moved(second), p.common, p.jaccard, p.adamic_adar, p.allocation, moved(attachment)
    )


def _ends(g: fr.Graph, pairs: Any) -> list[NDArray[np.int64]]:
    """The ids of the vertices of all pairs."""
    if hasattr(pairs, "shape"):
        array = np.asarray(to_host(pairs))
        if array.ndim != 2 or array.shape[1] != 2:
            raise GraphError(f"pairs of shape {array.shape}: an array of pairs has shape (k, 2)")
        return [vertex_ids(g, array[:, side], "pairs") for side in (0, 1)]
    try:
        ends = [(u, v) for u, v in pairs]
    except (TypeError, ValueError):
        raise GraphError("pairs holds pairs of vertices, as [(0, 1), (2, 3)]") from None
    return [vertex_ids(g, [pair[side] for pair in ends], "pairs") for side in (0, 1)]


def _as_undirected(g: fr.Graph) -> fr.Graph:
    """The graph without directions and parallel edges; g itself if it has none."""
    here = at_hand(g)
    if not g.directed and not bool(repeated(here).any()):
        return g
    made = fr.from_edges(here.sources, here.targets, num_vertices=g.num_vertices, duplicates="first")
    return made.to(g.placement)
