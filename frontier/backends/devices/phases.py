"""Phases in which GPUs exchange what a step has changed: kernels that read the memory of the other GPUs.

Every GPU has whole fields, and marks that say which elements, and which blocks of them, a step has touched. Of an
element that another GPU owns, it has a copy. After a step each GPU tells what it has touched (:func:`telling`): a
bitmap, and a flag for every block, without which the block's words mean nothing. Owners bring together what all have
made of their elements (:func:`merging`), and then all copy what owners have changed (:func:`copying`).

All walk over flags: 32 at a time, of which four lie side by side, so that many warps share a stretch of changes. Of
four blocks a warp looks at the 32 words, and then its lanes at all elements whose bits are set, side by side: what
takes time is how often one waits for the other GPU.

``marked`` and ``fields`` are tables with an address for each GPU. A GPU's range begins with a word of bitmaps, or is
empty and begins with the last vertex. Of a block that lies in two ranges, all words count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.codes import BLOCK, BLOCK_BITS
from frontier.lowering.kernels import Callee

if TYPE_CHECKING:
    from frontier.backends.cuda.machine import ballot, fetch_add, find_first, popcount, shuffle, sync_warp
    from frontier.backends.cuda.names import tracing, uint32_at
    from frontier.backends.cuda.reductions import add_found, inclusive_scan

__all__ = [
    "combining", "completing", "copying", "finding", "following", "merging", "moving", "packing", "settling", "sharing",
    "telling",
]  # fmt: skip

#: Words of a block in a bitmap.
WORDS = BLOCK // 32


def block_of(base, lane, W):
    """The block whose flag a lane looks at, when its warp has come to ``base``."""
    return np.int64(base + (lane >> 2) * (W >> 3) + (lane & 3))


def begin_of(first, w):
    """Where a warp begins to walk over the blocks of a range from ``first`` on; it goes on in steps of W."""
    return np.int64((first >> BLOCK_BITS) + ((w - (w & 31)) >> 3))


def blocks_end(end):
    """The block after the last of a range of elements."""
    return (end + (BLOCK - 1)) >> BLOCK_BITS


def is_own(word, first, end):
    """Whether a word of a bitmap belongs to a range of elements."""
    return word >= (first + 31) >> 5 and word < (end + 31) >> 5


def other(rank, turn, parts):
    """The GPU that comes so many after this one: each begins to read from another one, over links of its own."""
    r = np.int64(rank + turn)
    if r >= parts:
        r -= parts
    return r


def bit_of(word, lane):
    """Whether a lane's bit is set."""
    return np.uint32(np.uint32(word >> np.uint32(lane)) & np.uint32(1)) != np.uint32(0)


def place_of(mask, upto, j):
    """Where the bit number ``j`` is among the words of the 32 lanes, of which each has one (``mask``).

    ``upto``: bits of the words up to a lane's own. All lanes call this, each for a number of its own.
    """
    k = np.int32(0)
    for step in (16, 8, 4, 2, 1):
        if j >= shuffle(upto, k + (step - 1)):
            k = np.int32(k + np.int32(step))
    word = np.uint32(shuffle(np.int64(mask), k))
    left = j - (shuffle(upto, k) - popcount(word))
    place = np.int32(0)
    for step in (16, 8, 4, 2, 1):
        low = popcount(np.uint32(word & np.uint32((1 << step) - 1)))
        if left >= low:
            left -= low
            word = np.uint32(word >> np.uint32(step))
            place = np.int32(place + np.int32(step))
    return 32 * np.int64(k) + place


def changers(marked, parts, blocks, v):
    """Bits of the GPUs that have touched an element."""
    who = np.int64(0)
    for r in range(parts):
        told = uint32_at(marked[r])
        if told[WORDS * blocks + (v >> BLOCK_BITS)] != 0 and bit_of(np.uint32(told[v >> 5]), v & 31):
            who |= np.int64(1) << np.int64(r)
    return who


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

    ``touched`` are words of eight bytes. With ``pack``, see :func:`packing`, it leaves the values, too.
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


# ---- values side by side ---------------------------------------------------------------------------------


def moving(packs: bool, unpacks: bool, based: bool) -> Callable[..., Any]:
    """Return a function by which a warp copies the elements of four blocks whose bits are set.

    ``source`` or ``target`` may have them side by side, from ``at`` on. A lane loads four values before it stores them,
    so that they come side by side. A lane that has none copies the last one too, which is the same.
    """

    def move(source, target, base, begun, at, mask, upto, lane):
        total = shuffle(upto, 31)
        last = np.int64(total - 1)
        j = np.int64(lane)
        while j - lane < total:
            j0 = min(j, last)
            v0 = (begun << BLOCK_BITS) + place_of(mask, upto, j0)
            value0 = source[at + j0 if unpacks else v0]
            if j - lane + 32 < total:
                j1 = min(j + 32, last)
                j2 = min(j + 64, last)
                j3 = min(j + 96, last)
                v1 = (begun << BLOCK_BITS) + place_of(mask, upto, j1)
                v2 = (begun << BLOCK_BITS) + place_of(mask, upto, j2)
                v3 = (begun << BLOCK_BITS) + place_of(mask, upto, j3)
                value1 = source[at + j1 if unpacks else v1]
                value2 = source[at + j2 if unpacks else v2]
                value3 = source[at + j3 if unpacks else v3]
                target[at + j1 if packs else v1] = value1
                target[at + j2 if packs else v2] = value2
                target[at + j3 if packs else v3] = value3
                if based:
                    base[v1] = value1
                    base[v2] = value2
                    base[v3] = value3
            target[at + j0 if packs else v0] = value0
            if based:
                base[v0] = value0
            j += 128

    return move


