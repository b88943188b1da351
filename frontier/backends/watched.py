"""Fields that mark which of their elements change, on any target.

A watched field is a pointer with a bitmap beside it. Where a functor changes an element, its bit is set; where it
stores the value that is there already, it is not. So a machine that shares a field with others knows what to tell them.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from frontier.backends.elements import Narrow, Watched
from frontier.functors import atomics

__all__ = ["register"]

#: Words of the bitmap.
_WORDS = Narrow(types.uint32)


def register(intrinsic: Any, overload: Any, register_model: Any, models: Any, jit: Any, fetch_or: Any) -> Any:
    """Tell numba what watched fields are on one target.

    Parameters
    ----------
    intrinsic, overload, register_model, jit : callable
        The target's decorators.
    models : module
        Its data models.
    fetch_or : callable
        Its atomic: (pointer, index, value) -> old value.

    Returns
    -------
    callable
        In compiled code, makes a watched field of a pointer and of one to its marks.
    """

    @register_model(Watched)
    class _Model(models.StructModel):
        def __init__(self, manager: Any, fe_type: Any) -> None:
            super().__init__(manager, fe_type, [("pointer", fe_type.inner), ("marks", _WORDS)])

    def part(number: int) -> Any:
        @intrinsic
        def read(typingctx, field):
            def generate(context, builder, signature, args):
                return builder.extract_value(args[0], number)

            return (_WORDS if number else field.inner)(field), generate

        return read

    inner, marks = part(0), part(1)

    @jit
    def mark(bits, index):
        bit = np.uint32(np.uint32(1) << np.uint32(index & 31))
        if np.uint32(np.uint32(bits[index >> 5]) & bit) == np.uint32(0):
            fetch_or(bits, index >> 5, bit)

    def getitem(field, index):
        if isinstance(field, Watched) and isinstance(index, types.Integer):
            return lambda field, index: inner(field)[index]
        return None

    def setitem(field, index, value):
        if not (isinstance(field, Watched) and isinstance(index, types.Integer)):
            return None

        def store(field, index, value):
            there = inner(field)
            before = there[index]
            there[index] = value
            if there[index] != before:
                mark(marks(field), index)

        return store

    overload(operator.getitem)(getitem)
    overload(operator.setitem)(setitem)
    for name in ("add", "min", "max", "or", "exch"):
        _watch_atomic(overload, name, inner, marks, mark)
    swap = atomics.atomic_cas

    def cas(field, index, expected, value):
        if not isinstance(field, Watched):
            return None

        def exchange(field, index, expected, value):
            old = swap(inner(field), index, expected, value)
            if inner(field)[index] != old:
                mark(marks(field), index)
            return old

        return exchange

    overload(swap)(cas)

    @intrinsic
    def watch(typingctx, pointer, bits):
        kind = Watched(pointer)

        def generate(context, builder, signature, args):
            made = ir.Constant(context.get_value_type(kind), ir.Undefined)
            for i, each in enumerate(args):
                made = builder.insert_value(made, each, i)
            return made

        return kind(pointer, _WORDS), generate

    return watch


def _watch_atomic(overload: Any, name: str, inner: Any, marks: Any, mark: Any) -> None:
    """Mark what an atomic has changed; one that leaves an element as it is marks nothing."""
    public = getattr(atomics, f"atomic_{name}")

    def implement(field, index, value):
        if not isinstance(field, Watched):
            return None

        def change(field, index, value):
            old = public(inner(field), index, value)
            if inner(field)[index] != old:
                mark(marks(field), index)
            return old

        return change

    def implement_paired(field, index, value, companion=None):
        if not isinstance(field, Watched):
            return None

        def change(field, index, value, companion=None):
            old = public(inner(field), index, value)
            if inner(field)[index] != old:
                mark(marks(field), index)
            return old

        return change

    overload(public)(implement_paired if name in ("min", "max") else implement)
