"""Calls of functors that may raise, on the GPU; see :mod:`frontier.compile.functors.guards`."""

from __future__ import annotations

from types import SimpleNamespace

from frontier.backends.cuda.compile.runtime_words import ATTENTION, COUNT, ERROR
from frontier.compile.codes import FUNCTOR_FAILED
from frontier.compile.functors.guards import Guard
from frontier.compile.translation.texts import callings

__all__ = ["GUARDS"]


def _guards(bits: dict[int, int]) -> SimpleNamespace:
    return SimpleNamespace(
        calling=callings(Guard(bits, value=False), Guard(bits, value=True)),
        tried=Guard(None, value=False), tried_value=Guard(None, value=True),
    )  # fmt: skip


_BITS = {ERROR: FUNCTOR_FAILED}

#: Calls of functors by whether the word of the count also says that other words are to be read (``ATTENTION``).
GUARDS = {False: _guards(_BITS), True: _guards({**_BITS, COUNT: ATTENTION})}
