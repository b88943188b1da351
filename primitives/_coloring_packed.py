"""The colouring of :mod:`primitives.color` on a GPU where no vertex has many edges, by one number for each vertex.

The number holds how many neighbours a vertex waits for, and below it a bit for each of 24 colours that neighbours have;
once the vertex has a colour, it is negative. So to tell a neighbour takes one place in memory, and those of 8 million
vertices fit in the cache of a large GPU: urand23 took 26.5 ms with bits, counts and colours in arrays of their own, and
12.5 with these. A graph that needs more colours is coloured anew, by the program for all graphs.
"""

from __future__ import annotations

import frontier as fr
from frontier.primitives._greedy import least_free, rank
from frontier.primitives._ranked import before

__all__ = ["COLORS", "ColoringPacked", "low_degrees"]

#: Colours that have a bit, and what the number holds above them for each neighbour that a vertex waits for.
COLORS = 24
ONE = 1 << COLORS

#: Neighbours that can be counted there.
MOST = 2 ** (31 - COLORS) - 1


def low_degrees(g: fr.Graph) -> bool:
    """Whether a number has room for all neighbours of a vertex."""
    return bool(g.max_degree <= MOST)


def earlier(p, src, dst):
    """Count a neighbour that is coloured before dst."""
    return ONE if src != dst and before(p, src, dst) else 0


def paint(p, v):
    """Give v the least colour that is free, unless it must wait for a neighbour."""
    if p.state[v] >= ONE:
        return False
    p.state[v] = -1 - least_free(p.state[v])
    return True


def release(p, src, dst):
    """Tell a neighbour that has no colour yet, so comes later; true for the last one that it waits for."""
    state, color = p.state[dst], -1 - p.state[src]
    if state < 0:
        return False
    if color < COLORS and state & (1 << color) == 0:
        fr.atomic_or(p.state, dst, 1 << color)
    return fr.atomic_add(p.state, dst, -ONE) < 2 * ONE


def shown(p, v):
    """Store the colour of v, and return how many there are up to it."""
    p.color[v] = -1 - p.state[v]
    return -p.state[v]


class ColoringPacked(fr.Enactor):
    """Each vertex waits for neighbours; if ``count`` is more than COLORS in the end, the colours are not valid."""

    loop = (
        fr.Compute(rank, over="vertices"),
        fr.Sequence(
            fr.Gather(earlier, "sum", into="state"),
            fr.Loop(fr.Filter(paint), fr.Advance(release, unique="claimed"), count="rounds"),
            over="vertices",
        ),
        fr.Reduce(shown, "max", into="count", over="vertices"),
    )
