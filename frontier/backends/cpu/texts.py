"""Markers for functions of phases, loops and the runtime, which are translated instead of compiled by numba.

This module also makes the named tuples of generated code. Tuples with equal fields have the same class, so numba
compiles a functor only once per process, however many loops use it on problems with equal fields.

See :mod:`frontier.backends.cpu.translate`.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

__all__ = ["Calling", "Written", "calling", "gives", "namedtuple", "phase"]


class Written:
    """A function that the translator reads: its code and the types of what it gives."""

    def __init__(self, function: Any, types: tuple[str, ...]) -> None:
        self.function, self.types = function, types
        self.__name__: str = function.__name__
        self.__doc__ = function.__doc__

    def __repr__(self) -> str:
        return f"<{self.__name__}, translated>"


def gives(*types: str) -> Callable[[Any], Any]:
    """Mark a function that returns values of these types, or nothing."""
    return lambda function: Written(function, types)


def phase(function: Any, name: str) -> Written:
    """Mark the function of a phase, which machine code has by this name."""
    made = Written(function, ())
    made.__name__ = name
    return made


@dataclass(frozen=True, eq=False)
class Calling:
    """``call(p, C, slot, *ends)``: see :class:`frontier.lowering.kernels.FunctorCall`."""

    functor: Any
    number: int
    order: tuple[int, ...]
    value: bool
    problem: bool = True


calling = Calling


def namedtuple(name: str, fields: list[str]) -> Any:
    """As in ``collections``, but the same class for the same fields."""
    return _class(name, tuple(fields))


@cache
def _class(name: str, fields: tuple[str, ...]) -> Any:
    return collections.namedtuple(name, fields)
