"""SALSA: hubs and authorities by random walks that follow edges forwards and backwards in turn.

The walk of Lempel and Moran (SALSA: the stochastic approach for link-structure analysis, 2001). From an authority it
goes back along one of its in-edges, to a hub, and on along one of the hub's out-edges, to an authority; the authority
of a vertex is the share of the time that it spends there. For hubs it is the same the other way round. Both begin at
any authority, or hub, with the same probability. HITS sums where this averages, so that here a dense corner of the
graph does not take all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._power import ARGUMENTS, SLOW, facts, iterations, scalars, settled
from frontier.registry import primitive

__all__ = ["SALSA", "SALSAResult", "salsa"]


def begin(p, v):
    """Begin at each authority, and each hub, with the same probability; a share goes along each edge."""
    p.authority[v] = 1.0 / p.authorities if p.entering[v] > 0 else 0.0
    p.hub[v] = 1.0 / p.hubs if p.leaving[v] > 0 else 0.0
    p.back[v] = p.authority[v] / max(p.entering[v], 1)
    p.ahead[v] = p.hub[v] / max(p.leaving[v], 1)


def is_authority(p, v):
    """1 for a vertex with in-edges."""
    return 1 if p.entering[v] > 0 else 0


def is_hub(p, v):
    """1 for a vertex with out-edges."""
    return 1 if p.leaving[v] > 0 else 0


def turn(p, v):
    """Half a step is done: divide what has come among the edges of the other direction."""
    p.ahead[v] = p.there[v] / max(p.leaving[v], 1)
    p.back[v] = p.here[v] / max(p.entering[v], 1)


def renew(p, v):
    """A step is done; return by how much the two values of v have changed."""
    change = abs(p.here[v] - p.authority[v]) + abs(p.there[v] - p.hub[v])
    if change != 0:  # on a GPU a store had better not follow a load at once: docs/cuda.md
        p.authority[v] = p.here[v]
        p.hub[v] = p.there[v]
    turn(p, v)
    return change


#: Both walks make half a step: along an edge goes what its target has for the way back, or its source for the way on.
_HALF = (
    fr.Gather(**fr.semiring("plus_first", "back", edges="out"), into="there"),
    fr.Gather(**fr.semiring("plus_first", "ahead"), into="here"),
)


class SALSA(fr.Enactor):
    """Both walks, step after step."""

    loop = (
        fr.Reduce(is_authority, "sum", into="authorities", over="vertices"),
        fr.Reduce(is_hub, "sum", into="hubs", over="vertices"),
        fr.Compute(begin, over="vertices"),
        iterations(*_HALF, fr.Compute(turn), *_HALF, fr.Reduce(renew, "sum", into="change")),
    )


@dataclass(frozen=True)
class SALSAResult:
    """Result of :func:`salsa`.

    Attributes
    ----------
    hub, authority : ndarray of float64, shape (n,)
        Each sums to 1, or is 0 everywhere if the graph has no edges.
    iterations : int
    error : float
        L1 change of both in the last iteration.
    tolerance : float
    """

    hub: NDArray[Any]
    authority: NDArray[Any]
    iterations: int
    error: float
    tolerance: float


@primitive(
    "salsa", "hubs and authorities of every vertex, by random walks",
    arguments=ARGUMENTS[:2], columns=("hub", "authority"),
    report=facts(best_hub="hub", best_authority="authority"), bench_options={"tolerance": 1e-6},
)  # fmt: skip
def salsa(
    g: fr.Graph, *, tolerance: float = 1e-9, max_iterations: int = 10_000, schedule: fr.Schedule | None = None
) -> SALSAResult:
    """Hub and authority values of every vertex, by random walks.

    Parameters
    ----------
    g : Graph
        Parallel edges count separately; weights are not used.
    tolerance : float
        Stop when the sum of all changes of one iteration is below it; with 0, run ``max_iterations``.
    max_iterations : int
    schedule : Schedule, optional

    Returns
    -------
    SALSAResult

    Raises
    ------
    NotConvergedError
        After ``max_iterations``, unless ``tolerance`` is 0; its ``result`` holds the values so far.
    GraphError
        For arguments out of range.

    Notes
    -----
    O(n + m) work an iteration. In each connected piece of the graph of hubs and authorities, authorities are
    proportional to in-degrees, and hub values to out-degrees; the share of a piece is its share of the authorities, or
    of the hubs.
    """
    n = g.num_vertices
    p = fr.Problem(
        g,
        hub=fr.vertex("float64"),
        authority=fr.vertex("float64"),
        here=fr.vertex("float64"),
        there=fr.vertex("float64"),
        ahead=fr.vertex("float64"),
        back=fr.vertex("float64"),
        entering=fr.vertex("int64", g.in_degree),
        leaving=fr.vertex("int64", g.out_degree),
        authorities=fr.scalar("int64"),
        hubs=fr.scalar("int64"),
        **scalars(tolerance, max_iterations),
    )
    if n:
        SALSA(p, schedule).run()
    result = SALSAResult(p.hub, p.authority, int(p.iterations), float(p.change), float(tolerance))
    return settled("SALSA", result, SLOW)
