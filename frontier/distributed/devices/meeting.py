"""Device functions by which GPUs meet inside their kernels: a barrier of all, with what each tells the others.

Every GPU has a *box* of 64-bit words in its memory, into which all write what they tell, for two meetings in turn.
After these the block that speaks for the GPU leaves what its own told, and what all told together, for other blocks.
Each word has 32 bits of a value and the number of the meeting. So whoever waits for the number has the value, too, and
need not wait until a number has followed the values over the links. (On two H100s a level of a grid takes 14.8
microseconds instead of 17.3. A barrier in which every block polls the words of all GPUs takes longer: 5 to 6
microseconds instead of 4 on four H200.)

A GPU that waits for long leaves with an error, so that none waits forever for one that has failed.
"""

from __future__ import annotations

import numpy as np

from frontier.backends.cuda.compile.runtime_words import COUNT, EDGES, ERROR, PREFIX, SLOT, STOP
from frontier.backends.cuda.device.machine import (
    POINTERS,
    SHARED,
    any_lane,
    block_index,
    clock,
    device,
    fence_system,
    find_first,
    float_of,
    load_acquire,
    load_acquire_system,
    load_relaxed,
    popcount,
    release_add,
    shuffle,
    store_relaxed_system,
    store_release,
    sync,
    sync_warp,
    thread_index,
    word_of,
)
from frontier.backends.cuda.device.reductions import combine, inclusive_scan, inclusive_scan64
from frontier.backends.cuda.device.runtime import counted, reserve
from frontier.distributed.devices.meeting_words import (  # noqa: F401 - the text of loop functions takes them from here
    ALL,
    ALL_COUNT,
    ALL_EDGES,
    ALL_ERROR,
    ALL_STOP,
    ALL_VALUE,
    COMPUTED,
    COUNT_BITS,
    HALVES,
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
    lane = i32(t & i32(31))
    speaks = block_index() == i32(0)
    mark = number << 32
    first = (number & 1) * parts * HALVES
    shown = 2 * parts * HALVES
    sync()
    if t < i32(32):
        if t == i32(0):
            release_add(C, 0, 1)
        if speaks:
            if t == i32(0):
                while load_acquire(C, 0) < arrivals:
                    pass
            sync_warp()
            tell(C, slot, big, boxes, first + rank * HALVES, parts, mark, stopped, failed)
        # One lane waits: if all did, blocks that wait would take most of what one slice of the cache can give.
        if t == i32(0):
            while (load_acquire(box, shown) ^ mark) >> 32 != 0:
                pass
        sync_warp()
        word = load_acquire(box, shown + lane)
        while (word ^ mark) >> 32 != 0:
            word = load_acquire(box, shown + lane)
        value = joined(word, lane & i32(SLOT - 1), i32(SLOT))
        if t < i32(SLOT):
            K = int64_shared(0)
            K[t] = value
        sync_warp()
    elif speaks and t < i32(64):
        show(box, shown, first, rank, parts, mark, lane)


@device
def told(C, slot, big, word):
    """A word of a slot, where the count and the edges may share one."""
    if not big and word == COUNT:
        return load_relaxed(C, slot + COUNT) & 0xFFFFFFFF
    if not big and word == EDGES:
        return load_relaxed(C, slot + COUNT) >> 32
    return load_relaxed(C, slot + word)


@device
def half_of(value, high):
    """The upper or the lower half of a word."""
    return (value >> 32 if high != 0 else value) & 0xFFFFFFFF


@device
def joined(word, lane, apart):
    """The word whose lower half one lane has, and its upper half another, so many lanes ``apart``."""
    low = shuffle(word, lane)
    high = shuffle(word, lane + apart)
    return (high << 32) | (low & 0xFFFFFFFF)


@device
def tell(C, slot, big, boxes, at, parts, mark, stopped, failed):
    """Write to the boxes of all GPUs what this one has in its slot; each lane of a warp writes halves of one word."""
    t = thread_index()
    word = t & i32(TOLD - 1)
    value = told(C, slot, big, word)
    if word == STOP:
        value = value | stopped
    if word == ERROR and value == 0:
        value = failed
    half = half_of(value, t & i32(TOLD)) | mark
    fence_system()  # what all blocks have written comes before
    r = i64(t >> i32(4))
    while r < parts:
        store_relaxed_system(int64_at(boxes[r]), at + (t & i32(HALVES - 1)), half)
        r += 2


@device
def show(box, shown, first, rank, parts, mark, lane):
    """Wait for what all GPUs tell, and leave for the blocks of this GPU what it and what all have told.

    What all have told is combined in their order. It is another warp that tells: before a warp releases anything it
    waits for its own stores to other GPUs.
    """
    word = lane & i32(TOLD - 1)
    mine = first + rank * HALVES + (lane & i32(HALVES - 1))
    while (load_acquire_system(box, mine) ^ mark) >> 32 != 0:
        pass  # as long as blocks of this GPU need
    sync_warp()
    begun = clock()
    late = False
    own = i64(0)
    value = i64(0)
    how = i64(0)
    base = i64(0)
    while base < parts:  # two GPUs at once
        found = mark
        if base + (lane >> i32(4)) < parts:
            at = first + base * HALVES + lane
            found = load_acquire_system(box, at)
            while (found ^ mark) >> 32 != 0 and clock() - begun < PATIENCE:
                found = load_acquire_system(box, at)
            if (found ^ mark) >> 32 != 0:
                late = True
        sync_warp()
        one = joined(found, word, i32(TOLD))
        other = joined(found, word + i32(HALVES), i32(TOLD))
        if base == 0:
            value = one
            how = i64(shuffle(one, OPERATION))
        else:
            value = combined(word, how, value, one)
        if base + 1 < parts:
            value = combined(word, how, value, other)
        if (rank >> 1) << 1 == base:
            own = one if (rank & 1) == 0 else other
        base += 2
    if any_lane(late) and word == ERROR:
        value = i64(LOST)
    if (lane & i32(TOLD)) == i32(0):
        value = own
    store_release(box, shown + lane, half_of(value, lane >> i32(4)) | mark)
    if lane == i32(0):
        box[shown + 2 * SLOT + WAITED] += clock() - begun


@device
def combined(word, how, value, other):
    """Combine a word of what two GPUs have told."""
    if word == COUNT or word == EDGES:  # noqa: SIM109 - kernels know no "in"
        return value + other
    if word == STOP:
        return value | other
    if word == ERROR:
        return max(value, other)
    if word == VALUE and how >= REAL:
        return word_of(combine(how - REAL, float_of(value), float_of(other)))
    if word == VALUE and how > 0:
        return i64(combine(how - 1, value, other))
    return value


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
