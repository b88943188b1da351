"""The reductions of Reduce, Gather and Intersect, as data: one table of shipped ones and those that users register.

The interpreter, the checks and compiled code all read it. A shipped combination is inserted into the kernels as it is
written here; one that a user has registered is compiled as functors are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.compile.keys import bits_of, integer, key_down, key_up
from frontier.errors import FrontierError, FunctorError
from frontier.functors.functor import location
from frontier.functors.numbers import refused_float

if TYPE_CHECKING:
    from frontier.program.step import Functor

__all__ = [
    "ENDS", "GATHERED", "KINDS", "MODE", "REDUCTIONS", "SHIPPED", "Reduction", "check_into", "combination", "find",
    "identity", "least", "most_frequent", "reduced", "registered", "shipped",
]  # fmt: skip

DType = np.dtype[Any]


@dataclass(frozen=True)
class Reduction:
    """What a reduction is made of.

    Parameters
    ----------
    name : str
    combine : function
        ``combine(total, value)``: of two values one. The order in which values come is never promised, so it must be
        associative and commutative, exactly or but for rounding.
    identity : callable
        ``identity(dtype)``: what the reduction of nothing gives for a field of this dtype, as a Python number.
    kinds : str
        Kinds of dtypes that a field may have that gets the result.
    exact : str
        Kinds of dtypes for which the result is the same in whatever order values come.
    takes : {"numbers", "truth", "bits"}
        As what a functor's value is combined: a number, in float64 for fields of floats and in int64 for all others;
        0 or 1; or an int64 whose bits count.
    runtime : str
        The operation by which the runtimes of backends bring partial results together: ``"SUM"``, ``"MIN"``, ``"MAX"``
        or ``"OR"``. ``""`` for all others, whose own combination does that, compiled as functors are: for those that
        users register, and for new ones in :data:`SHIPPED`.
    """

    name: str
    combine: Functor
    identity: Callable[[DType], Any]
    kinds: str = "biuf"
    exact: str = "biuf"
    takes: str = "numbers"
    runtime: str = ""

    def real(self, dtype: DType) -> bool:
        """Whether values accumulate in float64 for a field of this dtype; else it is int64."""
        return dtype.kind == "f" and self.takes == "numbers"

    def value(self, given: Any, dtype: DType, what: str) -> Any:
        """Convert a functor's value for ``combine``; ``what`` is the functor, for messages."""
        if given is None:
            raise FunctorError("the functor of a reduction returned no value")
        if self.takes == "truth":
            return np.int64(bool(given))
        if self.takes == "bits":
            return np.int64(bits_of(given))
        if self.real(dtype):
            return np.float64(given)
        if isinstance(given, (float, np.floating)):
            raise FunctorError(f"{what} gave {given}: {refused_float(dtype)}")
        return integer(given)

    def start(self, dtype: DType) -> Any:
        """The identity, as what values accumulate in."""
        found = identity(self, dtype)
        return np.float64(found) if self.real(dtype) else integer(int(found))

    def merged(self, parts: Iterable[Any], dtype: DType, plain: Callable[[Functor], Callable[..., Any]]) -> Any:
        """Reduce what several parts got, in their order, to a value of this dtype."""
        combine, total = combination(self, dtype, plain), self.start(dtype)
        for part in parts:
            total = combine(total, self.value(part, dtype, self.name))
        return np.asarray(self.finish(total, dtype)).astype(dtype)

    def finish(self, total: Any, dtype: DType) -> Any:
        """What the field gets: of what has accumulated in int64 an unsigned field takes the bits."""
        if dtype.kind == "u" and self.takes == "bits":
            return int(total) & int(np.iinfo(dtype).max)
        if dtype == np.uint64 and not self.runtime:
            return int(total) % 2**64
        return total


# ---- what is shipped ---------------------------------------------------------------------------------------


def add(total, value):
    """The sum."""
    return total + value


# Written out so that a later NaN is ignored, as with Python's min and max.


def lesser(total, value):
    """The lesser of two."""
    if value < total:
        total = value
    return total


def greater(total, value):
    """The greater of two."""
    if value > total:
        total = value
    return total


def either(total, value):
    """Whether one of two truths holds."""
    return max(total, value)


def both(total, value):
    """Whether two truths hold."""
    return min(total, value)


def union(total, value):
    """The bits of both."""
    return total | value


def _constant(value: float) -> Callable[[DType], Any]:
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


SHIPPED = (
    Reduction("sum", add, _constant(0), exact="biu", runtime="SUM"),
    # These two ignore NaN, which is never less or greater than the total.
    Reduction("min", lesser, _most, runtime="MIN"),
    Reduction("max", greater, _fewest, runtime="MAX"),
    Reduction("any", either, _constant(0), takes="truth", runtime="MAX"),
    Reduction("all", both, _constant(1), takes="truth", runtime="MIN"),
    Reduction("or", union, _constant(0), "biu", "biu", takes="bits", runtime="OR"),
)

#: Name -> reduction: the shipped ones, then those that users have registered.
REDUCTIONS = {made.name: made for made in SHIPPED}

#: Operations of Gather only: the field gets the far end of the edge with the least, or greatest, value.
ENDS = ("argmin", "argmax")

#: Another of Gather only: the field gets the most frequent value.
MODE = "mode"

#: All operations of Gather only, which no combination of two values says.
GATHERED = (*ENDS, MODE)

#: Kinds of dtypes, as messages call them.
KINDS = {"i": "integers", "u": "unsigned integers", "f": "floats", "b": "bools"}


