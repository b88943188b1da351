"""Markers for functions of phases, loops and the runtime, which are translated instead of compiled by numba.

This module also makes the named tuples of generated code. Tuples with equal fields have the same class, so numba
compiles a functor only once per process, however many loops use it on problems with equal fields.

See :mod:`frontier.compile.translation.translator`.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frontier.compile.functors.guards import Guard

__all__ = ["OWN", "RUNTIME", "Calling", "Written", "callings", "device", "gives", "namedtuple", "phase", "phases"]


#: Beginnings of the names of modules of what generated code calls.
RUNTIME = ("frontier.backends.", "frontier.compile.", "frontier.distributed.")

#: Beginnings of the names of modules whose functions numba knows, or which are made for it; but not of modules of
#: phases.
OWN = (*RUNTIME, "frontier.functors.")


class Written:
    """A function that the translator reads: its code and the types of what it gives.

    ``types`` is None for a function whose callers get copies of it: what it gives has the type of its first return.
    """

    def __init__(self, function: Any, types: tuple[str, ...] | None) -> None:
        self.function, self.types = function, types
        self.__name__: str = function.__name__
        self.__doc__ = function.__doc__

    def __repr__(self) -> str:
        return f"<{self.__name__}, translated>"


def gives(*types: str) -> Callable[[Any], Any]:
    """Mark a function that returns values of these types, or nothing."""
    return lambda function: Written(function, types)


def device(function: Any) -> Written:
    """Mark a function of which callers get copies."""
    return Written(function, None)


def phase(function: Any, name: str) -> Written:
    """Mark the function of a phase, which machine code has by this name."""
    made = Written(function, ())
    made.__name__ = name
    return made


def phases(names: Mapping[str, Any]) -> Callable[[Any, str], Written]:
    """What marks the phases of a module with these names, which the translator finds by itself."""
    return phase


@dataclass(frozen=True, eq=False)
class Calling:
    """``call(p, C, slot, *ends)``: see :class:`frontier.lowering.kernels.FunctorCall`."""

    guard: Guard
    functor: Any
    number: int
    order: tuple[int, ...]
    problem: bool = True


def callings(plain: Guard, valued: Guard) -> Callable[..., Calling]:
    """What makes a :class:`Calling`, by one of two guards: of functors that may return nothing, and of others."""

    def calling(functor: Any, number: int, order: tuple[int, ...], value: bool, problem: bool = True) -> Calling:
        return Calling(valued if value else plain, functor, number, order, problem)

    return calling


def namedtuple(name: str, fields: list[str]) -> Any:
    """As in ``collections``, but the same class for the same fields."""
    return _class(name, tuple(fields))


@cache
def _class(name: str, fields: tuple[str, ...]) -> Any:
    return collections.namedtuple(name, fields)
