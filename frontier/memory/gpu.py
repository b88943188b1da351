"""The memory of a GPU, with CuPy arrays (NumPy arrays with ``NUMBA_ENABLE_CUDASIM=1``)."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from functools import cache, partial
from types import TracebackType
from typing import Any

import numpy as np

from frontier.errors import DeviceMemoryError, FrontierMemoryError
from frontier.memory import detection, kept, limits, lost
from frontier.memory.arrays import adopt, is_device, to_host
from frontier.memory.base import Memory
from frontier.memory.shortage import lacking

__all__ = ["GpuMemory", "gpu"]


class GpuMemory(Memory):
    """The memory of one GPU; :func:`gpu` gives it.

    Parameters
    ----------
    index : int
        The number by which CUDA knows the GPU in this process.
    """

    __slots__ = ("index", "part")

    residence = "device"
    small = 1 << 28  # to ask the driver takes a millisecond
    hint = (
        "edges may stay in the host's memory, Graph.to('cuda', edges='auto'), or be spread over several GPUs, "
        "Graph.to('cuda:0,1'); narrower dtypes or fewer arrays in use on this GPU would help (Graph.memory_estimate() "
        "tells what a graph takes), and Graph.to('cpu') needs none"
    )
    error = DeviceMemoryError

    def __init__(self, index: int) -> None:
        self.index = index
        self.part = f":{index}" if index else ""

    @property
    def xp(self) -> Any:
        """CuPy, or what stands in for it."""
        return np if detection.simulated() else detection.cupy()

    def full(self, length: int, value: Any, dtype: Any) -> Any:
        """Return an array of one value."""
        made = self.empty(length, dtype)
        self.fill(made, value)
        return made

    def empty(self, shape: Any, dtype: Any) -> Any:
        """Return an array of any values; what is kept for later is freed if there is no room besides."""
        try:
            return self.xp.empty(shape, dtype)
        except MemoryError:
            kept.release()
            return self.xp.empty(shape, dtype)

    def filler(self, array: Any, value: Any) -> Callable[[], Any]:
        """Return a function that gives all elements of an array one value, for many calls."""
        if isinstance(array, np.ndarray):
            return super().filler(array, value)
        if type(value) is int and -1 <= value <= 0 and array.dtype.kind == "i":
            pattern = b"\xff" if value else b"\0"  # as nearly always; to ask NumPy takes a microsecond
        else:
            pattern = np.asarray(value, array.dtype).tobytes()
        if array.size and array.flags.c_contiguous and pattern == pattern[:1] * len(pattern):
            return partial(array.data.memset_async, pattern[0], array.nbytes)  # 0 and -1: no kernel is needed
        return super().filler(array, value)

    def moved(self, values: Any, copy: bool = False) -> Any:
        """Return an array on this GPU, which must be current; what is no number stays on the host."""
        xp = self.xp
        if xp is np:
            values = to_host(values)
            return values.copy() if copy else values
        if is_device(values):
            values = _in_one_piece(adopt(values), self.index)
            # copied from another GPU in any case
            return xp.array(values) if copy else xp.asarray(values)
        values = np.asarray(values)
        if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
            return values.copy() if copy else values
        made = self.empty(values.shape, values.dtype.newbyteorder("="))
        if values.size:
            # not xp.array, which pins as much of the host's memory
            made.set(np.ascontiguousarray(values, made.dtype))
        return made

    def left(self, enough: int | None = None) -> tuple[int, str]:
        """Bytes that the driver and CuPy's pool can still give.

        Where the pool has ``enough`` the driver is not asked, which takes it a millisecond. What is kept for later runs
        is free, too: it is given back unless there is ``enough`` without it.
        """
        where = f" on {detection.named(self.index)}"
        if detection.simulated():
            return limits.free()[0], where
        cupy = detection.cupy()
        with cupy.cuda.Device(self.index):
            pool = cupy.get_default_memory_pool()
            pooled = int(pool.free_bytes())
            if enough is not None and pooled > enough:
                return pooled, where
            free = cupy.cuda.runtime.memGetInfo()[0] + pooled
            if (enough is None or free < enough) and kept.idle_on(self.index):
                kept.release()
                free = cupy.cuda.runtime.memGetInfo()[0] + int(pool.free_bytes())
            limit = pool.get_limit()
            return int(min(free, limit - pool.used_bytes()) if limit else free), where

    def synchronize(self) -> None:
        """Wait until the GPU has nothing to do."""
        if not detection.simulated():
            with self.using():
                detection.runtime().deviceSynchronize()

    def using(self, what: str = "an array") -> _Current:
        """Return a context manager that makes the GPU current, and turns running out of its memory into our error."""
        return _Current(self, what)

    def __reduce__(self) -> tuple[Any, ...]:
        return gpu, (self.index,)


def _in_one_piece(values: Any, there: int) -> Any:
    """An array that CuPy can copy to a GPU: from another one only if it is contiguous."""
    if values.flags.c_contiguous or values.device.id == there:
        return values
    cupy = detection.cupy()
    with cupy.cuda.Device(values.device.id):
        made = cupy.ascontiguousarray(values)
        detection.runtime().deviceSynchronize()
    return made


#: Whether a thread has a context of CUDA: the driver, by which kernels are launched, makes none as the runtime does.
_thread = threading.local()


@cache
def gpu(index: int) -> GpuMemory:
    """Return the memory of a GPU, always the same object; whether there is such a GPU is not looked at."""
    return GpuMemory(index)


class _Current:
    """A GPU as the current one.

    CuPy itself frees the unused blocks of its pool and tries once more before it gives up. Here they are freed again,
    with what the failed computation has left, so that the GPU can be used afterwards.
    """

    __slots__ = ("_before", "_memory", "_what")

    def __init__(self, memory: GpuMemory, what: str) -> None:
        self._memory, self._what = memory, what
        self._before: int | None = None

    def __enter__(self) -> None:
        # A run on several GPUs comes here forty times, so this takes the runtime itself, and no object of CuPy.
        if not detection.simulated():
            index, runtime = self._memory.index, detection.runtime()
            lost.check(index)
            here = runtime.getDevice()
            if not _thread.__dict__.get("bound"):
                runtime.setDevice(here)
                _thread.bound = True
            if here != index:
                runtime.setDevice(index)
                self._before = here

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            detection.runtime().setDevice(self._before)
        if isinstance(error, RuntimeError):  # CuPy's, of the driver
            known = lost.noted(error, self._memory.index)
            if known is not None:
                raise known from None
        if isinstance(error, MemoryError) and not isinstance(error, FrontierMemoryError):
            self._explain(error)

    def _explain(self, error: MemoryError) -> None:
        traceback.clear_frames(error.__traceback__)  # whose variables hold memory of the GPU
        needed = int(getattr(error, "_size", 0))
        memory = self._memory
        kept.release()
        if not detection.simulated():
            with detection.cupy().cuda.Device(memory.index):
                detection.cupy().get_default_memory_pool().free_all_blocks()
        free, where = memory.left()
        raise lacking(memory.error, needed, free, self._what, memory.hint, where) from None
