"""The kernels of gathers into a field with several values, on the GPU: the lanes of a warp are across the values.

Neighbouring lanes take neighbouring values of a vertex, and go along its list together: the ids of the list are read
once for all of them, and the values of a far end in whole lines. The longest lists are put aside for blocks, of which
every group of as many threads as there are values takes every so many edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import EXAMINED, FREE, PILE_COUNT, WORDS
from frontier.lowering.kernels import Callee
from frontier.operators.gather.cuda_kernels import BLOCK
from frontier.operators.gather.cuda_walks import next_list
from frontier.operators.shared.phases import slot_of_edge, weight_of_edge

if TYPE_CHECKING:
    from frontier.backends.cuda.device.appends import element_at
    from frontier.backends.cuda.device.machine import block_size, fetch_add, sync, thread_index, truth
    from frontier.backends.cuda.device.names import I, float64_shared, int32_shared, int64_shared, tracing
    from frontier.backends.cuda.device.reductions import add_up

__all__ = ["rows_by_blocks", "rows_by_lanes", "storing_rows", "walking_rows"]


def walking_rows(
    value: Callee, where: Callee, add: Callee, renumbered: bool, weighted: bool, identity: float, real: bool
) -> Callable[..., Any]:
    """Return a function that reduces the ``c``-th value of every ``stride``-th edge of ``x`` from ``k`` to ``end``."""
    every = where is None
    slot_at, weight_at = slot_of_edge(renumbered), weight_of_edge(weighted)

    def bring(p, C, slot, lists, x, k, c, result):
        far = np.int64(lists.ends[k])
        e = slot_at(lists, k)
        if every or truth(where(p, C, slot, far)):
            weight = weight_at(lists, e)
            result = add(C, slot, result, value(p, C, slot, x, far, e, weight, c))
        return result

    def walk(p, C, slot, lists, x, k, end, stride, c):
        result = np.float64(identity) if real else np.int64(identity)
        while k < I(end - I(3 * stride)):  # four edges in flight, because a plain loop would wait for each load
            result = bring(p, C, slot, lists, x, k, c, result)
            result = bring(p, C, slot, lists, x, I(k + stride), c, result)
            result = bring(p, C, slot, lists, x, I(k + I(2 * stride)), c, result)
            result = bring(p, C, slot, lists, x, I(k + I(3 * stride)), c, result)
            k = I(k + I(4 * stride))
        while k < end:
            result = bring(p, C, slot, lists, x, k, c, result)
            k = I(k + stride)
        return result

    return walk


def storing_rows(width: int, flag: bool) -> Callable[..., Any]:
    """Return a function that stores one value of a vertex."""

    def store(into, x, c, result):
        if flag:
            into[x * width + c] = truth(result)
        else:
            into[x * width + c] = result

    return store


def rows_by_lanes(walk: Callee, store: Callee, width: int, longer: bool) -> Callable[..., Any]:
    """A lane for each value. If some lists are ``longer``, the lane of the first value puts the longest aside."""

    def phase(p, C, slot, w, W, everything, queue, total, lists, into, aside, room):
        examined = np.int64(0)
        i = w
        while i < total * width:
            x = element_at(queue, everything, i // width)
            c = i % width
            begin = I(lists.offsets[x])
            stop = I(lists.offsets[x + 1])
            late = longer and I(stop - begin) >= I(BLOCK)
            if longer and late and c == 0:
                at = fetch_add(C, slot + PILE_COUNT, np.int64(1))
                if at < room:  # always, unless vertices come twice, as they may after culling
                    aside[at] = x
            if not late:
                store(into, x, c, walk(p, C, slot, lists, x, begin, stop, I(1), c))
            if tracing and c == 0:
                examined += np.int64(stop - begin)
            i += W
        if tracing:
            add_up(C, slot, EXAMINED, examined)

    return phase


def rows_by_blocks(walk: Callee, store: Callee, add: Callee, width: int, real: bool) -> Callable[..., Any]:
    """Processes the lists that were put aside: a block takes the next one whenever it has finished one."""

    def phase(p, C, slot, w, W, lists, into, aside, held):
        taken = int32_shared(WORDS)
        memory = float64_shared(FREE) if real else int64_shared(FREE)
        t = np.int64(thread_index())
        columns = min(np.int64(width), np.int64(block_size()))
        groups = np.int64(block_size()) // columns
        going = held > 0
        while going:
            at = next_list(C, slot, taken)
            going = at < held
            if going:
                x = np.int64(aside[at])
                begin = I(lists.offsets[x])
                stop = I(lists.offsets[x + 1])
                first = np.int64(0)
                while first < width:
                    c = first + t % columns
                    mine = t < groups * columns and c < width
                    if mine:
                        k = I(begin + I(t // columns))
                        memory[t] = walk(p, C, slot, lists, x, k, stop, I(groups), c)
                    sync()
                    if mine and t < columns:
                        result = memory[t]
                        for j in range(1, groups):
                            result = add(C, slot, result, memory[j * columns + t])
                        store(into, x, c, result)
                    sync()
                    first += columns

    return phase
