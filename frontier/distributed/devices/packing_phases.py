"""Values of changed elements side by side, as their owner packs them and as others unpack them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.compile.codes import BLOCK, BLOCK_BITS
from frontier.distributed.devices.block_phases import place_of
from frontier.lowering.kernels import Callee

if TYPE_CHECKING:
    from frontier.backends.cuda.device.machine import popcount, shuffle
    from frontier.backends.cuda.device.reductions import inclusive_scan

__all__ = ["begin_packed", "is_packed", "moving", "packing"]


def moving(packs: bool, unpacks: bool, based: bool) -> Callable[..., Any]:
    """Return a function by which a warp copies the elements of four blocks whose bits are set.

    ``source`` or ``target`` may have them side by side, from ``at`` on. A lane loads four values before it stores them,
    so that they come side by side. A lane that has none copies the last one too, which is the same.
    """

    def move(source, target, base, begun, at, mask, upto, lane):
        total = shuffle(upto, 31)
        last = np.int64(total - 1)
        j = np.int64(lane)
        while j - lane < total:
            j0 = min(j, last)
            v0 = (begun << BLOCK_BITS) + place_of(mask, upto, j0)
            value0 = source[at + j0 if unpacks else v0]
            if j - lane + 32 < total:
                j1 = min(j + 32, last)
                j2 = min(j + 64, last)
                j3 = min(j + 96, last)
                v1 = (begun << BLOCK_BITS) + place_of(mask, upto, j1)
                v2 = (begun << BLOCK_BITS) + place_of(mask, upto, j2)
                v3 = (begun << BLOCK_BITS) + place_of(mask, upto, j3)
                value1 = source[at + j1 if unpacks else v1]
                value2 = source[at + j2 if unpacks else v2]
                value3 = source[at + j3 if unpacks else v3]
                target[at + j1 if packs else v1] = value1
                target[at + j2 if packs else v2] = value2
                target[at + j3 if packs else v3] = value3
                if based:
                    base[v1] = value1
                    base[v2] = value2
                    base[v3] = value3
            target[at + j0 if packs else v0] = value0
            if based:
                base[v0] = value0
            j += 128

    return move


def is_packed(total):
    """Whether so many elements of four blocks lie side by side.

    Over the links come 32 bytes at a time: of fewer elements, each lies by itself in any case, and most of more lie
    side by side as they are.
    """
    return total >= 16 and total <= 3 * BLOCK


def begin_packed(begun, first):
    """Where the packed elements of four blocks begin in the array of their owner, whose range begins with ``first``."""
    return np.int64((begun - (first >> BLOCK_BITS)) << BLOCK_BITS)


def packing(move: Callee) -> Callable[..., Any]:
    """Return a function by which an owner packs elements of four blocks that it tells of: the set bits of a word."""

    def pack(mine, packed, begun, first, mask, lane):
        upto = inclusive_scan(popcount(mask), lane)
        if is_packed(shuffle(upto, 31)):
            move(mine, packed, 0, begun, begin_packed(begun, first), mask, upto, lane)

    return pack
