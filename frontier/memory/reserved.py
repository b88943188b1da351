"""Arrays of which only the part that is written takes memory."""

from __future__ import annotations

import errno
import mmap
import sys
from typing import Any

import numpy as np

from frontier.errors import FrontierMemoryError
from frontier.memory import limits
from frontier.memory.shortage import HINT, lacking

__all__ = ["reserved", "written"]

#: Python 3.13 knows it by name.
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)

#: What Linux says of a page of memory; and the bytes of a gap below which two written parts are taken for one.
_ENTRY, _GAP = np.dtype(np.uint64), 1 << 20


def reserved(length: int, dtype: Any) -> Any:
    """Return an array of zeros that takes addresses only; each page of it takes memory when it is first written.

    It may be longer than there is memory, which ``numpy.zeros`` refuses.

    Raises
    ------
    FrontierMemoryError
        There are not so many addresses, as under ``ulimit -v``.
    """
    made = np.dtype(dtype)
    size = max(length * made.itemsize, 1)
    if not hasattr(mmap, "MAP_PRIVATE"):  # on Windows
        return np.zeros(length, made)
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE)
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        free, where = limits.free()
        raise lacking(FrontierMemoryError, size, free, "an array of a graph in parts", HINT, where) from None
    return np.frombuffer(pages, made, length)


def written(array: Any) -> list[slice]:
    """Return slices of the first axis outside which an array has nothing but zeros, as far as the system knows.

    Of an array that :func:`reserved` has returned, or of a view of one, these are the pages that take memory; of any
    other array it is all of it.
    """
    width = array.nbytes // len(array) if len(array) else 0
    pages = _pages(array) if width else None
    if pages is None:
        return [slice(0, len(array))]
    at = _address(array)
    cuts = np.flatnonzero(np.diff(np.concatenate([[False], pages, [False]])))
    found: list[slice] = []
    for begin, end in cuts.reshape(-1, 2):
        first = max(0, (int(begin) * mmap.PAGESIZE - at % mmap.PAGESIZE) // width)
        last = min(len(array), -(-(int(end) * mmap.PAGESIZE - at % mmap.PAGESIZE) // width))
        if found and (first - found[-1].stop) * width < _GAP:
            first = found.pop().start
        found.append(slice(first, last))
    return found


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _pages(array: Any) -> Any:
    """For each page of an array whether it takes memory; None if it is no part of a reserved one, or not known."""
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    if not isinstance(base, mmap.mmap) or not array.flags.c_contiguous:
        return None
    try:
        if not _take_memory(np.ones(1)).all():  # which it does, so nothing is told of pages here
            return None
        return _take_memory(array)
    except (OSError, EOFError):  # there is no such file, or it is closed to us
        return None


def _take_memory(array: Any) -> Any:
    """For each page of an array whether it is in memory or swapped out, as Linux says."""
    at = _address(array)
    first, end = at // mmap.PAGESIZE, -(-(at + array.nbytes) // mmap.PAGESIZE)
    with open("/proc/self/pagemap", "rb") as file:
        file.seek(first * _ENTRY.itemsize)
        entries = np.frombuffer(file.read((end - first) * _ENTRY.itemsize), _ENTRY)
    if len(entries) < end - first:
        raise EOFError
    return entries >> np.uint64(62) > 0
