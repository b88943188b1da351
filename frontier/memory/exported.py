"""Memory of a GPU that other processes of the host map, so that their kernels read it and write to it.

A process makes arrays within :meth:`Exports.using`. They lie in blocks. Another process gets a file descriptor for a
block once, and maps the block with :class:`Imported`, at an address of its own. So an array is the same distance from
the beginning of its block in both.
"""

from __future__ import annotations

import os
import weakref
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from frontier.memory import detection
from frontier.memory.gpu import gpu
from frontier.memory.mapping import Addresses, descriptors, device_location, done, granularity

__all__ = ["Exports", "Imported"]

_WHAT = "kernels of several processes need memory that processes can give each other"

#: Bytes of a block that short arrays share, and from which on an array has a block of its own.
BLOCK, LONG = 1 << 25, 1 << 23

#: What arrays begin at a multiple of.
_ALIGNED = 512

#: Bytes of a GPU that blocks leave to others, or this part of its memory if that is less: results may fill it, and then
#: a run that goes on finds no room for a short array.
LEFT, PART = 1 << 28, 64


class Exports:
    """The memory of this process's GPU that others map.

    Parameters
    ----------
    index : int
        The number of the GPU.
    """

    def __init__(self, index: int) -> None:
        self._index, self._number = index, 0
        self._blocks: weakref.WeakValueDictionary[int, _Block] = weakref.WeakValueDictionary()
        self._open: tuple[_Block, int] | None = None  # where short arrays go, and how much of it is used
        self._pool: Any = None if detection.simulated() else detection.cupy().cuda.MemoryPool(self._taken)

    def using(self) -> AbstractContextManager[Any]:
        """Return a context manager: arrays of CuPy that are made within lie in memory that others can map."""
        if self._pool is None:
            return nullcontext()
        made: AbstractContextManager[Any] = detection.cupy().cuda.using_allocator(self._pool.malloc)
        return made

    def trim(self, most: int) -> None:
        """Give back to the GPU what no array uses, if that is more than so many bytes."""
        if self._pool is not None and self._pool.free_bytes() > most:
            self._open = None
            self._pool.free_all_blocks()

    def sizes(self) -> dict[int, int]:
        """Numbers of the blocks that there are, and their bytes."""
        return {number: block.size for number, block in sorted(self._blocks.items())}

    def descriptor(self, number: int) -> int:
        """Return a file descriptor for a block, which remains this object's."""
        return self._blocks[number].descriptor

    def place(self, address: int) -> tuple[int, int]:
        """Return the number of the block in which an address is, and how far from its beginning."""
        for number, block in self._blocks.items():
            if 0 <= address - block.start < block.size:
                return number, address - block.start
        raise AssertionError(f"{address:#x} is in no block that others can map")

    def _taken(self, size: int) -> Any:
        """Memory for CuPy's pool."""
        size = -(-max(size, 1) // _ALIGNED) * _ALIGNED
        if size >= LONG:
            return self._pointer(self._made(size), 0, size)
        if self._open is None or self._open[1] + size > self._open[0].size:
            self._open = self._made(BLOCK), 0
        block, used = self._open
        self._open = block, used + size
        return self._pointer(block, used, size)

    def _made(self, size: int) -> _Block:
        try:
            made = self._block(size)
        except MemoryError:  # CuPy's pools keep what they have freed, where the driver does not find it
            for pool in (detection.cupy().get_default_memory_pool(), self._pool):
                pool.free_all_blocks()
            made = self._block(size)
        self._blocks[self._number] = made
        self._number += 1
        return made

    def _block(self, size: int) -> _Block:
        free, whole = _memory()
        if free - size < min(LEFT, whole // PART):
            raise MemoryError(f"{_WHAT}: {free:,} bytes are free, too few for {size:,}")
        return _Block(size, self._index)

    def _pointer(self, block: _Block, at: int, size: int) -> Any:
        cuda = detection.cupy().cuda
        return cuda.MemoryPointer(cuda.UnownedMemory(block.start + at, size, block, self._index), 0)


def _memory() -> tuple[int, int]:
    """Bytes of the current GPU that are free, and all."""
    free, whole = detection.runtime().memGetInfo()
    return int(free), int(whole)


class _Block(Addresses):
    """A piece of a GPU's memory of which there is a file descriptor."""

    def __init__(self, size: int, index: int) -> None:
        from cuda.bindings import driver

        piece = granularity(driver, index, _WHAT)
        self.size = -(-size // piece) * piece
        super().__init__(driver, self.size, [index], _WHAT)
        here = device_location(driver, index)
        memory = self.created(self.size, here, exported=True)
        self.descriptor = int(done(driver.cuMemExportToShareableHandle(memory, descriptors(driver), 0), _WHAT))
        weakref.finalize(self, os.close, self.descriptor).atexit = False
        self.keep(0, self.size, memory, [here])


class Imported(Addresses):
    """A block of another process, mapped for a GPU of this one; the descriptor is closed."""

    def __init__(self, descriptor: int, size: int, index: int) -> None:
        from cuda.bindings import driver

        with gpu(index).using():
            detection.runtime().deviceSynchronize()  # which makes its context, if there is none yet
        try:
            super().__init__(driver, size, [index], _WHAT)
            memory = done(driver.cuMemImportFromShareableHandle(descriptor, descriptors(driver)), _WHAT)
            self.keep(0, size, memory, [device_location(driver, index)])
        finally:
            os.close(descriptor)
