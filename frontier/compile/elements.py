"""Numba types for the memory of fields in compiled functors, on any target; each target defines their layout."""

from __future__ import annotations

from typing import Any

from numba import types

__all__ = [
    "Claimable", "Flags", "Half", "Locked", "Narrow", "Owned", "Packed", "Routed", "Rows", "Sparse", "Summed",
    "Watched", "Wrapped", "pointer_type",
]  # fmt: skip


class Flags(types.Type):
    """Pointer to bools, each in a byte; see :mod:`frontier.compile.fields.flags`."""

    def __init__(self) -> None:
        super().__init__(name="flags")


class Narrow(types.Type):
    """Pointer to integers of fewer than 64 bits that are read as int64; see :mod:`frontier.compile.fields.flags`."""

    def __init__(self, dtype: Any) -> None:
        super().__init__(name=f"narrow({dtype})")
        self.dtype = dtype


class Half(types.Type):
    """Pointer to halves of words that two fields share; see :mod:`frontier.compile.fields.pairs`.

    ``other`` is the number type of the field that goes along with this; None where this is that field.
    """

    def __init__(self, dtype: Any, other: Any = None) -> None:
        super().__init__(name=f"half({dtype}, {other})")
        self.dtype, self.other = dtype, other


class Locked(types.Type):
    """A field with which another goes along, if a word cannot hold both: pointers to both, and to locks.

    ``kinds`` are the types of these pointers, ``other`` is the number type of the other field.
    """

    def __init__(self, dtype: str, other: str) -> None:
        super().__init__(name=f"locked({dtype}, {other})")
        self.dtype, self.other = getattr(types, dtype), getattr(types, other)
        self.kinds = (_seen(dtype), _seen(other), types.CPointer(types.int64))


class Packed(types.Type):
    """Compressed ids: pointers to frames of a dtype, and to words; see :mod:`frontier.compile.fields.packed`."""

    def __init__(self, frames: str) -> None:
        super().__init__(name=f"packed({frames})")
        self.dtype = types.int64  # of what is read
        self.kinds = (types.CPointer(getattr(types, frames)), types.CPointer(types.uint32))


class Sparse(types.Type):
    """Doubly compressed offsets of a dtype: a directory and pointers; see :mod:`frontier.compile.fields.sparse`."""

    def __init__(self, offsets: str) -> None:
        super().__init__(name=f"sparse({offsets})")
        self.dtype = types.int64  # of what is read
        pointers = types.CPointer(getattr(types, offsets))
        self.kinds = (types.CPointer(types.uint64), pointers, types.int64, types.int64)


class Summed(types.Type):
    """A field to which a phase only adds: a pointer, and whether only one worker changes what is there."""

    def __init__(self, inner: Any) -> None:
        super().__init__(name=f"summed({inner})")
        self.inner, self.dtype = inner, inner.dtype


class Rows(types.Type):
    """Pointer to a field of several values, which are indexed in pairs: ``p.h[v, i]``."""

    def __init__(self, inner: Any, width: int) -> None:
        super().__init__(name=f"rows({inner}, {width})")
        self.inner, self.width, self.dtype = inner, width, getattr(inner, "dtype", types.boolean)


class Wrapped(types.Type):
    """A field that does more at an access than a plain pointer: it has implementations of its own."""

    def __init__(self, name: str, inner: Any) -> None:
        super().__init__(name=name)
        self.inner = inner
        if not isinstance(inner, Flags):  # which no atomic takes
            self.dtype = inner.dtype


class Watched(Wrapped):
    """A field whose changed elements are marked; see :mod:`frontier.compile.fields.watched`.

    ``stores``: whether all elements are marked that something is stored to, be it what they held before. ``bits``:
    whether marks of elements are bits.
    """

    def __init__(self, inner: Any, stores: bool, bits: bool) -> None:
        super().__init__(f"watched({inner}, {stores}, {bits})", inner)
        self.stores, self.bits = stores, bits


class Owned(Wrapped):
    """A field of which only the elements of a range are stored; see :mod:`frontier.compile.fields.routed`."""

    def __init__(self, inner: Any) -> None:
        super().__init__(f"owned({inner})", inner)


class Routed(Wrapped):
    """A field whose elements are stored where they are owned; see :mod:`frontier.compile.fields.routed`."""

    def __init__(self, inner: Any) -> None:
        super().__init__(f"routed({inner})", inner)


class Claimable(Wrapped):
    """A field whose elements are claimed where they are owned; see :mod:`frontier.compile.fields.routed`."""

    def __init__(self, inner: Any) -> None:
        super().__init__(f"claimable({inner})", inner)


def _seen(dtype: str) -> Any:
    return pointer_type(f"wide_{dtype}" if dtype == "int32" else dtype)


def pointer_type(dtype: str) -> Any:
    """Type of an array's memory in the texts of loop functions, or of a field's as functors see it: ``wide_int32``."""
    if dtype.startswith("rows_"):
        width, inner = dtype.removeprefix("rows_").split("_", 1)
        return Rows(pointer_type(inner), int(width))
    if dtype == "bool":
        return Flags()
    if dtype.startswith("half_"):  # half_float32_int32: of a field of float32, with which one of int32 goes along
        return Half(*(getattr(types, name) for name in dtype.split("_")[1:]))
    if dtype.startswith("locked_"):
        return Locked(*dtype.split("_")[1:])
    if dtype.startswith("summed_"):
        return Summed(pointer_type(dtype.removeprefix("summed_")))
    if dtype.startswith("packed_"):
        return Packed(dtype.removeprefix("packed_"))
    if dtype.startswith("sparse_"):
        return Sparse(dtype.removeprefix("sparse_"))
    number = getattr(types, dtype.removeprefix("wide_"))
    return Narrow(number) if dtype.startswith(("wide_", "uint")) and number.bitwidth < 64 else types.CPointer(number)
