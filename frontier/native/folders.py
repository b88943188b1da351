"""Folders whose files are executed: opened once, looked at as they are open, and used by their descriptors.

A name may lead elsewhere a moment after it was looked at, where there is a link in it that another user may change. So
a folder is opened, and what is open is looked at; its files are opened within it, without following links, and looked
at in turn. The folder and its files belong to the user or to root, and neither the group nor others may write to them;
no folder above may be written to by these either, unless it has the sticky bit.

On systems without descriptors of folders (Windows) names are used, and nothing is looked at: the user's own folders are
the user's own there.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["Untrusted", "descriptor", "exists", "made", "opened", "read", "remove", "status", "write"]

_WRITE = stat.S_IWGRP | stat.S_IWOTH

#: Whether files can be opened within a folder that is open.
_WITHIN = {os.open, os.mkdir, os.stat, os.unlink, os.rename} <= os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")

_COMMON = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | _COMMON | getattr(os, "O_DIRECTORY", 0)
_FILE = _COMMON | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

#: What a process writes before it gets its name, and after how many seconds it is nobody's.
_UNFINISHED, _LEFT = re.compile(r".*\.[0-9]+\.[0-9a-f]{8}\.tmp"), 3600.0

#: Descriptors of folders, each with the device and the number by which it is known again.
_held: dict[Path, tuple[int, int, int]] = {}
_swept: set[Path] = set()


class Untrusted(PermissionError):
    """What is there must not be executed; the text says why."""

    def __init__(self, why: str) -> None:
        super().__init__(errno.EACCES, why)

    def __str__(self) -> str:
        return str(self.strerror)


def descriptor(folder: Path) -> int | None:
    """Return the descriptor of a folder; None where names are used.

    Raises
    ------
    Untrusted
        Others may write to it, or to a folder above it.
    OSError
        It is not there.
    """
    if not _WITHIN:
        return None
    known = _held.get(folder)
    if known is not None and _is_still(known):
        return known[0]
    above = _held.get(folder.parent)
    handle = -1
    try:
        if above is not None and _is_still(above):
            if stat.S_ISLNK(os.stat(folder.name, dir_fd=above[0], follow_symlinks=False).st_mode):
                raise Untrusted("it is a link")
            handle = os.open(folder.name, _FOLDER | os.O_NOFOLLOW, dir_fd=above[0])
            _check(os.fstat(handle))
        else:
            handle = os.open(folder, _FOLDER)
            _check(os.fstat(handle))
            _check_above(folder)
    except BaseException:
        if handle >= 0:
            os.close(handle)
        raise
    found = os.fstat(handle)
    _held[folder] = handle, found.st_dev, found.st_ino
    return handle


def _is_still(known: tuple[int, int, int]) -> bool:
    """Whether a descriptor is of the same folder, which somebody may have closed, removed, or opened to others."""
    try:
        found = os.fstat(known[0])
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == known[1:] and found.st_nlink > 0 and not _fault(found)


def _fault(found: os.stat_result) -> str:
    if found.st_uid not in (os.getuid(), 0):
        return "it belongs to another user"
    return "others may write to it (chmod go-w)" if found.st_mode & _WRITE else ""


def _check(found: os.stat_result) -> None:
    if fault := _fault(found):
        raise Untrusted(fault)


def _check_above(folder: Path) -> None:
    """Refuse a folder that others may give another name, or that a link leads to which they may change."""
    names, seen = [folder, folder.resolve()], set()
    while names:
        name = names.pop()
        for at in (name, *name.parents):
            if at in seen:
                continue
            seen.add(at)
            if at.is_symlink():
                names.append(at.parent / os.readlink(at))
            mode = at.stat().st_mode
            if at != name and mode & _WRITE and not mode & stat.S_ISVTX:
                who = "others" if mode & stat.S_IWOTH else "its group"
                raise Untrusted(f"{who} may write to {at}")


def made(folder: Path) -> None:
    """Make a folder, and those above it, to which no other user may write, if they are not there."""
    above = _held.get(folder.parent)
    with suppress(FileExistsError):
        if above is not None and _is_still(above):
            os.mkdir(folder.name, 0o755, dir_fd=above[0])
            return
        if not folder.parent.exists():
            made(folder.parent)
        folder.mkdir(0o755)


# ---- files -------------------------------------------------------------------------------------------------


def opened(path: Path, flags: int, mode: int = 0o644) -> int:
    """Open a file of a folder, and look at what is open.

    Raises
    ------
    Untrusted
        It is no file, or somebody else may write to it.
    OSError
    """
    within = descriptor(path.parent)
    if within is None:
        return os.open(path, flags | _COMMON, mode)
    handle = os.open(path.name, flags | _FILE, mode, dir_fd=within)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise Untrusted("it is no file")
        _check(found)
    except BaseException:
        os.close(handle)
        raise
    return handle


def read(path: Path) -> bytes:
    """Return the content of a file."""
    with os.fdopen(opened(path, os.O_RDONLY), "rb") as file:
        return file.read()


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, for processes share the folder."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    # With what the user's umask leaves of this mode: others may read, which mkstemp would not allow.
    handle = opened(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        within = descriptor(path.parent)
        if within is None:
            os.replace(beside, path)
        else:
            os.replace(beside.name, path.name, src_dir_fd=within, dst_dir_fd=within)
    except BaseException:
        with suppress(OSError):
            remove(beside)
        raise
    _sweep(path.parent)


def remove(path: Path) -> None:
    """Delete a file."""
    within = descriptor(path.parent)
    os.unlink(path if within is None else path.name, dir_fd=within)


def status(path: Path) -> os.stat_result:
    """Return what the system knows of a file; OSError if there is none."""
    within = descriptor(path.parent)
    return os.stat(path if within is None else path.name, dir_fd=within, follow_symlinks=False)


def exists(path: Path) -> bool:
    """Whether there is such a file, which may be read."""
    try:
        status(path)
    except OSError:
        return False
    return True


def _sweep(folder: Path) -> None:
    """Delete what processes have left that were killed while they wrote; once in a process."""
    if folder in _swept:
        return
    _swept.add(folder)
    with suppress(OSError):
        for name in os.listdir(folder):
            path = folder / name
            with suppress(OSError):
                if _UNFINISHED.fullmatch(name) and path.lstat().st_mtime < time.time() - _LEFT:
                    remove(path)
