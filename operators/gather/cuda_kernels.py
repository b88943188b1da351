"""The kernels of gathers on the GPU: a thread, a warp or a block reduces a list, by how long it is.

Short lists are reduced by :func:`by_lists`, or by a few lanes each (:func:`by_lanes`), the longest ones by
:func:`by_blocks`. In long lists every thread has four edges in flight, because a plain loop would wait for each load.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import EXAMINED, MORE, PILE_COUNT, WARPS, WORDS
from frontier.compile.keys import LAST
from frontier.lowering.kernels import Callee
from frontier.operators.gather.cuda_lanes import block_least, lanes_least, warp_least
from frontier.operators.gather.cuda_walks import next_list, warp_elements
from frontier.operators.shared.cuda import among_lanes, in_block, in_warp
from frontier.operators.shared.phases import slot_of_edge, weight_of_edge

if TYPE_CHECKING:
    from frontier.backends.cuda.device.appends import element_at
    from frontier.backends.cuda.device.machine import (
        ballot,
        block_size,
        fetch_add,
        find_first,
        load_once,
        shuffle,
        thread_index,
        truth,
    )
    from frontier.backends.cuda.device.names import I, float64_shared, int32_shared, int64_shared, tracing
    from frontier.backends.cuda.device.reductions import add_up

__all__ = ["BLOCK", "by_blocks", "by_lanes", "by_lists", "storing", "walking"]

#: Degrees from which on a list is processed by a warp, and by a block. (On R-MAT 24 an iteration of PageRank takes 10.3
#: ms if blocks process the hubs that they find, 8.2 if hubs from 4096 edges on are assigned dynamically, 6.8 if from
#: 1024 edges on.)
WARP, BLOCK = 16, 1024


# ---- parts of kernels ------------------------------------------------------------------------------------

# The result of some edges is a pair. Reductions that find an edge (``ends``) use both parts, the best key and the far
# end that has it; all others use only the second.


def walking(
    value: Callee,
    where: Callee,
    add: Callee,
    renumbered: bool,
    weighted: bool,
    identity: float,
    real: bool,
    ends: bool,
    several: bool,
) -> Callable[..., Any]:
    """Return a function that reduces every ``stride``-th edge of ``x`` from ``k`` to ``end``; ``several`` at a time."""
    every = where is None
    slot_at, weight_at = slot_of_edge(renumbered), weight_of_edge(weighted)

    def bring(p, C, slot, lists, x, k, best, result):
        far = np.int64(load_once(lists.ends, k))
        e = slot_at(lists, k)
        if every or truth(where(p, C, slot, far)):
            weight = weight_at(lists, e)
            if ends:
                best, result = add(best, result, value(p, C, slot, x, far, e, weight), far)
            else:
                result = add(C, slot, result, value(p, C, slot, x, far, e, weight))
        return best, result

    def walk(p, C, slot, lists, x, k, end, stride):
        best = np.int64(LAST)
        result = np.float64(identity) if real else np.int64(identity)
        if several:
            while k < I(end - I(3 * stride)):
                best, result = bring(p, C, slot, lists, x, k, best, result)
                best, result = bring(p, C, slot, lists, x, I(k + stride), best, result)
                best, result = bring(p, C, slot, lists, x, I(k + I(2 * stride)), best, result)
                best, result = bring(p, C, slot, lists, x, I(k + I(3 * stride)), best, result)
                k = I(k + I(4 * stride))
            if k < I(end - stride):
                best, result = bring(p, C, slot, lists, x, k, best, result)
                best, result = bring(p, C, slot, lists, x, I(k + stride), best, result)
                k = I(k + I(2 * stride))
        while k < end:
            best, result = bring(p, C, slot, lists, x, k, best, result)
            k = I(k + stride)
        return best, result

    return walk


def storing(ends: bool, flag: bool) -> Callable[..., Any]:
    """Return a function that stores a vertex's result."""

    def store(into, x, result):
        if ends:
            into[x] = result if result != np.int64(LAST) else np.int64(-1)
        elif flag:
            into[x] = truth(result)
        else:
            into[x] = result

    return store


# ---- kernels ---------------------------------------------------------------------------------------------