def shipped(op: str) -> Any:
    """The combination of a reduction that is shipped."""
    return REDUCTIONS[op].combine


# ---- checks ------------------------------------------------------------------------------------------------


def find(op: str | Reduction, what: str, more: tuple[str, ...] = ()) -> Reduction:
    """The reduction of a name. Raise FrontierError if there is none; ``more`` are other names that would do.

    A program of this package may have a reduction of its own, without a name that users might take.
    """
    if isinstance(op, Reduction):
        return op
    found = REDUCTIONS.get(op) if isinstance(op, str) else None
    if found is None:
        raise FrontierError(f"{what}(op={op!r}): choose from {', '.join((*REDUCTIONS, *more))}")
    return found


def registered(made: Reduction | None) -> Iterator[Functor]:
    """A user's combination, if a reduction has one."""
    if made is not None and not made.runtime:
        yield made.combine


def check_into(op: str, made: Reduction | None, name: str, dtype: DType, what: str) -> None:
    """Raise FrontierError unless a field or scalar of this dtype can take what an op gives."""
    given = f"{what}(op={op!r}, into={name!r}): the field holds {dtype}"
    if op == MODE:
        if dtype.kind not in "iu":
            raise FrontierError(f"{given}; {op} needs {_needs('iu')}")
        return
    if made is None:
        if dtype.kind != "i":
            raise FrontierError(
                f"{given}; it gets vertices, and -1 where there is no edge, so its dtype is int32 or int64"
            )
        return
    if dtype.kind not in made.kinds:
        raise FrontierError(f"{given}; {op} needs {_needs(made.kinds)}")
    if made.identity(dtype) is None:
        raise FrontierError(f"{given}, which cannot hold the identity of {op}: give a function of the dtype")
    if not made.runtime:
        _check_neutral(made, dtype)


def _needs(kinds: str) -> str:
    words = [words for kind, words in KINDS.items() if kind in kinds and not (kind == "u" and "i" in kinds)]
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _check_neutral(made: Reduction, dtype: DType) -> None:
    """Raise FrontierError unless combining the identity with itself changes nothing."""
    start = made.start(dtype)
    with np.errstate(all="ignore"):
        found = combination(made, dtype)(start, start)
    if found != start and not (found != found and start != start):
        raise FrontierError(
            f"{location(made.combine)} makes {found} of {start} and {start}, which is the identity of {made.name!r}: "
            "with it, a value stays as it is"
        )


def identity(made: Reduction, dtype: DType) -> Any:
    """Return the identity of a reduction, as a Python number that fits ``dtype``."""
    return made.identity(dtype)


# ---- meaning -----------------------------------------------------------------------------------------------


def combination(
    made: Reduction, dtype: DType, called: Callable[[Functor], Functor] | None = None
) -> Callable[[Any, Any], Any]:
    """``combine`` as the interpreter calls it, for a field of this dtype; ``called`` gives a function as it is called.

    A user's is called with NumPy's numbers, and what it gives is a number as values are.
    """
    if made.runtime:
        return made.combine
    from frontier.backends.python.arithmetic import numbered
    from frontier.backends.python.interpreter import blaming

    where = location(made.combine)
    combine = called(made.combine) if called is not None else blaming(made.combine, numbered(made.combine))

    def combined(total: Any, value: Any) -> Any:
        found = combine(total, value)
        if found is None:
            raise FunctorError(f"{where} returned nothing, where a number was expected: return one on every path")
        if not isinstance(found, (bool, int, float, np.number, np.bool_)):
            raise FunctorError(f"{where} gave {found!r}: what combines two numbers gives one number")
        if made.real(dtype):
            return np.float64(found)
        if isinstance(found, (float, np.floating)):
            raise FunctorError(f"{where} gave {found} of {total} and {value}: {refused_float('integers')}")
        return integer(found)

    return combined


def reduced(
    made: Reduction,
    values: Iterable[Any],
    dtype: DType,
    what: str = "the functor of a reduction",
    combine: Callable[[Any, Any], Any] | None = None,
) -> Any:
    """The reduction of some values for a field or scalar of this dtype; ``what`` gives them, for messages.

    It is made in float64 for floats, in int64 for all others, whose sums wrap. ``combine`` is the reduction's
    :func:`combination`, if that is known already.
    """
    combine = combination(made, dtype) if combine is None else combine
    total = made.start(dtype)
    for value in values:
        total = combine(total, made.value(value, dtype, what))
    return made.finish(total, dtype)


def least(op: str, values: Iterable[tuple[Any, Any]]) -> int:
    """Return the far end with the least (greatest) value, the smallest of several, or -1 if there is no pair."""
    key = key_up if op == "argmin" else key_down
    keys = []
    for value, end in values:
        if value is None:
            raise FunctorError("the functor of a reduction returned no value")
        keys.append((key(value), int(end)))
    return min(keys)[1] if keys else -1


def most_frequent(values: Iterable[Any], dtype: DType, what: str) -> int:
    """Return the most frequent of some integers, the smallest of several; -1 if there is none.

    They count as int64, for a field of uint64 as that; unsigned fields get their greatest number for -1.
    """
    take, bits = REDUCTIONS["sum"].value, 2**64 - 1 if dtype == np.uint64 else -1
    counts = Counter(int(take(value, dtype, what)) & bits for value in values)
    if not counts:
        return int(np.iinfo(dtype).max) if dtype.kind == "u" else -1
    return min(counts, key=lambda label: (-counts[label], label))
