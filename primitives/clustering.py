"""Clustering coefficients: which fraction of the pairs of a vertex's neighbours have an edge between them.

Triangles are found as in :mod:`frontier.primitives.triangles`, and each of them counts at its three corners. In a
directed graph, neighbours are those along edges of either direction, and a pair of neighbours may have two edges, one
of each direction: a triangle then counts at a corner as often as there are edges between the two others. This is the
local clustering coefficient of LDBC Graphalytics (Iosup et al.: LDBC Graphalytics, PVLDB 9(13), 2016), which in
undirected graphs is that of Watts and Strogatz (Collective dynamics of "small-world" networks, Nature 393, 1998).

The other measure of directed graphs counts directed triangles of all kinds, of those that a vertex's edges might make
(Fagiolo: Clustering in complex directed networks, Physical Review E 76, 2007). With weights, each triangle counts with
the geometric mean of its three, of which the greatest of the graph is 1 (Onnela, Saramäki, Kertész, Kaski: Intensity
and coherence of motifs in weighted complex networks, Physical Review E 71, 2005). Both are sums, over triangles, of the
product of what the three edges are worth: the cube root of a weight, added up for both directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.build_arrays import counts
from frontier.memory.arrays import namespace_of
from frontier.primitives._arguments import check_weights
from frontier.primitives._oriented import SLOT, Oriented, at_hand, oriented, simple
from frontier.program.problem import Field
from frontier.registry import Argument, primitive

__all__ = ["Clustering", "ClusteringResult", "DirectedClustering", "ValuedClustering", "clustering"]

METHODS = ("ldbc", "fagiolo")


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


def close_valued(p, u, v, w, uv, uw, vw):
    """A triangle counts at its corners with the product of what its edges are worth."""
    product = p.worth[uv] * p.worth[uw] * p.worth[vw]
    fr.atomic_add(p.closed, u, product)
    fr.atomic_add(p.closed, v, product)
    fr.atomic_add(p.closed, w, product)


def pairs(p, v):
    """Return the number of pairs of neighbours of v, ordered ones if these are told apart."""
    return p.pairs[v]


def closed(p, v):
    """Return how many of them have an edge from the first to the second, or what their triangles are worth."""
    return p.closed[v]


def coefficient(p, v):
    """Divide the two; the result is 0 if there are no pairs."""
    p.coefficient[v] = p.closed[v] / p.pairs[v] if p.pairs[v] > 0 else 0.0
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


class ValuedClustering(fr.Enactor):
    """Compute those of edges that are worth more or less than 1, as the edge field ``worth`` says."""

    loop = (fr.Intersect(close_valued, over="edges"), *_DIVIDE)


@dataclass(frozen=True, eq=False, repr=False)
class ClusteringResult(fr.Result, columns=("coefficient",)):
    """Result of :func:`clustering`.

    Attributes
    ----------
    coefficient : ndarray of float64, shape (n,)
        The fraction of the ordered pairs of v's neighbours with an edge from the first to the second; 0 if v has fewer
        than two neighbours. By weights, the mean over the pairs of what their triangle is worth.
    average : float
        Mean of the coefficients; 0 if there is no vertex.
    transitivity : float
        The same fraction for the pairs of all vertices together; 0 if there are none. In an undirected graph it is
        three times the number of triangles, divided by the number of paths of two edges. By weights and by the method
        ``"fagiolo"``, the sum over all triangles divided by the sum over all pairs, too.
    """

    coefficient: NDArray[Any]
    average: float
    transitivity: float


@primitive(
    "clustering", "clustering coefficients, for directed graphs those of LDBC Graphalytics",
    arguments=(
        Argument("--method", "the measure of a directed graph (default: ldbc)", type=str, choices=METHODS),
        Argument("--weighted", "whether triangles count by weights (default: no)", type=bool),
    ),
    report=lambda g, r: {"average": r.average, "transitivity": r.transitivity},
)  # fmt: skip
def clustering(
    g: fr.Graph, *, method: str = "ldbc", weighted: bool = False, schedule: fr.Schedule | None = None
) -> ClusteringResult:
    """Compute the clustering coefficient of every vertex.

    Parameters
    ----------
    g : Graph
        Self-loops do not matter, and parallel edges count as one, by weights with the sum of theirs. In a directed
        graph, the neighbours of a vertex are those along out-edges and in-edges.
    method : {"ldbc", "fagiolo"}
        The measure of a directed graph. ``ldbc``: which fraction of the ordered pairs of neighbours have an edge, as in
        LDBC Graphalytics. ``fagiolo``: which fraction of the directed triangles that a vertex's edges might be part of
        there are, as in NetworkX. Both are the same in an undirected graph.
    weighted : bool
        Whether a triangle counts with the geometric mean of its weights, divided by the greatest weight of all edges,
        self-loops among them, as in NetworkX.
    schedule : Schedule, optional

    Returns
    -------
    ClusteringResult

    Raises
    ------
    GraphError
        If there is no such method, or ``weighted`` is asked of a directed graph by ``ldbc``, or of a graph without
        weights, or weights are not finite.
    NegativeWeightError
        If a weight is negative.

    Notes
    -----
    O(m sqrt(m)) work; memory as for :func:`frontier.triangles`. Without weights all but the average is the same in
    every run.

    Examples
    --------
    >>> g = fr.from_edges([0, 1, 2], [1, 2, 0], [1, 8, 8])
    >>> fr.clustering(g).coefficient.tolist(), fr.clustering(g, weighted=True).coefficient.tolist()
    ([1.0, 1.0, 1.0], [0.5, 0.5, 0.5])
    """
    if method not in METHODS:
        raise GraphError(f"method={method!r}: choose from {', '.join(METHODS)}")
    if weighted or (g.directed and method == "fagiolo"):
        return _valued(g, method, weighted, schedule)
    plain = _with_arcs(g) if g.directed else simple(g)
    made = oriented(plain, slots=g.directed)
    here = at_hand(plain)
    fields: dict[str, Field] = {
        "pairs": fr.vertex("int64", made.there(_ordered_pairs(here.out_degree))),
        "closed": fr.vertex("int64", combine="sum"),
        "all_closed": fr.scalar("int64"),
        **_FIELDS,
    }
    if g.directed:
        assert here.weights is not None
        fields["arcs"] = fr.edge("int32", here.weights[at_hand(made.graph).edges[SLOT]])
    p = fr.Problem(made.graph, **fields)
    (DirectedClustering if g.directed else Clustering)(p, schedule).run()
    return _result(p, made)


def _valued(g: fr.Graph, method: str, weighted: bool, schedule: fr.Schedule | None) -> ClusteringResult:
    """Return the coefficients where edges are worth more or less than 1."""
    if g.directed and method == "ldbc":
        raise GraphError("weighted=True needs method='fagiolo' in a directed graph: ldbc counts edges")
    arcs = _merged(g, weighted)
    plain, pairs = _worth(arcs)
    made = oriented(plain.to(g.placement), slots=True)
    here = at_hand(plain)
    assert here.weights is not None
    p = fr.Problem(
        made.graph,
        pairs=fr.vertex("int64", made.there(pairs)),
        worth=fr.edge("float64", here.weights[at_hand(made.graph).edges[SLOT]]),
        closed=fr.vertex("float64", combine="sum"),
        all_closed=fr.scalar("float64"),
        **_FIELDS,
    )
    ValuedClustering(p, schedule).run()
    return _result(p, made)


#: Fields of all programs.
_FIELDS: dict[str, Field] = {
    "coefficient": fr.vertex("float64"),
    "sum": fr.scalar("float64"),
    "all_pairs": fr.scalar("int64"),
}


def _result(p: fr.Problem, made: Oriented) -> ClusteringResult:
    n, pairs = max(p.graph.num_vertices, 1), max(int(p.all_pairs), 1)
    return ClusteringResult(made.back(p.coefficient), float(p.sum) / n, float(p.all_closed / pairs))


def _ordered_pairs(degree: Any) -> Any:
    wide = degree.astype(np.int64)
    return wide * (wide - 1)


def _merged(g: fr.Graph, weighted: bool) -> fr.Graph:
    """Return the graph with parallel edges as one, and weights of float64, all 1 if they do not count."""
    if weighted and g.weights is None:
        raise GraphError("weighted=True needs a graph with weights")
    if weighted:
        check_weights(g, "clustering")
    here = at_hand(g)
    xp = here.placement.memory.xp
    kept = slice(None) if g.directed else xp.flatnonzero(here.sources <= here.targets)
    weights = here.weights[kept].astype(np.float64) if weighted and here.weights is not None else None
    return fr.from_edges(
        here.sources[kept], here.targets[kept], weights, num_vertices=g.num_vertices, directed=g.directed,
        duplicates="sum" if weighted else "first",
    )  # fmt: skip


def _worth(arcs: fr.Graph) -> tuple[fr.Graph, Any]:
    """Return the graph without directions and loops, weighted by what edges are worth, and the pairs at each vertex."""
    xp, n = namespace_of(arcs.offsets), arcs.num_vertices
    most = float(arcs.max_weight or 0) if arcs.weights is not None and arcs.num_slots else 0.0
    worth = xp.ones(arcs.num_slots) if arcs.weights is None else (arcs.weights / (most or 1.0)) ** (1 / 3)
    proper = xp.flatnonzero(arcs.sources != arcs.targets if arcs.directed else arcs.sources < arcs.targets)
    src, dst = arcs.sources[proper], arcs.targets[proper]
    plain = fr.from_edges(src, dst, worth[proper], num_vertices=n, duplicates="sum")
    if not arcs.directed:
        return plain, _ordered_pairs(plain.out_degree) // 2
    # Of all pairs of edges at v, those are no pairs of two neighbours that lead to one and back.
    ends = counts(xp, src, n, np.int64) + counts(xp, dst, n, np.int64)
    return plain, _ordered_pairs(ends) - 2 * (ends - plain.out_degree)


def _with_arcs(g: fr.Graph) -> fr.Graph:
    """Return an undirected graph; the weight of each edge is the number of directions in which g has it."""
    here = at_hand(g)
    first = here.placement.memory.full(g.num_slots, True, np.bool_)
    first[1:] = (here.sources[1:] != here.sources[:-1]) | (here.targets[1:] != here.targets[:-1])
    src, dst = here.sources[first], here.targets[first]
    ones = here.placement.memory.full(len(src), 1, np.int32)
    made = fr.from_edges(src, dst, ones, num_vertices=g.num_vertices, self_loops="drop", duplicates="sum")
    return made.to(g.placement)
