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
def harmonic(g: fr.Graph, *, sources: Any = None, seed: int = 0, schedule: fr.Schedule | None = None) -> HarmonicResult:
    """Harmonic centrality of every vertex: the sum of the inverse distances from the others.

    Parameters
    ----------
    g : Graph
        Edges have length 1. In a directed graph, distances are those *to* the vertex, as in NetworkX.
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
        Unreachable vertices add 0.

    Raises
    ------
    GraphError
        If a source does not exist, or their number is out of range.

    Notes
    -----
    At most O(n + m) work for each source; 64 of them share a traversal.
    """
    p, others = run(g, Harmonic, sources, seed, schedule, total="float64")
    if hasattr(sources, "__iter__"):
        return HarmonicResult(p.total)
    return HarmonicResult(p.total * (max(g.num_vertices - 1, 0) / np.maximum(others, 1)))
