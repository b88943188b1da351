"""Hashes and random numbers for functors: the same bits on every backend.

Both are made of the finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom
number generators, OOPSLA 2014): multiplications and shifts of 64-bit integers, no state.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from frontier.errors import FunctorError

__all__ = ["Range", "fits", "hash", "random", "refused_float"]

#: How a message begins that refuses a float.
WHOLE_ONLY = "a float does not go into"

#: Why the sum of two bools is refused.
OF_BOOLS = "bools do not add up: say int(a) + int(b), or combine them with and, or, not, &, |, ^, ~"

_MASK = (1 << 64) - 1


def _mix(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def hash(x: Any) -> Any:
    """Return a well-mixed non-negative 63-bit hash of an integer.

    Examples
    --------
    >>> bool(fr.hash(1) == fr.hash(1)), bool(fr.hash(1) == fr.hash(2))
    (True, False)
    """
    if isinstance(x, (float, np.floating)):
        raise FunctorError("fr.hash takes an integer")
    return np.int64(_mix(int(x) & _MASK) >> 1)


def random(seed: Any, i: Any) -> Any:
    """Return the i-th number of the random sequence with this seed, uniform in [0, 1).

    Examples
    --------
    >>> bool(fr.random(7, 0) == fr.random(7, 0)), bool(0 <= fr.random(7, 1) < 1)
    (True, True)
    """
    if isinstance(seed, (float, np.floating)) or isinstance(i, (float, np.floating)):
        raise FunctorError("fr.random takes two integers")
    bits = _mix((_mix(int(seed) & _MASK) + int(i)) & _MASK)
    return np.float64((bits >> 11) * (1.0 / (1 << 53)))


def fits(number: int) -> bool:
    """Whether compiled code can hold an integer, as int64 or as uint64."""
    return -(2**63) <= number < 2**64


def refused_float(dtype: Any) -> str:
    """Why a float cannot go where integers are kept, and what to do."""
    return f"{WHOLE_ONLY} {dtype}; say int(...), or use a float field"


class Range:
    """A ``range`` in functors, whose numbers are int64."""

    __slots__ = ("_range",)

    def __init__(self, *limits: Any) -> None:
        self._range = range(*map(operator.index, limits))

    @property
    def start(self) -> Any:
        """The first number, if there is any."""
        return np.int64(self._range.start)

    @property
    def stop(self) -> Any:
        """The end of the range, which is not one of its numbers."""
        return np.int64(self._range.stop)

    @property
    def step(self) -> Any:
        """The difference of consecutive numbers."""
        return np.int64(self._range.step)

    def __iter__(self) -> Iterator[Any]:
        return map(np.int64, self._range)

    def __reversed__(self) -> Iterator[Any]:
        return map(np.int64, reversed(self._range))

    def __len__(self) -> int:
        return len(self._range)

    def __contains__(self, value: Any) -> bool:
        return value in self._range

    def __getitem__(self, index: Any) -> Any:
        return np.int64(self._range[index])

    def __repr__(self) -> str:
        return repr(self._range)
