"""Device functions that bring values together: sums, minima and prefix sums of a warp, a block and all blocks.

A block's partial result is kept in the row of its slot, where all blocks read the results of all (:func:`keep_int`,
then, after the barrier, :func:`combined_int`). They are always combined in the same order, so sums of floats are the
same in every run.
"""

from __future__ import annotations

import numpy as np

from frontier.backends.cuda.compile.runtime_words import FIRST, MIN, MORE, OR, SLOT, SUM, WARPS
from frontier.backends.cuda.device.machine import (
    SHARED,
    block_index,
    block_size,
    device,
    fetch_add,
    num_blocks,
    shuffle_down,
    shuffle_up,
    sync,
    thread_index,
)
from frontier.backends.cuda.device.runtime import counted

i32, u32, i64 = np.int32, np.uint32, np.int64
int64_shared, float64_shared = SHARED["int64"], SHARED["float64"]

# ---- of a warp and of a block ----------------------------------------------------------------------------


@device
def below(lane):
    """The bits of the lanes before this one."""
    return u32((u32(1) << u32(lane)) - u32(1))


@device
def inclusive_scan(value, lane):
    """Sum over the lanes up to and including this one (32 bits)."""
    value = i32(value)
    for d in (1, 2, 4, 8, 16):
        other = i32(shuffle_up(value, d))
        if lane >= i32(d):
            value = i32(value + other)
    return value


@device
def inclusive_scan64(value, lane):
    """The same for 64-bit numbers."""
    value = i64(value)
    for d in (1, 2, 4, 8, 16):
        other = i64(shuffle_up(value, d))
        if lane >= i32(d):
            value = value + other
    return value


@device
def combine(op, a, b):
    """Combine two values. As minimum or maximum, a NaN in ``b`` is ignored."""
    if op == SUM:
        return a + b
    if op == MIN:
        return b if b < a else a
    if op == OR:
        return i64(a) | i64(b)
    return b if b > a else a


@device
def warp_reduce(op, value):
    """Reduce the lanes of a warp; only lane 0 gets the result."""
    for d in (16, 8, 4, 2, 1):
        value = combine(op, value, shuffle_down(value, d))
    return value


@device
def lanes_reduce(op, value, lanes):
    """Reduce each group of ``lanes`` lanes (a power of two); only the group's first lane gets the result."""
    d = i32(lanes >> 1)
    while d > i32(0):
        value = combine(op, value, shuffle_down(value, d))
        d = i32(d >> i32(1))
    return value


@device
def block_reduce(op, value, memory):
    """Reduce the threads of a block; only thread 0 gets the result. All threads call it."""
    t = thread_index()
    value = warp_reduce(op, value)
    sync()
    if (t & i32(31)) == i32(0):
        memory[t >> i32(5)] = value
    sync()
    if t == i32(0):
        for i in range(1, block_size() >> i32(5)):
            value = combine(op, value, memory[i])
    return value


# ---- of all blocks ---------------------------------------------------------------------------------------


@device
def partials(slot):
    """The word of C at which the row of the blocks' partial results for a slot begins."""
    return FIRST + 3 * SLOT + ((slot - FIRST) // SLOT) * i64(num_blocks())


@device
def keep_int(C, slot, op, value):
    """Store the block's partial result in the slot's row. All threads call it."""
    value = block_reduce(op, i64(value), int64_shared(WARPS))
    if thread_index() == i32(0):
        C[partials(slot) + block_index()] = value


@device
def keep_float(F, slot, op, value):
    """The same for a float."""
    value = block_reduce(op, np.float64(value), float64_shared(WARPS))
    if thread_index() == i32(0):
        F[partials(slot) + block_index()] = value


@device
def combined(row, start, count, op, value, memory):
    """Combine ``count`` partial results, always in the same order. All threads call it, and get the result."""
    t = thread_index()
    if t < i32(32):
        i = t
        while i < count:
            value = combine(op, value, row[start + i])
            i = i32(i + i32(32))
        value = warp_reduce(op, value)
        if t == i32(0):
            memory[0] = value
    sync()
    value = memory[0]
    sync()
    return value


@device
def combined_int(C, slot, op, value):
    """Combine what all blocks have stored by :func:`keep_int`; ``value`` is the identity. All threads call it."""
    return combined(C, partials(slot), num_blocks(), op, i64(value), int64_shared(WARPS))


@device
def combined_float(F, slot, op, value):
    """The same for floats."""
    return combined(F, partials(slot), num_blocks(), op, np.float64(value), float64_shared(WARPS))


@device
def kept(row, slot, memory):
    """The first entry of a slot's row of results, for all threads of the block."""
    sync()
    if thread_index() == i32(0):
        memory[0] = row[partials(slot)]
    sync()
    value = memory[0]
    sync()
    return value


@device
def kept_int(C, slot):
    """What a phase has combined all blocks' results to. All threads call it."""
    return kept(C, slot, int64_shared(WARPS))


@device
def kept_float(F, slot):
    """The same for a float."""
    return kept(F, slot, float64_shared(WARPS))


@device
def add_up(C, slot, word, value):
    """Add the values of all threads to a counter, with one atomic per block. All threads call it."""
    value = block_reduce(SUM, i64(value), int64_shared(WARPS))
    if thread_index() == i32(0) and value != 0:
        fetch_add(C, slot + word, value)


@device
def add_found(C, slot, big, count, edges):
    """Add the threads' numbers of elements and edges, with one atomic per block. All threads call it."""
    count = block_reduce(SUM, i64(count), int64_shared(WARPS))
    edges = block_reduce(SUM, i64(edges), int64_shared(MORE))
    if thread_index() == i32(0) and count != 0:
        counted(C, slot, big, count, edges)