def by_lanes(walk: Callee, store: Callee, lanes: int, ends: bool, op: int, join: Callee) -> Callable[..., Any]:
    """For short lists only: several lanes share a list, so that all loads of a vertex are in flight at once."""
    shift, vertices = lanes.bit_length() - 1, 32 // lanes
    reduced = among_lanes(op, join)

    def phase(p, C, slot, w, W, everything, queue, total, lists, into, start):
        lane = np.int32(w & 31)
        part = np.int32(lane & np.int32(lanes - 1))
        examined = np.int64(0)
        first = start + ((w - lane) >> 5) * vertices
        while first < total:
            i = first + (lane >> shift)
            x = np.int64(0)
            k = I(0)
            end = I(0)
            if i < total:
                x = element_at(queue, everything, i)
                k = I(I(lists.offsets[x]) + I(part))
                end = I(lists.offsets[x + 1])
                if tracing and part == 0:
                    examined += end - k
            best, result = walk(p, C, slot, lists, x, k, end, I(lanes))
            if ends:
                _, result = lanes_least(best, result, lanes)
            else:
                result = reduced(C, slot, result, lanes)
            if part == 0 and i < total:
                store(into, x, result)
            first += (W >> 5) * vertices
        if tracing:
            add_up(C, slot, EXAMINED, examined)

    return phase


def by_lists(
    walk: Callee, store: Callee, pairs: Callee, ends: bool, op: int, join: Callee, longer: bool, dealt: bool
) -> Callable[..., Any]:
    """One lane per list. If some are ``longer``, the warp processes these, and puts the longest aside for blocks.

    Warps take pieces of the frontier as in :func:`warp_elements`.
    """
    paired = pairs is not None
    reduced = in_warp(op, join)

    def vertices(p, C, slot, lane, first, last, given):
        """Process 32 vertices, from the first on, one per lane."""
        everything, queue, lists, into, aside, room = given
        i = first + lane
        mine = np.int64(0)
        begin = I(0)
        stop = I(0)
        if i < last:
            mine = element_at(queue, everything, i)
            begin = I(lists.offsets[mine])
            stop = I(lists.offsets[mine + 1])
        short = i < last
        if longer:
            short = i < last and I(stop - begin) < I(WARP)
        if short:
            _, result = walk(p, C, slot, lists, mine, begin, stop, I(1))
            store(into, mine, result)
        if longer:
            waits = i < last and not short
            if waits and I(stop - begin) >= I(BLOCK):
                at = fetch_add(C, slot + PILE_COUNT, np.int64(1))
                if at < room:  # always, unless vertices come twice, as they may after culling
                    aside[at] = mine
                    waits = False
            if paired:
                waits = pairs(p, C, slot, lists, into, lane, waits, mine, begin, stop)
            pending = ballot(waits)
            while pending != np.uint32(0):
                leader = find_first(pending)
                pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))
                x = np.int64(shuffle(mine, leader))
                k = I(I(shuffle(begin, leader)) + I(lane))
                end = I(shuffle(stop, leader))
                best, result = walk(p, C, slot, lists, x, k, end, I(32))
                if ends:
                    _, result = warp_least(best, result)
                else:
                    result = reduced(C, slot, result)
                if lane == 0:
                    store(into, x, result)
        return stop - begin

    walk_lists = warp_elements(vertices, dealt)

    def phase(p, C, slot, w, W, everything, queue, total, lists, into, aside, room, start):
        lane = np.int32(w & 31)
        given = (everything, queue, lists, into, aside, room)
        examined = walk_lists(p, C, slot, lane, w, W, total, start, given)
        if tracing:
            add_up(C, slot, EXAMINED, examined)

    return phase


def by_blocks(
    walk: Callee, store: Callee, ends: bool, op: int, join: Callee, real: bool
) -> Callable[..., Any]:
    """Processes the lists that were put aside: a block takes the next one whenever it has finished one."""
    reduced = in_block(op, join)

    def phase(p, C, slot, w, W, lists, into, aside, held):
        taken = int32_shared(WORDS)
        memory = float64_shared(WARPS) if real else int64_shared(WARPS)
        results = int64_shared(MORE)  # of the edges that have the least keys
        going = held > 0
        while going:
            at = next_list(C, slot, taken)
            going = at < held
            if going:
                x = np.int64(aside[at])
                k = I(I(lists.offsets[x]) + I(thread_index()))
                best, result = walk(p, C, slot, lists, x, k, I(lists.offsets[x + 1]), I(block_size()))
                if ends:
                    _, result = block_least(best, result, memory, results)
                else:
                    result = reduced(C, slot, result, memory)
                if thread_index() == 0:
                    store(into, x, result)

    return phase
