"""A progress bar on stderr."""

from __future__ import annotations

import os
import sys
import time

from frontier.errors import printable

__all__ = ["Bar", "worth_showing"]

_SHOW_FROM = 50 * 2**20  # bytes of a file that are worth a progress bar


def worth_showing(size: int) -> bool:
    """Whether a bar is drawn if nobody says: for long files, where somebody looks."""
    return size > _SHOW_FROM and sys.stderr is not None and sys.stderr.isatty()


class Bar:
    """A progress bar on one line of stderr; for a pipe, whose size is unknown, it shows only how much was read."""

    def __init__(self, path: str, size: int | None, wanted: bool | None, rate: bool = True) -> None:
        self._wanted = worth_showing(size or 0) if wanted is None else wanted
        self._rate = rate
        self._name = printable(os.path.basename(path))
        self._size = size
        self._begin = time.monotonic()
        self._drawn = False

    def show(self, done: int) -> None:
        """Draw the bar with so many bytes of the file read, or steps done if there is no rate."""
        if not self._wanted:
            return
        self._drawn = True
        rate = done / 2**20 / max(time.monotonic() - self._begin, 1e-9)
        if self._size is None:
            text = f"{self._name} {done / 2**20:.0f} MiB {rate:6.0f} MiB/s"
            print(f"\r{text}", end="", file=sys.stderr, flush=True)
            return
        part = min(done / max(self._size, 1), 1.0)
        drawn = "#" * int(30 * part)
        speed = f" {rate:6.0f} MiB/s" if self._rate else ""
        print(f"\r{self._name} [{drawn:<30}] {part:4.0%}{speed}", end="", file=sys.stderr, flush=True)

    def finish(self) -> None:
        """End the bar's line, if it was drawn."""
        if self._drawn:
            print(file=sys.stderr, flush=True)
        self._drawn = self._wanted = False
