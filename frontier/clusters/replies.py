"""What replies of ranks say together: values, or what has gone wrong, of which the cause comes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from frontier.clusters.workers import Reply
from frontier.errors import FrontierError

__all__ = ["lost", "values"]


def lost(replies: Sequence[Reply], doing: str, names: Sequence[str]) -> str:
    """Return why the ranks cannot go on; empty if they can.

    Parameters
    ----------
    replies : sequence of Reply
    doing : str
        What they did, in a few words.
    names : sequence of str
        Of the workers.
    """
    for rank, (kind, *said) in enumerate(replies):
        if kind == "gone":
            return f"rank {rank} of {len(names)} ({names[rank]}) was lost while the ranks {doing}: {said[0]}"
    return next((str(said[0]) for kind, *said in replies if kind == "lost"), "")


def values(replies: Sequence[Reply], loads: Callable[[bytes], Any]) -> list[Any]:
    """Return what all ranks have replied, or raise what the first has raised; ``loads`` reads what they pickle."""
    for kinds in (("error",), ("waited", "interrupted")):  # others wait for a rank that has raised an error
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
