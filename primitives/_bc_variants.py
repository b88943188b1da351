"""Betweenness of large graphs on a GPU: two programs that differ from :class:`frontier.primitives.bc.Betweenness`.

One avoids atomics, which collide on graphs with hubs, by three steps for each level on the way out. The other avoids
steps, which determine the time if levels are many and small: it takes one for each level on the way back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import frontier as fr
from frontier.primitives.bc import BACK, OUT, Betweenness, from_all_sources

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["FoldedBetweenness", "GatheredBetweenness", "variant"]

#: Degree from which on a vertex is a hub.
HUB = 1024


def variant(g: Graph) -> type[fr.Enactor]:
    """Choose a program for a large graph by its degrees."""
    traits = g.traits
    if not g.placement.massively_parallel:
        return Betweenness
    if traits.mean_degree < 8:
        return FoldedBetweenness
    # A directed graph's in-edges would have to be sorted first.
    return GatheredBetweenness if traits.symmetric and traits.max_degree > HUB else Betweenness


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


class GatheredBetweenness(fr.Enactor):
    """For graphs with hubs, on whose numbers of paths atomics would collide."""

    loop = from_all_sources(
        (
            fr.Advance(visit, where=unvisited, unique="claimed"),
            fr.Gather(paths, "sum", into="sum"),
            fr.Compute(count_paths),
        ),
        BACK,
    )


def share_of_farther(p, src, dst):
    """What dst passes back for each path to it, computed for every edge; ``sum`` of dst is its delta by its sigma."""
    return p.sum[dst] + 1.0 / p.sigma[dst] if p.level[dst] == p.level[src] + 1 else 0.0


def add_delta(p, v):
    """Add the dependency of the source on v, unless v was not reached; of the source, only if ends count."""
    if p.level[v] >= 0:
        delta = p.sigma[v] * p.sum[v]
        p.centrality[v] += delta + p.ends if p.level[v] > 0 else p.ends * delta


class FoldedBetweenness(fr.Enactor):
    """For graphs with low degrees and many levels."""

    loop = from_all_sources(
        OUT,
        (fr.Gather(share_of_farther, "sum", into="sum", edges="out", inplace=True),),
        fr.Compute(add_delta, over="vertices"),
    )
