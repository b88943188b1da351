"""The most frequent value of a vertex's edges, on the CPU.

A list is first taken to be ascending: then equal values are adjacent, and it is enough to count them. (In the first
round of label propagation all lists are, and later many have one value only.) Where a value is less than the one
before, the list is begun again with a hash table (open addressing, linear probing).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.compile.keys import integer
from frontier.lowering.kernels import Callee
from frontier.operators.shared.cpu_walks import over_vertices
from frontier.operators.shared.phases import slot_of_edge, weight_of_edge

if TYPE_CHECKING:
    from frontier.backends.cpu.atomics import truth

__all__ = ["counting"]

#: An odd number near 2**64 divided by the golden ratio, as an int64 (Knuth: The art of computer programming, 6.4).
GOLDEN = 0x9E3779B97F4A7C15 - 2**64


def counting(value: Callee, where: Callee, renumbered: bool, weighted: bool, unsigned: bool) -> Callable[..., Any]:
    """The most frequent value of a vertex's edges, of several the smallest; -1 without edges.

    Values are int64; if ``unsigned``, what a field of uint64 holds. Then their highest bit is inverted, so that they
    compare as signed numbers do. A slot of ``table``, a worker's own, is two words: a value, and how often it occurs.
    """
    every, vertices = where is None, over_vertices()
    slot_at, weight_at = slot_of_edge(renumbered), weight_of_edge(weighted)
    flip = -(2**63) if unsigned else 0

    def phase(p, C, slot, w, W, everything, queue, total, lists, into, table):
        for x in vertices(C, slot, w, W, everything, queue, total, lists):
            begin = np.int64(lists.offsets[x])
            end = np.int64(lists.offsets[x + 1])
            result = np.int64(-1) ^ flip
            most = np.int64(0)
            last = np.int64(0)
            times = np.int64(0)
            ascending = True
            mask = np.int64(0)
            shift = np.int64(0)
            at = np.int64(0)
            k = begin
            while k < end:
                far = np.int64(lists.ends[k])
                e = slot_at(lists, k)
                weight = weight_at(lists, e)
                k += 1
                if every or truth(where(p, C, slot, far)):
                    label = integer(value(p, C, slot, x, far, e, weight)) ^ flip
                    if label == last and times > 0:
                        times += 1
                    elif not ascending:
                        at = np.int64((np.uint64(label) * np.uint64(GOLDEN)) >> np.uint64(shift))
                        times = table[2 * at + 1]
                        while times > 0 and table[2 * at] != label:
                            at = (at + 1) & mask
                            times = table[2 * at + 1]
                        table[2 * at] = label
                        times += 1
                    elif label > last or times == 0:
                        times = np.int64(1)
                    else:
                        ascending = False
                        mask = np.int64(8)
                        shift = np.int64(61)
                        while 3 * mask < 4 * (end - begin):
                            mask += mask
                            shift -= 1
                        for j in range(mask):
                            table[2 * j + 1] = 0
                        mask -= 1
                        k = begin
                        times = np.int64(0)
                        most = np.int64(0)
                        continue
                    last = label
                    if not ascending:
                        table[2 * at + 1] = times
                    if times > most or (times == most and label < result):
                        most = times
                        result = label
            into[x] = result ^ flip

    return phase
