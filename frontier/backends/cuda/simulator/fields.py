"""Fields of problems in the simulator of GPUs that do more at an access than a plain pointer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from frontier.backends.cuda.simulator.operations import SYSTEM, Pointer, Rows
from frontier.compile import codes

__all__ = ["Outside", "checked", "own", "route", "route_claims", "watch", "watch_bits", "watch_stores"]


class Outside(IndexError):
    """A wrong access to a checked field: why it is wrong, the field's number, the index, the value."""


class Checked:
    """A field of a known length; see :mod:`frontier.compile.functors.checks`."""

    __slots__ = ("companion", "dtype", "length", "number", "pointer")

    def __init__(self, pointer: Pointer, length: int, number: int) -> None:
        self.pointer, self.length, self.number, self.dtype = pointer, int(length), number, pointer.dtype
        self.companion = pointer.companion

    def __getitem__(self, index: Any) -> Any:
        v, i, width = (*index, self.pointer.width) if isinstance(self.pointer, Rows) else (index, 0, 1)
        if not 0 <= v < self.length or not 0 <= i < width:
            raise Outside(codes.OUTSIDE, self.number, int(v), int(i))
        return self.pointer[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self[index]
        if self.dtype.kind in "iu" and isinstance(value, (int, np.integer)):
            limits = np.iinfo(self.dtype)
            if not limits.min <= value <= limits.max:
                first = index[0] if isinstance(self.pointer, Rows) else index
                raise Outside(codes.OVERFLOW, self.number, int(first), int(value))
        self.pointer[index] = value


def checked(number: int) -> Callable[[Pointer, int], Checked]:
    """Return what makes the checked field of this number."""
    return lambda pointer, length: Checked(pointer, length, number)


class Watched:
    """A field whose changed elements are marked; see :mod:`frontier.compile.fields.watched`."""

    __slots__ = ("bits", "blocks", "companion", "dtype", "marks", "pointer", "stores")

    def __init__(
        self, pointer: Pointer, marks: Pointer, blocks: Pointer, stores: bool = False, bits: bool = False
    ) -> None:
        self.pointer, self.dtype, self.companion = pointer, pointer.dtype, pointer.companion
        self.marks, self.blocks, self.stores, self.bits = marks, blocks, stores, bits

    def __getitem__(self, index: Any) -> Any:
        return self.pointer[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        before = self.pointer[index]
        self.pointer[index] = value
        if self.stores or _differ(self.pointer[index], before):
            if self.bits:
                _set_bit(self.marks, int(index))
            else:
                self.marks[int(index)] = 1
            self.blocks[int(index) >> codes.BLOCK_BITS] = 1


def _set_bit(words: Pointer, index: int) -> None:
    words[index >> 5] = int(words[index >> 5]) | 1 << (index & 31)


def _differ(a: Any, b: Any) -> bool:
    """Whether two values differ; zeros of different signs do."""
    return bool(a != b or (a == 0 and math.copysign(1, a) != math.copysign(1, b)))


def watch(pointer: Pointer, marks: Pointer, blocks: Pointer) -> Watched:
    """Make a field that marks its changed elements."""
    return Watched(pointer, marks, blocks)


def watch_bits(pointer: Pointer, marks: Pointer, blocks: Pointer) -> Watched:
    """Make a field that marks its changed elements by bits."""
    return Watched(pointer, marks, blocks, bits=True)


def watch_stores(pointer: Pointer, marks: Pointer, blocks: Pointer) -> Watched:
    """Make a field that marks the elements that something is stored to."""
    return Watched(pointer, marks, blocks, stores=True)


class Owned:
    """A field of which only the elements of a range are stored; see :mod:`frontier.compile.fields.routed`."""

    __slots__ = ("companion", "dtype", "end", "first", "pointer")

    def __init__(self, pointer: Pointer, first: int, end: int) -> None:
        self.pointer, self.dtype, self.companion = pointer, pointer.dtype, pointer.companion
        self.first, self.end = first, end

    def __getitem__(self, index: Any) -> Any:
        return self.pointer[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.first <= index < self.end:
            self.pointer[index] = value


def own(pointer: Pointer, first: int, end: int) -> Owned:
    """Make a field of which only the elements of a range are stored."""
    return Owned(pointer, first, end)


class Routed:
    """A field whose elements are stored where they are owned; see :mod:`frontier.compile.fields.routed`."""

    __slots__ = ("companion", "dtype", "end", "fields", "first", "parts", "pointer", "starts")

    def __init__(self, pointer: Pointer, first: int, end: int, fields: Pointer, starts: Pointer, parts: int) -> None:
        self.pointer, self.dtype, self.companion = pointer, pointer.dtype, pointer.companion
        self.fields, self.starts, self.parts, self.first, self.end = fields, starts, parts, first, end

    def __getitem__(self, index: Any) -> Any:
        return self.pointer[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.at(self.owner(index))[index] = value

    def owner(self, index: Any) -> int:
        """The number of the GPU that owns an element."""
        return next(r for r in range(self.parts) if index < self.starts[r + 1])

    def at(self, r: int) -> Pointer:
        """The field in the memory of a GPU."""
        return Pointer(self.fields[r], self.pointer.dtype.name)


class Claimable(Routed):
    """A field whose elements are claimed where they are owned; see :mod:`frontier.compile.fields.routed`."""

    __slots__ = ("blocks", "marks")

    def __init__(self, *given: Any) -> None:
        *plain, self.marks, self.blocks, _ = given
        super().__init__(*plain)

    def exchanged(self, index: Any, expected: Any, value: Any) -> Any:
        """Compare and exchange; returns the old value."""
        r = self.owner(index)
        there = self.at(r)
        if not self.first <= index < self.end and self.pointer[index] != expected:
            return self.pointer[index]
        with SYSTEM:
            old = there[index]
            if old == expected:
                there[index] = value
        self.pointer[index] = value if old == expected else old
        if old == expected:
            with SYSTEM:
                _set_bit(Pointer(self.marks[r], "uint32"), int(index))
            marks = Pointer(self.marks[r], "uint8")
            marks[codes.BLOCK // 4 * self.blocks + (int(index) >> codes.BLOCK_BITS)] = 1
        return old


route, route_claims = Routed, Claimable
