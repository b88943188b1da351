"""Code that a wheel brings along, so that first calls of the primitives need not compile.

``tools/prebuild.py`` makes it before a release: machine code for usual processors in one archive, PTX in another, and
in both what functors read and write. There are two for each version of Python, as functors are described by their
bytecode. A name says all that code depends on, but not the machine: whoever asks makes sure that this is a usual one.
A checkout has no such archives.
"""

from __future__ import annotations

import sys
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zipfile import ZipFile

__all__ = ["FOLDER", "archive_of", "find", "has"]

#: Where the archives lie.
FOLDER = Path(__file__).with_name("prebuilt")


def archive_of(target: str) -> Path:
    """The archive for this version of Python of a target: ``cpu`` or ``cuda``."""
    return FOLDER / "{}-cp{}{}.zip".format(target, *sys.version_info[:2])


def find(target: str, name: str) -> bytes | None:
    """The content of this name, or None."""
    archive = _opened(target)
    return archive.read(name) if archive is not None and name in archive.NameToInfo else None


def has(target: str, name: str) -> bool:
    """Whether there is this name."""
    archive = _opened(target)
    return archive is not None and name in archive.NameToInfo


@cache
def _opened(target: str) -> ZipFile | None:
    """An archive, in memory: a file would be read at one position by all forks of a process."""
    try:
        content = archive_of(target).read_bytes()
    except OSError:
        return None
    from zipfile import ZipFile

    return ZipFile(BytesIO(content))
