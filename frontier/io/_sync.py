"""What is written is on the disk, and not only in the system's memory, before something is built on it."""

from __future__ import annotations

import os

__all__ = ["sync"]


def sync(path: str) -> None:
    """Wait until a file, or the names in a folder, are on the disk, where the system can say so."""
    if os.name != "posix" and os.path.isdir(path):
        return  # elsewhere folders cannot be opened
    number = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)
