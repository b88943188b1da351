"""Fields that mark which of their elements change, on any target.

A watched field is a pointer with two arrays of bytes beside it: one for every element, and one for every block of
elements. Where a functor changes an element, its bytes are set; where it stores the value that is there already, they
are not, unless all stores count. So a machine that shares a field with others knows what to tell them.

Marks of elements may be bits instead. These need atomics, which take longer than all else where 32 threads at a time
change elements side by side, as a step over all vertices does. But they are an eighth of the memory, so that they stay
in a cache where few elements change, and these lie anywhere.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from frontier.compile.codes import BLOCK_BITS
from frontier.compile.elements import Flags, Narrow, Watched
from frontier.functors import atomics

__all__ = ["register"]

_BYTES, _WORDS = Narrow(types.uint8), Narrow(types.uint32)
_PARTS = ("pointer", "marks", "blocks")


def register(
    intrinsic: Any, overload: Any, register_model: Any, models: Any, jit: Any, set_bits: Any
) -> tuple[Any, Any, Any]:
    """Tell numba what watched fields are on one target.

    Parameters
    ----------
    intrinsic, overload, register_model, jit : callable
        The target's decorators.
    models : module
        Its data models.
    set_bits : function
        Sets bits of a word, ``set_bits(words, index, bits)``, while others may set more.

    Returns
    -------
    tuple of callables
        In compiled code, these make a watched field of a pointer, its marks, and those of blocks: one that marks what
        changes, one that marks all that is stored to, and one that marks what changes by bits.
    """

    @register_model(Watched)
    class _Model(models.StructModel):
        def __init__(self, manager: Any, fe_type: Any) -> None:
            super().__init__(manager, fe_type, list(zip(_PARTS, (fe_type.inner, _marks(fe_type), _BYTES), strict=True)))

    def part(number: int) -> Any:
        @intrinsic
        def read(typingctx, field):
            def generate(context, builder, signature, args):
                return builder.extract_value(args[0], number)

            return (field.inner, _marks(field), _BYTES)[number](field), generate

        return read

    inner, marks, blocks = map(part, range(3))

    def mark(field, index):
        """Mark an element, and its block; replaced in compiled code."""
        raise NotImplementedError

    @overload(mark)
    def marking(field, index):
        def mark_byte(field, index):
            marks(field)[index] = np.uint8(1)
            blocks(field)[index >> BLOCK_BITS] = np.uint8(1)

        def mark_bit(field, index):
            set_bits(marks(field), index >> 5, np.uint32(np.uint32(1) << np.uint32(index & 31)))
            blocks(field)[index >> BLOCK_BITS] = np.uint8(1)

        return mark_bit if field.bits else mark_byte

    @jit
    def differ(a, b):
        return a != b

    @jit
    def differ_as_floats(a, b):  # 0 and -0 are equal, but what divides by them is not
        return a != b or (a == 0 and math.copysign(1.0, a) != math.copysign(1.0, b))

    def getitem(field, index):
        if isinstance(field, Watched) and isinstance(index, types.Integer):
            return lambda field, index: inner(field)[index]
        return None

    def setitem(field, index, value):
        if not (isinstance(field, Watched) and isinstance(index, types.Integer)):
            return None

        def store(field, index, value):
            inner(field)[index] = value
            mark(field, index)

        def change(field, index, value):
            there = inner(field)
            before = there[index]
            there[index] = value
            if there[index] != before:
                mark(field, index)

        if field.stores:
            return store
        if isinstance(field.inner, Flags) or not isinstance(value, types.Number):
            return change
        number = field.dtype
        other = differ_as_floats if isinstance(number, types.Float) else differ

        # A store that does not wait for the load of the same element would hold up all other loads: see docs/cuda.md.
        def change_narrow(field, index, value):
            there = inner(field)
            if number(np.int64(value)) != number(there[index]):  # as it is stored
                there[index] = value
                mark(field, index)

        def change_number(field, index, value):
            there = inner(field)
            before, now = number(there[index]), number(value)
            if other(now, before):
                there[index] = value
                mark(field, index)

        return change_narrow if isinstance(field.inner, Narrow) else change_number

    overload(operator.getitem)(getitem)
    overload(operator.setitem)(setitem)
    for name in ("add", "min", "max", "or", "exch", "cas"):
        _watch_atomic(overload, name, inner, mark, (differ, differ_as_floats))
    return _maker(intrinsic), _maker(intrinsic, stores=True), _maker(intrinsic, bits=True)


def _marks(field: Watched) -> Any:
    """The type of the marks of a field's elements."""
    return _WORDS if field.bits else _BYTES


def _maker(intrinsic: Any, stores: bool = False, bits: bool = False) -> Any:
    @intrinsic
    def watch(typingctx, pointer, marks, blocks):
        kind = Watched(pointer, stores, bits)

        def generate(context, builder, signature, args):
            made = ir.Constant(context.get_value_type(kind), ir.Undefined)
            for i, each in enumerate(args):
                made = builder.insert_value(made, each, i)
            return made

        return kind(pointer, _marks(kind), _BYTES), generate

    return watch


def _watch_atomic(overload: Any, name: str, inner: Any, mark: Any, tests: tuple[Any, Any]) -> None:
    """Mark what an atomic has changed; one that leaves an element as it is marks nothing.

    Where what it returns says so for certain, nothing is read again.
    """
    public = getattr(atomics, f"atomic_{name}")

    def least(field, index, value, companion=None):
        old = public(inner(field), index, value)
        if not (old <= value):  # so NaN counts as a change
            mark(field, index)
        return old

    def greatest(field, index, value, companion=None):
        old = public(inner(field), index, value)
        if not (old >= value):
            mark(field, index)
        return old

    def implement(field, index, value):
        if not isinstance(field, Watched):
            return None
        differ = tests[isinstance(field.dtype, types.Float)]

        def changed(field, index, value):
            old = public(inner(field), index, value)
            if differ(inner(field)[index], old):
                mark(field, index)
            return old

        return changed

    def implement_paired(field, index, value, companion=None):
        return {"min": least, "max": greatest}[name] if isinstance(field, Watched) else None

    def implement_swap(field, index, expected, value):
        if not isinstance(field, Watched):
            return None
        number, differ = field.dtype, tests[isinstance(field.dtype, types.Float)]

        def swapped(field, index, expected, value):
            old = public(inner(field), index, expected, value)
            if number(old) == number(expected) and differ(number(value), number(expected)):
                mark(field, index)
            return old

        return swapped

    ways = {"min": implement_paired, "max": implement_paired, "cas": implement_swap}
    overload(public)(ways.get(name, implement))
