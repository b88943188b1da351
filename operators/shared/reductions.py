"""The reductions that Reduce, Gather and Intersect share, as data: identity, how two values combine, what they are.

The interpreter and the checks read this table. Compiled code has a text of its own for each name in it, which must
mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from frontier.backends.least import bits_of, key_down, key_up
from frontier.errors import FrontierError, FunctorError
from frontier.functors.numbers import refused_float

__all__ = ["ENDS", "OPS", "REDUCTIONS", "Reduction", "check_into", "check_op", "identity", "least", "reduced"]

DType = np.dtype[Any]


@dataclass(frozen=True)
class Reduction:
    """What a reduction is made of.

    Parameters
    ----------
    identity : callable
        ``identity(dtype)``: what the reduction of nothing gives for a field of this dtype, as a Python number.
    combine : callable
        ``combine(total, value)``: of two values one. The order in which values come is never promised, so it must be
        associative and commutative, exactly or but for rounding.
    value : callable
        ``value(given, dtype, what)``: what a functor gave as ``combine`` takes it; ``what`` is the functor, for
        messages.
    kinds : str
        Kinds of dtypes that a field may have that gets the result.
    exact : str
        Kinds of dtypes for which the result is the same in whatever order values come.
    needs : str
        What a message says that the field needs.
    finish : callable
        ``finish(total, dtype)``: what the field gets.
    """

    identity: Callable[[DType], Any]
    combine: Callable[[Any, Any], Any]
    value: Callable[[Any, DType, str], Any]
    kinds: str = "biuf"
    exact: str = "biuf"
    needs: str = "numbers or bools"
    finish: Callable[[Any, DType], Any] = lambda total, dtype: total


def _accumulator(dtype: DType) -> type[np.float64] | type[np.int64]:
    """In which numbers accumulate: float64 for floats, int64 for all others."""
    return np.float64 if dtype.kind == "f" else np.int64


def _number(given: Any, dtype: DType, what: str) -> Any:
    if dtype.kind != "f" and isinstance(given, (float, np.floating)):
        raise FunctorError(f"{what} gave {given}: {refused_float(dtype)}")
    return _accumulator(dtype)(given)


def _truth(given: Any, dtype: DType, what: str) -> bool:
    return bool(given)


def _bits(given: Any, dtype: DType, what: str) -> int:
    return bits_of(given)


def _positive(total: Any, dtype: DType) -> Any:
    return int(total) & int(np.iinfo(dtype).max) if dtype.kind == "u" else total


def _constant(value: int) -> Callable[[DType], Any]:
    return lambda dtype: float(value) if dtype.kind == "f" else value


def _most(dtype: DType) -> Any:
    if dtype.kind == "f":
        return np.inf
    # Integers accumulate in int64, whatever the field's dtype.
    return 1 if dtype.kind == "b" else min(int(np.iinfo(dtype).max), 2**63 - 1)


def _fewest(dtype: DType) -> Any:
    if dtype.kind == "f":
        return -np.inf
    return 0 if dtype.kind == "b" else int(np.iinfo(dtype).min)


#: Name -> the reduction. For min and max, NaN is no value: it never is less, or greater, than the total.
REDUCTIONS = {
    "sum": Reduction(_constant(0), lambda total, value: total + value, _number, exact="biu"),
    "min": Reduction(_most, lambda total, value: value if value < total else total, _number),
    "max": Reduction(_fewest, lambda total, value: value if value > total else total, _number),
    "any": Reduction(_constant(0), lambda total, value: bool(total) or value, _truth),
    "all": Reduction(_constant(1), lambda total, value: bool(total) and value, _truth),
    "or": Reduction(
        _constant(0), lambda total, value: total | value, _bits, "biu", "biu", "integers or bools", _positive
    ),
}
OPS = tuple(REDUCTIONS)

#: What Gather knows besides: the field gets the far end of the edge with the least, or greatest, value.
ENDS = ("argmin", "argmax")


def check_op(op: str, ops: tuple[str, ...], what: str) -> None:
    """Raise FrontierError unless the op is one of those there are."""
    if op not in ops:
        raise FrontierError(f"{what}(op={op!r}): choose from {', '.join(ops)}")


def check_into(op: str, name: str, dtype: DType, what: str) -> None:
    """Raise FrontierError unless a field or scalar of this dtype can take what an op gives."""
    made = REDUCTIONS.get(op)
    if made is not None and dtype.kind not in made.kinds:
        raise FrontierError(f"{what}(op={op!r}, into={name!r}): the field holds {dtype}; {op} needs {made.needs}")
    if op in ENDS and dtype.kind != "i":
        raise FrontierError(
            f"{what}(op={op!r}, into={name!r}): the field holds {dtype}; it gets vertices, and -1 where there is no "
            "edge, so its dtype is int32 or int64"
        )


def identity(op: str, dtype: DType) -> Any:
    """What the reduction of nothing gives, as a Python number that ``dtype`` holds."""
    return REDUCTIONS[op].identity(dtype)


def reduced(op: str, values: Iterable[Any], dtype: DType, what: str = "the functor of a reduction") -> Any:
    """The reduction of some values for a field or scalar of this dtype; ``what`` gives them, for messages.

    It is made in float64 for floats, in int64 for all others, whose sums wrap.
    """
    made = REDUCTIONS[op]
    total: Any = _accumulator(dtype)(made.identity(dtype))
    for value in values:
        if value is None:
            raise FunctorError("the functor of a reduction returned no value")
        total = made.combine(total, made.value(value, dtype, what))
    return made.finish(total, dtype)


def least(op: str, values: Iterable[tuple[Any, Any]]) -> int:
    """Of pairs of value and far end, the end that comes with the least (greatest) value, the smallest one; or -1."""
    key = key_up if op == "argmin" else key_down
    keys = []
    for value, end in values:
        if value is None:
            raise FunctorError("the functor of a reduction returned no value")
        keys.append((key(value), int(end)))
    return min(keys)[1] if keys else -1
