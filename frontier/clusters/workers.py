"""What a cluster is to its handle: workers with a rank beside each, whichever library they are of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

__all__ = ["Reply", "Workers", "devices", "share"]

#: How a request went: ``"value"``, ``"error"``, ``"lost"``, ... and what belongs to it; ``"gone"``: rank or worker are.
Reply = tuple[Any, ...]


class Workers(ABC):
    """Workers of a cluster, with a rank beside each.

    Attributes
    ----------
    names : list of str
        What messages call the workers, by rank.
    hosts : list of str
        Addresses at which the others reach each.
    """

    names: list[str]
    hosts: list[str]

    @abstractmethod
    def ask(self, name: str, *given: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Reply]:
        """Let all ranks do something at the same time, and return their replies; ``each`` rank gets more arguments."""

    @abstractmethod
    def interrupt(self, seconds: float) -> bool:
        """Stop what the ranks do as Ctrl-C would, and end those that take more seconds for it; whether all did."""

    @abstractmethod
    def columns(self, table: Any) -> list[str] | None:
        """Return the names of the columns of a distributed table; None: it is none of this library."""

    @abstractmethod
    def put(self, name: str, table: Any, columns: list[str]) -> None:
        """Hand over columns of a table to the ranks, in its order."""

    @abstractmethod
    def table(self, data: bytes, extents: list[tuple[int, int]], empty: dict[str, Any]) -> Any:
        """Return the rows that ranks have of a result as a distributed table; known are their numbers, and columns."""

    @abstractmethod
    def table_of(self, table: Any) -> Any:
        """Return a distributed table of a pandas DataFrame."""

    @abstractmethod
    def close(self) -> None:
        """End all ranks."""


def share(count: int, rank: int, size: int) -> range:
    """Which of so many things belong to a rank, if they are dealt in their order."""
    return range(count * rank // size, count * (rank + 1) // size)


def devices(found: list[dict[str, Any]]) -> list[str | None]:
    """Which GPU each rank shall see: the first of its worker's, if those of a host differ, as Dask-CUDA lets them."""
    first = [(each["host"], (each["devices"] or "").split(",")[0]) for each in found]
    apart = all(device for _, device in first) and len(set(first)) == len(first)
    return [device if apart else None for _, device in first]
