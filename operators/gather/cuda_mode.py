"""The most frequent value of a vertex's edges, on the GPU.

A warp takes 32 vertices. It counts lists of up to 8 edges four at a time, one per group of 8 lanes, and lists of up to
32 edges one at a time: the lanes with equal values find each other (``match.any``), and how many they are is the count.
For longer lists each warp has a hash table in memory, where the lanes with equal values are counted by one of them. The
longest lists are put aside for blocks, as in other gathers; the tables of a block's warps together are its table.

A table that has no room for the values of a list is no error: they are divided into classes by their hashes, twice as
many each time that a class has no room, and the block goes through the list once for each class. The best pair (count,
value) of all classes is found by one reduction at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import EXAMINED, MORE, PILE_COUNT, WARPS, WORDS
from frontier.backends.run.worker_tables import EXTRA
from frontier.compile.keys import LAST, integer
from frontier.functors.numbers import hash as mixed
from frontier.lowering.kernels import Callee
from frontier.operators.gather.cuda_kernels import BLOCK
from frontier.operators.gather.cuda_lanes import block_least, lanes_least, nearer_of, next_lane
from frontier.operators.gather.cuda_walks import next_list, warp_elements
from frontier.operators.shared.phases import slot_of_edge, weight_of_edge

if TYPE_CHECKING:
    from frontier.backends.cuda.device.appends import element_at
    from frontier.backends.cuda.device.machine import (
        any_lane,
        ballot,
        block_index,
        block_size,
        compare_exchange,
        fetch_add,
        find_first,
        load_relaxed,
        match_any,
        popcount,
        shuffle,
        sync_or,
        sync_warp,
        thread_index,
        truth,
    )
    from frontier.backends.cuda.device.names import I, int32_shared, int64_shared, tracing
    from frontier.backends.cuda.device.reductions import add_up

__all__ = ["by_blocks", "by_warps", "tallying", "voting"]

#: The value that stands for a free slot; if it occurs, it is counted in the slot after the table.
FREE = -(2**63)

#: Slots that are tried for a value before a table is taken to be full.
TRIES = 128

# ---- parts of kernels ------------------------------------------------------------------------------------


def voting(value: Callee, where: Callee, renumbered: bool, weighted: bool, unsigned: bool) -> Callable[..., Any]:
    """Return a function that says whether edge ``k`` of ``x`` counts, and its value.

    Values are int64; if ``unsigned``, what a field of uint64 holds. Then their highest bit is inverted, so that they
    compare as signed numbers do.
    """
    every = where is None
    slot_at, weight_at = slot_of_edge(renumbered), weight_of_edge(weighted)
    flip = -(2**63) if unsigned else 0

    def vote(p, C, slot, lists, x, k):
        far = np.int64(lists.ends[k])
        e = slot_at(lists, k)
        label = np.int64(0)
        counts = every or truth(where(p, C, slot, far))
        if counts:
            weight = weight_at(lists, e)
            label = np.int64(integer(value(p, C, slot, x, far, e, weight)) ^ np.int64(flip))
        return counts, label

    return vote


def tallying(vote: Callee, block: bool) -> Callable[..., Any]:
    """Return a function by which a warp, or a ``block``, counts the values of a list in its table.

    Each thread gets the best pair of those in its slots: minus the count, and the value. The table has ``size`` slots
    from ``base`` on, a power of two, and one more.
    """

    def meet(flag):
        """All threads meet; returns whether the flag of any is set."""
        if block:
            return sync_or(flag)
        found = any_lane(flag)
        sync_warp()
        return found

    def insert(keys, counts, base, size, label, mixed_label, times):
        """Count a value; returns whether there was room for it."""
        if label == np.int64(FREE):
            fetch_add(counts, base + size, I(times))
            return True
        at = mixed_label & (size - 1)
        tries = np.int64(0)
        while tries < size and tries < np.int64(TRIES):
            held = load_relaxed(keys, base + at)
            if held == np.int64(FREE):
                held = compare_exchange(keys, base + at, np.int64(FREE), label)
                if held == np.int64(FREE):
                    held = label
            if held == label:
                fetch_add(counts, base + at, I(times))
                return True
            at = (at + 1) & (size - 1)
            tries += 1
        return False

    def tally(p, C, slot, lists, x, begin, end, keys, counts, base, room):
        t = thread_index() if block else np.int32(thread_index() & np.int32(31))
        threads = block_size() if block else np.int32(32)
        lane = np.int32(thread_index() & np.int32(31))
        length = np.int64(end) - np.int64(begin)
        size = np.int64(64)
        while size < room and size < 2 * length:
            size += size
        classes = np.int64(1)  # values are mostly much fewer than edges
        best = np.int64(LAST)
        result = np.int64(0)
        again = True
        while again:  # with more classes, should one have had no room
            best = np.int64(LAST)
            result = np.int64(0)
            again = False
            part = np.int64(0)
            while part < classes:
                j = np.int64(t)
                while j <= size:
                    keys[base + j] = np.int64(FREE)
                    counts[base + j] = I(0)
                    j += threads
                meet(False)
                full = False
                first = I(begin)
                while first < end:
                    k = I(first + I(t))
                    mine = False
                    label = np.int64(0)
                    if k < end:
                        mine, label = vote(p, C, slot, lists, x, k)
                    code = np.int64(mixed(label))
                    mine = mine and ((code >> 32) & (classes - 1)) == part
                    alike = np.uint32(match_any(label) & ballot(mine))
                    if mine and not full and find_first(alike) == lane:
                        full = not insert(keys, counts, base, size, label, code, popcount(alike))
                    first = I(first + I(threads))
                again = meet(full)
                if again:
                    part = classes
                else:
                    j = np.int64(t)
                    while j <= size:
                        times = np.int64(counts[base + j])
                        if times > 0:
                            best, result = nearer_of(best, result, -times, np.int64(keys[base + j]))
                        j += threads
                    part += 1
            if again:
                classes += classes
        return best, result

    return tally


def storing(unsigned: bool) -> Callable[..., Any]:
    """Return a function that stores a vertex's result: of the best pair, or -1 if there was no edge."""
    flip = -(2**63) if unsigned else 0

    def store(into, x, best, result):
        into[x] = np.int64(result ^ np.int64(flip)) if best < 0 else np.int64(-1)

    return store


