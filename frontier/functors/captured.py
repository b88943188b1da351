"""What one functor captures from outside: the class Captured, and Refusal for what compiled code cannot hold.

A captured value that holds functions is described by what stands for it: a ``Captured`` for a function, ``Names`` for a
module, ``Items`` for a tuple. From these the functor can be rebuilt, with other functions in place of those it calls.
"""

from __future__ import annotations

import builtins
import hashlib
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from frontier.functors.functor import line_of, location

__all__ = ["MISSING", "Captured", "Items", "Names", "Refusal", "calls_in"]

#: Stands for what a name means that has no value.
MISSING: Any = object()


@dataclass(eq=False, repr=False)
class Captured:
    """The state of one function when it was described.

    Attributes
    ----------
    function : function
    code, defaults, kwdefaults
        Of the function, as they were.
    names : dict of str to Any
        What it takes by global names, and of modules only the attributes that it reads.
    cells : list
        What it has captured, in the order of ``co_freevars``.
    text : tuple
        All of it, described; functions that it calls stand for themselves.
    calls : list of Captured
        Functions among what it takes.
    """

    function: types.FunctionType
    code: types.CodeType
    defaults: tuple[Any, ...] | None
    kwdefaults: dict[str, Any] | None
    names: dict[str, Any] = field(default_factory=dict)
    cells: list[Any] = field(default_factory=list)
    text: tuple[Any, ...] = ()
    calls: list[Captured] = field(default_factory=list)

    @cached_property
    def fingerprint(self) -> str:
        """Text that is equal only for functions that compile to the same code."""
        parts = self.reached()
        numbers = {part: i for i, part in enumerate(parts)}
        return hashlib.sha256(repr([_numbered(part.text, numbers) for part in parts]).encode()).hexdigest()

    def reached(self) -> list[Captured]:
        """The function and all that it calls, directly or through others."""
        found: dict[Captured, None] = {}
        pending = [self]
        while pending:
            part = pending.pop()
            if part not in found:
                found[part] = None
                pending += reversed(part.calls)
        return list(found)

    def copy(self, name: str) -> types.FunctionType:
        """A function of this code that takes nothing from outside yet."""
        code = self.code.replace(co_name=name, co_qualname=name)
        cells = tuple(types.CellType() for _ in code.co_freevars)
        made = types.FunctionType(code, {"__builtins__": builtins}, name, self.defaults, cells)
        made.__kwdefaults__ = self.kwdefaults
        return made

    def fill(self, copy: types.FunctionType, function: Callable[[Captured], Any]) -> None:
        """Give a copy what this takes from outside; ``function`` says what becomes of functions that it calls."""
        copy.__globals__.update({name: _rebuilt(value, function) for name, value in self.names.items()})
        for cell, value in zip(copy.__closure__ or (), self.cells, strict=True):
            cell.cell_contents = _rebuilt(value, function)

    def frozen(self) -> types.FunctionType:
        """A plain function that does what this one did when it was looked at."""
        made: dict[Captured, types.FunctionType] = {}

        def frozen(part: Captured) -> types.FunctionType:
            if part not in made:
                made[part] = part.copy(part.function.__name__)
                made[part].__module__ = part.function.__module__
                part.fill(made[part], frozen)
            return made[part]

        return frozen(self)


@dataclass(eq=False)
class Names:
    """A module as a functor sees it: what it reads of it."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Items:
    """A tuple that holds functions, by its class."""

    kind: type
    values: list[Any]


def calls_in(value: Any) -> list[Captured]:
    """The functions that what a function takes from outside is, or holds."""
    if isinstance(value, Captured):
        return [value]
    held = value.values.values() if isinstance(value, Names) else value.values if isinstance(value, Items) else ()
    return [call for each in held for call in calls_in(each)]


def _rebuilt(value: Any, function: Callable[[Captured], Any]) -> Any:
    if isinstance(value, Captured):
        return function(value)
    if isinstance(value, Names):
        made = types.ModuleType(value.name)
        vars(made).update({name: _rebuilt(inner, function) for name, inner in value.values.items()})
        return made
    if isinstance(value, Items):
        inner = (_rebuilt(item, function) for item in value.values)
        return tuple(inner) if value.kind is tuple else value.kind(*inner)
    return value


def _numbered(text: Any, numbers: Mapping[Captured, int]) -> Any:
    if isinstance(text, Captured):
        return ("function", numbers[text])
    return tuple(_numbered(item, numbers) for item in text) if isinstance(text, tuple) else text


@dataclass(frozen=True)
class Refusal:
    """Something that a function takes from outside and that code cannot hold."""

    function: Callable[..., Any]
    name: str
    value: Any

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return isinstance(self.value, np.ndarray) or hasattr(self.value, "__cuda_array_interface__")

    @property
    def is_call(self) -> bool:
        """Whether it is something to call that is no plain function, or to print to."""
        return not isinstance(self.value, type) and (callable(self.value) or hasattr(self.value, "write"))

    @property
    def is_missing(self) -> bool:
        """Whether it is a variable that has no value yet."""
        return self.value is MISSING

    @property
    def text(self) -> str:
        """What is wrong, in a line."""
        field_ = self.name.rpartition(".")[2]
        line = line_of(self.function.__code__, self.name.partition(".")[0])
        where, value = location(self.function, line), self.value
        if self.is_array:
            return (
                f"{where} captures the array {self.name!r}: pass it in the Problem, "
                f"for example Problem(g, {field_}=fr.array({field_}))"
            )
        if self.is_missing:
            return f"{where}: {self.name!r} has no value yet"
        what = f"the class {self.name!r}" if isinstance(value, type) else f"{self.name!r}, of {type(value).__name__},"
        if callable(value) and not isinstance(value, type):
            way = "functors call plain functions (def), numpy and math"
        elif isinstance(value, (list, set, frozenset)):
            way = "make it a tuple, or pass it in the Problem"
        elif isinstance(value, int):
            way = "integers have 64 bits at most"
        else:
            way = "pass what it holds in the Problem"
        return f"{where} captures {what} which cannot be a constant of compiled code: {way}"
