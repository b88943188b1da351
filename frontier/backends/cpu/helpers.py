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
from frontier.native.threads import Idle

__all__ = ["idle"]

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


#: Helpers that no run has.
idle = Idle(Helper)
