"""Fields whose elements a machine changes where they are owned, in the memory of whichever machine that is.

A *routed* field stores at the owner. A *claimable* one is changed by exchanges alone, from one value to others, once: a
machine asks its own copy first, and the owner only if the element is not claimed there; the copy may be behind, for it
notes what this machine has learned. Who claims an element also marks it, for the owner, as changed.
"""

from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from frontier.backends.codes import BLOCK, BLOCK_BITS
from frontier.backends.elements import Claimable, Narrow, Routed
from frontier.functors import atomics

__all__ = ["register"]

_TABLE = types.CPointer(types.int64)
_BYTES = Narrow(types.uint8)
_PARTS = [("fields", _TABLE), ("starts", _TABLE), ("parts", types.int64), ("first", types.int64), ("end", types.int64)]
_MARKS = [("marks", _TABLE), ("blocks", types.int64), ("bytes", _BYTES)]


def register(intrinsic: Any, overload: Any, register_model: Any, models: Any, jit: Any, system: Any) -> tuple[Any, Any]:
    """Tell numba what such fields are on one target; what makes a routed one and a claimable one.

    Parameters
    ----------
    intrinsic, overload, register_model, jit : callable
        The target's decorators.
    models : module
        Its data models.
    system : function
        Compares and exchanges an element in the memory of any machine.
    """
    register_model(Routed)(_model(models, _PARTS))
    register_model(Claimable)(_model(models, [*_PARTS, *_MARKS]))
    read = _readers(intrinsic)
    inner, fields, starts, parts, first, end, marks, blocks, marks_here = (getattr(read, name) for name in vars(read))
    at, bytes_at = _pointers(intrinsic)

    @jit
    def owner(field, index):
        r = np.int64(0)
        while r + 1 < parts(field) and index >= starts(field)[r + 1]:
            r += 1
        return r

    @jit
    def own(field, index):
        return first(field) <= index < end(field)

    @jit
    def mark(field, there, index):
        there[index] = np.uint8(1)
        there[BLOCK * blocks(field) + (index >> BLOCK_BITS)] = np.uint8(1)

    def getitem(field, index):
        if isinstance(field, (Routed, Claimable)) and isinstance(index, types.Integer):
            return lambda field, index: inner(field)[index]
        return None

    def setitem(field, index, value):
        if not (isinstance(field, Routed) and isinstance(index, types.Integer)):
            return None

        def store(field, index, value):
            if own(field, index):
                inner(field)[index] = value
            else:
                at(field, fields(field)[owner(field, index)])[index] = value

        return store

    def cas(field, index, expected, value):
        if not isinstance(field, Claimable):
            return None
        number = field.dtype

        def claim(field, index, expected, value):
            mine = inner(field)
            if own(field, index):  # without looking up where it is
                old = system(mine, index, number(expected), number(value))
                if old == number(expected):
                    mark(field, marks_here(field), index)
            else:
                seen = mine[index]
                if number(seen) != number(expected):
                    return np.int64(seen)
                r = owner(field, index)
                old = system(at(field, fields(field)[r]), index, number(expected), number(value))
                if old == number(expected):
                    mine[index] = number(value)
                    mark(field, bytes_at(marks(field)[r]), index)
                else:
                    mine[index] = old
            return np.int64(old)

        return claim

    overload(operator.getitem)(getitem)
    overload(operator.setitem)(setitem)
    overload(atomics.atomic_cas)(cas)
    return _maker(intrinsic, Routed, []), _maker(intrinsic, Claimable, _MARKS)


def _model(models: Any, parts: Any) -> Any:
    class _Model(models.StructModel):
        def __init__(self, manager: Any, fe_type: Any) -> None:
            super().__init__(manager, fe_type, [("pointer", fe_type.inner), *parts])

    return _Model


def _readers(intrinsic: Any) -> SimpleNamespace:
    """What reads each part of such a field."""

    def part(number: int, kind: Any) -> Any:
        @intrinsic
        def read(typingctx, field):
            def generate(context, builder, signature, args):
                return builder.extract_value(args[0], number)

            return (kind or field.inner)(field), generate

        return read

    named = [("inner", None), *_PARTS, *_MARKS]
    return SimpleNamespace(**{name: part(number, kind) for number, (name, kind) in enumerate(named)})


def _pointers(intrinsic: Any) -> tuple[Any, Any]:
    """What makes an address a pointer: to elements of a field, and to bytes."""

    @intrinsic
    def at(typingctx, field, address):
        def generate(context, builder, signature, args):
            return builder.inttoptr(args[1], context.get_value_type(field.inner))

        return field.inner(field, types.int64), generate

    @intrinsic
    def bytes_at(typingctx, address):
        def generate(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(_BYTES))

        return _BYTES(types.int64), generate

    return at, bytes_at


def _maker(intrinsic: Any, kind: Any, more: Any) -> Any:
    parts = [each for _, each in (*_PARTS, *more)]

    def generating(typed: Any) -> Any:
        def generate(context, builder, signature, args):
            made = ir.Constant(context.get_value_type(typed), ir.Undefined)
            for i, each in enumerate(args):
                made = builder.insert_value(made, each, i)
            return made

        return generate

    if more:

        @intrinsic
        def claimable(typingctx, pointer, fields, starts, number, first, end, marks, blocks, here):
            typed = kind(pointer)
            return typed(pointer, *parts), generating(typed)

        return claimable

    @intrinsic
    def routed(typingctx, pointer, fields, starts, number, first, end):
        typed = kind(pointer)
        return typed(pointer, *parts), generating(typed)

    return routed
