"""Arrays of which each of several GPUs has a stretch in its memory, at addresses that are the same on all of them.

Every GPU reads the whole array: its own stretch at the speed of its memory, those of the others over the links between
GPUs. To CuPy, it is an array on the first of them.

The memory of arrays that are made again and again, such as fields of problems, is kept for the next one that is alike.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.memory import detection, kept
from frontier.memory.gpu import gpu
from frontier.memory.mapping import Addresses, device_location, granularity

__all__ = ["empty", "is_spread", "possible", "seen_by"]

_WHAT = "arrays over several GPUs need memory of all at one range of addresses"

#: Bytes after the last element that kernels may load and not use.
AFTER = 64

#: Of each GPU's memory, one of so many bytes may be kept for later arrays.
ONE_IN = 16

#: What arrays of CuPy lie in, by its address.
_blocks: weakref.WeakValueDictionary[int, _Use] = weakref.WeakValueDictionary()


def empty(
    length: int,
    dtype: Any,
    bounds: Sequence[int],
    devices: Sequence[int],
    keep: bool = False,
    check: Callable[[], None] | None = None,
) -> Any:
    """Return an array whose elements from ``bounds[i]`` to ``bounds[i + 1]`` lie in the memory of ``devices[i]``.

    Up to a megabyte of a stretch may lie with a neighbour. A GPU that is named twice has two stretches.

    Parameters
    ----------
    length : int
    dtype : dtype
    bounds, devices : sequence of int
    keep : bool
        Whether to take memory of an earlier array that is alike, and to keep it afterwards. GPUs may still be using it:
        they are to be waited for before anything is written there.
    check : function, optional
        Called before new memory is taken, to raise if there is no room.
    """
    if detection.simulated():
        return np.empty(length, dtype)
    cupy, made = detection.cupy(), np.dtype(dtype)
    if length == 0:
        return cupy.empty(0, made)
    size, cuts = length * made.itemsize, [bound * made.itemsize for bound in bounds]
    use = _Use(size, cuts, devices, keep, check or _unchecked)
    _blocks[use.block.start] = use
    memory = cupy.cuda.UnownedMemory(use.block.start, size, use, devices[0])
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


def _unchecked() -> None:
    """Let memory be taken without a check."""


class _Use:
    """What an array holds as long as it uses a block: its own one, or one that is kept for others afterwards."""

    def __init__(
        self, size: int, cuts: Sequence[int], devices: Sequence[int], keep: bool, check: Callable[[], None]
    ) -> None:
        key = size, tuple(cuts), tuple(devices)
        found = kept.take(key) if keep else None
        if found is None:
            check()
            found = _made(size, cuts, devices)
        assert isinstance(found, _Block)
        self.block = found
        if keep:
            weakref.finalize(self, kept.put, key, found).atexit = False


def _made(size: int, cuts: Sequence[int], devices: Sequence[int]) -> _Block:
    try:
        return _Block(size, cuts, devices)
    except MemoryError:  # what is kept, also by CuPy, the driver does not find
        kept.release()
        for index in set(devices):
            with gpu(index).using():
                detection.cupy().get_default_memory_pool().free_all_blocks()
        return _Block(size, cuts, devices)


class _Block(Addresses):
    """A range of addresses with memory of several GPUs.

    Attributes
    ----------
    sizes, most : dict of int to int
        Its bytes on each of them, and how many may be kept there.
    """

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
        self.sizes, self.most = dict.fromkeys(different, 0), {index: _most(index) for index in different}
        readers = [device_location(driver, index) for index in different]
        for index, (first, end) in zip(devices, itertools.pairwise(cuts), strict=True):
            if end > first:
                self.sizes[index] += (end - first) * piece
                self.map(first * piece, (end - first) * piece, device_location(driver, index), readers)


@cache
def _most(index: int) -> int:
    """How many bytes of a GPU may be kept for later arrays."""
    with gpu(index).using():
        return int(detection.runtime().memGetInfo()[1]) // ONE_IN
