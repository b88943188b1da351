"""Intersect on the GPU for edges of a vertex u with a long list: a block writes the list into a table in shared memory.

The lists of u's neighbours are then read in their order, and each entry takes one look into the table instead of a
binary search. Vertex w has the cell ``w % CELLS``, which holds it if it is in u's list. If several entries of the list
want a cell, among them parallel edges, the cell says so, and what falls there is searched for in the list. This is the
idea of TRUST, which has buckets of several entries (Pandey et al.: Trust: Triangle counting reloaded on GPUs, IEEE
Transactions on Parallel and Distributed Systems 32, 2021).

The lists of the neighbours are laid end to end in a row, of which each warp takes an equal piece, so that no warp waits
for one with longer lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import FREE, MORE
from frontier.lowering.kernels import Callee

if TYPE_CHECKING:
    from frontier.backends.cuda.device.collectives import block_prefix, source_in
    from frontier.backends.cuda.device.machine import (
        ballot,
        block_index,
        block_size,
        compare_exchange,
        exchange,
        find_first,
        num_blocks,
        sync,
        sync_or,
        thread_index,
    )
    from frontier.backends.cuda.device.names import I, int32_shared, offsets_shared, uint32_shared

__all__ = ["calling", "tabled", "tabling"]

#: Cells of a table, a power of two; longer lists are not written into one.
CELLS = 8192

#: Length of a list from which on it is worth a table; low-degree variants have no such lists.
SHORTEST = 64

#: A list this many times longer than that in the table is not read: the entries of the shorter one are searched in it.
MUCH = 8

#: Lists that are laid end to end at a time, at most.
LISTS = 256

#: Entries of a piece, at most.
PIECE = 1024

#: Cells that no entry of the list wants, and several; both are less than every key. A key that no cell has.
NOBODY, SEVERAL, ABSENT = -1, -2, -3

#: Where the numbers of the lists' first entries in the row are in scratch memory, and behind them what leads to slots.
BEFORE = FREE + 4 * CELLS
BASES = BEFORE + 4 * LISTS


def tabled(length, other):
    """Whether an edge is left to tables: by the length of its source's list, and of its target's."""
    return length >= I(SHORTEST) and length <= I(CELLS) and other <= I(I(length) * I(MUCH))


def which(a, b, c, d):
    """Four flags as bits."""
    bits = np.uint32(0)
    if a:
        bits = np.uint32(1)
    if b:
        bits = np.uint32(bits | np.uint32(2))
    if c:
        bits = np.uint32(bits | np.uint32(4))
    if d:
        bits = np.uint32(bits | np.uint32(8))
    return bits


def calling(value: Callee, add: Callee) -> Callable[..., Any]:
    """Return a function that calls the functor for a common neighbour."""
    reduces = add is not None

    def call(p, C, slot, u, v, w, uv, uw, vw, result):
        if reduces:
            result = add(C, slot, result, value(p, C, slot, u, v, w, uv, uw, vw))
        else:
            value(p, C, slot, u, v, w, uv, uw, vw)
        return result

    return call


def tabling(pairs: Callee, call: Callee, uw_named: bool, v_named: bool, wide: bool) -> Callable[..., Any]:
    """Return a function that does the edges of which :func:`tabled` is true. All threads call it.

    Parameters
    ----------
    pairs : function
        Searches for an entry in the list of u, and calls the functor.
    call : function
        Calls the functor for an entry that is in the list, if the slot there does not matter.
    uw_named : bool
        Whether the slot matters.
    v_named : bool
        Whether the functor names v.
    wide : bool
        Whether ids have 64 bits; a cell then holds the lower 31, so what it holds is searched for.
    """
    sure = not uw_named and not wide

    def key(w):
        """What a cell holds for a vertex."""
        return np.int32(w & 0x7FFFFFFF) if wide else np.int32(w)

    def empty(table):
        """Empty all cells."""
        at = np.int32(thread_index())
        while at < np.int32(CELLS):
            table[at] = np.int32(NOBODY)
            at = np.int32(at + block_size())

    def fill(table, targets, first, end):
        """Write a list into the table."""
        k = I(first + I(thread_index()))
        while k < end:
            mine = key(np.int64(targets[k]))
            cell = np.int32(mine & np.int32(CELLS - 1))
            if compare_exchange(table, cell, np.int32(NOBODY), mine) != np.int32(NOBODY):
                exchange(table, cell, np.int32(SEVERAL))
            k = I(k + I(block_size()))

    def clear(table, targets, first, end):
        """Empty the cells of a list; atomically, as several threads may empty one."""
        k = I(first + I(thread_index()))
        while k < end:
            mine = key(np.int64(targets[k]))
            exchange(table, np.int32(mine & np.int32(CELLS - 1)), np.int32(NOBODY))
            k = I(k + I(block_size()))

    def held(table, mine):
        """What the cell of a key holds."""
        return np.int32(table[np.int32(mine & np.int32(CELLS - 1))])

    def key_at(targets, k, last):
        """The key of the entry at a slot, if the list goes on until there."""
        mine = np.int32(ABSENT)
        if k < last:
            mine = key(np.int64(targets[k]))
        return mine

    def doubtful(there, mine):
        """Whether an entry that is there has a cell that several entries of the list want."""
        return there == np.int32(SEVERAL) and mine != np.int32(ABSENT)

    def look(p, C, slot, table, targets, u, v, uv, near, near_end, k, last, result):
        """Look up every 32nd entry of a list from slot ``k`` on, four at a time, so that they are read together."""
        while k < last:
            a = key_at(targets, k, last)
            b = key_at(targets, I(k + I(32)), last)
            c = key_at(targets, I(k + I(64)), last)
            d = key_at(targets, I(k + I(96)), last)
            in_a, in_b, in_c, in_d = held(table, a), held(table, b), held(table, c), held(table, d)
            hits = which(in_a == a, in_b == b, in_c == c, in_d == d)
            doubts = np.uint32(0)
            if min(min(in_a, in_b), min(in_c, in_d)) == np.int32(SEVERAL):
                doubts = which(doubtful(in_a, a), doubtful(in_b, b), doubtful(in_c, c), doubtful(in_d, d))
            if not sure:
                doubts = np.uint32(doubts | hits)
                hits = np.uint32(0)
            while hits != np.uint32(0):
                at = I(k + I(find_first(hits) << np.int32(5)))
                hits = np.uint32(hits & np.uint32(hits - np.uint32(1)))
                w = np.int64(targets[at])
                result = call(p, C, slot, u, v, w, uv, np.int64(0), np.int64(at), result)
            while doubts != np.uint32(0):
                at = I(k + I(find_first(doubts) << np.int32(5)))
                doubts = np.uint32(doubts & np.uint32(doubts - np.uint32(1)))
                result = pairs(p, C, slot, targets, u, v, uv, at, near, near_end, True, result)
            k = I(k + I(128))
        return result

    def row(p, C, slot, table, targets, many, entries, u, near, near_end, first, result):
        """Share a row of lists among the warps; the edge to which the first list belongs has slot ``first``."""
        t = np.int32(thread_index())
        before = int32_shared(BEFORE)
        bases = offsets_shared(BASES)
        warps = np.int32(block_size() >> np.int32(5))
        pieces = np.int32(np.int32(np.int32(entries // np.int32(warps * PIECE)) + 1) * warps)
        piece = np.int32(np.int32(np.int32(entries + pieces - 1) // pieces + 31) & np.int32(-32))
        begin = np.int32((t >> np.int32(5)) * piece)
        while begin < entries:
            end = np.int32(min(begin + piece, entries))
            at = begin
            j = source_in(before, many, at)
            while at < end:
                stop = end
                if j + 1 < many and before[j + 1] < end:
                    stop = np.int32(before[j + 1])
                base = I(bases[j])
                uv = np.int64(first) + j
                v = np.int64(targets[uv]) if v_named else 0
                k = I(base + I(at) + I(t & np.int32(31)))
                result = look(p, C, slot, table, targets, u, v, uv, near, near_end, k, I(base + I(stop)), result)
                at = stop
                j = np.int32(j + 1)
            begin = np.int32(begin + warps * piece)
        return result

    def edges_of(p, C, slot, table, offsets, targets, u, result):
        """Do the edges of a vertex."""
        t = np.int32(thread_index())
        before = int32_shared(BEFORE)
        bases = offsets_shared(BASES)
        many = np.int32(block_size())
        if many > np.int32(LISTS):
            many = np.int32(LISTS)
        near = I(offsets[u])
        near_end = I(offsets[u + 1])
        fill(table, targets, near, near_end)
        first = near
        while first < near_end:
            base = I(0)
            length = np.int32(0)
            k = I(first + I(t))
            if t < many and k < near_end:
                v = np.int64(targets[k])
                base = I(offsets[v])
                others = I(I(offsets[v + 1]) - base)
                if tabled(I(near_end - near), others):
                    length = np.int32(others)
            begun, entries = block_prefix(False, length)
            if t < many:
                before[t] = np.int32(begun)
                bases[t] = I(base - I(begun))
            sync()
            result = row(p, C, slot, table, targets, many, np.int32(entries), u, near, near_end, first, result)
            sync()
            first = I(first + I(many))
        clear(table, targets, near, near_end)
        sync()
        return result

    def tables(p, C, slot, n, offsets, targets, result):
        t = np.int32(thread_index())
        blocks = np.int64(num_blocks())
        table = int32_shared(FREE)
        masks = uint32_shared(MORE)
        begun = False
        begin = np.int64(block_index())
        while begin < n:
            # A block looks at as many vertices as it has threads. Neighbours, whose lists are about as long where
            # vertices are in the order of their degree, go to different blocks.
            u = begin + t * blocks
            long = False
            if u < n:
                length = I(I(offsets[u + 1]) - I(offsets[u]))
                long = tabled(length, I(0))
            votes = ballot(long)
            if (t & np.int32(31)) == np.int32(0):
                masks[t >> np.int32(5)] = votes
            if sync_or(long):
                if not begun:
                    empty(table)
                    sync()
                begun = True
                for q in range(block_size() >> np.int32(5)):
                    pending = np.uint32(masks[q])
                    while pending != np.uint32(0):
                        j = 32 * q + find_first(pending)
                        pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))
                        result = edges_of(p, C, slot, table, offsets, targets, begin + j * blocks, result)
            sync()
            begin += block_size() * blocks
        return result

    return tables