def is_packed(total):
    """Whether so many elements of four blocks lie side by side.

    Over the links come 32 bytes at a time: of fewer elements, each lies by itself in any case, and most of more lie
    side by side as they are.
    """
    return total >= 16 and total <= 3 * BLOCK


def begin_packed(begun, first):
    """Where the packed elements of four blocks begin in the array of their owner, whose range begins with ``first``."""
    return np.int64((begun - (first >> BLOCK_BITS)) << BLOCK_BITS)


def packing(move: Callee) -> Callable[..., Any]:
    """Return a function by which an owner packs elements of four blocks that it tells of: the set bits of a word."""

    def pack(mine, packed, begun, first, mask, lane):
        upto = inclusive_scan(popcount(mask), lane)
        if is_packed(shuffle(upto, 31)):
            move(mine, packed, 0, begun, begin_packed(begun, first), mask, upto, lane)

    return pack


# ---- what owners make of it ------------------------------------------------------------------------------


def combining(at: Callee, combine: str, dtype: str) -> Callable[..., Any]:
    """Return a function that makes one value of an element of what GPUs have made of it, in their order.

    ``who`` has the bits of the GPUs that have touched it.
    """
    if combine == "sum":
        return adding(at, dtype)
    least, greatest = combine == "min", combine == "max"
    union, common = combine == "or", combine == "and"

    def bring(mine, fields, who, bases, rank, parts, blocks, v):
        value = mine[v]
        found = False
        for r in range(parts):
            if (who >> np.int64(r)) & 1 != 0:
                theirs = at(fields[r])[v]
                if not found:
                    value = theirs
                elif least:
                    value = min(value, theirs)
                elif greatest:
                    value = max(value, theirs)
                elif union:
                    value = value | theirs
                elif common:
                    value = value & theirs
                found = True  # of claims, the first one counts
        return value

    return bring


def adding(at: Callee, dtype: str) -> Callable[..., Any]:
    """Return what :func:`combining` does for sums: to a GPU's own value, what each other has added to its copy."""
    # Sums of short integers are long ones, and a variable has one type.
    wide = np.int64 if np.dtype(dtype).kind in "iu" else np.dtype(dtype).type

    def bring(mine, fields, who, bases, rank, parts, blocks, v):
        total = wide(mine[v])
        for r in range(parts):
            if r != rank and (who >> np.int64(r)) & 1 != 0:
                total += wide(at(fields[r])[v]) - wide(at(bases[r])[v])
        return total

    return bring


def following(at: Callee, lead: Callee, lead_at: Callee, mirrored: bool) -> Callable[..., Any]:
    """Return a function that gives the value of the GPU whose value of another field, the leader, has been chosen.

    That is the first GPU that has changed the leader to what ``lead`` makes of it, or, if no GPU has changed it, the
    first that has changed this field. Copies of a field that is not ``mirrored`` are old where they were not touched.
    """

    def bring(mine, fields, who, leader, rank, parts, blocks, v):
        led_by = changers(leader.marked, parts, blocks, v)
        chosen = lead(leader.mine, leader.fields, led_by, leader.bases, rank, parts, blocks, v)
        value = mine[v]
        led = False
        found = False
        for r in range(parts):
            touched = (who >> np.int64(r)) & 1 != 0
            wins = not led and (led_by >> np.int64(r)) & 1 != 0 and lead_at(leader.fields[r])[v] == chosen
            if (wins and (mirrored or touched)) or (touched and not (found or led)):
                value = at(fields[r])[v]
                found = True
            led = led or wins
        return value

    return bring


def merging(bring: Callee, pack: Callee, size: int) -> Callable[..., Any]:
    """Owners bring together what all GPUs have made of their elements, and add to what they tell themselves.

    ``bases`` goes to ``bring``: for a field that follows another, the parts of that field. With ``pack``, see
    :func:`packing`, owners leave the values of what they tell. A value has ``size`` bytes.
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

    ``move`` copies them from where they lie, and ``unpack`` from where their owner has packed them. If a value has
    ``size`` bytes, they are added up.
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
        if tracing and size != 0 and lane == 0 and values != 0:
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


def settling(copy: Callee) -> Callable[..., Any]:
    """Note the values of elements that this GPU has added to, for owners have taken the sums over."""

    def phase(p, C, slot, w, W, mine, base, told, starts, rank, parts, blocks):
        for r in range(parts):
            if r != rank:
                copy(w, W, base, base, mine, 0, told, starts[r], starts[r + 1], blocks, 0)

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
