"""Betweenness of large graphs on a GPU: programs that take the sources of an array one by one.

They differ from :class:`frontier.primitives.bc.Betweenness` in how a source begins, and in what costs least where tens
of thousands of threads meet: where there are hubs, not atomics; where levels are many and small, not steps.
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
    """Forget the source before."""
    p.level[v] = -1
    p.sigma[v] = 0.0
    p.share[v] = 0.0


def seed(p, v):
    """One path leads to the source."""
    p.level[v] = 0
    p.sigma[v] = 1.0


def unvisited(p, dst):
    """Nobody has found dst yet."""
    return p.level[dst] == -1


def visit(p, src, dst):
    """Whoever finds dst first brings it into the next level; paths are counted once it is complete."""
    return unvisited(p, dst) and fr.atomic_cas(p.level, dst, -1, p.depth) == -1


def paths(p, src):
    """The paths by way of src: none yet, unless src is nearer, and then by one level."""
    return p.sigma[src]


def count_paths(p, v):
    """Sigma of v."""
    p.sigma[v] = p.sum[v]


def share_of_farther(p, src, dst):
    """What dst hands each path to it, computed for the edge; ``sum`` of dst times its sigma is its delta."""
    return p.sum[dst] + 1.0 / p.sigma[dst] if p.level[dst] == p.level[src] + 1 else 0.0


def add_delta(p, v):
    """Add the dependency of the source on v, unless v is the source or was not reached."""
    if p.level[v] > 0:
        p.centrality[v] += p.sigma[v] * p.sum[v]


#: Forget the source before, and begin with the next.
_BEGIN = (
    fr.Set(source=next_source, depth=0),
    fr.Compute(clear, over="vertices"),
    fr.Compute(seed, over="source"),
)

#: The way out by one step a level, which adds up paths as it meets them.
_ADD = fr.Loop(fr.Advance(discover, where=ahead, unique="claimed"), over="source", count="depth", record="levels")

#: The way out without atomics on numbers of paths, which are gathered.
_GATHER = fr.Loop(
    fr.Advance(visit, where=unvisited, unique="claimed"),
    fr.Gather(paths, "sum", into="sum"),
    fr.Compute(count_paths),
    over="source",
    count="depth",
    record="levels",
)

#: The way back by two steps a level.
_BACK = fr.Loop(fr.Gather(share, "sum", into="sum", edges="out"), fr.Compute(accumulate), replay="levels")

#: The way back by one step a level.
_FOLD = fr.Loop(fr.Gather(share_of_farther, "sum", into="sum", edges="out", inplace=True), replay="levels")


class AddedBetweenness(fr.Enactor):
    """The steps of ``bc.Betweenness``."""

    loop = fr.Loop(*_BEGIN, _ADD, _BACK, times="turns", count="turn")


class GatheredBetweenness(fr.Enactor):
    """Where all paths lead through hubs, and atomics on their numbers of paths would meet."""

    loop = fr.Loop(*_BEGIN, _GATHER, _BACK, times="turns", count="turn")


class FoldedBetweenness(fr.Enactor):
    """Where degrees are small, and levels many."""

    loop = fr.Loop(*_BEGIN, _ADD, _FOLD, fr.Compute(add_delta, over="vertices"), times="turns", count="turn")


def dependencies(g: Graph, sources: NDArray[Any], schedule: Schedule | None) -> NDArray[Any]:
    """Dependencies of the sources on every vertex, summed."""
    p = fr.Problem(g, **fields(g, sources))
    if len(sources):
        program(g)(p, schedule).run()
    found: NDArray[Any] = p.centrality
    return found


def program(g: Graph) -> type[fr.Enactor]:
    """The one that suits the graph's degrees."""
    traits = g.traits
    if traits.mean_degree < 8:
        return FoldedBetweenness
    # A directed graph's in-edges would have to be sorted first.
    return GatheredBetweenness if traits.symmetric and traits.max_degree > HUB else AddedBetweenness


def fields(g: Graph, sources: NDArray[Any]) -> dict[str, Field]:
    """Of the problem."""
    return {
        "turn": fr.scalar("int64"),
        **FIELDS,
        "sources": fr.array(sources),
        "turns": fr.scalar("int64", len(sources)),
        "source": fr.scalar(g.targets.dtype),
    }


def plan(g: Graph) -> Plan:
    """What a call makes, but for the array of sources."""
    return Plan(fields(g, np.zeros(1, np.int64)), [program(g)])
