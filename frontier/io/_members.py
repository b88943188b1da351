"""Ranges of the arrays in an ``.npz`` archive, of which nothing else is in memory.

Arrays that ``numpy.savez`` has stored are read where they lie. What ``numpy.savez_compressed`` has packed comes as a
stream, which is read from its beginning to the end of the range; the next range goes on from there.
"""

from __future__ import annotations

import struct
import threading
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.topology import Array

__all__ = ["Member", "Ranges", "header_of", "members"]

_HEADERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

_LOCAL = struct.Struct("<26xHH")  # the header before a member's bytes: lengths of its name and of more
_PART = 1 << 16  # bytes that are skipped at a time


@dataclass(frozen=True)
class Member:
    """An array in an archive.

    Attributes
    ----------
    file : str
        Its name there.
    shape, dtype
    head : int
        Bytes before its entries.
    begin : int or None
        Where in the archive its bytes begin, if they are not packed.
    """

    file: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    head: int
    begin: int | None


def header_of(path: str, member: zipfile.ZipInfo, stream: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read shape and dtype of an array, whose entries follow in the stream."""
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise GraphError(f"{path}: expected plain arrays, found {member.filename} in .npy version {version}")
    shape, _, dtype = _HEADERS[version](stream)
    return shape, dtype


def members(path: str, file: Any) -> dict[str, Member]:
    """The arrays of an archive by their names."""
    found = {}
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            with archive.open(info) as stream:
                shape, dtype = header_of(path, info, stream)
                head = stream.tell()
            begin = None
            if info.compress_type == zipfile.ZIP_STORED:
                file.seek(info.header_offset)
                begin = info.header_offset + _LOCAL.size + sum(_LOCAL.unpack(file.read(_LOCAL.size)))
            found[info.filename.removesuffix(".npy")] = Member(info.filename, shape, dtype, head, begin)
    file.seek(0)
    return found


class Ranges:
    """Arrays of one dimension, of which ranges are read; by several threads, each of which reads in order.

    Parameters
    ----------
    path : str
        The archive.
    arrays : dict of Member
    """

    def __init__(self, path: str, arrays: dict[str, Member]) -> None:
        self._path, self._arrays = path, arrays
        self._mine = threading.local()

    def read(self, name: str, lo: int, hi: int) -> Array:
        """Entries lo to hi - 1."""
        member = self._arrays[name]
        if hi <= lo:
            return np.empty(0, member.dtype)
        at, length = member.head + lo * member.dtype.itemsize, (hi - lo) * member.dtype.itemsize
        if member.begin is None:
            data = self._stream(name, at).take(at, length)
        else:
            with open(self._path, "rb") as file:
                file.seek(member.begin + at)
                data = file.read(length)
        if len(data) != length:
            raise EOFError(f"{member.file} is cut off")
        return np.frombuffer(data, member.dtype)

    def _stream(self, name: str, at: int) -> _Stream:
        """What this thread reads of an array, not yet beyond a byte."""
        streams: dict[str, _Stream] = self._mine.__dict__.setdefault("streams", {})
        if name not in streams or streams[name].at > at:
            if name in streams:
                streams.pop(name).close()
            streams[name] = _Stream(self._path, self._arrays[name].file)
        return streams[name]


class _Stream:
    """The unpacked bytes of one member."""

    def __init__(self, path: str, member: str) -> None:
        self._archive = zipfile.ZipFile(path)
        self._bytes = self._archive.open(member)
        self.at = 0

    def take(self, at: int, length: int) -> bytes:
        """Skip to a byte, and read from there."""
        while self.at < at:
            skipped = len(self._bytes.read(min(_PART, at - self.at)))
            if not skipped:
                return b""
            self.at += skipped
        data = self._bytes.read(length)
        self.at += len(data)
        return data

    def close(self) -> None:
        """Close the archive."""
        self._bytes.close()
        self._archive.close()
