"""The class Captures: what functors capture from outside, described by value and watched for changes.

numba makes constants of globals and of captured variables. So the cache key of compiled code contains the *fingerprint*
of its functors: their bytecode, everything that they capture, by value, and the functions that they call. The code is
compiled from a functor that is rebuilt from exactly the described values, and before every run these are compared with
the current ones. A value that cannot be described exactly is refused.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterable
from enum import Enum, EnumMeta
from operator import is_
from typing import Any

from frontier.errors import FunctorError
from frontier.functors.captured import MISSING, Captured, Items, Names, Refusal
from frontier.functors.descriptions import KNOWN, PLAIN, Indescribable, class_text, code_text, plain_text
from frontier.functors.functor import inner_codes, is_helper, names_used

__all__ = ["Captured", "Captures", "capture"]


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
            if mapping.get(name, MISSING) is not value:
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
            return code_text(part.code)
        except Indescribable:
            self.refused.append(Refusal(part.function, "co_consts", part.code.co_consts))
            return ("refused",)

    def _look(self, mapping: dict[Any, Any], name: Any) -> Any:
        """What a mapping holds now, to be watched."""
        value = mapping.get(name, MISSING)
        self._seen[id(mapping), name] = (mapping, name, value)
        return value

    def _globals(self, part: Captured) -> dict[str, Any]:
        found = {}
        for name, chains in names_used(part.code)[0].items():
            value = self._look(part.function.__globals__, name)
            if value is MISSING:
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
                value = MISSING
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
        except Indescribable:
            self.refused.append(Refusal(part.function, name, value))
            return ("refused",), value

    # ---- modules ---------------------------------------------------------------------------------------------

    def _module(
        self, part: Captured, name: str, module: types.ModuleType, chains: list[tuple[str, ...]]
    ) -> tuple[Any, Any]:
        known = module.__name__.partition(".")[0] in KNOWN
        made, found = Names(name), {}
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
            if known and not isinstance(value, (types.ModuleType, *PLAIN)) and not is_helper(value):
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
                raise Indescribable
            return self._value(inner)
        if kind is tuple or (isinstance(value, tuple) and hasattr(kind, "_fields")):
            texts, made = zip(*map(self._value, value), strict=True) if value else ((), ())
            same = all(map(is_, made, value))
            return (class_text(kind), texts), value if same else Items(kind, list(made))
        if isinstance(value, Enum):
            return ("member", self._enum(kind), self._member(value)), value
        if isinstance(value, EnumMeta):
            return self._enum(value), value
        return plain_text(value), value

    def _enum(self, made: Any) -> Any:
        members = [
            (name, self._member(self._look(made._member_map_, name))) for name in list(made._member_map_)
        ]
        return ("enum", made.__module__, made.__qualname__, tuple(map(class_text, made.__mro__[1:])), tuple(members))

    def _member(self, member: Any) -> Any:
        text, made = self._value(self._look(vars(member), "_value_"))
        if isinstance(made, (Captured, Items)):
            raise Indescribable
        return text


