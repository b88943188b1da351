"""Device functions that every loop kernel calls: the barrier, the counters of a phase, rows of the trace.

All threads of all blocks run the same loop. In a low-degree variant, each of them keeps the variables and executes the
control flow; in others the first thread of each block does (:mod:`frontier.backends.cuda.printers`). Blocks share one
array of 64-bit words, ``C``, in device memory: an arrival counter for the barrier, then three *slots* of counters,
which the phases use in turn, then three rows with a partial result of every block. After the barrier the first warp of
a block (in a low-degree variant the last) copies the slot to ``K`` in shared memory, from which all threads of the
block read it: if thousands of warps read the same word, that takes microseconds.
"""

from __future__ import annotations

import numpy as np

from frontier.backends.cuda.compile.runtime_words import (  # noqa: F401 - for kernels
    ARRIVALS,
    ATTENTION,
    COUNT,
    CURSOR,
    EDGES,
    ERROR,
    EXAMINED,
    FIRST,
    FREE,
    HALF,
    MAX,
    MIN,
    MORE,
    NOTHING,
    OR,
    PILE_COUNT,
    PREFIX,
    SLOT,
    START,
    STOP,
    SUM,
    TILE,
    VARIABLES,
    WARPS,
    WORDS,
)
from frontier.backends.cuda.device.machine import (
    SHARED,
    block_index,
    block_size,
    clock,
    device,
    fetch_add,
    fetch_or,
    load_acquire,
    load_relaxed,
    num_blocks,
    release_add,
    shuffle,
    sync,
    sync_warp,
    thread_index,
)
from frontier.compile.codes import (  # noqa: F401 - the text of loop functions takes them from here
    BAD_VERTEX,
    CLAIMED_TWICE,
    DONE,
    FUNCTOR_FAILED,
    NEED_CODE,
    NEED_IN_EDGES,
    PAUSED,
    RECORD_FULL,
    ROW,
    SINGLE,
    SUMS,
    UNCONVERGED,
    WRONG_KIND,
)

i32, u32, i64 = np.int32, np.uint32, np.int64
int32_shared, int64_shared, float64_shared = SHARED["int32"], SHARED["int64"], SHARED["float64"]

#: From this word of a slot, and of K, on are the counts of up to eight piles.
BUCKETS = 8

#: Another name of a word of a slot, and of K.
HELD = PILE_COUNT

# ---- phases and the barrier ----------------------------------------------------------------------------


@device
def worker():
    """Number of this thread. Warps are numbered across blocks, so that a little work spreads over all processors."""
    t = thread_index()
    return i64(i32(i32(i32(t >> i32(5)) * num_blocks() + block_index()) * i32(32)) + i32(t & i32(31)))


@device
def workers():
    """Number of threads."""
    return i64(num_blocks() * block_size())


@device
def previous_slot(t):
    """The slot of the phase before phase t."""
    return i64(FIRST) + ((t + 2) % 3) * SLOT


@device
def following(slot):
    """The slot after a slot."""
    return slot + SLOT if slot < FIRST + 2 * SLOT else i64(FIRST)


@device
def clear_next(C, slot, t, w, deadline):
    """At the beginning of phase t, the first warp clears the next slot; now and then it looks at the clock."""
    if w < SLOT:
        C[following(slot) + w] = 0
    if w == 0 and (t & 31) == 0 and clock() > deadline:
        C[slot + STOP] = 1


@device
def grid_barrier(C, slot, arrivals, big):
    """End a phase: wait for all blocks. Afterwards, the block's first thread, and no other, may read K."""
    t = thread_index()
    sync()
    if t < i32(32):
        if t == i32(0):
            release_add(C, 0, 1)
            while load_acquire(C, 0) < arrivals:
                pass
        sync_warp()
        if t < i32(SLOT):
            K = int64_shared(0)
            value = load_relaxed(C, slot + t)
            if big:
                K[t] = value
            elif t == i32(COUNT):
                K[COUNT] = value & 0xFFFFFFFF
                K[EDGES] = value >> 32
            elif t != i32(EDGES):
                K[t] = value
        sync_warp()


