"""Katz centrality: the number of walks that end in a vertex, of which longer ones count less.

    centrality(v) = alpha * sum over in-edges (u, v) of centrality(u) + beta

(Katz: A new status index derived from sociometric analysis, 1953.) The iteration begins with 0 and adds the walks of
one edge more each time, so it converges if and only if alpha is below 1 / (largest eigenvalue).

No positive vector x has an A x that is less than that eigenvalue times x in all entries, so the largest quotient of
entries bounds it from above (Collatz: Einschließungssatz für die charakteristischen Zahlen von Matrizen, 1942). The
default of alpha follows from such a bound, of an x that a few iterations of the same program make.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.scaling import is_moderate
from frontier.primitives._arguments import check_number, values_of_vertices
from frontier.primitives._power import ARGUMENTS, check_weighted, facts, iterations, scalars, settled
from frontier.primitives._scaled import scaled
from frontier.registry import Argument, primitive

__all__ = ["Katz", "KatzResult", "WeightedKatz", "katz"]

#: The default of alpha, times the bound of the largest eigenvalue; and the iterations that bound it.
SHARE, BOUNDING = 0.9, 8

#: More than any alpha with which something converges, unless no walk is long.
OUT = 2.0**1000


def renew(p, v):
    """Set the centrality of v; return by how much it has changed."""
    new = p.alpha * p.sum[v] + p.beta[v]
    change = abs(new - p.centrality[v])
    if change != 0:  # on a GPU a store had better not follow a load at once: docs/cuda.md
        p.centrality[v] = new
    return change


def _loop(product: str) -> fr.Loop:
    """Sum up ``plus_first`` or ``plus_times``, products without and with weights."""
    return iterations(
        fr.Gather(**fr.semiring(product, "centrality"), into="sum"),
        fr.Reduce(renew, "sum", into="change"),
    )


class Katz(fr.Enactor):
    """Add up walks, longer and longer ones."""

    loop = _loop("plus_first")


class WeightedKatz(fr.Enactor):
    """The same, by the weights of the edges."""

    loop = _loop("plus_times")


@dataclass(frozen=True, eq=False, repr=False)
class KatzResult(fr.Result, columns=("centrality",)):
    """Result of :func:`katz`.

    Attributes
    ----------
    centrality : ndarray of float64, shape (n,)
        The sum of squares is 1 if it was to be normalized.
    iterations : int
    error : float
        L1 change of the last iteration, before it was normalized.
    alpha : float
        That of the call, or the default; infinity if weights are so small that no float holds that.
    tolerance : float
    """

    centrality: NDArray[Any]
    iterations: int
    error: float
    alpha: float
    tolerance: float


@primitive(
    "katz", "Katz centrality of every vertex",
    arguments=(Argument("--alpha", "factor for each edge of a walk (default: one that converges)"), *ARGUMENTS),
    report=facts(highest="centrality"), bench_options={"alpha": 1e-6, "tolerance": 1e-6},
)  # fmt: skip
def katz(
    g: fr.Graph,
    *,
    alpha: float | None = None,
    beta: float | ArrayLike | Mapping[Any, float] = 1.0,
    normalized: bool = True,
    tolerance: float = 1e-9,
    weighted: bool = False,
    max_iterations: int = 1000,
    schedule: fr.Schedule | None = None,
) -> KatzResult:
    """Katz centrality of every vertex.

    Parameters
    ----------
    g : Graph
        Parallel edges count separately. Of a directed graph in-edges count.
    alpha : float, optional
        By how much less a walk counts for each edge more; below 1 / (largest eigenvalue of the adjacency matrix). By
        default 0.9 / (a bound of that eigenvalue), which the result tells. NetworkX takes 0.1, of any graph.
    beta : float, array of shape (n,), or mapping from vertex (label) to float
        What each vertex has of its own.
    normalized : bool
        Whether to scale the centralities so that the sum of their squares is 1.
    tolerance : float
        Stop when the sum of all changes of one iteration is below it; with 0, run ``max_iterations``.
    weighted : bool
        Whether centralities are multiplied by the weights of the edges.
    max_iterations : int
    schedule : Schedule, optional

    Returns
    -------
    KatzResult

    Raises
    ------
    NotConvergedError
        After ``max_iterations``, unless ``tolerance`` is 0; its ``result`` holds the values so far, and its message
        says up to which alpha convergence is certain.
    GraphError
        For arguments out of range, or ``weighted`` without weights.

    Notes
    -----
    O(n + m) work an iteration. By default, nine iterations bound the eigenvalue, to a few percent of itself on most
    graphs.

    Examples
    --------
    >>> result = fr.katz(fr.from_edges(["ann", "ann"], ["bob", "cid"]))
    >>> [vertex for vertex, value in result.top(1)]
    ['ann']
    """
    if alpha is not None:
        check_number("alpha", alpha, np.isfinite, "it must be finite")
    check_weighted(g, "Katz centrality", weighted)
    g, exponent = scaled(g) if weighted else (g, 0)
    n = g.num_vertices
    own: Any = float(beta) if isinstance(beta, int | float) else values_of_vertices(g, "beta", beta)
    if not np.isfinite(own).all():
        raise GraphError("beta holds finite numbers")
    own = g.placement.memory.moved(own) if np.ndim(own) else own
    p = fr.Problem(
        g,
        centrality=fr.vertex("float64"),
        sum=fr.vertex("float64"),
        beta=fr.vertex("float64", own),
        alpha=fr.scalar("float64"),
        **scalars(tolerance, max_iterations),
    )
    enactor = (WeightedKatz if weighted else Katz)(p, schedule)
    if alpha is None:
        factor = SHARE / (_bound(p, enactor) or 1.0)
        alpha = _times_two_to(factor, -exponent)
        p.centrality, p.beta, p.limit = 0.0, own, int(max_iterations)
        p.tolerance, p.iterations = float(tolerance), 0
    else:
        factor = min(max(_times_two_to(alpha, exponent), -OUT), OUT)
    p.alpha = factor
    if n:
        enactor.run()
    found = _with_norm_1(p.centrality, g.placement.memory.xp) if normalized and n else p.centrality.copy()
    result = KatzResult(found, int(p.iterations), float(p.change), float(alpha), float(tolerance))
    if tolerance > 0 and not result.error < tolerance:
        sure = _times_two_to(1 / (_bound(p, enactor) or 1.0), -exponent)
        advice = f"alpha must be below 1 / (largest eigenvalue), as it is up to {sure:.3g}"
        if abs(alpha) < sure:
            advice = "it will with more max_iterations, and sooner with a smaller alpha"
        settled("Katz centrality", result, f": {advice}")
    return result


def _bound(p: fr.Problem, enactor: fr.Enactor) -> float:
    """Return an upper bound of the largest eigenvalue; fields have other values then.

    The first vector holds the square roots of the sums of rows, for which the bound of a star is its eigenvalue; each
    iteration adds to it what the one before led to.
    """
    n, xp = p.graph.num_vertices, p.graph.placement.memory.xp
    p.centrality, p.beta, p.alpha, p.tolerance, p.limit = 1.0, 1.0, 0.0, 0.0, 1
    bound = 0.0
    for i in range(BOUNDING + 1 if n else 0):
        before = p.centrality.copy()
        p.iterations = 0
        enactor.run()
        found = float((p.sum / before).max())
        if not found:
            return 0.0
        bound = min(bound, found) if i else found
        if not i:
            least = float(xp.where(p.sum > 0, p.sum, np.inf).min())
            p.beta = p.centrality = xp.sqrt(xp.maximum(p.sum, least))
        p.alpha = 1 / bound
    return bound


def _times_two_to(number: float, exponent: int) -> float:
    with np.errstate(over="ignore"):  # infinity, then
        return float(np.ldexp(number, exponent))


def _with_norm_1(found: NDArray[Any], xp: Any) -> NDArray[Any]:
    """Scale to norm 1, unless all are 0, or some so large that it is infinite: those have not converged."""
    most = float(abs(found).max())
    if not np.isfinite(most):
        return found.copy()
    if not is_moderate(most):  # else squares would be 0, or infinite
        found = xp.ldexp(found, -int(np.frexp(most)[1]))
    norm = float((found * found).sum()) ** 0.5
    return found / norm if norm > 0 else found.copy()
