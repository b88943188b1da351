"""Device functions of Scan, Buckets, Intersect and Gather."""

from __future__ import annotations

import numpy as np

from frontier.backends.cuda.compile.runtime_words import CURSOR, SLOT, SUM
from frontier.backends.cuda.device.machine import (
    SHARED,
    block_index,
    block_size,
    device,
    fetch_add,
    find_first,
    load_relaxed,
    shuffle,
    shuffle_down,
    shuffle_up,
    sync,
    thread_index,
)
from frontier.backends.cuda.device.queues import block_share
from frontier.backends.cuda.device.reductions import combine, combined, partials, warp_reduce

__all__ = [
    "BUCKETS",
    "block_least",
    "folded",
    "keep_sum",
    "lanes_least",
    "nearer_of",
    "next_elements",
    "next_lane",
    "owner",
    "read_buckets",
    "running_sum",
    "sum_before",
    "warp_least",
    "warp_share",
    "word_at",
]

i32, u32, i64 = np.int32, np.uint32, np.int64
int64_shared = SHARED["int64"]

#: From this word of a slot, and of K, on are the counts of up to eight piles.
BUCKETS = 8


# ---- Buckets -------------------------------------------------------------------------------------------


@device
def read_buckets(C, slot):
    """After a phase, copy the counters of its piles to K. All threads call it."""
    t = thread_index()
    if t >= i32(BUCKETS) and t < i32(SLOT):
        int64_shared(0)[t] = load_relaxed(C, slot + t)
    sync()


# ---- Intersect -----------------------------------------------------------------------------------------


@device
def next_elements(C, slot, W):
    """The position of the next 32 elements that no warp has taken; the first W are assigned. All lanes call it."""
    taken = i64(0)
    if i32(thread_index() & i32(31)) == i32(0):
        taken = fetch_add(C, slot + CURSOR, i64(32))
    return i64(W) + i64(shuffle(taken, 0))


@device
def owner(begun, at):
    """The last lane whose items begin at or before position ``at``; lanes ask for different ones. All lanes call it."""
    found = i32(0)
    for d in (16, 8, 4, 2, 1):
        probe = i32(found + i32(d))
        if i32(shuffle(begun, probe)) <= at:
            found = probe
    return found


# ---- Gather --------------------------------------------------------------------------------------------


@device
def next_lane(pending, otherwise):
    """The first lane in a ballot (``otherwise``, if that is empty), and the ballot without it."""
    if pending == u32(0):
        return i32(otherwise), pending
    return find_first(pending), u32(pending & u32(pending - u32(1)))


@device
def folded(op, first, second):
    """One step of two reductions by a warp: its lower half goes on with the first, its upper half with the second.

    All lanes call it.
    """
    lane = i32(thread_index() & i32(31))
    upper = lane >= i32(16)
    return combine(op, second if upper else first, shuffle(first if upper else second, i32(lane ^ i32(16))))


@device
def nearer_of(best, result, other, end):
    """The pair with the lower key; of equal keys, that with the lower result."""
    if other < best or (other == best and end < result):
        return other, end
    return best, result


@device
def lanes_least(best, result, lanes):
    """In each group of ``lanes`` lanes, the least result among those with the least key; the first lane gets it."""
    d = i32(lanes >> 1)
    while d > i32(0):
        best, result = nearer_of(best, result, i64(shuffle_down(best, d)), i64(shuffle_down(result, d)))
        d = i32(d >> i32(1))
    return best, result


@device
def warp_least(best, result):
    """The same in a warp; lane 0 gets it."""
    for d in (16, 8, 4, 2, 1):
        best, result = nearer_of(best, result, i64(shuffle_down(best, d)), i64(shuffle_down(result, d)))
    return best, result


@device
def block_least(best, result, keys, results):
    """The same in a block; thread 0 gets it. All threads call it."""
    t = thread_index()
    best, result = warp_least(best, result)
    sync()
    if (t & i32(31)) == i32(0):
        keys[t >> i32(5)] = best
        results[t >> i32(5)] = result
    sync()
    if t == i32(0):
        for i in range(1, block_size() >> i32(5)):
            best, result = nearer_of(best, result, keys[i], results[i])
    return best, result


# ---- Scan ----------------------------------------------------------------------------------------------


@device
def part_of(first, last, q):
    """The q-th part of a block's share, which is divided equally among its warps."""
    warps = i32(block_size() >> i32(5))
    length = i32(last - first)
    return first + i32(i32(length * q) // warps), first + i32(i32(length * i32(q + i32(1))) // warps)


@device
def warp_share(count):
    """A warp's contiguous share of a range; the shares of a block's warps are adjacent."""
    first, last = block_share(count)
    return part_of(first, last, i32(thread_index() >> i32(5)))


@device
def word_at(bits, everything, n, i, last):
    """Word ``i`` of the bitmap of a frontier of ids below ``n``; 0 from word ``last`` on."""
    if i >= last:
        return u32(0)
    if not everything:
        return u32(bits[i])
    left = n - (i << 5)
    if left >= 32:
        return u32(0xFFFFFFFF)
    return u32(u32(u32(1) << u32(left)) - u32(1))


@device
def running_sum(value, lane):
    """Sum over the lanes up to and including this one, in the value's own type."""
    for d in (1, 2, 4, 8, 16):
        other = shuffle_up(value, d)
        if lane >= i32(d):
            value = value + other
    return value


@device
def keep_sum(sums, first, last, count, value):
    """Store a warp's sum over its share of ``count`` words, for the warps after it. All lanes call it.

    It is stored at the place of the share's last word, so there are fewer sums than words.
    """
    value = warp_reduce(SUM, value)
    if i32(thread_index() & i32(31)) == i32(0) and first < last and last < count:
        sums[last - 1] = value


@device
def sum_before(row, before, sums, count, zero, memory):
    """Sum over all words before this warp's share. All threads call it.

    It adds up what :func:`keep_sum` has stored and the blocks' partial results in slot ``before``.
    """
    t = thread_index()
    lane = i32(t & i32(31))
    value = zero
    first, last = block_share(count)
    begin, end = part_of(first, last, lane)
    if lane < i32(t >> i32(5)) and begin < end and end < count:
        value = sums[end - 1]
    value = shuffle(warp_reduce(SUM, value), 0)
    return combined(row, partials(before), block_index(), SUM, zero, memory) + value
