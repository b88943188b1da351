"""The public atomics, hashes and random numbers inside compiled functors; and ``truth``.

Import this module before compiling: it tells numba what the functions of :mod:`frontier.atomics`
and :mod:`frontier.numbers` mean on the CPU. (numba compares signatures literally, so the functions that
it reads have no annotations.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.extending import overload, register_jitable

from frontier import atomics, numbers
from frontier.backends.cpu import intrinsics

__all__ = ["truth"]

_INTEGERS = ("cas", "exch", "or")


def _refusal(name: str, field: Any) -> str | None:
    """Why an atomic on something is refused, or None."""
    if not isinstance(field, (types.CPointer, intrinsics.Narrow)):
        return f"atomic_{name}: its first argument {atomics.SCALAR_MESSAGE}"
    number = field.dtype
    wrong_kind = name in _INTEGERS and not isinstance(number, types.Integer)
    if wrong_kind or number.bitwidth not in (32, 64):
        numbers_ = "integers" if name in _INTEGERS else "numbers"
        return f"atomic_{name} works on {numbers_} of 32 or 64 bits, not on {number}"
    return None


def _define(name: str, operation: Any) -> None:
    def implement(field, index, value):  # type: ignore[no-untyped-def]
        refusal = _refusal(name, field)
        if refusal is not None:
            raise TypingError(refusal)
        if isinstance(field.dtype, types.Integer) and field.dtype.bitwidth < 64:  # as a read gives it
            return lambda field, index, value: np.int64(operation(field, index, value))
        return lambda field, index, value: operation(field, index, value)

    overload(getattr(atomics, f"atomic_{name}"), target="cpu")(implement)


_define("add", intrinsics.fetch_add)
_define("min", intrinsics.fetch_min)
_define("max", intrinsics.fetch_max)
_define("or", intrinsics.fetch_or)
_define("exch", intrinsics.exchange)


@overload(atomics.atomic_cas, target="cpu")
def _cas(field, index, expected, value):  # type: ignore[no-untyped-def]
    refusal = _refusal("cas", field)
    if refusal is not None:
        raise TypingError(refusal)
    operation = intrinsics.compare_exchange
    if field.dtype.bitwidth < 64:
        return lambda field, index, expected, value: np.int64(operation(field, index, expected, value))
    return lambda field, index, expected, value: operation(field, index, expected, value)


@register_jitable
def _mix(x):  # type: ignore[no-untyped-def]
    x = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@overload(numbers.hash, target="cpu")
def _hash(x):  # type: ignore[no-untyped-def]
    if isinstance(x, (types.Integer, types.Boolean)):
        return lambda x: np.int64(_mix(np.uint64(np.int64(x))) >> np.uint64(1))
    raise TypingError("fr.hash takes an integer")


@overload(numbers.random, target="cpu")
def _random(seed, i):  # type: ignore[no-untyped-def]
    if isinstance(seed, types.Integer) and isinstance(i, types.Integer):
        return lambda seed, i: (
            np.float64(_mix(_mix(np.uint64(np.int64(seed))) + np.uint64(np.int64(i))) >> np.uint64(11))
            * (1.0 / (1 << 53))
        )
    raise TypingError("fr.random takes two integers")


def truth(value: Any) -> bool:
    """Whether a functor's result means yes; returning nothing means no."""
    return bool(value)


@overload(truth, target="cpu")
def _truth(value):  # type: ignore[no-untyped-def]
    if isinstance(value, types.NoneType):
        return lambda value: False
    if isinstance(value, types.Optional):
        return lambda value: value is not None and bool(value)
    if isinstance(value, types.Boolean):
        return lambda value: value
    if isinstance(value, types.Number):
        return lambda value: value != 0
    raise TypingError(f"the functor returned {value}, where True or False was expected")
