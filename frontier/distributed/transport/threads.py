"""Parts that are threads of this process: they talk by meeting, and bring what others may have."""

from __future__ import annotations

import importlib
import pickle
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.transport.communicators import Communicator, Ended
from frontier.distributed.transport.timeouts import missing_ranks
from frontier.errors import FrontierError
from frontier.system.launched import patience

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from frontier.memory.base import Memory

__all__ = ["Member", "Threads"]


class Member(Communicator):
    """A part that is a thread of this process; see :class:`Threads`."""

    together = True

    def __init__(self, rank: int, group: Threads) -> None:
        self.rank, self.size, self._group = rank, group.size, group
        self.neighbours = group.size

    def allgather(self, given: Any) -> list[Any]:
        """Return what every part gives."""
        data = pickle.dumps(given, 5)  # as between processes: nobody sees the others' arrays
        return [pickle.loads(each) for each in self._group.meet(self.rank, data)]

    def alltoall(self, given: list[Any]) -> list[Any]:
        """Give each part an object of its own."""
        data = [pickle.dumps(each, 5) for each in given]
        return [pickle.loads(each[self.rank]) for each in self._group.meet(self.rank, data)]

    def allreduce(self, array: Any) -> None:
        """Replace an array by the sum of those of all parts."""
        array[...] = np.sum([pickle.loads(each) for each in self._group.meet(self.rank, pickle.dumps(array, 5))], 0)

    def alltoall_blocks(self, given: bytearray, length: int) -> bytes:
        """Give each part the block of its rank."""
        at = self.rank * length
        return b"".join([each[at : at + length] for each in self._group.meet(self.rank, bytes(given))])

    def alltoall_bytes(self, given: Sequence[bytes], lengths: Sequence[int]) -> list[Any]:
        """Give each part a message of its own; bytes never change, so nobody sees the others' arrays."""
        return [each[self.rank] for each in self._group.meet(self.rank, list(given))]

    def allgather_bytes(self, given: bytes, lengths: Sequence[int]) -> list[Any]:
        """Give all parts the same message."""
        return list(self._group.meet(self.rank, given))

    def meet(self, given: Any) -> list[Any]:
        """Return what every part gives, the very objects."""
        return self._group.meet(self.rank, given)

    def carrier(self, memory: Memory) -> Any:
        """Return what hands arrays from part to part."""
        return importlib.import_module("frontier.distributed.transport.device_arrays").InProcess(self, memory)

    def leave(self) -> None:
        """Let no other part wait for this one."""
        self._group.end()


class Threads:
    """Parts that are threads of this process: with a GPU each, or to try out what a program does on several parts.

    Parameters
    ----------
    size : int
    limit : function
        After how many seconds of waiting the run ends; None: never.
    """

    def __init__(self, size: int, limit: Callable[[], float | None] = patience) -> None:
        self.size, self._limit = size, limit
        self._turn = threading.Condition()
        self._slots: list[Any] = [b""] * size
        self._came: set[int] = set()
        self._meetings = 0
        self._told: list[Any] = []
        self._ended = False
        self.members = [Member(rank, self) for rank in range(size)]

    def meet(self, rank: int, data: Any) -> list[Any]:
        """Exchange what all members bring."""
        with self._turn:
            self._slots[rank] = data
            self._came.add(rank)
            meeting = self._meetings
            if len(self._came) == self.size:
                self._told, self._came, self._meetings = list(self._slots), set(), meeting + 1
                self._turn.notify_all()
            came = self._turn.wait_for(lambda: self._meetings > meeting or self._ended, self._limit())
            if self._meetings == meeting:
                if not came:
                    self._ended = True
                    self._turn.notify_all()
                    raise FrontierError(missing_ranks(set(range(self.size)) - self._came, self.size))
                raise Ended("another part of the run has ended")
            return self._told  # the next meeting needs this member too, so it has not begun

    def end(self) -> None:
        """Let nobody wait for a member that has left."""
        with self._turn:
            self._ended = True
            self._turn.notify_all()
