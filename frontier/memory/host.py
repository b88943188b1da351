"""The memory of the host, with NumPy arrays."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from frontier.errors import FrontierMemoryError
from frontier.memory import limits
from frontier.memory.arrays import to_host
from frontier.memory.base import Memory
from frontier.memory.shortage import HINT, explained

__all__ = ["HOST", "HostMemory"]


class HostMemory(Memory):
    """The memory of the host."""

    residence = "host"
    small = 1 << 24  # to ask the system takes 60 microseconds
    hint = HINT

    @property
    def xp(self) -> Any:
        """NumPy."""
        return np

    def full(self, length: int, value: Any, dtype: Any) -> Any:
        """Return an array of one value."""
        made = np.empty(length, dtype)
        made.fill(value)
        return made

    def moved(self, values: Any, copy: bool = False) -> Any:
        """Return an array of NumPy."""
        values = to_host(values)
        return values.copy() if copy else values

    def left(self, enough: int | None = None) -> tuple[int, str]:
        """Bytes that this process could still have; what no machine has where that cannot be told."""
        return limits.free()

    def using(self, what: str = "an array") -> _Explaining:
        """Return a context manager that turns running out of memory into our error."""
        return _Explaining(what)

    def __reduce__(self) -> str:
        return "HOST"


class _Explaining:
    __slots__ = ("_what",)

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, MemoryError) and not isinstance(error, FrontierMemoryError):
            raise explained(error, self._what) from None


#: The one there is.
HOST = HostMemory()
