"""Verifying PageRank.

One application of the PageRank operator to ranks r is

    T(r)[v] = (1 - d) p[v] + d (sum over edges u -> v of r[u] w(u, v) / W(u)  +  D q[v])

with d the damping, p the personalization (or 1/n each), W(u) the weight of all edges out of u (the
weights being 1 each, unless the ranks are weighted), D the rank of all vertices with W(u) = 0, and q
how that is distributed, which is p unless the result says otherwise.
T keeps the sum of ranks and shrinks the L1 distance of two vectors by the factor d, hence has exactly
one fixed point r* of sum 1, and for every r

    |r - r*| <= |T(r) - r| / (1 - d)        (L1 norms).

An iteration that stops when ranks change by less than the tolerance has |T(r) - r| <= d * tolerance.
So the residual |T(r) - r|, from one application in numpy that is independent of how r was found, says
whether r is right and how far off it can be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frontier.graph.scaling import is_moderate, scaled_by_row
from frontier.verify.edges import BLOCK, edge_blocks, lightest, spread
from frontier.verify.report import (
    Checks,
    Report,
    examine,
    fail,
    field,
    flag_field,
    number_field,
    vertex_field,
)

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["pagerank"]

SUM_TOLERANCE = 1e-9
"""How far the sum of ranks may be from 1: many iterations' rounding, no more."""


def pagerank(g: Graph, result: Any) -> Report:
    """Check PageRank.

    Parameters
    ----------
    g : Graph
        n vertices, m edges; with weights >= 0 if the ranks are weighted.
    result : PageRankResult
        ``rank`` (n,) floats; ``damping``; ``tolerance``, of the L1 change of ranks; ``weighted``;
        ``personalization`` (n,) numbers >= 0, of any sum, or None for uniform; ``dangling``, if there
        is one, the same, or None for as the personalization.

    Returns
    -------
    Report
        True if the result passed; see its ``raise_if_failed()``.

    Notes
    -----
    Ranks are not negative, their sum is 1, and one more application of the PageRank operator
    changes them by no more than the tolerance; so their L1 distance to the exact ranks is at most
    tolerance / (1 - damping). Rank of vertices without out-edges goes to all vertices alike, or as
    the personalization or ``dangling`` says. O(n + m) time, O(n) memory. A result that stopped after a given number of
    iterations, before the tolerance was reached, does not pass.

    Examples
    --------
    >>> g = fr.karate()
    >>> fr.verify.pagerank(g, fr.pagerank(g)).passed
    True
    """
    return examine(
        "pagerank", _properties, g, result, ("rank", "damping", "tolerance", "weighted", "personalization")
    )


def _properties(g: Graph, result: Any, checks: Checks) -> None:
    rank = vertex_field(result, "rank", g.num_vertices).astype(np.float64)
    damping = number_field(result, "damping")
    tolerance = number_field(result, "tolerance")
    if not 0 <= damping <= 1:
        fail(f"damping is {damping}, expected 0 to 1")
    if not 0 <= tolerance < 1:
        fail(f"tolerance is {tolerance}, expected 0 to below 1")
    teleport = fall = _distribution(result, "personalization", g.num_vertices)
    if getattr(result, "dangling", None) is not None:
        fall = _distribution(result, "dangling", g.num_vertices)
    weights = _weights(g, result)

    checks.begin("no rank is negative")
    wrong = ~(rank >= 0)
    if wrong.any():
        v = int(np.argmax(wrong))
        fail(f"rank[{v}] is {rank[v]}, less than 0")

    checks.begin("the sum of ranks is 1")
    total = float(rank.sum())
    if len(rank) and not abs(total - 1) <= SUM_TOLERANCE:
        fail(f"the sum of ranks is {total!r}, expected 1")

    checks.begin(f"one more iteration changes ranks by no more than the tolerance, {tolerance:.3g}")
    change = np.abs(_apply(g, rank, damping, teleport, fall, weights) - rank)
    residual = float(change.sum())
    if not residual <= tolerance + _rounding(g):
        v = int(np.argmax(change))
        fail(f"it changes them by {residual:.3g}; rank[{v}], {rank[v]!r}, by {change[v]:.3g}")


def _rounding(g: Graph) -> float:
    """Bound the L1 error of one application in float64, with plenty to spare."""
    return float(16 * np.finfo(np.float64).eps * (1 + np.sqrt(g.num_slots)))


def _apply(
    g: Graph,
    rank: NDArray[np.float64],
    damping: float,
    teleport: NDArray[np.float64],
    fall: NDArray[np.float64],
    weights: NDArray[Any] | None,
) -> NDArray[np.float64]:
    """Return T(rank)."""
    n = g.num_vertices
    out = _out_weight(g, weights)
    share = np.divide(rank, out, out=np.zeros(n), where=out != 0)
    gathered = np.zeros(n)
    # bincount makes n counts for each block, so a block should not be small beside n.
    for vertices, slots in edge_blocks(g.offsets, size=max(BLOCK, n)):
        values = spread(share, g.offsets, vertices)
        if weights is not None:
            values = values * weights[slots]
        gathered += np.bincount(g.targets[slots], weights=values, minlength=n)
    loose = rank[out == 0].sum()
    new: NDArray[np.float64] = (1 - damping) * teleport + damping * (gathered + loose * fall)
    return new


def _weights(g: Graph, result: Any) -> NDArray[Any] | None:
    """Return the weights that the ranks are of, or None."""
    if not flag_field(result, "weighted"):
        return None
    if g.weights is None:
        fail("the ranks are said to be weighted, but the graph has no weights")
    if g.weights.size and g.min_weight < 0:
        fail(f"{lightest(g)}: ranks need weights >= 0")
    if g.weights.size and not (is_moderate(g.max_weight) and is_moderate(g.min_weight)):
        return scaled_by_row(g.offsets, g.weights[:])
    return g.weights


def _out_weight(g: Graph, weights: NDArray[Any] | None) -> NDArray[np.float64]:
    """Sum the weights of each vertex's out-edges: shape (n,)."""
    if weights is None:
        return np.diff(g.offsets).astype(np.float64)
    out = np.zeros(g.num_vertices)
    for vertices, slots in edge_blocks(g.offsets):
        rows = spread(np.arange(g.num_vertices), g.offsets, vertices) - vertices.start
        count = vertices.stop - vertices.start
        out[vertices] = np.bincount(rows, weights=weights[slots], minlength=count)
    return out


def _distribution(result: Any, name: str, n: int) -> NDArray[np.float64]:
    if field(result, name) is None:
        return np.full(n, 1 / max(n, 1))
    values = vertex_field(result, name, n).astype(np.float64)
    if n and (not values.min() >= 0 or not 0 < values.max() < np.inf):
        fail(f"{name} needs numbers >= 0 with a sum > 0")
    if n and not is_moderate(values.max()):
        values = np.ldexp(values, -np.frexp(values.max())[1])
    return values / values.sum() if n else values
