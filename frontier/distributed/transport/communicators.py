"""How parts of a run talk: processes by MPI (``mpi``), PyTorch (``torchrun``) or ``sockets``; ``threads`` of one.

Steps need collectives on bytes: blocks of one length from each part to each other, messages of any length from each to
each, and one message from each to all. Around a run, and for errors, everybody gives an object and gets those of all.
Building a graph in parts needs an object from each to each, and the sum of arrays. What comes is in the order of ranks.
"""

from __future__ import annotations

import importlib
import itertools
import os
import pickle
import sys
import time
import traceback
from abc import ABC, abstractmethod
from contextlib import contextmanager, nullcontext
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from frontier.distributed.transport.table import transport
from frontier.distributed.transport.timeouts import Watch, missing_ranks
from frontier.errors import FrontierError
from frontier.native import threads
from frontier.system.launched import PAUSE, patience

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from frontier.distributed.transport.device_arrays import DeviceTransport
    from frontier.memory.base import Memory

__all__ = ["LENGTH", "Communicator", "Ended", "Processes", "cut", "given", "starts", "use", "world"]

#: Bytes of the length of a message.
LENGTH = 8

#: Seconds after which a process that looks again and again whether something is over sleeps between; and how long.
SOON, NAP = 0.001, 50e-6


class Ended(FrontierError):
    """Another part cannot go on, and says itself why."""


class Communicator(ABC):
    """One part's access to the others.

    Attributes
    ----------
    rank, size : int
        The number of this part, and how many parts there are.
    sent : int
        Bytes of messages that this part has given to the others so far; one for all counts once for each. Those who
        send count them, not the transport.
    together : bool
        Whether all parts are in this process.
    neighbours : int
        Parts that share this host's memory and cores, this one included.
    local : int
        The number of this part among them.
    graphs : int
        How many graphs in parts it has made with the others so far; by that number all parts know a graph.
    runs : int
        How many runs it has begun with the others so far.
    """

    rank: int
    size: int
    sent: int = 0
    together: bool = False
    neighbours: int = 1
    local: int = 0
    graphs: int = 0
    runs: int = 0

    @abstractmethod
    def allgather(self, given: Any) -> list[Any]:
        """Return what every part gives, in the order of ranks; every part calls this equally often."""

    @abstractmethod
    def alltoall(self, given: list[Any]) -> list[Any]:
        """Give each part an object of its own, and return what every part has for this one, in the order of ranks."""

    @abstractmethod
    def allreduce(self, array: Any) -> None:
        """Replace an array by the sum of those of all parts."""

    @abstractmethod
    def alltoall_blocks(self, given: bytearray, length: int) -> bytes | bytearray:
        """Give each part the block of its rank, and return the blocks for this one."""

    @abstractmethod
    def alltoall_bytes(self, given: Sequence[bytes], lengths: Sequence[int]) -> list[Any]:
        """Give each part a message of its own, and return those for this one, whose lengths are known."""

    @abstractmethod
    def allgather_bytes(self, given: bytes, lengths: Sequence[int]) -> list[Any]:
        """Give all parts the same message, and return those of all, whose lengths are known."""

    @abstractmethod
    def leave(self) -> None:
        """Let no other part wait for this one, which cannot go on."""

    @contextmanager
    def asking(self, doing: str) -> Iterator[None]:
        """Within it the part waits for others for a purpose, which is told if they do not come."""
        yield

    @abstractmethod
    def carrier(self, memory: Memory) -> DeviceTransport | None:
        """Return what moves arrays of a GPU's memory between parts; None: they go through the host, as messages.

        All parts call this together.
        """


