"""What a program and its ranks must have alike, as they send each other functions."""

from __future__ import annotations

import sys

import frontier

__all__ = ["versions"]


def versions() -> dict[str, str]:
    """Return what must be alike, by name."""
    return {"Python": ".".join(map(str, sys.version_info[:2])), "Frontier": frontier.__version__}
