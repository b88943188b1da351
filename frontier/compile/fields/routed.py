"""Fields whose elements a machine changes where they are owned, on any target.

An *owned* field stores the elements that this machine owns, and drops what is stored elsewhere: where all machines
store the same, nobody needs to tell it. A *routed* field stores in the owner's memory. A *claimable* one is changed by
exchanges alone, from one value to others, once: a machine asks its own copy first, and the owner only if the element is
not claimed there; the copy may be behind, for it notes what this machine has learned. Who claims an element also marks
it, for the owner, as changed, by bits.
"""

from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from frontier.compile.codes import BLOCK, BLOCK_BITS
from frontier.compile.elements import Claimable, Narrow, Owned, Routed
from frontier.functors import atomics

__all__ = ["register"]

_TABLE = types.CPointer(types.int64)
_BYTES, _WORDS = Narrow(types.uint8), Narrow(types.uint32)
_RANGE = [("first", types.int64), ("end", types.int64)]
_OWNERS = [*_RANGE, ("fields", _TABLE), ("starts", _TABLE), ("parts", types.int64)]
_MARKS = [*_OWNERS, ("marks", _TABLE), ("blocks", types.int64), ("here", types.int64)]


def register(
    intrinsic: Any, overload: Any, register_model: Any, models: Any, jit: Any, system: Any, set_bits: Any
) -> tuple[Any, Any, Any]:
    """Tell numba what such fields are on one target; what makes an owned one, a routed one and a claimable one.

    Parameters
    ----------
    intrinsic, overload, register_model, jit : callable
        The target's decorators.
    models : module
        Its data models.
    system : function
        Compares and exchanges an element in the memory of any machine.
    set_bits : function
        Sets bits of a word there, ``set_bits(words, index, bits)``.
    """
    for kind, parts_of in ((Owned, _RANGE), (Routed, _OWNERS), (Claimable, _MARKS)):
        register_model(kind)(_model(models, parts_of))
    read = _readers(intrinsic)
    inner, first, end, fields, starts, parts, marks, blocks, here = vars(read).values()
    at, bytes_at, words_at = _pointers(intrinsic)

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
        set_bits(words_at(there), index >> 5, np.uint32(np.uint32(1) << np.uint32(index & 31)))
        bytes_at(there)[BLOCK // 4 * blocks(field) + (index >> BLOCK_BITS)] = np.uint8(1)

    def getitem(field, index):
        if isinstance(field, (Owned, Routed, Claimable)) and isinstance(index, types.Integer):
            return lambda field, index: inner(field)[index]
        return None

    def setitem(field, index, value):
        if not (isinstance(field, (Owned, Routed)) and isinstance(index, types.Integer)):
            return None

        def keep(field, index, value):
            if own(field, index):
                inner(field)[index] = value

        def store(field, index, value):
            if own(field, index):
                inner(field)[index] = value
            else:
                at(field, fields(field)[owner(field, index)])[index] = value

        return store if isinstance(field, Routed) else keep

    def cas(field, index, expected, value):
        if not isinstance(field, Claimable):
            return None
        number = field.dtype

        def claim(field, index, expected, value):
            mine = inner(field)
            if own(field, index):  # without looking up where it is
                old = system(mine, index, number(expected), number(value))
                if old == number(expected):
                    mark(field, here(field), index)
            else:
                seen = mine[index]
                if number(seen) != number(expected):
                    return np.int64(seen)
                r = owner(field, index)
                old = system(at(field, fields(field)[r]), index, number(expected), number(value))
                if old == number(expected):
                    mine[index] = number(value)
                    mark(field, marks(field)[r], index)
                else:
                    mine[index] = old
            return np.int64(old)

        return claim

    overload(operator.getitem)(getitem)
    overload(operator.setitem)(setitem)
    overload(atomics.atomic_cas)(cas)
    return _makers(intrinsic)


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

    named = [("inner", None), *_MARKS]
    return SimpleNamespace(**{name: part(number, kind) for number, (name, kind) in enumerate(named)})


def _pointers(intrinsic: Any) -> tuple[Any, Any, Any]:
    """What makes an address a pointer: to elements of a field, to bytes, and to words of bits."""

    @intrinsic
    def at(typingctx, field, address):
        def generate(context, builder, signature, args):
            return builder.inttoptr(args[1], context.get_value_type(field.inner))

        return field.inner(field, types.int64), generate

    def plain_at(kind: Any) -> Any:
        @intrinsic
        def there(typingctx, address):
            def generate(context, builder, signature, args):
                return builder.inttoptr(args[0], context.get_value_type(kind))

            return kind(types.int64), generate

        return there

    return at, plain_at(_BYTES), plain_at(_WORDS)


def _makers(intrinsic: Any) -> tuple[Any, Any, Any]:
    """What makes each kind of a pointer and the other parts, in their order."""

    def made(kind: Any, parts: Any) -> tuple[Any, Any]:
        def generate(context, builder, signature, args):
            struct = ir.Constant(context.get_value_type(kind), ir.Undefined)
            for i, each in enumerate(args):
                struct = builder.insert_value(struct, each, i)
            return struct

        return kind(kind.inner, *(each for _, each in parts)), generate

    @intrinsic
    def owned(typingctx, pointer, first, end):
        return made(Owned(pointer), _RANGE)

    @intrinsic
    def routed(typingctx, pointer, first, end, fields, starts, parts):
        return made(Routed(pointer), _OWNERS)

    @intrinsic
    def claimable(typingctx, pointer, first, end, fields, starts, parts, marks, blocks, here):
        return made(Claimable(pointer), _MARKS)

    return owned, routed, claimable
