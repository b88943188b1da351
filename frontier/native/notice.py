"""Report on stderr that code is being compiled, because it takes seconds, and measure this time separately.

``FRONTIER_QUIET=1`` in the environment suppresses the report.
"""

from __future__ import annotations

import sys
import threading
import time

from frontier.system.environment import switch

__all__ = ["announce", "begin", "end", "seconds"]

_lock = threading.Lock()
_total = 0.0

#: Characters of a name that are said.
_LONGEST = 60


class _Open(threading.local):
    """When what this thread compiles was begun: one within another."""

    def __init__(self) -> None:
        self.since: list[float] = []


_open = _Open()


def announce(what: str) -> None:
    """Say on stderr that compiling something begins."""
    if switch("FRONTIER_QUIET", "1 to compile without saying so, or 0", False):
        return
    what = "".join(c if c.isprintable() and c.isascii() else "?" for c in what)  # a functor may be called anything
    name = what if len(what) <= _LONGEST else what[: _LONGEST - 4].rsplit(" ", 1)[0] + " ..."
    if sys.stderr is None:  # as of a program without a console
        return
    line = "\r\033[K" if sys.stderr.isatty() else ""  # progress may stand there
    print(f"{line}frontier: compiling {name} (once, kept on disk)", file=sys.stderr, flush=True)


def begin() -> None:
    """Count the time from here as compiling."""
    _open.since.append(time.perf_counter())


def end() -> float:
    """Up to here; gives the seconds since the last :func:`begin` of this thread."""
    global _total
    took = time.perf_counter() - _open.since.pop()
    if not _open.since:
        with _lock:
            _total += took
    return took


def seconds() -> float:
    """The seconds that this process has spent compiling, and loading compiled code."""
    return _total
