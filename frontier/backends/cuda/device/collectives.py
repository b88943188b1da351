"""Device functions of balances that stage adjacency lists in shared memory: prefix sums of a block, appends by warps.

Each warp collects accepted elements in its own part of the block's scratch memory, and appends them with one atomic
when the part is nearly full. So no warp waits for others to append, however different their lists are.
"""

from __future__ import annotations

import numpy as np

from frontier.backends.cuda.compile.runtime_words import (
    ERROR,
    HISTORY,
    NOTHING,
    PREFIX,
    SUM,
    TILE,
    WARPS,
    WORDS,
)
from frontier.backends.cuda.device.machine import (
    SHARED,
    ballot,
    block_index,
    block_size,
    device,
    find_first,
    num_blocks,
    popcount,
    shuffle,
    sync,
    sync_warp,
    thread_index,
)
from frontier.backends.cuda.device.queues import block_share
from frontier.backends.cuda.device.reductions import (
    below,
    combined,
    inclusive_scan,
    inclusive_scan64,
    keep_int,
    partials,
    warp_reduce,
)
from frontier.backends.cuda.device.runtime import reserve
from frontier.compile.codes import CLAIMED_TWICE

__all__ = [
    "FOUND",
    "LEADER",
    "block_prefix",
    "copies",
    "count_marks",
    "empty_history",
    "first_in_warp",
    "part_of_warp",
    "queue_of_marks",
    "share_of_block",
    "source_in",
    "warp_flush",
    "warp_put",
    "worker_apart",
    "workers_apart",
    "write_marks",
]

i32, u32, i64 = np.int32, np.uint32, np.int64
int64_shared = SHARED["int64"]

#: Where in scratch memory a block reads which thread leads, and its list: vertex, beginning, end.
LEADER, FOUND = WORDS + 4, WORDS + 24