@device
def begin(C, slot, t, w, deadline, packed):
    """Begin phase t; returns its slot, the one after ``slot``. The first warp does what :func:`clear_next` says."""
    slot = following(slot)
    if w < SLOT:
        C[following(slot) + w] = 0
    if w == 0 and (t & 31) == 0 and clock() > deadline:
        C[slot + STOP] = 1
        if packed:
            fetch_or(C, slot + COUNT, ATTENTION)
    return slot


#: In low-degree builds, the word of the count also has the number of arrived blocks (from bit ``ARRIVALS`` on), and a
#: bit that says whether other words are to be read (``ATTENTION``). A phase that holds vertices back counts them in the
#: upper half of the remaining bits, and its elements in the lower half.
COUNTED = (1 << 32) - 1
HALF_COUNTED = (1 << HALF) - 1


@device
def arrive_packed(C, slot):
    """Announce that the block has ended a phase of a low-degree build. Its last warp does it, having least to do."""
    sync()
    if thread_index() == i32(block_size() - i32(32)):
        release_add(C, slot + COUNT, i64(1) << i64(ARRIVALS))


@device
def grid_barrier_packed(C, slot, whole, arrived, holds):
    """End a phase of a low-degree build. The word that shows all blocks' arrival also has the next frontier's size.

    ``whole``: the phase uses more words than the count. ``arrived``: the block has announced its arrival already.
    ``holds``: the phase has counted held vertices in that word, too.
    """
    if not arrived:
        arrive_packed(C, slot)
    lane = i32(thread_index() - i32(block_size() - i32(32)))
    if lane >= i32(0):
        K = int64_shared(0)
        word = i64(0)
        if lane == i32(0):
            word = load_acquire(C, slot + COUNT)
            while (word >> ARRIVALS) < num_blocks():
                word = load_acquire(C, slot + COUNT)
            K[COUNT] = word & (HALF_COUNTED if holds else COUNTED)
            if holds:
                K[HELD] = (word >> HALF) & HALF_COUNTED
            K[EDGES] = 0
            K[STOP] = 0
            K[ERROR] = 0
        word = i64(shuffle(word, 0))
        if whole or (word & ATTENTION) != 0:
            sync_warp()  # after the zeros that the first lane has written
            if lane >= i32(2) and lane < i32(8) and not (holds and lane == i32(HELD)):
                K[lane] = load_relaxed(C, slot + lane)
    sync()


# ---- counting ------------------------------------------------------------------------------------------


@device
def reserve(C, slot, big, count, edges):
    """Reserve room for elements with so many edges; returns their place, and the edges before it. One lane calls it.

    In big builds, where both numbers do not fit into the word of one atomic, appends count no edges.
    """
    if not big:
        old = fetch_add(C, slot + COUNT, i64(count) | (i64(edges) << 32))
        return old & 0xFFFFFFFF, old >> 32
    return fetch_add(C, slot + COUNT, i64(count)), i64(0)


@device
def counted(C, slot, big, count, edges):
    """Add to the numbers of elements and edges, without reserving room."""
    if big:
        fetch_add(C, slot + COUNT, i64(count))
        fetch_add(C, slot + EDGES, i64(edges))
    else:
        fetch_add(C, slot + COUNT, i64(count) | (i64(edges) << 32))


# ---- the trace of fused loops --------------------------------------------------------------------------


@device
def trace_row(R, steps, rows, step, number, direction, before, after, edges, brought, since):
    """Write a row of the trace into the ring, by one thread; returns the time."""
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


@device
def read_buckets(C, slot):
    """After a phase, copy the counters of its piles to K. All threads call it."""
    t = thread_index()
    if t >= i32(BUCKETS) and t < i32(SLOT):
        int64_shared(0)[t] = load_relaxed(C, slot + t)
    sync()
