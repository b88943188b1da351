"""Calls of functors that may raise, on the CPU; see :mod:`frontier.compile.functors.guards`."""

from __future__ import annotations

from frontier.backends.cpu.runtime_words import ERROR
from frontier.compile.codes import FUNCTOR_FAILED
from frontier.compile.functors.guards import Guard
from frontier.compile.translation.texts import callings

__all__ = ["FUNCTOR_FAILED", "calling", "tried", "tried_value"]

_BITS = {ERROR: FUNCTOR_FAILED}
calling = callings(Guard(_BITS, value=False, timed=True), Guard(_BITS, value=True, timed=True))
tried, tried_value = Guard(None, value=False, timed=True), Guard(None, value=True, timed=True)
