"""The colouring of :mod:`primitives.color` on a GPU where vertices have few edges.

A byte for each vertex says where it stands in the order, and later its colour. So a vertex reads one byte for each
edge, and most of these bytes are in the cache. It collects the colours of neighbours before it, up to one that has
none yet, at which it goes on in the next pass. Colours are seen in the pass in which they are given, so chains of
vertices that wait for one another take fewer passes than they are long; what is seen and when does not change the
colours. (Bytes for order and decision in one are those of ECL-MIS, see :mod:`primitives.maximal_independent_set`.)
"""

from __future__ import annotations

import frontier as fr
from frontier.primitives._greedy import CLASS, WINDOW, least_free
from frontier.primitives._ranked import draw

__all__ = ["ColoringOfLowDegrees", "lowest_degrees"]

#: Bits of the highest degree; and edges of a vertex on average. With more, vertices wait in long chains, and to look
#: again in every pass takes longer than to be told: urand23, 32 edges each, has 72 passes and took 89 ms instead of 35.
BITS, MEAN = 6, 8

#: Neighbours that are read at once.
AT_ONCE = (3, 2, 1, 0)


def lowest_degrees(g: fr.Graph) -> bool:
    """Whether this program can colour a graph, and does so faster than others: a number has a bit for each colour."""
    return g.num_slots <= MEAN * g.num_vertices and g.max_degree < WINDOW


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


def shown(p, v):
    """Store the colour of v, and return how many there are up to it."""
    p.color[v] = -1 - p.state[v]
    return -p.state[v]


class ColoringOfLowDegrees(fr.Enactor):
    """The frontier contains the vertices that have no colour."""

    loop = (
        fr.Compute(rank_in_a_byte, over="vertices"),
        fr.Loop(fr.Filter(decide), over="vertices", count="rounds"),
        fr.Reduce(shown, "max", into="count", over="vertices"),
    )
