"""Functions for operations that NumPy has and numba lacks, in compiled code on any target.

:mod:`frontier.compile.functors.promotion` inserts calls of them into functors; :func:`register` registers them with
numba. (numba compares signatures literally, so the functions that it reads have no annotations.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from frontier.functors.numbers import OF_BOOLS

__all__ = [
    "CALLS",
    "MIXED",
    "OF_BOOLS",
    "OF_UNSIGNED",
    "TOO_LARGE",
    "floor_divided",
    "greatest",
    "least",
    "negated",
    "order",
    "power",
    "real",
    "real_power",
    "register",
    "remainder",
    "rounded",
    "rounded_down",
    "rounded_up",
    "shifted_left",
    "shifted_right",
    "whole",
]

#: Why an operation is refused. The text of such messages reaches the user.
OF_UNSIGNED = "a negative number does not go together with uint64: say np.int64(...)"
MIXED = "NumPy has no such operation of {} and {}: convert one of them"

TOO_LARGE = "a number is too large: {} does not fit {}"
NO_BITS = "there is no ~ of a float"

_LEAST = -(2**63)


def _stub(name: str) -> Callable[..., Any]:
    def call(*values: Any) -> Any:
        raise NotImplementedError(name)

    call.__name__ = call.__qualname__ = name
    return call


shifted_left, shifted_right = _stub("shifted_left"), _stub("shifted_right")
floor_divided, remainder = _stub("floor_divided"), _stub("remainder")
power, real_power = _stub("power"), _stub("real_power")
negated = _stub("negated")
least, greatest = _stub("least"), _stub("greatest")
order = _stub("order")
whole, real, rounded = _stub("whole"), _stub("real"), _stub("rounded")
rounded_down, rounded_up = _stub("rounded_down"), _stub("rounded_up")

#: Functions of floats that are others in compiled code.
CALLS: dict[Any, Callable[..., Any]] = {
    int: whole,
    np.int64: whole,
    float: real,
    round: rounded,
    math.trunc: whole,
    math.floor: rounded_down,
    math.ceil: rounded_up,
}


def register(overload: Callable[..., Any], shifts: tuple[Any, Any] | None = None) -> None:
    """Tell numba what the functions are; ``overload(function)`` decorates an implementation for the target.

    ``shifts`` are instructions of the target that shift to the left and to the right as :func:`_shifts` does.
    """
    _shifts(overload, shifts)
    _divisions(overload)
    _powers(overload)
    _conversions(overload)

    def invert(x):
        return lambda x: not x

    def less(a, b):
        return lambda a, b: b if b < a else a

    def more(a, b):
        return lambda a, b: b if b > a else a

    def compare(a, b):
        if a.signed:
            return lambda a, b: -1 if a < 0 or np.uint64(a) < b else 1 if np.uint64(a) > b else 0
        return lambda a, b: 1 if b < 0 or a > np.uint64(b) else -1 if a < np.uint64(b) else 0

    overload(order)(compare)
    overload(negated)(invert)
    overload(least)(less)
    overload(greatest)(more)


def _shifts(overload: Callable[..., Any], own: tuple[Any, Any] | None) -> None:
    """By as many bits as there are, or more, or by less than none: nothing of the number is left."""
    if own is not None:
        to_left, to_right = own
        overload(shifted_left)(lambda a, n: lambda a, n: to_left(a, n))
        overload(shifted_right)(lambda a, n: lambda a, n: to_right(a, n))
        return

    def left(a, n):
        bits, zero = a.bitwidth, getattr(np, str(a))(0)
        return lambda a, n: a << n if n >= 0 and n < bits else zero

    def right(a, n):
        bits = a.bitwidth
        last = bits - 1 if a.signed else 0
        if a.signed:
            return lambda a, n: a >> (n if n >= 0 and n < bits else last)
        return lambda a, n: a >> n if n >= 0 and n < bits else a - a

    overload(shifted_left)(left)
    overload(shifted_right)(right)


def _divisions(overload: Callable[..., Any]) -> None:
    """Of integers: by 0 gives 0, by -1 wraps, where the processor would stop."""

    def divide(a, b):
        if isinstance(a, types.Float):
            return _floor_of_floats(getattr(np, str(a)))
        if not a.signed:
            return lambda a, b: a // b if b != 0 else a - a
        return lambda a, b: a // b if b != 0 and b != -1 else -a if b == -1 else a - a

    def rest(a, b):
        if isinstance(a, types.Float):
            return _rest_of_floats(getattr(np, str(a)))
        if not a.signed:
            return lambda a, b: a % b if b != 0 else a - a
        return lambda a, b: a % b if b != 0 and b != -1 else a - a

    overload(floor_divided)(divide)
    overload(remainder)(rest)


def _rest_of_floats(number):
    """As NumPy's npy_divmod: the sign of the divisor."""

    def implement(a, b):
        made = np.fmod(a, b)
        if b == 0:
            return made
        if made != 0:
            return made + b if (b < 0) != (made < 0) else made
        return math.copysign(made, b)

    return implement


def _floor_of_floats(number):
    """The same function's quotient."""
    zero, half, one = number(0), number(0.5), number(1)

    def implement(a, b):
        rest = np.fmod(a, b)
        if b == 0:
            return a / b
        quotient = (a - rest) / b
        if rest != 0 and (b < 0) != (rest < 0):
            quotient = quotient - one
        if quotient != 0:
            down = np.floor(quotient)
            return down + one if quotient - down > half else down
        return math.copysign(zero, a / b)

    return implement


def _powers(overload: Callable[..., Any]) -> None:
    def of_integers(a, n):
        one = getattr(np, str(a))(1)

        def implement(a, n):
            if n < 0:  # which NumPy refuses: what is left of 1 / a ** -n without its fraction
                return a if a == 1 or (a == -1 and n & 1) else -a if a == -1 else one - one
            made = one
            while n > 0:
                if n & 1:
                    made *= a
                a *= a
                n >>= 1
            return made

        return implement

    def of_floats(a, b):
        return lambda a, b: math.pow(a, b)

    overload(power)(of_integers)
    overload(real_power)(of_floats)


def _conversions(overload: Callable[..., Any]) -> None:
    """To integers: without the fraction; what does not fit, and NaN, gives the least, as on x86."""

    def to_whole(x):
        if isinstance(x, types.Integer):
            return lambda x: np.int64(x)
        return _to_whole

    def to_real(x):
        return lambda x: np.float64(x)

    def to_nearest(x):
        if isinstance(x, types.Integer):
            return lambda x: np.int64(x)
        return lambda x: whole(np.rint(x))

    def down(x):
        if isinstance(x, types.Integer):
            return lambda x: np.int64(x)
        return lambda x: whole(np.floor(x))

    def up(x):
        if isinstance(x, types.Integer):
            return lambda x: np.int64(x)
        return lambda x: whole(np.ceil(x))

    overload(whole)(to_whole)
    overload(real)(to_real)
    overload(rounded)(to_nearest)
    overload(rounded_down)(down)
    overload(rounded_up)(up)


def _to_whole(x):
    y = np.float64(x)
    return np.int64(y) if y >= -(2.0**63) and y < 2.0**63 else np.int64(_LEAST)
