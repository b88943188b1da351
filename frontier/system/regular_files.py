"""Open files that are files: no pipe that nobody writes to, which would be waited for without end, and no device."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

__all__ = ["described", "open_regular"]

#: Flags that some systems lack: not to wait for a pipe, not to follow a link.
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)

_KINDS = (
    (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"), (stat.S_ISLNK, "a link"),
)  # fmt: skip


def described(mode: int) -> str:
    """What a mode that ``stat`` reports says something is, if it is no file."""
    return next((kind for is_so, kind in _KINDS if is_so(mode)), "no file")


def open_regular(path: str, links: bool = False) -> BinaryIO:
    """Open a regular file to read its bytes.

    Parameters
    ----------
    path : str
    links : bool
        Whether it may be a link to one; what is above it always may.

    Raises
    ------
    OSError
        It cannot be read, or is something else; ``strerror`` says what.
    """
    return open(path, "rb", opener=_followed if links else _not_followed)


def _followed(path: str, flags: int) -> int:
    try:
        handle = os.open(path, flags | _NO_WAIT)
    except OSError as error:
        if error.errno == errno.ENXIO:  # which says "No such device or address"
            raise OSError(errno.EINVAL, "it is a socket, not a file", path) from None
        raise
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise OSError(errno.EINVAL, f"it is {described(mode)}, not a file", path)
    return handle


def _not_followed(path: str, flags: int) -> int:
    if os.path.islink(path):  # for the message, and for systems without the flag
        raise OSError(errno.ELOOP, "it is a link, not a file", path)
    return _followed(path, flags | _NO_LINK)
