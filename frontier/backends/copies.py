"""Functors as compiled code sees them: copies named by their content, whose plain helpers are compilable too."""

from __future__ import annotations

import hashlib
import types as python_types
from collections.abc import Callable
from enum import EnumMeta
from typing import Any

import numpy as np

from frontier.functors import constants, is_helper, marked, module_attributes, module_functions

__all__ = ["Copies", "identity", "recursive"]


class Copies:
    """The copies of functors for one target.

    A copy lives in a module that every process can import: machine code kept on disk refers to functions by
    module and name, wherever they were defined when it was made.

    Parameters
    ----------
    jit : callable
        ``jit(function, recursive)`` makes a plain function compilable; ``recursive`` says whether it calls itself.
    overload : callable
        ``overload(function, made)`` tells numba that ``function``, met in compiled code, is ``made``.
    """

    def __init__(self, jit: Callable[..., Any], overload: Callable[..., Any]) -> None:
        self._jit, self._overload = jit, overload
        self._jitted: dict[Any, Any] = {}
        self._overloaded: set[Any] = set()
        self._marked = 0

    def __call__(self, fn: Callable[..., Any]) -> Any:
        """Give the copy of a functor, made once."""
        if fn not in self._jitted:
            assert isinstance(fn, python_types.FunctionType)
            inner: dict[str, Any] = {}
            cells = tuple(python_types.CellType() for _ in fn.__closure__ or ())
            made = python_types.FunctionType(
                fn.__code__, {**fn.__globals__}, fn.__name__, fn.__defaults__, cells
            )
            made.__module__ = "frontier.functors"
            made.__qualname__ = f"{fn.__name__}_{hashlib.sha256(identity(fn).encode()).hexdigest()[:12]}"
            self._jitted[fn] = self._jit(made, recursive(fn))  # known before its helpers: it may call itself
            for name, value in constants(fn):
                if is_helper(value):
                    inner[name] = self(value)
            for value in module_functions(fn):
                self._define(value)
            made.__globals__.update({name: value for name, value in inner.items() if name in fn.__globals__})
            for name, cell, old in zip(fn.__code__.co_freevars, cells, fn.__closure__ or (), strict=True):
                cell.cell_contents = inner.get(name, old.cell_contents)
        return self._jitted[fn]

    def register_marked(self) -> None:
        """Make helpers marked by ``fr.function`` known to numba wherever they are found."""
        while self._marked < len(marked):
            self._marked += 1
            self._define(marked[self._marked - 1])

    def _define(self, fn: Callable[..., Any]) -> None:
        """Tell numba what a plain function is, for functors that do not find it by a global name."""
        if fn not in self._overloaded:
            self._overloaded.add(fn)
            self._overload(fn, self(fn).py_func)


def recursive(fn: Callable[..., Any], stack: tuple[Any, ...] = ()) -> bool:
    """Whether a functor or a helper of it calls itself, directly or not."""
    if fn in stack:
        return True
    called = [*(value for _, value in constants(fn)), *module_functions(fn)]
    return any(is_helper(value) and recursive(value, (*stack, fn)) for value in called)


def identity(fn: Callable[..., Any], stack: tuple[Any, ...] = ()) -> str:
    """Text that is equal for functors that compile to the same code."""
    if fn in stack:
        return fn.__name__
    code = fn.__code__
    parts = [code.co_code.hex(), repr(code.co_varnames), repr(code.co_names), _constants_text(code)]
    parts.append(repr((fn.__defaults__, fn.__kwdefaults__)))
    for name, value in (*constants(fn), *module_attributes(fn)):
        if is_helper(value):
            parts.append(f"{name}:{identity(value, (*stack, fn))}")
        elif hasattr(value, "py_func"):
            parts.append(f"{name}:{identity(value.py_func, (*stack, fn))}")
        elif isinstance(value, (int, float, complex, str, bytes, bool, tuple, type(None), np.generic)):
            parts.append(f"{name}={value!r}")
        elif isinstance(value, EnumMeta):
            parts.append(f"{name}={[(member.name, member.value) for member in value]!r}")  # type: ignore[var-annotated]
        else:
            parts.append(f"{name}:{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value))}")
    return "|".join(parts)


def _constants_text(code: python_types.CodeType) -> str:
    return ",".join(
        item.co_code.hex() if isinstance(item, python_types.CodeType) else f"{type(item).__name__}{item!r}"
        for item in code.co_consts
    )
