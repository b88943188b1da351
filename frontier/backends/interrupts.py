"""Ctrl-C during a run: remembered, and raised where the run can be stopped."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Pending", "deferred"]


class Pending:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.pressed = False

    def __call__(self, number: int, frame: Any) -> None:
        """Handle the signal."""
        if self.pressed:  # the second time the user does not want to wait for a boundary
            raise KeyboardInterrupt
        self.pressed = True

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed."""
        if self.pressed:
            self.pressed = False
            raise KeyboardInterrupt


@contextmanager
def deferred() -> Iterator[Pending]:
    """Within it Ctrl-C only sets a flag (in the main thread, with Python's own handler)."""
    pending = Pending()
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield pending
        return
    signal.signal(signal.SIGINT, pending)
    try:
        yield pending
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    pending.check()  # pressed after the last boundary at which the run looked
