"""Hubs and authorities (HITS): good hubs point to good authorities, and good authorities are pointed to by good hubs.

The power iteration of Kleinberg (Authoritative sources in a hyperlinked environment, 1999). The authority of a vertex
is the sum of the hubs that point to it, and the hub value of a vertex is the sum of the authorities that it points to;
both are scaled to sum 1. They converge to the singular vectors of the largest singular value of the adjacency matrix.
Where that takes long, :mod:`frontier.primitives._dominant` goes on, with products by the matrix and its transposition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._dominant import PLAIN, dominant
from frontier.primitives._power import ARGUMENTS, SLOW, check_weighted, facts, iterations, scalars, settled
from frontier.primitives._scaled import scaled
from frontier.registry import primitive

__all__ = ["HITS", "HITSResult", "WeightedHITS", "hits"]


def authority(p, v):
    """The authority of v, to be summed."""
    return p.authority[v]


def pointed(p, v):
    """The new hub value of v before it is scaled, to be summed."""
    return p.pointed[v]


def scale(p, v):
    """Scale the authorities to sum 1."""
    p.authority[v] = p.authority[v] / p.authorities if p.authorities > 0 else 0.0


def renew(p, v):
    """Set the hub value of v, scaled to sum 1; return by how much it has changed."""
    new = p.pointed[v] / p.hubs if p.hubs > 0 else 0.0
    change = abs(new - p.hub[v])
    if change != 0:  # on a GPU a store had better not follow a load at once: docs/cuda.md
        p.hub[v] = new
    return change


def _loop(product: str) -> fr.Loop:
    """Sum up ``plus_first`` or ``plus_times``, products without and with weights."""
    return iterations(
        fr.Gather(**fr.semiring(product, "hub"), into="authority"),
        fr.Reduce(authority, "sum", into="authorities"),
        fr.Compute(scale),
        fr.Gather(**fr.semiring(product, "authority", edges="out"), into="pointed"),
        fr.Reduce(pointed, "sum", into="hubs"),
        fr.Reduce(renew, "sum", into="change"),
    )


def _product(product: str) -> fr.Sequence:
    """Multiply values by the transposed adjacency matrix, and by the matrix."""
    return fr.Sequence(
        fr.Gather(**fr.semiring(product, "hub"), into="authority"),
        fr.Gather(**fr.semiring(product, "authority", edges="out"), into="pointed"),
        over="vertices",
    )


class Product(fr.Enactor):
    """Both products."""

    loop = _product("plus_first")


class WeightedProduct(fr.Enactor):
    """The same, by the weights of the edges."""

    loop = _product("plus_times")


class HITS(fr.Enactor):
    """A power iteration, in turn along both directions of the edges."""

    loop = _loop("plus_first")


class WeightedHITS(fr.Enactor):
    """The same, by the weights of the edges."""

    loop = _loop("plus_times")


@dataclass(frozen=True, eq=False, repr=False)
class HITSResult(fr.Result, columns=("hub", "authority")):
    """Result of :func:`hits`.

    Attributes
    ----------
    hub, authority : ndarray of float64, shape (n,)
        Each sums to 1, or is 0 everywhere if the graph has no edges.
    iterations : int
    error : float
        L1 change of the hub values in the last iteration.
    tolerance : float
    """

    hub: NDArray[Any]
    authority: NDArray[Any]
    iterations: int
    error: float
    tolerance: float


@primitive(
    "hits", "hubs and authorities of every vertex",
    arguments=ARGUMENTS,
    report=facts(best_hub="hub", best_authority="authority"), bench_options={"tolerance": 1e-6},
)  # fmt: skip
def hits(
    g: fr.Graph,
    *,
    tolerance: float = 1e-9,
    weighted: bool = False,
    max_iterations: int = 10_000,
    schedule: fr.Schedule | None = None,
) -> HITSResult:
    """Hub and authority values of every vertex.

    Parameters
    ----------
    g : Graph
        Parallel edges count separately.
    tolerance : float
        Stop when the sum of all changes of hub values in one iteration is below it; with 0, run ``max_iterations``.
    weighted : bool
        Whether values are multiplied by the weights of the edges.
    max_iterations : int
    schedule : Schedule, optional

    Returns
    -------
    HITSResult

    Raises
    ------
    NotConvergedError
        After ``max_iterations``, unless ``tolerance`` is 0; its ``result`` holds the values so far.
    GraphError
        For arguments out of range, or ``weighted`` without weights.

    Notes
    -----
    O(n + m) work an iteration. Convergence is linear, by the square of the ratio of the two largest singular values;
    after 256 iterations by a method that takes about the square root of as many more. If the largest is not single, as
    in a graph of several equal pieces, there are several solutions, and this one is that to which equal values at the
    beginning lead.

    Examples
    --------
    >>> result = fr.hits(fr.from_edges(["ann", "bob"], ["cid", "cid"], directed=True))
    >>> [vertex for vertex, value in result.top(1)]
    ['ann']
    """
    check_weighted(g, "HITS", weighted)
    g = scaled(g)[0] if weighted else g
    n = g.num_vertices
    p = fr.Problem(
        g,
        hub=fr.vertex("float64", 1 / n if n else 0.0),
        authority=fr.vertex("float64"),
        pointed=fr.vertex("float64"),
        authorities=fr.scalar("float64"),
        hubs=fr.scalar("float64"),
        **scalars(tolerance, max_iterations),
    )
    if tolerance > 0:
        p.limit = min(p.limit, PLAIN)
    if n:
        (WeightedHITS if weighted else HITS)(p, schedule).run()
    result = HITSResult(p.hub, p.authority, int(p.iterations), float(p.change), float(tolerance))
    if n and tolerance > 0 and not result.error < tolerance and max_iterations > PLAIN:
        result = _faster(result, p, (WeightedProduct if weighted else Product)(p, schedule), int(max_iterations))
    return settled("HITS", result, SLOW)


def _faster(slow: HITSResult, p: fr.Problem, product: fr.Enactor, limit: int) -> HITSResult:
    """Go on from where a power iteration came to."""

    def multiply(hub: NDArray[Any]) -> NDArray[Any]:
        p.hub = hub
        product.run()
        made: NDArray[Any] = p.pointed.copy()
        return made

    left = limit - slow.iterations
    hub, iterations, error = dominant(multiply, slow.hub.copy(), lambda x: abs(x).sum(), slow.tolerance, left)
    hub = abs(hub)  # what is negative by rounding
    multiply(hub)
    authority = p.authority / p.authority.sum()
    return HITSResult(hub, authority, slow.iterations + iterations, error, slow.tolerance)
