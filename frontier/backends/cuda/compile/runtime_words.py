"""Sizes that the runtime of kernels shares with the host; this module must not import numba."""

from __future__ import annotations

__all__ = [
    "ARRIVALS", "ATTENTION", "COUNT", "CURSOR", "EDGES", "ERROR", "EXAMINED", "FIRST", "FREE", "HALF", "HELD",
    "HISTORY", "MAX", "MIN", "MORE", "MOST", "NOTHING", "OR", "PILE_COUNT", "PREFIX", "SLOT", "START", "STOP", "SUM",
    "TILE", "VARIABLES", "WARPS", "WORDS", "scratch", "size",
]  # fmt: skip

#: Words of the counters before the slots, and of a slot.
FIRST, SLOT = 16, 16

#: Words of a slot, and of its copy K in a block's scratch memory.
COUNT, EDGES, STOP, ERROR, EXAMINED, PILE_COUNT, CURSOR = range(7)

#: Offsets in a block's scratch memory, in bytes: two arrays of a value per warp, then a few words. K is at 0.
WARPS, MORE, WORDS = 128, 384, 640

#: The offset of a loop's variables, how many there may be, and the offset of the memory that phases use.
VARIABLES, MOST = 704, 384
FREE = VARIABLES + 8 * MOST

#: What an append writes in addition to ids: nothing, the prefix sum (for merge_path), the first slot (for lanes).
NOTHING, PREFIX, START = range(3)

#: Reductions.
SUM, MIN, MAX, OR = range(4)

#: How many edges, and how many vertices, a tile has at most.
TILE = 2048

#: How many vertices a block remembers while it culls; a power of two.
HISTORY = 512


#: How many edges the warps of a block hold together while they sift: 64 each, of which there are at most 16.
HELD = 1024

#: In low-degree builds, the bit of the word of the count at which the number of arrived blocks begins.
ARRIVALS = 55

#: In low-degree builds, the bit of that word that says whether other words are to be read.
ATTENTION = 1 << 54

#: Bits of a count that shares a word with another, see :mod:`frontier.backends.cuda.device.runtime`.
HALF = 27


def size(blocks: int) -> int:
    """Size of the counters in 64-bit words."""
    return FIRST + 3 * SLOT + 3 * blocks


def scratch(ids: int, offsets: int, sifts: bool = False) -> int:
    """Bytes of a block's scratch memory, if ids and offsets have these sizes in bytes; ``sifts``: with edges held."""
    return FREE + (offsets + 2 * ids + 4) * TILE + ids * HISTORY + sifts * (offsets + ids) * HELD
