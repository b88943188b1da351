"""Lists of the elements of large arrays that do not have the usual value.

On a GPU that is one kernel, which appends by one atomic for each warp: CuPy's functions take several passes over arrays
of the same length. Elsewhere NumPy does the same. Lists are in no particular order.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontier.memory import detection

if TYPE_CHECKING:
    from frontier.memory.base import Memory

__all__ = ["Differing", "adopt", "copy", "differing", "fill"]

#: ``T`` holds an element's bits, ``ID`` an element's number.
_SOURCE = r"""
__device__ long long place(bool taken, unsigned long long *count) {
    unsigned int lanes = __ballot_sync(~0u, taken), lane = threadIdx.x & 31;
    unsigned long long first = 0;
    if (lane == 0 && lanes) first = atomicAdd(count, (unsigned long long)__popc(lanes));
    return __shfl_sync(~0u, first, 0) + __popc(lanes & ((1u << lane) - 1));
}
#define EACH(n) for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, \
    end = ((n) + 31) / 32 * 32; i < end; i += gridDim.x * (long long)blockDim.x)

extern "C" __global__ void differing(const Bits *array, long long stride, long long n, Bits usual,
                                     Number *ids, Bits *values, unsigned long long *count, unsigned long long room) {
    EACH(n) {
        Bits value = i < n ? array[i * stride] : usual;
        bool taken = value != usual;
        // Once there are too many, nobody asks how many.
        if (!__any_sync(~0u, taken) || *(volatile unsigned long long *)count > room) taken = false;
        long long at = place(taken, count);
        if (taken && at < room) { ids[at] = i; values[at] = value; }
    }
}
extern "C" __global__ void fill(Bits *array, long long stride, long long n, Bits usual) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
        array[i * stride] = usual;
}
extern "C" __global__ void copy(Bits *array, long long stride, const Bits *other, long long its_stride, long long n) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
        array[i * stride] = other[i * its_stride];
}
extern "C" __global__ void adopt(Bits *array, long long stride, const Bits *other, long long its_stride,
                                 long long first, long long end, const Number *ids, const Bits *values,
                                 const unsigned long long *count, unsigned long long room) {
    unsigned long long start = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x, found = *count;
    unsigned long long step = gridDim.x * (unsigned long long)blockDim.x;
    if (found <= room) {
        for (unsigned long long i = start; i < found; i += step) {
            long long at = ids[i];
            if (at >= first && at < end) array[at * stride] = values[i];
        }
    } else {
        for (long long i = first + start; i < end; i += step) array[i * stride] = other[i * its_stride];
    }
}
"""

#: Bytes of an element -> a type of as many.
_BITS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}

_THREADS, _BLOCKS = 256, 2048


@cache
def _module(device: int, element: int, identifier: int) -> Any:
    types = f"typedef {_BITS[element]} Bits; typedef {_BITS[identifier]} Number;"
    return detection.cupy().RawModule(code=types + _SOURCE)


def _launch(name: str, memory: Any, element: np.dtype[Any], ids: np.dtype[Any], n: int, given: Any) -> None:
    kernel = _module(memory.index, element.itemsize, ids.itemsize).get_function(name)
    kernel((max(1, min(_BLOCKS, -(-n // _THREADS))),), (_THREADS,), given)


def _on_gpu(memory: Memory) -> bool:
    return hasattr(memory.xp, "RawModule")


def _stride(array: Any) -> np.int64:
    return np.int64(array.strides[0] // array.itemsize if len(array) else 1)


def _address(array: Any) -> np.uint64:
    """Where an array lies, which may be of another GPU."""
    return np.uint64(array.data.ptr)


class Differing(NamedTuple):
    """The elements of an array that do not have its usual value, as :func:`differing` has found them.

    Attributes
    ----------
    usual : numpy.generic
        The usual value's bits.
    ids, values : array
        They; only so many as there is room for.
    count : array of shape (1,), optional
        How many there are, on the GPU itself: the host has not waited for it. None elsewhere, where there is room for
        all.
    """

    usual: Any
    ids: Any
    values: Any
    count: Any


def differing(memory: Memory, array: Any, usual: Any, room: int) -> Differing | None:
    """Find the elements whose bits are not those of a value; nothing is found if it is known that there is no room.

    On a GPU the host does not wait.
    """
    xp = memory.xp
    bits = np.array(usual, array.dtype).view(f"u{array.dtype.itemsize}")[()]
    if _on_gpu(memory):
        ids = np.dtype(np.int32 if len(array) < 1 << 31 else np.int64)
        found, values, count = xp.empty(room, ids), xp.empty(room, array.dtype), xp.zeros(1, np.uint64)
        given = (array, _stride(array), np.int64(len(array)), bits, found, values, count, np.uint64(room))
        _launch("differing", memory, array.dtype, ids, len(array), given)
        return Differing(bits, found, values, count)
    at = xp.flatnonzero(array.view(bits.dtype) != bits)
    return Differing(bits, at, array[at], None) if len(at) <= room else None


def fill(memory: Memory, array: Any, found: Differing) -> None:
    """Give all elements the usual value."""
    if _on_gpu(memory):
        given = (array, _stride(array), np.int64(len(array)), found.usual)
        _launch("fill", memory, array.dtype, found.ids.dtype, len(array), given)
    else:
        array.view(found.usual.dtype)[:] = found.usual


def copy(memory: Memory, array: Any, other: Any) -> None:
    """Copy an array to another on the same GPU.

    The driver copies to memory of several GPUs at 85 GB/s, as CuPy does by it; a kernel does at the GPU's own speed.
    """
    if _on_gpu(memory):
        given = (array, _stride(array), other, _stride(other), np.int64(len(array)))
        _launch("copy", memory, array.dtype, np.dtype(np.int32), len(array), given)
    else:
        array[...] = other


def adopt(memory: Memory, array: Any, other: Any, span: tuple[int, int], found: Differing) -> None:
    """Let elements in a range, which are filled, be those of another array; both may be of different GPUs.

    The GPU that has the other one must have finished to look for what differs.
    """
    first, end = span
    if _on_gpu(memory):
        given = (
            array, _stride(array), _address(other), _stride(other), np.int64(first), np.int64(end),
            _address(found.ids), _address(found.values), _address(found.count), np.uint64(len(found.ids)),
        )  # fmt: skip
        _launch("adopt", memory, array.dtype, found.ids.dtype, end - first, given)
        return
    at, values = memory.moved(found.ids), memory.moved(found.values)
    inside = (at >= first) & (at < end)
    array[at[inside]] = values[inside]
