"""SALSA: hubs and authorities by random walks that follow edges forwards and backwards in turn.

The walk of Lempel and Moran (SALSA: the stochastic approach for link-structure analysis, 2001). From an authority it
goes back along one of its in-edges, to a hub, and on along one of the hub's out-edges, to an authority; the authority
of a vertex is the share of the time that it spends there. For hubs it is the same the other way round. Both begin at
any authority, or hub, with the same probability. HITS sums where this averages, so that here a dense corner of the
graph does not take all.

No walk has to be taken. By their proposition 6 authorities are proportional to in-degrees, and hubs to out-degrees, in
each connected piece of the bipartite graph of hubs and authorities; and a piece has its share of all authorities, or of
all hubs. Two hubs are in one piece if they point to one authority, so each hub is joined with the first one that points
to where it points, by the union-find of :mod:`frontier.primitives.cc`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._oriented import undivided
from frontier.primitives._power import ARGUMENTS, facts, scalars
from frontier.primitives.cc import compress, link
from frontier.registry import primitive

__all__ = ["SALSA", "SALSAResult", "salsa"]


def alone(p, v):
    """Each hub is a piece of its own."""
    p.label[v] = v


def source(p, src):
    """The hub from which an edge comes."""
    return src


def join(p, src, dst):
    """Join the pieces of two hubs that point to one authority."""
    return link(p, src, p.first[dst])


class SALSA(fr.Enactor):
    """Find the pieces of the graph of hubs and authorities: the label of a hub, and of an authority's first hub."""

    loop = (
        fr.Compute(alone, over="vertices"),
        fr.Gather(source, "min", into="first", over="vertices"),
        fr.Advance(join, output=None, over="vertices"),
        fr.Compute(compress, over="vertices"),
    )


@dataclass(frozen=True, eq=False, repr=False)
class SALSAResult(fr.Result, columns=("hub", "authority")):
    """Result of :func:`salsa`.

    Attributes
    ----------
    hub, authority : ndarray of float64, shape (n,)
        Each sums to 1, or is 0 everywhere if the graph has no edges.
    iterations : int
        0: values are exact.
    error : float
        0.
    tolerance : float
    """

    hub: NDArray[Any]
    authority: NDArray[Any]
    iterations: int
    error: float
    tolerance: float


@primitive(
    "salsa", "hubs and authorities of every vertex, by random walks",
    arguments=ARGUMENTS[:2],
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
    tolerance, max_iterations
        Checked, as for :func:`hits`, and otherwise without effect: values are exact.
    schedule : Schedule, optional

    Returns
    -------
    SALSAResult

    Raises
    ------
    GraphError
        For arguments out of range.

    Notes
    -----
    Nearly O(n + m) work. In each connected piece of the graph of hubs and authorities, authorities are proportional to
    in-degrees, and hub values to out-degrees; the share of a piece is its share of the authorities, or of the hubs. A
    graph in parts is made whole, on processors, for this.

    Examples
    --------
    >>> result = fr.salsa(fr.from_edges(["ann", "bob"], ["cid", "cid"], directed=True))
    >>> result.authority.round(6)
    array([0., 1., 0.])
    """
    scalars(tolerance, max_iterations)
    n, here = g.num_vertices, undivided(g)
    p = fr.Problem(here, label=fr.vertex(here.id_dtype), first=fr.vertex(here.id_dtype))
    if n:
        SALSA(p, schedule).run()
    xp, into, out = here.placement.memory.xp, here.in_degree, here.out_degree
    hub = _shares(xp, p.label, out)
    authority = _shares(xp, p.label[xp.where(into > 0, p.first, 0)] if n else p.label, into)
    return SALSAResult(hub, authority, 0, 0.0, float(tolerance))


def _shares(xp: Any, piece: NDArray[Any], degree: NDArray[Any]) -> NDArray[np.float64]:
    """Divide 1 among pieces by how many vertices have edges, and in a piece by how many edges a vertex has."""
    counts = degree > 0
    total = int(counts.sum())
    if not total:
        none: NDArray[np.float64] = xp.zeros(len(degree), np.float64)
        return none
    vertices = xp.bincount(piece, weights=counts.astype(np.float64), minlength=len(degree))
    edges = xp.bincount(piece, weights=xp.where(counts, degree, 0).astype(np.float64), minlength=len(degree))
    made: NDArray[np.float64] = degree / xp.maximum(edges, 1)[piece] * (vertices[piece] / total)
    return made
