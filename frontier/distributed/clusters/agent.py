"""In a worker's process: an agent starts the rank process and passes requests on to it.

Requests and replies are pickles in pipes, the standard input and output of the rank. So each of the two processes sees
when the other has ended, in whatever way.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from typing import Any

from frontier.errors import RanksError

__all__ = ["Agent", "agent"]

#: The program of a rank, which finds modules where its worker does.
_BEGIN = """
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from frontier.distributed.clusters.rank import main
main()
"""

#: Seconds for a rank to end by itself.
GRACE = 2.0

#: The agents of this process, by cluster and worker: several workers may be threads of one process.
_agents: weakref.WeakValueDictionary[tuple[str, str], Agent] = weakref.WeakValueDictionary()


class Agent:
    """Starts a rank and passes requests on to it. The rank ends with this object.

    Parameters
    ----------
    token : str
        Identifies the cluster.
    where : str
        Identifies the worker.
    """

    def __init__(self, token: str, where: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BEGIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment(),
            start_new_session=True,  # Ctrl-C in a terminal is for the client, which passes it on
        )  # fmt: skip
        self._turn, self._writing, self._number = threading.Lock(), threading.Lock(), 0
        self._end = weakref.finalize(self, _ended, self._process)
        self._send([*sys.path])
        _agents[token, where] = self

    def ask(self, name: str, *given: Any) -> tuple[Any, ...]:
        """Send the rank a request and return its reply; ``("gone", why)`` if its process has ended."""
        with self._turn:
            self._number += 1
            try:
                self._send((self._number, name, given))
                reply: tuple[Any, ...] = pickle.load(self._process.stdout)  # type: ignore[arg-type]
            except (EOFError, OSError, ValueError, pickle.UnpicklingError):
                return "gone", f"its process has ended{self._how()}"
        return reply

    def interrupt(self, seconds: float) -> bool:
        """Stop the rank like Ctrl-C, or kill it after some seconds; return whether it has stopped."""
        try:
            self._send((0, "interrupt", (self._number,)))
        except (OSError, ValueError):
            return False
        if self._turn.acquire(timeout=seconds):
            self._turn.release()
            return self._process.poll() is None
        self._process.kill()
        return False

    def close(self) -> None:
        """End the rank."""
        self._end()

    def _send(self, message: Any) -> None:
        with self._writing:
            assert self._process.stdin is not None
            pickle.dump(message, self._process.stdin, 5)
            self._process.stdin.flush()

    def _how(self) -> str:
        """Say how the process has ended."""
        try:
            status = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return ""
        if status >= 0:
            return f" with status {status}"
        try:
            return f" by {signal.Signals(-status).name}"
        except ValueError:
            return f" by signal {-status}"


def agent(token: str, where: str) -> Agent:
    """Return the agent of a worker in this process.

    Raises
    ------
    RanksError
        If there is none any more.
    """
    found = _agents.get((token, where))
    if found is None:
        raise RanksError(f"there is no rank on the worker {where} any more: the cluster has been closed")
    return found


def _environment() -> dict[str, str]:
    """Return the worker's environment, without a setting of Dask that makes large arrays slow to allocate."""
    return {name: value for name, value in os.environ.items() if name != "MALLOC_TRIM_THRESHOLD_"}


def _ended(process: subprocess.Popen[bytes]) -> None:
    """End a process and wait for it."""
    for pipe in (process.stdin, process.stdout):
        try:
            if pipe is not None:
                pipe.close()  # the rank sees this and ends
        except OSError:  # a request could not be flushed
            continue
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
