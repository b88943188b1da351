"""The folder on disk in which compiled code is kept, and how several processes share it.

Files in it are executed. So it is used only if no other user may write to it, and through its descriptor, see
:mod:`frontier.native.folders`. Otherwise code is kept in a private temporary folder, which is removed when the process
ends. Problems with files never end a run; the code is then compiled again.
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from frontier.native import folders
from frontier.system import leftovers

__all__ = ["Place", "cache_folder", "drop", "is_kept", "keep", "kept", "made_module", "once", "place", "say_once"]

#: How long a process waits for another that makes the same code, in seconds; then it makes it too.
PATIENCE = 300.0

#: Before the digest with which every file ends that is read again.
_SEAL = b"\n\0frontier sha256 "


@dataclass(frozen=True)
class Place:
    """Where generated code is kept.

    Attributes
    ----------
    path : Path
    state : {"kept", "read only", "temporary"}
    why : str
        Why the usual folder is not used, or is not written to.
    """

    path: Path
    state: str
    why: str = ""


@cache
def place() -> Place:
    """The folder of this process: ``FRONTIER_CACHE_DIR``, or ``frontier`` in the user's cache folder."""
    chosen = os.environ.get("FRONTIER_CACHE_DIR")
    usual = os.path.join(os.environ.get("XDG_CACHE_HOME", ""), "frontier")
    if not os.path.isabs(usual):  # a relative one is not to be used, says the XDG specification
        usual = os.path.join(os.path.expanduser("~"), ".cache", "frontier")
    folder = Path(chosen or usual)
    if not folder.is_absolute():
        what = "FRONTIER_CACHE_DIR is no absolute path" if chosen else "there is no home folder"
        return _temporary(what, aloud=bool(chosen))
    try:
        with suppress(FileExistsError):
            folder.parent.mkdir(0o700, parents=True)
        writable = _made(folder)
        folders.descriptor(folder)
    except folders.Untrusted as error:
        return _temporary(f"{folder} is not used: {error}", aloud=True)
    except OSError as error:
        return _temporary(f"{folder}: {error.strerror}")
    return Place(folder, "kept") if writable else Place(folder, "read only", "it may not be written to")


@cache
def cache_folder(target: str = "cpu") -> Path:
    """Where generated code for a target is kept, see :func:`place`."""
    folder = place().path / target
    try:
        folders.made(folder)
        folders.descriptor(folder)
    except folders.Untrusted as error:
        other = _temporary(f"{folder} is not used: {error}", aloud=True).path / target
        with suppress(OSError):
            folders.made(other)
        return other
    except OSError:  # all that is read there is missing, and what is to be written says so
        pass
    return folder


def _made(folder: Path) -> bool:
    """Make a folder to which no other user may write, if it does not exist; return whether it is writable."""
    if not folder.is_dir():
        try:
            folder.mkdir(0o755)
        except FileExistsError:
            if not folder.is_dir():
                raise
        except OSError as error:
            if error.errno == errno.EROFS or (error.errno == errno.EACCES and folder.parent.is_dir()):
                raise PermissionError(error.errno, "it cannot be made") from None
            raise
    return os.access(folder, os.W_OK)


@cache
def _private() -> Path:
    """A folder of this process alone, which is removed at its end; or by another process, if this one is killed."""
    try:
        made, lock = _new_private()
    except OSError:
        return Path(os.devnull, "frontier")  # nothing can be kept
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # not in a fork of it
            shutil.rmtree(made, ignore_errors=True)
            if lock is not None:
                os.close(lock)

    atexit.register(remove)
    return made


def _new_private() -> tuple[Path, int | None]:
    """The folder, and the handle by which it is locked, if that is possible."""
    above, name = tempfile.gettempdir(), "frontier-code"
    leftovers.sweep(above, name)
    while True:
        made = Path(above, leftovers.unfinished(name))
        made.mkdir(0o700)
        lock = leftovers.locked_folder(str(made))
        if lock is not False:
            return made, lock


