"""How long a rank waits for the others, and what happens when one does not come.

Processes wait in MPI's own blocking calls, which are by far the fastest (6 µs for a few bytes between two processes on
two cores, where a loop of tests with short sleeps took 125). So a thread beside them looks once in a while at how long
they have waited, asks the other processes which of them wait too, says who is missing, and ends all. A process that
comes to its end tells the others, so that nobody waits for it until patience runs out.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from frontier.system.launch_watch import missing, proxy
from frontier.system.launched import patience

__all__ = ["Watch", "missing_ranks"]

#: Seconds between two looks, and how many looks others have to answer; seconds from one rank's turn to the next's.
LOOK, ANSWERS, TURN = 1.0, 3, 0.5

#: Until the ranks have a communicator of their own, the program's messages may be under way, too, and have low tags.
_ASKED, _WAITS, _ENDED, _FAILED = 32_701, 32_702, 32_703, 32_704


def missing_ranks(missing: set[int], size: int) -> str:
    """Say that some ranks have not come."""
    return (
        f"{_who(missing, size)} not come to an exchange for which the others have waited for "
        f"{patience() or 0:g} s (FRONTIER_RANKS_TIMEOUT): the run ends"
    )


def _who(missing: set[int], size: int) -> str:
    which = " and ".join(map(str, sorted(missing)))
    if not missing:
        return "some rank has"
    return f"rank {which} of {size} has" if len(missing) == 1 else f"ranks {which} of {size} have"


class Watch:
    """A thread of a process that ends the run when the process has waited too long; used as a context of waiting.

    Parameters
    ----------
    mpi : module
        ``mpi4py.MPI``.
    comm : MPI.Comm
        Of all processes, which all make a watch.
    limit : float
        Seconds.
    end : function of a message
        Prints it and ends all processes.

    Attributes
    ----------
    doing : str
        For what it waits, if that is known.
    first : bool
        Whether this is the first use of ranks.
    """

    doing = ""
    first = False

    def __init__(self, mpi: Any, comm: Any, limit: float, end: Callable[[str], Any]) -> None:
        self._comm, self._limit, self._say = comm, limit, end
        self._asks = mpi.Query_thread() == mpi.THREAD_MULTIPLE
        self._since: float | None = None
        self._look = min(LOOK, limit / 10)
        self._proxy = proxy(os.getpid()) if "PMI_RANK" in os.environ else None
        threading.Thread(target=self._watch, daemon=True, name="frontier ranks").start()
        self.doing, self.first = 'uses "ranks" for the first time', True
        with self:  # a rank may never come here
            self._comm = comm.Dup()
        self.doing, self.first = "", False

    def __enter__(self) -> None:
        self._since = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._since = None

    def leave(self, cause: tuple[str, str] | None) -> list[tuple[str, str] | None]:
        """Tell the others that this process is at its end, and wait until they are, as MPI does when it ends.

        Returns by which error of all each rank has ended, or None.
        """
        causes = [cause] * self._comm.size
        if self._asks:
            told = [self._comm.isend(cause, rank, tag=_ENDED) for rank in self._others()]
            for rank in self._others():
                causes[rank] = self._comm.recv(source=rank, tag=_ENDED)
            for each in told:
                each.wait()
        return causes

    def say(self, what: str) -> None:
        """Tell the others what this process says as it fails."""
        if self._asks:
            self._said = [self._comm.isend(what, rank, tag=_FAILED) for rank in self._others()]

    def heard(self, what: str, seconds: float) -> bool:
        """Whether rank 0 says the same, which it has so many seconds for."""
        end = time.monotonic() + seconds
        while self._asks and time.monotonic() < end:
            if self._comm.iprobe(source=0, tag=_FAILED):
                return bool(self._comm.recv(source=0, tag=_FAILED) == what)
            time.sleep(0.01)
        return False

    def _watch(self) -> None:
        """Look until the process ends; this thread may not fail and leave it to wait for ever."""
        try:
            self._look_on()
        except Exception as error:  # whatever MPI raises where others are lost
            self._say(f"frontier: rank {self._comm.rank} of {self._comm.size} cannot reach others: {error}")

    def _look_on(self) -> None:
        ended, last = 0, 0.0  # how often it has seen, in one wait, that some process is at its end
        while True:
            time.sleep(self._look)
            since = self._since
            if since is None:
                continue
            if since != last:
                ended, last = 0, since
            if self._proxy is not None and not os.path.exists(f"/proc/{self._proxy}"):
                self._say(f"frontier: mpirun has ended, and so does rank {self._comm.rank} of {self._comm.size}")
            if self._asks:  # only while it waits, so never after MPI has ended
                self._answer()
                ended = ended + 1 if self._some_ended() else 0
            if time.monotonic() - since > self._limit or ended > ANSWERS:
                self._end(since, ended > ANSWERS)

    def _some_ended(self) -> bool:
        """Whether another process is at its end. Before the first use of ranks it does not say so, but may be seen."""
        if any(self._comm.iprobe(source=rank, tag=_ENDED) for rank in self._others()):
            return True
        return self.first and self._proxy is not None and bool(missing(self._proxy))

    def _answer(self) -> None:
        """Tell those who ask that this process waits too."""
        for rank in self._others():
            if self._comm.iprobe(source=rank, tag=_ASKED):
                self._comm.recv(source=rank, tag=_ASKED)
                self._comm.isend(None, rank, tag=_WAITS)

    def _end(self, since: float, ended: bool) -> None:
        """Say who has not come, or has ended, and end all processes."""
        wait = {self._comm.rank}
        if self._asks:
            for rank in self._others():
                while self._comm.iprobe(source=rank, tag=_WAITS):  # an answer to a question of before
                    self._comm.recv(source=rank, tag=_WAITS)
                self._comm.isend(None, rank, tag=_ASKED)
            for _ in range(ANSWERS):
                time.sleep(self._look)
                self._answer()
            wait |= {rank for rank in self._others() if self._comm.iprobe(source=rank, tag=_WAITS)}
        turn = sorted(wait).index(self._comm.rank) if self._asks else self._comm.rank
        time.sleep(TURN * turn)  # the first that waits speaks
        if self._since != since:
            return  # all have come after all
        missing = set(range(self._comm.size)) - wait if self._asks else set()
        size = self._comm.size
        why = f"{_who(missing, size)} ended, and others wait: the run ends" if ended else missing_ranks(missing, size)
        why += f" (rank {self._comm.rank} {self.doing})" if self.doing else ""
        self._say(f"frontier: {why}{self._cause() if ended else ''}")

    def _cause(self) -> str:
        """The error of all ranks by which the first rank has ended that does not handle it."""
        for rank in self._others():
            if self._comm.iprobe(source=rank, tag=_ENDED):
                cause = self._comm.recv(source=rank, tag=_ENDED)
                if cause is not None:
                    return f"\n{cause[1]}"
        return ""

    def _others(self) -> list[int]:
        return [rank for rank in range(self._comm.size) if rank != self._comm.rank]
