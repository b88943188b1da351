"""Betweenness centrality: the share of shortest paths that pass through each vertex.

Brandes' algorithm (A faster algorithm for betweenness centrality, 2001) takes one source s after another. A breadth-
first search counts the shortest paths to each vertex, sigma. Then the levels of the search are processed in reverse
to compute the dependency delta of s on each vertex, which is summed over all sources:

    delta(v) = sum over w of sigma(v) / sigma(w) * (1 + delta(w)),

where w are the vertices one level farther to which v has edges. It is computed as sigma(v) times a sum of shares: the
share of w is (1 + delta(w)) / sigma(w), what it passes back for each shortest path that leads to it.

A loop records its frontiers and another replays them in reverse, as in Gunrock and GAP, instead of the paper's stack.
Every vertex gathers from its neighbours, instead of the paper's lists of predecessors, so the way back needs no
atomics. Small graphs are processed from many sources at once, by :class:`frontier.BatchedSources`.

Weights, targets, and more paths than float64 can count are the matter of :mod:`frontier.primitives._bc_scaled`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import frontier as fr
from frontier.graph.labels import called
from frontier.graph.several import is_several, vertex_ids
from frontier.primitives import _bc_scaled as scaled
from frontier.program.problem import Field
from frontier.program.step import Step
from frontier.registry import Argument, Plan, primitive

__all__ = ["Betweenness", "BetweennessResult", "accumulate", "ahead", "begin", "betweenness", "discover", "share"]


def begin(p, v):
    """Reset v before the next source; True for the source, to which one path leads."""
    source = p.starts[v] == p.turn
    p.level[v] = 0 if source else -1
    p.sigma[v] = 1.0 if source else 0.0
    p.share[v] = 0.0
    return source


def discover(p, src, dst):
    """Add the number of paths to src to that of dst; the first edge to reach dst puts it into the next level."""
    found = p.level[dst] == -1 and fr.atomic_cas(p.level, dst, -1, p.depth) == -1
    fr.atomic_add(p.sigma, dst, p.sigma[src])
    return found


def ahead(p, dst):
    """The target is one level farther; this stays true during the whole step, because every path must be counted."""
    return p.level[dst] == -1 or p.level[dst] == p.depth


def share(p, dst):
    """What dst passes back for each path to it; 0 before its level is processed, so only farther vertices count."""
    return p.share[dst]


def accumulate(p, v):
    """Compute the dependency of the source on v, and the share of v; a source is not inside its own paths.

    If ends count, v is one end of the paths to it, and the source of as many as there are vertices that it reaches.
    """
    delta = p.sigma[v] * p.sum[v]
    p.share[v] = (1.0 + delta) / p.sigma[v]
    p.centrality[v] += delta + p.ends if p.level[v] > 0 else p.ends * delta


#: The steps of a level on the way out, and on the way back.
OUT = (fr.Advance(discover, where=ahead, unique="claimed"),)
BACK = (fr.Gather(share, "sum", into="sum", edges="out"), fr.Compute(accumulate))


def from_all_sources(out: tuple[Step, ...], back: tuple[Step, ...], *last: Step) -> fr.Loop:
    """Turn after turn, process the levels of a search by the steps ``out``, and in reverse by the steps ``back``."""
    search = fr.Sequence(fr.Filter(begin), fr.Loop(*out, count="depth", record="levels"), over="vertices")
    return fr.Loop(fr.Set(depth=0), search, fr.Loop(*back, replay="levels"), *last, times="turns", count="turn")


class Betweenness(fr.Enactor):
    """Sum the dependencies over all sources; the sources of turn t are the vertices with ``starts[v] == t``."""

    loop = from_all_sources(OUT, BACK)


#: Fields of the problem; ``sum`` holds the sum of the shares that a vertex gathers.
FIELDS: dict[str, Field] = {
    "level": fr.vertex("int32", -1, combine="min"),
    "sigma": fr.vertex("float64", combine="sum"),
    "sum": fr.vertex("float64", combine="sum"),
    "share": fr.vertex("float64"),
    "centrality": fr.vertex("float64", combine="sum"),
    "depth": fr.scalar("int32"),
    "ends": fr.scalar("float64"),
}


@dataclass(frozen=True, eq=False, repr=False)
class BetweennessResult(fr.Result, columns=("centrality",)):
    """Result of :func:`betweenness`.

    Attributes
    ----------
    centrality : ndarray of float64, shape (n,)
        Sum over the sources, or its estimate for all vertices; in undirected graphs each pair of vertices counts once.
    sources : ndarray, shape (k,)
        Vertex ids of the sources.
    normalized : bool
    sampled : bool
        Whether sources were drawn, so that this is an estimate.
    targets : ndarray, shape (l,), or None
        Vertex ids of the targets; None for all.
    weighted, endpoints : bool
        The arguments of the call.
    """

    centrality: NDArray[Any]
    sources: NDArray[Any]
    normalized: bool
    sampled: bool = False
    targets: NDArray[Any] | None = None
    weighted: bool = False
    endpoints: bool = False


def _plan(g: fr.Graph) -> Plan:
    plan = fr.BatchedSources.plan(g, g.num_vertices, Betweenness, FIELDS)
    return plan if plan.copies > 1 else replace(plan, runs=[_program(g, 1)])


def _facts(g: fr.Graph, result: BetweennessResult) -> dict[str, Any]:
    facts: dict[str, Any] = {"sources": len(result.sources)}
    if g.num_vertices:
        best = int(result.centrality.argmax())
        facts["highest"] = f"{float(result.centrality[best]):.6g} at {called(best, g.labels)}"
    facts["slots"] = g.num_slots * len(result.sources)
    return facts


#: What the command line takes, also for :func:`frontier.edge_betweenness`.
ARGUMENTS = (
    Argument(
        "--sources", "number of sources drawn at random, or 'all' (default)",
        type=lambda text: None if text == "all" else int(text),
    ),
    Argument("--normalized", "divide by the number of pairs (default: no)", type=bool),
    Argument("--weighted", "shortest paths by weight (default: by number of edges)", type=bool),
)  # fmt: skip


@primitive(
    "bc", "betweenness centrality, exact or from some sources",
    arguments=(*ARGUMENTS, Argument("--endpoints", "count the ends of paths, too (default: no)", type=bool)),
    verify="betweenness", report=_facts, bench_options={"sources": 4, "seed": 1},
    memory=_plan,
)  # fmt: skip
def betweenness(
    g: fr.Graph,
    sources: int | ArrayLike | None = None,
    *,
    targets: ArrayLike | None = None,
    weighted: bool = False,
    endpoints: bool = False,
    normalized: bool = False,
    seed: int | None = None,
    schedule: fr.Schedule | None = None,
) -> BetweennessResult:
    """Betweenness centrality of every vertex: the share of shortest paths that pass through it.

    Parameters
    ----------
    g : Graph
        It should have no parallel edges, because they would count as different paths.
    sources : int, sequence of vertices, Frontier or mask, optional
        The sources, of which the centralities are the sums; all vertices by default. Or a number of sources to draw at
        random, from which those of all vertices are estimated: what k vertices give to another one is multiplied by
        (n - 1) / k, and k is one less for one of these, which is not inside its own paths. As NetworkX does with
        ``betweenness_centrality_subset``, and with ``k=``.
    targets : sequence of vertices, Frontier or mask, optional
        Only paths to these count; by default to all vertices.
    weighted : bool
        Whether shortest paths are those of least weight, not of fewest edges. Weights must be positive. Two paths are
        equally short if their sums are equal: those of integers are exact, those of floats are rounded to float64 after
        each edge, and compared as they are, without a tolerance, as by NetworkX.
    endpoints : bool
        Whether a path also counts for its two ends. An estimate is then n / k times the sum.
    normalized : bool
        Whether to divide by the number of pairs, (n - 1)(n - 2), or half of it if each pair counts once; with
        ``endpoints``, n(n - 1), or half of it.
    seed : int, optional
        The seed for drawing sources; by default a different one each time.
    schedule : Schedule, optional

    Returns
    -------
    BetweennessResult

    Raises
    ------
    GraphError
        If a source or target does not exist, there are more than 2**8388607 paths between two vertices, or if
        ``weighted`` and there are no weights, one is 0, or so small that it is lost in rounding when added to a
        distance.
    NegativeWeightError
        If a weight is negative, and ``weighted``.

    Notes
    -----
    O(n + m) work for each source, by weights that of :func:`frontier.sssp`. The last bits depend on the order in which
    paths are added. On a small graph, many sources are processed at once, each in its own copy of the graph. The copies
    take at most 3 MB of host memory, or 1.3 GB of GPU memory and never more than half of what is free there. Numbers of
    paths may exceed float64, as they do on large grids: then the computation is made once more, with numbers of
    40 bits and an exponent, which later calls on this graph take at once. Weights and targets need these always.

    Examples
    --------
    >>> g = fr.from_edges([0, 0, 1, 2], [1, 2, 3, 3], weights=[1, 2, 1, 2])
    >>> fr.betweenness(g).centrality.tolist(), fr.betweenness(g, weighted=True).centrality.tolist()
    ([0.5, 0.5, 0.5, 0.5], [0.5, 1.0, 0.0, 0.5])
    """
    if seed is None:  # the same sources, if it is computed again
        seed = int(np.random.default_rng().integers(2**62))
    ids = None if targets is None else vertex_ids(g, targets, "targets")
    if weighted:
        scaled.check_positive(g)
    found = None
    beyond: list[bool] = g.cached("paths beyond float64", lambda: [False])  # on large grids, from any source
    if not (weighted or beyond[0]) and ids is None:
        batch = fr.BatchedSources(g, sources, Betweenness, FIELDS, schedule, seed=seed)
        batch.enactor = _program(g, batch.copies)
        batch.problem.ends = float(endpoints)
        batch.run()
        found = batch.sum("centrality")
        beyond[0] = not np.isfinite(found).all()
    if found is None or beyond[0]:
        batch, found = sums(g, sources, ids, weighted, False, endpoints, schedule, seed)
    sampled = sources is not None and not is_several(sources)
    found = scale(g, found, batch.sources if sampled else None, normalized, endpoints)
    moved = g.placement.memory.moved
    return BetweennessResult(
        found, moved(batch.sources), normalized, sampled, None if ids is None else moved(ids), weighted, endpoints
    )


def sums(
    g: fr.Graph, sources: Any, targets: NDArray[Any] | None, weighted: bool, edges: bool, ends: bool,
    schedule: fr.Schedule | None, seed: int | None,
) -> tuple[fr.BatchedSources, NDArray[Any]]:  # fmt: skip
    """Return how sources were processed, and the sums of dependencies on edges, or on vertices, in general."""
    end: Any = 1
    if targets is not None:
        end = np.zeros(g.num_vertices, np.int8)
        end[targets] = 1
    fields = scaled.fields(g, weighted, edges, end, ends)
    batch = fr.BatchedSources(g, sources, scaled.program(weighted, edges), fields, schedule, seed=seed)
    batch.run()
    found = batch.sum("through" if edges else "centrality")
    scaled.check_sums(found, int(batch.problem.lost) if weighted else 0)
    return batch, found


def scale(
    g: fr.Graph, found: NDArray[Any], sample: NDArray[Any] | None, normalized: bool, ends: bool
) -> NDArray[Any]:
    """Turn sums over sources into centralities: of pairs that count once, normalized, estimated from a sample."""
    n = g.num_vertices
    others = n if ends else max(n - 1, 0)  # what may be at one end of a path through a vertex
    pairs = others * (others - 1)
    if not g.directed:
        found /= 2  # each pair has been counted from both of its ends
        pairs //= 2
    if normalized and pairs > 0:
        found /= pairs
    if sample is None:
        return found
    counted = np.full(1 if ends else n, len(sample))
    if not ends:
        counted[sample] -= 1
    found *= g.placement.memory.moved(others / np.maximum(counted, 1))
    return found


def _program(g: fr.Graph, copies: int) -> type[fr.Enactor]:
    from frontier.primitives._bc_variants import variant

    return Betweenness if copies > 1 else variant(g)
