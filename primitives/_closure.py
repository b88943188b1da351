"""Four ways to make the rows of a transitive closure, as bits.

All of them keep 64 bits in a word of int64, of which bit b of word w says whether column 64 w + b is reached.

*Condensation*: rows of a graph without cycles, from the last level of a topological order to the first. A row is the
union of the rows of the successors, and its own bit. Columns are in topological order, so half of each row is known to
be 0, and of the successors only those count that no other one reaches.

*Sources*: rows of some vertices only. A row is made of other rows, which are not all there; but a column is made of
other columns. So the bits of the sources are columns at first: each component unites those of its predecessors, from
the first level to the last. Squares of 64 times 64 bits are transposed in the end (Warren: Hacker's delight, 2002).

*Warshall*: 64 pivots at a time (Warshall: A theorem on Boolean matrices, 1962, in blocks). The pivots are closed among
themselves; then every row takes over those of the pivots that it reaches. What the 256 choices of eight pivots add up
to is tabulated first, so that a word takes eight lookups instead of up to 64 (Arlazarov, Dinic, Kronrod, Faradzev: On
economical construction of the transitive closure of a directed graph, 1970).

*Squaring*: the union of a row with those of all that it reaches doubles the length of paths, until nothing changes
(Xiao et al. 2021). Rows are updated in place: whatever else is there already is reached, too, and saves work. Words
are laid out by columns, ``rows[w * n + v]``: word w of all rows, then word w + 1. So the matrix is read in *tiles* of
64 times 64 bits, which are 64 words one after another, 512 bytes: those of 64 pivots in one column of words. A call
unites up to 64 words of a tile, as its own word at these pivots says, and goes on to the next 64 pivots. The lanes of a
warp have 32 rows and one column of words, so all of them read the same tile, which stays in the first-level cache (and
in that of a processor), and their own words at the pivots side by side. A call stops early when its word is full,
which on dense graphs is after a few pivots; whether a word changed is reduced to one number, and the squaring in which
none has is the last.
"""

from __future__ import annotations

import frontier as fr

__all__ = ["ByCondensation", "ByCondensationWords", "BySources", "BySquaring", "ByWarshall", "Count", "Transpose"]


# ---- condensation: rows[v * words + w], vertices in topological order --------------------------------


def lower(p):
    """Go on with the level before."""
    return p.level - 1


def begin(p):
    """The first position on the level."""
    return p.starts[p.level]


def all_pieces(p):
    """How many pieces the level's rows have."""
    return (p.starts[p.level + 1] - p.starts[p.level]) * p.pieces


def either(p, one, other):
    """The bits of one word or another."""
    return p.rows[one] | p.rows[other]


def unite(p, i):
    """Let a piece of a row, in which the bit of its vertex is set, take over that piece of the successors' rows.

    Successors are in topological order, so those that reach others come first. A successor whose bit is there already
    is reached by way of another, and adds nothing.
    """
    at = p.first * p.words + i * p.piece
    v = at // p.words
    begin = at % p.words
    for e in fr.neighbours(p, v):
        after = fr.target(p, e)
        lowest = after // 64 - begin  # the word with the bit of the successor; all words before are 0
        if lowest >= p.piece:
            break
        if lowest >= 0 and (p.rows[at + lowest] >> (after % 64)) & 1:
            continue
        other = after * p.words + begin
        for k in range(max(lowest, 0), p.piece):
            p.rows[at + k] = either(p, at + k, other + k)


