"""The reductions that Reduce and Gather share: names, identities, plain Python meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from frontier.errors import FrontierError, FunctorError

__all__ = ["OPS", "check_op", "identity", "reduced"]

OPS = ("sum", "min", "max", "any", "all")


def check_op(op: str, ops: tuple[str, ...], what: str) -> None:
    """Raise FrontierError unless the op is one of those there are."""
    if op not in ops:
        raise FrontierError(f"{what}(op={op!r}): choose from {', '.join(ops)}")


def identity(op: str, dtype: np.dtype[Any]) -> Any:
    """What the reduction of nothing gives, as a Python number that ``dtype`` holds."""
    if op in ("sum", "any"):
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


def _as(number: Callable[[Any], Any], value: Any, dtype: np.dtype[Any]) -> Any:
    try:
        return number(value)
    except (OverflowError, ValueError):
        raise FunctorError(f"a reduction into {dtype} met {value}") from None


def reduced(op: str, values: Iterable[Any], dtype: np.dtype[Any]) -> Any:
    """The reduction of some values for a field or scalar of this dtype."""
    total: Any = identity(op, dtype)
    number = float if dtype.kind == "f" else int
    for value in values:
        if value is None:
            raise FunctorError("the functor of a reduction returned no value")
        if op in ("sum", "min", "max"):
            value = _as(number, value, dtype)
        if op == "sum":
            total = total + value
        elif op == "min":
            total = min(total, value)
        elif op == "max":
            total = max(total, value)
        elif op == "any":
            total = bool(total) or bool(value)
        else:
            total = bool(total) and bool(value)
    return total
