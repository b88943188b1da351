"""Checks of what primitives are called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frontier.errors import GraphError

__all__ = ["check_number"]


def check_number(name: str, value: Any, holds: Callable[[Any], Any], words: str) -> None:
    """Raise GraphError, with words on what must be, unless a condition holds for an argument."""
    try:
        right = bool(holds(value))
    except (TypeError, ValueError):  # no number, or several
        right = False
    if not right:
        raise GraphError(f"{name}={value!r}: {words}")
