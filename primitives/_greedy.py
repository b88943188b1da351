"""What the programs of :mod:`primitives.color` share: an order of the vertices, and bits of colours."""

from __future__ import annotations

import frontier as fr
from frontier.primitives._ranked import before, draw

__all__ = ["CLASS", "FULL", "WINDOW", "earlier", "highest", "least", "least_free", "note", "rank"]

#: Colours that are looked at together: as many bits as a number has, without its sign.
WINDOW = 62
FULL = 2**WINDOW - 1

#: Ranks of vertices whose degrees have as many bits. Ids decide where ranks are equal; on ten graphs with up to 125
#: colours this needed as many colours as 2**26 ranks, which are no numbers of a byte.
CLASS = 2**4


def rank(p, v):
    """Rank vertices by the number of bits of their degree, from the highest on, and these at random in 16 portions."""
    size = 0
    while fr.degree(p, v) >> size and size < 30:
        size += 1
    p.rank[v] = (30 - size) * CLASS + draw(p, v) // 2**27


def earlier(p, src, dst):
    """1 for a neighbour that is coloured before dst."""
    return 1 if src != dst and before(p, src, dst) else 0


def least_free(bits):
    """The place of the lowest bit that is 0."""
    free, place = ~bits & (bits + 1), 0
    for half in (32, 16, 8, 4, 2, 1):
        if free >> half:
            free >>= half
            place += half
    return place


def least(p, v):
    """The least colour that nobody has told v."""
    word = p.row[v]
    while p.taken[word] == FULL:
        word += 1
    return (word - p.row[v]) * WINDOW + least_free(p.taken[word])


def note(p, src, dst):
    """Set the bit of a colour at dst, if that may need so many colours."""
    word, its_bit = p.row[dst] + p.color[src] // WINDOW, 1 << p.color[src] % WINDOW
    if word < p.row[dst + 1] and p.taken[word] & its_bit == 0:
        fr.atomic_or(p.taken, word, its_bit)


def highest(p, v):
    """The number of colours up to that of v."""
    return p.color[v] + 1
