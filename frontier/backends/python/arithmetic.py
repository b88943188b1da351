"""Functors in the form that the python backend calls: with NumPy scalars only, so that compiled code can do the same.

Fields and arguments are NumPy scalars, and computations follow NumPy's rules. Python's own functions would not:
``math.sqrt(-1)`` raises where NumPy gives NaN, and ``range`` gives integers that never wrap around. Therefore a copy of
the functor is called, in which these names refer to functions with NumPy's rules. The code is that of the functor
itself, so breakpoints in it work.
"""

from __future__ import annotations

import builtins
import dis
import functools
import math
import types
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from frontier.errors import FunctorError
from frontier.functors.functor import is_helper
from frontier.functors.numbers import Range

__all__ = ["numbered", "whole"]

_LEAST = np.int64(-(2**63))


def strong(value: Any) -> Any:
    """A value as it is outside the functor that made it: Python's own numbers have 64 bits there."""
    kind = type(value)
    return np.int64(value) if kind is int else np.float64(value) if kind is float else value


def whole(x: Any = 0) -> Any:
    """``int(x)``: without the fraction; what 64 bits do not hold, and NaN, gives the least integer, as in NumPy."""
    if isinstance(x, np.integer):
        return x.astype(np.int64)
    if isinstance(x, (float, np.floating)):
        return np.int64(x) if -(2.0**63) <= x < 2.0**63 else _LEAST
    return np.int64(x)


def _real(x: Any = 0.0) -> Any:
    return np.float64(x)


def _rounded(x: Any, digits: Any = None) -> Any:
    """``round``: to the nearest, of two the even one."""
    if digits is None:
        return whole(np.rint(x)) if isinstance(x, (float, np.floating)) else whole(x)
    return strong(round(x, int(digits)))


def _chosen(better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def choose(*values: Any) -> Any:
        values = values[0] if len(values) == 1 else values
        best = values[0]
        for value in values[1:]:
            best = value if better(value, best) else best
        if len({type(value) for value in values}) == 1:
            return best
        return _as_type_of(best, values)

    return choose


def _as_type_of(value: Any, values: Any) -> Any:
    """A value in the type in which several come together."""
    kinds = {type(one) for one in values}
    if kinds <= {int, float}:
        return float(value)
    return np.result_type(*values).type(value)


def _with_specials(name: str) -> Callable[..., Any]:
    """A function of ``math`` that gives NaN or infinity instead of raising; float32 from float32."""
    exact: Callable[..., Any] = getattr(math, name)
    special = _SPECIAL.get(name) or getattr(np, _NUMPY.get(name, name), None) or _nan

    @functools.wraps(exact)
    def call(*values: Any) -> Any:
        try:
            made = exact(*values)
        except (ValueError, OverflowError):
            made = special(*map(np.float64, values))
        if type(made) is float:
            narrow = all(type(value) is np.float32 for value in values)
            return np.float32(made) if narrow else np.float64(made)
        return np.bool_(made) if type(made) is bool else whole(made) if type(made) is int else made

    return call


def _nan(*_: Any) -> Any:
    return math.nan


def _floored(ufunc: Any) -> Callable[..., Any]:
    return lambda x: whole(ufunc(x)) if isinstance(x, (float, np.floating)) else whole(x)


def _logarithm(x: Any, *base: Any) -> Any:
    if base:
        raise FunctorError("math.log takes one number in functors: say math.log(x) / math.log(base)")
    return _LOG(x)


def _gamma(x: Any) -> Any:
    """At a pole, below it, or too large."""
    return np.copysign(np.inf, x) if x == 0 else np.nan if x < 0 else np.inf


_SPECIAL: dict[str, Callable[..., Any]] = {"gamma": _gamma, "lgamma": lambda x: math.inf}
_NUMPY = {
    "pow": "power", "acos": "arccos", "asin": "arcsin", "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip

_LOG = _with_specials("log")
_CONSTANTS = ("pi", "e", "tau", "inf", "nan")
_MATH = SimpleNamespace(
    **{name: getattr(math, name) for name in _CONSTANTS},
    **{name: _with_specials(name) for name in dir(math) if callable(getattr(math, name)) and name[0] != "_"}
    | {"floor": _floored(np.floor), "ceil": _floored(np.ceil), "trunc": whole, "log": _logarithm},
)

#: What functors find instead of what they name.
_INSTEAD: dict[Any, Any] = {
    **{getattr(math, name): made for name, made in vars(_MATH).items() if name not in _CONSTANTS},
    int: whole,
    float: _real,
    range: Range,
    round: _rounded,
    min: _chosen(lambda value, best: value < best),
    max: _chosen(lambda value, best: value > best),
}
_BUILTINS = {
    name: made for value, made in _INSTEAD.items() if getattr(builtins, name := value.__name__, None) is value
}


class _Module:
    """A module of the user's, whose functions are called as helpers are."""

    def __init__(self, module: types.ModuleType, of: Callable[[Any], Any]) -> None:
        self.__dict__["_module"], self.__dict__["_of"] = module, of

    def __getattr__(self, name: str) -> Any:
        return self._of(getattr(self._module, name))


def numbered(fn: Callable[..., Any], known: dict[Any, Any] | None = None) -> Callable[..., Any]:
    """A copy of a functor or helper that computes with NumPy's numbers.

    Made anew for each run, since what it names may change between runs.
    """
    assert isinstance(fn, types.FunctionType)
    known = {} if known is None else known
    if fn in known:
        found: Callable[..., Any] = known[fn]
        return found

    def of(value: Any) -> Any:
        if is_helper(value):
            return _helper(numbered(value, known))
        if isinstance(value, types.ModuleType):
            if value is math:
                return _MATH
            own = value.__name__.partition(".")[0] not in ("numpy", "numba", "frontier")
            return _Module(value, of) if own else value
        try:
            return _INSTEAD.get(value, value) if callable(value) else value
        except TypeError:  # it cannot be hashed
            return value

    named: dict[str, Any] = {}
    closure = fn.__closure__ or ()
    cells = tuple(types.CellType() if _replaced(cell, of) else cell for cell in closure)
    made = types.FunctionType(fn.__code__, named, fn.__name__, fn.__defaults__, cells)
    made.__kwdefaults__ = fn.__kwdefaults__
    known[fn] = made  # before its helpers: it may call itself
    for cell, own in zip(closure, cells, strict=True):
        if own is not cell:
            own.cell_contents = of(cell.cell_contents)
    named.update(fn.__globals__)
    for name in _names(fn.__code__):
        if name in named:
            named[name] = of(named[name])
        elif name in _BUILTINS:
            named[name] = _BUILTINS[name]
    return made


@functools.lru_cache(maxsize=4096)
def _names(code: types.CodeType) -> frozenset[str]:
    """All global names in a function's code."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    own = (each.argval for each in dis.get_instructions(code) if each.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    return frozenset(own).union(*map(_names, inner))


def _replaced(cell: types.CellType, of: Callable[[Any], Any]) -> bool:
    """Whether what a variable holds is replaced, in a cell of its own; other cells are shared, as they may change."""
    try:
        value = cell.cell_contents
    except ValueError:  # it has none yet
        return False
    return is_helper(value) or of(value) is not value


def _helper(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A helper: what goes in and comes out has a type of its own."""

    @functools.wraps(fn)
    def call(*values: Any, **named: Any) -> Any:
        made = fn(*map(strong, values), **{name: strong(value) for name, value in named.items()})
        return tuple(map(strong, made)) if type(made) is tuple else strong(made)

    return call
