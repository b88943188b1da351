"""What processes leave behind that were killed while they wrote: it is deleted when something is written there again.

A file or folder that is not complete has a name of its own kind, :func:`unfinished`, and its writer holds a lock on it,
which the system takes away with the process, however that ends. What has such a name and no lock is nobody's. The name
says which machine it is of, since on some file systems locks are seen on one machine only. Without locks, nothing is
deleted.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal

fcntl: Any
try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

__all__ = ["held", "is_mine", "locked_folder", "sweep", "unfinished"]


def _machine() -> str:
    name = os.uname().nodename if hasattr(os, "uname") else ""
    return f"{zlib.crc32(name.encode()):08x}"


def unfinished(name: str) -> str:
    """Return a new name for what is to become ``name``."""
    return f"{name}.frontier-{_machine()}-{secrets.token_hex(4)}.tmp"


def is_mine(handle: int, path: str) -> bool:
    """Lock what has just been made, through a handle of it; False if another process has deleted it before."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # which is about to delete it
        return False
    except OSError:  # a file system without locks
        return True
    return _is_at(handle, path)


def locked_folder(path: str) -> int | Literal[False] | None:
    """Lock a folder that has just been made until the handle that is returned is closed.

    None where there are no locks; False if another process has taken it for one that is left, and deleted it.
    """
    if fcntl is None:
        return None
    with suppress(FileNotFoundError):
        handle = os.open(path, os.O_RDONLY)
        if is_mine(handle, path):
            return handle
        os.close(handle)
    return False


@contextmanager
def held(handle: int) -> Iterator[None]:
    """Within it the lock stays, although the handle is closed meanwhile."""
    other = os.dup(handle) if fcntl is not None else None  # where there are none, open files cannot be renamed
    try:
        yield
    finally:
        if other is not None:
            os.close(other)


def sweep(folder: str, name: str | None = None) -> None:
    """Delete what is unfinished in a folder and nobody's; of one ``name``, or all files."""
    if fcntl is None:
        return
    pattern = re.compile(rf"{'.*' if name is None else re.escape(name)}\.frontier-{_machine()}-[0-9a-f]{{8}}\.tmp")
    with suppress(OSError):  # it may not be read; what is written there has an error of its own
        for found in os.listdir(folder or "."):
            if pattern.fullmatch(found):
                _delete_if_left(os.path.join(folder, found), folders=name is not None)


def _delete_if_left(path: str, folders: bool) -> None:
    with suppress(OSError):  # it is locked, another's, or deleted by now
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mode = os.fstat(handle).st_mode
            if not _is_at(handle, path):
                return
            if stat.S_ISREG(mode):
                os.unlink(path)
            elif stat.S_ISDIR(mode) and folders:
                shutil.rmtree(path)
        finally:
            os.close(handle)


def _is_at(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False
