"""Progress of what takes longer than two seconds: a line on stderr, in a terminal or a notebook.

Reading, building and running say what they do as a :class:`task`. A thread looks at the tasks twice a second and draws
the oldest one; so a task costs a microsecond, and nothing is drawn from where the work is done. Where nobody looks,
as in a pipe or a log, there is no thread and no line; ``FRONTIER_PROGRESS`` and ``progress=`` say it otherwise.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType

from frontier.environment import switch
from frontier.errors import printable

__all__ = ["counted", "steps", "task"]

#: Seconds until something is drawn, and between two drawings.
FROM, EVERY = 2.0, 0.5

#: Characters of a bar.
WIDTH = 30

_MIB = 2**20

#: Tasks that are being done, in the order in which they were begun.
_open: list[task] = []

_changed = threading.Event()
_drawer: threading.Thread | None = None
_lock = threading.Lock()


class task:
    """Something that may take long, as a context manager.

    Parameters
    ----------
    name : str
        What is done: the name of a primitive, of a program, of a file.
    total : int, optional
        How much is to be done. What has been done is told by :meth:`at`, or asked for.
    unit : str
        Of what: ``"sources"``; ``"MiB"`` if numbers are bytes.
    ask : callable, optional
        What has been done, and of how much or None; called by another thread.
    wanted : bool, optional
        Whether it is drawn; by default where somebody looks.
    """

    __slots__ = ("_ask", "_begun", "_done", "_drawn", "_name", "_total", "_unit", "_wanted")

    def __init__(
        self, name: str, total: int | None = None, unit: str = "", *,
        ask: Callable[[], tuple[int, int | None]] | None = None, wanted: bool | None = None,
    ) -> None:  # fmt: skip
        self._name, self._total, self._unit, self._ask = name, total, unit, ask
        self._done, self._drawn, self._begun = 0, False, 0.0
        self._wanted = _somebody_looks() if wanted is None else wanted

    def __enter__(self) -> task:
        if self._wanted:
            self._begun = time.monotonic()
            _open.append(self)
            _wake()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def at(self, done: int) -> None:
        """Tell how much has been done."""
        self._done = done

    def end(self) -> None:
        """The task is over; ends the line, if one was drawn."""
        if not self._wanted:
            return
        self._wanted = False
        with _lock:
            _open.remove(self)
            if self._drawn:
                _write(f"\r{_CLEAR}{self._text()}\n")

    def _text(self) -> str:
        done, total = self._ask() if self._ask is not None else (self._done, self._total)
        took = time.monotonic() - self._begun
        seconds = f"{took:.0f} s"
        name = f"frontier: {printable(self._name)}"
        if self._unit == "MiB":
            rate = f"{done / _MIB / max(took, 1e-9):.0f} MiB/s"
            if not total:
                return f"{name}: {done / _MIB:.0f} MiB, {rate}, {seconds}"
            return f"{name} {_bar(done / total)}, {rate}, {seconds}"
        if total:
            return f"{name} {_bar(done / total)}, {done} of {total} {self._unit}, {seconds}"
        return f"{name}: {done} {self._unit}, {seconds}" if done else f"{name}: {seconds}"


_CLEAR = "\033[K"


def _bar(part: float) -> str:
    part = min(max(part, 0.0), 1.0)
    return f"[{'#' * int(WIDTH * part):<{WIDTH}}] {part:4.0%}"


def _somebody_looks() -> bool:
    """Whether stderr is a terminal or a notebook, and this is the process that speaks."""
    shown = "FRONTIER_PROGRESS" in os.environ
    if shown:
        return switch("FRONTIER_PROGRESS", "1 to show progress, or 0", True)
    stream = sys.stderr
    if stream is None or os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")) != "0":
        return False
    try:
        return stream.isatty() or "ipykernel" in type(stream).__module__
    except (AttributeError, ValueError):  # something else that is written to; closed
        return False


def _wake() -> None:
    global _drawer
    if _drawer is None:
        with _lock:
            if _drawer is None:
                _drawer = threading.Thread(target=_draw, name="frontier progress", daemon=True)
                _drawer.start()
    _changed.set()


def _draw() -> None:
    while True:
        _changed.wait()
        time.sleep(EVERY)
        with _lock:
            if not _open:
                _changed.clear()
                continue
            oldest = _open[0]
            if time.monotonic() - oldest._begun >= FROM:
                ...