def unite_word(p, i):
    """The same for pieces of one word, which is kept at hand until all of it is known.

    The word of a successor is used one successor later, so that the loop goes on while it is on its way: that takes a
    third less time on a GPU.
    """
    at = p.first * p.words + i
    begin = at % p.words
    word = p.rows[at]
    coming = word
    for e in fr.neighbours(p, at // p.words):
        after = fr.target(p, e)
        lowest = after // 64 - begin
        if lowest > 0:
            break
        if lowest < 0 or (word >> (after % 64)) & 1 == 0:
            word = word | coming
            coming = p.rows[after * p.words + begin]
    p.rows[at] = word | coming


class ByCondensation(fr.Enactor):
    """Rows of a graph without cycles, level by level."""

    loop = fr.Loop(
        fr.Set(level=lower),
        fr.Set(first=begin, items=all_pieces),
        fr.Compute(unite, over="items"),
        times="depth",
    )


class ByCondensationWords(fr.Enactor):
    """The same where a piece is a word."""

    loop = ByCondensation.program().replace({unite: unite_word})


# ---- columns: rows[v * words + w], edges reversed, bits of sources ----------------------------------------


def higher(p):
    """Go on with the level after."""
    return p.level + 1


def unite_all(p, i):
    """Let a piece of a row take over that piece of the predecessors' rows."""
    at = p.first * p.words + i * p.piece
    begin = at % p.words
    for e in fr.neighbours(p, at // p.words):
        other = fr.target(p, e) * p.words + begin
        for k in range(p.piece):
            p.rows[at + k] = either(p, at + k, other + k)


class BySources(fr.Enactor):
    """Which sources reach each vertex of a graph without cycles, level by level."""

    loop = fr.Loop(
        fr.Set(level=higher),
        fr.Set(first=begin, items=all_pieces),
        fr.Compute(unite_all, over="items"),
        times="depth",
    )


def word(p, at):
    """One word."""
    return p.rows[at]


def transpose(p, i):
    """Make a square of 64 rows and a word of columns of a word of each of 64 vertices."""
    first = i // p.words * 64 * p.words + i % p.words
    for b in range(64):
        v = i % p.words * 64 + b
        if v < p.components:
            p.rows[first + b * p.words] = p.columns[v * p.across + i // p.words]
    size = 32
    for step in range(6):  # exchange two of the four squares of half the size, and so on in each
        for b in range(64):
            if b & size == 0:
                one = first + b * p.words
                other = one + size * p.words
                high = word(p, one)
                low = word(p, other)
                change = ((high >> size) ^ low) & p.masks[step]
                p.rows[one] = high ^ (change << size)
                p.rows[other] = low ^ change
        size = size // 2


class Transpose(fr.Enactor):
    """Rows of sources from words with bits of sources."""

    loop = fr.Compute(transpose, over="squares")


# ---- the other two: rows[w * n + vertex] -----------------------------------------------------------------


def mark(p, src, dst):
    """Set the bit of an edge."""
    fr.atomic_or(p.rows, dst // 64 * p.n + src, p.bit[dst % 64])


def following(p):
    """Go on with the next 64 pivots."""
    return p.block + 1


def own_bits(p, i):
    """Copy which of the 64 pivots the i-th reaches, itself included."""
    p.diagonal[i] = p.bit[i]
    if 64 * p.block + i < p.n:
        p.diagonal[i] = p.bit[i] | p.rows[p.block * p.n + 64 * p.block + i]


def close(p, i):
    """Take over what the pivots reach that the i-th reaches."""
    word = p.diagonal[i]
    for b in range(64):
        if (p.diagonal[i] >> b) & 1:
            word = word | p.diagonal[b]
    p.diagonal[i] = word


def close_pivot(p, i):
    """Let a pivot's row take over those of the pivots that it reaches, one word."""
    w = i // 64
    v = 64 * p.block + i % 64
    if v < p.n:
        word = p.bit[0] & 0
        for b in range(64):
            if (p.diagonal[i % 64] >> b) & 1 and 64 * p.block + b < p.n:
                word = word | p.rows[w * p.n + 64 * p.block + b]
        p.rows[w * p.n + v] = word


def tabulate(p, i):
    """Unite the rows of a choice of eight pivots, one word."""
    w = i // 2048
    first = 64 * p.block + i // 256 % 8 * 8
    word = p.bit[0] & 0
    for b in range(8):
        if (i >> b) & 1 and first + b < p.n:
            word = word | p.rows[w * p.n + first + b]
    p.table[i] = word


def copy_mask(p, i):
    """Copy which pivots the i-th vertex reaches, as the rows change now."""
    p.mask[i] = p.rows[p.block * p.n + i]


def take_over(p, i):
    """Let a row take over those of the pivots that it reaches, one word."""
    mask = p.mask[i % p.n]
    if mask != 0:
        first = i // p.n * 2048
        word = p.rows[i]
        for k in range(8):
            word = word | p.table[first + 256 * k + ((mask >> (8 * k)) & 255)]
        p.rows[i] = word


#: Set the bits of all edges.
_MARK = fr.Advance(mark, output=None, over="vertices")


class ByWarshall(fr.Enactor):
    """64 pivots in each turn."""

    loop = (
        _MARK,
        fr.Loop(
            fr.Set(block=following),
            fr.Compute(own_bits, over=64),
            fr.Loop(fr.Compute(close, over=64), times=6),
            fr.Compute(close_pivot, over="pivot_words"),
            fr.Compute(tabulate, over="choices"),
            fr.Compute(copy_mask, over="n"),
            fr.Compute(take_over, over="all_words"),
            times="words",
        ),
    )


def full(p, i):
    """The word of a row that reaches all vertices."""
    return p.last if i // p.n == p.words - 1 else -1


def square(p, i):
    """Let a row take over those of all that it reaches, one word; 1 if that is more."""
    v = i % p.n
    column = i // p.n * p.n
    word = p.rows[i]
    most = full(p, i)
    for w in range(p.words):
        if word == most:
            break
        mask = p.rows[w * p.n + v]
        if mask != 0:
            for b in range(64):
                if (mask >> b) & 1:
                    word = word | p.rows[column + 64 * w + b]
    more = 1 if word != p.rows[i] else 0
    p.rows[i] = word
    return more


def unchanged(p):
    """No row has changed."""
    return p.changed == 0


class BySquaring(fr.Enactor):
    """Square until nothing changes."""

    loop = (_MARK, fr.Loop(fr.Reduce(square, "sum", into="changed", over="all_words"), until=unchanged))


# ---- counting --------------------------------------------------------------------------------------------


def count(p, i):
    """Add up the sizes of the columns that the i-th row has, eight columns by one lookup."""
    total = p.total[i] * 0
    for w in range(p.words):
        word = p.rows[i * p.next_row + w * p.next_word]
        if word != 0:
            for k in range(8):
                total = total + p.sums[w * 2048 + 256 * k + ((word >> (8 * k)) & 255)]
    p.total[i] = total


class Count(fr.Enactor):
    """How many vertices each row has."""

    loop = fr.Compute(count, over="count")
