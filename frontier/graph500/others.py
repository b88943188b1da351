"""What the processes that run the benchmark together tell each other: each has a part of the list of edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.transport.threads import Threads
from frontier.errors import VerificationError
from frontier.graph500.validation import Evidence
from frontier.memory.host import HOST

if TYPE_CHECKING:
    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.topology import Array
    from frontier.memory.placement import Placement

__all__ = ["Others"]


class Others:
    """The processes of a run, of which this one has a number."""

    def __init__(self, comm: Communicator) -> None:
        self._comm = comm
        self.rank, self.size = comm.rank, comm.size

    @classmethod
    def of(cls, place: Placement) -> Others:
        """Those that run programs at a placement together."""
        backend: Any = place.backend
        several = place.divides and place.memory is HOST  # not GPUs of one process
        return cls(backend.communicator() if several else Threads(1).members[0])

    def wait(self) -> None:
        """Wait until all are here."""
        if self.size > 1:
            self._comm.allgather(None)

    def slowest(self, seconds: float) -> float:
        """The longest time of all processes."""
        return max(self._comm.allgather(seconds)) if self.size > 1 else seconds

    def any(self, found: Array) -> Array:
        """Where an array of bools is true on one of the processes at least."""
        if self.size == 1:
            return found
        total = found.view(np.uint8).astype(np.int32)
        self._comm.allreduce(total)
        return total > 0

    def evidence(self, check: Callable[[], Evidence]) -> Evidence:
        """What the edges of all processes show; an error of one is raised on all."""
        if self.size == 1:
            return check()
        mine: Evidence | None = None
        error: VerificationError | None = None
        try:
            mine = check()
        except VerificationError as failed:
            error = failed
        for each in self._comm.allgather(error):
            if each is not None:
                each.of_all_ranks = True  # so that it is printed once
                raise each
        assert mine is not None
        return Evidence(self.any(mine.joined), sum(self._comm.allgather(mine.edges)))
