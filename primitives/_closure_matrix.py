"""The rows of a transitive closure of a dense graph, by a method for matrices.

Words are laid out by columns: ``rows[w * n + v]`` is word w of the row of vertex v.

*Warshall*: 64 pivots at a time (Warshall: A theorem on Boolean matrices, 1962, in blocks). It is found which pivots
each vertex reaches by way of pivots; then every row takes over theirs. What the 256 choices of eight pivots add up to
is tabulated first, so that a word takes eight lookups instead of up to 64 (Arlazarov, Dinic, Kronrod, Faradzev: On
economical construction of the transitive closure of a directed graph, 1970).

*Squaring*: the union of a row with those of all that it reaches doubles the length of paths, until nothing changes
(Xiao et al. 2021). Rows are updated in place: whatever else is there already is reached, too, and saves work. The
matrix is read in *tiles* of 64 times 64 bits, which are 64 words one after another, 512 bytes: those of 64 pivots in
one column of words. A call unites up to 64 words of a tile, as its own word at these pivots says, and goes on to the
next 64 pivots. The lanes of a warp have 32 rows and one column of words, so all of them read the same tile, which stays
in the first-level cache (and in that of a processor), and their own words at the pivots side by side. A call stops
early when its word is full, which on dense graphs is after a few pivots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import frontier as fr
from frontier.primitives._closure_bits import Rows, bit, bits, words_of

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.schedule import Schedule

__all__ = ["BySquaring", "ByWarshall", "of_vertices"]


def mark(p, src, dst):
    """Set the bit of an edge."""
    fr.atomic_or(p.rows, dst // 64 * p.n + src, bit(dst % 64))


def united(p, word, mask, at):
    """A word, and those of the words from ``at`` on whose bits are set in a mask."""
    for b in range(64):
        if (mask >> b) & 1:
            word = word | p.rows[at + b]
    return word


#: Set the bits of all edges.
_MARK = fr.Advance(mark, output=None, over="vertices")


# ---- Warshall --------------------------------------------------------------------------------------------


def following(p):
    """Go on with the next 64 pivots."""
    return p.block + 1


def onward(p, v):
    """The pivots that v reaches, and those that these reach."""
    word = p.rows[p.block * p.n + v]
    return united(p, word, word, p.block * p.n + 64 * p.block)


def close(p, i):
    """Let the i-th pivot reach the pivots that those reach that it reaches."""
    v = 64 * p.block + i
    if v < p.n:
        p.rows[p.block * p.n + v] = onward(p, v)


def note(p, i):
    """Note the pivots that the i-th vertex reaches by way of pivots, as the rows change then."""
    p.mask[i] = onward(p, i)


def tabulate(p, i):
    """Unite the rows of a choice of eight pivots, one word."""
    w = i // 2048
    first = 64 * p.block + i // 256 % 8 * 8
    word = np.int64(0)
    for b in range(8):
        if (i >> b) & 1 and first + b < p.n:
            word = word | p.rows[w * p.n + first + b]
    p.table[i] = word


def take_over(p, i):
    """Let a row take over those of the pivots that it reaches, one word."""
    mask = p.mask[i % p.n]
    if mask != 0:
        first = i // p.n * 2048
        word = p.rows[i]
        for k in range(8):
            word = word | p.table[first + 256 * k + ((mask >> (8 * k)) & 255)]
        p.rows[i] = word


class ByWarshall(fr.Enactor):
    """64 pivots in each turn."""

    loop = (
        _MARK,
        fr.Loop(
            fr.Set(block=following),
            fr.Loop(fr.Compute(close, over=64), times=6),
            fr.Compute(note, over="n"),
            fr.Compute(tabulate, over="choices"),
            fr.Compute(take_over, over="all_words"),
            times="words",
        ),
    )


# ---- squaring --------------------------------------------------------------------------------------------


def square(p, i):
    """Let a row take over those of all that it reaches, one word; 1 if that is more."""
    v = i % p.n
    column = i // p.n * p.n
    word = p.rows[i]
    full = p.last if i // p.n == p.words - 1 else -1  # all vertices
    for w in range(p.words):
        if word == full:
            break
        mask = p.rows[w * p.n + v]
        if mask != 0:
            word = united(p, word, mask, column + 64 * w)
    more = 1 if word != p.rows[i] else 0
    p.rows[i] = word
    return more


def unchanged(p):
    """No row has changed."""
    return p.changed == 0


class BySquaring(fr.Enactor):
    """Square until nothing changes."""

    loop = (_MARK, fr.Loop(fr.Reduce(square, "sum", into="changed", over="all_words"), until=unchanged))


# ---- on the host -----------------------------------------------------------------------------------------


def of_vertices(g: Graph, method: str, schedule: Schedule | None) -> Rows:
    """Rows of all vertices, by one of the methods."""
    memory, n = g.placement.memory, g.num_vertices
    xp = memory.xp
    words = words_of(n, memory, 3 * n * -(-n // 64), "vertices")  # with their initial values, and transposed
    if method == "warshall":
        program: type[fr.Enactor] = ByWarshall
        fields = {name: fr.array(xp.zeros(k, np.int64)) for name, k in (("mask", n), ("table", 2048 * words))}
        scalars = {"block": -1, "choices": 2048 * words}
    else:
        program, fields = BySquaring, {}
        scalars = {"changed": 0, "last": (1 << n % 64) - 1 if n % 64 else -1}
    scalars |= {"n": n, "words": words, "all_words": words * n}
    p = fr.Problem(
        g,
        rows=fr.array(xp.zeros(words * n, np.int64)),
        **fields,
        **{name: fr.scalar("int64", value) for name, value in scalars.items()},
    )
    if n:
        program(p, schedule).run()
    every = xp.arange(n)
    own = (every >> 6) * n + every
    cyclic = p.rows[own] >> (every & 63) & 1 != 0
    p.rows[own] |= bits(memory, every)
    return Rows(every, xp.ascontiguousarray(p.rows.reshape(words, n).T), xp.ones(n, np.int64), cyclic)
