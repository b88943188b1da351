"""Work that several GPUs do at the same time, each in a thread of the host."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any

from frontier.memory import detection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from frontier.memory.base import Memory

__all__ = ["at_once", "each", "on_gpus"]


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


def on_gpus(memories: Sequence[Memory], work: Callable[[int], Any], what: str) -> list[Any]:
    """Call a function for each part, whose GPU is current; several GPUs work at the same time.

    Everything before is finished when they begin, and everything that they do when this returns: the streams of threads
    need not wait for each other.
    """

    def one(part: int) -> Any:
        memory = memories[part]
        with memory.using(what):
            made = work(part)
            memory.synchronize()
            return made

    for memory in dict.fromkeys(memories):
        memory.synchronize()
    return each(range(len(memories)), one, at_once(memories))


@cache
def _pool() -> ThreadPoolExecutor:
    """Threads that wait for GPUs, kept for the life of the process."""
    return ThreadPoolExecutor(64, thread_name_prefix="frontier-gpu")
