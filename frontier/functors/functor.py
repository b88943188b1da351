"""Functors: the plain Python functions that say what happens at one edge or one vertex.

The first parameter of a functor is the problem; the others are matched by name. This module finds those names, checks
them against the place where the functor is used, and finds the plain functions that the functor calls. Its reads and
writes are found by :mod:`frontier.program.effects`.
"""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeVar

from frontier.errors import FunctorError

__all__ = [
    "arguments", "constant", "function", "has_loop", "helpers", "inner_codes", "is_hashable", "line_of", "location",
    "names_used", "plain",
]  # fmt: skip

EDGE = ("src", "dst", "edge", "weight")
VERTEX = ("v",)
COUNT = ("i",)
COMMON = ("u", "v", "w", "uv", "uw", "vw")
PLACES: dict[str, tuple[str, ...]] = {
    "edge": EDGE,
    "edge value": EDGE + COUNT,
    "vertex": VERTEX,
    "count": COUNT,
    "value": VERTEX + COUNT,
    "element": VERTEX + EDGE + COUNT,
    "common": COMMON,
    "scalars": (),
    "src": ("src",),
    "dst": ("dst",),
    "src weight": ("src", "weight"),
    "dst weight": ("dst", "weight"),
}

Function = TypeVar("Function", bound=Callable[..., Any])


def function(fn: Function) -> Function:
    """Mark a function as a helper of functors, for readers of the code; returns it unchanged.

    The mark is not necessary: functors may call plain functions by name, from an enclosing function, as an attribute of
    a module (``tools.clamp(x)``) or from a tuple.

    Examples
    --------
    >>> @fr.function
    ... def clamp(x, low, high):
    ...     return min(max(x, low), high)
    >>> p = fr.Problem(fr.path(4))
    >>> sorted(fr.filter(p, fr.Frontier.all(p.graph), lambda p, v: clamp(v, 1, 2) == v))
    [1, 2]
    """
    return fn


def location(fn: Callable[..., Any], line: int | None = None) -> str:
    """Name, file and line of a functor, for messages; without a line that where it begins."""
    code = getattr(fn, "__code__", None)
    name = getattr(fn, "__name__", repr(fn))
    return f"{name} ({code.co_filename}:{line or code.co_firstlineno})" if code else name


#: Instructions that name what is not a variable of the function's own.
_NAMING = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLOSURE")


def line_of(code: types.CodeType, name: str) -> int | None:
    """The first line in which a function, or one inside it, names a variable or an attribute."""
    for part in inner_codes(code):
        for instruction in dis.get_instructions(part):
            if instruction.argval == name and instruction.opname in _NAMING and instruction.positions is not None:
                return instruction.positions.lineno
    return None


def plain(name: str) -> str:
    """A name that may stand in any text: a user's own name if it is short and plain."""
    return name if name.isidentifier() and name.isascii() and len(name) <= 60 else "functor"


def _parameters(fn: Callable[..., Any]) -> tuple[str, ...]:
    if not isinstance(fn, types.FunctionType):
        hint = "; a def may call it" if callable(fn) else ""
        raise FunctorError(f"a functor is a plain Python function, not {type(fn).__name__}: {fn!r}{hint}")
    if fn.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise FunctorError(f"{location(fn)}: a functor returns its value; it cannot yield or await")
    parameters = list(inspect.signature(fn).parameters.values())
    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if not parameters:
        raise FunctorError(f"{location(fn)}: a functor takes the problem as its first argument")
    if any(parameters[0].name in offered for offered in PLACES.values()):
        given = ", ".join(parameter.name for parameter in parameters)
        raise FunctorError(
            f"{location(fn)}: the problem comes first, under another name: def {fn.__name__}(p, {given})"
        )
    for parameter in parameters:
        if parameter.kind is not plain or parameter.default is not inspect.Parameter.empty:
            raise FunctorError(
                f"{location(fn)}: argument {parameter.name!r} must be plain: "
                "no default, no * and no keyword-only; numbers from outside are found by their names"
            )
    return tuple(parameter.name for parameter in parameters[1:])


