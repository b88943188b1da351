"""Device functions that append to queues and piles.

A warp appends as a unit: its lanes vote, and one atomic reserves space for all of them. If the next push needs the
prefix sum of degrees, the same atomic adds the number of edges to the upper half of the word. Its return value is then
both the position and the number of edges before it, so no separate scan is needed.

A block appends as a unit in two steps: its threads ``put`` items into a buffer in its scratch memory, and ``flush``
then reserves space for all of them. ``empty_buffer`` comes before the first ``put`` of a phase.

These parameters mean the same in all functions:

================  ======================================================================================
``C``, ``slot``   the counters, and where those of this phase begin
``big``           whether the numbers of elements and of edges do not fit into one word
``out``           the queue; ``capacity`` is its length
``out_scan``      the array beside it, written as ``mode`` says
``mode``          ``NOTHING``; ``PREFIX``: the edges before each item; ``START``: the first slot of its list
``offsets``       of the graph's adjacency lists: they give the degrees that ``mode`` asks for
``ok``, ``item``  whether this lane has an item, and which
================  ======================================================================================
"""

from __future__ import annotations

import numpy as np

from frontier.backends.cuda.compile.runtime_words import (
    ATTENTION,
    COUNT,
    ERROR,
    HALF,
    NOTHING,
    PILE_COUNT,
    PREFIX,
    START,
    WARPS,
    WORDS,
)
from frontier.backends.cuda.device.machine import (
    SHARED,
    any_lane,
    ballot,
    block_size,
    device,
    fetch_add,
    fetch_or,
    find_first,
    first_of,
    popcount,
    shuffle,
    sync,
    thread_index,
)
from frontier.backends.cuda.device.reductions import below, inclusive_scan, inclusive_scan64
from frontier.backends.cuda.device.runtime import COUNTED, HALF_COUNTED, reserve
from frontier.compile.codes import CLAIMED_TWICE

i32, u32, i64 = np.int32, np.uint32, np.int64
int32_shared, int64_shared = SHARED["int32"], SHARED["int64"]

# ---- appends by warps ----------------------------------------------------------------------------------


@device
def append(C, slot, big, out, out_scan, mode, offsets, capacity, ok, item, strict):
    """Append the items of the lanes that have one. All lanes call it. ``strict``: a full queue is an error."""
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
        edges = i64(inclusive_scan(degree, lane))
    at = i64(0)
    before = i64(0)
    if lane == i32(31):
        at, before = reserve(C, slot, big, popcount(votes), edges)
    at = i64(shuffle(at, 31)) + popcount(u32(votes & below(lane)))
    if mode == PREFIX:
        before = i64(shuffle(before, 31))
    if ok:
        if at >= capacity:
            if strict:
                C[slot + ERROR] = CLAIMED_TWICE
        else:
            out[at] = item
            if mode == PREFIX:
                out_scan[at] = before + edges - degree
            elif mode == START:
                out_scan[at] = first


@device
def append_part(C, slot, out, out_scan, capacity, ok, item, edges):
    """Append the items of the lanes that have one, with the prefix sum of ``edges``. All lanes call it.

    For vertices of whose edges only so many are walked; not for big builds.
    """
    votes = ballot(ok)
    if votes == u32(0):
        return
    lane = i32(thread_index() & i32(31))
    own = i64(0)
    if ok:
        own = i64(edges)
    upto = i64(inclusive_scan(own, lane))
    at = i64(0)
    before = i64(0)
    if lane == i32(31):
        at, before = reserve(C, slot, False, popcount(votes), upto)
    at = i64(shuffle(at, 31)) + popcount(u32(votes & below(lane)))
    before = i64(shuffle(before, 31))
    if ok and at < capacity:
        out[at] = item
        out_scan[at] = before + upto - own


@device
def write_start(C, slot, out, out_scan, capacity, ok, base, votes, item, start):
    """Write the items of the lanes that have one at place ``base`` and after, each with the first slot of its list."""
    at = i32(i32(base) + popcount(u32(votes & below(i32(thread_index() & i32(31))))))
    if ok:
        if at >= capacity:
            C[slot + ERROR] = CLAIMED_TWICE
            fetch_or(C, slot + COUNT, ATTENTION)
        else:
            out[at] = item
            out_scan[at] = start


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
        at = fetch_add(C, slot + COUNT, i64(popcount(votes))) & COUNTED
    write_start(C, slot, out, out_scan, capacity, ok, shuffle(i32(at), leader), votes, item, start)


@device
def append_waiting(C, slot, out, out_scan, capacity, ok, item, start, stays):
    """As :func:`append_start`; the same atomic counts the vertices held back (``stays``). All lanes call it."""
    votes = ballot(ok)
    waits = ballot(stays)
    if u32(votes | waits) == u32(0):
        return
    lane = i32(thread_index() & i32(31))
    at = i64(0)
    if lane == i32(0):
        at = fetch_add(C, slot + COUNT, i64(popcount(votes)) | (i64(popcount(waits)) << i64(HALF))) & HALF_COUNTED
    write_start(C, slot, out, out_scan, capacity, ok, shuffle(i32(at), 0), votes, item, start)


