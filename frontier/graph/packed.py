"""Compressed adjacency lists: in blocks of 32 slots, each id as its difference from the least id of the block.

All differences of a block have as many bits as the largest needs, so 32 of them fill as many 32-bit words. A *frame*
says where a block's words begin, and which id is its least; where the next block begins gives the number of bits. Ids
of a sorted list are close together if the list is long, and those of short ones if neighbours have similar numbers.

Any slot can be read by itself, from its frame and two words. So every operator works as on plain lists: also those
that search in lists or take some places of them. Differences between neighbours in a list would take 2 to 4 bits less,
but nothing of a list could be read without what comes before it. (Frames of reference: Goldstein, Ramakrishnan, Shaft:
Compressing relations and indexes, 1998; Zukowski, Heman, Nes, Boncz: Super-scalar RAM-CPU cache compression, 2006.)
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import GraphError
from frontier.memory.arrays import is_device, namespace_of, to_host

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AFTER", "BLOCK", "PackedIds", "packed_ids", "unpacked"]

#: Slots of a block (log2).
BITS = 5
BLOCK = 1 << BITS

#: Words after the last block, which are loaded and not used.
AFTER = 2

#: Slots whose ids are made at a time on a GPU.
CHUNK = 1 << 24


class PackedIds:
    """Ids by slot, compressed; see the module's description.

    Parameters
    ----------
    frames : ndarray, shape (2 * blocks + 1,)
        For each block the first of its words, and its least id; then the number of all words. int32, or int64 if
        slots or ids have 64 bits.
    words : ndarray of uint32, shape (words + 2,)
    length : int
        Number of slots.
    dtype : numpy dtype
        Of the ids.
    """

    __slots__ = ("_plain", "dtype", "frames", "length", "words")

    def __init__(self, frames: Any, words: Any, length: int, dtype: Any) -> None:
        self.frames, self.words, self.length, self.dtype = frames, words, length, np.dtype(dtype)
        self._plain: Any = None

    def __len__(self) -> int:
        return self.length

    @property
    def nbytes(self) -> int:
        """Bytes of the frames and words."""
        return int(self.frames.nbytes + self.words.nbytes)

    def plain(self) -> Any:
        """Return the ids as an array, which is made anew if nobody has it any more."""
        found = None if self._plain is None else self._plain()
        if found is None:
            found = _on_device(self) if is_device(self.words) else _on_host(self)
            self._plain = weakref.ref(found)
        return found

    def copied(self, move: Callable[[Any, str], Any]) -> PackedIds:
        """Return a copy whose arrays are where ``move`` puts them; it takes an array and its kind.

        Frames, as the offsets, take little memory and are read in no order.
        """
        return PackedIds(move(self.frames, "offsets"), move(self.words, "edges"), self.length, self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return PackedIds, (self.frames, self.words, self.length, self.dtype)


def packed_ids(ids: Any, slots: np.dtype[Any]) -> PackedIds:
    """Compress ids on the host; ``slots`` is the dtype of offsets.

    Raises
    ------
    GraphError
        If ids of a block differ by 2**32 or more.
    """
    from frontier.graph import packed_kernels as kernels

    ids = np.ascontiguousarray(to_host(ids))
    blocks = -(-len(ids) // BLOCK)
    frames = np.empty(2 * blocks + 1, np.int64 if 8 in (slots.itemsize, ids.itemsize) else np.int32)
    if kernels.frame(ids, frames):
        raise GraphError("compressed lists hold ids that differ by less than 2**32 within 32 slots")
    words = np.zeros(int(frames[-1]) + AFTER, np.uint32)
    kernels.pack(ids, frames, words)
    return PackedIds(frames, words, len(ids), ids.dtype)


def _on_host(packed: PackedIds) -> NDArray[Any]:
    from frontier.graph import packed_kernels as kernels

    found = np.empty(packed.length, packed.dtype)
    kernels.unpack(to_host(packed.frames), packed.words, found)  # words may lie on a disk, and frames on a GPU
    found.flags.writeable = False
    return found


def _on_device(packed: PackedIds) -> Any:
    return unpacked(packed, 0, packed.length)


def unpacked(packed: PackedIds, lo: int, hi: int) -> Any:
    """Return the ids of slots lo to hi - 1, by operations on whole arrays, piece by piece."""
    xp = namespace_of(packed.words)
    found = xp.empty(hi - lo, packed.dtype)
    for first in range(lo, hi, CHUNK):
        slot = xp.arange(first, min(first + CHUNK, hi))
        block, place = slot >> BITS, slot & (BLOCK - 1)
        start, least = packed.frames[2 * block].astype(np.int64), packed.frames[2 * block + 1]
        bits = packed.frames[2 * block + 2] - start
        bit = place * bits
        at = start + (bit >> 5)
        both = packed.words[at].astype(np.uint64) | (packed.words[at + 1].astype(np.uint64) << np.uint64(32))
        mask = (np.uint64(1) << bits.astype(np.uint64)) - np.uint64(1)
        value = (both >> (bit & 31).astype(np.uint64)) & mask
        found[first - lo : first - lo + len(slot)] = least + value.astype(np.int64)
    return found
