"""Processes that ``mpirun`` has started: they talk by MPI, through mpi4py."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import sys
import time
from typing import TYPE_CHECKING, Any, NoReturn

from frontier.distributed.transport.communicators import LENGTH, Processes, cut, starts
from frontier.distributed.transport.timeouts import Watch
from frontier.memory.shortage import telling
from frontier.system.launched import HEARD, PAUSE, patience

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Mpi"]

#: Bytes of a message that is so short that it travels at once, after its length.
SHORT = 504

#: Elements that are added at a time, for MPI needs as much memory again.
PIECE = 1 << 18


class Mpi(Processes):
    """The processes that ``mpirun`` has started, by mpi4py."""

    def __init__(self, mpi: Any) -> None:
        self._mpi = mpi
        self._comm = mpi.COMM_WORLD
        self.rank, self.size = self._comm.rank, self._comm.size
        if self.size > 1:
            limit = patience()
            if limit is not None:
                self.waiting = Watch(mpi, self._comm, limit, lambda why: self.end(why))
                atexit.register(self._at_end, os.getpid())
        with self.waiting:
            host = self._comm.Split_type(mpi.COMM_TYPE_SHARED)
        self.neighbours, self.local = host.size, host.rank

    def _at_end(self, process: int) -> None:
        """Let nobody wait for a process that has come to its end, and let one rank say an error of all."""
        if os.getpid() != process or self._mpi.Is_finalized():
            return
        lower = self.waiting.leave(self.cause)[: self.rank]
        if self.rank and self.cause and self.cause[0] not in [each[0] for each in lower if each]:
            print(self.cause[1], end="", file=sys.stderr, flush=True)  # lower ranks have handled it

    def says(self, error: object, what: str) -> bool:
        """Whether this process has to say what ends it: of that which ends all, rank 0 does."""
        if not isinstance(self.waiting, Watch) or not super().says(error, what):
            return super().says(error, what)
        if self.rank == 0:
            self.waiting.say(what)
        return self.rank == 0 or not self.waiting.heard(what, 4 * PAUSE)

    @contextlib.contextmanager
    def asking(self, doing: str) -> Iterator[None]:
        """Within it the process waits for others for a purpose, which is told if they do not come."""
        self.waiting.doing = doing
        yield
        self.waiting.doing = ""

    @telling("what ranks tell each other")
    def allgather(self, given: Any) -> list[Any]:
        """Return what every process gives."""
        if self.size == 1:
            return [given]
        data, byte = pickle.dumps(given, 5), self._mpi.BYTE
        note = len(data).to_bytes(LENGTH, "little") + data[:SHORT].ljust(SHORT)
        notes = bytearray(self.size * len(note))
        with self.waiting:
            self._comm.Allgather([note, byte], [notes, len(note), byte])
        parts = cut(notes, [len(note)] * self.size)
        lengths = [int.from_bytes(part[:LENGTH], "little") for part in parts]
        if max(lengths) > SHORT:
            return [pickle.loads(part) for part in self.allgather_bytes(data, lengths)]
        return [pickle.loads(part[LENGTH:]) for part in parts]

    def alltoall_blocks(self, given: bytearray, length: int) -> bytearray:
        """Give each process the block of its rank."""
        if self.size == 1:
            return given
        found = bytearray(len(given))
        with self.waiting:
            self._comm.Alltoall([given, length, self._mpi.BYTE], [found, length, self._mpi.BYTE])
        return found

    def alltoall_bytes(self, given: Sequence[bytes], lengths: Sequence[int]) -> list[Any]:
        """Give each process a message of its own."""
        if self.size == 1:
            return list(given)
        found, byte = bytearray(sum(lengths)), self._mpi.BYTE
        counts = [len(each) for each in given]
        sent = [b"".join(given), counts, starts(counts), byte]
        with self.waiting:
            self._comm.Alltoallv(sent, [found, lengths, starts(lengths), byte])
        return cut(found, lengths)

    def allgather_bytes(self, given: bytes, lengths: Sequence[int]) -> list[Any]:
        """Give all processes the same message."""
        if self.size == 1:
            return [given]
        found = bytearray(sum(lengths))
        with self.waiting:
            self._comm.Allgatherv(given, [found, lengths, starts(lengths), self._mpi.BYTE])
        return cut(found, lengths)

    def allreduce(self, array: Any) -> None:
        """Replace an array by the sum of those of all processes."""
        for at in range(0, len(array), PIECE):
            with self.waiting:
                self._comm.Allreduce(self._mpi.IN_PLACE, array[at : at + PIECE])

    def end(self, why: str, status: int = 1) -> NoReturn:
        """Say why, and end all processes of the run with an exit code."""
        try:
            with contextlib.suppress(OSError, ValueError):  # nobody may be left who listens
                print(why, file=sys.stderr, flush=True)
            time.sleep(HEARD)
            self._comm.Abort(status)
        finally:
            os._exit(status)  # MPICH's abort may return, if another thread is within MPI
