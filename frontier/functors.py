"""Functors: the plain Python functions that say what happens at one edge or one vertex.

A functor takes the problem first; its other arguments are taken by name. This module finds
those names, checks them against the place where the functor is used, and finds the plain
functions that it calls. What a functor reads and writes is found by :mod:`frontier.analysis`.
"""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from frontier.errors import FunctorError

__all__ = ["arguments", "constant", "constants", "function", "helpers", "location"]

EDGE = ("src", "dst", "edge", "weight")
VERTEX = ("v",)
COUNT = ("i",)
COMMON = ("u", "v", "w", "uv", "uw", "vw")
PLACES: dict[str, tuple[str, ...]] = {
    "edge": EDGE,
    "vertex": VERTEX,
    "count": COUNT,
    "element": VERTEX + EDGE + COUNT,
    "common": COMMON,
    "scalars": (),
    "src": ("src",),
    "dst": ("dst",),
}

Function = TypeVar("Function", bound=Callable[..., Any])

#: Functions marked by :func:`function`, for backends that compile.
marked: list[Callable[..., Any]] = []


def function(fn: Function) -> Function:
    """Mark a helper that functors call, and give it back unchanged.

    Helpers that a functor finds by a global name, or as an attribute of a module (``tools.clamp(x)``), need no
    mark. One that is reached in another way (an attribute of a class) does.
    """
    marked.append(fn)
    return fn


def location(fn: Callable[..., Any]) -> str:
    """Name, file and line of a functor, for messages."""
    code = getattr(fn, "__code__", None)
    name = getattr(fn, "__name__", repr(fn))
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


@lru_cache(maxsize=4096)
def _parameters(fn: Callable[..., Any]) -> tuple[str, ...]:
    if not isinstance(fn, types.FunctionType):
        raise FunctorError(
            f"a functor is a plain Python function, not {type(fn).__name__}: {fn!r}"
        )
    if fn.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise FunctorError(f"{location(fn)}: a functor returns its value; it cannot yield or await")
    parameters = list(inspect.signature(fn).parameters.values())
    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if not parameters:
        raise FunctorError(f"{location(fn)}: a functor takes the problem as its first argument")
    for parameter in parameters:
        if parameter.kind is not plain or parameter.default is not inspect.Parameter.empty:
            raise FunctorError(
                f"{location(fn)}: argument {parameter.name!r} must be plain: "
                "no default, no * and no keyword-only"
            )
    return tuple(parameter.name for parameter in parameters[1:])


@lru_cache(maxsize=4096)
def arguments(fn: Callable[..., Any], place: str) -> tuple[str, ...]:
    """Names of a functor's arguments after the problem, checked for a place.

    Parameters
    ----------
    fn : function
        The functor.
    place : {"edge", "vertex", "count", "element", "common", "scalars", "src", "dst"}
        Where it is used; ``"common"`` is Intersect's, ``"src"`` and ``"dst"`` are conditions on that end of an edge.

    Raises
    ------
    FunctorError
        If it has an argument that the place does not offer, or captures an array.
    """
    names = _parameters(fn)
    offered = PLACES[place]
    for name in names:
        if name not in offered:
            there = ", ".join(offered) if offered else "nothing but the problem"
            raise FunctorError(f"{location(fn)}: no argument {name!r} here; there is {there}")
    if place == "element":
        kinds = {kind for kind in ("vertex", "edge", "count") if set(names) & set(PLACES[kind])}
        if len(kinds) > 1:
            raise FunctorError(
                f"{location(fn)}: {', '.join(names)} mix arguments of a vertex (v), "
                "of an edge (src, dst, edge, weight) and of a count (i)"
            )
    check_captures(fn)
    return names


