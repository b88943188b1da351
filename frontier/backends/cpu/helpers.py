"""The threads that help with phases of loops: each has a mailbox, at which it waits for the owner of a run.

A helper belongs to one run at a time, so two Python threads may run loops at the same time. Between runs it sleeps. It
never comes back to Python, so whether it has time says nothing about the run: see :mod:`frontier.backends.cpu.teams`.
"""

from __future__ import annotations

import os
import threading

import numpy as np

from frontier.backends.cpu.code import serving
from frontier.native import threads

__all__ = ["give_back", "taken"]

_lock = threading.Lock()
_idle: list[Helper] = []

#: Bytes of a mailbox, and of a line of the cache, at which it begins.
_SIZE, _LINE = 256, 64
#: Word of a mailbox: how many offers had been taken up when its helper was last woken. It has not been.
_SEEN = 26


class Helper(threading.Thread):
    """A thread that helps whoever has its mailbox."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="frontier-helper")
        self._serve = serving()
        self._memory = np.zeros((_SIZE + _LINE) // 8, np.int64)
        begins = -self._memory.ctypes.data % _LINE
        self._memory[begins // 8 + _SEEN] = -1
        #: Where its mailbox is.
        self.mailbox = self._memory.ctypes.data + begins
        self.start()

    def run(self) -> None:
        """Serve as long as the process lives."""
        self._serve(self.mailbox, 0, 0)


def taken(count: int) -> list[Helper]:
    """Helpers that nobody has, and new ones where there are too few."""
    with _lock:
        helpers = [_idle.pop() for _ in range(min(len(_idle), count))]
    try:
        while len(helpers) < count:
            helpers.append(threads.started(Helper))
    except BaseException:
        give_back(helpers)
        raise
    return helpers


def give_back(helpers: list[Helper]) -> None:
    """Let others have them; the first is taken first again."""
    with _lock:
        _idle.extend(reversed(helpers))


def _forget() -> None:
    """In a forked child: the threads of the parent are not there."""
    global _lock
    _idle.clear()
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
