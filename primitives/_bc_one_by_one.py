"""Betweenness of large graphs on a GPU: three programs that process the sources of an array one by one.

They differ from :class:`frontier.primitives.bc.Betweenness` in how a source begins. One also avoids atomics, which
collide on graphs with hubs; another avoids steps, which determine the time if levels are many and small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.primitives.bc import FIELDS, accumulate, ahead, discover, share
from frontier.registry import Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.problem import Field
    from frontier.program.schedule import Schedule

__all__ = ["AddedBetweenness", "FoldedBetweenness", "GatheredBetweenness", "dependencies", "plan"]

#: Degree from which on a vertex is a hub.
HUB = 1024


def next_source(p):
    """The source of this turn."""
    return p.sources[p.turn - 1]


def clear(p, v):
    """Reset the fields before the next source."""
    p.level[v] = -1
    p.sigma[v] = 0.0
    p.share[v] = 0.0


def seed(p, v):
    """One path leads to the source."""
    p.level[v] = 0
    p.sigma[v] = 1.0


def unvisited(p, dst):
    """The target has not been reached yet."""
    return p.level[dst] == -1


def visit(p, src, dst):
    """The first edge to reach dst puts it into the next level; paths are counted when that is complete."""
    return unvisited(p, dst) and fr.atomic_cas(p.level, dst, -1, p.depth) == -1


def paths(p, src):
    """The number of paths to src; 0 unless src is nearer, and then it is nearer by one level."""
    return p.sigma[src]


def count_paths(p, v):
    """Set the number of paths to v."""
    p.sigma[v] = p.sum[v]


def share_of_farther(p, src, dst):
    """What dst passes back for each path to it, computed for every edge; ``sum`` of dst is its delta by its sigma."""
    return p.sum[dst] + 1.0 / p.sigma[dst] if p.level[dst] == p.level[src] + 1 else 0.0


def add_delta(p, v):
    """Add the dependency of the source on v, unless v is the source or was not reached."""
    if p.level[v] > 0:
        p.centrality[v] += p.sigma[v] * p.sum[v]


#: Reset the fields, and begin with the next source.
_BEGIN = (
    fr.Set(source=next_source, depth=0),
    fr.Compute(clear, over="vertices"),
    fr.Compute(seed, over="source"),
)

#: The way out in one step per level, which counts paths with atomics.
_ADD = fr.Loop(fr.Advance(discover, where=ahead, unique="claimed"), over="source", count="depth", record="levels")

#: The way out in three steps per level, which gathers numbers of paths.
_GATHER = fr.Loop(
    fr.Advance(visit, where=unvisited, unique="claimed"),
    fr.Gather(paths, "sum", into="sum"),
    fr.Compute(count_paths),
    over="source",
    count="depth",
    record="levels",
)

#: The way back in two steps per level.
_BACK = fr.Loop(fr.Gather(share, "sum", into="sum", edges="out"), fr.Compute(accumulate), replay="levels")

#: The way back in one step per level.
_FOLD = fr.Loop(fr.Gather(share_of_farther, "sum", into="sum", edges="out", inplace=True), replay="levels")


class AddedBetweenness(fr.Enactor):
    """The steps of ``bc.Betweenness``, best if degrees are similar."""

    loop = fr.Loop(*_BEGIN, _ADD, _BACK, times="turns", count="turn")


class GatheredBetweenness(fr.Enactor):
    """For graphs with hubs, on whose numbers of paths atomics would collide."""

    loop = fr.Loop(*_BEGIN, _GATHER, _BACK, times="turns", count="turn")


class FoldedBetweenness(fr.Enactor):
    """For graphs with low degrees and many levels."""

    loop = fr.Loop(*_BEGIN, _ADD, _FOLD, fr.Compute(add_delta, over="vertices"), times="turns", count="turn")


def dependencies(g: Graph, sources: NDArray[Any], schedule: Schedule | None) -> NDArray[Any]:
    """Sum the dependencies of the sources on every vertex."""
    p = fr.Problem(g, **fields(g, sources))
    if len(sources):
        program(g)(p, schedule).run()
    found: NDArray[Any] = p.centrality
    return found


def program(g: Graph) -> type[fr.Enactor]:
    """Choose a program by the degrees of the graph."""
    traits = g.traits
    if traits.mean_degree < 8:
        return FoldedBetweenness
    # A directed graph's in-edges would have to be sorted first.
    return GatheredBetweenness if traits.symmetric and traits.max_degree > HUB else AddedBetweenness


def fields(g: Graph, sources: NDArray[Any]) -> dict[str, Field]:
    """Return the fields of the problem."""
    return {
        "turn": fr.scalar("int64"),
        **FIELDS,
        "sources": fr.array(sources),
        "turns": fr.scalar("int64", len(sources)),
        "source": fr.scalar(g.targets.dtype),
    }


def plan(g: Graph) -> Plan:
    """Return the plan of a call, without the array of sources."""
    return Plan(fields(g, np.zeros(1, np.int64)), [program(g)])
