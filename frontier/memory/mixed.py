"""Arrays of which a part lies in a GPU's own memory and the rest in the host's, at addresses without a gap.

Kernels see one array, and read each part at the speed of the memory in which it is. The parts alternate in small
pieces, so that every stretch of an array has the same share of each. Several GPUs may have a stretch each.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from frontier.memory import detection
from frontier.memory.arrays import HOST_BLOCKS, to_host
from frontier.memory.base import Memory
from frontier.memory.gpu import gpu
from frontier.memory.mapping import Addresses, device_location, done, host_location
from frontier.memory.pinned import PinnedMemory
from frontier.memory.shortage import HINT

__all__ = ["MixedMemory", "mixed", "owners_of"]

#: Bytes of a piece; the driver maps multiples of 2 MiB.
PIECE = 1 << 23

_WHAT = "edges='auto' needs memory of GPU and host at one range of addresses (edges='host' works without)"


class MixedMemory(Memory):
    """Memory of edges: a share of each array is in a GPU's memory, the rest in the host's.

    Parameters
    ----------
    index : int
        The number by which CUDA knows the GPU in this process.
    share : float
        The part of each array that lies in the GPU's memory, from 0 to 1.
    """

    __slots__ = ("index", "share")

    residence = "host"
    asked = "auto"
    small = 1 << 24
    hint = HINT

    def __init__(self, index: int, share: float) -> None:
        self.index, self.share = index, share

    @property
    def described(self) -> str:
        """In words: how much of it is the GPU's."""
        return f"host and device ({self.share:.0%})"

    @property
    def xp(self) -> Any:
        """CuPy, or what stands in for it."""
        return gpu(self.index).xp

    def full(self, length: int, value: Any, dtype: Any) -> Any:
        """Return an array filled with one value."""
        return self.moved(np.full(length, value, dtype))

    def moved(self, values: Any, copy: bool = False) -> Any:
        """Return an array of the GPU's library that lies in both memories; what is no number stays as it is."""
        values = to_host(values)
        if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
            return values
        values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
        return values if detection.simulated() else mixed(values, self.share, [self.index])

    def left(self, enough: int | None = None) -> tuple[int, str]:
        """Bytes of both memories that this process could still have."""
        here, there = gpu(self.index).left(), PinnedMemory(self.index).left()
        return here[0] + there[0], f"{here[1]} and in the host's memory"

    def using(self, what: str = "an array") -> AbstractContextManager[None]:
        """Return a context manager that makes the GPU current."""
        return gpu(self.index).using(what)

    def synchronize(self) -> None:
        """Wait until the GPU has nothing to do."""
        gpu(self.index).synchronize()

    def for_gpu(self, index: int) -> MixedMemory:
        """Return a memory of which another GPU has as large a share."""
        return MixedMemory(index, self.share)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MixedMemory) and (self.index, self.share) == (other.index, other.share)

    def __hash__(self) -> int:
        return hash((self.index, self.share))

    def __repr__(self) -> str:
        return f"MixedMemory({self.index}, {self.share})"

    def __reduce__(self) -> tuple[Any, ...]:
        return MixedMemory, (self.index, self.share)


def mixed(values: np.ndarray, share: float, devices: Sequence[int], bounds: Sequence[int] = ()) -> Any:
    """Return an array of NumPy as one of CuPy of which a share lies on GPUs, for all of them to read.

    ``devices[i]`` has the share of the elements from ``bounds[i]`` up to ``bounds[i + 1]``; a single one, that of all.
    """
    cupy = detection.cupy()
    if values.size == 0:
        return cupy.empty(values.shape, values.dtype)
    cuts = [bound * values.itemsize for bound in bounds] or [0, values.nbytes]
    block = _Block(values.nbytes, share, devices, cuts)
    block.fill(values.reshape(-1).view(np.uint8))
    HOST_BLOCKS[block.address] = block
    memory = cupy.cuda.UnownedMemory(block.address, values.nbytes, block, devices[0])
    return cupy.ndarray(values.shape, values.dtype, cupy.cuda.MemoryPointer(memory, 0))


def owners_of(size: int, share: float, devices: Sequence[int], cuts: Sequence[int]) -> list[int | None]:
    """Return for each piece of an array which GPU has it, or None if the host has.

    ``cuts`` are the bytes where the stretches of the GPUs begin, and where the last one ends.
    """
    firsts = [round(cut / PIECE) for cut in cuts[:-1]]
    made: list[int | None] = []
    for i in range(-(-size // PIECE)):
        part = max(part for part, first in enumerate(firsts) if first <= i)
        within = i - firsts[part]
        made.append(devices[part] if round((within + 1) * share) > round(within * share) else None)
    return made


class _Block:
    """A range of addresses, to which pieces of both memories are mapped; freed when the last array in it is gone."""

    def __init__(self, size: int, share: float, devices: Sequence[int], cuts: Sequence[int]) -> None:
        from cuda.bindings import driver

        self._driver, self.size, self._reader = driver, size, devices[0]
        owners = owners_of(size, share, devices, cuts)
        self.resident = [owner is not None for owner in owners]
        different = list(dict.fromkeys(devices))
        for index in different:
            gpu(index).synchronize()  # which makes its context, if there is none yet
        readers, host = [device_location(driver, index) for index in different], host_location(driver)
        self._range = Addresses(driver, len(owners) * PIECE, different, _WHAT)
        self.address = self._range.start
        for i, owner in enumerate(owners):
            where = host if owner is None else device_location(driver, owner)
            self._range.map(i * PIECE, PIECE, where, [*readers, host] if owner is None else readers)

    def fill(self, data: np.ndarray) -> None:
        """Copy bytes to the pieces."""
        with gpu(self._reader).using():
            for i, resident in enumerate(self.resident):
                part = data[i * PIECE : (i + 1) * PIECE]
                at = self.address + i * PIECE
                if resident:
                    done(self._driver.cuMemcpyHtoD(at, part.ctypes.data, part.nbytes), _WHAT)
                else:
                    ctypes.memmove(at, part.ctypes.data, part.nbytes)

    def array(self, values: Any) -> np.ndarray:
        """Return a copy on the host of an array in this range."""
        data = np.empty(self.size, np.uint8)
        with gpu(self._reader).using():  # the pieces are mapped for the GPUs of this range only
            for i, resident in enumerate(self.resident):
                part = data[i * PIECE : (i + 1) * PIECE]
                at = self.address + i * PIECE
                if resident:
                    done(self._driver.cuMemcpyDtoH(part.ctypes.data, at, part.nbytes), _WHAT)
                else:
                    ctypes.memmove(part.ctypes.data, at, part.nbytes)
        return np.ndarray(values.shape, values.dtype, data, values.data.ptr - self.address, values.strides)
