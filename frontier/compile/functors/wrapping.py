"""Integer overflow in functors wraps around, on any target.

numba marks sums, differences and products of signed integers as never overflowing (``nsw``), and LLVM makes use of
that: ``x + 1 > x`` becomes true for every number, and ``x * x`` is never negative. In NumPy, and in functors, overflow
wraps around.
"""

from __future__ import annotations

from typing import Any

__all__ = ["without_nsw", "wrapping"]

_OPERATIONS = ("add", "sub", "mul")


def without_nsw(value: Any) -> None:
    """Let a value wrap if it is a sum, difference or product of integers."""
    if getattr(value, "opname", "") in _OPERATIONS and "nsw" in value.flags:
        value.flags = [flag for flag in value.flags if flag != "nsw"]


def wrapping(lowering_pass: type, lower: type) -> type:
    """Return a target's lowering pass whose functions wrap; ``lower`` is the class that lowers a function."""

    class Wrapping(lower):
        def lower_normal_function(self, fndesc: Any) -> None:
            super().lower_normal_function(fndesc)
            for block in self.function.blocks:
                for each in block.instructions:
                    without_nsw(each)

    class WrappingPass(lowering_pass):
        _name = "wrapping_native_lowering"

        @property
        def lowering_class(self) -> type:
            return Wrapping

    return WrappingPass
