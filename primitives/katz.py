"""Katz centrality: the number of walks that end in a vertex, of which longer ones count less.

    centrality(v) = alpha * sum over in-edges (u, v) of centrality(u) + beta

(Katz: A new status index derived from sociometric analysis, 1953.) The iteration begins with 0 and adds the walks of
one edge more each time, so it converges if and only if alpha is below 1 / (largest eigenvalue).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives._arguments import check_number, values_of_vertices
from frontier.primitives._power import ARGUMENTS, check_weighted, facts, iterations, scalars, settled
from frontier.registry import Argument, primitive

__all__ = ["Katz", "KatzResult", "WeightedKatz", "katz"]


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


@dataclass(frozen=True)
class KatzResult:
    """Result of :func:`katz`.

    Attributes
    ----------
    centrality : ndarray of float64, shape (n,)
        The sum of squares is 1 if it was to be normalized.
    iterations : int
    error : float
        L1 change of the last iteration, before it was normalized.
    alpha, tolerance : float
    """

    centrality: NDArray[Any]
    iterations: int
    error: float
    alpha: float
    tolerance: float


@primitive(
    "katz", "Katz centrality of every vertex",
    arguments=(Argument("--alpha", "factor for each edge of a walk (default: 0.1)"), *ARGUMENTS),
    columns=("centrality",), report=facts(highest="centrality"), bench_options={"alpha": 1e-6, "tolerance": 1e-6},
)  # fmt: skip
def katz(
    g: fr.Graph,
    *,
    alpha: float = 0.1,
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
    alpha : float
        By how much less a walk counts for each edge more; below 1 / (largest eigenvalue of the adjacency matrix).
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
        After ``max_iterations``, unless ``tolerance`` is 0; its ``result`` holds the values so far.
    GraphError
        For arguments out of range, or ``weighted`` without weights.

    Notes
    -----
    O(n + m) work an iteration.
    """
    check_number("alpha", alpha, np.isfinite, "it must be finite")
    check_weighted(g, "Katz centrality", weighted)
    n = g.num_vertices
    own = np.full(n, float(beta)) if isinstance(beta, int | float) else values_of_vertices(g, "beta", beta)
    if not np.isfinite(own).all():
        raise GraphError("beta holds finite numbers")
    p = fr.Problem(
        g,
        centrality=fr.vertex("float64"),
        sum=fr.vertex("float64"),
        beta=fr.vertex("float64", g.placement.memory.moved(own)),
        alpha=fr.scalar("float64", float(alpha)),
        **scalars(tolerance, max_iterations),
    )
    if n:
        (WeightedKatz if weighted else Katz)(p, schedule).run()
    found = p.centrality
    with np.errstate(over="ignore"):  # of one that has not converged
        norm = float((found * found).sum()) ** 0.5 if n else 0.0
    if normalized and 0 < norm < np.inf:
        found = found / norm
    result = KatzResult(found, int(p.iterations), float(p.change), float(alpha), float(tolerance))
    return settled("Katz centrality", result, ": alpha must be below 1 / (largest eigenvalue)")
