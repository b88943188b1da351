"""Device functions that every loop kernel calls; nothing here knows a functor.

All threads of all blocks run the same loop. In a narrow build all of them keep the same variables and decide alike;
in others the first thread of each block does (:mod:`frontier.backends.cuda.decider`). Blocks share one array of 64-bit
words, ``C``, in device memory: an arrival counter for the barrier, then three *slots* of counters, used in
turn by the phases, then three rows with a partial result of every block. After the barrier the first warp
of a block copies the slot to ``K`` in shared memory, from where all its threads decide alike: a word that
thousands of warps read costs microseconds.

The unit of work of an append is the warp: lanes vote, one atomic takes room for all of them. Where the next
push needs the scan of degrees, that atomic adds the edges in the upper half of the word, so that what it
returns is both the position and the edges before it, and no scan is ever run.
"""

from __future__ import annotations

import numpy as np

from frontier.backends.codes import (  # noqa: F401 - the text of loop functions takes them from here
    BAD_VERTEX,
    CLAIMED_TWICE,
    DONE,
    NEED_IN_EDGES,
    PAUSED,
    RECORD_FULL,
    ROW,
    SINGLE,
    SUMS,
    UNCONVERGED,
    WRONG_KIND,
)
from frontier.backends.cuda.machine import (
    SHARED,
    any_lane,
    ballot,
    block_index,
    block_size,
    clock,
    compare_exchange,
    device,
    fetch_add,
    fetch_or,
    find_first,
    load_acquire,
    load_relaxed,
    num_blocks,
    ones,
    release_add,
    shuffle,
    shuffle_down,
    shuffle_up,
    store_release,
    sync,
    sync_warp,
    thread_index,
)
from frontier.backends.cuda.runtime_words import FIRST, FREE, SLOT, TILE, VARIABLES  # noqa: F401 - for kernels

i32, u32, i64 = np.int32, np.uint32, np.int64
int32_shared, int64_shared, float64_shared = SHARED["int32"], SHARED["int64"], SHARED["float64"]

# Words of a slot, and of K.
COUNT, EDGES, LOCK, STOP, ERROR, EXAMINED, PILE_COUNT, CURSOR = range(8)
RESULT = 8

# Scratch memory of a block, in bytes: K, two values a warp, a few words; then what a phase lays there.
WARPS, MORE, WORDS = 128, 384, 640

#: What an append writes beside the ids: nothing, edges before (for merge_path), first slot (for lanes).
NOTHING, PREFIX, START = range(3)

#: Reductions.
SUM, MIN, MAX = range(3)

# ---- phases --------------------------------------------------------------------------------------------


@device
def worker():
    """Number of this thread: warps are dealt round the blocks, so that little work spreads over all processors."""
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
    """At the beginning of phase t: the first warp clears the next slot, and looks at the clock."""
    if w < SLOT:
        C[following(slot) + w] = 0
    if w == 0 and (t & 31) == 0 and clock() > deadline:
        C[slot + STOP] = 1


@device
def meet(C, slot, arrivals, big):
    """Leave a phase: wait until all blocks have. Then its counters are in K, for the block's first thread alone."""
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
    """Enter phase t after the one of ``slot``: its slot. The first warp clears the next one, and looks at the clock."""
    slot = following(slot)
    if w < SLOT:
        C[following(slot) + w] = 0
    if w == 0 and (t & 31) == 0 and clock() > deadline:
        C[slot + STOP] = 1
        if packed:
            fetch_or(C, slot + COUNT, ATTENTION)
    return slot


#: In narrow builds the word of the count also holds the arrivals, and whether other words are to be read.
ARRIVED, COUNTED = 1 << 48, (1 << 32) - 1
ATTENTION = 1 << 40


