"""Folders of Frontier graphs that take the place of others as a whole."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from frontier.errors import GraphError
from frontier.io._sync import sync
from frontier.system.leftovers import locked_folder, sweep, unfinished

__all__ = ["HEAD", "check_replaceable", "replace_folder", "replacing_folder"]

#: The file that says what is in a folder.
HEAD = "graph.json"

#: Of renameat2(2): paths are as for other calls, and two names are exchanged.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def check_replaceable(name: str) -> None:
    """Refuse to replace what is no Frontier graph."""
    if os.path.exists(name) and not os.path.exists(os.path.join(name, HEAD)):
        raise GraphError(f"{name}: there is something else than a Frontier graph, which is not replaced")


@contextmanager
def replacing_folder(name: str) -> Iterator[str]:
    """Make a folder that takes the place of ``name`` at the end of a block without an error."""
    name = os.path.realpath(name)
    check_replaceable(name)
    folder, last = os.path.split(name)
    sweep(folder, last)
    beside, lock = _made(folder, last)
    try:
        yield beside
        replace_folder(beside, name)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _made(folder: str, last: str) -> tuple[str, int | None]:
    """A new folder that is to become another, and the handle by which it is locked, if that is possible."""
    while True:
        beside = os.path.join(folder, unfinished(last))
        os.mkdir(beside)
        lock = locked_folder(beside)
        if lock is not False:
            return beside, lock


def replace_folder(made: str, name: str) -> None:
    """Let a folder take the place of a graph, which is deleted; what has that open keeps it.

    Where the system can exchange two names, there is a graph under the name at every time, and after every failure of
    the machine. Elsewhere the old one is called ``MADE.old`` for a moment.
    """
    check_replaceable(name)  # it may have come meanwhile
    for file in os.listdir(made):
        sync(os.path.join(made, file))
    sync(made)
    old = f"{made}.old"
    if not os.path.exists(name):
        os.rename(made, name)
    elif not _exchange(made, name):
        _delete(old)  # of a process that was killed here
        os.rename(name, old)
        os.rename(made, name)
    sync(os.path.dirname(name))
    _delete(made)
    _delete(old)


def _exchange(one: str, other: str) -> bool:
    """Exchange the names of two folders in one step; False where the system, or the file system, cannot do so."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):  # of another C library
        return False
    found: int = call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return found == 0


def _delete(folder: str) -> None:
    """Delete a graph, if there is one; at last the file that says that it is one, so that another call can go on."""
    if os.path.exists(os.path.join(folder, HEAD)):
        for file in os.listdir(folder):
            path = os.path.join(folder, file)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            elif file != HEAD:
                _unlink(path)
        _unlink(os.path.join(folder, HEAD))
    with suppress(OSError):  # there is none, or something else
        os.rmdir(folder)


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):  # another process, which takes the folder for one that is left, has been faster
        os.unlink(path)
