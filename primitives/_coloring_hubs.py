"""The hubs of :mod:`primitives.color`: the vertices of high degree are coloured part by part, not one by one.

A part are vertices that follow one another in the order: those whose degrees have as many bits, in three portions. All
of a part get a colour at once, the least that no vertex of a part before has. Then each that shares it with an earlier
neighbour in its part takes the least that is free of those that they have now, again and again until none changes.
Every vertex then has the colour that the greedy algorithm gives it, for the first vertex of the part has, and so has
each whose earlier neighbours have. There are about as many rounds as colours, where the longest chain of vertices that
wait for one another may be six times as long; and a round looks at the edges within the part only, which are few.
Prefixes of an order are processed together in Blelloch, Fineman, Shun: Greedy sequential maximal independent set and
matching are parallel on average, SPAA 2012.
"""

from __future__ import annotations

import numpy as np

import frontier as fr
from frontier.primitives._greedy import CLASS, FULL, WINDOW, highest, least, least_free, note
from frontier.primitives._piles import aside
from frontier.primitives._ranked import before

__all__ = ["hubs"]


def bound_before(p):
    """The ranks of a part begin where those of the part before have ended."""
    return p.bound


def next_bound(p):
    """The ranks of a part end after a quarter of its class, a half, or all of it."""
    return (30 - p.bits + (p.turn - 1) // 3) * CLASS + (CLASS >> 2 - (p.turn - 1) % 3)


def of_part(p, v):
    """V is of the part whose turn it is."""
    return p.first <= p.rank[v] < p.bound


def guess(p, v):
    """Give v the least colour that no vertex of a part before has."""
    p.color[v] = least(p, v)
    p.waits[v] = 0


def inside(p, src, dst):
    """Keep the edges to later vertices of the part; count those at dst."""
    if src == dst or p.rank[dst] >= p.bound or not before(p, src, dst):
        return False
    fr.atomic_add(p.waits, dst, 1)
    return True


def limit(p, v):
    """Where the words end that v may need: for the colours in use, and one for each of its part that is before."""
    p.end[v] = min(p.row[v + 1], p.row[v] + (p.count + p.waits[v]) // WINDOW + 1)


def mention(p, src, dst):
    """Set the bit of a colour among those that vertices of the same part have now."""
    word = p.row[dst] + p.color[src] // WINDOW
    if word < p.end[dst]:
        fr.atomic_or(p.used, word, 1 << p.color[src] % WINDOW)


def renew(p, v):
    """Give v the least colour that is free now; 1 if it is another one. Four words are read at once."""
    row, end = p.row[v], p.end[v]
    color, word = np.int64(-1), row
    while color < 0:
        for ahead in (3, 2, 1, 0):
            at = min(word + ahead, end - 1)
            bits = p.taken[at] | p.used[at]
            if bits != FULL:
                color = (at - row) * WINDOW + least_free(bits)
        word += 4
    for at in range(row, end):
        p.used[at] = 0
    changed = color != p.color[v]
    p.color[v] = color
    return 1 if changed else 0


def settled(p):
    """No vertex has changed its colour."""
    return p.changed == 0


def most_so_far(p):
    """The number of colours of all parts so far."""
    return max(p.count, p.most)


def tell(p, src, dst):
    """Let a vertex of a later part note the colour."""
    if p.rank[dst] >= p.bound:
        note(p, src, dst)


hubs = fr.Loop(
    fr.Set(first=bound_before, bound=next_bound),
    fr.Sequence(fr.Filter(of_part), fr.Split(aside, rest="part"), over="vertices"),
    fr.Compute(guess, over="part"),
    fr.Sequence(
        fr.Advance(inside, output="edge"),
        fr.Compute(limit, over="part"),
        fr.Loop(
            fr.Compute(mention),
            fr.Reduce(renew, "sum", into="changed", over="part"),
            until=settled,
            count="rounds",
        ),
        over="part",
    ),
    fr.Reduce(highest, "max", into="most", over="part"),
    fr.Set(count=most_so_far),
    fr.Advance(tell, output=None, over="part"),
    fr.Take("part"),
    times="parts",
    count="turn",
)
