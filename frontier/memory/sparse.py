"""Arrays of a GPU as long as those of a whole graph, of which only some parts take memory.

The rest has addresses, behind which lies one piece of memory again and again: to read there gives nothing of use, but
does not fail.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.memory import detection
from frontier.memory.gpu import gpu
from frontier.memory.mapping import Addresses, device_location, done, granularity

__all__ = ["grow", "zeros"]

#: Bytes of an array from which on it is worth while to leave out parts, and of a piece that has memory or not.
LEAST, PIECE = 1 << 25, 1 << 23

_WHAT = "arrays of which parts take memory need addresses without memory"

#: What arrays of CuPy lie in, by its address.
_blocks: weakref.WeakValueDictionary[int, _Block] = weakref.WeakValueDictionary()


def zeros(length: int, dtype: Any, parts: Sequence[slice], index: int) -> Any:
    """Return an array of zeros on the current GPU, whose number this is, with memory for some parts.

    A short one has memory for all of it, and so has a long one where the driver does not map pieces of memory.
    """
    made = np.dtype(dtype)
    size = length * made.itemsize
    if detection.simulated():
        return np.zeros(length, made)
    cupy = detection.cupy()
    if size < LEAST:
        return cupy.zeros(length, made)
    try:
        block = _Block(size, index)
    except (GraphError, ImportError):
        return cupy.zeros(length, made)
    _blocks[block.start] = block
    try:
        block.have(parts, made.itemsize)
    except MemoryError:  # CuPy keeps what it has freed, where the driver does not find it
        cupy.get_default_memory_pool().free_all_blocks()
        block.have(parts, made.itemsize)
    memory = cupy.cuda.UnownedMemory(block.start, size, block, index)
    return cupy.ndarray(length, made, cupy.cuda.MemoryPointer(memory, 0))


def grow(array: Any, parts: Sequence[slice]) -> None:
    """Give memory to more parts of an array that :func:`zeros` has returned; others have it everywhere."""
    if isinstance(array, np.ndarray) or not _blocks:
        return
    block = _blocks.get(int(array.data.mem.ptr))
    if block is not None:
        block.have(parts, array.itemsize)


class _Block(Addresses):
    """A range of addresses of one GPU, to which memory is mapped as parts of it are needed."""

    def __init__(self, size: int, index: int) -> None:
        from cuda.bindings import driver

        gpu(index).synchronize()  # which makes its context, if there is none yet
        self._index, self._where = index, device_location(driver, index)
        self._piece = max(PIECE, granularity(driver, index, _WHAT))
        number = -(-size // self._piece)
        super().__init__(driver, number * self._piece, [index], _WHAT)
        self._has = np.zeros(number, bool)
        spare = self.created(self._piece, self._where)
        try:
            for each in range(number):
                self.place(each * self._piece, self._piece, spare)
                self._mapped.append((self.start + each * self._piece, self._piece))
        finally:
            self.released(spare)
        self.allow(0, number * self._piece, [self._where])

    def have(self, parts: Sequence[slice], width: int) -> None:
        """Have memory for elements of so many bytes each; what has not been there before is 0."""
        asked = self._has.copy()
        for part in parts:
            if part.stop > part.start:
                asked[part.start * width // self._piece : -(-part.stop * width // self._piece)] = True
        more = np.flatnonzero(asked & ~self._has).tolist()
        if not more:
            return
        gpu(self._index).synchronize()  # nothing may read what is mapped anew
        made: list[Any] = []
        try:
            for _ in more:
                made.append(self.created(self._piece, self._where))
            for each, memory in zip(more, made, strict=True):
                at = each * self._piece
                done(self._driver.cuMemUnmap(self.start + at, self._piece), _WHAT)
                self.place(at, self._piece, memory)
                self.allow(at, self._piece, [self._where])
                done(self._driver.cuMemsetD8(self.start + at, 0, self._piece), _WHAT)
                self._has[each] = True
        finally:
            for memory in made:
                self.released(memory)