@device
def finish_packed(C, slot, whole):
    """Leave a phase of a narrow build: its last look at the arrivals already holds the size of the next frontier.

    ``whole`` says that the phase uses more words than the count.
    """
    t = thread_index()
    sync()
    if t < i32(32):
        K = int64_shared(0)
        word = i64(0)
        if t == i32(0):
            release_add(C, slot + COUNT, ARRIVED)
            word = load_acquire(C, slot + COUNT)
            while (word >> 48) < num_blocks():
                word = load_acquire(C, slot + COUNT)
            K[COUNT] = word & COUNTED
            K[EDGES] = 0
            K[STOP] = 0
            K[ERROR] = 0
        word = i64(shuffle(word, 0))
        if (whole or (word & ATTENTION) != 0) and t >= i32(2) and t < i32(8):
            K[t] = load_relaxed(C, slot + t)
    sync()


@device
def room(C, slot, big, count, edges):
    """Take room for so many elements with so many edges: the position, and the edges before it. One lane calls it."""
    if not big:
        old = fetch_add(C, slot + COUNT, i64(count) | (i64(edges) << 32))
        return old & 0xFFFFFFFF, old >> 32
    while compare_exchange(C, slot + LOCK, 0, 1) != 0:
        pass
    at = load_acquire(C, slot + COUNT)
    before = load_acquire(C, slot + EDGES)
    C[slot + COUNT] = at + count
    C[slot + EDGES] = before + edges
    store_release(C, slot + LOCK, 0)
    return at, before


@device
def counted(C, slot, big, count, edges):
    """Add to the number of elements and edges, where no room is taken."""
    if big:
        fetch_add(C, slot + COUNT, i64(count))
        fetch_add(C, slot + EDGES, i64(edges))
    else:
        fetch_add(C, slot + COUNT, i64(count) | (i64(edges) << 32))


# ---- within a warp and a block -------------------------------------------------------------------------


@device
def below(lane):
    """The bits of the lanes before this one."""
    return u32((u32(1) << u32(lane)) - u32(1))


@device
def running(value, lane):
    """Sum over the lanes up to and with this one (32 bits)."""
    value = i32(value)
    for d in (1, 2, 4, 8, 16):
        other = i32(shuffle_up(value, d))
        if lane >= i32(d):
            value = i32(value + other)
    return value


@device
def running64(value, lane):
    """The same of 64-bit numbers."""
    value = i64(value)
    for d in (1, 2, 4, 8, 16):
        other = i64(shuffle_up(value, d))
        if lane >= i32(d):
            value = value + other
    return value


@device
def better(op, a, b):
    """Two values brought together; a NaN met later neither wins nor sticks."""
    if op == SUM:
        return a + b
    if op == MIN:
        return b if b < a else a
    return b if b > a else a


@device
def warp_reduce(op, value):
    """The reduction over a warp's lanes; right in lane 0."""
    for d in (16, 8, 4, 2, 1):
        value = better(op, value, shuffle_down(value, d))
    return value


@device
def lanes_reduce(op, value, lanes):
    """The reduction over each group of so many lanes (a power of two); right in the group's first."""
    d = i32(lanes >> 1)
    while d > i32(0):
        value = better(op, value, shuffle_down(value, d))
        d = i32(d >> i32(1))
    return value


@device
def block_reduce(op, value, memory):
    """The reduction over a block's threads; right in thread 0. All threads of the block call it."""
    t = thread_index()
    value = warp_reduce(op, value)
    sync()
    if (t & i32(31)) == i32(0):
        memory[t >> i32(5)] = value
    sync()
    if t == i32(0):
        for i in range(1, block_size() >> i32(5)):
            value = better(op, value, memory[i])
    return value


