"""Code that a wheel brings along, so that first calls of the primitives need not compile.

``tools/prebuild.py`` makes it before a release: machine code for usual processors in one archive, PTX in another, and
what functors read and write in a third. There are three for each version of Python, as functors are described by their
bytecode. A name says all that code depends on, but not the processor and the compilers: code is used with any of these
that suit, as it was tested with those of the release. A checkout has no archives, and ``frontier warm`` ignores them.
A damaged archive is as none.
"""

from __future__ import annotations

import sys
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zipfile import ZipFile

__all__ = ["FOLDER", "TARGETS", "archive_of", "brings", "find", "ignore"]

#: Where the archives lie.
FOLDER = Path(__file__).with_name("prebuilt")

#: What there are archives of, and how their names begin. PTX and effects suit any processor.
TARGETS = {"cpu": "cpu-linux-x86_64", "cuda": "cuda", "effects": "effects"}

_ignored = False


def archive_of(target: str) -> Path:
    """The archive of a target for this version of Python."""
    return FOLDER / "{}-cp{}{}.zip".format(TARGETS[target], *sys.version_info[:2])


def ignore() -> None:
    """Compile everything in this process, for the processor that it has."""
    global _ignored
    _ignored = True


def find(target: str, name: str) -> bytes | None:
    """The content of this name, or None."""
    archive = _opened(target)
    if _ignored or archive is None or name not in archive.NameToInfo:
        return None
    try:
        return archive.read(name)
    except Exception:  # zlib and zipfile raise several kinds for what is damaged
        return None


def brings(target: str, name: str) -> bool:
    """Whether there is this name."""
    archive = _opened(target)
    return not _ignored and archive is not None and name in archive.NameToInfo


@cache
def _opened(target: str) -> ZipFile | None:
    """An archive, in memory: a file would be read at one position by all forks of a process."""
    try:
        content = archive_of(target).read_bytes()
        from zipfile import ZipFile

        return ZipFile(BytesIO(content))
    except Exception:  # there is none, or it is damaged
        return None
