"""Memory: where arrays can lie, and what can be done with them there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any

from frontier.errors import FrontierMemoryError
from frontier.memory.shortage import lacking

__all__ = ["Memory"]


class Memory(ABC):
    """A memory in which arrays lie: that of the host, or of one GPU. There is one object for each.

    Attributes
    ----------
    residence : {"host", "device", "disk"}
        What kind of memory it is.
    part : str
        What the string of a placement says of it after the backend's name: ``":1"`` for the second GPU.
    small : int
        So many bytes are not worth asking how much is free, which takes a system call, or one of the driver.
    hint : str
        What would help where it is too small.
    error : type
        What is raised then.
    """

    __slots__ = ()

    residence: str
    part: str = ""
    small: int
    hint: str
    error: type[FrontierMemoryError] = FrontierMemoryError

    @property
    @abstractmethod
    def xp(self) -> Any:
        """The module that makes its arrays: NumPy or CuPy."""

    @abstractmethod
    def full(self, length: int, value: Any, dtype: Any) -> Any:
        """Give an array of one value."""

    @abstractmethod
    def moved(self, values: Any, copy: bool = False) -> Any:
        """Give an array in this memory: copied only if it is elsewhere, unless ``copy``.

        What is no number stays on the host.
        """

    @abstractmethod
    def left(self, enough: int | None = None) -> tuple[int, str]:
        """Bytes that can still be had, and in words where; to know that there are ``enough`` may be quicker."""

    def free(self, enough: int | None = None) -> int:
        """Bytes that can still be had; to know that there are ``enough`` may be quicker."""
        return self.left(enough)[0]

    @abstractmethod
    def using(self, what: str = "an array") -> AbstractContextManager[None]:
        """Give what has to be around computations with its arrays.

        It makes the GPU current, and says it in our words if memory is used up, naming ``what`` is being made.
        """

    def synchronize(self) -> None:
        """Wait until nothing computes on its arrays; on the host nothing does between calls."""
        return

    def check_room(self, needed: int, what: str, hint: str | None = None) -> None:
        """Refuse what has no chance to fit, before anything is allocated.

        Parameters
        ----------
        needed : int
            Bytes.
        what : str
            What needs them.
        hint : str, optional
            What would help.

        Raises
        ------
        FrontierMemoryError
            With the bytes needed and free, and what would help. For a GPU it is a DeviceMemoryError.
        """
        if needed >= self.small:
            free, where = self.left(needed)
            if needed > free:
                raise lacking(self.error, needed, free, what, hint or self.hint, where)
