"""Several workers on graphs of any size: the cpu backend gives a small graph to one worker only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import frontier as fr


@contextmanager
def several_workers(count: int) -> Iterator[None]:
    """Let ``count`` threads share even the smallest graph."""
    from frontier.backends.cpu import execution

    small, before = execution.SMALL, fr.num_threads()
    execution.SMALL = 0
    fr.set_num_threads(count)
    try:
        yield
    finally:
        execution.SMALL = small
        fr.set_num_threads(before)
