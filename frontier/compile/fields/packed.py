"""Compressed lists in compiled code, on any target: an id by its slot; see :mod:`frontier.graph.packed`."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types

from frontier.compile.elements import Packed

__all__ = ["assembled", "element", "place", "register"]

_I64 = ir.IntType(64)


def assembled(intrinsic: Any, kind: Any) -> Any:
    """From the addresses of frames and words to what kernels take for an array of ids."""

    @intrinsic
    def make(typingctx, frames, words):
        def generate(context, builder, signature, args):
            made = ir.Constant(context.get_value_type(kind), ir.Undefined)
            for i, (address, each) in enumerate(zip(args, kind.kinds, strict=True)):
                made = builder.insert_value(made, builder.inttoptr(address, context.get_value_type(each)), i)
            return made

        return kind(types.int64, types.int64), generate

    return make


def place(builder: Any, packed: Any, slot: Any) -> Any:
    """Where the frame of a slot's block lies."""
    return builder.gep(builder.extract_value(packed, 0), [builder.shl(builder.lshr(slot, _I64(5)), _I64(1))])


def _frame(builder: Any, packed: Any, slot: Any) -> list[Any]:
    """The first word of a slot's block, its least id, and the first word of the next block."""
    first = place(builder, packed, slot)
    loaded = [builder.load(builder.gep(first, [_I64(i)])) for i in range(3)]
    return [each if each.type == _I64 else builder.sext(each, _I64) for each in loaded]


def element(builder: Any, packed: Any, slot: Any) -> Any:
    """The id at a slot."""
    words = builder.extract_value(packed, 1)
    start, least, end = _frame(builder, packed, slot)
    bits = builder.sub(end, start)
    bit = builder.mul(builder.and_(slot, _I64(31)), bits)
    at = builder.add(start, builder.lshr(bit, _I64(5)))
    low, high = (builder.zext(builder.load(builder.gep(words, [builder.add(at, _I64(i))])), _I64) for i in range(2))
    both = builder.or_(low, builder.shl(high, _I64(32)))
    mask = builder.sub(builder.shl(_I64(1), bits), _I64(1))
    value = builder.and_(builder.lshr(both, builder.and_(bit, _I64(31))), mask)
    return builder.add(least, value)


def register(intrinsic: Any, overload: Any) -> Any:
    """Tell numba how ids are read on one target, by that target's own decorators; gives the intrinsic."""
    # numba compares signatures literally, so what it reads has no annotations.

    @intrinsic
    def load(typingctx, packed, slot):
        def generate(context, builder, signature, args):
            return element(builder, *args)

        return types.int64(packed, types.intp), generate

    def getitem(packed, slot):
        if isinstance(packed, Packed) and isinstance(slot, types.Integer):
            return lambda packed, slot: load(packed, slot)
        return None

    overload(operator.getitem)(getitem)
    return load
