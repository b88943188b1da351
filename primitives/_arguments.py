"""Checks of what primitives are called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frontier.errors import GraphError

__all__ = ["check_number"]


def check_number(name: str, value: Any, holds: Callable[[Any], Any], words: str) -> float:
    """Give an argument as Python's float; raise GraphError, with words on what must be, unless a condition holds."""
    try:
        if holds(value):
            return float(value)
    except (TypeError, ValueError, ArithmeticError):  # no number, several, or none that a float holds
        pass
    raise GraphError(f"{name}={value!r}: {words}")
