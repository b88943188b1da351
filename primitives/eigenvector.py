"""Eigenvector centrality: a vertex is central if vertices that point to it are.

Centralities are the entries of the eigenvector of the largest eigenvalue of the adjacency matrix, transposed (Bonacich:
Factoring and weighting approaches to status scores and clique identification, 1972). The power iteration adds the old
values to the sums that it gathers, times the average weight of an edge, which shifts all eigenvalues by that. Otherwise
it would swing for ever on bipartite graphs, whose least eigenvalue is the largest with a minus. Where the shift is
small beside the eigenvalue, as on large stars, it still swings for long; so from some iteration on the shift is at
least a share of the eigenvalue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._power import ARGUMENTS, SLOW, check_weighted, facts, iterations, scalars, settled
from frontier.registry import primitive

__all__ = ["Eigenvector", "EigenvectorResult", "WeightedEigenvector", "eigenvector_centrality"]


#: Iterations from which on the shift is at least this share of the eigenvalue. R-MAT and uniform random graphs need 20
#: to 30 iterations, a star with any number of leaves about 170.
LONG, SHARE = 64, 0.1


def weight(p, weight):
    """The weight of an edge, to be summed."""
    return weight


def average(p):
    """The average weight of an edge, 1 without weights."""
    return p.shift / p.edges if p.shift > 0 else 1.0


def shift(p, v):
    """Add the shift times the old centrality to the sum; return its square, to be summed."""
    p.sum[v] += p.shift * p.centrality[v]
    return p.sum[v] * p.sum[v]


def stronger(p):
    """The shift for the next iteration: the norm of the sums comes to the largest eigenvalue plus the shift."""
    return max(p.shift, SHARE * (p.square**0.5 - p.shift)) if p.iterations >= LONG else p.shift


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
        fr.Set(shift=stronger),
    )


class Eigenvector(fr.Enactor):
    """A power iteration along the in-edges."""

    loop = _loop("plus_first")


class WeightedEigenvector(fr.Enactor):
    """The same, by the weights of the edges."""

    loop = (fr.Reduce(weight, "sum", into="shift", over="edges"), fr.Set(shift=average), _loop("plus_times"))


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
    max_iterations: int = 10_000,
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
    O(n + m) work an iteration. Convergence is linear, by the ratio of the two largest eigenvalues plus the shift, which
    is the average weight of an edge at first, and after 64 iterations at least a tenth of the largest eigenvalue. On
    directed graphs without cycles, where all eigenvalues are 0, it takes forever.
    """
    check_weighted(g, "eigenvector centrality", weighted)
    n = g.num_vertices
    p = fr.Problem(
        g,
        centrality=fr.vertex("float64", n**-0.5 if n else 0.0),
        sum=fr.vertex("float64"),
        square=fr.scalar("float64"),
        shift=fr.scalar("float64", 1.0),
        edges=fr.scalar("float64", float(g.num_slots)),
        **scalars(tolerance, max_iterations),
    )
    if n:
        (WeightedEigenvector if weighted else Eigenvector)(p, schedule).run()
    result = EigenvectorResult(p.centrality, int(p.iterations), float(p.change), float(tolerance))
    return settled("eigenvector centrality", result, SLOW)
