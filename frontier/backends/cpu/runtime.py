"""Functions that every loop function of the cpu backend calls; they do not depend on functors.

Workers share one array of 64-bit words, ``C``: a few words of the whole run, then three *slots* of counters, which the
phases of a loop use in turn, each followed by a cache line per worker for partial sums. When phase t begins, worker 0
clears the slot of phase t + 1, so what phase t - 1 has left can be read until phase t is over.
"""

from __future__ import annotations

import numpy as np

from frontier.backends.cpu.intrinsics import (
    clock,
    compare_exchange,
    fetch_add,
    fetch_or,
    store_release,
    trailing_zeros,
    yield_processor,
)
from frontier.backends.cpu.runtime_words import (  # noqa: F401 - as above
    COUNT,
    CURSOR,
    EDGES,
    ERROR,
    EXAMINED,
    LINE,
    LOCAL,
    LOCK,
    MAILBOXES,
    PARTIAL,
    PILE_COUNT,
    PILE_EDGES,
    PILE_LOCK,
    SHARES,
    SPINS,
    STOP,
)
from frontier.compile.codes import (  # noqa: F401 - the text of loop functions takes them from here
    BAD_VERTEX,
    CLAIMED_TWICE,
    DONE,
    NEED_CODE,
    NEED_IN_EDGES,
    PAUSED,
    RECORD_FULL,
    ROW,
    SINGLE,
    SUMS,
    TOGETHER,
    UNCONVERGED,
    WRONG_KIND,
)
from frontier.compile.translation.texts import gives

#: Work of a phase that takes little longer than to look at the clock.
BRIEF = 256


