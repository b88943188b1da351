"""The functors of windows on lists sorted by weight (:mod:`frontier.operators.order.by_weight`), as templates.

Names are substituted as in :mod:`frontier.operators.order.functors`. ``p.limit`` is the end of the window, ``p.least``
the least key in it, and ``p.lower`` the key of vertices that no path has reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "beyond_of", "first_window", "inside_of", "known_of", "left", "looks", "next_window", "pulls", "pushes",
    "reached_of", "tail", "wider",
]  # fmt: skip

Functor = Callable[..., Any]

#: Edges of a window's vertices below which windows on lists by weight widen.
FEW = 4096


def beyond_of(key: Functor) -> Functor:
    """V lies beyond the window."""

    def beyond(p, v):
        found = key(p, v)
        return found >= p.limit and found > p.least

    return beyond


def inside_of(key: Functor) -> Functor:
    """The source of an in-edge lies in this window, or in an earlier one."""

    def inside(p, src):
        found = key(p, src)
        return found < p.limit or found <= p.least

    return inside


def reached_of(key: Functor) -> Functor:
    """A path has reached v."""

    def reached(p, v):
        return key(p, v) < p.lower

    return reached


def known_of(key: Functor) -> Functor:
    """The same as a number."""

    def known(p, v):
        return 1 if key(p, v) < p.lower else 0

    return known


def tail(p):
    """Edges that may go before the last window begins."""
    return p.tail


def left(p):
    """The same, less those of the vertices of this window."""
    return p.left - p.spent


def looks(p):
    """Once, if so many edges would be pushed that a look at all vertices is cheap; the last window leaves nothing."""
    return 1 if p.spent > p.enough and p.limit < p.lower else 0


def pulls(p):
    """Once, if a pull visits fewer edges."""
    return 1 if p.looks > 0 and p.pulled < p.spent else 0


def pushes(p):
    """Once, if a push does, and there is something to visit."""
    return 1 if p.limit < p.lower and p.spent > 0 and not (p.looks > 0 and p.pulled < p.spent) else 0


def wider(p):
    """The width of the next window: wider if this one had few edges and no wave is coming, narrower if it had many."""
    if p.spent < FEW:
        return min(2 * p.delta, 64 * p.first) if p.waiting < 2 * p.waited else p.delta
    return max(p.delta / 2, p.first)


def first_window(least: float, rounding: float) -> Functor:
    """The limit of the first window: the last one, if vertices outside the frontier have been reached, too."""

    def end(p):
        limit = p.least + max(p.delta, least, p.least * rounding)
        return limit if limit < p.lower and p.waiting == p.waited else np.inf

    return end


def next_window(least: float, rounding: float) -> Functor:
    """The limit of the next window; the last one has no end, as ``p.lower`` may be rounded where keys are integers."""

    def end(p):
        limit = p.least + max(p.delta, least, p.least * rounding)
        return limit if limit < p.lower and p.left > 0 else np.inf

    return end
