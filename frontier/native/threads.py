"""The number of threads of the cpu backend, and threads that build, read and generate graphs.

Calls that wait for each other must all run at the same time. A pool with a fixed number of threads would deadlock when
two Python threads make such calls at the same time. Therefore workers are taken from a list of idle threads, and new
threads are started if there are too few. The calling thread is worker 0, so work for one worker never changes threads.
Threads that help with loops have a list of their own (:mod:`frontier.backends.cpu.helpers`).
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

from frontier.errors import FrontierMemoryError, GraphError
from frontier.memory import limits
from frontier.native.processors import processors

__all__ = ["Idle", "num_threads", "run", "set_num_threads"]

Thread = TypeVar("Thread", bound=threading.Thread)

_count: int | None = None

#: The most threads that can be asked for.
MOST = 4096

#: Bytes of address space below which no thread is started: its stack, usually 8 MiB, and its first allocations.
_ROOM = 32 << 20


def num_threads() -> int:
    """Number of threads that the cpu backend uses.

    ``set_num_threads`` decides; before it is called, the environment variable
    ``FRONTIER_NUM_THREADS``; else the number of processors this process may use.

    Raises
    ------
    GraphError
        If ``FRONTIER_NUM_THREADS`` is not a number of threads.

    Examples
    --------
    >>> fr.num_threads() >= 1
    True
    """
    global _count
    if _count is None:
        text = os.environ.get("FRONTIER_NUM_THREADS", "").strip()
        _count = _given(text) if text else processors()
    return _count


def _given(text: str) -> int:
    """What the environment variable says."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(MOST)) else 0
    if not 1 <= number <= MOST:
        raise GraphError(f"FRONTIER_NUM_THREADS={text[:40]!r}: the number of threads is an integer from 1 to {MOST}")
    return number


def set_num_threads(count: int) -> None:
    """Set the number of threads that the cpu backend uses, for the whole process.

    Raises
    ------
    GraphError
        If it is not an integer from 1 to 4096.

    Examples
    --------
    >>> before = fr.num_threads()
    >>> fr.set_num_threads(2)
    >>> fr.num_threads()
    2
    >>> fr.set_num_threads(before)
    """
    global _count
    try:
        number = operator.index(count)
    except TypeError:
        raise GraphError(f"the number of threads must be an integer, not {count!r}") from None
    if number < 1:
        raise GraphError(f"the number of threads must be at least 1, not {number}")
    if number > MOST:
        raise GraphError(f"the number of threads must be at most {MOST}, not {number}")
    _count = number


class _Worker(threading.Thread):
    """A thread that runs one call at a time and then waits for the next."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="frontier-worker")
        self._go = threading.Semaphore(0)
        self._done = threading.Semaphore(0)
        self._call: Callable[[], Any] = _nothing
        self.busy = False
        self.error: BaseException | None = None
        self.start()

    def begin(self, call: Callable[[], Any]) -> None:
        """Let it run a call."""
        self._call, self.error, self.busy = call, None, True
        self._go.release()

    def wait(self) -> None:
        """Wait until the call is done."""
        while self.busy:  # asked again, for an exception may have come after the semaphore and before its return
            self._done.acquire()

    def run(self) -> None:
        while True:
            self._go.acquire()
            try:
                self._call()
            except BaseException as error:  # raised again by the caller
                self.error = error
            self._call = _nothing
            self.busy = False
            self._done.release()


def _nothing() -> None:
    return None


class Idle(Generic[Thread]):
    """Threads that nobody has. Who takes some has them alone, until they are given back.

    Parameters
    ----------
    make : callable
        Starts a thread.
    """

    def __init__(self, make: Callable[[], Thread]) -> None:
        self._make = make
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """In a forked child: the threads of the parent are not there."""
        self._lock = threading.Lock()
        self._threads: list[Thread] = []

    def take(self, count: int) -> list[Thread]:
        """So many threads: idle ones, and new ones where there are too few."""
        with self._lock:
            taken = [self._threads.pop() for _ in range(min(len(self._threads), count))]
        try:
            while len(taken) < count:
                taken.append(self._started())
        except BaseException:
            self.give_back(taken)
            raise
        return taken

    def give_back(self, threads: list[Thread]) -> None:
        """Let others have them; the first is taken first again."""
        with self._lock:
            self._threads.extend(reversed(threads))

    def _started(self) -> Thread:
        """A new thread. One that lacks memory before it has said that it runs would be waited for without end."""
        left = limits.address_space_left()
        try:
            if left is None or left >= _ROOM:
                return self._make()
            reason = f"{left:,} bytes are free in the address space of this process, which ulimit -v limits"
        except RuntimeError as error:  # the system refuses
            reason = str(error)
        raise FrontierMemoryError(
            f"cannot start another thread for {num_threads()}: {reason}; fewer threads would help "
            "(fr.set_num_threads, FRONTIER_NUM_THREADS)"
        )


_idle = Idle(_Worker)


def run(fn: Callable[[int], Any], workers: int | None = None) -> None:
    """Call ``fn(0) ... fn(workers - 1)``, all at once, and wait for all of them.

    ``fn`` should release the GIL for most of its time (compiled code with ``nogil``). The
    first error raised by a worker is raised again here. Safe from any number of Python threads.
    Whatever happens, no worker runs any more when this returns or raises.

    Parameters
    ----------
    fn : callable
    workers : int, optional
    """
    count = num_threads() if workers is None else workers
    if count == 1:
        fn(0)
        return
    helpers = _idle.take(count - 1)
    try:
        for index, helper in enumerate(helpers, 1):
            helper.begin(partial(fn, index))
        fn(0)
    finally:
        _gathered(helpers)
        _idle.give_back(helpers)
    for helper in helpers:
        if helper.error is not None:
            raise helper.error


def _gathered(helpers: list[_Worker]) -> None:
    """Wait for all workers, even if Ctrl-C is pressed meanwhile: they use memory that is freed after."""
    caught: BaseException | None = None
    while True:
        try:
            for helper in helpers:
                helper.wait()
            break
        except BaseException as error:
            caught = caught or error
    if caught is not None:
        raise caught
