"""The functions of phases in the form that numba-cuda compiles: closures that see the names of the generated module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import CellType, CodeType, FunctionType
from typing import Any

__all__ = ["Kernels"]

#: Functions of these modules are known to numba, or made for it; but not those of modules of phases.
_KNOWN, _PHASES = ("frontier.backends.", "frontier.functors."), ".phases"


class Kernels:
    """Makes the functions of one program's phases compilable.

    A function is copied. The copy sees what the function has captured, the names of its module, and those of the
    program's module (the runtime). Plain functions among these are compiled too, and are inlined into their callers.

    Parameters
    ----------
    names : mapping
        Of the program's module.
    phase, device : callable
        Decorators that make a phase, and a function that it calls, compilable.
    """

    def __init__(self, names: Mapping[str, Any], phase: Callable[[Any], Any], device: Callable[[Any], Any]) -> None:
        self._names, self._phase, self._device = names, phase, device
        self._made: dict[FunctionType, Any] = {}

    def __call__(self, function: FunctionType, name: str) -> Any:
        """Make the function of a phase compilable, under this name in machine code."""
        return self._phase(self._copy(function, name))

    def _copy(self, function: FunctionType, name: str) -> FunctionType:
        cells = tuple(CellType(self._seen(cell.cell_contents)) for cell in function.__closure__ or ())
        own = function.__globals__
        names = {
            name: self._seen(own[name] if name in own else self._names[name])
            for name in _names(function.__code__)
            if name in own or name in self._names
        }
        names["__name__"] = function.__module__
        made = FunctionType(function.__code__, names, name, function.__defaults__, cells)
        made.__qualname__ = name
        return made

    def _seen(self, value: Any) -> Any:
        """What compiled code sees in place of a value: of a plain function, its compilable copy."""
        if not isinstance(value, FunctionType):
            return value
        module = value.__module__ or ""
        if module.startswith(_KNOWN) and not module.endswith(_PHASES):
            return value
        if value not in self._made:
            self._made[value] = self._device(self._copy(value, value.__name__))
        return self._made[value]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)
