"""Order-preserving integer keys, by which compiled code finds the edge with the least or greatest value and its id.

These are the plain Python definitions; :mod:`frontier.compile.functors.overloads` has those for compiled code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frontier.errors import FunctorError
from frontier.functors.numbers import refused_float

__all__ = ["FLOATS", "LAST", "bits_of", "integer", "key_down", "key_up"]

#: The largest key and the largest id, which stand for "none".
LAST = 2**63 - 1

#: What ``or`` says of floats.
FLOATS = "op='or' works on integers and bools, not on floats"


def bits_of(value: Any) -> int:
    """An integer or a bool as ``or`` takes it."""
    if isinstance(value, (float, np.floating)):
        raise FunctorError(FLOATS)
    return _signed(value)


def integer(value: Any) -> Any:
    """An integer or a bool as a sum of integers takes it, or a scalar that holds integers."""
    if isinstance(value, (float, np.floating)):
        raise FunctorError(refused_float("integers"))
    return np.int64(_signed(value))


def key_up(value: Any) -> int:
    """A key that is less for less; NaN comes after all numbers, and equals are equal, 0.0 and -0.0 too."""
    if not isinstance(value, (float, np.floating)):
        return _signed(value)
    if value != value:
        return LAST
    made = int(np.float64(value + 0.0).view(np.int64))
    return made if made >= 0 else made ^ LAST


def key_down(value: Any) -> int:
    """A key that is less for more; NaN comes after all numbers."""
    return LAST if value != value else ~key_up(value)


def _signed(value: Any) -> int:
    """An integer in int64; what is beyond that counts as the bits that it has there."""
    low = int(value) & (2**64 - 1)
    return low - 2**64 if low >= 2**63 else low
