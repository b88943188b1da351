"""Implementations of the public atomics, hashes, random numbers and ``truth`` in compiled functors, on any target.

A backend calls :func:`register` once with its own ``overload`` decorator and its own instructions. (numba compares
signatures literally, so the functions that it reads have no annotations.)
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError

from frontier.compile import keys
from frontier.compile.elements import Locked, Rows, Summed, Wrapped
from frontier.functors import adjacency, atomics, numbers
from frontier.functors.numbers import refused_float

__all__ = ["register", "truth"]

_INTEGERS = ("cas", "exch", "or")


def truth(value: Any) -> bool:
    """Whether a functor's result means yes; returning nothing means no."""
    return bool(value)


def _refusal(name: str, field: Any, index: Any, *values: Any) -> str | None:
    """Why an atomic on something is refused, or None."""
    if not isinstance(index, types.Integer):  # which numba would make one of a float
        return f"atomic_{name}: an index is an integer, not {index}"
    number: Any = getattr(field, "dtype", None)
    if number is None or not hasattr(number, "bitwidth") or isinstance(field, types.Array):
        return f"atomic_{name}: its first argument {atomics.SCALAR_MESSAGE}"
    bits = number.bitwidth
    wrong_kind = name in _INTEGERS and not isinstance(number, types.Integer)
    if wrong_kind or bits not in (32, 64):
        numbers_ = "integers" if name in _INTEGERS else "numbers"
        return f"atomic_{name} works on {numbers_} of 32 or 64 bits, not on {number}"
    if isinstance(number, types.Integer) and any(isinstance(value, types.Float) for value in values):
        return f"atomic_{name}: {refused_float(number)}"
    return None


def _refusal_of_companion(name: str, field: Any, companion: Any) -> str | None:
    """Why a value for the field that goes along is refused, or None."""
    other = getattr(field, "other", None)
    if other is None:
        return f"atomic_{name}: {atomics.NO_COMPANION}"
    if isinstance(other, types.Integer) and isinstance(companion, types.Float):
        return f"atomic_{name}: {refused_float(other)}"
    return None


def _narrow(field: Any) -> bool:
    """Whether what is read is widened."""
    number: Any = field.dtype
    bits = number.bitwidth
    return isinstance(number, types.Integer) and bool(bits < 64)


def _of_locked(field: Any, name: str, pairs: Any, companion: Any = None) -> Any:
    """An atomic on a key that has locks: without a companion as on any field."""
    public, key_of = getattr(atomics, f"atomic_{name}"), pairs.key_of
    if companion is not None:
        offer = pairs.locked_minimum if name == "min" else pairs.locked_maximum
        return lambda field, index, value, companion=None: offer(field, index, value, companion)
    if name in ("min", "max"):
        return lambda field, index, value, companion=None: public(key_of(field), index, value)
    return lambda field, index, value: public(key_of(field), index, value)


def register(
    overload: Any, operations: SimpleNamespace, jit: Any, intrinsic: Any, piece: Any, pairs: Any = None
) -> None:
    """Tell numba what the functions mean on one target.

    Parameters
    ----------
    overload : callable
        ``overload(function)`` decorates an implementation for the target.
    operations : namespace
        ``fetch_add, fetch_min, fetch_max, fetch_or, exchange`` (pointer, index, value) and ``compare_exchange``
        (pointer, index, expected, value), each giving the old value. ``add_summed`` where there are such fields.
    jit : callable
        Makes a function callable from compiled code of the target.
    intrinsic : callable
        The target's decorator of functions that make instructions.
    piece : callable
        What :func:`frontier.compile.fields.in_neighbours.register` gives.
    pairs : namespace, optional
        What :func:`frontier.compile.fields.pairs.register` gives, where fields share words.
    """
    _atomics(overload, operations, pairs)
    _numbers(overload, jit)
    _neighbours(overload, piece)
    _keys(overload, intrinsic)
    _truth(overload)


def _atomics(overload: Any, operations: SimpleNamespace, pairs: Any) -> None:
    def define(name: str, operation: Any) -> None:
        def implement(field, index, value):
            if isinstance(field, (Rows, Wrapped)):
                return None
            refusal = _refusal(name, field, index, value)
            if refusal is not None:
                raise TypingError(refusal)
            if isinstance(field, Locked):
                return _of_locked(field, name, pairs)
            act = operations.add_summed if isinstance(field, Summed) else operation
            if _narrow(field):  # as a read gives it
                return lambda field, index, value: np.int64(act(field, index, value))
            return lambda field, index, value: act(field, index, value)

        overload(getattr(atomics, f"atomic_{name}"))(implement)

    def define_paired(name: str, operation: Any, paired: Any) -> None:
        def implement(field, index, value, companion=None):
            if isinstance(field, (Rows, Wrapped)):
                return None
            refusal = _refusal(name, field, index, value)
            if refusal is None and companion is not None:
                refusal = _refusal_of_companion(name, field, companion)
            if refusal is not None:
                raise TypingError(refusal)
            if isinstance(field, Locked):
                return _of_locked(field, name, pairs, companion)
            if companion is not None and _narrow(field):
                return lambda field, index, value, companion=None: np.int64(paired(field, index, value, companion))
            if companion is not None:
                return lambda field, index, value, companion=None: paired(field, index, value, companion)
            if _narrow(field):
                return lambda field, index, value, companion=None: np.int64(operation(field, index, value))
            return lambda field, index, value, companion=None: operation(field, index, value)

        overload(getattr(atomics, f"atomic_{name}"))(implement)

    define("add", operations.fetch_add)
    if pairs is None:
        define("min", operations.fetch_min)
        define("max", operations.fetch_max)
    else:
        define_paired("min", operations.fetch_min, pairs.minimum)
        define_paired("max", operations.fetch_max, pairs.maximum)
    define("or", operations.fetch_or)
    define("exch", operations.exchange)
    swap = operations.compare_exchange

    def cas(field, index, expected, value):
        if isinstance(field, (Rows, Wrapped)):
            return None
        refusal = _refusal("cas", field, index, expected, value)
        if refusal is not None:
            raise TypingError(refusal)
        if isinstance(field, Locked):
            public, key_of = atomics.atomic_cas, pairs.key_of
            return lambda field, index, expected, value: public(key_of(field), index, expected, value)
        if _narrow(field):
            return lambda field, index, expected, value: np.int64(swap(field, index, expected, value))
        return lambda field, index, expected, value: swap(field, index, expected, value)

    overload(atomics.atomic_cas)(cas)


