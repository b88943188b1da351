"""The colouring of :mod:`primitives.color` on a GPU: a vertex that has got its colour tells later neighbours.

It sets the colour's bit in a row of bits of each, and lowers the number of neighbours that this one waits for. So an
edge is walked once. A row has a bit for each colour that the vertex may get, and these are no more than its edges and
one.

The neighbours of a graph's hubs are hubs, and thousands of these would wait for one another in a chain. Therefore hubs
are coloured before the others, part by part. A part are vertices that follow one another in the order: those whose
degrees have as many bits, in three portions. All of a part get a colour at once, the least that no vertex of a part
before has. Then each that shares it with an earlier neighbour in its part takes the least that is free of those that
they have now, again and again until none changes. Every vertex then has the colour that the greedy algorithm gives it,
for the first vertex of the part has, and so has each whose earlier neighbours have. There are about as many rounds as
colours, where the longest chain of vertices that wait for one another may be six times as long; and a round looks at
the edges within the part only, which are few. Prefixes of an order are processed together in Blelloch, Fineman, Shun:
Greedy sequential maximal independent set and matching are parallel on average, SPAA 2012.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import frontier as fr
from frontier.primitives._greedy import CLASS, FULL, WINDOW, highest, least, least_free, note, rank
from frontier.primitives._piles import aside
from frontier.primitives._ranked import before

__all__ = ["Coloring", "ColoringWithoutHubs", "classes", "fields"]

#: The least degree of vertices that are coloured in classes, if it is also twice the mean degree.
HUB = 64


def classes(g: fr.Graph) -> int:
    """Return the number of classes of hubs, whose degrees have as many bits."""
    return int(g.max_degree).bit_length() - max(HUB, 2 * g.num_slots // max(g.num_vertices, 1)).bit_length()


# ---- hubs ------------------------------------------------------------------------------------------------


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


_HUBS = fr.Loop(
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


# ---- the others, each of which waits for neighbours -------------------------------------------------------


def few(p, v):
    """V belongs to no part."""
    return p.rank[v] >= p.bound


def later(p, src, dst):
    """1 for a neighbour that belongs to no part either, and is coloured before dst."""
    return 1 if src != dst and p.rank[src] >= p.bound and before(p, src, dst) else 0


def paint(p, v):
    """Give v the least colour that is free, unless it must wait for a neighbour."""
    if p.waits[v] > 0:
        return False
    p.color[v] = least(p, v)
    return True


def release(p, src, dst):
    """Tell a neighbour that has no colour yet, so comes later; true for the last one that it waits for."""
    if p.color[dst] >= 0:
        return False
    note(p, src, dst)
    return fr.atomic_add(p.waits, dst, -1) == 1


_OTHERS = (
    fr.Sequence(
        fr.Filter(few),
        fr.Gather(later, "sum", into="waits"),
        fr.Loop(fr.Filter(paint), fr.Advance(release, unique="claimed"), count="rounds"),
        over="vertices",
    ),
    fr.Reduce(highest, "max", into="count", over="vertices"),
)


class Coloring(fr.Enactor):
    """First the hubs, part by part; then the others, each of which waits for neighbours."""

    loop = (fr.Compute(rank, over="vertices"), _HUBS, *_OTHERS)


class ColoringWithoutHubs(fr.Enactor):
    """The same where there are no hubs; it needs no frontiers of edges."""

    loop = (fr.Compute(rank, over="vertices"), *_OTHERS)


def fields(g: fr.Graph) -> dict[str, Any]:
    """Rows of bits, and numbers of neighbours to wait for; of hubs also the bits of colours that they have now."""
    xp, n, dtype = g.placement.memory.xp, g.num_vertices, g.offsets.dtype
    words = fr.array(xp.zeros(g.num_slots // WINDOW + n + 1, np.int64))
    made = {
        "rank": fr.vertex("int16"),
        "waits": fr.vertex(dtype, combine="sum"),
        "row": fr.array(g.offsets // WINDOW + xp.arange(n + 1, dtype=dtype)),
        "taken": words,
        "bound": fr.scalar("int64"),
    }
    if classes(g) > 0:
        made |= {"part": fr.pile(), "used": words, "end": fr.vertex(dtype), "parts": fr.scalar("int64", 3 * classes(g))}
        made |= {name: fr.scalar("int64") for name in ("turn", "first", "most", "changed")}
        made |= {"bits": fr.scalar("int64", int(g.max_degree).bit_length())}
    return made
