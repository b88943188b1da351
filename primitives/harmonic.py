"""Harmonic centrality, by breadth-first searches 64 at a time.

The loop is that of :func:`frontier.bfs_many`, in which the inverse distances of searches that reach a vertex on one
level are added to its sum, as in :mod:`frontier.primitives.closeness`. With a sample of sources, sums are estimated.
This is the centrality of Boldi and Vigna (Axioms for centrality, 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._searches import ABOUT, ones, run
from frontier.primitives._weighted_sums import sum_by_weight
from frontier.primitives.bfs_many import BFSMany, arrive, settle
from frontier.registry import primitive

__all__ = ["Harmonic", "HarmonicResult", "harmonic"]


def add_inverses(p, v):
    """Add the inverse distances of the searches that reach v now."""
    p.total[v] += ones(arrive(p, v)) / p.depth


class Harmonic(fr.Enactor):
    """The sum of the inverse distances from all sources to each vertex."""

    loop = BFSMany.program().replace({settle: add_inverses})


@dataclass(frozen=True, eq=False, repr=False)
class HarmonicResult(fr.Result, columns=("centrality",)):
    """Result of :func:`harmonic`.

    Attributes
    ----------
    centrality : ndarray of float64, shape (n,)
    """

    centrality: NDArray[Any]


@primitive("harmonic", "harmonic centrality of every vertex", **ABOUT)
def harmonic(
    g: fr.Graph, *, weighted: bool = False, sources: Any = None, seed: int = 0, schedule: fr.Schedule | None = None
) -> HarmonicResult:
    """Harmonic centrality of every vertex: the sum of the inverse distances from the others.

    Parameters
    ----------
    g : Graph
        In a directed graph, distances are those *to* the vertex, as in NetworkX.
    weighted : bool
        Whether the lengths of edges are their weights, which must not be negative, instead of 1.
    sources : int, or sequence of vertices (labels, if the graph has labels), optional
        Add up inverse distances from these vertices only; by default from all. Or a number of random ones, from which
        the sums for all are estimated: what k others give is multiplied by (n - 1) / k. As NetworkX does with
        ``sources=``, and with a sample for its betweenness.
    seed : int
        Of the random vertices.
    schedule : Schedule, optional

    Returns
    -------
    HarmonicResult
        Unreachable vertices add 0, as do those at distance 0.

    Raises
    ------
    GraphError
        If a source does not exist, or their number is out of range; ``weighted`` without weights.
    NegativeWeightError
        ``weighted`` with a negative weight.

    Notes
    -----
    At most O(n + m) work for each source; 64 of them share a traversal. By weights, the work of
    :func:`frontier.sssp_many`, whose distances are added up in groups of 128 sources.

    Examples
    --------
    >>> g = fr.from_edges([0, 1], [1, 2], [1, 4])
    >>> fr.harmonic(g, weighted=True).centrality
    array([1.2 , 1.25, 0.45])
    """
    if weighted:
        total, _, others = sum_by_weight(g, sources, seed, schedule, inverse=True)
    else:
        p, others = run(g, Harmonic, sources, seed, schedule, total="float64")
        total = p.total
    if hasattr(sources, "__iter__"):
        return HarmonicResult(total)
    return HarmonicResult(total * (max(g.num_vertices - 1, 0) / np.maximum(others, 1)))
