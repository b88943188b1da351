"""What moves arrays between the GPUs of ranks, without the host: NCCL, or nothing but a copy within one process.

Notes and short messages go by the communicator, whatever the ranks compute on; they also say who will send how much
before anybody waits here. NCCL needs a GPU of its own for every rank.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from frontier.distributed.transport.rounds import met
from frontier.memory import detection
from frontier.memory.gpu import gpu
from frontier.system.environment import switch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from frontier.distributed.transport.communicators import Processes
    from frontier.distributed.transport.threads import Member
    from frontier.memory.base import Memory
    from frontier.memory.gpu import GpuMemory

__all__ = ["DeviceTransport", "InProcess", "Nccl", "in_kernels", "nccl", "nccl_missing", "wanted"]


class DeviceTransport(ABC):
    """Moves arrays of bytes between the GPUs of parts; all lengths are known to sender and receiver."""

    @abstractmethod
    def alltoall_bytes(self, given: Sequence[Any], lengths: Sequence[int]) -> list[Any]:
        """Give each part an array of its own, and return those for this one."""

    @abstractmethod
    def allgather_bytes(self, given: Any, lengths: Sequence[int]) -> list[Any]:
        """Give all parts the same array, and return those of all."""


class InProcess(DeviceTransport):
    """Among parts that are threads of one process, on one GPU or one each."""

    def __init__(self, member: Member, memory: Memory) -> None:
        self._member, self._memory = member, memory

    def alltoall_bytes(self, given: Sequence[Any], lengths: Sequence[int]) -> list[Any]:
        """Give each part an array of its own."""
        self._memory.synchronize()  # every thread may have a stream of its own
        came = self._member.meet(list(given))
        found = [self._copied(each[self._member.rank]) for each in came]
        self._memory.synchronize()
        return found

    def _copied(self, array: Any) -> Any:
        made = self._memory.moved(array)  # which copies if it is of another GPU
        return made.copy() if made is array else made

    def allgather_bytes(self, given: Any, lengths: Sequence[int]) -> list[Any]:
        """Give all parts the same array."""
        return self.alltoall_bytes([given] * len(lengths), lengths)


class Nccl(DeviceTransport):
    """Among processes with a GPU each, by NCCL.

    Parameters
    ----------
    comm : Processes
        All of which make one together.
    memory : GpuMemory
        Of this process's GPU, which is current.
    """

    def __init__(self, comm: Processes, memory: GpuMemory) -> None:
        self._comm, self._memory = comm, memory
        self._nccl = importlib.import_module("cupy.cuda.nccl")
        given = self._nccl.get_unique_id() if comm.rank == 0 else None
        known = met(comm, "joins the ranks' GPUs", given)[0]
        with memory.using(), self._failing():
            with comm.waiting:
                self._group = self._nccl.NcclCommunicator(comm.size, known, comm.rank)
            one = [memory.xp.zeros(1, "u1")] * comm.size  # so that all are connected before somebody can be lost
            self.allgather_bytes(self.alltoall_bytes(one, [1] * comm.size)[0], [1] * comm.size)

    def alltoall_bytes(self, given: Sequence[Any], lengths: Sequence[int]) -> list[Any]:
        """Give each process an array of its own."""
        found, own = self._room(lengths), self._comm.rank
        stream, kind = self._stream(), self._nccl.NCCL_UINT8
        with self._together():
            for rank, (mine, theirs) in enumerate(zip(given, found, strict=True)):
                if mine.size and rank != own:
                    self._group.send(mine.data.ptr, mine.size, kind, rank, stream)
                if theirs.size and rank != own:
                    self._group.recv(theirs.data.ptr, theirs.size, kind, rank, stream)
        found[own] = given[own]
        return found

    def allgather_bytes(self, given: Any, lengths: Sequence[int]) -> list[Any]:
        """Give all processes the same array: each broadcasts its own."""
        found = self._room(lengths)
        found[self._comm.rank] = given
        stream, kind = self._stream(), self._nccl.NCCL_UINT8
        with self._together():
            for rank, each in enumerate(found):
                if each.size:
                    self._group.bcast(each.data.ptr, each.size, kind, rank, stream)
        return found

    def _room(self, lengths: Sequence[int]) -> list[Any]:
        """Arrays of these lengths; none for what this process would give itself."""
        own, xp = self._comm.rank, self._memory.xp
        return [xp.empty(0 if rank == own else length, "u1") for rank, length in enumerate(lengths)]

    def _stream(self) -> int:
        return int(detection.cupy().cuda.get_current_stream().ptr)

    @contextmanager
    def _together(self) -> Iterator[None]:
        """What is sent and received within it is one operation, which has ended after it."""
        with self._failing():
            self._nccl.groupStart()
            try:
                yield
            finally:
                with self._comm.waiting:
                    self._nccl.groupEnd()
            done = detection.cupy().cuda.Event(disable_timing=True)
            done.record()
            self._comm.until(lambda: self._over(done))

    def _over(self, event: Any) -> bool:
        if event.done:
            return True
        self._group.check_async_error()
        return False

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Processes that wait in NCCL for one that has failed there cannot be told: all end."""
        try:
            yield
        except self._nccl.NcclError as error:
            comm = self._comm
            comm.end(
                f"frontier: rank {comm.rank} of {comm.size} cannot go on, since NCCL fails: {error} "
                "(FRONTIER_RANKS_NCCL=0 does without it)"
            )


@cache
def nccl(comm: Processes, index: int) -> Nccl | None:
    """Return NCCL among all processes; None if it cannot be used. All call this together."""
    usable = wanted() and not nccl_missing()
    devices = met(comm, "looks for NCCL", detection.identity(index) if usable else "")
    return Nccl(comm, gpu(index)) if all(devices) and len(set(devices)) == comm.size > 1 else None


def nccl_missing() -> str:
    """Why this process cannot use NCCL; empty if it can."""
    if detection.simulated():
        return "kernels are simulated"
    try:
        module = importlib.import_module("cupy.cuda.nccl")
    except ImportError as error:
        return f"CuPy has no NCCL: {error}"
    if getattr(module, "available", False):
        return ""
    built = importlib.import_module("cupy").cuda.runtime.runtimeGetVersion() // 1000
    return f"CuPy finds no NCCL: pip install nvidia-nccl-cu{built}"


def wanted() -> bool:
    """Whether FRONTIER_RANKS_NCCL lets ranks use NCCL.

    Raises
    ------
    FrontierError
        It is neither 0 nor 1.
    """
    return switch("FRONTIER_RANKS_NCCL", "1 to let GPUs of ranks use NCCL, or 0 not to", True)


def in_kernels() -> bool:
    """Whether FRONTIER_RANKS_IN_KERNELS lets GPUs of ranks exchange inside kernels.

    Raises
    ------
    FrontierError
        It is neither 0 nor 1.
    """
    return switch("FRONTIER_RANKS_IN_KERNELS", "1 to let GPUs of ranks exchange inside kernels, or 0 not to", True)
