"""Arrays of which each of several GPUs has a stretch in its memory, at addresses that are the same on all of them.

Every GPU reads the whole array: its own stretch at the speed of its memory, those of the others over the links between
GPUs. To CuPy, it is an array on the first of them.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.memory import detection
from frontier.memory.gpu import gpu
from frontier.memory.mapping import Addresses, device_location, granularity

__all__ = ["empty", "is_spread", "possible", "seen_by"]

_WHAT = "arrays over several GPUs need memory of all at one range of addresses"

#: Bytes after the last element that kernels may load and not use.
AFTER = 64

#: What arrays of CuPy lie in, by its address.
_blocks: weakref.WeakValueDictionary[int, _Block] = weakref.WeakValueDictionary()


def empty(length: int, dtype: Any, bounds: Sequence[int], devices: Sequence[int]) -> Any:
    """Return an array whose elements from ``bounds[i]`` to ``bounds[i + 1]`` lie in the memory of ``devices[i]``.

    Up to a megabyte of a stretch may lie with a neighbour. A GPU that is named twice has two stretches.
    """
    if detection.simulated():
        return np.empty(length, dtype)
    cupy, made = detection.cupy(), np.dtype(dtype)
    if length == 0:
        return cupy.empty(0, made)
    size, cuts = length * made.itemsize, [bound * made.itemsize for bound in bounds]
    try:
        block = _Block(size, cuts, devices)
    except MemoryError:  # CuPy keeps what it has freed, where the driver does not find it
        for index in set(devices):
            with gpu(index).using():
                cupy.get_default_memory_pool().free_all_blocks()
        block = _Block(size, cuts, devices)
    _blocks[block.start] = block
    memory = cupy.cuda.UnownedMemory(block.start, size, block, devices[0])
    return cupy.ndarray(length, made, cupy.cuda.MemoryPointer(memory, 0))


def is_spread(array: Any) -> bool:
    """Whether an array is, or is a part of, one that :func:`empty` has returned."""
    if isinstance(array, np.ndarray) or not _blocks:
        return False
    return int(array.data.mem.ptr) in _blocks


def seen_by(array: Any, index: int) -> Any:
    """Return the same memory as an array of another GPU."""
    if isinstance(array, np.ndarray) or array.device.id == index:
        return array
    cupy = detection.cupy()
    if array.size == 0:
        with cupy.cuda.Device(index):
            return cupy.empty(array.shape, array.dtype)
    memory = cupy.cuda.UnownedMemory(int(array.data.ptr), array.nbytes, array, index)
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0), array.strides)


@cache
def possible(devices: tuple[int, ...]) -> bool:
    """Whether these GPUs can read each other's memory at one range of addresses, which is tried once."""
    if detection.simulated():
        return True
    try:
        with gpu(devices[0]).using():
            _Block(len(devices) << 21, [part << 21 for part in range(len(devices) + 1)], devices)
    except (GraphError, ImportError):
        return False
    return True


class _Block(Addresses):
    """A range of addresses with memory of several GPUs."""

    def __init__(self, size: int, bounds: Sequence[int], devices: Sequence[int]) -> None:
        from cuda.bindings import driver

        different = list(dict.fromkeys(devices))
        for index in different:
            with gpu(index).using():
                detection.runtime().deviceSynchronize()  # which makes its context, if there is none yet
        piece = max(granularity(driver, index, _WHAT) for index in different)
        number = -(-(size + AFTER) // piece)
        cuts = [0, *(min(round(bound / piece), number) for bound in bounds[1:-1]), number]
        super().__init__(driver, number * piece, different, _WHAT)
        readers = [device_location(driver, index) for index in different]
        for index, (first, end) in zip(devices, itertools.pairwise(cuts), strict=True):
            if end > first:
                self.map(first * piece, (end - first) * piece, device_location(driver, index), readers)
