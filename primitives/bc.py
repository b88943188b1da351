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
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import frontier as fr
from frontier.errors import FrontierError
from frontier.graph.labels import called
from frontier.graph.several import is_several
from frontier.program.problem import Field
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
    """Compute the dependency of the source on v, and the share of v; a source is not inside its own paths."""
    delta = p.sigma[v] * p.sum[v]
    p.share[v] = (1.0 + delta) / p.sigma[v]
    if p.level[v] > 0:
        p.centrality[v] += delta


class Betweenness(fr.Enactor):
    """Sum the dependencies over all sources; the sources of turn t are the vertices with ``starts[v] == t``."""

    loop = fr.Loop(
        fr.Set(depth=0),
        fr.Sequence(
            fr.Filter(begin),
            fr.Loop(fr.Advance(discover, where=ahead, unique="claimed"), count="depth", record="levels"),
            over="vertices",
        ),
        fr.Loop(fr.Gather(share, "sum", into="sum", edges="out"), fr.Compute(accumulate), replay="levels"),
        times="turns",
        count="turn",
    )


#: Fields of the problem; ``sum`` holds the sum of the shares that a vertex gathers.
FIELDS: dict[str, Field] = {
    "level": fr.vertex("int32", -1, combine="min"),
    "sigma": fr.vertex("float64", combine="sum"),
    "sum": fr.vertex("float64", combine="sum"),
    "share": fr.vertex("float64"),
    "centrality": fr.vertex("float64", combine="sum"),
    "depth": fr.scalar("int32"),
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
    """

    centrality: NDArray[Any]
    sources: NDArray[Any]
    normalized: bool
    sampled: bool = False


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


@primitive(
    "bc", "betweenness centrality, exact or from some sources",
    arguments=(
        Argument("--sources", "number of sources drawn at random, or 'all' (default)",
                 type=lambda text: None if text == "all" else int(text)),
        Argument("--normalized", "divide by the number of pairs (default: no)", type=bool),
    ),
    verify="betweenness", report=_facts, bench_options={"sources": 4, "seed": 1},
    memory=_plan,
)  # fmt: skip
def betweenness(
    g: fr.Graph,
    sources: int | ArrayLike | None = None,
    *,
    normalized: bool = False,
    seed: int | None = None,
    schedule: fr.Schedule | None = None,
) -> BetweennessResult:
    """Betweenness centrality of every vertex: the share of shortest paths, by number of edges, that pass through it.

    Parameters
    ----------
    g : Graph
        It should have no parallel edges, because they would count as different paths.
    sources : int, sequence of vertices, Frontier or mask, optional
        The sources, of which the centralities are the sums; all vertices by default. Or a number of sources to draw at
        random, from which those of all vertices are estimated: what k vertices give to another one is multiplied by
        (n - 1) / k, and k is one less for one of these, which is not inside its own paths. As NetworkX does with
        ``betweenness_centrality_subset``, and with ``k=``.
    normalized : bool
        Whether to divide by the number of pairs, (n - 1)(n - 2), or half of it if each pair counts once.
    seed : int, optional
        The seed for drawing sources; by default a different one each time.
    schedule : Schedule, optional

    Returns
    -------
    BetweennessResult

    Raises
    ------
    GraphError
        If a source does not exist.
    FrontierError
        If two vertices have more than 1e308 shortest paths between them.

    Notes
    -----
    O(n + m) work for each source. The last bits depend on the order in which paths are added. On a small graph, many
    sources are processed at once, each in its own copy of the graph. The copies take at most 3 MB of host memory, or
    1.3 GB of GPU memory and never more than half of what is free there.
    """
    batch = fr.BatchedSources(g, sources, Betweenness, FIELDS, schedule, seed=seed)
    batch.enactor = _program(g, batch.copies)
    batch.run()
    centrality = batch.sum("centrality")
    if not np.isfinite(centrality).all():
        raise FrontierError("two vertices have more shortest paths between them than float64 can count")
    pairs = (g.num_vertices - 1) * (g.num_vertices - 2)
    if not g.directed:
        centrality /= 2  # each pair has been counted from both of its ends
        pairs //= 2
    if normalized and pairs > 0:
        centrality /= pairs
    sampled = sources is not None and not is_several(sources)
    if sampled:
        counted = np.full(g.num_vertices, len(batch.sources))
        counted[batch.sources] -= 1
        centrality *= g.placement.memory.moved(max(g.num_vertices - 1, 0) / np.maximum(counted, 1))
    return BetweennessResult(centrality, g.placement.memory.moved(batch.sources), normalized, sampled)


def _program(g: fr.Graph, copies: int) -> type[fr.Enactor]:
    from frontier.primitives._bc_variants import variant

    return Betweenness if copies > 1 else variant(g, Betweenness)
