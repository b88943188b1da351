"""Whether the memory of an earlier call is used again: what a prepared call that runs in this thread keeps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["anew", "kept_by", "using"]

_kept: ContextVar[Any] = ContextVar("kept", default=None)

#: Return what the prepared call that runs here keeps (:class:`frontier.program.prepared.Kept`), or None.
kept_by = _kept.get


@contextmanager
def using(kept: Any) -> Iterator[None]:
    """Within it problems and runs are those of the last call with the same ``kept``."""
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)


@contextmanager
def anew() -> Iterator[None]:
    """Within it nothing is used again: for what outlasts a call, such as arrays that a graph keeps."""
    with using(None):
        yield