class Processes(Communicator):
    """A part that is a process: the base class of transports.

    A subclass sets ``rank`` and ``size`` and, if several processes share a host, ``neighbours`` and ``local``. It
    defines :meth:`end` and the five exchanges that this class lacks, which all processes call in the same order:

    - objects: ``allgather``, by pickle;
    - the sum of arrays, contiguous ones of NumPy: ``allreduce``;
    - bytes of known lengths, any objects with the buffer protocol: ``alltoall_blocks``, ``alltoall_bytes`` and
      ``allgather_bytes``. Messages may be large and empty, and what a process has for itself comes back.

    An exchange sends while it receives, or two processes with long messages wait for each other. One that cannot be
    completed, because another process is gone or takes longer than ``FRONTIER_RANKS_TIMEOUT``, calls :meth:`end`.
    An exception that nobody handles calls :meth:`ended`. With one process nothing is exchanged, but methods are called.

    Attributes
    ----------
    waiting : context manager
        Within it the process waits for others.
    cause : tuple of str, optional
        An error of all ranks by which this process comes to its end: in a line, and with the traceback.
    """

    waiting: Any = nullcontext()
    cause: tuple[str, str] | None = None

    def leave(self) -> None:
        """Nothing: a process that cannot go on ends, and with it the others."""

    @abstractmethod
    def end(self, why: str, status: int = 1) -> NoReturn:
        """Say why, and end all processes of the run with an exit code."""

    def interrupted(self) -> NoReturn:
        """End all processes of a command, of which this one has got Ctrl-C outside a run."""
        if self.rank:
            time.sleep(PAUSE)  # if rank 0 has got it too, it says so and ends the others meanwhile
        self.end("frontier: interrupted", 130)

    def ended(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """An exception that nobody handles ends the whole run; one that all parts have is printed once."""
        if kind is SystemError and trace is None and "exported buffers" in str(error):
            return  # Python says this when pickle finds no room for an array; the MemoryError is under way
        text = f"rank {self.rank} of {self.size}:\n{''.join(traceback.format_exception(kind, error, trace))}"
        if getattr(error, "of_all_ranks", False):
            if self.rank == 0:
                sys.__excepthook__(kind, error, trace)
            self.cause = "".join(traceback.format_exception_only(kind, error)), text
            return  # all end alike
        if self.rank:
            time.sleep(PAUSE)  # if rank 0 has the same error, it says so and ends the others meanwhile
        self.end(text)

    def carrier(self, memory: Memory) -> DeviceTransport | None:
        """Return NCCL where every process has a GPU of its own."""
        index = getattr(memory, "index", None)
        if index is None:
            return None
        module = importlib.import_module("frontier.distributed.transport.device_arrays")
        made: DeviceTransport | None = module.nccl(self, index)
        return made

    def until(self, over: Callable[[], bool]) -> None:
        """Wait for what other processes take part in by other means."""
        begun, limit = time.monotonic(), None if isinstance(self.waiting, Watch) else patience()
        with self.waiting:
            while not over():
                waited = time.monotonic() - begun
                if waited > SOON:
                    time.sleep(NAP)
                if limit is not None and waited > limit:
                    self.end(f"frontier: {missing_ranks(set(), self.size)}")

    def alltoall(self, given: list[Any]) -> list[Any]:
        """Give each process an object of its own."""
        if self.size == 1:
            return given
        data = [b"" if rank == self.rank else pickle.dumps(each, 5) for rank, each in enumerate(given)]
        counts = bytearray(b"".join(len(each).to_bytes(LENGTH, "little") for each in data))
        theirs = cut(self.alltoall_blocks(counts, LENGTH), [LENGTH] * self.size)
        lengths = [int.from_bytes(each, "little") for each in theirs]
        came = self.alltoall_bytes(data, lengths)
        return [given[rank] if rank == self.rank else pickle.loads(each) for rank, each in enumerate(came)]

    def says(self, error: object, what: str) -> bool:
        """Whether this process has to say what ends it: of that which ends all, rank 0 does."""
        return self.rank == 0 or not getattr(error, "of_all_ranks", False)


def starts(lengths: Sequence[int]) -> list[int]:
    """Where messages of these lengths begin, of the bytes in which they follow each other."""
    return [0, *itertools.accumulate(lengths[:-1])]


def cut(data: bytes | bytearray, lengths: Sequence[int]) -> list[Any]:
    """Messages of these lengths, of the bytes in which they follow each other."""
    view = memoryview(data)
    return [view[at : at + length] for at, length in zip(starts(lengths), lengths, strict=True)]


@cache
def world() -> Processes:
    """Return the processes of this run, by their transport: just this one if no launcher has started it.

    Raises
    ------
    ImportError
        Without mpi4py, or without an MPI that it finds; under torchrun without PyTorch.
    """
    made = _given[0] if _given else transport().begin()
    if made.size > 1 and not _given:  # under torchrun in place of PyTorch's, which holds back what is printed
        sys.excepthook = made.ended
    if "FRONTIER_NUM_THREADS" not in os.environ:
        threads.set_num_threads(max(1, threads.num_threads() // made.neighbours))
    return made


#: The processes that somebody has connected, before anything needs them.
_given: list[Processes] = []


def use(comm: Processes) -> None:
    """Let these be the processes of this run: of a process that has been started to be one of them."""
    _given[:] = [comm]


def given() -> bool:
    """Whether somebody has said which the processes of this run are."""
    return bool(_given)
