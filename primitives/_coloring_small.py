"""The colouring of :mod:`primitives.color` on a GPU where no vertex has many edges, by one number for each vertex.

*Packed*: the number holds how many neighbours a vertex waits for, and below it a bit for each of 24 colours that
neighbours have; once the vertex has a colour, it is negative. So to tell a neighbour takes one place in memory, and
those of 8 million vertices fit in the cache of a large GPU: urand23 took 26.5 ms with bits, counts and colours in
arrays of their own, and 12.5 with these. A graph that needs more colours is coloured anew, by the program for all.

*Of low degrees*: the number is a byte, which says where a vertex stands in the order, and later its colour. So a vertex
reads one byte for each edge, and most of these bytes are in the cache. It collects the colours of neighbours before it,
up to one that has none yet, at which it goes on in the next pass. Colours are seen in the pass in which they are given,
so chains of vertices that wait for one another take fewer passes than they are long; what is seen and when does not
change the colours. (Bytes for order and decision in one are those of ECL-MIS, see
:mod:`primitives.maximal_independent_set`.)
"""

from __future__ import annotations

import frontier as fr
from frontier.primitives._greedy import CLASS, WINDOW, least_free, rank
from frontier.primitives._ranked import before, draw

__all__ = ["COLORS", "LOW", "MOST", "PACKED", "ColoringOfLowDegrees", "ColoringPacked", "lowest_degrees"]


def shown(p, v):
    """Store the colour of v, and return how many there are up to it."""
    p.color[v] = -1 - p.state[v]
    return -p.state[v]


# ---- packed ----------------------------------------------------------------------------------------------

#: Colours that have a bit, and what the number holds above them for each neighbour that a vertex waits for.
COLORS = 24
ONE = 1 << COLORS

#: Neighbours that can be counted there.
MOST = 2 ** (31 - COLORS) - 1

#: The fields.
PACKED = {"rank": fr.vertex("int16"), "state": fr.vertex("int32", combine="sum")}


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


# ---- of low degrees --------------------------------------------------------------------------------------

#: Bits of the highest degree; and edges of a vertex on average. With more, vertices wait in long chains, and to look
#: again in every pass takes longer than to be told: urand23, 32 edges each, has 72 passes and took 89 ms instead of 35.
BITS, MEAN = 6, 8

#: Neighbours that are read at once.
AT_ONCE = (3, 2, 1, 0)

#: The fields.
LOW = {"state": fr.vertex("int8"), "seen": fr.vertex("int8"), "taken": fr.vertex("int64")}


def lowest_degrees(g: fr.Graph) -> bool:
    """Whether this program can colour a graph, and does so faster than others: a number has a bit for each colour."""
    return bool(g.num_slots <= MEAN * g.num_vertices and g.max_degree < WINDOW)


def rank_in_a_byte(p, v):
    """Rank vertices in the order of :func:`primitives._greedy.rank`."""
    size = 0
    while fr.degree(p, v) >> size and size < BITS:
        size += 1
    p.state[v] = (BITS - size) * CLASS + draw(p, v) // 2**27


def decide(p, v):
    """Give v the least colour that is free; true while it waits for a neighbour."""
    slots = fr.neighbours(p, v)
    mine, taken = p.state[v], p.taken[v]
    place, found = slots.start + p.seen[v], slots.stop
    while found == slots.stop and place < slots.stop:
        for ahead in AT_ONCE:
            e = min(place + ahead, slots.stop - 1)
            u = fr.target(p, e)
            its = p.state[u]
            if its < 0:
                taken |= 1 << (-1 - its)
            elif its < mine or (its == mine and u < v):
                found = e
        place += len(AT_ONCE)
    if found < slots.stop:
        p.seen[v] = found - slots.start
        p.taken[v] = taken
        return True
    p.state[v] = -1 - least_free(taken)
    return False


class ColoringOfLowDegrees(fr.Enactor):
    """The frontier contains the vertices that have no colour."""

    loop = (
        fr.Compute(rank_in_a_byte, over="vertices"),
        fr.Loop(fr.Filter(decide), over="vertices", count="rounds"),
        fr.Reduce(shown, "max", into="count", over="vertices"),
    )
