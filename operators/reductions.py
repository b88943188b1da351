"""The reductions that Reduce and Gather share: names, identities, plain Python meaning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from frontier.backends.least import bits_of, key_down, key_up
from frontier.errors import FrontierError, FunctorError
from frontier.numbers import refused_float

__all__ = ["ENDS", "OPS", "check_into", "check_op", "identity", "least", "reduced"]

OPS = ("sum", "min", "max", "any", "all", "or")

#: What Gather knows besides: the field gets the far end of the edge with the least, or greatest, value.
ENDS = ("argmin", "argmax")


def check_op(op: str, ops: tuple[str, ...], what: str) -> None:
    """Raise FrontierError unless the op is one of those there are."""
    if op not in ops:
        raise FrontierError(f"{what}(op={op!r}): choose from {', '.join(ops)}")


def check_into(op: str, name: str, dtype: np.dtype[Any], what: str) -> None:
    """Raise FrontierError unless a field or scalar of this dtype can take what an op gives."""
    if op == "or" and dtype.kind == "f":
        raise FrontierError(f"{what}(op='or', into={name!r}): the field holds {dtype}; or needs integers or bools")
    if op in ENDS and dtype.kind != "i":
        raise FrontierError(
            f"{what}(op={op!r}, into={name!r}): the field holds {dtype}; it gets vertices, and -1 where there is no "
            "edge, so its dtype is int32 or int64"
        )


def identity(op: str, dtype: np.dtype[Any]) -> Any:
    """What the reduction of nothing gives, as a Python number that ``dtype`` holds."""
    if op in ("sum", "any", "or"):
        return 0.0 if dtype.kind == "f" else 0
    if op == "all":
        return 1.0 if dtype.kind == "f" else 1
    if dtype.kind == "f":
        return np.inf if op == "min" else -np.inf
    if dtype.kind == "b":
        return 1 if op == "min" else 0
    limits = np.iinfo(dtype)
    # Integers accumulate in int64, whatever the field's dtype.
    return min(int(limits.max), 2**63 - 1) if op == "min" else int(limits.min)


def reduced(op: str, values: Iterable[Any], dtype: np.dtype[Any], what: str = "the functor of a reduction") -> Any:
    """The reduction of some values for a field or scalar of this dtype; ``what`` gives them, for messages.

    It is made in float64 for floats, in int64 for all others, whose sums wrap. For min and max, NaN is no value.
    """
    number = np.float64 if dtype.kind == "f" else np.int64
    total: Any = number(identity(op, dtype))
    for value in values:
        if value is None:
            raise FunctorError("the functor of a reduction returned no value")
        if op in ("sum", "min", "max"):
            if number is np.int64 and isinstance(value, (float, np.floating)):
                raise FunctorError(f"{what} gave {value}: {refused_float(dtype)}")
            value = number(value)
        if op == "sum":
            total = total + value
        elif op == "min":
            total = value if value < total else total
        elif op == "max":
            total = value if value > total else total
        elif op == "any":
            total = bool(total) or bool(value)
        elif op == "or":
            total |= bits_of(value)
        else:
            total = bool(total) and bool(value)
    return total & int(np.iinfo(dtype).max) if op == "or" and dtype.kind == "u" else total


def least(op: str, values: Iterable[tuple[Any, Any]]) -> int:
    """Of pairs of value and far end, the end that comes with the least (greatest) value, the smallest one; or -1."""
    key = key_up if op == "argmin" else key_down
    keys = []
    for value, end in values:
        if value is None:
            raise FunctorError("the functor of a reduction returned no value")
        keys.append((key(value), int(end)))
    return min(keys)[1] if keys else -1
