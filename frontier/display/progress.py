"""Progress of what takes longer than two seconds: a line on stderr, in a terminal or a notebook.

What reads, builds or runs says so by a :class:`Task`. A thread looks at the tasks twice a second and draws the line, so
that a task costs a microsecond where the work is done. Where nobody looks, as in a pipe, there is neither thread nor
line; ``FRONTIER_PROGRESS`` says otherwise.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from frontier.errors import printable
from frontier.system.environment import is_set, switch

__all__ = ["Task"]

#: Seconds until a line is drawn, and between two drawings.
FROM, EVERY = 2.0, 0.5

#: Characters of a bar; columns of a line.
WIDTH, COLUMNS = 24, 100

_MIB = 2**20

#: Tasks that are wanted and not over, in the order in which they were begun.
_open: list[Task] = []
_lock = threading.RLock()
_some = threading.Event()  # whether there are tasks
_drawer: threading.Thread | None = None

#: The last stream that stderr was, and whether somebody looks at it.
_seen: tuple[Any, bool] = (None, False)


class Task:
    """Something that may take long; a context manager, or begun and ended by hand.

    Parameters
    ----------
    name : str
        A primitive, a program or a file.
    total : int, optional
        How much there is to do.
    unit : str
        Of what: ``"turns"``; ``"MiB"`` where numbers are bytes.
    ask : callable, optional
        Gives what has been done, and of how much or None; the thread that draws calls it. Otherwise :meth:`at` tells.
    wanted : bool, optional
        Whether it is shown; by default if it takes long and somebody looks.
    """

    __slots__ = ("_ask", "_begun", "_done", "_drawn", "_name", "_thread", "_total", "_unit", "_wanted")

    def __init__(
        self, name: str, total: int | None = None, unit: str = "", *,
        ask: Callable[[], tuple[int, int | None]] | None = None, wanted: bool | None = None,
    ) -> None:  # fmt: skip
        self._wanted = _somebody_looks() if wanted is None else wanted
        self._drawn = bool(wanted)
        self._name, self._total, self._unit, self._ask, self._done = name, total, unit, ask, 0

    def __enter__(self) -> Task:
        return self.begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def begin(self) -> Task:
        """The task begins; returns it."""
        if self._wanted:
            self._begun, self._thread = time.monotonic(), threading.get_ident()
            with _lock:
                _open.append(self)
                _start()
        return self

    def at(self, done: int) -> None:
        """Tell how much has been done."""
        self._done = done

    def end(self) -> None:
        """The task is over; a line that was drawn for it stays."""
        if not self._wanted:
            return
        self._wanted = False
        with _lock:
            if self._drawn:
                _write(_line(self, self), "\n")
            if self in _open:  # in a forked child it is not
                _open.remove(self)
            if not _open:
                _some.clear()

    def _state(self) -> tuple[int, int | None]:
        """How much has been done, and of how much, if that is known."""
        return self._ask() if self._ask is not None else (self._done, self._total)

    def _counts(self) -> str:
        done, total = self._state()
        if self._unit == "MiB":
            rate = done / _MIB / max(time.monotonic() - self._begun, 1e-9)
            return f"{_bar(done, total) if total else f'{done / _MIB:.0f} MiB'} {rate:.0f} MiB/s"
        if total:
            return f"{_bar(done, total)} {done} of {total} {self._unit}"
        return f"{done} {self._unit}" if done else ""


def _bar(done: int, total: int) -> str:
    part = min(done / total, 1.0)
    return f"[{'#' * int(WIDTH * part):<{WIDTH}}] {part:4.0%}"


def _line(whole: Task, inner: Task) -> str:
    """What is drawn for a task, within which another one is being done."""
    name = whole._name if inner._name == whole._name else f"{whole._name}, {inner._name}"
    parts = [printable(name).replace("\n", " "), inner._counts(), f"{time.monotonic() - whole._begun:.0f} s"]
    return f"frontier: {' '.join(part for part in parts if part)}"


def _write(text: str, end: str) -> None:
    stream = sys.stderr
    with contextlib.suppress(OSError, ValueError, AttributeError):  # nobody listens any more
        clear = "\033[K" if stream.isatty() else ""
        stream.write(f"\r{clear}{text if clear else text.ljust(COLUMNS)}{end}")
        stream.flush()


_is_set = is_set("FRONTIER_PROGRESS")


def _somebody_looks() -> bool:
    """Whether stderr is a terminal or a notebook's, and this is the process that speaks for all ranks."""
    if _is_set() and os.environ["FRONTIER_PROGRESS"]:
        return switch("FRONTIER_PROGRESS", "1 to show progress, or 0", True)
    global _seen
    stream = sys.stderr
    if _seen[0] is not stream:  # a call asks a few times, and to ask the system takes longer than the answer is worth
        _seen = (stream, _is_looked_at(stream))
    return _seen[1]


def _is_looked_at(stream: Any) -> bool:
    if stream is None or os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")) != "0":
        return False
    try:
        return stream.isatty() or type(stream).__module__.startswith("ipykernel")
    except (AttributeError, ValueError):  # another object that is written to; a closed one
        return False


def _start() -> None:
    """Let the thread draw, from the first task on."""
    global _drawer
    _some.set()
    if _drawer is None:
        _drawer = threading.Thread(target=_draw, name="frontier progress", daemon=True)
        _drawer.start()


def _draw() -> None:
    while True:
        _some.wait()
        time.sleep(EVERY)
        with _lock:
            whole = next((task for task in _open if time.monotonic() - task._begun >= FROM), None)
            if whole is None:
                continue
            whole._drawn = True
            _write(_line(whole, max(_within(whole), key=_says)), "")


def _within(whole: Task) -> list[Task]:
    """The tasks of a thread, the innermost first."""
    return [task for task in reversed(_open) if task._thread == whole._thread]


def _says(task: Task) -> int:
    """How much a task says of how far it is."""
    done, total = task._state()
    return 2 if total else 1 if done else 0


def _forked() -> None:
    """In a forked child, where that thread is not: nothing is being done."""
    global _drawer, _lock
    _drawer, _lock = None, threading.RLock()
    _open.clear()
    _some.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
