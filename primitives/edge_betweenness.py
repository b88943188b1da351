"""Betweenness of edges: the share of shortest paths that lead along each edge.

Brandes' dependencies (see :mod:`frontier.primitives.bc`) are sums over edges to farther vertices. Here the terms are
what is asked for: the dependency of a source on the edge (v, w) is sigma(v) / sigma(w) * (1 + delta(w)). (Girvan,
Newman: Community structure in social and biological networks, PNAS 99, 2002; Brandes: On variants of shortest-path
betweenness centrality and their generic computation, Social Networks 30, 2008.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike, NDArray

import frontier as fr
from frontier.graph.several import is_several, vertex_ids
from frontier.primitives._bc_scaled import check_positive
from frontier.primitives._oriented import on_every_rank
from frontier.primitives.bc import ARGUMENTS, scale, sums
from frontier.registry import primitive

__all__ = ["EdgeBetweennessResult", "edge_betweenness"]


@dataclass(frozen=True, eq=False, repr=False)
class EdgeBetweennessResult(fr.Result, columns=("centrality",), rows="slot"):
    """Result of :func:`edge_betweenness`; entry e of an array belongs to edge slot e.

    Attributes
    ----------
    centrality : ndarray of float64, shape (m,)
        The same at both slots of an undirected edge.
    sources : ndarray, shape (k,)
        Vertex ids of the sources.
    normalized : bool
    sampled : bool
        Whether sources were drawn, so that this is an estimate.
    targets : ndarray, shape (l,), or None
        Vertex ids of the targets; None for all.
    weighted : bool
    """

    centrality: NDArray[Any]
    sources: NDArray[Any]
    normalized: bool
    sampled: bool
    targets: NDArray[Any] | None
    weighted: bool


def _facts(g: fr.Graph, result: EdgeBetweennessResult) -> dict[str, Any]:
    facts: dict[str, Any] = {"sources": len(result.sources)}
    if g.num_slots:
        (ends, best), *_ = result.top(1)
        facts["highest"] = f"{best:.6g} at {ends[0]} - {ends[1]}"
    return facts | {"slots": g.num_slots * len(result.sources)}


@primitive(
    "edge_betweenness", "betweenness of every edge, exact or from some sources",
    arguments=ARGUMENTS, verify="edge_betweenness", report=_facts, bench_options={"sources": 4, "seed": 1},
)  # fmt: skip
def edge_betweenness(
    g: fr.Graph,
    sources: int | ArrayLike | None = None,
    *,
    targets: ArrayLike | None = None,
    weighted: bool = False,
    normalized: bool = False,
    seed: int | None = None,
    schedule: fr.Schedule | None = None,
) -> EdgeBetweennessResult:
    """Betweenness of every edge: the share of shortest paths that lead along it.

    Parameters
    ----------
    g : Graph
        Parallel edges count as different paths.
    sources : int, sequence of vertices, Frontier or mask, optional
        The sources, of which the values are the sums; all vertices by default. Or a number k of sources to draw at
        random, from which the values of all are estimated: n / k times the sum.
    targets : sequence of vertices, Frontier or mask, optional
        Only paths to these count; by default to all vertices.
    weighted : bool
        Whether shortest paths are those of least weight, as in :func:`betweenness`.
    normalized : bool
        Whether to divide by the number of pairs, n(n - 1), or half of it if each pair counts once.
    seed : int, optional
        The seed for drawing sources; by default a different one each time.
    schedule : Schedule, optional

    Returns
    -------
    EdgeBetweennessResult

    Raises
    ------
    GraphError
        If a source or target does not exist, and for weights as by :func:`betweenness`.
    NegativeWeightError
        If a weight is negative, and ``weighted``.

    Notes
    -----
    O(n + m) work for each source, by weights that of :func:`frontier.sssp`. The last bits depend on the order in which
    numbers are added. On ranks, each needs all edges.

    Examples
    --------
    >>> fr.edge_betweenness(fr.from_edges(["ann", "bob"], ["bob", "cid"])).to_dict()["ann", "bob"]
    2.0
    """
    g = on_every_rank(g)
    if weighted:
        check_positive(g)
    ids = None if targets is None else vertex_ids(g, targets, "targets")
    batch, found = sums(g, sources, ids, weighted, True, False, schedule, seed)
    if not g.directed:
        found = found + found[_opposite(g)]
    sampled = sources is not None and not is_several(sources)
    moved = g.placement.memory.moved
    return EdgeBetweennessResult(
        scale(g, found, batch.sources if sampled else None, normalized, True),
        moved(batch.sources), normalized, sampled, None if ids is None else moved(ids), weighted,
    )  # fmt: skip


def _opposite(g: fr.Graph) -> NDArray[Any]:
    """Return for each slot of an undirected graph the other slot of its edge."""
    return g.in_edges
