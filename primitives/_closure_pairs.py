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
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.graph.graph import id_dtype
from frontier.memory.arrays import to_host
from frontier.primitives._closure_bits import bit
from frontier.primitives._searches import ones
from frontier.program.problem import replace_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.memory.placement import Placement
    from frontier.program.problem import Problem

__all__ = ["PIECE", "ByRows", "ByWords", "OfWords", "pairs"]

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


# ---- functors: bits[i * words + w] of the i-th source of a batch, whose place among all is first + i -----------


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
    return (p.bits[at] & ~bit(v % 64)) | (bit(v % 64) * p.itself[v])


def write_row(p, i):
    """Write all pairs of the i-th source."""
    v = p.source[p.first + i]
    begin = i * p.words
    row = p.row[p.component[v]] * p.columns
    if p.renumbered:
        for w in range(p.words):
            p.bits[begin + w] = 0
        for w in range(p.component[v] // 64, p.columns):  # in topological order: none before is reached
            if p.rows[row + w] != 0:
                set_all(p, p.rows[row + w], 64 * w, begin)
    else:
        for w in range(p.words):
            p.bits[begin + w] = p.rows[row + w]
    p.bits[begin + v // 64] = corrected(p, begin + v // 64, v)
    at = p.starts[p.first + i] - p.start
    for w in range(p.words):
        if p.bits[begin + w] != 0:
            at = emit(p, p.bits[begin + w], 64 * w, v, at)


class ByRows(fr.Enactor):
    """The pairs of a batch of sources, each by a call."""

    loop = fr.Compute(write_row, over="count")


def spread(p, i):
    """Set the bits of the vertices of one word of components."""
    own = p.component[p.source[p.first + i // p.columns]]
    w = i % p.columns
    if not p.renumbered:
        p.bits[i] = p.rows[p.row[own] * p.columns + w]
    elif w >= own // 64 and p.rows[p.row[own] * p.columns + w] != 0:
        set_together(p, p.rows[p.row[own] * p.columns + w], 64 * w, i // p.columns * p.words)


def count(p, i):
    """Count the ones of a word, after its source's own bit is as it should be."""
    v = p.source[p.first + i // p.words]
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
        emit(p, word, i % p.words * 64, p.source[p.first + i // p.words], p.base + p.before[i])


class OfWords(fr.Enactor):
    """The pairs of a batch of sources, each word's by a call."""

    loop = fr.Compute(write, over="all_words")


# ---- on the host -----------------------------------------------------------------------------------------------


def entries(xp: Any, component: Any, count: int) -> dict[str, Any]:
    """The entries of components: bits of vertices, ``mask``, in a word, ``place``; those of c are from begins[c] on."""
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
    begins = xp.searchsorted(owner[heads], xp.arange(count + 1))
    return {"begins": begins, "place": place[heads], "mask": bounds[1:] - bounds[:-1]}


def pairs(result: Any, placement: Placement, size: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Do the work of ``ClosureResult.pairs_in_pieces``."""
    memory, dtype = placement.memory, id_dtype(len(result.component))
    counts = to_host(result.counts)
    some = np.flatnonzero(counts)  # sources that reach any vertex
    starts = np.concatenate(([0], np.cumsum(counts[some])))
    p, first = None, 0
    while first < len(some):
        last = max(int(np.searchsorted(starts, starts[first] + size, side="right")) - 1, first + 1)
        total = int(starts[last] - starts[first])
        memory.check_room(2 * total * dtype.itemsize, f"{total:,} pairs of a closure", "size= makes smaller pieces")
        with memory.using("the pairs of a closure"):
            p = p or problem(result, placement, some, starts)
            made = memory.xp.empty(total, dtype), memory.xp.empty(total, dtype)
            replace_array(p, "sources", made[0])
            replace_array(p, "targets", made[1])
            p.start = starts[first]
            step = len(p.bits) // int(p.words)
            for begin in range(first, last, step):
                _write(p, begin, min(step, last - begin), int(starts[begin] - starts[first]))
        yield made
        first = last


def _write(p: Problem, first: int, count: int, base: int) -> None:
    """Write the pairs of a batch of sources, from place ``base`` of the piece on."""
    p.first, p.count = first, count
    memory = p.graph.placement.memory
    if memory.residence == "host":
        ByRows(p).run()
        return
    words = count * int(p.words)
    p.items, p.all_words, p.base = count * int(p.columns), words, base
    p.bits[:words].fill(0)
    ByWords(p).run()
    memory.xp.cumsum(p.number[:words], out=p.before[1 : words + 1])
    OfWords(p).run()


def problem(result: Any, placement: Placement, some: NDArray[np.int64], starts: NDArray[np.int64]) -> Problem:
    """Fields of all batches; the graph says only where they lie."""
    memory, n, c = placement.memory, len(result.component), len(result.size)
    xp, words = memory.xp, -(-n // 64)
    renumbered = not bool((result.component == xp.arange(n)).all())
    batch = min(max(_WORDS[memory.residence] // words, 1), len(some)) * words
    in_words = batch if memory.residence == "device" else 0
    none = xp.zeros(0, np.int64)
    arrays = {
        "rows": none,
        "component": result.component,
        "row": xp.arange(c) if result.place is None else result.place,
        "itself": result.itself.astype(np.int8),
        "source": xp.ascontiguousarray(result.sources[memory.moved(some)], np.int64),
        "starts": memory.moved(starts),
        "exponent": memory.moved(_EXPONENT),
        "bits": xp.empty(batch, np.int64),
        "number": xp.empty(in_words, np.int8),
        "before": xp.zeros(in_words + 1, np.int64),
        **(entries(xp, result.component, c) if renumbered else dict.fromkeys(("begins", "place", "mask"), none)),
        **{name: none.astype(id_dtype(n)) for name in ("sources", "targets")},
    }
    p = fr.Problem(
        fr.from_edges([], [], num_vertices=max(n, _VERTICES), directed=True).to(placement),
        **{name: fr.array(array) for name, array in arrays.items()},
        words=fr.scalar("int64", words),
        columns=fr.scalar("int64", result.rows.shape[1]),
        renumbered=fr.scalar("bool", renumbered),
        **{name: fr.scalar("int64") for name in ("first", "count", "start", "base", "items", "all_words")},
    )
    replace_array(p, "rows", result.rows.ravel())
    return p
