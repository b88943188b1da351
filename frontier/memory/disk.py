"""Arrays in files on a disk, mapped to addresses: the system reads what is used, and forgets it when memory is short.

They are NumPy's, so whatever computes on the host's arrays computes on these.
"""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.memory.arrays import to_host
from frontier.memory.base import Memory
from frontier.memory.host import HOST

__all__ = ["DISK", "DiskMemory", "lies_on_disk", "mapped", "spill_folder"]

#: Bytes that are written at a time.
_BLOCK = 1 << 26


class DiskMemory(Memory):
    """Files of this process: they have no names, and are gone when the last array in them is."""

    __slots__ = ()

    residence = "disk"
    small = 1 << 24
    hint = "the environment variable FRONTIER_SPILL_DIR names another folder"

    @property
    def xp(self) -> Any:
        """NumPy."""
        return np

    def full(self, length: int, value: Any, dtype: Any) -> Any:
        """Return an array filled with one value."""
        made = _file(length * np.dtype(dtype).itemsize).view(dtype)
        made.fill(value)
        return made

    def moved(self, values: Any, copy: bool = False) -> Any:
        """Return an array in a file, which may be that in which it is; what is no number stays as it is."""
        values = to_host(values)
        if values.dtype.hasobject or values.size == 0 or lies_on_disk(values):
            return values
        made = _file(values.nbytes).view(values.dtype)
        step = max(_BLOCK // values.itemsize, 1)
        for first in range(0, len(values), step):
            made[first : first + step] = values[first : first + step]
        return made

    def left(self, enough: int | None = None) -> tuple[int, str]:
        """Free bytes on the disk."""
        folder = spill_folder()
        return shutil.disk_usage(folder).free, f" in {folder}"

    def using(self, what: str = "an array") -> AbstractContextManager[None]:
        """Return a context manager that turns running out of memory into our error."""
        return HOST.using(what)

    def __repr__(self) -> str:
        return "DISK"

    def __reduce__(self) -> str:
        return "DISK"


#: The one there is.
DISK = DiskMemory()


def spill_folder() -> str:
    """Return the folder for files of this process: ``FRONTIER_SPILL_DIR``, or the system's for temporary files."""
    folder = os.environ.get("FRONTIER_SPILL_DIR") or tempfile.gettempdir()
    if not os.path.isdir(folder):
        raise GraphError(f"FRONTIER_SPILL_DIR={folder!r} is not a folder")
    return folder


def lies_on_disk(values: Any) -> bool:
    """Whether an array, or what it is a part of, is a mapped file."""
    while values is not None:
        if isinstance(values, mmap.mmap):
            return True
        if isinstance(values, memoryview):
            values = values.obj
        else:
            values = getattr(values, "base", None)
    return False


def mapped(path: str, dtype: Any, length: int) -> np.ndarray:
    """Return a file as an array, which cannot be written to."""
    if length == 0:
        return np.empty(0, dtype)
    with open(path, "rb") as file:
        memory = mmap.mmap(file.fileno(), length * np.dtype(dtype).itemsize, access=mmap.ACCESS_READ)
    return np.frombuffer(memory, dtype, length)


def _file(size: int) -> np.ndarray:
    """Return a file without a name as bytes."""
    if size == 0:
        return np.empty(0, np.uint8)
    with tempfile.TemporaryFile(dir=spill_folder()) as file:
        # Now, and not by a signal that ends the process when a page finds no room:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        return np.frombuffer(mmap.mmap(file.fileno(), size), np.uint8)
