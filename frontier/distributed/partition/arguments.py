"""Checks of the numbers that functions of this package are given."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from frontier.errors import GraphError

__all__ = ["integer", "number"]


def integer(value: Any, what: str, least: int) -> int:
    """Return an integer of at least ``least``, or raise GraphError."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or operator.index(value) < least:
        raise GraphError(f"{what} must be an integer of at least {least}, not {value!r}")
    return operator.index(value)


def number(value: Any, what: str, least: int) -> Any:
    """Return a finite number of at least ``least``, or raise GraphError."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not (is_number and least <= value < np.inf):
        raise GraphError(f"{what} must be a number of at least {least}, not {value!r}")
    return value
