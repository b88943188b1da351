"""Sizes that the runtime of kernels shares with the host; this module must not import numba."""

from __future__ import annotations

__all__ = [
    "ARRIVALS", "ATTENTION", "COUNT", "CURSOR", "EDGES", "ERROR", "EXAMINED", "FIRST", "FREE", "HALF", "HISTORY",
    "LOCK", "MAX", "MIN", "MORE", "MOST", "NOTHING", "OR", "PILE_COUNT", "PREFIX", "SLOT", "START", "STOP", "SUM",
    "TILE", "VARIABLES", "WARPS", "WORDS", "scratch", "size",
]  # fmt: skip

#: Words of the counters before the slots, and of a slot.
FIRST, SLOT = 16, 16

#: Words of a slot, and of its copy K in a block's scratch memory.
COUNT, EDGES, LOCK, STOP, ERROR, EXAMINED, PILE_COUNT, CURSOR = range(8)

#: Where in a block's scratch memory, in bytes, lie two values of each warp and a few words (K lies at 0).
WARPS, MORE, WORDS = 128, 384, 640

#: Where the variables of a loop lie there, how many there may be, and where the memory of a phase begins.
VARIABLES, MOST = 704, 384
FREE = VARIABLES + 8 * MOST

#: What an append writes in addition to ids: nothing, the prefix sum (for merge_path), the first slot (for lanes).
NOTHING, PREFIX, START = range(3)

#: Reductions.
SUM, MIN, MAX, OR = range(4)

#: Edges of a tile, and vertices that one may hold.
TILE = 2048

#: Vertices that a block remembers while it culls; a power of two.
HISTORY = 512


#: In low-degree builds, the bit of the word of the count from which on that of the blocks that have arrived stands.
ARRIVALS = 55

#: In low-degree builds, the bit of that word which says that other words are to be read.
ATTENTION = 1 << 54

#: Bits of a count that shares a word with another, see :mod:`frontier.backends.cuda.runtime`.
HALF = 27


def size(blocks: int) -> int:
    """Size of the counters in 64-bit words."""
    return FIRST + 3 * SLOT + 3 * blocks


def scratch(ids: int, offsets: int) -> int:
    """Bytes of a block's scratch memory, for so many bytes an id and an offset."""
    return FREE + (offsets + 2 * ids + 4) * TILE + ids * HISTORY
