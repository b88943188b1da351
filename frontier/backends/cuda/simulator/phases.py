"""The functions of phases as the simulator runs them: closures that see the names of the generated module.

The translator finds these names by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import CellType, CodeType, FunctionType
from typing import Any

from frontier.compile.translation.texts import OWN

__all__ = ["phases"]


def phases(names: Mapping[str, Any]) -> Callable[[FunctionType, str], FunctionType]:
    """What makes the functions of one program's phases see the names of the program's module."""
    return _Kernels(names)


class _Kernels:
    """Copies functions.

    A copy sees what the function has captured, the names of its module, and those of the program's module (the
    runtime). Plain functions among these are copied, too.

    Parameters
    ----------
    names : mapping
        Of the program's module.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._made: dict[FunctionType, Any] = {}

    def __call__(self, function: FunctionType, name: str) -> FunctionType:
        """A copy of a function by this name."""
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
        """What a copy sees in place of a value: of a plain function, its copy."""
        if not isinstance(value, FunctionType):
            return value
        module = value.__module__ or ""
        if module.startswith(OWN) and not module.endswith("phases"):  # needs no names but its own
            return value
        if value not in self._made:
            self._made[value] = self(value, value.__name__)
        return self._made[value]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)
