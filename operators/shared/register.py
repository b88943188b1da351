"""``fr.register_reduction``, by which users add a reduction to the table, and its checks."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import FrontierError, FunctorError
from frontier.functors.captures import Captures
from frontier.functors.functor import location
from frontier.operators.shared.reductions import GATHERED, KINDS, REDUCTIONS, SHIPPED, Reduction

if TYPE_CHECKING:
    from frontier.program.step import Functor

__all__ = ["register_reduction"]

DType = np.dtype[Any]

_RESERVED = (*(made.name for made in SHIPPED), *GATHERED)

#: Dtypes that fields have.
_DTYPES = [np.dtype(name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
)]  # fmt: skip


def register_reduction(
    name: str,
    combine: Functor,
    *,
    identity: float | Callable[[DType], float],
    kinds: str = "biuf",
    exact: str = "biu",
    truth: bool = False,
) -> None:
    """Add a reduction, which Reduce, Gather and Intersect then take as their ``op``.

    A step keeps the reduction that its name stood for when the step was made; registering the name again replaces it
    for later steps.

    Parameters
    ----------
    name : str
        An identifier that no shipped reduction has.
    combine : function
        ``combine(total, value)`` makes one number of two: a plain function that may do what functors may do. It must be
        associative and commutative, if only up to rounding. For float fields both numbers are float64, for all others
        int64, in which a uint64 of 2**63 or more is represented by its bits.
    identity : number or callable
        The result for no values at all; ``combine`` of it and a value must give that value. Or a function from the
        field's dtype to that number, which is called at once for all dtypes.
    kinds : str
        Kinds of dtypes that the field may have: ``"b"`` (bool), ``"i"``, ``"u"`` (integers) and ``"f"`` (floats).
    exact : str
        Kinds of dtypes for which the result does not depend on the order of the values. For others the order is the
        same in every run on a given number of threads.
    truth : bool
        Whether ``combine`` gets 0 or 1 (as int64, for float fields too) for each value, by whether it counts as true.

    Raises
    ------
    FrontierError
        The name, the identity or the kinds are none.
    FunctorError
        ``combine`` is no plain function of two arguments, or captures an array.

    Examples
    --------
    >>> import frontier as fr
    >>> fr.register_reduction("prod", lambda total, value: total * value, identity=1)
    >>> p = fr.Problem(fr.path(4).to("python"), total=fr.scalar("int64"))
    >>> _ = fr.Reduce(lambda p, v: v + 1, "prod", into="total", over="vertices")(p)
    >>> int(p.total)
    24
    """
    if not (isinstance(name, str) and name.isidentifier()) or name in _RESERVED:
        raise FrontierError(
            f"a reduction cannot be called {name!r}: it takes an identifier that no shipped reduction has"
        )
    for what, given in (("kinds", kinds), ("exact", exact)):
        if not isinstance(given, str) or not set(given) <= set(KINDS) or (what == "kinds" and not given):
            raise FrontierError(f"register_reduction({name!r}, {what}={given!r}): some letters of 'biuf'")
    _check_combine(combine)
    found = _identities(name, identity, kinds)
    REDUCTIONS[name] = Reduction(name, combine, found.get, kinds, exact, "truth" if truth else "numbers")


def _identities(name: str, given: Any, kinds: str) -> dict[DType, Any]:
    """The identity for each dtype that holds it, asked for now: what a function gives later may be something else."""
    found = {}
    for dtype in (dtype for dtype in _DTYPES if dtype.kind in kinds):
        try:
            number = given(dtype) if callable(given) else given
        except Exception as error:
            raise FrontierError(
                f"the identity of the reduction {name!r} for {dtype}: {type(error).__name__}: {error}; if it has none, "
                f"leave {dtype.kind!r} out of kinds="
            ) from error
        if not isinstance(number, (bool, int, float, np.integer, np.floating, np.bool_)):
            raise FrontierError(f"register_reduction({name!r}, identity={given!r}): a number, or a function of a dtype")
        held = _held(number, dtype)
        if held is not None:
            found[dtype] = held
        elif callable(given) or dtype.itemsize == 8 or dtype.kind == "b":  # of a number the widest are enough
            raise FrontierError(_not_held(name, number, dtype))
    return found


def _held(given: Any, dtype: DType) -> Any:
    """A number as Python's, if the dtype holds it, else None."""
    number = given.item() if isinstance(given, np.generic) else given
    if dtype.kind == "f":
        return float(number) if abs(number) <= np.finfo(dtype).max or not np.isfinite(number) else None
    if not np.isfinite(number) or int(number) != number:
        return None
    low, high = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    return int(number) if low <= number <= high else None


def _not_held(name: str, number: Any, dtype: DType) -> str:
    return (
        f"the identity of the reduction {name!r} is {number}, which {dtype} cannot hold: give a function of the dtype, "
        f"or leave {dtype.kind!r} out of kinds="
    )


def _check_combine(combine: Any) -> None:
    """Raise FunctorError unless it is a plain function of two numbers that captures no array."""
    if not isinstance(combine, types.FunctionType):
        raise FunctorError(f"combine is a plain Python function, not {type(combine).__name__}: {combine!r}")
    flags = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    parameters = list(inspect.signature(combine).parameters.values())
    plain = all(
        each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and each.default is inspect.Parameter.empty
        for each in parameters
    )
    if len(parameters) != 2 or not plain or combine.__code__.co_flags & flags:
        raise FunctorError(f"{location(combine)}: it takes two plain arguments and returns one: combine(total, value)")
    for refusal in Captures((combine,)).refused:
        if refusal.is_array:
            raise FunctorError(f"{location(combine)} captures the array {refusal.name!r}, which it cannot: use a tuple")
