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

__all__ = ["reserved"]

#: Python 3.13 knows it by name.
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


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
