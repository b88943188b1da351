"""Write a file atomically: under a temporary name, which replaces the old file when it is complete.

If the disk is full, or after an error or Ctrl-C, the old file is unchanged and nothing else is left behind. What a
killed process leaves is deleted when a file is written in the same folder again.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

from frontier.system.leftovers import held, is_mine, sweep, unfinished

__all__ = ["STREAMS", "replacing"]

#: Names of what this process has open already, be it a file.
STREAMS = ("/dev/std", "/dev/fd/", "/proc/")


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to write, which takes the place of ``path`` at the end of a block without an error.

    A link stays one, and what it points to is replaced. The mode is that of the old file, else what the umask gives.
    Written to directly are devices and pipes (``/dev/stdout``), and a file in a folder that takes no new ones.

    Raises
    ------
    OSError
        It cannot be written.
    """
    name = os.fspath(path)
    old = _status(name)
    if old is not None and (not stat.S_ISREG(old.st_mode) or name.startswith(STREAMS)):
        with open(name, "wb") as stream:
            yield stream
        return
    if os.path.islink(name):  # else as given: what is above the working folder may be closed to us
        name = os.path.realpath(name)
    if old is not None and not os.access(name, os.W_OK):
        raise PermissionError(13, os.strerror(13), name)  # to replace it would be allowed
    try:
        file, beside = _beside(name)
    except PermissionError:
        if old is None:
            raise
        with open(name, "wb") as stream:
            yield stream
        return
    try:
        with held(file.fileno()):
            with file:
                yield file
            if old is not None:
                _like(beside, old)
            os.replace(beside, name)
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to tell
            os.unlink(beside)
        raise


def _status(name: str) -> os.stat_result | None:
    try:
        return os.stat(name)
    except FileNotFoundError:
        return None


def _beside(name: str) -> tuple[BinaryIO, str]:
    """A new file in the same folder; ``open`` gives it the mode that the umask leaves, ``tempfile`` would not."""
    folder, last = os.path.split(name)
    sweep(folder)
    while True:
        beside = os.path.join(folder, unfinished(f".{last[:40]}"))
        try:
            file = open(beside, "xb")  # noqa: SIM115 - it is closed where it is used
        except FileExistsError:
            continue
        if is_mine(file.fileno(), beside):
            return file, beside
        file.close()


def _like(beside: str, old: os.stat_result) -> None:
    """Give the new file the old one's mode, and its owner where that is allowed."""
    new = os.stat(beside)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) and hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(beside, old.st_uid, old.st_gid)
    os.chmod(beside, stat.S_IMODE(old.st_mode) & 0o777)
