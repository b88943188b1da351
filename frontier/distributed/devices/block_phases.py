"""How warps walk over blocks of elements whose bits in a bitmap are set, and how GPUs take turns.

All walk over flags: 32 at a time, of which four lie side by side, so that many warps share a stretch of changes. Of
four blocks a warp looks at the 32 words, and then its lanes at all elements whose bits are set, side by side: what
takes time is how often one waits for the other GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frontier.compile.codes import BLOCK, BLOCK_BITS

if TYPE_CHECKING:
    from frontier.backends.cuda.device.machine import popcount, shuffle

__all__ = ["WORDS", "begin_of", "bit_of", "block_of", "blocks_end", "is_own", "other", "place_of"]

#: Words of a block in a bitmap.
WORDS = BLOCK // 32


def block_of(base, lane, W):
    """The block whose flag a lane looks at, when its warp has come to ``base``."""
    return np.int64(base + (lane >> 2) * (W >> 3) + (lane & 3))


def begin_of(first, w):
    """Where a warp begins to walk over the blocks of a range from ``first`` on; it goes on in steps of W."""
    return np.int64((first >> BLOCK_BITS) + ((w - (w & 31)) >> 3))


def blocks_end(end):
    """The block after the last of a range of elements."""
    return (end + (BLOCK - 1)) >> BLOCK_BITS


def is_own(word, first, end):
    """Whether a word of a bitmap belongs to a range of elements."""
    return word >= (first + 31) >> 5 and word < (end + 31) >> 5


def other(rank, turn, parts):
    """The GPU that comes so many after this one: each begins to read from another one, over links of its own."""
    r = np.int64(rank + turn)
    if r >= parts:
        r -= parts
    return r


def bit_of(word, lane):
    """Whether a lane's bit is set."""
    return np.uint32(np.uint32(word >> np.uint32(lane)) & np.uint32(1)) != np.uint32(0)


def place_of(mask, upto, j):
    """Where the bit number ``j`` is among the words of the 32 lanes, of which each has one (``mask``).

    ``upto``: bits of the words up to a lane's own. All lanes call this, each for a number of its own.
    """
    k = np.int32(0)
    for step in (16, 8, 4, 2, 1):
        if j >= shuffle(upto, k + (step - 1)):
            k = np.int32(k + np.int32(step))
    word = np.uint32(shuffle(np.int64(mask), k))
    left = j - (shuffle(upto, k) - popcount(word))
    place = np.int32(0)
    for step in (16, 8, 4, 2, 1):
        low = popcount(np.uint32(word & np.uint32((1 << step) - 1)))
        if left >= low:
            left -= low
            word = np.uint32(word >> np.uint32(step))
            place = np.int32(place + np.int32(step))
    return 32 * np.int64(k) + place