def _temporary(why: str, aloud: bool = False) -> Place:
    if aloud:
        say_once(f"{why}; compiled code is kept until this process ends")
    return Place(_private(), "temporary", why)


@cache
def say_once(text: str) -> None:
    """Say something on stderr, once in a process."""
    if sys.stderr is not None:
        print(f"frontier: {text}", file=sys.stderr, flush=True)


# ---- files -------------------------------------------------------------------------------------------------


def keep(path: Path, content: bytes, sealed: bool = True) -> bool:
    """Keep a file if that is possible; whether it was. ``sealed``: with a digest, for :func:`kept`."""
    whole = content + _SEAL + hashlib.sha256(content).digest() if sealed else content
    try:
        try:
            folders.write(path, whole)
        except FileNotFoundError:  # the cache has been cleared
            folders.made(path.parent)
            folders.write(path, whole)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EROFS) or isinstance(error, folders.Untrusted):
            say_once(f"compiled code cannot be kept in {path.parent}: {error.strerror or error}; going on without")
        return False
    return True


def kept(path: Path) -> bytes | None:
    """The content of a file that was kept; None if there is none, it is damaged, or others may write to it."""
    try:
        whole = folders.read(path)
    except OSError:
        return None
    content, seal, digest = whole[: -len(_SEAL) - 32], whole[-len(_SEAL) - 32 : -32], whole[-32:]
    return content if seal == _SEAL and hashlib.sha256(content).digest() == digest else None


def is_kept(path: Path) -> bool:
    """Whether there is such a file, be it damaged."""
    return folders.exists(path)


def drop(path: Path) -> None:
    """Delete a file, if that is possible."""
    with suppress(OSError):
        folders.remove(path)


def made_module(name: str, path: Path, text: str, names: Mapping[str, Any]) -> ModuleType:
    """A module of a text that uses some names; the text is kept in a file for people to read, which is never run."""
    try:
        there = folders.status(path).st_size == len(text)  # texts are ASCII
    except OSError:
        there = False
    if not there:
        keep(path, text.encode(), sealed=False)
    made = ModuleType(name)
    made.__dict__.update(names, __file__=str(path), __text__=text)
    sys.modules[name] = made  # where what is loaded from disk looks for it
    exec(compile(text, str(path), "exec"), made.__dict__)
    return made


# ---- one process makes, others wait ---------------------------------------------------------------------------


@contextmanager
def once(path: Path) -> Iterator[None]:
    """Within it no other process makes the same file.

    One that comes later waits, and finds the file when it enters: so look for it within. The lock goes with the process
    that holds it, however that ends. Without locks, or after :data:`PATIENCE`, there is no waiting.
    """
    lock = path.with_name(f"{path.name}.lock")
    handle = None if folders.exists(path) else _locked(lock)
    try:
        yield
    finally:
        if handle is not None:
            drop(lock)  # first, while it is ours; on Windows it stays
            os.close(handle)


def _locked(lock: Path) -> int | None:
    """The handle of a lock file that this process holds; None if it goes on without."""
    deadline, pause = time.monotonic() + PATIENCE, 0.01
    while time.monotonic() < deadline:
        try:
            handle = folders.opened(lock, os.O_CREAT | os.O_RDWR)
        except OSError:  # read only, full
            return None
        mine = False
        try:
            _lock(handle)
            # The last holder has removed the file; then there may be another one.
            mine = os.path.samestat(os.fstat(handle), folders.status(lock))
        except (BlockingIOError, PermissionError):
            time.sleep(pause)
            pause = min(2 * pause, 0.1)
        except FileNotFoundError:
            continue
        except (OSError, ImportError):  # a file system, or a Python, without locks
            return None
        finally:
            if not mine:
                os.close(handle)
        if mine:
            return handle
    return None


def _lock(handle: int) -> None:
    """Lock a file; BlockingIOError or PermissionError if another process holds it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
