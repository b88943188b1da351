"""Packed files: gzip, bzip2, xz, Zstandard, and ZIP archives of one file; by suffix, and by their first bytes.

All are unpacked as streams, of which a part is in memory at a time, however much comes out of a few bytes.
"""

from __future__ import annotations

import gzip
import importlib
import io
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BufferedReader
from typing import Any

from frontier.errors import GraphError

__all__ = ["DAMAGE", "PACKINGS", "DamagedError", "Packing", "member_of", "packing_of"]

_PART = 1 << 16  # packed bytes that are read at a time
_UNPACKED = 1 << 20  # bytes of a stream that are unpacked at a time
_FED = 1 << 8  # packed bytes that zstandard gets at a time, of which it makes at most 2**15 times as many
_DICTIONARY = 1 << 28  # bytes of memory that xz may take
_DEFLATED = 1032  # times that data can be longer than what "deflate" makes of it


class DamagedError(Exception):
    """What is read is no whole file of a packing."""


@dataclass(frozen=True)
class Packing:
    """One way of packing a file.

    Parameters
    ----------
    name : str
        What messages call it.
    begin : bytes
        What such files begin with.
    read : callable
        ``read(path, file)`` gives the unpacked bytes as a stream. Damage is a :class:`DamagedError` or one of
        ``zlib.error``, ``gzip.BadGzipFile`` and ``zipfile.BadZipFile``, and an EOFError where the end is missing.
    write : callable, optional
        ``write(file)`` gives a file to write to, which packs.
    """

    name: str
    begin: bytes
    read: Callable[[str, BufferedReader], Any]
    write: Callable[[Any], AbstractContextManager[Any]] | None = None


class _Frames(io.RawIOBase):
    """The bytes in one frame or several, one after another, of a packing.

    Parameters
    ----------
    file : file
        The packed bytes.
    new : callable
        Makes a decompressor like those of :mod:`bz2`, which is used for one frame.
    errors : tuple of exceptions
        What it raises of damage.
    """

    def __init__(self, file: Any, new: Callable[[], Any], errors: tuple[type[Exception], ...]) -> None:
        self._file, self._new, self._errors = file, new, errors
        self._frame, self._at = new(), 0

    def readable(self) -> bool:
        """Whether it is there to be read."""
        return True

    def tell(self) -> int:
        """How many bytes have come out."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Unpack some bytes."""
        while True:
            packed = b""
            if self._frame.eof:
                packed = self._after_frame()
                if not packed:
                    return 0
                self._frame = self._new()
            elif self._frame.needs_input:
                packed = self._file.read(_PART)
                if not packed:
                    raise EOFError
            try:
                data = self._frame.decompress(packed, len(buffer))
            except self._errors as error:
                raise DamagedError(str(error)) from None
            if data:
                buffer[: len(data)] = data
                self._at += len(data)
                return len(data)

    def _after_frame(self) -> bytes:
        """What follows the frame, without the zeros that xz may pad with."""
        packed: bytes = self._frame.unused_data.lstrip(b"\0")
        while not packed and (more := self._file.read(_PART)):
            packed = more.lstrip(b"\0")
        return packed


class _ZstandardFrame:
    """A decompressor of the package zstandard, of which no more comes out than is asked for."""

    def __init__(self, frame: Any) -> None:
        self._frame, self._in, self._out = frame, memoryview(b""), b""

    @property
    def eof(self) -> bool:
        """Whether the end of the frame has come out."""
        return bool(self._frame.eof) and not self._out

    @property
    def unused_data(self) -> bytes:
        """What follows the frame."""
        return bytes(self._frame.unused_data) + bytes(self._in)

    @property
    def needs_input(self) -> bool:
        """Whether all that was put in has come out."""
        return not self._in and not self._out and not self.eof

    def decompress(self, data: bytes, size: int) -> bytes:
        """Put something in, and take at most so many bytes out."""
        self._in = memoryview(bytes(self._in) + data) if data else self._in
        while not self._out and self._in and not self._frame.eof:
            fed, self._in = self._in[:_FED], self._in[_FED:]
            self._out = self._frame.decompress(fed)
        found, self._out = self._out[:size], self._out[size:]
        return found


def _stream(file: Any, new: Callable[[], Any], *errors: type[Exception]) -> BufferedReader:
    return BufferedReader(_Frames(file, new, errors), _UNPACKED)


