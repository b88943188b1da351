"""Device functions by which GPUs meet inside their kernels: a barrier of all, with what each tells the others.

Every GPU has a *box* of 64-bit words in its memory, into which the others write: of each GPU the number of the meeting
at which it has arrived, and what it tells, for two meetings in turn. After these the block that speaks for the GPU
leaves what all told together, and the number of the meeting that has ended. (A barrier in which every block polls the
words of all GPUs takes longer: 5 to 6 microseconds instead of 4 on four H200.)

A GPU that waits for long leaves with an error, so that none waits forever for one that has failed.
"""

from __future__ import annotations

import numpy as np

from frontier.backends.cuda.machine import (
    POINTERS,
    SHARED,
    block_index,
    clock,
    device,
    find_first,
    float_of,
    load_acquire,
    load_acquire_system,
    load_relaxed,
    popcount,
    release_add,
    shuffle,
    store_release,
    store_release_system,
    sync,
    sync_warp,
    thread_index,
    word_of,
)
from frontier.backends.cuda.reductions import combine, inclusive_scan, inclusive_scan64
from frontier.backends.cuda.runtime import counted, reserve
from frontier.backends.cuda.runtime_words import COUNT, EDGES, ERROR, PREFIX, SLOT, STOP
from frontier.backends.devices.meeting_words import (  # noqa: F401 - the text of loop functions takes them from here
    ALL,
    ALL_COUNT,
    ALL_EDGES,
    ALL_ERROR,
    ALL_STOP,
    ALL_VALUE,
    COMPUTED,
    COUNT_BITS,
    LOST,
    MERGED,
    OPERATION,
    PATIENCE,
    REAL,
    TOLD,
    VALUE,
    WAITED,
)

i32, u32, i64 = np.int32, np.uint32, np.int64
int64_at, int64_shared = POINTERS["int64"], SHARED["int64"]


@device
def meet(C, slot, arrivals, big, box, boxes, rank, parts, number, stopped, failed):
    """End a phase on all GPUs. Afterwards the first warp of a block has put into K what this GPU told and what all did.

    ``box`` and ``boxes``: this GPU's, and the addresses of all. ``number``: of this meeting, from 1 on. ``stopped`` and
    ``failed``: what earlier phases have left in the words STOP and ERROR.
    """
    t = thread_index()
    sync()
    if t < i32(32):
        words = parts + 2 * parts * TOLD  # where what all told begins
        if t == i32(0):
            release_add(C, 0, 1)
        if block_index() == i32(0):
            if t == i32(0):
                while load_acquire(C, 0) < arrivals:
                    pass
            sync_warp()
            first = parts + (number & 1) * parts * TOLD
            come = clock()
            i = i64(t)
            while i < parts * TOLD:  # a lane for each word and GPU: one after another, words take microseconds
                tell(C, slot, big, int64_at(boxes[i // TOLD]), first + rank * TOLD, i % TOLD, stopped, failed)
                i += 32
            sync_warp()
            if t < parts:
                store_release_system(int64_at(boxes[t]), rank, number)
                begun = clock()
                while load_acquire_system(box, t) < number and clock() - begun < PATIENCE:
                    pass
                if load_acquire_system(box, t) < number:
                    box[first + t * TOLD + ERROR] = LOST
            sync_warp()
            if t < i32(TOLD):
                bring_together(box, first, words, parts, i64(t))
            sync_warp()
            if t == i32(0):
                box[words + TOLD + 1 + WAITED] += clock() - come
                store_release(box, words + TOLD, number)
        elif t == i32(0):
            while load_acquire(box, words + TOLD) < number:
                pass
        sync_warp()
        if t < i32(SLOT):
            K = int64_shared(0)
            if t >= i32(ALL):
                K[t] = load_relaxed(box, words + t - ALL)
            else:
                K[t] = told(C, slot, big, t)
        sync_warp()


@device
def told(C, slot, big, word):
    """A word of a slot, where the count and the edges may share one."""
    if not big and word == COUNT:
        return load_relaxed(C, slot + COUNT) & 0xFFFFFFFF
    if not big and word == EDGES:
        return load_relaxed(C, slot + COUNT) >> 32
    return load_relaxed(C, slot + word)


@device
def tell(C, slot, big, box, at, word, stopped, failed):
    """Write to a box a word of what this GPU has in its slot."""
    value = told(C, slot, big, word)
    if word == STOP:
        value = value | stopped
    if word == ERROR and value == 0:
        value = failed
    box[at + word] = value


@device
def bring_together(box, first, words, parts, word):
    """Combine a word of what all GPUs have told, in their order; a thread for each."""
    how = load_relaxed(box, first + OPERATION)
    value = load_relaxed(box, first + word)
    real = float_of(value)
    for r in range(1, parts):
        other = load_relaxed(box, first + r * TOLD + word)
        if word == COUNT or word == EDGES:  # noqa: SIM109 - kernels know no "in"
            value += other
        elif word == STOP:
            value |= other
        elif word == ERROR:
            value = max(value, other)
        elif word == VALUE and how >= REAL:
            real = combine(how - REAL, real, float_of(other))
        elif word == VALUE and how > 0:
            value = combine(how - 1, value, other)
    if word == VALUE and how >= REAL:
        value = word_of(real)
    box[words + word] = value


@device
def publish(C, slot, w, value, how):
    """Leave an integer for :func:`meet` to combine."""
    if w == 0:
        C[slot + VALUE] = value
        C[slot + OPERATION] = how


@device
def publish_real(C, slot, w, value, how):
    """The same for a float."""
    if w == 0:
        C[slot + VALUE] = word_of(value)
        C[slot + OPERATION] = how


@device
def publish_size(C, slot, big, w, count, edges):
    """Leave the size of a frontier."""
    if w == 0:
        counted(C, slot, big, count, edges)


@device
def nothing():
    """A phase in which GPUs only meet."""


@device
def clear_inbox(w, box, at):
    """Clear the word in which others count what they append to a frontier."""
    if w == 0:
        box[at] = 0


@device
def inbox_count(box, at):
    """How many elements have been appended."""
    return load_relaxed(box, at) & ((1 << COUNT_BITS) - 1)


@device
def inbox_edges(box, at):
    """How many edges these have."""
    return load_relaxed(box, at) >> COUNT_BITS


@device
def fill_range(w, W, queue, first, end):
    """Write consecutive ids to a queue."""
    i = first + w
    while i < end:
        queue[i - first] = i
        i += W


@device
def clear_words(w, W, bits, first, end):
    """Clear the bits of a range of vertices, which begins and ends with a word or with the last vertex."""
    i = ((first + 31) >> 5) + w
    while i < (end + 31) >> 5:
        bits[i] = u32(0)
        i += W


@device
def queue_of_own(C, slot, big, w, W, bits, begin, end, out, out_scan, mode, offsets):
    """Append the elements of a bitmap's range to a queue with its scan, as ``queue_of_bits`` does of a whole one."""
    last = (end + 31) >> 5
    lane = i32(thread_index() & i32(31))
    first = ((begin + 31) >> 5) + w - lane
    while first < last:
        word = u32(0)
        if first + lane < last:
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
            if mode == PREFIX:
                out_scan[at] = before
                before += i64(offsets[x + 1]) - i64(offsets[x])
            at += 1
        first += W