@device
def partials(slot):
    """Word of C where the row of blocks' partial results of a slot begins."""
    return FIRST + 3 * SLOT + ((slot - FIRST) // SLOT) * i64(num_blocks())


@device
def keep_int(C, slot, op, value):
    """Leave the block's partial result for the others. All threads call it."""
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
    """All blocks' partial results brought together, in the same order always; for every thread of the block."""
    t = thread_index()
    if t < i32(32):
        i = t
        while i < count:
            value = better(op, value, row[start + i])
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
    """The reduction of what :func:`keep_int` left; ``value`` is the identity. All threads call it."""
    return combined(C, partials(slot), num_blocks(), op, i64(value), int64_shared(WARPS))


@device
def combined_float(F, slot, op, value):
    """The same for floats."""
    return combined(F, partials(slot), num_blocks(), op, np.float64(value), float64_shared(WARPS))


@device
def add_up(C, slot, word, value):
    """Add a value of every thread to a counter: one atomic a block. All threads call it."""
    value = block_reduce(SUM, i64(value), int64_shared(WARPS))
    if thread_index() == i32(0) and value != 0:
        fetch_add(C, slot + word, value)


@device
def add_found(C, slot, big, count, edges):
    """Add every thread's number of elements and edges: one atomic a block. All threads call it."""
    count = block_reduce(SUM, i64(count), int64_shared(WARPS))
    edges = block_reduce(SUM, i64(edges), int64_shared(MORE))
    if thread_index() == i32(0) and count != 0:
        counted(C, slot, big, count, edges)


# ---- appends by warps ----------------------------------------------------------------------------------


@device
def append(C, slot, big, out, out_scan, mode, offsets, capacity, ok, item):
    """Append the items of the lanes that have one. All lanes call it."""
    votes = ballot(ok)
    if votes == u32(0):
        return
    lane = i32(thread_index() & i32(31))
    degree = i64(0)
    first = i64(0)
    if mode != NOTHING and ok:
        first = i64(offsets[item])
        if mode == PREFIX:
            degree = i64(offsets[item + 1]) - first
    edges = degree
    if mode == PREFIX:
        edges = i64(running(degree, lane)) if not big else running64(degree, lane)
    at = i64(0)
    before = i64(0)
    if lane == i32(31):
        at, before = room(C, slot, big, ones(votes), edges)
    at = i64(shuffle(at, 31)) + ones(u32(votes & below(lane)))
    if mode == PREFIX:
        before = i64(shuffle(before, 31))
    if ok:
        if at >= capacity:
            C[slot + ERROR] = CLAIMED_TWICE
        else:
            out[at] = item
            if mode == PREFIX:
                out_scan[at] = before + edges - degree
            elif mode == START:
                out_scan[at] = first


@device
def append_start(C, slot, out, out_scan, capacity, ok, item, start):
    """Append the items of the lanes that have one, with the first slot of each one's list. All lanes call it."""
    votes = ballot(ok)
    if votes == u32(0):
        return
    lane = i32(thread_index() & i32(31))
    leader = find_first(votes)
    at = i64(0)
    if lane == leader:
        at = fetch_add(C, slot + COUNT, i64(ones(votes))) & COUNTED
    at = i32(i32(shuffle(i32(at), leader)) + ones(u32(votes & below(lane))))
    if ok:
        if at >= capacity:
            C[slot + ERROR] = CLAIMED_TWICE
            fetch_or(C, slot + COUNT, ATTENTION)
        else:
            out[at] = item
            out_scan[at] = start


@device
def chunk(total, W):
    """Elements of a lane between two appends: one while there are threads for all, so that no thread idles."""
    return i32(min(max((total + W - 1) // W, 1), 32))


@device
def element_at(queue, everything, i):
    """The i-th element of a frontier."""
    if everything:
        return i64(i)
    return i64(queue[i])


@device
def append_chunk(C, slot, big, out, out_scan, mode, offsets, queue, everything, first, accepted):
    """Append the accepted elements of a warp's chunk: bit u of a lane is element ``first + 32 u + lane``."""
    if not any_lane(accepted != u32(0)):
        return
    lane = i32(thread_index() & i32(31))
    count = ones(accepted)
    degrees = i64(0)
    if mode == PREFIX:
        left = accepted
        while left != u32(0):
            x = element_at(queue, everything, first + 32 * find_first(left) + lane)
            left = u32(left & u32(left - u32(1)))
            degrees += i64(offsets[x + 1]) - i64(offsets[x])
    upto = running(count, lane)
    edges = degrees
    if mode == PREFIX:
        edges = running64(degrees, lane)
    at = i64(0)
    before = i64(0)
    if lane == i32(31):
        at, before = room(C, slot, big, upto, edges)
    at = i64(shuffle(at, 31)) + upto - count
    before = i64(shuffle(before, 31)) + edges - degrees
    left = accepted
    while left != u32(0):
        x = element_at(queue, everything, first + 32 * find_first(left) + lane)
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


@device
def append_pile(C, slot, pile, held, queue, everything, first, aside):
    """Append elements of a warp's chunk to a pile that holds some already."""
    if not any_lane(aside != u32(0)):
        return
    lane = i32(thread_index() & i32(31))
    count = ones(aside)
    upto = running(count, lane)
    at = i64(0)
    if lane == i32(31):
        at = fetch_add(C, slot + PILE_COUNT, i64(upto))
    at = held + i64(shuffle(at, 31)) + upto - count
    left = aside
    while left != u32(0):
        pile[at] = element_at(queue, everything, first + 32 * find_first(left) + lane)
        left = u32(left & u32(left - u32(1)))
        at += 1


# ---- appends by blocks ---------------------------------------------------------------------------------


@device
def put(buffer, ok, item):
    """Collect items in the block's buffer. All lanes of a warp call it."""
    votes = ballot(ok)
    if votes != u32(0):
        lane = i32(thread_index() & i32(31))
        fill = int32_shared(WORDS)
        at = i32(0)
        leader = find_first(votes)
        if lane == leader:
            at = fetch_add(fill, 0, ones(votes))
        at = i32(shuffle(at, leader))
        if ok:
            buffer[i32(at + ones(u32(votes & below(lane))))] = item


@device
def flush(C, slot, big, out, out_scan, mode, offsets, capacity, buffer):
    """Append the block's buffer to the next queue, an atomic for as many items as there are threads. All call it."""
    t = thread_index()
    lane = i32(t & i32(31))
    T = block_size()
    fill = int32_shared(WORDS)
    base = int64_shared(WORDS + 8)
    sums = int64_shared(WARPS)
    sync()
    full = fill[0]
    begun = i32(0)
    while begun < full:
        k = i32(begun + t)
        item = i64(0)
        degree = i64(0)
        if k < full:
            item = i64(buffer[k])
            if mode == PREFIX:
                degree = i64(offsets[item + 1]) - i64(offsets[item])
        upto = i64(running(degree, lane)) if not big else running64(degree, lane)
        if lane == i32(31):
            sums[t >> i32(5)] = upto
        sync()
        if t < i32(32):
            mine = i64(0)
            if t < i32(T >> i32(5)):
                mine = sums[t]
            total = running64(mine, lane)
            if t < i32(T >> i32(5)):
                sums[t] = total - mine
            if t == i32(31):
                at, before = room(C, slot, big, min(T, i32(full - begun)), total)
                base[0] = at
                base[1] = before
        sync()
        if k < full:
            at = base[0] + t
            if at >= capacity:
                C[slot + ERROR] = CLAIMED_TWICE
            else:
                out[at] = item
                if mode == PREFIX:
                    out_scan[at] = base[1] + sums[t >> i32(5)] + upto - degree
        begun = i32(begun + T)
        sync()
    if t == i32(0):
        fill[0] = 0
    sync()


@device
def empty_buffer():
    """Before the first :func:`put` of a phase; a barrier of the block must follow."""
    if thread_index() == i32(0):
        int32_shared(WORDS)[0] = 0


# ---- edges shared by position --------------------------------------------------------------------------


@device
def tile_size(total):
    """Edges of a tile: so many that every block gets one, in whole rounds of its threads."""
    T = i64(block_size())
    blocks = i64(num_blocks())
    each = (total + blocks - 1) // blocks
    return min(max((each + T - 1) // T * T, T), max(TILE // T * T, T))


@device
def tile_sources(scan, count, first, last):
    """First and last (exclusive) of the queue's entries whose edges meet a tile. All threads call it.

    Two warps search, each for one end, 32 places at a time.
    """
    t = thread_index()
    found = int64_shared(WORDS + 8)
    if t < i32(64):
        lane = i32(t & i32(31))
        key = first if t < i32(32) else last - 1
        low = i64(0)
        high = i64(count)
        while high - low > 1:
            stride = (high - low + 31) >> 5
            at = low + lane * stride
            before = False
            if at < high:
                before = i64(scan[at]) <= key
            low += (ones(ballot(before)) - 1) * stride
            high = min(low + stride, high)
        if lane == i32(0):
            found[t >> i32(5)] = low
    sync()
    return found[0], found[1] + 1


@device
def source_in(keys, count, position):
    """The last of a tile's sources whose edges begin at or before a position."""
    low = i32(0)
    high = i32(count)
    while i32(high - low) > i32(1):
        middle = i32(i32(low + high) >> i32(1))
        if keys[middle] <= position:
            low = middle
        else:
            high = middle
    return low


# ---- scans, copies, bitmaps ----------------------------------------------------------------------------


@device
def block_share(count):
    """Give the block's equal, contiguous share of a range."""
    b = i64(block_index())
    blocks = i64(num_blocks())
    return count * b // blocks, count * (b + 1) // blocks


@device
def scan_sums(C, slot, w, W, queue, count, offsets):
    """First half of the scan of a queue: every block's sum of degrees."""
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
    """Second half: the edges before every entry. ``before`` is the slot of the first half."""
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
        upto = running64(degree, lane)
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
    """Sum of all blocks' partial sums, for every thread."""
    return combined_int(C, slot, SUM, 0)


@device
def copy_queue(w, W, source, everything, target, at, count):
    """Copy a queue, or all ids, to a position of another."""
    i = i64(w)
    while i < count:
        target[at + i] = element_at(source, everything, i)
        i += W


@device
def write_single(queue, scan, mode, offsets, v):
    """A frontier of one vertex, written alike by one thread of every block; gives the number of its edges."""
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
    """All bits 0."""
    i = i64(w)
    while i < (length + 31) >> 5:
        bits[i] = u32(0)
        i += W


@device
def set_bits(w, W, bits, queue, count):
    """The bits of a queue's elements."""
    i = i64(w)
    while i < count:
        v = i64(queue[i])
        fetch_or(bits, v >> 5, u32(u32(1) << u32(v & 31)))
        i += W


@device
def queue_of_bits(C, slot, big, w, W, bits, length, out, out_scan, mode, offsets):
    """The queue, with its scan, of a bitmap: a word a lane, appended by the warp."""
    total = (length + 31) >> 5
    lane = i32(thread_index() & i32(31))
    first = i64(w) - lane
    while first < total:
        word = u32(0)
        if first + lane < total:
            word = u32(bits[first + lane])
        count = ones(word)
        degrees = i64(0)
        left = word
        if mode == PREFIX:
            while left != u32(0):
                x = ((first + lane) << 5) + find_first(left)
                left = u32(left & u32(left - u32(1)))
                degrees += i64(offsets[x + 1]) - i64(offsets[x])
        upto = running(count, lane)
        edges = running64(degrees, lane)
        at = i64(0)
        before = i64(0)
        if lane == i32(31) and upto > i32(0):
            at, before = room(C, slot, big, upto, edges)
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


# ---- the trace of fused loops --------------------------------------------------------------------------

@device
def trace_row(R, steps, rows, step, number, direction, before, after, edges, since):
    """One thread writes a row into the ring; gives the time now."""
    now = clock()
    took = now - since
    R[1 + SUMS * step] += 1
    R[2 + SUMS * step] += edges
    R[3 + SUMS * step] += took
    at = 1 + SUMS * steps + ROW * (R[0] % rows)
    R[0] += 1
    R[at] = step
    R[at + 1] = number
    R[at + 2] = direction
    R[at + 3] = before
    R[at + 4] = after
    R[at + 5] = edges
    R[at + 6] = took
    return now