def arguments(fn: Callable[..., Any], place: str) -> tuple[str, ...]:
    """Names of a functor's arguments after the problem, checked for a place.

    Parameters
    ----------
    fn : function
        The functor.
    place : {"edge", "edge value", "vertex", "count", "value", "element", "common", "scalars", "src", "dst",
            "src weight", "dst weight"}
        Where it is used; ``"value"`` is each value of a vertex that has several, ``"edge value"`` each of an edge's, or
        what an edge adds to each of a vertex, ``"common"`` is Intersect's, ``"src"`` and ``"dst"`` are conditions on
        that end of an edge, and with ``" weight"`` on that and the weight.

    Raises
    ------
    FunctorError
        If it has an argument that the place does not offer, or captures an array.
    """
    if not isinstance(fn, types.FunctionType):
        _parameters(fn)  # which says what is wrong; some such objects cannot be remembered
    return _arguments(fn, place, getattr(fn, "__code__", None), bool(getattr(fn, "__defaults__", None)))


@lru_cache(maxsize=4096)
def _arguments(fn: Callable[..., Any], place: str, code: Any, defaults: bool) -> tuple[str, ...]:
    """Find them once for a function, as long as its code is the same."""
    names = _parameters(fn)
    offered = PLACES[place]
    for name in names:
        if name not in offered:
            there = ", ".join(offered) if offered else "nothing but the problem"
            raise FunctorError(f"{location(fn)}: no argument {name!r} here; there is {there}")
    if place == "element" and "v" in names and set(names) & set(EDGE):
        raise FunctorError(
            f"{location(fn)}: {', '.join(names)} mix arguments of a vertex (v) and of an edge (src, dst, edge, weight)"
        )
    check_captures(fn)
    return names


def check_captures(fn: Callable[..., Any]) -> None:
    """Refuse arrays reached by closure or as globals, and variables without a value, in a functor and its helpers."""
    from frontier.functors.captures import Captures

    for refusal in Captures((fn,)).refused:
        if refusal.is_array or refusal.is_missing:
            raise FunctorError(refusal.text)


def inner_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A function's code, and that of functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from inner_codes(constant)


@lru_cache(maxsize=4096)
def names_used(code: types.CodeType) -> tuple[dict[str, tuple[tuple[str, ...], ...]], ...]:
    """Return what a function and functions inside it capture: global names, and names of cells.

    Each with the chains of attributes that are read of it right there: ``()`` where it is used by itself.
    """
    found: tuple[dict[str, dict[tuple[str, ...], None]], ...] = ({}, {})
    for part in inner_codes(code):
        name, chain, kind = "", [], 0
        named = ((instruction.opname, instruction.argval) for instruction in dis.get_instructions(part))
        for what, value in (*named, ("", "")):
            if what in ("EXTENDED_ARG", "PUSH_NULL"):
                continue
            if name and what in ("LOAD_ATTR", "LOAD_METHOD"):
                chain.append(value)
                continue
            if name:
                found[kind].setdefault(name, {})[tuple(chain)] = None
            kind = int(what == "LOAD_DEREF")
            taken = what in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")
            name, chain = (value if taken else ""), []
    return tuple({name: tuple(chains) for name, chains in names.items()} for names in found)


#: Modules whose functions are known in compiled code, with all that lie in them.
_KNOWN = ("frontier.functors.atomics", "frontier.functors.adjacency", "frontier.functors.numbers",
          "frontier.functors.scratch", "numpy", "numba")  # fmt: skip
_WITHIN = tuple(f"{name}." for name in _KNOWN)


def is_helper(value: Any) -> bool:
    """Whether a value that a functor names is a plain function to compile with it."""
    if not isinstance(value, types.FunctionType):
        return False
    module = value.__module__ or ""
    return module not in _KNOWN and not module.startswith(_WITHIN)


def is_hashable(value: Any) -> bool:
    """Whether a value that a functor names can be looked up in a table."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def helpers(fn: Callable[..., Any]) -> list[Callable[..., Any]]:
    """Return all plain functions that a functor calls, directly or through others."""
    from frontier.functors.captures import Captures

    return [part.function for part in Captures((fn,)).parts[fn].reached()[1:]]


def has_loop(code: types.CodeType) -> bool:
    """Whether a function goes back to what it has executed before."""
    return any("BACKWARD" in each.opname or each.opname == "FOR_ITER" for each in dis.get_instructions(code))


def constant(fn: Callable[..., Any]) -> Any:
    """What a functor returns that does nothing but return a number; else None."""
    return _constant(fn.__code__)


def _constant(code: types.CodeType) -> Any:
    dull = ("RESUME", "NOP", "COPY_FREE_VARS")
    made = [part for part in dis.get_instructions(code) if part.opname not in dull]
    names = [part.opname for part in made]
    plain = names in (["RETURN_CONST"], ["LOAD_CONST", "RETURN_VALUE"], ["LOAD_SMALL_INT", "RETURN_VALUE"])
    return made[0].argval if plain and isinstance(made[0].argval, (int, float)) else None
