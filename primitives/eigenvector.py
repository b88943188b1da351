"""Eigenvector centrality: a vertex is central if vertices that point to it are.

Centralities are the entries of the eigenvector of the largest eigenvalue of the adjacency matrix, transposed (Bonacich:
Factoring and weighting approaches to status scores and clique identification, 1972). The power iteration adds the old
values to the sums that it gathers, times the average weight of an edge, which shifts all eigenvalues by that. Otherwise
it would swing for ever on bipartite graphs, whose least eigenvalue is the largest with a minus. Where the shift is
small beside the eigenvalue, as on large stars, it still swings for long; so from some iteration on the shift is at
least a share of the eigenvalue.

On undirected graphs that need many iterations in spite of that, :mod:`frontier.primitives._dominant` goes on.

An iteration reads a number for each edge, most of them not from a cache. So on large graphs the first iterations read
centralities that are rounded to float32, half as many bytes, until no change is larger than what rounding makes. They
only find where the iterations that decide begin, so results are as exact as without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._dominant import PLAIN, dominant
from frontier.primitives._power import ARGUMENTS, SLOW, check_weighted, facts, iterations, scalars, settled
from frontier.primitives._scaled import scaled
from frontier.program.step import Functor, Step
from frontier.registry import primitive

__all__ = ["Eigenvector", "EigenvectorResult", "WeightedEigenvector", "eigenvector_centrality"]


#: Iterations from which on the shift is at least this share of the eigenvalue. R-MAT and uniform random graphs need 20
#: to 30 iterations, a star with any number of leaves about 170.
LONG, SHARE = 64, 0.1

#: Vertices from which on the first iterations round, as float64 numbers of fewer fit into a cache of a core; and the
#: relative change of a centrality that rounding may make: four roundings to 24 bits.
LARGE, ROUNDING = 1 << 17, 2.0**-22


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
    if change != 0:  # on a GPU a store had better not follow a load at once: docs/cuda.md
        p.centrality[v] = new
    return change


def renew_rounded(p, v):
    """The same, also for those who read it rounded; a change that rounding may have made counts as none."""
    change = renew(p, v)
    p.rounded[v] = p.centrality[v]
    return change if change > ROUNDING * p.centrality[v] else 0.0


def remaining(p):
    """The iterations that are left."""
    return p.limit - p.iterations


def _loop(product: str, read: str = "centrality", renew: Functor = renew, **limit: str) -> fr.Loop:
    """Sum up ``plus_first`` or ``plus_times``, products without and with weights."""
    return iterations(
        fr.Gather(**fr.semiring(product, read), into="sum"),
        fr.Reduce(shift, "sum", into="square"),
        fr.Reduce(renew, "sum", into="change"),
        fr.Set(shift=stronger),
        **limit,
    )


def _rounded_first(product: str) -> tuple[Step, ...]:
    rounded = _loop(product, "rounded", renew_rounded, times="rounded_limit")
    return rounded, fr.Set(limit=remaining), _loop(product)


#: The average weight of an edge is the shift.
_BY_WEIGHT = fr.Reduce(weight, "sum", into="shift", over="edges"), fr.Set(shift=average)


class Eigenvector(fr.Enactor):
    """A power iteration along the in-edges."""

    loop = _loop("plus_first")


class WeightedEigenvector(fr.Enactor):
    """The same, by the weights of the edges."""

    loop = (*_BY_WEIGHT, _loop("plus_times"))


class LargeEigenvector(fr.Enactor):
    """A power iteration that reads rounded centralities at first."""

    loop = _rounded_first("plus_first")


class LargeWeightedEigenvector(fr.Enactor):
    """The same, by the weights of the edges."""

    loop = (*_BY_WEIGHT, *_rounded_first("plus_times"))


class AlongEdges(fr.Enactor):
    """Multiply centralities by the transposed adjacency matrix."""

    loop = fr.Gather(**fr.semiring("plus_first", "centrality"), into="sum", over="vertices")


class AlongWeightedEdges(fr.Enactor):
    """The same, by the weights of the edges."""

    loop = fr.Gather(**fr.semiring("plus_times", "centrality"), into="sum", over="vertices")


#: By (weighted, large).
ENACTORS = {
    (False, False): Eigenvector,
    (True, False): WeightedEigenvector,
    (False, True): LargeEigenvector,
    (True, True): LargeWeightedEigenvector,
}


@dataclass(frozen=True, eq=False, repr=False)
class EigenvectorResult(fr.Result, columns=("centrality",)):
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
    arguments=ARGUMENTS,
    report=facts(highest="centrality"), bench_options={"tolerance": 1e-6},
)  # fmt: skip
def eigenvector_centrality(
    g: fr.Graph,
    *,
    tolerance: float = 1e-9,
    weighted: bool = False,
    max_iterations: int = 20_000,
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
    undirected graphs a method that takes about the square root of as many iterations goes on after 256. On directed
    graphs without cycles, where all eigenvalues are 0, it takes forever.

    Examples
    --------
    >>> result = fr.eigenvector_centrality(fr.from_edges(["ann", "ann"], ["bob", "cid"]))
    >>> round(result["ann"], 6)
    0.707107
    """
    check_weighted(g, "eigenvector centrality", weighted)
    g = scaled(g)[0] if weighted else g
    n = g.num_vertices
    scalars(tolerance, max_iterations)
    faster = not g.directed and tolerance > 0 and max_iterations > PLAIN
    limit = PLAIN if faster else max_iterations
    large = n >= LARGE and tolerance > 0 and limit > 1  # else all iterations that are asked for are exact
    equal = n**-0.5 if n else 0.0
    p = fr.Problem(
        g,
        centrality=fr.vertex("float64", equal),
        sum=fr.vertex("float64"),
        square=fr.scalar("float64"),
        shift=fr.scalar("float64", 1.0),
        edges=fr.scalar("float64", float(g.num_slots)),
        **scalars(tolerance, limit),
        **({"rounded": fr.vertex("float32", equal), "rounded_limit": fr.scalar("int64", limit // 2)} if large else {}),
    )
    if n:
        ENACTORS[weighted, large](p, schedule).run()
    result = EigenvectorResult(p.centrality, int(p.iterations), float(p.change), float(tolerance))
    if faster and n and not result.error < tolerance:
        along = (AlongWeightedEdges if weighted else AlongEdges)(p, schedule)
        result = _faster(result, p, along, int(max_iterations))
    return settled("eigenvector centrality", result, SLOW)


def _faster(slow: EigenvectorResult, p: fr.Problem, along: fr.Enactor, limit: int) -> EigenvectorResult:
    """Go on from where a power iteration came to."""

    def multiply(centrality: NDArray[Any]) -> NDArray[Any]:
        p.centrality = centrality
        along.run()
        made: NDArray[Any] = p.sum.copy()
        return made

    left = limit - slow.iterations
    found, iterations, error = dominant(
        multiply, slow.centrality.copy(), lambda x: (x @ x) ** 0.5, slow.tolerance, left
    )
    return EigenvectorResult(abs(found), slow.iterations + iterations, error, slow.tolerance)