@device
def chunk(total, W):
    """Elements that a lane takes between two appends: one if there are threads enough for all, 32 at most."""
    return i32(min(max((total + W - 1) // W, 1), 32))


@device
def marked(mask, u):
    """A mask with bit ``u`` set."""
    return u32(mask | u32(u32(1) << u32(u)))


@device
def element_at(queue, everything, i):
    """The i-th element of a frontier; for ``everything`` see :meth:`frontier.lowering.builder.Builder.in_a_row`."""
    if everything:
        return i64(i) + first_of(everything)
    return i64(queue[i])


@device
def append_chunk(C, slot, big, out, out_scan, mode, offsets, queue, everything, first, accepted):
    """Append the accepted elements of a warp's chunk: a lane's bit u stands for element ``first + 32 u + lane``."""
    if not any_lane(accepted != u32(0)):
        return
    lane = i32(thread_index() & i32(31))
    edges = i64(0)
    if mode == PREFIX:
        left = accepted
        while left != u32(0):
            x = element_at(queue, everything, first + 32 * find_first(left) + lane)
            left = u32(left & u32(left - u32(1)))
            edges += i64(offsets[x + 1]) - i64(offsets[x])
        edges = inclusive_scan64(edges, lane)
    upto = inclusive_scan(popcount(accepted), lane)
    at = i64(0)
    before = i64(0)
    if lane == i32(31):
        at, before = reserve(C, slot, big, upto, edges)
    at = i64(shuffle(at, 31))
    before = i64(shuffle(before, 31))
    more = i32(shuffle(i32(upto), 31))
    u = i32(0)
    while more > i32(0):  # row by row, so that elements which lie side by side stay so: the next step reads them faster
        ok = u32(u32(accepted >> u32(u)) & u32(1)) != u32(0)
        votes = ballot(ok)
        if votes != u32(0):
            x = i64(0)
            start = i64(0)
            degree = i64(0)
            if ok:
                x = i64(element_at(queue, everything, first + 32 * u + lane))
                if mode != NOTHING:
                    start = i64(offsets[x])
                if mode == PREFIX:
                    degree = i64(offsets[x + 1]) - start
            through = degree
            if mode == PREFIX:
                through = inclusive_scan64(degree, lane)
            if ok:
                place = at + popcount(u32(votes & below(lane)))
                out[place] = x
                if mode == START:
                    out_scan[place] = start
                elif mode == PREFIX:
                    out_scan[place] = before + through - degree
            if mode == PREFIX:
                before += i64(shuffle(through, 31))
            at += popcount(votes)
            more = i32(more - popcount(votes))
        u = i32(u + i32(1))


@device
def append_pile(C, slot, pile, held, queue, everything, first, aside):
    """Append elements of a warp's chunk to a pile, behind the ``held`` elements that it has."""
    if not any_lane(aside != u32(0)):
        return
    lane = i32(thread_index() & i32(31))
    upto = inclusive_scan(popcount(aside), lane)
    at = i64(0)
    if lane == i32(31):
        at = fetch_add(C, slot + PILE_COUNT, i64(upto))
    at = held + i64(shuffle(at, 31))
    more = i32(shuffle(i32(upto), 31))
    u = i32(0)
    while more > i32(0):
        ok = u32(u32(aside >> u32(u)) & u32(1)) != u32(0)
        votes = ballot(ok)
        if ok:
            pile[at + popcount(u32(votes & below(lane)))] = element_at(queue, everything, first + 32 * u + lane)
        at += popcount(votes)
        more = i32(more - popcount(votes))
        u = i32(u + i32(1))


# ---- appends by blocks ---------------------------------------------------------------------------------


@device
def put(buffer, ok, item):
    """Collect items in the block's buffer, in no particular order. All lanes of a warp call it.

    Nothing checks whether the buffer is full, so the block must flush it in time.
    """
    votes = ballot(ok)
    if votes != u32(0):
        lane = i32(thread_index() & i32(31))
        fill = int32_shared(WORDS)
        at = i32(0)
        leader = find_first(votes)
        if lane == leader:
            at = fetch_add(fill, 0, popcount(votes))
        at = i32(shuffle(at, leader))
        if ok:
            buffer[i32(at + popcount(u32(votes & below(lane))))] = item


@device
def flush(C, slot, big, out, out_scan, mode, offsets, capacity, buffer, strict):
    """Append the block's buffer to the next queue: one atomic for as many items as there are threads. All call it.

    It begins and ends with a barrier of the block; afterwards the buffer is empty. ``strict`` is as in :func:`append`.
    """
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
        upto = i64(inclusive_scan(degree, lane))
        if lane == i32(31):
            sums[t >> i32(5)] = upto
        sync()
        if t < i32(32):
            mine = i64(0)
            if t < i32(T >> i32(5)):
                mine = sums[t]
            total = inclusive_scan64(mine, lane)
            if t < i32(T >> i32(5)):
                sums[t] = total - mine
            if t == i32(31):
                at, before = reserve(C, slot, big, min(T, i32(full - begun)), total)
                base[0] = at
                base[1] = before
        sync()
        if k < full:
            at = base[0] + t
            if at >= capacity:
                if strict:
                    C[slot + ERROR] = CLAIMED_TWICE
            else:
                out[at] = item
                if mode == PREFIX:
                    out_scan[at] = base[1] + sums[t >> i32(5)] + upto - degree
        begun = i32(begun + T)
        sync()
    if t == i32(0) and full > i32(0):  # other threads may still read that it is empty: there was no barrier
        fill[0] = 0
    sync()


@device
def empty_buffer():
    """Empty the block's buffer, before the first :func:`put` of a phase. A barrier of the block must follow."""
    if thread_index() == i32(0):
        int32_shared(WORDS)[0] = 0
