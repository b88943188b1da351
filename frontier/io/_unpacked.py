"""Ranges of the lines of a packed text file.

A packed stream cannot be entered in the middle. So it is unpacked from its beginning, and what is not asked for is left
out; the next range goes on from there.
"""

from __future__ import annotations

import threading

from frontier.io._source import Source

__all__ = ["Unpacked"]


class Unpacked:
    """The lines of a packed file; read by several threads, each of which reads in order.

    Parameters
    ----------
    path : str
        The file.
    first : int
        Where a line begins, in bytes that are unpacked: ranges are counted from there.
    packing : str
        How the file is packed.
    """

    def __init__(self, path: str, first: int, packing: str) -> None:
        self._path, self._first, self._packing = path, first, packing
        self._mine = threading.local()

    def read(self, lo: int, hi: int) -> Source:
        """The lines that begin at the bytes lo to hi - 1."""
        stream: _Stream | None = getattr(self._mine, "stream", None)
        if stream is None or self._first + lo < stream.asked:
            self.close()
            stream = self._mine.stream = _Stream(self._path, self._first, self._packing)
        begin, text = stream.lines(self._first + lo, self._first + hi)
        return Source.of_text(self._path, text, begin, self._packing)

    def close(self) -> None:
        """Close the file that this thread reads."""
        stream: _Stream | None = self._mine.__dict__.pop("stream", None)
        if stream is not None:
            stream.close()


class _Stream:
    """The unpacked bytes of a file, read up to where a line begins.

    Attributes
    ----------
    asked : int
        Lines that begin before this byte have been given, or left out.
    """

    def __init__(self, path: str, first: int, packing: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - as long as there are ranges to read
        self._source = Source(path, self._file, packing, progress=False)
        try:
            self._source.skip(first)
        except BaseException:
            self.close()
            raise
        self.asked = self._at = first

    def lines(self, lo: int, hi: int) -> tuple[int, bytes]:
        """Where the first line begins that does so at or after lo, and all that begin from there to hi - 1."""
        source = self._source
        if lo > self._at:
            source.skip(lo - 1 - self._at)  # the byte before lo may end a line
            self._at = lo - 1 + len(source.rest_of_line())
        begin, text = self._at, b""
        if begin < hi:
            text = source.read(hi - 1 - begin)
            text += source.rest_of_line()
        self._at += len(text)
        self.asked = hi
        return begin, text

    def close(self) -> None:
        """Close the file."""
        self._file.close()
