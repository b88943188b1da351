"""Errors for data that does not fit into memory: what needed it, how much is needed and free, and what would help."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from frontier.display.progress import Task
from frontier.errors import FrontierMemoryError
from frontier.memory import limits

__all__ = ["HINT", "explained", "lacking", "telling"]

#: What would help where the host's memory is too small.
HINT = "a smaller graph, narrower dtypes or fewer arrays in use would help (see Graph.memory_estimate)"

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Kind = TypeVar("Kind", bound=FrontierMemoryError)


def lacking(
    kind: type[Kind], needed: int, free: int, what: str, hint: str, where: str = "", more: str = ""
) -> Kind:
    """The error for something that does not fit; ``needed``: 0 if nobody knows, ``where``: into which memory."""
    if not needed:
        return kind(f"{what}: memory ran out, {free:,} bytes are free{where} ({free / 2**30:,.1f} GiB); {hint}")
    return kind(
        f"{what}: at least {needed:,} {more}bytes are needed ({needed / 2**30:,.1f} GiB), {free:,} are free{where} "
        f"({free / 2**30:,.1f} GiB); {hint}"
    )


def explained(error: Exception, what: str) -> FrontierMemoryError:
    """Return the error for an allocation that failed without a prior check; an error of ours is returned unchanged."""
    if isinstance(error, FrontierMemoryError):
        return error
    needed = getattr(error, "_total_size", 0)  # NumPy says how much it was
    free, where = limits.free()
    return lacking(FrontierMemoryError, needed, free, what, HINT, where, "more ")


def telling(what: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Let a function say what it does: while it takes long, and in an error if it runs out of memory; a decorator."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def call(*given: Parameters.args, **named: Parameters.kwargs) -> Result:
            try:
                with Task(what):
                    return function(*given, **named)
            except MemoryError as error:
                raise explained(error, what) from None

        return call

    return decorate
