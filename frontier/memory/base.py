"""The class Memory: a memory in which arrays can lie, and the operations on arrays there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from frontier.errors import FrontierMemoryError
from frontier.memory.shortage import lacking

__all__ = ["Memory"]


class Memory(ABC):
    """A memory in which arrays lie: that of the host, or that of one GPU. There is one object for each.

    A subclass defines ``__reduce__``, so that a pickled graph finds the object, or an equal one, again.

    Attributes
    ----------
    residence : str
        The kind of memory: ``"host"``, ``"device"``, ``"disk"`` or one of your own, which a backend that can read edges
        from it has in ``reads_edges_from``, and gives in ``residing``.
    asked : str
        What ``Graph.to(edges=)`` is asked for, so that edges lie there; if empty, its residence.
    part : str
        What follows the backend's name in the name of a placement: ``":1"`` for the second GPU.
    small : int
        Requests for fewer bytes are not checked, because finding the free memory takes a system or driver call.
    hint : str
        What to advise if the memory is too small.
    error : type
        The error that is raised in that case.
    """

    __slots__ = ()

    residence: str
    asked: str = ""
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
        """Return an array filled with one value."""

    def fill(self, array: Any, value: Any) -> None:
        """Give all elements of an array one value."""
        self.filler(array, value)()

    def filler(self, array: Any, value: Any) -> Callable[[], Any]:
        """Return a function that gives all elements of an array one value, for many calls."""
        return partial(array.fill, value)

    @abstractmethod
    def moved(self, values: Any, copy: bool = False) -> Any:
        """Return an array in this memory. It is copied if it lies elsewhere, or if ``copy`` is true.

        Arrays of objects that are not numbers stay on the host.
        """

    @abstractmethod
    def left(self, enough: int | None = None) -> tuple[int, str]:
        """Return the free bytes, and in words where they are. If only ``enough`` are needed, it may stop counting."""

    @property
    def described(self) -> str:
        """What kind of memory it is, in words: ``"host"``."""
        return self.residence

    def free(self, enough: int | None = None) -> int:
        """Return the free bytes. If only ``enough`` are needed, it may stop counting there."""
        return self.left(enough)[0]

    @abstractmethod
    def using(self, what: str = "an array") -> AbstractContextManager[None]:
        """Return a context manager for computations with its arrays.

        It makes the GPU current, and turns running out of memory into an error that names ``what`` is being made.
        """

    def synchronize(self) -> None:
        """Wait until all computations on its arrays are finished; on the host there are none between calls."""
        return

    def for_gpu(self, index: int) -> Memory:
        """Return this memory as another GPU reads it, if it is one that GPUs read."""
        return self

    def check_room(self, needed: int, what: str, hint: str | None = None) -> None:
        """Raise an error if so many bytes cannot be allocated, before anything is.

        Parameters
        ----------
        needed : int
            Bytes.
        what : str
            What needs them, for the message.
        hint : str, optional
            What would help, for the message.

        Raises
        ------
        FrontierMemoryError
            With the bytes needed and free, and the hint. For a GPU it is a DeviceMemoryError.
        """
        if needed >= self.small:
            free, where = self.left(needed)
            if needed > free:
                raise lacking(self.error, needed, free, what, hint or self.hint, where)