@device
def copying_blocks(one_in):
    """How many blocks copy: one of so many, at least one."""
    return max(i32(num_blocks() // i32(one_in)), i32(1))


@device
def copies(one_in):
    """Whether this block is one of those that copy."""
    return block_index() < copying_blocks(one_in)


@device
def worker_apart(one_in):
    """Number of this thread among those that copy, or among the others; numbered as by ``worker``."""
    few = copying_blocks(one_in)
    copying = block_index() < few
    mine = block_index() if copying else i32(block_index() - few)
    blocks = few if copying else i32(num_blocks() - few)
    t = thread_index()
    return (i64(t >> i32(5)) * blocks + mine) * 32 + (t & i32(31))


@device
def workers_apart(one_in):
    """The number of threads that copy, or of the others."""
    few = copying_blocks(one_in)
    return i64(few if block_index() < few else i32(num_blocks() - few)) * block_size()


@device
def share_of_block(total):
    """Elements that a block takes at a time: one per thread, or fewer if the blocks are enough for all."""
    blocks = i64(num_blocks())
    return min(max((i64(total) + blocks - 1) // blocks, 1), i64(block_size()))


@device
def block_prefix(wide, value):
    """Sum of the values of the block's threads before this one, and of all of them. All threads call it."""
    t = thread_index()
    lane = i32(t & i32(31))
    warps = i32(block_size() >> i32(5))
    sums = int64_shared(WARPS)
    upto = inclusive_scan64(value, lane) if wide else i64(inclusive_scan(value, lane))
    if lane == i32(31):
        sums[t >> i32(5)] = upto
    sync()
    if t < i32(32):
        mine = i64(0)
        if t < warps:
            mine = sums[t]
        total = inclusive_scan64(mine, lane)
        if t < warps:
            sums[t] = total - mine
        if t == i32(31):
            int64_shared(WORDS + 8)[0] = total
    sync()
    before = sums[t >> i32(5)] + upto - i64(value)
    every = int64_shared(WORDS + 8)[0]
    sync()
    return before, every


# ---- the source of an edge --------------------------------------------------------------------------------


@device
def source_in(keys, count, position):
    """Which of a block's ``count`` sources has the edge of number ``position``, by binary search.

    ``keys`` holds the number of each source's first edge; the last source that begins at or before the edge has it.
    """
    low = i32(0)
    high = i32(count)
    while i32(high - low) > i32(1):
        middle = i32(i32(low + high) >> i32(1))
        if keys[middle] <= position:
            low = middle
        else:
            high = middle
    return low


# ---- appends by warps, collected -----------------------------------------------------------------------


@device
def part_of_warp():
    """How many items a warp's part of the buffer can hold."""
    return i32(i32(TILE) // i32(block_size() >> i32(5)))


@device
def warp_put(C, slot, big, out, out_scan, mode, offsets, capacity, held, fill, ok, item):
    """Collect the items of the lanes that have one; returns how many are collected now. All lanes call it."""
    votes = ballot(ok)
    if votes == u32(0):
        return fill
    lane = i32(thread_index() & i32(31))
    if ok:
        held[i32(fill + popcount(u32(votes & below(lane))))] = item
    fill = i32(fill + popcount(votes))
    if fill > i32(part_of_warp() - i32(32)):
        warp_flush(C, slot, big, out, out_scan, mode, offsets, capacity, held, fill)
        fill = i32(0)
    return fill


@device
def warp_flush(C, slot, big, out, out_scan, mode, offsets, capacity, held, fill):
    """Append what a warp has collected, with one atomic. All lanes call it."""
    if fill == i32(0):
        return
    sync_warp()
    lane = i32(thread_index() & i32(31))
    edges = i64(0)
    if mode == PREFIX:
        j = lane
        while j < fill:
            v = i64(held[j])
            edges += i64(offsets[v + 1]) - i64(offsets[v])
            j = i32(j + i32(32))
        edges = warp_reduce(SUM, edges)
    at = i64(0)
    before = i64(0)
    if lane == i32(0):
        at, before = reserve(C, slot, big, fill, edges)
    at = i64(shuffle(at, 0))
    before = i64(shuffle(before, 0))
    first = i32(0)
    while first < fill:
        j = i32(first + lane)
        item = i64(0)
        start = i64(0)
        degree = i64(0)
        if j < fill:
            item = i64(held[j])
            if mode != NOTHING:
                start = i64(offsets[item])
            if mode == PREFIX:
                degree = i64(offsets[item + 1]) - start
        upto = i64(0)
        if mode == PREFIX:
            upto = inclusive_scan64(degree, lane)
        if j < fill:
            if at + j >= capacity:
                C[slot + ERROR] = CLAIMED_TWICE
            else:
                out[at + j] = item
                if mode == PREFIX:
                    out_scan[at + j] = before + upto - degree
                elif mode != NOTHING:
                    out_scan[at + j] = start
        before += i64(shuffle(upto, 31))
        first = i32(first + i32(32))
    sync_warp()


# ---- once in the next queue ----------------------------------------------------------------------------


@device
def empty_history(history):
    """Empty the memory in which the block notes what it took lately; returns it. All threads call it."""
    j = i32(thread_index())
    while j < i32(HISTORY):
        history[j] = -1
        j = i32(j + block_size())
    sync()
    return history


@device
def first_in_warp(ok, item):
    """Whether a lane has an item that no lane before it has. All lanes call it."""
    lane = i32(thread_index() & i32(31))
    pending = ballot(ok)
    while pending != u32(0):
        leader = find_first(pending)
        theirs = i64(shuffle(item, leader))  # outside of the condition: all lanes must call it
        again = ok and item == theirs
        pending = u32(pending & u32(~ballot(again)))
        if again and lane != leader:
            ok = False
    return ok


# ---- the queue of the marked ---------------------------------------------------------------------------


@device
def queue_of_marks(C, slot, big, w, W, stamps, epoch, n, out, out_scan, mode, offsets, capacity, held):
    """Append all stamped vertices; warps go over the stamps side by side. ``held`` as in :func:`warp_put`."""
    lane = i32(thread_index() & i32(31))
    fill = i32(0)
    first = i64(w) - lane
    while first < n:
        v = first + lane
        ok = False
        if v < n:
            ok = stamps[v] == epoch
        fill = warp_put(C, slot, big, out, out_scan, mode, offsets, capacity, held, fill, ok, v)
        first += W
    warp_flush(C, slot, big, out, out_scan, mode, offsets, capacity, held, fill)


@device
def count_marks(C, slot, stamps, epoch, n, offsets):
    """Store how many stamped vertices the block's piece has, and how many edges these (the latter above bit 32)."""
    first, last = block_share(n)
    found = i64(0)
    v = first + thread_index()
    while v < last:
        if stamps[v] == epoch:
            found += 1 + ((i64(offsets[v + 1]) - i64(offsets[v])) << 32)
        v += block_size()
    keep_int(C, slot, SUM, found)


@device
def write_marks(C, slot, before, stamps, epoch, n, out, out_scan, mode, offsets, capacity):
    """Write the stamped vertices of the block's piece behind those of earlier blocks, so that the queue is in order."""
    t = thread_index()
    reached = combined(C, partials(before), block_index(), SUM, i64(0), int64_shared(WARPS))
    first, last = block_share(n)
    while first < last:
        v = first + t
        mine = i64(0)
        if v < last and stamps[v] == epoch:
            mine = 1 + ((i64(offsets[v + 1]) - i64(offsets[v])) << 32)
        upto, every = block_prefix(True, mine)
        at = (reached + upto) & 0xFFFFFFFF
        if mine != 0 and at >= capacity:
            C[slot + ERROR] = CLAIMED_TWICE
        elif mine != 0:
            out[at] = v
            if mode == PREFIX:
                out_scan[at] = (reached + upto) >> 32
        reached += every
        first += block_size()
