"""Parents of shortest paths from their distances, which may follow the search in :func:`frontier.sssp`.

An edge is tight if the distance of its target is that of its source plus its weight. One traversal finds tight edges
from strictly nearer vertices, then tight edges of weight zero are claimed for the remaining vertices. So parents form a
tree even with zero weights, which neither choosing any tight edge nor packing the parent into the distance would
guarantee.
"""

from __future__ import annotations

import frontier as fr

__all__ = ["EarlyParents", "Parents", "PushedParents", "parents_of"]


def nearer(p, src, dst, weight):
    """Whether an edge from a strictly nearer vertex is tight; one of infinite weight leads nowhere."""
    there = p.distance[dst]
    return p.distance[src] < there and p.distance[src] + weight == there and there < p.unreached


def parent(p, src, dst, weight):
    """The source of the edge, if it may be the parent."""
    return src if nearer(p, src, dst, weight) else -1


def adopt(p, src, dst, weight):
    """A strictly nearer vertex whose edge is tight becomes the parent."""
    if nearer(p, src, dst, weight):
        fr.atomic_cas(p.parent, dst, -1, src)


def orphan(p, dst):
    """Reached, but without a parent."""
    return p.parent[dst] == -1 and p.distance[dst] < p.unreached


def settled(p, dst, weight):
    """Unreached, or with a parent, so that no more edges need be looked at."""
    return p.parent[dst] != -1 or p.distance[dst] >= p.unreached


def placed(p, v):
    """Has a parent."""
    return p.parent[v] != -1


def follow(p, src, dst, weight):
    """Along a tight edge of weight zero: a vertex with a parent claims one without."""
    return p.distance[src] + weight == p.distance[dst] and fr.atomic_cas(p.parent, dst, -1, src) == -1


def waits(p, v):
    """1 for a reached vertex without a parent; what a gather gives without in-edges is no parent."""
    if v == p.source:
        p.parent[v] = v
    elif p.parent[v] < 0:
        p.parent[v] = -1
    return 1 if p.parent[v] == -1 and p.distance[v] < p.unreached else 0


def some(p):
    """Once, if any vertex waits."""
    return 1 if p.orphans > 0 else 0


#: Vertices that still have no parent find one along edges of weight zero, from vertices that have one.
_REST = (
    fr.Reduce(waits, "sum", into="orphans"),
    fr.Set(orphans=some),
    fr.Loop(
        fr.Filter(placed),
        fr.Loop(fr.Advance(follow, where=orphan, unique="claimed")),
        times="orphans",
    ),
)


class Parents(fr.Enactor):
    """A tree of shortest paths from distances, over in-edges: every vertex looks for its parent."""

    loop = fr.Sequence(fr.Gather(parent, "max", into="parent"), *_REST, over="vertices")


class PushedParents(fr.Enactor):
    """The same over out-edges only."""

    loop = fr.Sequence(fr.Advance(adopt, where=orphan, output=None), *_REST, over="vertices")


class EarlyParents(fr.Enactor):
    """The same over in-lists in ascending order of weight, of which mostly the first edges lead to the parent."""

    loop = fr.Sequence(fr.Advance(adopt, stop=settled, output=None, edges="in"), *_REST, over="vertices")


def parents_of(g: fr.Graph, schedule: fr.Schedule | None) -> tuple[type[fr.Enactor], fr.Schedule | None]:
    """Return the program for parents, which uses in-edges only if they need not be built first, and its schedule."""
    if g.is_sorted_by_weight:
        return EarlyParents, schedule
    if g.symmetric:
        return Parents, schedule
    return PushedParents, (schedule or fr.Schedule()).replace(direction="push")
