"""A functor for programs that put a whole frontier aside."""

from __future__ import annotations

__all__ = ["aside"]


def aside(p, v):
    """False, to move the whole frontier to the pile: ``fr.Split(aside, rest="pile")``."""
    return False
