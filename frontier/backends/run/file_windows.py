"""Windows of edges that threads of the host read from files, ahead of what computes on them.

A ring has a few sets of buffers, which a GPU reads over its link. While one window is processed, the next ones are read
into the other sets. Of a window either all is read, or the pages that are wanted. (Windows and a ring of pinned buffers
as in GFlow.)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontier.backends.run.windows import ALIGNED
from frontier.errors import GraphError
from frontier.memory import checksums
from frontier.memory.disk import File, file_of

__all__ = ["AHEAD", "Part", "Ring", "merged_pages"]

#: Sets of buffers: for the window that is processed, and for those that are read.
AHEAD = 4

#: Bytes of a page, of what one thread reads at a time, and between two pages that are read together with them.
PAGE, PIECE, GAP = 1 << 12, 1 << 22, 1 << 15

#: Short ranges that one thread reads one after another.
TOGETHER = 64

#: A buffer: its bytes, and the address by which what computes finds them.
Buffer = tuple[NDArray[np.uint8], int]


@dataclass(frozen=True)
class Part:
    """What a window has of one array.

    Attributes
    ----------
    key : hashable
    values : ndarray
        The whole array, in a file or in memory.
    first, stop : int
        Its elements from ``first`` up to ``stop`` belong to the window.
    pages : ndarray of shape (k, 2), optional
        Which bytes of the array are wanted, as ascending ranges; by default all of the window.
    below : int, optional
        What its elements are ids of: all must be below. Only looked at while checksums have not been compared.
    """

    key: Hashable
    values: NDArray[Any]
    first: int
    stop: int
    pages: NDArray[Any] | None = None
    below: int | None = None

    def ranges(self) -> NDArray[Any]:
        """The bytes to read, as ascending ranges of bytes of the array."""
        size = self.values.itemsize
        begin, end = self.first // ALIGNED * ALIGNED * size, self.stop * size
        if self.pages is None:
            return np.array([[begin, end]], np.int64)
        found: NDArray[Any] = np.clip(self.pages, begin, end)
        return found


class Ring:
    """Buffers for windows, which are made when they are needed, and grow.

    Parameters
    ----------
    make : function of a number of bytes
        Returns a buffer.
    """

    def __init__(self, make: Callable[[int], Buffer]) -> None:
        self._make = make
        self._sets: list[dict[Hashable, Buffer]] = [{} for _ in range(AHEAD)]
        self._reading: dict[int, list[Future[None]]] = {}
        self._comparing: dict[int, list[tuple[File, range]]] = {}
        #: Bytes read so far.
        self.read = 0

    def begin(self, number: int, parts: list[Part]) -> dict[Any, int]:
        """Begin to read a window; the address of each array as if it began there, of which the window is filled."""
        held, futures, addresses = self._sets[number % AHEAD], self._reading.setdefault(number, []), {}
        for part in parts:
            size = part.values.itemsize
            begin = part.first // ALIGNED * ALIGNED * size
            needed = max(part.stop * size - begin, 1)
            if part.key not in held or held[part.key][0].nbytes < needed:
                held.pop(part.key, None)
                held[part.key] = self._make(needed)
            buffer, address = held[part.key]
            addresses[part.key] = address - begin
            ranges = part.ranges()
            self.read += int((ranges[:, 1] - ranges[:, 0]).sum())
            below = part.below if part.pages is not None and _is_unsure(part.values) else None
            futures += [checksums.threads().submit(*task) for task in _tasks(part.values, buffer, begin, ranges, below)]
            if part.pages is None:
                self._compare(number, part, begin)
        return addresses

    def _compare(self, number: int, part: Part, begin: int) -> None:
        """Compare the checksums of what a window has, if that has not been done; the next one reads the same blocks."""
        found, stop = file_of(part.values), part.stop * part.values.itemsize
        if found is None or begin == stop or not _is_unsure(part.values):
            return
        file, at = found
        blocks = range((at + begin) // checksums.BLOCK, -(-(at + stop) // checksums.BLOCK))
        assert file.checksums is not None
        file.checksums.begin(file, blocks)
        self._comparing.setdefault(number, []).append((file, blocks))

    def wait(self, number: int) -> None:
        """Wait until a window is there; raise what went wrong in reading it."""
        for future in self._reading.pop(number):
            future.result()
        for file, blocks in self._comparing.pop(number, ()):
            assert file.checksums is not None
            file.checksums.wait(file, blocks)

    def leave(self) -> None:
        """Read nothing more, so that buffers may be used for something else."""
        self._comparing.clear()
        futures = [future for some in self._reading.values() for future in some]
        self._reading.clear()
        for future in futures:
            future.cancel()
        wait(futures)


def merged_pages(starts: NDArray[Any], stops: NDArray[Any]) -> NDArray[Any]:
    """Return the pages of ascending ranges of bytes, as ranges, of which close ones are one."""
    some = stops > starts
    begin, end = starts[some] // PAGE * PAGE, -(-stops[some] // PAGE) * PAGE
    if len(begin) == 0:
        return np.empty((0, 2), np.int64)
    end = np.maximum.accumulate(end)
    apart = np.flatnonzero(np.concatenate([[True], begin[1:] > end[:-1] + GAP]))
    return np.stack([begin[apart], end[np.append(apart[1:] - 1, len(end) - 1)]], axis=1)


def _is_unsure(values: NDArray[Any]) -> bool:
    """Whether an array lies in a file whose checksums have not all been compared."""
    found = file_of(values)
    return found is not None and found[0].checksums is not None and not found[0].checksums.done


def _tasks(
    values: NDArray[Any], buffer: NDArray[Any], begin: int, ranges: NDArray[Any], below: int | None
) -> list[tuple[Any, ...]]:
    """What threads are to do: a function and its arguments each."""
    if len(ranges) > 1:
        return [
            (_read, values, buffer, begin, ranges[i : i + TOGETHER].tolist(), below)
            for i in range(0, len(ranges), TOGETHER)
        ]
    pieces = [(a, min(a + PIECE, stop)) for first, stop in ranges.tolist() for a in range(first, stop, PIECE)]
    return [(_read, values, buffer, begin, [piece], below) for piece in pieces]


def _read(
    values: NDArray[Any], buffer: NDArray[Any], begin: int, ranges: list[tuple[int, int]], below: int | None
) -> None:
    """Copy ranges of bytes of an array to a buffer, whose first byte is byte ``begin`` of the array."""
    found = file_of(values)
    if found is None:
        source = values.view(np.uint8)
        for first, stop in ranges:
            buffer[first - begin : stop - begin] = source[first:stop]
        return
    file, at = found
    file.check()
    view = buffer.data
    for first, stop in ranges:
        file.read_into(view[first - begin : stop - begin], at + first)
        if below is not None:
            ids = buffer[first - begin : stop - begin].view(values.dtype)
            if len(ids) and not (ids.min() >= 0 and ids.max() < below):
                wrong = first + int(np.argmax((ids < 0) | (ids >= below))) * values.itemsize
                raise GraphError(f"{file.name}: damaged, there is no id from 0 to {below - 1:,} at byte {at + wrong:,}")
