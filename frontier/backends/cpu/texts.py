"""What marks the functions of loop texts, and of the runtime that they call: they are translated, not compiled.

See :mod:`frontier.backends.cpu.translate`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Written", "gives"]


class Written:
    """A function that the translator reads: its code and the types of what it gives."""

    def __init__(self, function: Any, types: tuple[str, ...]) -> None:
        self.function, self.types = function, types
        self.__name__: str = function.__name__
        self.__doc__ = function.__doc__

    def __repr__(self) -> str:
        return f"<{self.__name__}, translated>"


def gives(*types: str) -> Callable[[Any], Written]:
    """Mark a function that returns values of these types, or nothing."""
    return lambda function: Written(function, types)
