"""Processes that ``torchrun`` has started: they talk by PyTorch's Gloo, since there is no MPI between them.

PyTorch is imported only in a process that torchrun has started. Where it uses GPUs, its own communication by NCCL is
not touched: ours is a group of its own, of tensors in host memory.
"""

from __future__ import annotations

import atexit
import contextlib
import datetime
import importlib
import os
import pickle
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from frontier.distributed.transport.communicators import Processes, cut
from frontier.errors import BackendUnavailableError
from frontier.system.launched import patience

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Gloo"]

#: Seconds of waiting where there is no limit.
FOR_EVER = 10**8


class Gloo(Processes):
    """The processes that torchrun has started, by ``torch.distributed``."""

    def __init__(self) -> None:
        try:
            self._torch = importlib.import_module("torch")
            self._dist = importlib.import_module("torch.distributed")
        except ImportError as error:
            raise BackendUnavailableError(f"torchrun has started this process, but PyTorch fails: {error}") from None
        self._limit = datetime.timedelta(seconds=patience() or FOR_EVER)
        self.rank, self.size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.neighbours = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
        self.local = int(os.environ.get("LOCAL_RANK", "0"))
        self._group: Any = None
        if self.size > 1:
            with self._waiting():
                self._group = self._joined()

    def _joined(self) -> Any:
        """A group of all processes, besides the one that the program may have made."""
        alone = not self._dist.is_initialized()
        if alone:
            self._dist.init_process_group("gloo", timeout=self._limit)
        group = self._dist.new_group(backend="gloo", timeout=self._limit)
        atexit.register(self._left, None if alone else group)
        return group

    def _left(self, group: Any) -> None:
        """End Gloo's threads before the process ends, which otherwise may abort; None: with the group of all groups."""
        if self._dist.is_initialized():  # unless the program has ended all groups
            self._dist.destroy_process_group(group)

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        """Where another process does not come, or has ended, Gloo raises."""
        try:
            yield
        except RuntimeError as error:
            limit = patience()
            late = f"has not come to an exchange within {limit:g} s (FRONTIER_RANKS_TIMEOUT)" if limit else "is lost"
            self.end(
                f"frontier: rank {self.rank} of {self.size} cannot go on, since another has ended, or {late}; "
                f"Gloo says {str(error).splitlines()[0]}"
            )

    def allgather(self, given: Any) -> list[Any]:
        """Return what every process gives."""
        if self.size == 1:
            return [given]
        data = pickle.dumps(given, 5)
        lengths = np.zeros(self.size, np.int64)
        lengths[self.rank] = len(data)
        self._sum(lengths)
        return [pickle.loads(part) for part in self.allgather_bytes(data, lengths.tolist())]

    def alltoall_blocks(self, given: bytearray, length: int) -> bytearray:
        """Give each process the block of its rank."""
        if self.size == 1:
            return given
        found = bytearray(len(given))
        with self._waiting():
            self._dist.all_to_all_single(self._tensor(found), self._tensor(given), group=self._group)
        return found

    def alltoall_bytes(self, given: Sequence[bytes], lengths: Sequence[int]) -> list[Any]:
        """Give each process a message of its own."""
        if self.size == 1:
            return list(given)
        found, counts = bytearray(sum(lengths)), [len(each) for each in given]
        with self._waiting():
            self._dist.all_to_all_single(
                self._tensor(found), self._tensor(bytearray(b"".join(given))), list(lengths), counts, group=self._group
            )
        return cut(found, lengths)

    def allgather_bytes(self, given: bytes, lengths: Sequence[int]) -> list[Any]:
        """Give all processes the same message: each in turn, as they are of different lengths."""
        if self.size == 1:
            return [given]
        found: list[Any] = []
        for rank, length in enumerate(lengths):
            data = bytearray(given) if rank == self.rank else bytearray(length)
            if length:
                with self._waiting():
                    self._dist.broadcast(self._tensor(data), rank, group=self._group)
            found.append(memoryview(data))
        return found

    def allreduce(self, array: Any) -> None:
        """Replace an array by the sum of those of all processes."""
        if self.size > 1 and len(array):
            self._sum(array)

    def _sum(self, array: Any) -> None:
        with self._waiting():
            self._dist.all_reduce(self._torch.from_numpy(array), group=self._group)

    def _tensor(self, data: bytearray) -> Any:
        """The same bytes as a tensor."""
        if not data:
            return self._torch.empty(0, dtype=self._torch.uint8)
        return self._torch.frombuffer(data, dtype=self._torch.uint8)

    def end(self, why: str, status: int = 1) -> NoReturn:
        """Say why, and end: torchrun ends the others."""
        try:
            with contextlib.suppress(OSError, ValueError):  # nobody may be left who listens
                print(why, file=sys.stderr, flush=True)
        finally:
            os._exit(status)
