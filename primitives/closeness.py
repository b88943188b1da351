"""Closeness centrality, by breadth-first searches 64 at a time.

The loop is that of :func:`frontier.bfs_many`. Where searches from several sources reach a vertex on one level, their
number is counted in its word, so that each vertex sums the distances from all sources to itself, and no level is kept.
This is what NetworkX's centralities sum. With a sample of sources, sums are estimates (Eppstein and Wang: Fast
approximation of centrality, 2001). Closeness in graphs that are not connected is that of Wasserman and Faust (1994).
By weights, distances are those of :func:`frontier.sssp_many`.
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
from frontier.primitives.harmonic import Harmonic as Harmonic  # which may be looked for here
from frontier.primitives.harmonic import HarmonicResult as HarmonicResult
from frontier.primitives.harmonic import harmonic as harmonic
from frontier.registry import primitive

__all__ = ["Closeness", "ClosenessResult", "closeness"]


def add_distances(p, v):
    """Count the searches that reach v now, and add their distances."""
    count = ones(arrive(p, v))
    p.reached[v] += count
    p.total[v] += count * p.depth


class Closeness(fr.Enactor):
    """The sum of the distances from all sources to each vertex, and their number."""

    loop = BFSMany.program().replace({settle: add_distances})


@dataclass(frozen=True, eq=False, repr=False)
class ClosenessResult(fr.Result, columns=("centrality", "reached", "total")):
    """Result of :func:`closeness`.

    Attributes
    ----------
    centrality : ndarray of float64, shape (n,)
    reached : ndarray of int64, shape (n,)
        From how many other sources there is a path to v.
    total : ndarray of int64, or float64 by weights, shape (n,)
        The sum of their distances to v.
    """

    centrality: NDArray[Any]
    reached: NDArray[Any]
    total: NDArray[Any]


@primitive("closeness", "closeness of every vertex", **ABOUT)
def closeness(
    g: fr.Graph, *, weighted: bool = False, sources: Any = None, seed: int = 0, schedule: fr.Schedule | None = None
) -> ClosenessResult:
    """Closeness of every vertex: the inverse of its mean distance from the others.

    Parameters
    ----------
    g : Graph
        In a directed graph, distances are those *to* the vertex, as in NetworkX.
    weighted : bool
        Whether the lengths of edges are their weights, which must not be negative, instead of 1.
    sources : int, or sequence of vertices (labels, if the graph has labels), optional
        Take the mean of distances from these vertices only, which are all by default. Or a number of random ones, from
        which the mean of all is estimated: it is their mean.
    seed : int
        Of the random vertices.
    schedule : Schedule, optional

    Returns
    -------
    ClosenessResult
        The mean is that of the other sources from which there is a path; its inverse is multiplied by the share of
        these among the other sources. A vertex that none reaches has 0, as has one with a mean distance of 0.

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
    >>> g = fr.from_edges([0, 1], [1, 2], [1, 3])
    >>> fr.closeness(g, weighted=True).centrality
    array([0.4       , 0.5       , 0.28571429])
    """
    if weighted:
        total, reached, others = sum_by_weight(g, sources, seed, schedule, inverse=False)
    else:
        p, others = run(g, Closeness, sources, seed, schedule, total="int64", reached="int64")
        total, reached = p.total, p.reached
    near = reached.astype(np.float64)
    # Where the sum is 0 so is the centrality, whatever is divided by.
    near_by = near * (total > 0) / (total + (total == 0))
    return ClosenessResult(near_by * (near / np.maximum(others, 1)), reached, total)
