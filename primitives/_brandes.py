"""Brandes' betweenness centrality as declared programs.

For every source a breadth-first search that counts shortest paths, level by level, then the levels in reverse, where
every vertex gathers from those one level farther (Brandes: A faster algorithm for betweenness centrality, 2001). The
recorded frontiers of the way out are replayed on the way back, as in Gunrock and GAP; the way back needs no atomics.
All sources are one program.
"""

from __future__ import annotations

import frontier as fr

__all__ = [
    "BatchedBetweenness",
    "Betweenness",
    "FoldedBetweenness",
    "GatheredBetweenness",
    "ahead",
    "collect",
    "depend",
    "discover",
]


def clear(p, v):  # type: ignore[no-untyped-def]
    """Forget the source before."""
    p.level[v] = -1
    p.sigma[v] = 0.0
    p.passed[v] = 0.0


def seed(p, v):  # type: ignore[no-untyped-def]
    """One path leads to the source."""
    p.level[v] = 0
    p.sigma[v] = 1.0


def discover(p, src, dst):  # type: ignore[no-untyped-def]
    """Add the paths to src to those of dst; whoever meets dst first brings it into the next level."""
    first = p.level[dst] == -1 and fr.atomic_cas(p.level, dst, -1, p.depth) == -1
    fr.atomic_add(p.sigma, dst, p.sigma[src])
    return first


def ahead(p, dst):  # type: ignore[no-untyped-def]
    """One level farther; stays true during a step, for all paths must be counted."""
    return p.level[dst] == -1 or p.level[dst] == p.depth


def depend(p, src, dst):  # type: ignore[no-untyped-def]
    """What every path to dst passes back: nothing yet, unless dst is farther than src, and then by one level."""
    return p.passed[dst]


def pass_back(p, v):  # type: ignore[no-untyped-def]
    """The dependency of v, and what it passes back for every path to it."""
    dependency = p.sigma[v] * p.sum[v]
    p.passed[v] = (1.0 + dependency) / p.sigma[v]
    return dependency


def collect(p, v):  # type: ignore[no-untyped-def]
    """Add the dependency of v, unless it is a source."""
    dependency = pass_back(p, v)
    if p.level[v] > 0:
        p.centrality[v] += dependency


def unreached(p, dst):  # type: ignore[no-untyped-def]
    """Nobody has met dst yet."""
    return p.level[dst] == -1


def reach(p, src, dst):  # type: ignore[no-untyped-def]
    """Whoever meets dst first brings it into the next level; paths are counted once it is complete."""
    return unreached(p, dst) and fr.atomic_cas(p.level, dst, -1, p.depth) == -1


def arrive(p, src, dst):  # type: ignore[no-untyped-def]
    """The paths to dst by way of src: none yet, unless src is nearer, and then by one level."""
    return p.sigma[src]


def settle(p, v):  # type: ignore[no-untyped-def]
    """The paths to v."""
    p.sigma[v] = p.sum[v]


def hand_back(p, src, dst):  # type: ignore[no-untyped-def]
    """What every path to dst passes back, computed for the edge."""
    return p.sum[dst] + 1.0 / p.sigma[dst] if p.level[dst] == p.level[src] + 1 else 0.0


def credit(p, v):  # type: ignore[no-untyped-def]
    """Add the dependency of v, unless it is a source or was not reached."""
    if p.level[v] > 0:
        p.centrality[v] += p.sigma[v] * p.sum[v]


def begin(p, v):  # type: ignore[no-untyped-def]
    """Forget the source before; one path leads to the next one of this copy of the graph."""
    first = p.starts[v] == p.turn
    p.level[v] = 0 if first else -1
    p.sigma[v] = 1.0 if first else 0.0
    p.passed[v] = 0.0
    return first


def next_source(p):  # type: ignore[no-untyped-def]
    """The source of this turn."""
    return p.sources[p.turn - 1]


def zero(p):  # type: ignore[no-untyped-def]
    """Levels are counted anew."""
    return 0


#: Forget the source before, and begin with the next.
_BEGIN = (
    fr.Set(source=next_source, depth=zero),
    fr.Compute(clear, over="vertices"),
    fr.Compute(seed, over="source"),
)

#: The way out by one step a level, that adds up paths as it meets them.
_ADD = fr.Loop(fr.Advance(discover, where=ahead, unique="claimed"), over="source", count="depth", record="levels")

#: The way back: what is passed back by the level before, then what this level passes back.
_BACK = fr.Loop(fr.Gather(depend, "sum", into="sum", edges="out"), fr.Compute(collect), replay="levels")


class Betweenness(fr.Enactor):
    """Sums of dependencies on all vertices of the array ``sources``."""

    loop = fr.Loop(*_BEGIN, _ADD, _BACK, times="turns", count="turn")


class GatheredBetweenness(fr.Enactor):
    """The same without atomics on numbers of paths, which are gathered: for a GPU, where levels are few and large."""

    loop = fr.Loop(
        *_BEGIN,
        fr.Loop(
            fr.Advance(reach, where=unreached, unique="claimed"),
            fr.Gather(arrive, "sum", into="sum"),
            fr.Compute(settle),
            over="source",
            count="depth",
            record="levels",
        ),
        _BACK,
        times="turns",
        count="turn",
    )


class FoldedBetweenness(fr.Enactor):
    """The same with one step for a level of the way back, not two: for a GPU, where levels are many and small."""

    loop = fr.Loop(
        *_BEGIN,
        _ADD,
        fr.Loop(fr.Gather(hand_back, "sum", into="sum", edges="out", inplace=True), replay="levels"),
        fr.Compute(credit, over="vertices"),
        times="turns",
        count="turn",
    )


class BatchedBetweenness(fr.Enactor):
    """The same on copies of a graph: in turn t every vertex v with ``starts[v] == t`` is a source."""

    loop = fr.Loop(
        fr.Set(depth=zero),
        fr.Sequence(
            fr.Filter(begin),
            fr.Loop(fr.Advance(discover, where=ahead, unique="claimed"), count="depth", record="levels"),
            over="vertices",
        ),
        fr.Loop(fr.Gather(depend, "sum", into="sum", edges="out"), fr.Compute(collect), replay="levels"),
        times="turns",
        count="turn",
    )
