"""The public atomics, hashes and random numbers inside functors on the CPU; and ``truth``.

Import this module before compiling: it tells numba what they mean.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

from numba.extending import overload, register_jitable

from frontier.backends.cpu import intrinsics
from frontier.backends.overloads import register, truth

__all__ = ["truth"]

register(partial(overload, target="cpu"), SimpleNamespace(**vars(intrinsics)), register_jitable)
