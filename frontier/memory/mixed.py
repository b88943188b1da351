"""Arrays of which a part lies in a GPU's own memory and the rest in the host's, at addresses without a gap.

Kernels see one array, and read each part at the speed of the memory in which it is. The parts alternate in small
pieces, so that every stretch of an array has the same share of each. (CUDA's virtual memory management: addresses are
reserved, and pieces of memory of either kind are mapped to them.)
"""

from __future__ import annotations

import ctypes
import weakref
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.memory import detection
from frontier.memory.arrays import HOST_BLOCKS, to_host
from frontier.memory.base import Memory
from frontier.memory.gpu import gpu
from frontier.memory.pinned import PinnedMemory
from frontier.memory.shortage import HINT

__all__ = ["MixedMemory"]

#: Bytes of a piece; the driver maps multiples of 2 MiB.
PIECE = 1 << 23


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
        return values if detection.simulated() else mixed(values, self.index, self.share)

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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MixedMemory) and (self.index, self.share) == (other.index, other.share)

    def __hash__(self) -> int:
        return hash((self.index, self.share))

    def __repr__(self) -> str:
        return f"MixedMemory({self.index}, {self.share})"

    def __reduce__(self) -> tuple[Any, ...]:
        return MixedMemory, (self.index, self.share)


def mixed(values: np.ndarray, index: int, share: float) -> Any:
    """Return an array of NumPy as one of CuPy of which a share lies on the GPU."""
    cupy = detection.cupy()
    if values.size == 0:
        return cupy.empty(values.shape, values.dtype)
    block = _Block(values.nbytes, index, share)
    block.fill(values.reshape(-1).view(np.uint8))
    HOST_BLOCKS[block.address] = block
    memory = cupy.cuda.UnownedMemory(block.address, values.nbytes, block, index)
    return cupy.ndarray(values.shape, values.dtype, cupy.cuda.MemoryPointer(memory, 0))


class _Block:
    """A range of addresses, to which pieces of both memories are mapped; freed when the last array in it is gone."""

    def __init__(self, size: int, index: int, share: float) -> None:
        from cuda.bindings import driver

        self._driver, self.size = driver, size
        number = -(-size // PIECE)
        bounds = [round(i * share) for i in range(number + 1)]
        self.resident = [bounds[i + 1] > bounds[i] for i in range(number)]
        device, host = _location(driver, True, index), _location(driver, False, 0)
        self.address = int(_done(driver.cuMemAddressReserve(number * PIECE, 0, 0, 0)))
        mapped: list[int] = []
        weakref.finalize(self, _free, driver, self.address, number * PIECE, mapped).atexit = False
        for i, resident in enumerate(self.resident):
            at = self.address + i * PIECE
            properties = driver.CUmemAllocationProp()
            properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
            properties.location = device if resident else host
            handle = _done(driver.cuMemCreate(PIECE, properties, 0))
            try:
                _done(driver.cuMemMap(at, PIECE, 0, handle, 0))
                mapped.append(at)
            finally:
                _done(driver.cuMemRelease(handle))  # a mapped piece stays until it is unmapped
            _allow(driver, at, [device] if resident else [device, host])

    def fill(self, data: np.ndarray) -> None:
        """Copy bytes to the pieces."""
        for i, resident in enumerate(self.resident):
            part = data[i * PIECE : (i + 1) * PIECE]
            at = self.address + i * PIECE
            if resident:
                _done(self._driver.cuMemcpyHtoD(at, part.ctypes.data, part.nbytes))
            else:
                ctypes.memmove(at, part.ctypes.data, part.nbytes)

    def array(self, values: Any) -> np.ndarray:
        """Return a copy on the host of an array in this range."""
        data = np.empty(self.size, np.uint8)
        for i, resident in enumerate(self.resident):
            part = data[i * PIECE : (i + 1) * PIECE]
            at = self.address + i * PIECE
            if resident:
                _done(self._driver.cuMemcpyDtoH(part.ctypes.data, at, part.nbytes))
            else:
                ctypes.memmove(part.ctypes.data, at, part.nbytes)
        return np.ndarray(values.shape, values.dtype, data, values.data.ptr - self.address, values.strides)


def _location(driver: Any, device: bool, index: int) -> Any:
    made, kinds = driver.CUmemLocation(), driver.CUmemLocationType
    made.type = kinds.CU_MEM_LOCATION_TYPE_DEVICE if device else kinds.CU_MEM_LOCATION_TYPE_HOST_NUMA
    made.id = index
    return made


def _allow(driver: Any, address: int, locations: list[Any]) -> None:
    """Let some processors read and write a piece."""
    found = []
    for location in locations:
        access = driver.CUmemAccessDesc()
        access.location = location
        access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        found.append(access)
    _done(driver.cuMemSetAccess(address, PIECE, found, len(found)))


def _free(driver: Any, address: int, size: int, mapped: list[int]) -> None:
    driver.cuCtxSynchronize()
    for at in mapped:
        driver.cuMemUnmap(at, PIECE)
    driver.cuMemAddressFree(address, size)


def _done(result: tuple[Any, ...]) -> Any:
    """Return the value of a call of the driver, or raise what its error means."""
    error, *values = result
    if int(error) == 2:  # CUDA_ERROR_OUT_OF_MEMORY
        raise MemoryError("the driver has no memory for the edges of a graph")
    if int(error) != 0:
        raise GraphError(
            f"edges='auto' needs memory of GPU and host at one range of addresses, which CUDA does not give here "
            f"({error!s}); edges='host' works without"
        )
    return values[0] if values else None
