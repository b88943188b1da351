"""Phases of steps that claim vertices, as a breadth-first search does: what GPUs tell each other are bits.

Such a step accepts a vertex where it changes a field of it from one certain value, once and for all, and others only
ask whether that has happened (:mod:`frontier.distributed.devices.claims`). So the next frontier says what has
changed. A GPU needs no values of elements that others own, only those of its own vertices that another one has claimed
in a push.

Of several GPUs that claim a vertex in the same push, its owner gets it, or else the next one: most vertices of a large
push are found by all, and so few values are read from others.

Each GPU has bits of the vertices of which it knows that they are claimed, which stay in its cache: by itself, by others
that have told it, or by others in its memory. The field itself says that only of its own vertices, and of those that it
has claimed, or that were claimed before the run; of others only if some step asks in another way than by these bits.
Beside them are bits of those that all know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.compile.codes import BLOCK_BITS
from frontier.distributed.devices.block_phases import (
    WORDS,
    begin_of,
    bit_of,
    block_of,
    blocks_end,
    is_own,
    other,
    place_of,
)
from frontier.distributed.devices.phases import tell_flag
from frontier.lowering.kernels import Callee

if TYPE_CHECKING:
    from frontier.backends.cuda.device.machine import (
        ballot,
        fetch_add,
        fetch_add_system,
        find_first,
        popcount,
        shuffle,
        thread_index,
    )
    from frontier.backends.cuda.device.names import tracing, uint32_at
    from frontier.backends.cuda.device.reductions import add_found, inclusive_scan, inclusive_scan64
    from frontier.backends.cuda.device.runtime import counted
    from frontier.distributed.devices.meeting import int64_at
    from frontier.distributed.devices.meeting_words import COUNT_BITS

__all__ = [
    "adopting", "catching_up", "claiming", "copying_field", "copying_fields", "delivering", "storing_field",
    "telling_claims",
]  # fmt: skip


def telling_claims() -> Callable[..., Any]:
    """A GPU tells what has been claimed by it, or in its memory, in a range of elements since it last did.

    See :func:`frontier.distributed.devices.phases.telling`.
    """

    def phase(p, C, slot, w, W, seen, known, flags, told, first, end, starts, parts, blocks):
        lane = np.int32(w & 31)
        last = blocks_end(end)
        base = begin_of(first, w)
        while base < last:
            block = block_of(base, lane, W)
            flag = tell_flag(flags, told, block, last, starts, parts, blocks)
            flagged = ballot(flag)
            pending = flagged
            while pending != np.uint32(0):
                four = find_first(pending) >> 2
                pending = np.uint32(pending & np.uint32(~np.uint32(np.uint32(15) << np.uint32(4 * four))))
                word = WORDS * np.int64(base + four * (W >> 3)) + lane  # of four blocks
                if bit_of(flagged, 4 * four + lane // WORDS):
                    all_of_it = np.uint32(seen[word])
                    told[word] = np.uint32(all_of_it & np.uint32(~np.uint32(known[word])))
                    known[word] = all_of_it
            if flag:
                flags[block] = 0
            base += W

    return phase


def storing_field() -> Callable[..., Any]:
    """Return a function by which a warp gives elements of a field one value; they are set bits of its 32 words."""

    def store(shared, r, begun, mask, upto, lane):
        mine = shared.mine
        value = shared.bases
        total = shuffle(upto, 31)
        j = np.int64(lane)
        while j - lane < total:
            mine[(begun << BLOCK_BITS) + place_of(mask, upto, min(j, total - 1))] = value
            j += 32

    return store


def copying_field(at: Callee, move: Callee) -> Callable[..., Any]:
    """The same with the values that GPU ``r`` has; ``move`` copies them."""

    def copy(shared, r, begun, mask, upto, lane):
        move(at(shared.fields[r]), shared.mine, 0, begun, 0, mask, upto, lane)

    return copy


def copying_fields(first: Callee, others: Callee, more: bool) -> Callable[..., Any]:
    """The same for several fields: the first, and the others if there are ``more``."""

    def copy(fields, r, begun, mask, upto, lane):
        first(fields.first, r, begun, mask, upto, lane)
        if more:
            others(fields.others, r, begun, mask, upto, lane)

    return copy


def claiming(copy: Callee, size: int, big: bool) -> Callable[..., Any]:
    """Owners take over what other GPUs have claimed of their vertices: the next frontier, which they count.

    ``size``: bytes of all values of a vertex that are read.
    """

    def phase(p, C, slot, w, W, made, marked, fields, degrees, rank, parts, first, end, blocks, received):
        lane = np.int32(w & 31)
        last = blocks_end(end)
        count = np.int64(0)
        edges = np.int64(0)
        values = np.int64(0)
        base = begin_of(first, w)
        while base < last:
            block = block_of(base, lane, W)
            some = False
            if block < last:
                for turn in range(parts):
                    if uint32_at(marked[other(rank, turn, parts)])[WORDS * blocks + block] != 0:
                        some = True
            flags = ballot(some)
            for four in range(8):
                begun = np.int64(base + four * (W >> 3))  # of four blocks
                block = begun + lane // WORDS
                word = WORDS * begun + lane
                here = block < last and is_own(word, first, end)
                taken = np.uint32(0)
                if np.uint32(np.uint32(flags >> np.uint32(4 * four)) & np.uint32(15)) != np.uint32(0):
                    own = uint32_at(marked[rank])
                    if here and own[WORDS * blocks + block] != 0:
                        taken = np.uint32(own[word])  # first, since their values are here
                    for turn in range(1, parts):
                        r = other(rank, turn, parts)
                        theirs = uint32_at(marked[r])
                        told = np.uint32(0)
                        if here and theirs[WORDS * blocks + block] != 0:
                            told = np.uint32(theirs[word])
                        new = np.uint32(told & np.uint32(~taken))
                        taken = np.uint32(taken | told)
                        upto = inclusive_scan(popcount(new), lane)
                        if shuffle(upto, 31) != 0:
                            values += popcount(new)
                            copy(fields, r, begun, new, upto, lane)
                    upto = inclusive_scan(popcount(taken), lane)
                    total = shuffle(upto, 31)
                    count += popcount(taken)
                    j = np.int64(lane)
                    while j - lane < total:
                        v = (begun << BLOCK_BITS) + place_of(taken, upto, min(j, total - 1))
                        if j < total:
                            edges += np.int64(degrees[v + 1]) - np.int64(degrees[v])
                        j += 32
                if here:
                    made[word] = taken
            base += W
        add_found(C, slot, big, count, edges)
        if tracing and values != 0:
            fetch_add(received, 0, values * size)

    return phase


def delivering(at: Callee, offsets_at: Callee, size: int, big: bool) -> Callable[..., Any]:
    """Return a function by which the lanes of a warp append vertices to the frontiers of the GPUs that own them.

    Beside a vertex they write the sum of the degrees of those before it. All lanes call it. ``size``: bytes that are
    written for a vertex.
    """

    def deliver(C, slot, out, ok, item):
        there = out.taken
        owner = np.int64(-1)
        degree = np.int64(0)
        if ok:
            owner = np.int64(there.rank)
            if item < there.first or item >= there.end:  # else nothing is looked up
                owner = np.int64(0)
                while owner + 1 < there.parts and item >= there.starts[owner + 1]:
                    owner += 1
            degree = np.int64(out.degrees[item + 1]) - np.int64(out.degrees[item])
        lane = np.int32(thread_index() & np.int32(31))
        pending = ballot(ok)
        while pending != np.uint32(0):
            leader = find_first(pending)
            r = shuffle(owner, leader)
            mine = owner == r
            lanes = ballot(mine)
            pending = np.uint32(pending & np.uint32(~lanes))
            upto = inclusive_scan64(degree if mine else np.int64(0), lane)
            earlier = popcount(np.uint32(lanes & np.uint32(np.uint32(np.uint32(1) << np.uint32(lane)) - np.uint32(1))))
            many = popcount(lanes)
            edges = shuffle(upto, 31)
            place = np.int64(0)
            if lane == leader:
                box = there.box if r == there.rank else int64_at(there.boxes[r])
                place = fetch_add_system(box, there.inbox, (edges << COUNT_BITS) + many)
                counted(C, slot, big, many, edges)
                if tracing and r != there.rank:
                    fetch_add(there.received, 0, np.int64(many * size))
            place = shuffle(place, leader)
            if mine:
                i = (place & ((1 << COUNT_BITS) - 1)) + earlier
                before = (place >> COUNT_BITS) + upto - degree
                if r == there.rank:
                    out.queue[i] = item
                    out.scan[i] = before
                else:
                    at(there.queues[r])[i] = item
                    offsets_at(there.scans[r])[i] = before

    return deliver


def catching_up(marks: bool) -> Callable[..., Any]:
    """Note that claimed is what owners tell of: what has been claimed in their memory; ``marks``: in the field, too."""

    def phase(p, C, slot, w, W, seen, known, mine, marker, marked, starts, rank, parts, blocks, received):
        lane = np.int32(w & 31)
        for turn in range(1, parts):
            r = other(rank, turn, parts)
            told = uint32_at(marked[r])
            last = blocks_end(starts[r + 1])
            base = begin_of(starts[r], w)
            while base < last:
                block = block_of(base, lane, W)
                some = False
                if block < last:
                    some = told[WORDS * blocks + block] != 0
                pending = ballot(some)
                while pending != np.uint32(0):
                    leader = find_first(pending)
                    pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))
                    begun = np.int64(shuffle(block, leader))
                    word = np.uint32(0)
                    at = WORDS * begun + lane
                    if lane < WORDS and is_own(at, starts[r], starts[r + 1]):
                        word = np.uint32(told[at])
                        if word != np.uint32(0):
                            seen[at] = np.uint32(np.uint32(seen[at]) | word)
                            known[at] = np.uint32(np.uint32(known[at]) | word)
                    if marks:
                        for k in range(WORDS):
                            if bit_of(np.uint32(shuffle(np.int64(word), k)), lane):
                                mine[(begun << BLOCK_BITS) + 32 * k + lane] = marker
                base += W

    return phase


def adopting(marks: bool) -> Callable[..., Any]:
    """Take over from the other GPUs the bits of their vertices, and note that these are claimed.

    ``marks``: in the field, too, with any other value than that of an element that is not.
    """

    def phase(p, C, slot, w, W, bits, others, seen, known, mine, marker, starts, rank, parts, received):
        lane = np.int32(w & 31)
        for turn in range(1, parts):
            r = other(rank, turn, parts)
            theirs = uint32_at(others[r])
            first = (starts[r] + 31) >> 5
            last = (starts[r + 1] + 31) >> 5
            i = np.int64(first + w)
            while i - lane < last:
                word = np.uint32(0)
                if i < last:
                    word = np.uint32(theirs[i])
                    bits[i] = word
                    if word != np.uint32(0):
                        seen[i] = np.uint32(np.uint32(seen[i]) | word)
                        known[i] = np.uint32(np.uint32(known[i]) | word)
                if marks:
                    pending = ballot(word != np.uint32(0))
                    while pending != np.uint32(0):
                        k = find_first(pending)
                        pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))
                        if bit_of(np.uint32(shuffle(np.int64(word), k)), lane):
                            mine[((i - lane + k) << 5) + lane] = marker
                i += W
            if tracing and w == 0:
                fetch_add(received, 0, 4 * (last - first))

    return phase