def check_captures(fn: Callable[..., Any]) -> None:
    """Refuse arrays reached by closure or as globals, in a functor and in its helpers."""
    for inner in (fn, *helpers(fn)):
        for name, value in constants(inner):
            if isinstance(value, np.ndarray) or hasattr(value, "__cuda_array_interface__"):
                raise FunctorError(
                    f"{location(inner)} captures the array {name!r}: pass it in the Problem, "
                    f"for example Problem(g, {name}=fr.array({name}))"
                )


def _names_used(code: types.CodeType) -> Iterator[str]:
    # co_names holds attribute names too, so a functor called like its field would find itself.
    for part in _codes(code):
        for instruction in dis.get_instructions(part):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                yield instruction.argval


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A function's code, and that of functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def module_functions(fn: Callable[..., Any]) -> list[Callable[..., Any]]:
    """Plain functions that a functor reaches as attributes of modules (``tools.clamp``)."""
    return list(dict.fromkeys(value for _, value in module_attributes(fn) if is_helper(value)))


def module_attributes(fn: Callable[..., Any]) -> list[tuple[str, Any]]:
    """What a function reads of modules, and of modules in these: (name with its dots, value)."""
    outside, found = dict(constants(fn)), {}
    for name, attributes in _chains(fn.__code__):
        value = outside.get(name)
        for attribute in attributes:
            if not isinstance(value, types.ModuleType) or not hasattr(value, attribute):
                break
            value, name = getattr(value, attribute), f"{name}.{attribute}"
            found[name] = value
        if isinstance(value, types.ModuleType):  # it goes on by another name: whatever may be meant there
            known = vars(value)
            found.update((f"{name}.{other}", known[other]) for other in fn.__code__.co_names if other in known)
    return list(found.items())


def _chains(code: types.CodeType) -> Iterator[tuple[str, list[str]]]:
    """What a function takes from outside, each time by its name and the attributes that are read of it right there."""
    for part in _codes(code):
        name, attributes = "", []
        for instruction in dis.get_instructions(part):
            if instruction.opname == "EXTENDED_ARG":
                continue
            if name and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                attributes.append(instruction.argval)
                continue
            if name:
                yield name, attributes
            taken = instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")
            name, attributes = instruction.argval if taken else "", []


def constants(fn: Callable[..., Any]) -> list[tuple[str, Any]]:
    """What a function takes from outside: (name, value) of its globals and captured variables."""
    assert isinstance(fn, types.FunctionType)
    found = []
    for name in dict.fromkeys(_names_used(fn.__code__)):
        if name in fn.__globals__:
            found.append((name, fn.__globals__[name]))
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            found.append((name, cell.cell_contents))
        except ValueError:
            raise FunctorError(f"{location(fn)}: {name!r} has no value yet") from None
    return found


def is_helper(value: Any) -> bool:
    """Whether a value that a functor names is a plain function to compile with it."""
    return isinstance(value, types.FunctionType) and not (value.__module__ or "").startswith(
        ("frontier.atomics", "frontier.numbers", "numpy", "numba")
    )


def helpers(fn: Callable[..., Any]) -> list[Callable[..., Any]]:
    """All plain functions that a functor calls, directly or through others."""
    found: dict[Callable[..., Any], None] = {}
    pending: list[Callable[..., Any]] = [fn]
    while pending:
        part = pending.pop()
        for value in (*(value for _, value in constants(part)), *module_functions(part)):
            if is_helper(value) and value not in found and value is not fn:
                found[value] = None
                pending.append(value)
    return list(found)


@lru_cache(maxsize=4096)
def constant(fn: Callable[..., Any]) -> Any:
    """What a functor returns that does nothing but return a number; else None."""
    dull = ("RESUME", "NOP", "COPY_FREE_VARS")
    made = [part for part in dis.get_instructions(fn) if part.opname not in dull]
    names = [part.opname for part in made]
    plain = names in (["RETURN_CONST"], ["LOAD_CONST", "RETURN_VALUE"], ["LOAD_SMALL_INT", "RETURN_VALUE"])
    return made[0].argval if plain and isinstance(made[0].argval, (int, float)) else None
