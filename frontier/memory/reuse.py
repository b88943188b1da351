"""Whether the memory of an earlier call is used again: what a prepared call that runs in this thread keeps."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

__all__ = ["anew", "kept_by", "using"]

_kept: ContextVar[Any] = ContextVar("kept", default=None)

#: Return what the prepared call that runs here keeps (:class:`frontier.program.kept_problems.Kept`), or None.
kept_by = _kept.get


class using:
    """Within it problems and runs are those of the last call with the same ``kept``."""

    __slots__ = ("_here", "_token")

    def __init__(self, kept: Any) -> None:
        self._here = kept

    def __enter__(self) -> None:
        self._token = _kept.set(self._here)

    def __exit__(self, *error: object) -> None:
        _kept.reset(self._token)


def anew() -> using:
    """Within it nothing is used again: for what outlasts a call, such as arrays that a graph keeps."""
    return using(None)
