"""Atomic operations for functors, with the same meaning on every backend.

These are the plain Python definitions, which the python backend runs; compiling backends replace each function by an
instruction of the processor. All return the old value. They work on vertex fields, edge fields and arrays of 32- and
64-bit numbers; ``atomic_cas``, ``atomic_exch`` and ``atomic_or`` on integers only. There are no atomics on scalars:
return the value and use Reduce.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frontier.errors import FunctorError

__all__ = ["atomic_add", "atomic_cas", "atomic_exch", "atomic_max", "atomic_min", "atomic_or"]

SCALAR_MESSAGE = "is not a vertex, edge or array field; scalars take no atomics: return the value and use Reduce"


def check_atomic(name: str, dtype: Any) -> None:
    """Refuse an atomic operation that some backend could not do on this dtype."""
    dtype = np.dtype(dtype)
    kinds = "iu" if name in ("cas", "exch", "or") else "iuf"
    if dtype.kind not in kinds or dtype.itemsize not in (4, 8):
        numbers = "integers" if kinds == "iu" else "numbers"
        raise FunctorError(f"atomic_{name} works on {numbers} of 32 or 64 bits, not on {dtype}")


def _old(name: str, field: Any, index: Any) -> Any:
    if not hasattr(field, "dtype") or not hasattr(field, "__setitem__"):
        raise FunctorError(f"atomic_{name}: its first argument {SCALAR_MESSAGE}")
    check_atomic(name, field.dtype)
    return field[index]


def _number(value: Any, field: Any) -> Any:
    """A value as the field keeps it: that is what is added and compared."""
    return field.dtype.type(value) if field.dtype.kind == "f" or field.dtype == np.uint64 else value


def atomic_add(field: Any, index: Any, value: Any) -> Any:
    """``field[index] += value``; returns the old value."""
    old = _old("add", field, index)
    field[index] = old + _number(value, field)
    return old


def atomic_min(field: Any, index: Any, value: Any) -> Any:
    """``field[index] = min(field[index], value)``; returns the old value. NaN is ignored."""
    old = _old("min", field, index)
    field[index] = np.fmin(old, _number(value, field))
    return old


def atomic_max(field: Any, index: Any, value: Any) -> Any:
    """``field[index] = max(field[index], value)``; returns the old value. NaN is ignored."""
    old = _old("max", field, index)
    field[index] = np.fmax(old, _number(value, field))
    return old


def atomic_or(field: Any, index: Any, value: Any) -> Any:
    """``field[index] |= value``; returns the old value."""
    old = _old("or", field, index)
    field[index] = old | _number(value, field)
    return old


def atomic_exch(field: Any, index: Any, value: Any) -> Any:
    """``field[index] = value``; returns the old value."""
    old = _old("exch", field, index)
    field[index] = value
    return old


def atomic_cas(field: Any, index: Any, expected: Any, value: Any) -> Any:
    """``field[index] = value`` if it was ``expected``; returns the old value."""
    old = _old("cas", field, index)
    if old == expected:
        field[index] = value
    return old
