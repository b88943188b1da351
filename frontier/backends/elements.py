"""Numba types for the memory of fields in compiled functors, on any target; each target defines their layout."""

from __future__ import annotations

from typing import Any

from numba import types

__all__ = ["Flags", "Narrow", "pointer_type"]


class Flags(types.Type):
    """Pointer to bools, each in a byte; see :mod:`frontier.backends.flags`."""

    def __init__(self) -> None:
        super().__init__(name="flags")


class Narrow(types.Type):
    """Pointer to integers of fewer than 64 bits that are read as int64; see :mod:`frontier.backends.flags`."""

    def __init__(self, dtype: Any) -> None:
        super().__init__(name=f"narrow({dtype})")
        self.dtype = dtype


def pointer_type(dtype: str) -> Any:
    """Type of an array's memory in the texts of loop functions, or of a field's as functors see it: ``wide_int32``."""
    if dtype == "bool":
        return Flags()
    number = getattr(types, dtype.removeprefix("wide_"))
    return Narrow(number) if dtype.startswith(("wide_", "uint")) and number.bitwidth < 64 else types.CPointer(number)
