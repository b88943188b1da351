"""Every error that Frontier raises deliberately.

All derive from :class:`FrontierError`, and most from the matching built-in exception, so that ``except ValueError``
catches errors about a bad graph.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

__all__ = [
    "BackendUnavailableError",
    "DeviceLostError",
    "DeviceMemoryError",
    "FrontierError",
    "FrontierMemoryError",
    "FrontierWarning",
    "FunctorError",
    "GraphError",
    "NegativeCycleError",
    "NegativeWeightError",
    "NotConvergedError",
    "RanksError",
    "RunTimeoutError",
    "VerificationError",
    "printable",
    "warn",
]


def printable(text: str) -> str:
    """Return a text with escapes instead of what a terminal would not print but do: a file may be called so."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


class FrontierError(Exception):
    """Base of all errors raised by Frontier."""

    def __str__(self) -> str:
        return printable(super().__str__())


class FrontierWarning(UserWarning):
    """Something is allowed, but almost always wrong."""


#: Modules between a call of ours and what called it.
_BETWEEN = ("frontier", "contextlib", "functools", "concurrent", "threading")


def warn(message: str) -> None:
    """Warn of something at the line outside Frontier that has led to it, once a line."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(printable(message), FrontierWarning, stacklevel=level)


class GraphError(FrontierError, ValueError):
    """A graph, a file or an argument that describes one is not valid."""


class FunctorError(FrontierError, TypeError):
    """A functor does something that functors may not do, or cannot be compiled."""


class BackendUnavailableError(FrontierError, ImportError):
    """The requested backend cannot be used on this machine; the message says what is missing."""


class FrontierMemoryError(FrontierError, MemoryError):
    """Something does not fit into memory; the message gives the bytes needed and the bytes free."""


class DeviceMemoryError(FrontierMemoryError):
    """Something does not fit into the memory of a GPU."""


class DeviceLostError(FrontierError, RuntimeError):
    """A kernel has failed in a way that makes the GPU unusable for this process."""


class NegativeWeightError(GraphError):
    """An edge weight is negative, and the algorithm needs weights that are not."""


class NegativeCycleError(GraphError):
    """There is a cycle of negative weight, so that no path is a shortest one.

    Attributes
    ----------
    cycle : list
        Its vertices (labels, if the graph has labels), in the direction of edges; the last is the first again.
    """

    def __init__(self, message: str, cycle: list[Any] | None = None) -> None:
        super().__init__(message)
        self.cycle = [] if cycle is None else cycle


class NotConvergedError(FrontierError):
    """A loop reached ``max_steps``.

    Attributes
    ----------
    result : object
        The state so far: the problem, or a primitive's result made from it.
    """

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class RanksError(FrontierError, RuntimeError):
    """Processes that run a program together cannot go on: one of them is lost, or does not come to an exchange."""


class RunTimeoutError(FrontierError, TimeoutError):
    """A run has taken longer than its ``timeout``; it was stopped at a pass boundary, as by Ctrl-C."""


class VerificationError(FrontierError, AssertionError):
    """A result does not have a property that defines it; the message says which, and where."""
