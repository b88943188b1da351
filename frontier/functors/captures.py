"""The values that functors capture from outside: described by value, rebuilt from the description, watched for changes.

numba makes constants of globals and of captured variables. So the cache key of compiled code contains the *fingerprint*
of its functors: their bytecode, everything that they capture, by value, and the functions that they call. The code is
compiled from a functor that is rebuilt from exactly the described values, and before every run these are compared with
the current ones. A value that cannot be described exactly is refused.
"""

from __future__ import annotations

import builtins
import hashlib
import struct
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, EnumMeta
from functools import cached_property
from operator import is_
from typing import Any

import numpy as np

from frontier.errors import FunctorError
from frontier.functors.functor import inner_codes, is_helper, line_of, location, names_used
from frontier.functors.numbers import fits

__all__ = ["Captured", "Captures", "capture"]

#: Packages whose functions numba knows by name; their modules stay what they are in compiled code.
_KNOWN = ("builtins", "math", "cmath", "operator", "_operator", "numpy", "numba")

#: What numba may know functions of by name.
_NAMED = (*_KNOWN, "frontier")

_MISSING: Any = object()


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

    @cached_property
    def recursive(self) -> bool:
        """Whether it, or a function that it calls, calls itself, directly or not."""
        return any(part in other.reached() for part in self.reached() for other in part.calls)

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
class _Names:
    """A module as a functor sees it: what it reads of it."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class _Items:
    """A tuple that holds functions, by its class."""

    kind: type
    values: list[Any]


def _rebuilt(value: Any, function: Callable[[Captured], Any]) -> Any:
    if isinstance(value, Captured):
        return function(value)
    if isinstance(value, _Names):
        made = types.ModuleType(value.name)
        vars(made).update({name: _rebuilt(inner, function) for name, inner in value.values.items()})
        return made
    if isinstance(value, _Items):
        inner = (_rebuilt(item, function) for item in value.values)
        return tuple(inner) if value.kind is tuple else value.kind(*inner)
    return value


def _numbered(text: Any, numbers: Mapping[Captured, int]) -> Any:
    if isinstance(text, Captured):
        return ("function", numbers[text])
    return tuple(_numbered(item, numbers) for item in text) if isinstance(text, tuple) else text


# ---- what a step's functors take ----------------------------------------------------------------------------


class Captures:
    """What some functors capture from outside.

    Attributes
    ----------
    parts : dict of function to Captured
    key : tuple
        Equal for functors that compile to the same code; unequal to any other where something is refused.
    """

    def __init__(self, functors: Iterable[Callable[..., Any]]) -> None:
        self.functors = tuple(dict.fromkeys(functors))
        reader = _Reader()
        self.parts = {fn: reader.function(fn) for fn in self.functors}
        self.refused = reader.refused
        self.key: tuple[Any, ...] = (object(),)
        if not self.refused:
            self.key = tuple(part.fingerprint for part in self.parts.values())
        self._watched = reader.watched()

    def unchanged(self) -> bool:
        """Whether all names still mean the same objects: asked before every run, so it takes a microsecond."""
        functions, names, cells = self._watched
        for fn, code, defaults, kwdefaults in functions:
            if fn.__code__ is not code or fn.__defaults__ is not defaults or fn.__kwdefaults__ is not kwdefaults:
                return False
        for mapping, name, value in names:
            if mapping.get(name, _MISSING) is not value:
                return False
        try:
            for cell, value in cells:
                if cell.cell_contents is not value:
                    return False
        except ValueError:  # it has lost its value
            return False
        return True

    def take_over(self, later: Captures) -> None:
        """Watch other objects of the same values."""
        self._watched = later._watched

    def check(self, looking: bool = False) -> bool:
        """Raise FunctorError if something cannot be a constant of compiled code.

        With ``looking``, calls of whatever can be called are let through, as means to look at a program; says whether
        there are any.
        """
        looks = False
        for refusal in self.refused:
            if not (looking and refusal.is_call):
                raise FunctorError(refusal.text)
            looks = True
        return looks


def capture(fn: Callable[..., Any]) -> Captured:
    """Describe what one functor captures from outside now.

    Raises
    ------
    FunctorError
        If it takes what cannot be a constant of compiled code.
    """
    made = Captures((fn,))
    made.check()
    return made.parts[fn]


# ---- looking --------------------------------------------------------------------------------------------------


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
        return self.value is _MISSING

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


class _Refused(Exception):
    """A value cannot be described exactly."""


class _Reader:
    """Looks at functions and at what they take; each function once."""

    def __init__(self) -> None:
        self.parts: dict[types.FunctionType, Captured] = {}
        self.refused: list[Refusal] = []
        self._seen: dict[tuple[int, Any], tuple[dict[Any, Any], Any, Any]] = {}
        self._cells: list[tuple[types.CellType, Any]] = []
        self._calls: list[Captured] = []

    def watched(self) -> tuple[Any, ...]:
        """What :meth:`Captures.unchanged` looks at: functions, names in mappings, cells."""
        functions = [(fn, part.code, part.defaults, part.kwdefaults) for fn, part in self.parts.items()]
        return tuple(functions), tuple(self._seen.values()), tuple(self._cells)

    def function(self, fn: Any) -> Captured:
        """Look at a function."""
        if fn in self.parts:
            return self.parts[fn]
        part = self.parts[fn] = Captured(fn, fn.__code__, fn.__defaults__, fn.__kwdefaults__)
        outer, self._calls = self._calls, part.calls
        taken = tuple(sorted(self._globals(part).items())), tuple(sorted(self._captured(part).items()))
        part.text = (self._code(part), self._defaults(part), *taken)
        self._calls = outer
        return part

    def _code(self, part: Captured) -> Any:
        try:
            return _code(part.code)
        except _Refused:
            self.refused.append(Refusal(part.function, "co_consts", part.code.co_consts))
            return ("refused",)

    def _look(self, mapping: dict[Any, Any], name: Any) -> Any:
        """What a mapping holds now, to be watched."""
        value = mapping.get(name, _MISSING)
        self._seen[id(mapping), name] = (mapping, name, value)
        return value

    def _globals(self, part: Captured) -> dict[str, Any]:
        found = {}
        for name, chains in names_used(part.code)[0].items():
            value = self._look(part.function.__globals__, name)
            if value is _MISSING:
                found[name] = ("builtin" if hasattr(builtins, name) else "undefined",)
            else:
                found[name], part.names[name] = self._read(part, name, value, chains)
        return found

    def _captured(self, part: Captured) -> dict[str, Any]:
        found, used = {}, names_used(part.code)[1]
        for name, cell in zip(part.code.co_freevars, part.function.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:
                value = _MISSING
            self._cells.append((cell, value))
            found[name], made = self._read(part, name, value, used.get(name, ()))
            part.cells.append(made)
        return found

    def _defaults(self, part: Captured) -> Any:
        named = [(str(i), value) for i, value in enumerate(part.defaults or ())]
        for name in part.kwdefaults or {}:
            assert part.kwdefaults is not None
            named.append((name, self._look(part.kwdefaults, name)))
        found = []
        for name, value in named:
            text, made = self._read(part, name, value)
            if made is not value:  # a function, or of functions
                self.refused.append(Refusal(part.function, name, value))
            found.append((name, text))
        return part.defaults is None, tuple(found)

    def _read(self, part: Captured, name: str, value: Any, chains: Iterable[tuple[str, ...]] = ()) -> tuple[Any, Any]:
        """Describe a value; gives the text, and what stands for it."""
        if isinstance(value, types.ModuleType):
            return self._module(part, name, value, list(chains))
        try:
            return self._value(value)
        except _Refused:
            self.refused.append(Refusal(part.function, name, value))
            return ("refused",), value

    # ---- modules ---------------------------------------------------------------------------------------------

    def _module(
        self, part: Captured, name: str, module: types.ModuleType, chains: list[tuple[str, ...]]
    ) -> tuple[Any, Any]:
        known = module.__name__.partition(".")[0] in _KNOWN
        made, found = _Names(name), {}
        attributes = {chain[0]: [other[1:] for other in chains if other[:1] == chain[:1]] for chain in chains if chain}
        if () in chains and not known:  # it goes on by another name: whatever may be meant there
            spare = [word for code in inner_codes(part.code) for word in code.co_names if word in vars(module)]
            attributes.update((word, [(), *attributes.get(word, ())]) for word in spare if word not in attributes)
        for attribute, deeper in attributes.items():
            try:
                value = getattr(module, attribute)  # which may load it
            except AttributeError:
                continue
            if not known:
                self._look(vars(module), attribute)
            path = f"{name}.{attribute}"
            if known and not isinstance(value, (types.ModuleType, *_PLAIN)) and not is_helper(value):
                found[attribute] = (module.__name__, attribute)
            elif isinstance(value, types.ModuleType) and value is not module:
                found[attribute], made.values[attribute] = self._module(part, path, value, deeper)
            else:
                found[attribute], made.values[attribute] = self._read(part, path, value)
        return ("module", known and module.__name__, tuple(sorted(found.items()))), module if known else made

    # ---- values ----------------------------------------------------------------------------------------------

    def _value(self, value: Any) -> tuple[Any, Any]:
        kind = type(value)
        if isinstance(value, types.FunctionType) and is_helper(value):
            part = self.function(value)
            self._calls.append(part)
            return part, part
        if (kind.__module__.partition(".")[0] == "numba" or kind.__module__ == "frontier.native.jit") and isinstance(
            inner := getattr(value, "py_func", None), types.FunctionType
        ):
            if not getattr(value, "_can_compile", True):  # for types of its own
                raise _Refused
            return self._value(inner)
        if kind is tuple or (isinstance(value, tuple) and hasattr(kind, "_fields")):
            texts, made = zip(*map(self._value, value), strict=True) if value else ((), ())
            same = all(map(is_, made, value))
            return (_class(kind), texts), value if same else _Items(kind, list(made))
        if isinstance(value, Enum):
            return ("member", self._enum(kind), self._member(value)), value
        if isinstance(value, EnumMeta):
            return self._enum(value), value
        return _plain(value), value

    def _enum(self, made: Any) -> Any:
        members = [
            (name, self._member(self._look(made._member_map_, name))) for name in list(made._member_map_)
        ]
        return ("enum", made.__module__, made.__qualname__, tuple(map(_class, made.__mro__[1:])), tuple(members))

    def _member(self, member: Any) -> Any:
        text, made = self._value(self._look(vars(member), "_value_"))
        if isinstance(made, (Captured, _Items)):
            raise _Refused
        return text


# ---- descriptions -----------------------------------------------------------------------------------------------

#: Types of numbers and the like, which are described by themselves.
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype)


def _plain(value: Any) -> Any:
    """Describe a value that holds no function."""
    kind = type(value)
    if value is None or value is ... or kind in (bool, str, bytes):
        return kind.__name__, ascii(value)
    if kind is int and fits(value):
        return "int", hex(value)
    if kind is float:
        return "float", struct.pack("<d", value)
    if kind is complex:
        return "complex", struct.pack("<dd", value.real, value.imag)
    if isinstance(value, np.generic) and not isinstance(value, (np.void, np.object_)):
        return "scalar", repr(value.dtype), value.tobytes()
    if isinstance(value, np.dtype) and not value.hasobject:
        return "dtype", repr(value), value.itemsize
    if kind is slice:
        return "slice", _plain(value.start), _plain(value.stop), _plain(value.step)
    if any(base.__name__ == "Type" and base.__module__.startswith("numba.") for base in kind.__mro__):
        return "numba type", kind.__qualname__, str(value)
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        defaults = tuple(map(_plain, value.__new__.__defaults__ or ()))
        return _class(value), defaults
    if (path := _path(value)) is not None:
        return "named", *path
    raise _Refused


def _class(kind: type) -> Any:
    return "class", kind.__module__, kind.__qualname__, getattr(kind, "_fields", ())


def _path(value: Any) -> tuple[str, str] | None:
    """Module and name of a function or class that numba knows by name."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    module = "numpy" if isinstance(value, np.ufunc) else getattr(value, "__module__", None)
    if not isinstance(name, str) or not isinstance(module, str) or module.partition(".")[0] not in _NAMED:
        return None
    found: Any = sys.modules.get(module)
    for word in name.split("."):
        found = getattr(found, word, None)
    return (module, name) if found is value else None


def _code(code: types.CodeType) -> Any:
    """Describe bytecode, with all functions inside it."""
    return (
        "code", code.co_code, code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount,
        code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_exceptiontable,
        tuple(map(_constant, code.co_consts)),
    )  # fmt: skip


def _constant(value: Any) -> Any:
    """Describe a constant of bytecode."""
    if isinstance(value, types.CodeType):
        return _code(value)
    if isinstance(value, tuple):
        return "tuple", *map(_constant, value)
    if isinstance(value, frozenset):
        return "frozenset", *sorted(map(_constant, value), key=repr)
    if type(value) is int:  # however large: the rules refuse it where it matters
        return "int", hex(value)
    return _plain(value)
