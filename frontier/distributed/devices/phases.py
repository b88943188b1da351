"""Phases in which GPUs exchange what a step has changed: kernels that read the memory of the other GPUs.

Every GPU has whole fields, and marks that say which elements, and which blocks of them, a step has touched. Of an
element that another GPU owns, it has a copy. After a step each GPU tells what it has touched (:func:`telling`): a
bitmap, and a flag for every block, without which the block's words mean nothing. Owners bring together what all have
made of their elements (:func:`merging`), and then all copy what owners have changed (:func:`copying`).

How warps walk over flags is in ``block_phases``, what owners make of several values in ``combining_phases``, and how
they lay values side by side in ``packing_phases``.

``marked`` and ``fields`` are tables with an address for each GPU. A GPU's range begins with a word of bitmaps, or is
empty and begins with the last vertex. Of a block that lies in two ranges, all words count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.compile.codes import BLOCK_BITS
from frontier.distributed.devices.block_phases import (
    WORDS,
    begin_of,
    bit_of,
    block_of,
    blocks_end,
    is_own,
    other,
    place_of,
)
from frontier.distributed.devices.combining_phases import changers
from frontier.distributed.devices.packing_phases import begin_packed, is_packed
from frontier.lowering.kernels import Callee

if TYPE_CHECKING:
    from frontier.backends.cuda.device.machine import ballot, fetch_add, find_first, popcount, shuffle, sync_warp
    from frontier.backends.cuda.device.names import tracing, uint32_at
    from frontier.backends.cuda.device.reductions import add_found, inclusive_scan

__all__ = ["completing", "copying", "finding", "merging", "sharing", "tell_flag", "telling"]

# ---- what a GPU tells ------------------------------------------------------------------------------------


def tell_flag(flags, told, block, last, starts, parts, blocks):
    """Tell whether a lane's block has touched elements.

    Blocks in which a range begins always have their flags, for two GPUs write to their words.
    """
    flag = False
    if block < last:
        flag = flags[block] != 0
        for r in range(1, parts):
            flag = flag or starts[r] >> BLOCK_BITS == block
        told[WORDS * blocks + block] = np.uint32(flag)
    return flag


def tell_block(touched, told, block, lane):
    """Turn a block's bytes into words of a bitmap; the bytes are cleared.

    A lane looks at eight of them at once, which takes a fifth of the time.
    """
    some = np.int64(touched[32 * block + lane])
    if some != 0:
        touched[32 * block + lane] = 0
    # Of eight bytes that are 0 or 1, bits side by side.
    some = (some | (some >> 7)) & 0x0003000300030003
    some = (some | (some >> 14)) & 0x0000000F0000000F
    some = ((some | (some >> 28)) & 255) << (8 * (lane & 3))
    some |= np.int64(shuffle(some, lane ^ 1))
    some |= np.int64(shuffle(some, lane ^ 2))
    if lane & 3 == 0:
        told[WORDS * block + (lane >> 2)] = np.uint32(some)


def telling(pack: Callee) -> Callable[..., Any]:
    """A GPU tells what it has touched in a range of elements, and forgets it.

    ``touched`` are words of eight bytes. With ``pack``, see
    :func:`frontier.distributed.devices.packing_phases.packing`, it leaves the values, too.
    """
    packs = pack is not None

    def phase(p, C, slot, w, W, mine, packed, touched, flags, told, first, end, starts, parts, blocks):
        lane = np.int32(w & 31)
        base = begin_of(first, w)
        while base < blocks_end(end):
            block = block_of(base, lane, W)
            flag = tell_flag(flags, told, block, blocks_end(end), starts, parts, blocks)
            flagged = ballot(flag)
            pending = flagged
            while pending != np.uint32(0):
                four = find_first(pending) >> 2
                pending = np.uint32(pending & np.uint32(~np.uint32(np.uint32(15) << np.uint32(4 * four))))
                begun = np.int64(base + four * (W >> 3))  # of four blocks
                for each in range(4):
                    if bit_of(flagged, 4 * four + each):
                        tell_block(touched, told, begun + each, lane)
                if packs:
                    sync_warp()
                    word = WORDS * begun + lane
                    mask = np.uint32(0)
                    if bit_of(flagged, 4 * four + lane // WORDS) and is_own(word, first, end):
                        mask = np.uint32(told[word])
                    pack(mine, packed, begun, first, mask, lane)
            if flag:
                flags[block] = 0
            base += W

    return phase


# ---- what owners make of it ------------------------------------------------------------------------------


def merging(bring: Callee, pack: Callee, size: int) -> Callable[..., Any]:
    """Owners bring together what all GPUs have made of their elements, and add to what they tell themselves.

    ``bases`` goes to ``bring``: for a field that follows another, the parts of that field. With ``pack``, see
    :func:`frontier.distributed.devices.packing_phases.packing`, owners leave the values of what they tell. A value has
    ``size`` bytes.
    """
    packs = pack is not None

    def phase(p, C, slot, w, W, mine, packed, told, fields, marked, bases, rank, parts, first, end, blocks, received):
        lane = np.int32(w & 31)
        values = np.int64(0)
        base = begin_of(first, w)
        while base < blocks_end(end):
            block = block_of(base, lane, W)
            some = False
            if block < blocks_end(end):
                for turn in range(0 if packs else 1, parts):
                    if uint32_at(marked[other(rank, turn, parts)])[WORDS * blocks + block] != 0:
                        some = True
            pending = ballot(some)
            while pending != np.uint32(0):
                four = find_first(pending) >> 2
                pending = np.uint32(pending & np.uint32(~np.uint32(np.uint32(15) << np.uint32(4 * four))))
                begun = np.int64(base + four * (W >> 3))  # of four blocks
                block = begun + lane // WORDS
                word = WORDS * begun + lane
                mask = np.uint32(0)
                if block < blocks_end(end) and is_own(word, first, end):
                    for turn in range(1, parts):
                        theirs = uint32_at(marked[other(rank, turn, parts)])
                        if theirs[WORDS * blocks + block] != 0:
                            mask = np.uint32(mask | np.uint32(theirs[word]))
                others = ballot(mask != np.uint32(0))
                upto = inclusive_scan(popcount(mask), lane)
                total = shuffle(upto, 31)
                values += total
                j = np.int64(lane)
                while j - lane < total:
                    place = place_of(mask, upto, min(j, total - 1))
                    if j < total:
                        v = (begun << BLOCK_BITS) + place
                        who = changers(marked, parts, blocks, v)
                        mine[v] = bring(mine, fields, who, bases, rank, parts, blocks, v)
                    j += 32
                sync_warp()  # all have looked at what was told before
                # No other warp, and no other GPU, writes to these words.
                grows = np.uint32(np.uint32(others >> np.uint32(lane & ~(WORDS - 1))) & np.uint32(255)) != np.uint32(0)
                if grows and is_own(word, first, end):
                    before = np.uint32(0)
                    if told[WORDS * blocks + block] != 0:
                        before = np.uint32(told[word])
                    told[word] = np.uint32(before | mask)
                sync_warp()
                if grows and lane & (WORDS - 1) == 0:
                    told[WORDS * blocks + block] = np.uint32(1)
                if packs:
                    sync_warp()
                    mask = np.uint32(0)
                    if block < blocks_end(end) and is_own(word, first, end) and told[WORDS * blocks + block] != 0:
                        mask = np.uint32(told[word])
                    pack(mine, packed, begun, first, mask, lane)
            base += W
        if tracing and lane == 0 and values != 0:
            fetch_add(received, 0, values * size)

    return phase


def finding(big: bool) -> Callable[..., Any]:
    """Owners bring together which of their vertices any GPU has found, in a bitmap, and count them and their edges."""

    def phase(p, C, slot, w, W, made, marked, parts, degrees, first, end, blocks):
        count = np.int64(0)
        edges = np.int64(0)
        word = ((first + 31) >> 5) + w
        last = (end + 31) >> 5
        while word < last:
            bits = np.uint32(0)
            for r in range(parts):
                told = uint32_at(marked[r])
                if told[WORDS * blocks + (word >> (BLOCK_BITS - 5))] != 0:
                    bits = np.uint32(bits | np.uint32(told[word]))
            made[word] = bits
            count += popcount(bits)
            while bits != np.uint32(0):
                x = (word << 5) + find_first(bits)
                bits = np.uint32(bits & np.uint32(bits - np.uint32(1)))
                edges += np.int64(degrees[x + 1]) - np.int64(degrees[x])
            word += W
        add_found(C, slot, big, count, edges)

    return phase


# ---- what all take over ----------------------------------------------------------------------------------


def copying(move: Callee, unpack: Callee, size: int) -> Callable[..., Any]:
    """Return a function by which all threads copy the elements of a range that another GPU has told of.

    ``move`` copies them from where they lie, and ``unpack`` from where their owner has packed them. A value has
    ``size`` bytes, which are added up for a trace.
    """
    unpacks = unpack is not None

    def copy(w, W, mine, base, theirs, packed, told, first, end, blocks, received):
        lane = np.int32(w & 31)
        values = np.int64(0)
        at = begin_of(first, w)
        while at < blocks_end(end):
            block = block_of(at, lane, W)
            some = False
            if block < blocks_end(end):
                some = told[WORDS * blocks + block] != 0
            flags = ballot(some)
            pending = flags
            while pending != np.uint32(0):
                four = find_first(pending) >> 2
                pending = np.uint32(pending & np.uint32(~np.uint32(np.uint32(15) << np.uint32(4 * four))))
                begun = np.int64(at + four * (W >> 3))  # of four blocks
                word = WORDS * begun + lane
                mask = np.uint32(0)
                if bit_of(flags, 4 * four + lane // WORDS) and is_own(word, first, end):
                    mask = np.uint32(told[word])
                upto = inclusive_scan(popcount(mask), lane)
                total = shuffle(upto, 31)
                values += total
                if unpacks and is_packed(total):
                    unpack(packed, mine, base, begun, begin_packed(begun, first), mask, upto, lane)
                else:
                    move(theirs, mine, base, begun, 0, mask, upto, lane)
            at += W
        if tracing and lane == 0 and values != 0:
            fetch_add(received, 0, values * size)

    return copy


def sharing(at: Callee, copy: Callee) -> Callable[..., Any]:
    """Take over what owners have changed of a field; ``packs`` has the addresses of where they have packed it."""

    def phase(p, C, slot, w, W, mine, base, fields, packs, marked, starts, rank, parts, blocks, received):
        for turn in range(1, parts):
            r = other(rank, turn, parts)
            told, theirs, packed = uint32_at(marked[r]), at(fields[r]), at(packs[r])
            copy(w, W, mine, base, theirs, packed, told, starts[r], starts[r + 1], blocks, received)

    return phase


def completing() -> Callable[..., Any]:
    """Take over from the other GPUs the bits of their vertices."""

    def phase(p, C, slot, w, W, bits, others, starts, rank, parts, received):
        for turn in range(1, parts):
            r = other(rank, turn, parts)
            theirs = uint32_at(others[r])
            first = (starts[r] + 31) >> 5
            last = (starts[r + 1] + 31) >> 5
            i = first + w
            while i < last:
                bits[i] = np.uint32(theirs[i])
                i += W
            if tracing and w == 0:
                fetch_add(received, 0, 4 * (last - first))

    return phase
