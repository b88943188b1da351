"""The interface to the workers of Dask and of Ray, and what their ranks' replies mean."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import frontier
from frontier.errors import FrontierError, RanksError

__all__ = ["Reply", "Workers", "devices", "lost", "share", "value", "values", "versions"]

#: The kind of a reply, and what belongs to it. Kinds: ``value``; ``error``, raised by the request; ``interrupted`` by
#: Ctrl-C; ``waited`` for a rank that has ended early; ``lost``, if the rank cannot go on; ``gone``, if the rank or its
#: worker does not exist any more.
Reply = tuple[Any, ...]


class Workers(ABC):
    """The workers of a cluster, with a rank beside each.

    Attributes
    ----------
    names : list of str
        Names of the workers in messages, by rank.
    hosts : list of str
        Addresses of the workers, for the other ranks.
    """

    names: list[str]
    hosts: list[str]

    @abstractmethod
    def ask(self, name: str, *given: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Reply]:
        """Send all ranks a request at the same time, and return their replies; ``each`` has more arguments by rank."""

    @abstractmethod
    def interrupt(self, seconds: float) -> bool:
        """Stop all ranks like Ctrl-C, and kill those that take longer; return whether none was killed."""

    @abstractmethod
    def columns(self, table: Any) -> list[str] | None:
        """Return the names of the columns of a distributed table; None if it is not one of this library."""

    @abstractmethod
    def put(self, name: str, table: Any, columns: list[str]) -> None:
        """Give each rank its partitions of a distributed table."""

    @abstractmethod
    def table(self, data: bytes, extents: list[tuple[int, int]], empty: dict[str, Any]) -> Any:
        """Return a result as a distributed table, given each rank's range of rows, and the columns without rows."""

    @abstractmethod
    def table_of(self, table: Any) -> Any:
        """Return a pandas DataFrame as a distributed table."""

    @abstractmethod
    def close(self) -> None:
        """End all ranks."""


def share(count: int, rank: int, size: int) -> range:
    """Return a rank's share of so many things."""
    return range(count * rank // size, count * (rank + 1) // size)


def devices(found: list[dict[str, Any]]) -> list[str | None]:
    """Return the GPU for each rank: the first that its worker sees, if these differ, as they do with Dask-CUDA."""
    first = [(each["host"], (each["devices"] or "").split(",")[0]) for each in found]
    apart = all(device for _, device in first) and len(set(first)) == len(first)
    return [device if apart else None for _, device in first]


def versions() -> str:
    """Return the versions that must be the same everywhere, as functions are sent as pickles."""
    return f"Python {sys.version_info[0]}.{sys.version_info[1]} and Frontier {frontier.__version__}"


# ---- replies ---------------------------------------------------------------------------------------------------------


def lost(replies: Sequence[Reply], doing: str, names: Sequence[str]) -> str:
    """Return why the ranks cannot go on; empty if they can.

    Parameters
    ----------
    replies : sequence of Reply
    doing : str
        What the ranks did, in the past tense.
    names : sequence of str
        Names of the workers.
    """
    for rank, (kind, *said) in enumerate(replies):
        if kind == "gone":
            return f"rank {rank} of {len(names)} ({names[rank]}) was lost while the ranks {doing}: {said[0]}"
    return next((str(said[0]) for kind, *said in replies if kind == "lost"), "")


def value(reply: Reply, where: str) -> Any:
    """Return the value that one rank has replied, or raise its error."""
    kind, *said = reply
    if kind == "error":
        raise said[0]
    if kind != "value":
        raise RanksError(f"the rank on {where} is lost: {said[0]}")
    return said[0]


def values(replies: Sequence[Reply], loads: Callable[[bytes], Any]) -> list[Any]:
    """Return the values that all ranks have replied, or raise the first error; ``loads`` unpickles its result."""
    for kinds in (("error",), ("waited", "interrupted")):  # an error is why other ranks have waited in vain
        for rank, (kind, *said) in enumerate(replies):
            if kind in kinds:
                _raise(rank, len(replies), kind, said, loads)
    return [said[0] for _, *said in replies]


def _raise(rank: int, size: int, kind: str, said: list[Any], loads: Callable[[bytes], Any]) -> NoReturn:
    if kind == "interrupted":
        raise KeyboardInterrupt
    if kind == "waited":
        raise FrontierError(said[0])
    error, where, *result = said
    if result and result[0] is not None:
        error.result = loads(result[0])
    if not any("(rank " in note for note in getattr(error, "__notes__", ())):
        error.add_note(f"(rank {rank} of {size})")
    if where:
        error.add_note(f"\nThere:\n{where}")
    raise error