def _own(name: str) -> Any:
    """A module of Python, which some are built without."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise GraphError(f"this Python is built without {name}, which unpacks the file: unpack it first") from None


def _read_bzip2(path: str, file: BufferedReader) -> BufferedReader:
    return _stream(file, _own("bz2").BZ2Decompressor, OSError)


def _read_xz(path: str, file: BufferedReader) -> BufferedReader:
    lzma = _own("lzma")
    return _stream(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_DICTIONARY), lzma.LZMAError)


def _zstandard() -> Any:
    """The module that knows Zstandard: of Python from 3.14 on, or a package."""
    name = "compression.zstd" if sys.version_info >= (3, 14) else "zstandard"
    try:
        return importlib.import_module(name)
    except ImportError:
        raise GraphError("files packed by Zstandard need it: pip install zstandard") from None


def _read_zstandard(path: str, file: BufferedReader) -> BufferedReader:
    module = _zstandard()
    own = hasattr(module, "ZstdFile")  # Python's
    new = module.ZstdDecompressor if own else lambda: _ZstandardFrame(module.ZstdDecompressor().decompressobj())
    return _stream(file, new, module.ZstdError)


def _write_zstandard(file: Any) -> Any:
    module = _zstandard()
    if hasattr(module, "ZstdFile"):
        return module.ZstdFile(file, "wb", options={module.CompressionParameter.checksum_flag: 1})
    return _Written(module.ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False))


class _Written(io.RawIOBase):
    """A file to write to in the place of one that has little more than ``write`` and ``close``."""

    def __init__(self, into: Any) -> None:
        self._into = into

    def writable(self) -> bool:
        """Whether it is there to be written."""
        return True

    def write(self, data: Any) -> int:
        """Pack some bytes."""
        self._into.write(data)
        return len(data)

    def close(self) -> None:
        """Write what is left."""
        if not self.closed:
            self._into.close()
        super().close()


def _read_zip(path: str, file: BufferedReader) -> Any:
    archive, member = member_of(path, file)
    if member.flag_bits & 1:
        raise GraphError(f"{path}: {member.filename} in it is encrypted: unpack it first")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise GraphError(f"{path}: {member.filename} in it is packed neither plainly nor by deflate: unpack it first")
    most = member.compress_size * (_DEFLATED if member.compress_type == zipfile.ZIP_DEFLATED else 1)
    if member.file_size > most:
        claim = f"expected at most {most:,} bytes of {member.filename}, found a claim of {member.file_size:,}"
        raise GraphError(f"{path}: {claim}")
    try:
        return archive.open(member)
    except (zipfile.BadZipFile, NotImplementedError, struct.error) as error:
        raise GraphError(f"{path}: expected a ZIP archive, found something else ({error})") from None


def member_of(path: str, file: BufferedReader) -> tuple[zipfile.ZipFile, zipfile.ZipInfo]:
    """A ZIP archive and the one file in it."""
    if not file.seekable():
        raise GraphError(f"{path}: the index of a ZIP archive is at its end: pipe .gz, or write it to a file first")
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
        raise GraphError(f"{path}: expected a ZIP archive, found something else ({error})") from None
    there = [member for member in archive.infolist() if not member.is_dir()]
    if len(there) != 1:
        raise GraphError(f"{path}: expected one file in the archive, found {len(there)}: unpack it first")
    return archive, there[0]


#: Suffix of a file's name -> how it is packed.
PACKINGS = {
    "gz": Packing(
        "gzip", b"\x1f\x8b", lambda path, file: gzip.GzipFile(fileobj=file),
        lambda file: gzip.GzipFile("", "wb", 6, file, mtime=0),
    ),
    "bz2": Packing("bzip2", b"BZh", _read_bzip2, lambda file: _own("bz2").BZ2File(file, "wb")),
    "xz": Packing("xz", b"\xfd7zXZ\0", _read_xz, lambda file: _own("lzma").LZMAFile(file, "wb")),
    "zst": Packing("Zstandard", b"\x28\xb5\x2f\xfd", _read_zstandard, _write_zstandard),
    "zip": Packing("ZIP", b"PK\x03\x04", _read_zip),
}  # fmt: skip

#: What reading raises of damage.
DAMAGE = (DamagedError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile)


def packing_of(file: BufferedReader) -> str:
    """How a file is packed, of which nothing has been read, by its first bytes; empty if it is not."""
    begin = file.peek(10)[:10]
    for suffix, packing in PACKINGS.items():
        if begin.startswith(packing.begin):
            block = begin[4:10] in (b"1AY&SY", b"\x17rE8P\x90")  # or a text that begins with BZh
            return suffix if suffix != "bz2" or block else ""
    return ""
