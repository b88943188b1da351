"""Clustering coefficients: which fraction of the pairs of a vertex's neighbours have an edge between them.

Triangles are found as in :mod:`frontier.primitives.triangles`, and each of them counts at its three corners. In a
directed graph, neighbours are those along edges of either direction, and a pair of neighbours may have two edges, one
of each direction: a triangle then counts at a corner as often as there are edges between the two others. This is the
local clustering coefficient of LDBC Graphalytics (Iosup et al.: LDBC Graphalytics, PVLDB 9(13), 2016), which in
undirected graphs is that of Watts and Strogatz (Collective dynamics of "small-world" networks, Nature 393, 1998).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._oriented import SLOT, at_hand, oriented, simple
from frontier.program.problem import Field
from frontier.registry import primitive

__all__ = ["Clustering", "ClusteringResult", "DirectedClustering", "clustering"]


def close(p, u, v, w):
    """Opposite of each corner of a triangle is one edge, which stands for two ordered pairs of neighbours."""
    fr.atomic_add(p.closed, u, 2)
    fr.atomic_add(p.closed, v, 2)
    fr.atomic_add(p.closed, w, 2)


def close_directed(p, u, v, w, uv, uw, vw):
    """Opposite of each corner of a triangle are one or two directed edges."""
    fr.atomic_add(p.closed, u, p.arcs[vw])
    fr.atomic_add(p.closed, v, p.arcs[uw])
    fr.atomic_add(p.closed, w, p.arcs[uv])


def pairs(p, v):
    """Return the number of ordered pairs of neighbours of v."""
    return p.degree[v] * (p.degree[v] - 1)


def closed(p, v):
    """Return how many of them have an edge from the first to the second."""
    return p.closed[v]


def coefficient(p, v):
    """Divide the two; the result is 0 if there are no pairs."""
    p.coefficient[v] = p.closed[v] / pairs(p, v) if p.degree[v] > 1 else 0.0
    return p.coefficient[v]


_DIVIDE = (
    fr.Reduce(coefficient, "sum", into="sum", over="vertices"),
    fr.Reduce(closed, "sum", into="all_closed", over="vertices"),
    fr.Reduce(pairs, "sum", into="all_pairs", over="vertices"),
)


class Clustering(fr.Enactor):
    """Compute the coefficients of an undirected graph that has been oriented by degree."""

    loop = (fr.Intersect(close, over="edges"), *_DIVIDE)


class DirectedClustering(fr.Enactor):
    """Compute those of a directed graph; the edge field ``arcs`` says how many edges there are between two vertices."""

    loop = (fr.Intersect(close_directed, over="edges"), *_DIVIDE)


@dataclass(frozen=True, eq=False, repr=False)
class ClusteringResult(fr.Result, columns=("coefficient",)):
    """Result of :func:`clustering`.

    Attributes
    ----------
    coefficient : ndarray of float64, shape (n,)
        The fraction of the ordered pairs of v's neighbours with an edge from the first to the second; 0 if v has fewer
        than two neighbours.
    average : float
        Mean of the coefficients; 0 if there is no vertex.
    transitivity : float
        The same fraction for the pairs of all vertices together; 0 if there are none. In an undirected graph it is
        three times the number of triangles, divided by the number of paths of two edges.
    """

    coefficient: NDArray[Any]
    average: float
    transitivity: float


@primitive(
    "clustering", "clustering coefficients, for directed graphs those of LDBC Graphalytics",
    report=lambda g, r: {"average": r.average, "transitivity": r.transitivity},
)  # fmt: skip
def clustering(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> ClusteringResult:
    """Compute the clustering coefficient of every vertex.

    Parameters
    ----------
    g : Graph
        Self-loops do not matter, and parallel edges count as one. In a directed graph, the neighbours of a vertex are
        those along out-edges and in-edges, and all ordered pairs of neighbours count, as in LDBC Graphalytics.
        (NetworkX's ``clustering`` of directed graphs is another measure.)
    schedule : Schedule, optional

    Returns
    -------
    ClusteringResult

    Notes
    -----
    O(m sqrt(m)) work; memory as for :func:`frontier.triangles`.
    """
    plain = _with_arcs(g) if g.directed else simple(g)
    made = oriented(plain, slots=g.directed)
    here = at_hand(plain)
    fields: dict[str, Field] = {
        "degree": fr.vertex("int64", made.there(here.out_degree)),
        "closed": fr.vertex("int64", combine="sum"),
        "coefficient": fr.vertex("float64"),
        "sum": fr.scalar("float64"),
        "all_closed": fr.scalar("int64"),
        "all_pairs": fr.scalar("int64"),
    }
    if g.directed:
        assert here.weights is not None
        fields["arcs"] = fr.edge("int32", here.weights[at_hand(made.graph).edges[SLOT]])
    p = fr.Problem(made.graph, **fields)
    (DirectedClustering if g.directed else Clustering)(p, schedule).run()
    return ClusteringResult(
        made.back(p.coefficient), float(p.sum) / max(g.num_vertices, 1), int(p.all_closed) / max(int(p.all_pairs), 1)
    )


def _with_arcs(g: fr.Graph) -> fr.Graph:
    """Return an undirected graph; the weight of each edge is the number of directions in which g has it."""
    here = at_hand(g)
    first = here.placement.memory.full(g.num_slots, True, np.bool_)
    first[1:] = (here.sources[1:] != here.sources[:-1]) | (here.targets[1:] != here.targets[:-1])
    src, dst = here.sources[first], here.targets[first]
    ones = here.placement.memory.full(len(src), 1, np.int32)
    made = fr.from_edges(src, dst, ones, num_vertices=g.num_vertices, self_loops="drop", duplicates="sum")
    return made.to(g.placement)
