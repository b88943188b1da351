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

#: Why a fourth argument is refused.
NO_COMPANION = "no field goes along with its first argument: it takes one that is declared with_= this"

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
    """``field[index] += value``; returns the old value.

    Examples
    --------
    >>> p = fr.Problem(fr.star(4), edges=fr.vertex("int64"))
    >>> f = fr.advance(p, fr.Frontier.all(p.graph), lambda p, dst: fr.atomic_add(p.edges, dst, 1) < 0)
    >>> p.edges
    array([3, 1, 1, 1])
    """
    old = _old("add", field, index)
    field[index] = old + _number(value, field)
    return old


def atomic_min(field: Any, index: Any, value: Any, companion: Any = None) -> Any:
    """``field[index] = min(field[index], value)``; returns the old value. NaN is ignored.

    With a companion, nothing changes unless the value is less; then the element of the field declared ``with_=`` this
    one becomes ``companion`` at the same time.

    Examples
    --------
    >>> def nearer(p, src, dst, weight):
    ...     new = p.distance[src] + weight
    ...     return new < fr.atomic_min(p.distance, dst, new)
    >>> g = fr.from_edges([0, 0], [1, 2], [2.0, 5.0])
    >>> p = fr.Problem(g, distance=fr.vertex("float64", [0, 9, 1]))
    >>> sorted(fr.advance(p, fr.Frontier(g, [0]), nearer)), p.distance
    ([1], array([0., 2., 1.]))
    """
    old, new = _old("min", field, index), _number(value, field)
    if companion is None:
        field[index] = np.fmin(old, new)
    elif new < old or _is_nan(old) > _is_nan(new):
        field[index], _companion_of("min", field)[index] = new, companion
    return old


def atomic_max(field: Any, index: Any, value: Any, companion: Any = None) -> Any:
    """``field[index] = max(field[index], value)``; returns the old value. NaN is ignored.

    With a companion, nothing changes unless the value is greater; then the element of the field declared ``with_=``
    this one becomes ``companion`` at the same time.

    Examples
    --------
    >>> p = fr.Problem(fr.star(4), largest=fr.vertex("int64", -1))
    >>> f = fr.compute(p, fr.Frontier.all(p.graph), lambda p, v: fr.atomic_max(p.largest, 0, v))
    >>> p.largest
    array([ 3, -1, -1, -1])
    """
    old, new = _old("max", field, index), _number(value, field)
    if companion is None:
        field[index] = np.fmax(old, new)
    elif new > old or _is_nan(old) > _is_nan(new):
        field[index], _companion_of("max", field)[index] = new, companion
    return old


def _is_nan(value: Any) -> bool:
    return bool(value != value)


def _companion_of(name: str, field: Any) -> Any:
    companion = getattr(field, "companion", None)
    if companion is None:
        raise FunctorError(f"atomic_{name}: {NO_COMPANION}")
    return companion


def atomic_or(field: Any, index: Any, value: Any) -> Any:
    """``field[index] |= value``; returns the old value.

    Examples
    --------
    >>> p = fr.Problem(fr.path(3), bits=fr.vertex("uint64"))
    >>> f = fr.advance(p, fr.Frontier.all(p.graph), lambda p, src, dst: fr.atomic_or(p.bits, dst, 1 << src) == 0)
    >>> p.bits
    array([2, 5, 2], dtype=uint64)
    """
    old = _old("or", field, index)
    field[index] = old | _number(value, field)
    return old


def atomic_exch(field: Any, index: Any, value: Any) -> Any:
    """``field[index] = value``; returns the old value.

    Examples
    --------
    >>> def first(p, dst):
    ...     return fr.atomic_exch(p.seen, dst, 1) == 0
    >>> p = fr.Problem(fr.star(4), seen=fr.vertex("int32"))
    >>> sorted(fr.advance(p, fr.Frontier(p.graph, [1, 2, 3]), first))
    [0]
    """
    old = _old("exch", field, index)
    field[index] = value
    return old


def atomic_cas(field: Any, index: Any, expected: Any, value: Any) -> Any:
    """``field[index] = value`` if it was ``expected``; returns the old value.

    Examples
    --------
    >>> def claim(p, src, dst):
    ...     return fr.atomic_cas(p.parent, dst, -1, src) == -1
    >>> p = fr.Problem(fr.path(3), parent=fr.vertex("int32", -1))
    >>> f = fr.advance(p, fr.Frontier(p.graph, [1]), claim)
    >>> p.parent
    array([ 1, -1,  1], dtype=int32)
    """
    exchanged = getattr(type(field), "exchanged", None)
    if exchanged is not None:  # in the simulator, where several GPUs may do so
        return exchanged(field, index, expected, value)
    old = _old("cas", field, index)
    if old == expected:
        field[index] = value
    return old
