"""Scratch memory of functors: a few numbers that one call has to itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from frontier.errors import FunctorError
from frontier.functors.numbers import refused_float

__all__ = ["LARGEST", "Scratch", "scratch"]

#: Numbers of a scratch at most: every call of the functor fills them, and every thread of a GPU holds its own.
LARGEST = 256


def refusal(size: Any) -> str | None:
    """Why there can be no scratch of this size, or None."""
    if isinstance(size, int) and not isinstance(size, bool) and 1 <= size <= LARGEST:
        return None
    return f"fr.scratch({'...' if size is None else size}): its size is a constant from 1 to {LARGEST}"


class Scratch:
    """What :func:`scratch` returns on the python backend."""

    __slots__ = ("_values",)

    def __init__(self, size: int, value: Any) -> None:
        kind: Any = np.float64 if isinstance(value, (float, np.floating)) else np.int64
        self._values = np.full(size, value, kind)

    def _at(self, index: Any) -> int:
        if not isinstance(index, (int, np.integer)) or isinstance(index, bool):
            raise FunctorError(f"a scratch at [{index!r}]: an index is an integer")
        if not 0 <= index < self._values.size:
            raise IndexError(f"a scratch at [{index}]: valid are 0..{self._values.size - 1}")
        return int(index)

    def __getitem__(self, index: Any) -> Any:
        return self._values[self._at(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._values.dtype == np.int64 and isinstance(value, (float, np.floating)):
            raise FunctorError(f"a scratch at [{index}] = {value}: {refused_float(self._values.dtype)}")
        self._values[self._at(index)] = value

    def __len__(self) -> int:
        return self._values.size


def scratch(size: int, value: Any = 0) -> Scratch:
    """Return memory for a few numbers, in functors: ``seen = fr.scratch(8)``, then ``seen[i]`` is read and written.

    Each call of the functor has its own, which is gone when the call returns.

    Parameters
    ----------
    size : int
        How many numbers, a constant from 1 to 256. On a GPU up to about 16 may stay in registers.
    value : number
        What they hold at first. Integers have 64 bits; with a float, as in ``fr.scratch(4, 0.0)``, they are float64.

    Examples
    --------
    The two smallest neighbours of each vertex:

    >>> def two(p, v):
    ...     least = fr.scratch(2, p.num_vertices)
    ...     for e in fr.neighbours(p, v):
    ...         u = fr.target(p, e)
    ...         if u < least[0]:
    ...             least[1] = least[0]
    ...             least[0] = u
    ...         elif u < least[1]:
    ...             least[1] = u
    ...     p.first[v] = least[0]
    ...     p.second[v] = least[1]
    >>> p = fr.Problem(fr.path(4), first=fr.vertex("int32"), second=fr.vertex("int32"))
    >>> _ = fr.compute(p, fr.Frontier.all(p.graph), two)
    >>> p.first.tolist(), p.second.tolist()
    ([1, 0, 1, 2], [4, 2, 3, 4])
    """
    reason = refusal(size)
    if reason is not None:
        raise FunctorError(reason)
    return Scratch(size, value)
