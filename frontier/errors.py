"""Every error that Frontier raises deliberately.

All derive from :class:`FrontierError`, and most from the matching built-in exception, so that ``except ValueError``
catches errors about a bad graph.
"""

from __future__ import annotations

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
    "NegativeWeightError",
    "NotConvergedError",
    "RunTimeoutError",
    "VerificationError",
]


class FrontierError(Exception):
    """Base of all errors raised by Frontier."""


class FrontierWarning(UserWarning):
    """Something is allowed, but almost always wrong."""


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


class RunTimeoutError(FrontierError, TimeoutError):
    """A run has taken longer than its ``timeout``; it was stopped at a pass boundary, as by Ctrl-C."""


class VerificationError(FrontierError, AssertionError):
    """A result does not have a property that defines it; the message says which, and where."""
