"""Closeness and harmonic centrality, by breadth-first searches 64 at a time.

The loop is that of :func:`frontier.bfs_many`. Where searches from several sources reach a vertex on one level, their
number is counted in its word, so that each vertex sums the distances from all sources to itself, and no level is kept.
This is what NetworkX's centralities sum. With a sample of sources, sums are estimates (Eppstein and Wang: Fast
approximation of centrality, 2001). Closeness in graphs that are not connected is that of Wasserman and Faust (1994),
harmonic centrality that of Boldi and Vigna (Axioms for centrality, 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.generators.random_numbers import whole
from frontier.graph.labels import called
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import check_number
from frontier.primitives.bfs_many import BFSMany, arrive, many_fields, places, settle
from frontier.registry import Argument, primitive

__all__ = ["Closeness", "ClosenessResult", "Harmonic", "HarmonicResult", "closeness", "harmonic"]


def ones_of_half(x):
    """The number of ones in a word of 32 bits: in pairs, in fours, in eights, then their sum."""
    x = x - ((x >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return ((x * 0x01010101) >> 24) & 0xFF


def ones(x):
    """The number of ones in a word of 64 bits."""
    return ones_of_half(x & 0xFFFFFFFF) + ones_of_half((x >> 32) & 0xFFFFFFFF)


def add_distances(p, v):
    """Count the searches that reach v now, and add their distances."""
    count = ones(arrive(p, v))
    p.reached[v] += count
    p.total[v] += count * p.depth


def add_inverses(p, v):
    """Add the inverse distances of the searches that reach v now."""
    p.total[v] += ones(arrive(p, v)) / p.depth


class Closeness(fr.Enactor):
    """The sum of the distances from all sources to each vertex, and their number."""

    loop = BFSMany.program().replace({settle: add_distances})


class Harmonic(fr.Enactor):
    """The sum of the inverse distances from all sources to each vertex."""

    loop = BFSMany.program().replace({settle: add_inverses})


@dataclass(frozen=True)
class ClosenessResult:
    """Result of :func:`closeness`.

    Attributes
    ----------
    centrality : ndarray of float64, shape (n,)
    reached : ndarray of int64, shape (n,)
        From how many other sources there is a path to v.
    total : ndarray of int64, shape (n,)
        The sum of their distances to v.
    """

    centrality: NDArray[Any]
    reached: NDArray[Any]
    total: NDArray[Any]


@dataclass(frozen=True)
class HarmonicResult:
    """Result of :func:`harmonic`.

    Attributes
    ----------
    centrality : ndarray of float64, shape (n,)
    """

    centrality: NDArray[Any]


def _facts(g: fr.Graph, result: ClosenessResult | HarmonicResult) -> dict[str, Any]:
    centrality = np.asarray(to_host(result.centrality))
    if not len(centrality):
        return {"highest": "none"}
    best = int(centrality.argmax())
    return {"highest": f"{centrality[best]:.6g} at {called(best, g.labels)}", "mean": float(centrality.mean())}


_ABOUT = {
    "arguments": (Argument("--sources", "distances from so many random vertices (default: all)", type=int),),
    "columns": ("centrality",),
    "report": _facts,
    "bench_options": {"sources": 64},
}


@primitive("closeness", "closeness of every vertex", **_ABOUT)
def closeness(
    g: fr.Graph, *, sources: Any = None, seed: int = 0, schedule: fr.Schedule | None = None
) -> ClosenessResult:
    """Closeness of every vertex: the inverse of its mean distance from the others.

    Parameters
    ----------
    g : Graph
        Edges have length 1. In a directed graph, distances are those *to* the vertex, as in NetworkX.
    sources : int, or sequence of vertices (labels, if the graph has labels), optional
        Measure distances from these vertices only, or from so many random ones. By default from all.
    seed : int
        Of the random vertices.
    schedule : Schedule, optional

    Returns
    -------
    ClosenessResult
        The mean is that of the other sources from which there is a path; its inverse is multiplied by the share of
        these among the other sources. A vertex that none reaches has 0.

    Raises
    ------
    GraphError
        If a source does not exist, or their number is out of range.

    Notes
    -----
    At most O(n + m) work for each source; 64 of them share a traversal.
    """
    p, others = _run(g, Closeness, sources, seed, schedule, total="int64", reached="int64")
    total, reached = p.total, p.reached
    near = reached.astype(np.float64)
    return ClosenessResult(near / np.maximum(total, 1) * (near / np.maximum(others, 1)), reached, total)


@primitive("harmonic", "harmonic centrality of every vertex", **_ABOUT)
def harmonic(g: fr.Graph, *, sources: Any = None, seed: int = 0, schedule: fr.Schedule | None = None) -> HarmonicResult:
    """Harmonic centrality of every vertex: the sum of the inverse distances from the others.

    Parameters
    ----------
    g : Graph
        Edges have length 1. In a directed graph, distances are those *to* the vertex, as in NetworkX.
    sources : int, or sequence of vertices (labels, if the graph has labels), optional
        Measure distances from these vertices only, or from so many random ones, and multiply the sums accordingly. By
        default from all.
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
    p, others = _run(g, Harmonic, sources, seed, schedule, total="float64")
    return HarmonicResult(p.total * (max(g.num_vertices - 1, 0) / np.maximum(others, 1)))


def _run(
    g: fr.Graph, program: type[fr.Enactor], sources: Any, seed: int, schedule: fr.Schedule | None, **dtypes: str
) -> tuple[fr.Problem, Any]:
    """Return the problem after the searches, and how many sources each vertex has besides itself."""
    n = g.num_vertices
    if sources is None:
        place = np.arange(n)
    elif not hasattr(sources, "__iter__"):
        check_number("sources", sources, lambda x: 1 <= x == int(x), "a whole number, at least one, or vertices")
        place = np.full(n, -1)
        chosen = np.random.default_rng(whole("seed", seed, 0)).permutation(n)[: int(sources)]
        place[np.sort(chosen)] = np.arange(len(chosen))
    else:
        place, which = places(g, sources)
        if not len(which):
            raise GraphError("sources holds no vertex")
    is_source = place >= 0
    fields = {name: fr.vertex(dtype) for name, dtype in dtypes.items()}
    p = fr.Problem(g, **many_fields(g, place, int(is_source.sum())), **fields)
    program(p, schedule).run()
    return p, g.placement.memory.moved((is_source.sum() - is_source).astype(np.float64))
