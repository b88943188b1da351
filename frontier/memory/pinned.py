"""Memory of the host that a GPU reads itself, over its link: page-locked ("pinned") and mapped for the GPU.

Its arrays are CuPy's, so that all that works with arrays of a GPU works with them; a kernel that reads one reads the
host's memory, at the speed of the link. Large arrays of NumPy are pinned where they lie, without a copy.
"""

from __future__ import annotations

import weakref
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from frontier.errors import FrontierMemoryError
from frontier.memory import detection, limits
from frontier.memory.arrays import HOST_BLOCKS, adopt, is_device, to_host
from frontier.memory.base import Memory
from frontier.memory.gpu import gpu

__all__ = ["PinnedMemory", "buffer"]

#: From how many bytes on an array is pinned where it lies. The system gives so large a block pages of its own, which no
#: other array shares; smaller ones are copied.
IN_PLACE = 1 << 22

#: For ``cudaHostRegister`` and ``cudaHostAlloc``: known to all GPUs, and at addresses that these can read (from
#: driver_types.h).
_PORTABLE_MAPPED = 1 | 2


class PinnedMemory(Memory):
    """The host's memory as one GPU reads it.

    Parameters
    ----------
    index : int
        The number by which CUDA knows the GPU in this process.
    """

    __slots__ = ("index",)

    residence = "host"
    small = 1 << 24
    hint = "edges='disk' leaves them in files; narrower dtypes or fewer arrays in use would help, too"

    def __init__(self, index: int) -> None:
        self.index = index

    @property
    def xp(self) -> Any:
        """CuPy, or what stands in for it."""
        return gpu(self.index).xp

    def full(self, length: int, value: Any, dtype: Any) -> Any:
        """Return an array filled with one value."""
        made = np.empty(length, dtype)
        made.fill(value)
        return self.moved(made)

    def moved(self, values: Any, copy: bool = False) -> Any:
        """Return an array of the GPU's library that lies in pinned memory; what is no number stays as it is.

        ``copy`` asks for an array of its own in another memory; here an array of the host may be shared, as arrays of
        graphs do not change.
        """
        if is_device(values) and _lies_here(values):
            return values
        values = to_host(values)
        if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
            return values
        values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
        return values if detection.simulated() else mapped(values, self.index)

    def left(self, enough: int | None = None) -> tuple[int, str]:
        """Bytes of the host's memory that this process could still have."""
        return limits.free()

    def using(self, what: str = "an array") -> AbstractContextManager[None]:
        """Return a context manager that makes the GPU current."""
        return gpu(self.index).using(what)

    def synchronize(self) -> None:
        """Wait until the GPU has nothing to do."""
        gpu(self.index).synchronize()

    def for_gpu(self, index: int) -> PinnedMemory:
        """Return the host's memory as another GPU reads it."""
        return PinnedMemory(index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PinnedMemory) and self.index == other.index

    def __hash__(self) -> int:
        return hash((PinnedMemory, self.index))

    def __repr__(self) -> str:
        return f"PinnedMemory({self.index})"

    def __reduce__(self) -> tuple[Any, ...]:
        return PinnedMemory, (self.index,)


class HostBlock:
    """Pinned memory of the host, as bytes of NumPy; it is unpinned when the last array in it is gone."""

    def __init__(self, values: np.ndarray) -> None:
        runtime = detection.runtime()
        size = values.nbytes
        self.bytes = values.view(np.uint8).reshape(-1) if size >= IN_PLACE else None
        if self.bytes is not None:
            try:
                runtime.hostRegister(self.address, size, _PORTABLE_MAPPED)
            except RuntimeError:  # pages of a file, or pinned already
                self.bytes = None
            else:
                weakref.finalize(self, runtime.hostUnregister, self.address).atexit = False
        if self.bytes is None:
            try:
                # not alloc_pinned_memory, which keeps what it has given
                self._own = detection.cupy().cuda.PinnedMemory(max(size, 1), _PORTABLE_MAPPED)
            except RuntimeError as error:
                raise FrontierMemoryError(
                    f"{size:,} bytes of the host's memory cannot be pinned for a GPU ({error}): ulimit -l and the "
                    "container's memory limit it; edges='device' needs none, and edges='disk' little"
                ) from error
            memory = detection.cupy().cuda.PinnedMemoryPointer(self._own, 0)
            self.bytes = np.frombuffer(memory, np.uint8, size)
            self.bytes[:] = values.view(np.uint8).reshape(-1)

    def array(self, values: Any) -> np.ndarray:
        """Return an array in this memory as one of NumPy, without a copy; it may not be changed."""
        assert self.bytes is not None
        view = np.ndarray(values.shape, values.dtype, self.bytes, values.data.ptr - self.address, values.strides)
        view.flags.writeable = False
        return view

    @property
    def address(self) -> int:
        """Where it begins, for the host and for the GPU."""
        assert self.bytes is not None
        return int(self.bytes.ctypes.data)


def buffer(size: int) -> tuple[np.ndarray, int]:
    """Return so many bytes of pinned memory, which the host may write to, and their address for a GPU.

    They are the current GPU's; whoever has the bytes keeps them.
    """
    made = np.empty(size, np.uint8)
    if detection.simulated():
        return made, int(made.ctypes.data)
    block = HostBlock(made)
    assert block.bytes is not None
    held = block.bytes.view(_Held)
    held.block = block
    return held, block.address


class _Held(np.ndarray):
    """Bytes that keep the block in which they are."""

    block: HostBlock


def mapped(values: np.ndarray, index: int) -> Any:
    """Return an array of NumPy as one of CuPy that lies in the host's memory."""
    cupy = detection.cupy()
    if values.size == 0:
        return cupy.empty(values.shape, values.dtype)
    block = HostBlock(values)
    HOST_BLOCKS[block.address] = block
    memory = cupy.cuda.UnownedMemory(block.address, values.nbytes, block, index)
    return cupy.ndarray(values.shape, values.dtype, cupy.cuda.MemoryPointer(memory, 0))


def _lies_here(values: Any) -> bool:
    return len(HOST_BLOCKS) > 0 and int(adopt(values).data.mem.ptr) in HOST_BLOCKS
