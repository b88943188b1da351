"""``timeout=`` of a run: the moment at which it stops, which every backend looks at between passes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from frontier.errors import RunTimeoutError

__all__ = ["check", "expires", "left", "within"]


class _Limit(threading.local):
    """When the run of this thread stops, and after how many seconds that is."""

    at: float | None = None
    seconds = 0.0


_limit = _Limit()


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Within it runs of this thread stop after so many seconds; an earlier end of a run around it stays."""
    before = _limit.at, _limit.seconds
    if seconds is not None:
        at = time.monotonic() + seconds
        if before[0] is None or at < before[0]:
            _limit.at, _limit.seconds = at, seconds
    try:
        yield
    finally:
        _limit.at, _limit.seconds = before


def left() -> float | None:
    """The seconds until then, 0 afterwards; None if there is no limit."""
    return None if _limit.at is None else max(0.0, _limit.at - time.monotonic())


def expires() -> int:
    """That moment in nanoseconds of the monotonic clock; one that never comes if there is no limit."""
    return 2**63 - 1 if _limit.at is None else int(_limit.at * 1e9)


def check(what: object, passes: int) -> None:
    """Raise RunTimeoutError if it is later."""
    if _limit.at is not None and time.monotonic() >= _limit.at:
        raise RunTimeoutError(f"{what} is not done after {_limit.seconds:g} seconds and {passes} passes")
