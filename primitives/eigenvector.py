"""Eigenvector centrality: a vertex is central if vertices that point to it are.

Centralities are the entries of the eigenvector of the largest eigenvalue of the adjacency matrix, transposed (Bonacich:
Factoring and weighting approaches to status scores and clique identification, 1972). The power iteration adds the old
values to the sums that it gathers, which shifts all eigenvalues by 1, so that it converges on bipartite graphs, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._power import ARGUMENTS, check_weighted, facts, iterations, scalars, settled
from frontier.registry import primitive

__all__ = ["Eigenvector", "EigenvectorResult", "WeightedEigenvector", "eigenvector_centrality"]


def shift(p, v):
    """Add the old centrality to the sum; return its square, to be summed."""
    p.sum[v] += p.centrality[v]
    return p.sum[v] * p.sum[v]


def renew(p, v):
    """Set the centrality of v, scaled to norm 1; return by how much it has changed."""
    new = p.sum[v] / p.square**0.5
    change = abs(new - p.centrality[v])
    p.centrality[v] = new
    return change


def _loop(product: str) -> fr.Loop:
    """Sum up ``plus_first`` or ``plus_times``, products without and with weights."""
    return iterations(
        fr.Gather(**fr.semiring(product, "centrality"), into="sum"),
        fr.Reduce(shift, "sum", into="square"),
        fr.Reduce(renew, "sum", into="change"),
    )


class Eigenvector(fr.Enactor):
    """A power iteration along the in-edges."""

    loop = _loop("plus_first")


class WeightedEigenvector(fr.Enactor):
    """The same, by the weights of the edges."""

    loop = _loop("plus_times")


@dataclass(frozen=True)
class EigenvectorResult:
    """Result of :func:`eigenvector_centrality`.

    Attributes
    ----------
    centrality : ndarray of float64, shape (n,)
        Not negative; the sum of squares is 1.
    iterations : int
    error : float
        L1 change of the last iteration.
    tolerance : float
    """

    centrality: NDArray[Any]
    iterations: int
    error: float
    tolerance: float


@primitive(
    "eigenvector_centrality", "eigenvector centrality of every vertex",
    arguments=ARGUMENTS, columns=("centrality",),
    report=facts(highest="centrality"), bench_options={"tolerance": 1e-6},
)  # fmt: skip
def eigenvector_centrality(
    g: fr.Graph,
    *,
    tolerance: float = 1e-9,
    weighted: bool = False,
    max_iterations: int = 1000,
    schedule: fr.Schedule | None = None,
) -> EigenvectorResult:
    """Eigenvector centrality of every vertex.

    Parameters
    ----------
    g : Graph
        Parallel edges count separately. Of a directed graph in-edges count.
    tolerance : float
        Stop when the sum of all changes of one iteration is below it; with 0, run ``max_iterations``.
    weighted : bool
        Whether centralities are multiplied by the weights of the edges.
    max_iterations : int
    schedule : Schedule, optional

    Returns
    -------
    EigenvectorResult

    Raises
    ------
    NotConvergedError
        After ``max_iterations``, unless ``tolerance`` is 0; its ``result`` holds the values so far.
    GraphError
        For arguments out of range, or ``weighted`` without weights.

    Notes
    -----
    O(n + m) work an iteration. Convergence is linear, by the ratio of the two largest eigenvalues plus 1; on directed
    graphs without cycles, where all eigenvalues are 0, it takes forever.
    """
    check_weighted(g, "eigenvector centrality", weighted)
    n = g.num_vertices
    p = fr.Problem(
        g,
        centrality=fr.vertex("float64", n**-0.5 if n else 0.0),
        sum=fr.vertex("float64"),
        square=fr.scalar("float64"),
        **scalars(tolerance, max_iterations),
    )
    if n:
        (WeightedEigenvector if weighted else Eigenvector)(p, schedule).run()
    result = EigenvectorResult(p.centrality, int(p.iterations), float(p.change), float(tolerance))
    return settled("eigenvector centrality", result)
