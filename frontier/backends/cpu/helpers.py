"""The threads that help with phases of loops: each has a mailbox, at which it waits for the owner of a run.

A helper belongs to one run at a time, so two Python threads may run loops at the same time. Between runs it sleeps. It
never comes back to Python, so whether it has time says nothing about the run: see :mod:`frontier.backends.cpu.teams`.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress

import numpy as np

from frontier.backends.cpu import mailbox
from frontier.backends.cpu.code import serving
from frontier.native import threads

__all__ = ["give_back", "taken"]

_lock = threading.Lock()
_idle: list[Helper] = []

#: Bytes of a line of the cache, at which a mailbox begins.
_LINE = 64


class Helper(threading.Thread):
    """A thread that helps whoever has its mailbox."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="frontier-helper")
        self._serve = serving()
        memory = np.zeros((mailbox.BYTES + _LINE) // 8, np.int64)
        self._words = memory[-memory.ctypes.data % _LINE // 8 :]
        #: Where its mailbox is.
        self.mailbox = self._words.ctypes.data
        self.start()

    def run(self) -> None:
        """Serve as long as the process lives."""
        self._words[mailbox.THREAD] = threading.get_native_id()
        if hasattr(os, "SCHED_BATCH"):
            with suppress(OSError):  # it may be forbidden; it only spares others
                # Woken, it takes a free core, but does not drive anyone from theirs, least of all the owner.
                os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
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
