"""A lock on a folder in which one process may work at a time; it ends with the process, however that ends."""

from __future__ import annotations

import os
from typing import IO, Any

__all__ = ["locked"]


def locked(path: str) -> IO[Any] | None:
    """Lock a file, which is made for that, until it is closed.

    Returns
    -------
    file or None
        The open file; None where the system has no such locks, so that nothing is locked.

    Raises
    ------
    BlockingIOError
        If it is locked already, by another process or by this one.
    """
    try:
        import fcntl
    except ImportError:
        return None
    while True:
        file = open(path, "ab", opener=_opened)  # noqa: SIM115  # it is closed when the work is done
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise
        except OSError:  # a file system without locks
            pass
        if _is_there(path, file):
            return file
        file.close()  # who held it has deleted it, or given the folder another name


def _opened(path: str, flags: int) -> int:
    """Neither follow a link, nor wait for who reads a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o666)


def _is_there(path: str, file: IO[Any]) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
