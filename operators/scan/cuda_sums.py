"""Device functions of scans: how warps share a range of words, and the sums that they keep for those after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frontier.backends.cuda.compile.runtime_words import SUM

if TYPE_CHECKING:
    from frontier.backends.cuda.device.machine import block_index, block_size, shuffle, shuffle_up, thread_index
    from frontier.backends.cuda.device.queues import block_share
    from frontier.backends.cuda.device.reductions import combined, partials, warp_reduce

__all__ = ["keep_sum", "running_sum", "sum_before", "warp_share", "word_at"]

i32, u32 = np.int32, np.uint32


def part_of(first, last, q):
    """The q-th part of a block's share, which is divided equally among its warps."""
    warps = i32(block_size() >> i32(5))
    length = i32(last - first)
    return first + i32(i32(length * q) // warps), first + i32(i32(length * i32(q + i32(1))) // warps)


def warp_share(count):
    """A warp's contiguous share of a range; the shares of a block's warps are adjacent."""
    first, last = block_share(count)
    return part_of(first, last, i32(thread_index() >> i32(5)))


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


def running_sum(value, lane):
    """Sum over the lanes up to and including this one, in the value's own type."""
    for d in (1, 2, 4, 8, 16):
        other = shuffle_up(value, d)
        if lane >= i32(d):
            value = value + other
    return value


def keep_sum(sums, first, last, count, value):
    """Store a warp's sum over its share of ``count`` words, for the warps after it. All lanes call it.

    It is stored at the place of the share's last word, so there are fewer sums than words.
    """
    value = warp_reduce(SUM, value)
    if i32(thread_index() & i32(31)) == i32(0) and first < last and last < count:
        sums[last - 1] = value


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
