"""Device functions on whole queues and bitmaps: prefix sums of degrees, copies, conversions."""

from __future__ import annotations

import numpy as np

from frontier.backends.cuda.compile.runtime_words import MORE, NOTHING, PREFIX, START, SUM, WARPS
from frontier.backends.cuda.device.appends import element_at
from frontier.backends.cuda.device.machine import (
    SHARED,
    block_index,
    block_size,
    device,
    fetch_or,
    find_first,
    num_blocks,
    popcount,
    shuffle,
    sync,
    thread_index,
)
from frontier.backends.cuda.device.reductions import (
    combined,
    combined_int,
    inclusive_scan,
    inclusive_scan64,
    keep_int,
    partials,
)
from frontier.backends.cuda.device.runtime import reserve

i32, u32, i64 = np.int32, np.uint32, np.int64
int64_shared = SHARED["int64"]

# ---- lists that lie elsewhere ------------------------------------------------------------------------------


@device
def mark_queue(w, W, stamps, epoch, queue, count):
    """Stamp the elements of a queue."""
    i = i64(w)
    while i < count:
        stamps[i64(queue[i])] = epoch
        i += W


@device
def place_of(everything, queue, first, last, v):
    """Where the first element that is not below ``v`` is, in an ascending queue from ``first`` on; or ``last``."""
    if everything:
        return i64(v)
    low = i64(first)
    high = i64(last)
    while low < high:
        middle = (low + high) >> 1
        if i64(queue[middle]) < v:
            low = middle + 1
        else:
            high = middle
    return low


@device
def window_of(windows, columns, number, everything, queue, place, last):
    """The window with the element at a place of a queue; after the last element, the number of windows."""
    if place >= last:
        return i64(number)
    v = element_at(queue, everything, place)
    low = i64(0)
    high = i64(number)
    while high - low > 1:
        middle = (low + high) >> 1
        if windows[middle * columns] <= v:
            low = middle
        else:
            high = middle
    return low


@device
def gain_of_windows(
    C, slot, w, W, queue, count, offsets, size, streamed, read, windows, columns, number, ends, others
):
    """Add up what the lists of an ascending queue cost where they lie, less what windows with any of them do, in bytes.

    A list costs ``streamed`` for ``read`` of its bytes. A slot has ``size`` bytes; in a window ``others``, and in
    addition each place of its far ends has ``ends``.
    """
    total = i64(0)
    i = i64(w)
    while i < count:
        v = i64(queue[i])
        total += i64(offsets[v + 1]) - i64(offsets[v])
        i += W
    total = total * size * streamed // read
    window = i64(w)
    while window < number:
        at = window * columns
        place = place_of(False, queue, 0, count, windows[at])
        if place < count and i64(queue[place]) < windows[at + 1]:
            total -= (windows[at + 3] - windows[at + 2]) * others + (windows[at + 5] - windows[at + 4]) * ends
        window += W
    keep_int(C, slot, SUM, total)


# ---- scans, copies, bitmaps ----------------------------------------------------------------------------


@device
def block_share(count):
    """The block's contiguous share of a range; all blocks have equal ones."""
    b = i64(block_index())
    blocks = i64(num_blocks())
    return count * b // blocks, count * (b + 1) // blocks


@device
def scan_sums(C, slot, w, W, queue, count, offsets):
    """First half of the scan of a queue: each block adds up the degrees of its share."""
    first, last = block_share(count)
    total = i64(0)
    i = first + thread_index()
    while i < last:
        v = i64(queue[i])
        total += i64(offsets[v + 1]) - i64(offsets[v])
        i += block_size()
    keep_int(C, slot, SUM, total)


@device
def scan_write(C, before, w, W, queue, scan, count, offsets):
    """Second half: write the number of edges before each entry. ``before`` is the slot of the first half."""
    t = thread_index()
    lane = i32(t & i32(31))
    sums = int64_shared(MORE)
    reached = combined(C, partials(before), block_index(), SUM, i64(0), int64_shared(WARPS))
    first, last = block_share(count)
    while first < last:
        i = first + t
        degree = i64(0)
        if i < last:
            v = i64(queue[i])
            degree = i64(offsets[v + 1]) - i64(offsets[v])
        upto = inclusive_scan64(degree, lane)
        if lane == i32(31):
            sums[t >> i32(5)] = upto
        sync()
        total = i64(0)
        mine = i64(0)
        for k in range(block_size() >> i32(5)):
            if k == i32(t >> i32(5)):
                mine = total
            total += sums[k]
        if i < last:
            scan[i] = reached + mine + upto - degree
        reached += total
        first += block_size()
        sync()


@device
def partial_total(C, slot, W):
    """Sum of all blocks' partial sums. All threads call it, and get it."""
    return combined_int(C, slot, SUM, 0)


@device
def copy_queue(w, W, source, everything, target, at, count):
    """Copy a queue, or all ids, to another queue, from place ``at`` on."""
    i = i64(w)
    while i < count:
        target[at + i] = element_at(source, everything, i)
        i += W


@device
def write_single(queue, scan, mode, offsets, v):
    """Write a frontier of one vertex and return the number of its edges. One thread of every block calls it."""
    start = i64(offsets[v])
    queue[0] = v
    if mode == START:
        scan[0] = start
    else:
        scan[0] = 0
    return i64(offsets[v + 1]) - start


@device
def put_single(queue, scan, mode, offsets, v):
    """The same, called by all threads."""
    if thread_index() == i32(0):
        write_single(queue, scan, mode, offsets, v)
    sync()
    return i64(offsets[v + 1]) - i64(offsets[v])


@device
def fill_bits(w, W, bits, length):
    """Clear a bitmap."""
    i = i64(w)
    while i < (length + 31) >> 5:
        bits[i] = u32(0)
        i += W


@device
def set_bits(w, W, bits, queue, count):
    """Set the bits of a queue's elements."""
    i = i64(w)
    while i < count:
        v = i64(queue[i])
        fetch_or(bits, v >> 5, u32(u32(1) << u32(v & 31)))
        i += W


@device
def queue_of_bits(C, slot, big, w, W, bits, length, out, out_scan, mode, offsets):
    """Append a bitmap's elements to a queue with its scan; a lane takes a word, and the warp appends as a unit."""
    total = (length + 31) >> 5
    lane = i32(thread_index() & i32(31))
    first = i64(w) - lane
    while first < total:
        word = u32(0)
        if first + lane < total:
            word = u32(bits[first + lane])
        count = popcount(word)
        degrees = i64(0)
        left = word
        if mode == PREFIX:
            while left != u32(0):
                x = ((first + lane) << 5) + find_first(left)
                left = u32(left & u32(left - u32(1)))
                degrees += i64(offsets[x + 1]) - i64(offsets[x])
        upto = inclusive_scan(count, lane)
        edges = inclusive_scan64(degrees, lane)
        at = i64(0)
        before = i64(0)
        if lane == i32(31) and upto > i32(0):
            at, before = reserve(C, slot, big, upto, edges)
        at = i64(shuffle(at, 31)) + upto - count
        before = i64(shuffle(before, 31)) + edges - degrees
        left = word
        while left != u32(0):
            x = ((first + lane) << 5) + find_first(left)
            left = u32(left & u32(left - u32(1)))
            out[at] = x
            if mode != NOTHING:
                start = i64(offsets[x])
                if mode == START:
                    out_scan[at] = start
                else:
                    out_scan[at] = before
                    before += i64(offsets[x + 1]) - start
            at += 1
        first += W
