"""All pairs of a transitive closure as arrays, written where the closure lies.

A row has a bit for each component, in topological order, but targets are vertices, in ascending order. So the bits of
some sources at a time are put in the order of the vertices first, and pairs are read from these. A component is a few
*entries*, each a word of vertices and the bits of the component's vertices in it: one for a single vertex, at most
n / 64 for all. Words of zeros cost little, so rows may be sparse.

On the host a call of a functor makes all pairs of a source, whose bits stay in the cache. On a GPU a call takes a word:
neighbouring threads read neighbouring words and write to neighbouring places. Bits are set by atomics there, and a
prefix sum of the numbers of ones says where the pairs of each word begin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import frontier as fr
from frontier.graph.graph import id_dtype
from frontier.memory.arrays import to_host
from frontier.primitives._searches import ones
from frontier.program.problem import replace_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.memory.placement import Placement
    from frontier.program.problem import Problem

__all__ = ["PIECE", "ByRows", "ByWords", "Entries", "OfWords", "entries", "pairs"]

#: Pairs in a piece, unless a single source has more.
PIECE = 1 << 24

#: Words of bits of vertices that are made at a time: so many stay in a processor's cache; a GPU has room for more, and
#: takes tens of microseconds to begin.
_WORDS = {"host": 1 << 19, "device": 1 << 25}

#: A graph with fewer vertices is worth one thread only, which says nothing of the pairs.
_VERTICES = 1 << 16

#: Multiplied by a power of two, it has another number in its upper six bits for each: a sequence of de Bruijn.
_SEQUENCE = 0x03F79D71B4CB0A89
_EXPONENT = np.zeros(64, np.int8)
_EXPONENT[[(_SEQUENCE << b) % (1 << 64) >> 58 for b in range(64)]] = range(64)


# ---- functors: bits[i * words + w] of the i-th source of a batch --------------------------------------------


def joined(p, at, mask):
    """A word with more bits."""
    return p.bits[at] | mask


def exponent(p, bit):
    """Which bit of a word it is."""
    return p.exponent[((bit * _SEQUENCE) >> 58) & 63]


def emit(p, word, first, v, at):
    """Write the pairs of v and of the vertices from ``first`` on that are set in a word; returns where they end."""
    while word != 0:
        bit = word & -word
        p.sources[at] = v
        p.targets[at] = first + exponent(p, bit)
        at += 1
        word = word ^ bit
    return at


def set_all(p, word, first, begin):
    """Set the bits of the vertices of the components from ``first`` on that are set in a word."""
    while word != 0:
        bit = word & -word
        c = first + exponent(p, bit)
        for e in range(p.begins[c], p.begins[c + 1]):
            p.bits[begin + p.place[e]] = joined(p, begin + p.place[e], p.mask[e])
        word = word ^ bit


def set_together(p, word, first, begin):
    """The same by atomics, one for entries of the same word that follow one another."""
    at = begin
    held = word & 0
    while word != 0:
        bit = word & -word
        c = first + exponent(p, bit)
        for e in range(p.begins[c], p.begins[c + 1]):
            if begin + p.place[e] != at:
                if held != 0:
                    fr.atomic_or(p.bits, at, held)
                at = begin + p.place[e]
                held = word & 0
            held = held | p.mask[e]
        word = word ^ bit
    if held != 0:
        fr.atomic_or(p.bits, at, held)


def corrected(p, at, v):
    """A word with the bit of v, which is set if v reaches itself."""
    return (p.bits[at] & ~p.bit[v % 64]) | (p.bit[v % 64] * p.itself[v])


def write_row(p, i):
    """Write all pairs of the i-th source."""
    v = p.source[i]
    begin = i * p.words
    row = p.row[i] * p.columns
    if p.renumbered:
        for w in range(p.words):
            p.bits[begin + w] = 0
        for w in range(p.lowest[i], p.columns):
            if p.rows[row + w] != 0:
                set_all(p, p.rows[row + w], 64 * w, begin)
    else:
        for w in range(p.words):
            p.bits[begin + w] = p.rows[row + w]
    p.bits[begin + v // 64] = corrected(p, begin + v // 64, v)
    at = p.start[i]
    for w in range(p.words):
        if p.bits[begin + w] != 0:
            at = emit(p, p.bits[begin + w], 64 * w, v, at)


class ByRows(fr.Enactor):
    """The pairs of a batch of sources, each by a call."""

    loop = fr.Compute(write_row, over="count")


def spread(p, i):
    """Set the bits of the vertices of one word of components."""
    source = i // p.columns
    w = i % p.columns
    if w >= p.lowest[source]:
        word = p.rows[p.row[source] * p.columns + w]
        if word != 0:
            if p.renumbered:
                set_together(p, word, 64 * w, source * p.words)
            else:
                p.bits[i] = word


def count(p, i):
    """Count the ones of a word, after its source's own bit is as it should be."""
    v = p.source[i // p.words]
    word = p.bits[i]
    if i % p.words == v // 64:
        word = corrected(p, i, v)
        p.bits[i] = word
    p.number[i] = ones(word)


class ByWords(fr.Enactor):
    """The bits of a batch of sources in the order of vertices, and their number in each word."""

    loop = (fr.Compute(spread, over="items"), fr.Compute(count, over="all_words"))


def write(p, i):
    """Write the pairs of one word."""
    word = p.bits[i]
    if word != 0:
        emit(p, word, i % p.words * 64, p.source[i // p.words], p.base + p.before[i])


class OfWords(fr.Enactor):
    """The pairs of a batch of sources, each word's by a call."""

    loop = fr.Compute(write, over="all_words")


# ---- on the host -----------------------------------------------------------------------------------------------

#: Arrays that the batches exchange.
_INT64 = ("rows", "bits", "source", "row", "lowest", "start", "before")


class Entries(NamedTuple):
    """The vertices of each component: ``place[e]`` is a word, ``mask[e]`` the bits of a component's vertices there."""

    begins: Any  # where the entries of each component begin, and the last end
    place: Any
    mask: Any


def entries(xp: Any, component: Any, count: int) -> Entries:
    """The entries of components, of which there are ``count``."""
    n = len(component)
    every = xp.arange(n)
    order = xp.argsort(component * n + every)
    owner, place = component[order], order >> 6
    fresh = xp.ones(n, np.bool_)
    fresh[1:] = (owner[1:] != owner[:-1]) | (place[1:] != place[:-1])
    heads = xp.flatnonzero(fresh)
    upto = xp.zeros(n + 1, np.int64)
    xp.cumsum(xp.ones(n, np.int64) << (order & 63), out=upto[1:])
    bounds = xp.concatenate([upto[heads], upto[n:]])  # of sums of different bits, which are their union: they may wrap
    return Entries(xp.searchsorted(owner[heads], xp.arange(count + 1)), place[heads], bounds[1:] - bounds[:-1])


def pairs(result: Any, placement: Placement, size: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Do the work of ``ClosureResult.pairs_in_pieces``."""
    memory, dtype = placement.memory, id_dtype(len(result.component))
    counts = to_host(result.counts)
    some = np.flatnonzero(counts)  # sources that reach any vertex
    ends = np.concatenate(([0], np.cumsum(counts[some])))
    batches = None
    first = 0
    while first < len(some):
        last = max(int(np.searchsorted(ends, ends[first] + size, side="right")) - 1, first + 1)
        total = int(ends[last] - ends[first])
        memory.check_room(2 * total * dtype.itemsize, f"{total:,} pairs of a closure", "size= makes smaller pieces")
        with memory.using("the pairs of a closure"):
            batches = batches or _Batches(result, placement, some)
            made = memory.xp.empty(total, dtype), memory.xp.empty(total, dtype)
            batches.write(first, ends[first : last + 1] - ends[first], made)
        yield made
        first = last


class _Batches:
    """Sources of a closure, and the problem for some of them at a time."""

    def __init__(self, result: Any, placement: Placement, some: NDArray[np.int64]) -> None:
        memory = self._memory = placement.memory
        self._problem = _problem(result, placement)
        sources = result.sources[memory.moved(some)]
        own = result.component[sources]
        row = own if result.place is None else result.place[own]
        lowest = own >> 6 if self._problem.renumbered else 0 * own  # in topological order, none before it is reached
        xp = memory.xp
        self._given = {"source": sources, "row": row, "lowest": lowest}
        self._given = {name: xp.ascontiguousarray(array, np.int64) for name, array in self._given.items()}
        words = int(self._problem.words)
        self._most = min(max(_WORDS[memory.residence] // words, 1), len(some))
        replace_array(self._problem, "bits", xp.empty(self._most * words, np.int64))
        if memory.residence == "device":
            replace_array(self._problem, "number", xp.empty(self._most * words, np.int8))
            replace_array(self._problem, "before", xp.zeros(self._most * words + 1, np.int64))

    def write(self, first: int, begins: NDArray[np.int64], made: tuple[Any, Any]) -> None:
        """Write the pairs of sources from the first on; those of each begin at ``begins``, and the last end there."""
        p = self._problem
        replace_array(p, "sources", made[0])
        replace_array(p, "targets", made[1])
        for lo in range(0, len(begins) - 1, self._most):
            hi = min(lo + self._most, len(begins) - 1)
            for name, array in self._given.items():
                replace_array(p, name, array[first + lo : first + hi])
            if self._memory.residence == "device":
                self._write_words(hi - lo, int(begins[lo]))
            else:
                self._write_rows(hi - lo, begins[lo:hi])

    def _write_rows(self, k: int, begins: NDArray[np.int64]) -> None:
        p = self._problem
        p.count = k
        replace_array(p, "start", begins)
        ByRows(p).run()

    def _write_words(self, k: int, base: int) -> None:
        p = self._problem
        words = k * int(p.words)
        p.items, p.all_words, p.base = k * int(p.columns), words, base
        p.bits[:words].fill(0)
        ByWords(p).run()
        self._memory.xp.cumsum(p.number[:words], out=p.before[1 : words + 1])
        OfWords(p).run()


def _problem(result: Any, placement: Placement) -> Problem:
    """Fields of all batches; the graph says only where they lie."""
    xp, n = placement.memory.xp, len(result.component)
    every = xp.arange(n)
    renumbered = not bool((result.component == every).all())
    made = entries(xp, result.component, len(result.size)) if renumbered else Entries(every[:0], every[:0], every[:0])
    g = fr.from_edges([], [], num_vertices=max(n, _VERTICES), directed=True).to(placement)
    p = fr.Problem(
        g,
        **{name: fr.array(np.zeros(0, np.int64)) for name in _INT64},
        **{name: fr.array(np.zeros(0, id_dtype(n))) for name in ("sources", "targets")},
        number=fr.array(np.zeros(0, np.int8)),
        begins=fr.array(made.begins),
        place=fr.array(made.place),
        mask=fr.array(made.mask),
        itself=fr.array(result.itself.astype(np.int8)),
        exponent=fr.array(_EXPONENT),
        bit=fr.array(np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64)).view(np.int64)),
        words=fr.scalar("int64", -(-n // 64)),
        columns=fr.scalar("int64", result.rows.shape[1]),
        renumbered=fr.scalar("bool", renumbered),
        **{name: fr.scalar("int64") for name in ("count", "items", "all_words", "base")},
    )
    replace_array(p, "rows", result.rows.ravel())
    return p
