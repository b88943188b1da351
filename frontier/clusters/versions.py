"""What a program and its ranks must have alike, as they send each other functions."""

from __future__ import annotations

import sys

import frontier

__all__ = ["versions"]


def versions() -> str:
    """Return the versions that must be alike."""
    return f"Python {sys.version_info[0]}.{sys.version_info[1]} and Frontier {frontier.__version__}"
