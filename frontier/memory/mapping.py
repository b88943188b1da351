"""Ranges of addresses to which pieces of memory are mapped, of several GPUs or of a GPU and the host.

Kernels see one array, and read each piece at the speed of the memory in which it is. (CUDA's virtual memory management:
addresses are reserved, and pieces of memory are mapped to them.)
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from frontier.errors import GraphError

__all__ = ["Addresses", "descriptors", "device_location", "done", "granularity", "host_location"]


class Addresses:
    """A range of addresses; freed, with the memory that is mapped to it, when nobody has this object any more.

    Parameters
    ----------
    driver : module
        ``cuda.bindings.driver``.
    size : int
        Bytes, a multiple of what the driver maps at a time.
    devices : sequence of int
        The GPUs whose kernels use it.
    what : str
        What needs it, for the message if CUDA does not give it.
    """

    def __init__(self, driver: Any, size: int, devices: Sequence[int], what: str) -> None:
        self._driver, self._what = driver, what
        self.start = int(done(driver.cuMemAddressReserve(size, 0, 0, 0), what))
        self._mapped: list[tuple[int, int]] = []
        weakref.finalize(self, _free, driver, self.start, size, self._mapped, tuple(devices)).atexit = False

    def map(self, at: int, size: int, where: Any, readers: Sequence[Any]) -> None:
        """Map memory of one location to bytes from ``at`` on, for processors at some locations to read and write."""
        handle = self.created(size, where)
        self.keep(at, size, handle, readers)

    def keep(self, at: int, size: int, memory: Any, readers: Sequence[Any]) -> None:
        """The same with memory that there is, which is kept as long as it is mapped here."""
        try:
            self.place(at, size, memory)
            self._mapped.append((self.start + at, size))
        finally:
            self.released(memory)
        self.allow(at, size, readers)

    def created(self, size: int, where: Any, exported: bool = False) -> Any:
        """Return memory of one location, which is mapped nowhere; ``exported``: of which there can be a descriptor."""
        properties = self._driver.CUmemAllocationProp()
        properties.type = self._driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location = where
        if exported:
            properties.requestedHandleTypes = descriptors(self._driver)
        return done(self._driver.cuMemCreate(size, properties, 0), self._what)

    def place(self, at: int, size: int, memory: Any) -> None:
        """Map memory to bytes from ``at`` on."""
        done(self._driver.cuMemMap(self.start + at, size, 0, memory, 0), self._what)

    def released(self, memory: Any) -> None:
        """Keep memory only as long as it is mapped."""
        done(self._driver.cuMemRelease(memory), self._what)

    def allow(self, at: int, size: int, readers: Sequence[Any]) -> None:
        """Let processors at some locations read and write what is mapped to bytes from ``at`` on."""
        found = []
        for reader in readers:
            access = self._driver.CUmemAccessDesc()
            access.location = reader
            access.flags = self._driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            found.append(access)
        done(self._driver.cuMemSetAccess(self.start + at, size, found, len(found)), self._what)


def descriptors(driver: Any) -> Any:
    """Return the kind of handles by which processes give each other memory: file descriptors."""
    return driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


def device_location(driver: Any, index: int) -> Any:
    """Return the location of a GPU's memory."""
    made = driver.CUmemLocation()
    made.type, made.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, index
    return made


def host_location(driver: Any) -> Any:
    """Return the location of the host's memory."""
    made = driver.CUmemLocation()
    made.type, made.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA, 0
    return made


def granularity(driver: Any, index: int, what: str) -> int:
    """Return the bytes of which pieces of a GPU's memory are multiples."""
    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location = device_location(driver, index)
    least = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    return int(done(driver.cuMemGetAllocationGranularity(properties, least), what))


def done(result: tuple[Any, ...], what: str) -> Any:
    """Return the value of a call of the driver, or raise what its error means."""
    error, *values = result
    if int(error) == 2:  # CUDA_ERROR_OUT_OF_MEMORY
        raise MemoryError("the driver has no memory for an array")
    if int(error) != 0:
        raise GraphError(f"{what}, which CUDA does not give here ({error!s})")
    return values[0] if values else None


def _free(driver: Any, start: int, size: int, mapped: list[tuple[int, int]], devices: tuple[int, ...]) -> None:
    for index in dict.fromkeys(devices):  # wait for kernels that may still use it
        _, device = driver.cuDeviceGet(index)
        error, context = driver.cuDevicePrimaryCtxRetain(device)
        if int(error) == 0:  # else the GPU is lost
            driver.cuCtxPushCurrent(context)
            driver.cuCtxSynchronize()
            driver.cuCtxPopCurrent()
            driver.cuDevicePrimaryCtxRelease(device)
    for at, length in mapped:
        driver.cuMemUnmap(at, length)
    driver.cuMemAddressFree(start, size)
