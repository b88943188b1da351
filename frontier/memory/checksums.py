"""Checksums of files, block by block: each block is compared once for each opened file, by threads.

So damage is found before a program reads what is damaged, also where it reads only a part of a file.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from functools import cache
from typing import TYPE_CHECKING, Any

from frontier.errors import GraphError
from frontier.system.forks import renewed

if TYPE_CHECKING:
    from frontier.memory.disk import File

__all__ = ["BLOCK", "Checksums", "compare", "crc_of", "threads"]

#: Bytes that have one checksum, and of these what is read at a time.
BLOCK, PIECE = 1 << 26, 1 << 20

#: Threads that read. Disks answer many requests at a time.
THREADS = 8


class Checksums:
    """Those of a file, with what has been compared.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    size : int
        Its bytes.
    noted : list
        The checksum of each block.
    """

    def __init__(self, name: str, size: int, noted: list[Any]) -> None:
        self._name, self._size, self._noted = name, size, noted
        self._threads: ThreadPoolExecutor | None = None
        self._begun: dict[int, Future[None]] = {}  # by these threads
        self._sure: set[int] = set()
        self._lock = renewed(threading.Lock())
        #: Whether all blocks are as noted.
        self.done = False

    def blocks(self) -> range:
        """All blocks: those that are noted, and those of the file."""
        return range(max(-(-self._size // BLOCK), len(self._noted)))

    def begin(self, file: File, blocks: Iterable[int]) -> list[Future[None]]:
        """Begin to compare some blocks, unless that is done."""
        with self._lock:
            if self._threads is not threads():  # in a forked child, where nobody goes on with what was begun
                self._threads, self._begun = threads(), {}
            for block in blocks:
                if block not in self._begun or self._begun[block].cancelled():
                    self._begun[block] = threads().submit(self._compare, file.read_into, block)
            return [self._begun[block] for block in blocks]

    def wait(self, file: File, blocks: Iterable[int]) -> None:
        """Wait until some blocks have been compared; raise GraphError if one is damaged."""
        for block in blocks:
            waits = True
            while waits:
                try:
                    self.begin(file, [block])[0].result()
                    waits = False
                except CancelledError:  # by another thread, which was interrupted
                    pass
        with self._lock:
            self._sure.update(blocks)
            self.done = len(self._sure) == len(self.blocks())

    def _compare(self, read_into: Callable[[memoryview, int], None], block: int) -> None:
        first, stop = block * BLOCK, min((block + 1) * BLOCK, self._size)
        found = crc_of(read_into, first, stop) if first < stop else None
        if block >= len(self._noted) or found != self._noted[block]:
            raise GraphError(f"{self._name}: damaged, the checksum is wrong from byte {first:,} on")


def crc_of(read_into: Callable[[memoryview, int], None], first: int, stop: int) -> int:
    """The checksum of a range of bytes, which ``read_into(buffer, first)`` reads."""
    buffer, found = memoryview(bytearray(min(PIECE, stop - first))), 0
    for at in range(first, stop, PIECE):
        part = buffer[: min(PIECE, stop - at)]
        read_into(part, at)
        found = zlib.crc32(part, found)
    return found


def compare(files: Iterable[File]) -> None:
    """Compare what has not been compared of some files; raise GraphError where the first damaged block begins."""
    pending = [(file, file.checksums) for file in files if file.checksums is not None and not file.checksums.done]
    if not pending:
        return
    futures = [future for file, each in pending for future in each.begin(file, each.blocks())]
    try:
        for file, each in pending:
            each.wait(file, each.blocks())
    except BaseException:
        for future in futures:
            future.cancel()
        wait(futures)
        raise


@cache
def threads() -> ThreadPoolExecutor:
    """Threads that read, kept for the life of the process."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="frontier-disk")


if hasattr(os, "register_at_fork"):  # the threads of the parent are not in a child
    os.register_at_fork(after_in_child=threads.cache_clear)
