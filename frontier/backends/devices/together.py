"""Work that several GPUs do at the same time, each in a thread of the host."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any

from frontier.memory import detection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from frontier.memory.base import Memory

__all__ = ["at_once", "each"]


def at_once(memories: Sequence[Memory]) -> bool:
    """Whether several GPUs are to work at the same time; parts of one GPU take turns."""
    return len(set(memories)) > 1 and not detection.simulated()


def each(items: Iterable[Any], work: Callable[[Any], Any], together: bool) -> list[Any]:
    """Call a function for each item, ``together`` at the same time; what comes of it, in their order."""
    if not together:
        return [work(item) for item in items]
    futures = [_pool().submit(work, item) for item in items]
    found = [future.exception() for future in futures]  # all have ended before anything is raised
    for error in found:
        if error is not None:
            raise error
    return [future.result() for future in futures]


@cache
def _pool() -> ThreadPoolExecutor:
    """Threads that wait for GPUs, kept for the life of the process."""
    return ThreadPoolExecutor(64, thread_name_prefix="frontier-gpu")