# ---- kernels ---------------------------------------------------------------------------------------------


def by_warps(vote: Callee, tally: Callee, store: Callee, longer: bool, dealt: bool) -> Callable[..., Any]:
    """A warp counts the lists of 32 vertices; if some are ``longer``, it puts these aside for blocks.

    Warps take pieces of the frontier as in :func:`warp_elements`.
    """

    def vertices(p, C, slot, lane, first, last, given):
        """Process 32 vertices, from the first on."""
        everything, queue, lists, into, aside, room, keys, counts, base, size = given
        i = first + lane
        mine = np.int64(0)
        begin = I(0)
        stop = I(0)
        if i < last:
            mine = element_at(queue, everything, i)
            begin = I(lists.offsets[mine])
            stop = I(lists.offsets[mine + 1])
        length = I(stop - begin)
        if i < last and length == I(0):
            store(into, mine, np.int64(LAST), np.int64(0))
        waits = length > I(32)
        if longer:
            longest = length >= I(BLOCK)
            if longest:
                at = fetch_add(C, slot + PILE_COUNT, np.int64(1))
                if at < room:  # always, unless vertices come twice, as they may after culling
                    aside[at] = mine
                    waits = False
        some = ballot(length > I(0) and length <= I(8))
        others = ballot(length > I(8) and length <= I(32))
        while (some | others) != np.uint32(0):
            lanes = np.int32(8)
            leader = np.int32(-1)
            if some != np.uint32(0):
                for group in range(4):
                    found, some = next_lane(some, np.int32(-1))
                    if np.int32(lane >> 3) == group:
                        leader = found
            else:
                lanes = np.int32(32)
                leader, others = next_lane(others, np.int32(-1))
            source = np.int32(max(leader, np.int32(0)))
            part = np.int32(lane & np.int32(lanes - 1))
            x = np.int64(shuffle(mine, source))
            k = I(I(shuffle(begin, source)) + I(part))
            end = I(shuffle(stop, source))
            votes = False
            label = np.int64(0)
            if leader >= 0 and k < end:
                votes, label = vote(p, C, slot, lists, x, k)
            group_lanes = np.uint32(0xFFFFFFFF)
            if lanes == 8:
                group_lanes = np.uint32(np.uint32(0xFF) << np.uint32(lane & np.int32(24)))
            alike = np.uint32(match_any(label) & ballot(votes) & group_lanes)
            best = np.int64(-popcount(alike)) if votes else np.int64(LAST)
            best, result = lanes_least(best, label, lanes)
            if leader >= 0 and part == 0:
                store(into, x, best, result)
        pending = ballot(waits)
        while pending != np.uint32(0):
            leader, pending = next_lane(pending, np.int32(0))
            x = np.int64(shuffle(mine, leader))
            k = I(shuffle(begin, leader))
            end = I(shuffle(stop, leader))
            best, result = tally(p, C, slot, lists, x, k, end, keys, counts, base, size)
            best, result = lanes_least(best, result, np.int32(32))
            if lane == 0:
                store(into, x, best, result)
            sync_warp()
        return np.int64(length)

    walk = warp_elements(vertices, dealt)

    def phase(p, C, slot, w, W, everything, queue, total, lists, into, aside, room, start, keys, counts, size):
        lane = np.int32(w & 31)
        # The first warp of a block has the first table; w is another number where blocks copy.
        base = (np.int64(block_index()) * (block_size() >> 5) + (thread_index() >> 5)) * (size + EXTRA)
        given = (everything, queue, lists, into, aside, room, keys, counts, base, size)
        examined = walk(p, C, slot, lane, w, W, total, start, given)
        if tracing:
            add_up(C, slot, EXAMINED, examined)

    return phase


def by_blocks(tally: Callee, store: Callee) -> Callable[..., Any]:
    """Processes the lists that were put aside: a block takes the next one whenever it has finished one."""

    def phase(p, C, slot, w, W, lists, into, aside, held, keys, counts, size):
        taken = int32_shared(WORDS)
        memory = int64_shared(WARPS)
        results = int64_shared(MORE)
        warps = np.int64(block_size() >> 5)
        base = np.int64(block_index()) * warps * (size + EXTRA)
        room = size
        while 2 * room <= size * warps:
            room += room
        going = held > 0
        while going:
            at = next_list(C, slot, taken)
            going = at < held
            if going:
                x = np.int64(aside[at])
                begin = I(lists.offsets[x])
                end = I(lists.offsets[x + 1])
                best, result = tally(p, C, slot, lists, x, begin, end, keys, counts, base, room)
                best, result = block_least(best, result, memory, results)
                if thread_index() == 0:
                    store(into, x, best, result)

    return phase
