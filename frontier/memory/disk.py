"""Arrays in files on a disk, mapped to addresses: the system reads what is used, and forgets it when memory is short.

They are NumPy's, so whatever computes on the host's arrays computes on these.
"""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from frontier.errors import GraphError
from frontier.memory import checksums, faults
from frontier.memory.arrays import to_host
from frontier.memory.base import Memory
from frontier.memory.host import HOST
from frontier.system.regular_files import open_regular

__all__ = ["DISK", "DiskMemory", "File", "file_of", "lies_on_disk", "mapped", "mapped_file", "reading", "spill_folder"]

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


class File(mmap.mmap):
    """A file that is mapped, and may be read besides: where a read fails, there is an error, and no signal."""

    _name = ""
    _number = -1
    _known: tuple[int, int] | None = None
    _range: faults.Range | None = None

    #: What its bytes must be, if that is known.
    checksums: checksums.Checksums | None = None

    @classmethod
    def of(cls, file: BinaryIO, size: int, name: str, changes: bool) -> File:
        """Map so many bytes of an open file, which may be closed then.

        Parameters
        ----------
        file : file object
        size : int
        name : str
            For messages.
        changes : bool
            Whether it may be written to.
        """
        made = cls(file.fileno(), size, access=mmap.ACCESS_WRITE if changes else mmap.ACCESS_READ)
        made._name, made._number = name, os.dup(file.fileno())
        weakref.finalize(made, os.close, made._number).atexit = False
        if not changes:
            made._known = made._seen()
            made._range = faults.Range(made, np.frombuffer(made, np.uint8).ctypes.data, size)
        return made

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name

    def check(self) -> None:
        """Raise an error if the file has become another one, or shorter, since it was opened."""
        if self._known is not None and self._seen() != self._known:
            raise GraphError(f"{self._name}: the file has changed since it was opened; open the graph again")
        if self._range is not None and self._range.lost:
            raise GraphError(f"{self._name}: the file could not be read, in part at least; open the graph again")

    def read_into(self, buffer: memoryview, first: int) -> None:
        """Fill a buffer with the bytes from ``first`` on. Other threads may do the same meanwhile."""
        done = 0
        while done < len(buffer):
            try:
                got = os.preadv(self._number, [buffer[done:]], first + done)
            except OSError as error:
                what = f"{self._name}: cannot be read at byte {first + done:,}"
                raise GraphError(f"{what}: {error.strerror}") from None
            if got == 0:
                raise GraphError(f"{self._name}: ends at byte {first + done:,}; it was longer when it was opened")
            done += got

    def _seen(self) -> tuple[int, int]:
        found = os.fstat(self._number)
        return found.st_size, found.st_mtime_ns


class reading:
    """Files that are read within a block are the same before and after it; else there is an error.

    So what was computed of a file that has changed meanwhile is not given out.

    Parameters
    ----------
    files : sequence of File
    compares : bool
        Whether they are compared with their checksums first, if they have any, and that has not been done yet.
    zeros : bool
        Whether what a file no longer has is read as zeros meanwhile, see :mod:`frontier.memory.faults`; else the system
        ends the process. Only for what does not reckon with reading the same twice, as by counting first and then
        writing as many.
    """

    __slots__ = ("_compares", "_files", "_ranges")

    def __init__(self, files: Sequence[File], zeros: bool = False, compares: bool = False) -> None:
        self._files, self._compares = files, compares
        self._ranges = [each._range for each in files if each._range is not None] if zeros else []

    def __enter__(self) -> None:
        self._check()
        if self._compares:
            checksums.compare(self._files)
        if self._ranges:
            faults.begin(self._ranges)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ranges:
            faults.end(self._ranges)
        if kind is None or issubclass(kind, Exception):  # which may come of what was read
            self._check()

    def _check(self) -> None:
        for file in self._files:
            file.check()


def file_of(values: np.ndarray) -> tuple[File, int] | None:
    """Return the file in which an array lies, and at which byte it begins; None if it lies in no file."""
    base: Any = values
    while base is not None and not isinstance(base, mmap.mmap):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    if not isinstance(base, File):
        return None
    return base, values.ctypes.data - np.frombuffer(base, np.uint8).ctypes.data


def lies_on_disk(values: Any) -> bool:
    """Whether an array, or what it is a part of, is a mapped file."""
    return isinstance(values, np.ndarray) and file_of(values) is not None


def mapped(path: str, dtype: Any, length: int) -> np.ndarray:
    """Return a file as an array, which cannot be written to."""
    if length == 0:
        return np.empty(0, dtype)
    with open_regular(path) as file:
        return mapped_file(file, path, dtype, length)


def mapped_file(file: BinaryIO, path: str, dtype: Any, length: int) -> np.ndarray:
    """Return an open file as an array, which cannot be written to."""
    if length == 0:
        return np.empty(0, dtype)
    made = File.of(file, length * np.dtype(dtype).itemsize, path, changes=False)
    return np.frombuffer(made, dtype, length)


def _file(size: int) -> np.ndarray:
    """Return a file without a name as bytes."""
    if size == 0:
        return np.empty(0, np.uint8)
    folder = spill_folder()
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            # Now, and not by a signal that ends the process when a page finds no room:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
            return np.frombuffer(File.of(file, size, f"a file in {folder}", changes=True), np.uint8)
    except OSError as error:
        what = f"{size:,} bytes cannot be written to {folder}: {error.strerror or error}"
        raise GraphError(f"{what}; {DISK.hint}") from None
