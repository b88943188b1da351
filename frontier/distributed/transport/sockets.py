"""Processes that communicate over TCP, without mpirun or torchrun.

Each pair has one stream (:mod:`frontier.distributed.transport.streams`). Streams do not block: an exchange sends and
receives on all of them until it is complete, so there is no deadlock, and no thread is needed. When a process ends, its
streams are closed, which the others notice; TCP's keep-alive probes detect a host that has vanished.
"""

from __future__ import annotations

import itertools
import pickle
import select
import socket
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from frontier.backends.run.interrupts import deferred
from frontier.distributed.transport.communicators import LENGTH, Ended, Processes, cut
from frontier.distributed.transport.streams import Lost, Stream
from frontier.distributed.transport.timeouts import missing_ranks
from frontier.errors import FrontierError, RanksError
from frontier.system.launched import patience

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = ["Sockets"]

#: Bytes of the first message of a gather: a length, and the object itself if it is short enough.
NOTE = 512

#: Seconds to wait for bytes before checking for Ctrl-C and the time limit.
LOOK = 0.2


class Sockets(Processes):
    """The processes at the other ends of streams.

    Parameters
    ----------
    rank : int
    streams : mapping of int to Stream
        To all others, by rank.

    Attributes
    ----------
    broken : str
        Why the processes cannot go on, once they cannot; every exchange raises it then.
    """

    def __init__(self, rank: int, streams: Mapping[int, Stream]) -> None:
        self.rank, self.size = rank, len(streams) + 1
        self.broken = ""
        self._streams, self._doing = dict(streams), ""
        hosts = self.allgather(_host())
        self.neighbours, self.local = hosts.count(hosts[rank]), hosts[:rank].count(hosts[rank])

    # ---- what parts tell each other ----------------------------------------------------------------------------

    def allgather(self, given: Any) -> list[Any]:
        """Return what every process gives."""
        if self.size == 1:
            return [given]
        data = pickle.dumps(given, 5)
        room = NOTE - LENGTH
        note = len(data).to_bytes(LENGTH, "little") + data[:room].ljust(room)
        notes = self.allgather_bytes(note, [NOTE] * self.size)
        lengths = [int.from_bytes(each[:LENGTH], "little") for each in notes]
        told = self.allgather_bytes(data, lengths) if max(lengths) > room else [each[LENGTH:] for each in notes]
        return [pickle.loads(each) for each in told]

    def alltoall_blocks(self, given: bytearray, length: int) -> bytearray:
        """Give each process the block of its rank."""
        return bytearray(b"".join(self.alltoall_bytes(cut(given, [length] * self.size), [length] * self.size)))

    def alltoall_bytes(self, given: Sequence[Any], lengths: Sequence[int]) -> list[Any]:
        """Give each process a message of its own."""
        found = [bytearray(0 if rank == self.rank else length) for rank, length in enumerate(lengths)]
        for rank, stream in self._streams.items():
            if len(given[rank]):
                stream.give(given[rank])
            if len(found[rank]):
                stream.take(found[rank])
        self._exchange({rank for rank in self._streams if len(found[rank])})
        return [given[rank] if rank == self.rank else memoryview(each) for rank, each in enumerate(found)]

    def allgather_bytes(self, given: bytes, lengths: Sequence[int]) -> list[Any]:
        """Give all processes the same message."""
        return self.alltoall_bytes([given] * self.size, lengths)

    def allreduce(self, array: Any) -> None:
        """Replace an array by the sum over all processes, each of which adds up a part."""
        cuts = len(array) * np.arange(self.size + 1) // self.size
        parts = [array[lo:hi] for lo, hi in itertools.pairwise(cuts)]
        own = parts[self.rank]
        came = self.alltoall_bytes([each.tobytes() for each in parts], [own.nbytes] * self.size)
        own[...] = np.sum([np.frombuffer(each, array.dtype) for each in came], 0, array.dtype)
        for part, each in zip(parts, self.allgather_bytes(own.tobytes(), [each.nbytes for each in parts]), strict=True):
            part[...] = np.frombuffer(each, array.dtype)

    @contextmanager
    def asking(self, doing: str) -> Iterator[None]:
        """Name the purpose of exchanges within the block, for the error if other processes do not come."""
        self._doing = doing
        try:
            yield
        finally:
            self._doing = ""

    # ---- how they end ------------------------------------------------------------------------------------------

    def end(self, why: str, status: int = 1) -> NoReturn:
        """Raise RanksError, now and in every later exchange; whoever has started the processes ends them."""
        self.broken = self.broken or why.removeprefix("frontier: ")
        raise RanksError(self.broken)

    def finish(self) -> None:
        """Wait until all processes have ended a call, with a result or an error.

        Afterwards all are in step again: messages of the call that nobody has received are dropped.

        Raises
        ------
        RanksError
            A process is lost.
        """
        if self.broken:
            raise RanksError(self.broken)
        for stream in self._streams.values():
            stream.give_mark(self.graphs, self.runs)
        with deferred(patient=True) as noted:
            self._until({*self._streams}, Stream.skipped, lambda waited: None)
            noted.pressed = False  # the call has ended anyway
        marks = [(self.graphs, self.runs), *(stream.forget() for stream in self._streams.values())]
        self.graphs, self.runs = map(max, zip(*marks, strict=True))

    def close(self) -> None:
        """Close all streams, which the others notice."""
        for stream in self._streams.values():
            stream.close()

    # ---- exchanges ---------------------------------------------------------------------------------------------

    def _exchange(self, wanted: set[int]) -> None:
        """Send what was given, and receive a frame from each of the wanted ranks."""
        if self.broken:
            raise RanksError(self.broken)
        limit = patience()

        def check(waited: float) -> None:
            noted.check()
            if limit is not None and waited > limit:
                self.end(missing_ranks(set(self._late), self.size) + (f" (it {self._doing})" if self._doing else ""))

        with deferred(patient=True) as noted:  # Ctrl-C is raised between exchanges of bytes, never within one
            self._until(wanted, Stream.came, check)
            odd = {rank: stream for rank, stream in self._streams.items() if rank in wanted}
            for rank, stream in odd.items():
                if stream.mark is not None:
                    raise Ended(f"rank {rank} of {self.size} has ended, and others wait for it")
            if any(stream.strange is not None for stream in odd.values()):
                raise FrontierError(
                    "the ranks are at different steps: they must run the same program, and ask together for what is in "
                    "parts (docs/ranks.md)"
                )

    def _until(self, wanted: set[int], came: Callable[[Stream], bool], check: Callable[[float], None]) -> None:
        """Send everything, and receive until ``came`` holds for each wanted rank; ``check`` gets the idle seconds."""
        writers, readers = {*self._streams}, set(wanted)
        moved = time.monotonic()
        while True:
            before = len(writers) + len(readers)
            writers = {rank for rank in writers if not self._did(rank, Stream.sent)}
            readers = {rank for rank in readers if not self._did(rank, came)}
            if not writers and not readers:
                return
            self._late = readers or writers
            if len(writers) + len(readers) == before:
                ready = select.select(self._of(readers), self._of(writers), (), LOOK)
                if ready[0] or ready[1]:
                    moved = time.monotonic()
                check(time.monotonic() - moved)

    def _of(self, ranks: Iterable[int]) -> list[Stream]:
        return [self._streams[rank] for rank in ranks]

    def _did(self, rank: int, does: Callable[[Stream], bool]) -> bool:
        """Return what ``does`` returns for the stream to a rank; end the run if that rank is lost."""
        try:
            return does(self._streams[rank])
        except Lost as why:
            self.end(f"rank {rank} of {self.size} is lost: {why}")


def _host() -> str:
    """Identify the host. Containers on one machine count as several: they do not share memory and devices."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        boot = ""
    return f"{socket.gethostname()} {boot}"