@gives("int64")
def begin(C, t, w, workers, work, deadline):
    """Enter phase t: its slot. Worker 0 clears the next slot, and looks at the clock: of short phases at one in 16."""
    size = PARTIAL + LINE * workers
    first = MAILBOXES + ((workers + LINE - 1) // LINE) * LINE
    slot = first + (t % 3) * size
    if w == 0:
        after = first + ((t + 1) % 3) * size
        for i in range(PARTIAL):
            C[after + i] = 0
        if (work > BRIEF or (t & 15) == 0) and clock() > deadline:
            C[slot + STOP] = 1
    return slot


@gives("int64")
def next_piece(C, slot, W, size):
    """Where the next free piece of work of this size begins, after the first W, which are given out."""
    return fetch_add(C, slot + CURSOR, size) + W * size


@gives("int64")
def piece(total, W, least, most):
    """Size of the pieces in which W workers share some work: about eight for each."""
    if W == 1:
        return max(total, 1)
    return min(max(total // (8 * W), least), most)


@gives("int64", "int64")
def share(total, w, W):
    """Return a worker's equal share of a range, the same in every run."""
    return total * w // W, total * (w + 1) // W


@gives("int64", "int64")
def reserve(C, lock, count, edges):
    """Take room for so many elements with so many edges: the position, and the edges before it."""
    spins = 0
    while compare_exchange(C, lock, 0, 1) != 0:
        spins += 1
        if spins > SPINS:
            yield_processor()
    at = C[lock + 1]
    before = C[lock + 2]
    C[lock + 1] = at + count
    C[lock + 2] = before + edges
    store_release(C, lock, 0)
    return at, before


@gives()
def flush(C, slot, queue, capacity, ids, fill):
    """Append a worker's elements to the next queue."""
    if fill == 0:
        return
    at, _ = reserve(C, slot + LOCK, fill, 0)
    if at + fill > capacity:
        C[slot + ERROR] = CLAIMED_TWICE
        return
    for i in range(fill):
        queue[at + i] = ids[i]


@gives()
def flush_scanned(C, slot, queue, scan, capacity, ids, prefix, fill, edges):
    """The same, and their edge prefix: the append makes the scan that a later push needs."""
    if fill == 0:
        return
    at, before = reserve(C, slot + LOCK, fill, edges)
    if at + fill > capacity:
        C[slot + ERROR] = CLAIMED_TWICE
        return
    for i in range(fill):
        queue[at + i] = ids[i]
        scan[at + i] = before + prefix[i]


@gives()
def flush_pile(C, slot, pile, held, ids, fill):
    """Append a worker's elements to a pile that holds some already."""
    if fill == 0:
        return
    at, _ = reserve(C, slot + PILE_LOCK, fill, 0)
    for i in range(fill):
        pile[held + at + i] = ids[i]


@gives()
def flush_bucket(C, counter, pile, held, ids, fill):
    """The same for one pile of several, each of which has a counter only."""
    if fill == 0:
        return
    at = held + fetch_add(C, counter, fill)
    for i in range(fill):
        pile[at + i] = ids[i]


@gives("int64")
def source_at(scan, count, position):
    """The last queue entry whose edges begin at or before a position."""
    low = 0
    high = count
    while high - low > 1:
        middle = (low + high) >> 1
        if scan[middle] <= position:
            low = middle
        else:
            high = middle
    return low


@gives("int64")
def first_from(ids, first, last, value):
    """The first position from ``first`` on, before ``last``, whose id is not below a value; ``last`` if none is."""
    low = first
    high = last
    while low < high:
        middle = (low + high) >> 1
        if np.int64(ids[middle]) < value:
            low = middle + 1
        else:
            high = middle
    return low


# ---- scans -------------------------------------------------------------------------------------------


@gives()
def scan_sums(C, slot, w, W, queue, count, offsets):
    """First half of the scan of a queue: every worker's sum of degrees."""
    first, last = share(count, w, W)
    total = 0
    for i in range(first, last):
        v = np.int64(queue[i])
        total += np.int64(offsets[v + 1]) - np.int64(offsets[v])
    C[slot + PARTIAL + LINE * w] = total


@gives()
def scan_write(C, before, w, W, queue, scan, count, offsets):
    """Second half: the edges before every entry. ``before`` is the slot of the first half."""
    total = 0
    for other in range(w):
        total += C[before + PARTIAL + LINE * other]
    first, last = share(count, w, W)
    for i in range(first, last):
        scan[i] = total
        v = np.int64(queue[i])
        total += np.int64(offsets[v + 1]) - np.int64(offsets[v])


@gives("int64")
def partial_total(C, slot, W):
    """Sum of all workers' partial sums."""
    total = 0
    for other in range(W):
        total += C[slot + PARTIAL + LINE * other]
    return total


@gives()
def keep_int(C, slot, w, value):
    """Leave a worker's partial result for the others."""
    C[slot + PARTIAL + LINE * w] = np.int64(value)


@gives("int64")
def kept_int(C, slot, w):
    """Return what a worker has stored by :func:`keep_int`."""
    return C[slot + PARTIAL + LINE * w]


@gives()
def keep_float(F, slot, w, value):
    """Leave a worker's partial result, a float, for the others."""
    F[slot + PARTIAL + LINE * w] = np.float64(value)


@gives("float64")
def kept_float(F, slot, w):
    """Return what a worker has stored by :func:`keep_float`."""
    return F[slot + PARTIAL + LINE * w]


#: How :func:`combined_int` and :func:`combined_float` combine results.
SUM, MIN, MAX, OR = range(4)


@gives("int64")
def combined_int(C, slot, W, op, result):
    """Combine what the workers have stored by :func:`keep_int`, in their order."""
    for other in range(W):
        value = kept_int(C, slot, other)
        if op == SUM:
            result += value
        elif op == OR:
            result |= value
        elif (op == MIN and value < result) or (op == MAX and value > result):
            result = value
    return result


@gives("float64")
def combined_float(F, slot, W, op, result):
    """Combine what the workers have stored by :func:`keep_float`, in their order."""
    for other in range(W):
        value = kept_float(F, slot, other)
        if op == SUM:
            result += value
        elif (op == MIN and value < result) or (op == MAX and value > result):
            result = value
    return result


# ---- copies of fields --------------------------------------------------------------------------------------


@gives()
def clear_copy(w, W, copies, length):
    """Begin with 0 in a worker's copy of a field; worker 0 has the field itself."""
    first = (w - 1) * length
    if w > 0:
        for i in range(first, first + length):
            copies[i] = 0


@gives()
def add_copies(w, W, field, copies, length):
    """Add all copies to the field."""
    first, last = share(length, w, W)
    for other in range(W - 1):
        begin = other * length
        for i in range(first, last):
            field[i] += copies[begin + i]


# ---- queues and bitmaps --------------------------------------------------------------------------------


@gives()
def copy_queue(w, W, source, everything, target, at, count):
    """Copy a queue, or all ids, to a position of another."""
    first, last = share(count, w, W)
    if everything:
        for i in range(first, last):
            target[at + i] = i
    else:
        for i in range(first, last):
            target[at + i] = source[i]


@gives()
def fill_bits(w, W, bits, length, everything):
    """All bits 0, or all 1."""
    first, last = share((length + 63) >> 6, w, W)
    for i in range(first, last):
        if not everything:
            bits[i] = np.uint64(0)
        elif (i + 1) << 6 <= length:
            bits[i] = ~np.uint64(0)
        else:
            bits[i] = (np.uint64(1) << np.uint64(length & 63)) - np.uint64(1)


@gives()
def set_bits(w, W, bits, queue, count):
    """The bits of a queue's elements."""
    first, last = share(count, w, W)
    for i in range(first, last):
        v = np.int64(queue[i])
        bit = np.uint64(1) << np.uint64(v & 63)
        if W == 1:
            bits[v >> 6] |= bit
        else:
            fetch_or(bits, v >> 6, bit)


def share_of_bits(w, W, bits, length):
    """Walk a worker's equal share of the elements of a bitmap, the same in every run."""
    first, last = share((length + 63) >> 6, w, W)
    for i in range(first, last):
        word = bits[i]
        while word != 0:
            v = (i << 6) + np.int64(trailing_zeros(word))
            word &= word - np.uint64(1)
            yield v


@gives()
def queue_of_bits(C, slot, w, W, bits, length, offsets, queue, scan, ids, prefix):
    """The queue, with its scan, of a bitmap."""
    fill = 0
    edges = 0
    for v in share_of_bits(w, W, bits, length):
        ids[fill] = v
        prefix[fill] = edges
        edges += np.int64(offsets[v + 1]) - np.int64(offsets[v])
        fill += 1
        if fill == LOCAL:
            flush_scanned(C, slot, queue, scan, length, ids, prefix, fill, edges)
            fill = 0
            edges = 0
    flush_scanned(C, slot, queue, scan, length, ids, prefix, fill, edges)


# ---- the trace of fused loops ----------------------------------------------------------------------------

@gives("int64")
def trace_row(R, steps, rows, step, number, direction, before, after, edges, brought, since):
    """Worker 0 writes a row into the ring; gives the time now."""
    now = clock()
    took = now - since
    R[1 + SUMS * step] += 1
    R[2 + SUMS * step] += edges
    R[3 + SUMS * step] += took
    R[4 + SUMS * step] += brought
    at = 1 + SUMS * steps + ROW * (R[0] % rows)
    R[0] += 1
    R[at] = step
    R[at + 1] = number
    R[at + 2] = direction
    R[at + 3] = before
    R[at + 4] = after
    R[at + 5] = edges
    R[at + 6] = took
    R[at + 7] = brought
    return now