def _numbers(overload: Any, jit: Any) -> None:
    @jit
    def mix(x):
        x = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))

    def hash_(x):
        if isinstance(x, (types.Integer, types.Boolean)):
            return lambda x: np.int64(mix(np.uint64(np.int64(x))) >> np.uint64(1))
        raise TypingError("fr.hash takes an integer")

    def random(seed, i):
        if isinstance(seed, types.Integer) and isinstance(i, types.Integer):
            return lambda seed, i: (
                np.float64(mix(mix(np.uint64(np.int64(seed))) + np.uint64(np.int64(i))) >> np.uint64(11))
                * (1.0 / (1 << 53))
            )
        raise TypingError("fr.random takes two integers")

    overload(numbers.hash)(hash_)
    overload(numbers.random)(random)


def _neighbours(overload: Any, piece: Any) -> None:
    def there(p, array):
        return adjacency.hidden(array) in getattr(p, "fields", ())

    def asks(edges, direction):
        return direction == (edges if isinstance(edges, str) else getattr(edges, "literal_value", None))

    def slots(p, v, edges="out"):
        if there(p, "offsets") and asks(edges, "out"):
            return lambda p, v, edges="out": range(np.int64(p.offsets__[v]), np.int64(p.offsets__[v + 1]))
        if there(p, "in_edges") and asks(edges, "in"):
            return lambda p, v, edges="out": piece(
                p.in_edges__, np.int64(p.in_offsets__[v]), np.int64(p.in_offsets__[v + 1])
            )
        return None

    def degree(p, v, edges="out"):
        if there(p, "offsets") and asks(edges, "out"):
            return lambda p, v, edges="out": np.int64(p.offsets__[v + 1]) - np.int64(p.offsets__[v])
        if there(p, "in_offsets") and asks(edges, "in"):
            return lambda p, v, edges="out": np.int64(p.in_offsets__[v + 1]) - np.int64(p.in_offsets__[v])
        return None

    def target(p, e):
        if there(p, "targets"):
            return lambda p, e: np.int64(p.targets__[e])
        return None

    def source(p, e):
        if there(p, "sources"):
            return lambda p, e: np.int64(p.sources__[e])
        return None

    def weight(p, e):
        if not there(p, "weights"):
            return None
        number: Any = p.types[p.fields.index(adjacency.hidden("weights"))].dtype
        if isinstance(number, types.Integer) and number is not types.uint64:
            return lambda p, e: np.int64(p.weights__[e])
        return lambda p, e: p.weights__[e]

    for fn, made in zip(adjacency.NEEDS, (slots, degree, target, source, weight), strict=True):
        overload(fn)(made)


def _keys(overload: Any, intrinsic: Any) -> None:
    last = keys.LAST

    @intrinsic
    def pattern(typingctx, value):
        def generate(context, builder, signature, args):
            return builder.bitcast(args[0], ir.IntType(64))

        return types.int64(types.float64), generate

    def bits_of(value):
        if isinstance(value, types.Float):
            raise TypingError(keys.FLOATS)
        if isinstance(value, (types.Integer, types.Boolean)):
            return lambda value: np.int64(value)
        return None

    def integer(value):
        if isinstance(value, types.Float):
            raise TypingError(refused_float("integers"))
        if isinstance(value, (types.Integer, types.Boolean)):
            return lambda value: np.int64(value)
        return None

    def key_up(value):
        if isinstance(value, (types.Integer, types.Boolean)):
            return lambda value: np.int64(value)
        if not isinstance(value, types.Float):
            return None

        def of_float(value):
            made = pattern(np.float64(value) + 0.0)
            ordered = made if made >= 0 else made ^ np.int64(last)
            return np.int64(last) if value != value else ordered

        return of_float

    def key_down(value):
        if isinstance(value, (types.Integer, types.Boolean)):
            return lambda value: ~np.int64(value)
        if not isinstance(value, types.Float):
            return None

        def of_float(value):
            made = pattern(np.float64(value) + 0.0)
            ordered = made if made >= 0 else made ^ np.int64(last)
            return np.int64(last) if value != value else ~ordered

        return of_float

    overload(keys.integer)(integer)
    overload(keys.bits_of)(bits_of)
    overload(keys.key_up)(key_up)
    overload(keys.key_down)(key_down)


def _truth(overload: Any) -> None:
    def implement(value):
        if isinstance(value, types.NoneType):
            return lambda value: False
        if isinstance(value, types.Optional):
            return lambda value: value is not None and bool(value)
        if isinstance(value, types.Boolean):
            return lambda value: value
        if isinstance(value, types.Number):
            return lambda value: value != 0
        raise TypingError(f"the functor returned {value}, where True or False was expected")

    overload(truth)(implement)
