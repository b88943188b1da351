"""Copies of functors in the form that is compiled: named by their content, with helpers that can be compiled, too."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from frontier.functors.captures import Captured
from frontier.functors.functor import plain

__all__ = ["Copies"]


class Copies:
    """The copies of functors for one target.

    A copy is of the values that a functor had when it was looked at. It lives in a module that every process can
    import: machine code kept on disk refers to functions by module and name, wherever they were defined when it was
    made.

    Parameters
    ----------
    jit : callable
        ``jit(function)`` makes a plain function compilable.
    """

    def __init__(self, jit: Callable[[types.FunctionType], Any]) -> None:
        self._jit = jit
        self._jitted: dict[str, Any] = {}

    def __call__(self, part: Captured) -> Any:
        """Return the copy of a functor, made once."""
        made = self._jitted.get(part.fingerprint)
        if made is None:
            copy = part.copy(f"{plain(part.function.__name__)}_{part.fingerprint[:12]}")
            copy.__module__ = "frontier.functors.functor"
            made = self._jitted[part.fingerprint] = self._jit(copy)
            part.fill(copy, self)
        return made

    def forget(self, part: Captured) -> None:
        """Forget the copy of a functor that cannot be compiled, and of its helpers: they say where they are written."""
        for each in part.reached():
            self._jitted.pop(each.fingerprint, None)
