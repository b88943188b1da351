"""Pairs: two fields of 32 bits that share words of 64 bits, so that one atomic changes both.

A word's lower half holds the element of one field, the upper half that of the field declared ``with_=`` it. Functors,
and the host, see each as an array whose elements lie eight bytes apart.
"""

from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from frontier.backends.elements import Half

__all__ = ["place", "register"]

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def place(builder: Any, args: Any) -> Any:
    """Where an element lies, of a pointer and an index."""
    return builder.gep(args[0], [builder.shl(args[1], _I64(1))])


def register(intrinsic: Any, overload: Any) -> SimpleNamespace:
    """Tell numba how halves of words are read and written on one target, by that target's own decorators.

    Gives the intrinsics ``minimum`` and ``maximum``: of a pointer to halves, an index, a value for this half and one
    for the other. Both are stored if the value is less, or greater, than what is there; the result is what was there.
    """
    # numba compares signatures literally, so what it reads has no annotations.

    @intrinsic
    def load(typingctx, half, index):
        whole = isinstance(half.dtype, types.Integer)

        def generate(context, builder, signature, args):
            value = builder.load(place(builder, args))
            if not whole:
                return value
            return (builder.sext if half.dtype.signed else builder.zext)(value, _I64)

        return (types.int64 if whole else half.dtype)(half, types.intp), generate

    @intrinsic
    def store(typingctx, half, index, value):
        def generate(context, builder, signature, args):
            builder.store(args[2], place(builder, args))
            return context.get_dummy_value()

        return types.void(half, types.intp, half.dtype), generate

    def getitem(half, index):
        if isinstance(half, Half) and isinstance(index, types.Integer):
            return lambda half, index: load(half, index)
        return None

    def setitem(half, index, value):
        if not isinstance(half, Half) or not isinstance(index, types.Integer):
            return None
        if isinstance(half.dtype, types.Integer):
            return lambda half, index, value: store(half, index, np.int64(value))
        return lambda half, index, value: store(half, index, value)

    overload(operator.getitem)(getitem)
    overload(operator.setitem)(setitem)
    return SimpleNamespace(minimum=_offer(intrinsic, "<"), maximum=_offer(intrinsic, ">"))


def _offer(intrinsic: Any, better: str) -> Any:
    """A loop that exchanges the word until it succeeds, or what is there is no worse."""

    @intrinsic
    def offer(typingctx, half, index, value, other):
        if not isinstance(half, Half) or half.other is None:
            return None

        def generate(context, builder, signature, args):
            word = builder.bitcast(place(builder, args), _I64.as_pointer())
            low, high = (builder.zext(builder.bitcast(each, _I32), _I64) for each in args[2:])
            new = builder.or_(builder.shl(high, _I64(32)), low)
            first, begin = builder.load_atomic(word, "monotonic", 8), builder.block
            look, swap, done = (builder.append_basic_block(f"offer_{name}") for name in ("look", "swap", "done"))
            builder.branch(look)
            builder.position_at_end(look)
            held = builder.phi(_I64)
            held.add_incoming(first, begin)
            there = builder.bitcast(builder.trunc(held, _I32), context.get_value_type(half.dtype))
            builder.cbranch(_compared(builder, better, half.dtype, args[2], there), swap, done)
            builder.position_at_end(swap)
            result = builder.cmpxchg(word, held, new, "acq_rel", "monotonic")
            held.add_incoming(builder.extract_value(result, 0), swap)
            builder.cbranch(builder.extract_value(result, 1), done, look)
            builder.position_at_end(done)
            return there

        return half.dtype(half, types.intp, half.dtype, half.other), generate

    return offer


def _compared(builder: Any, better: str, number: Any, value: Any, there: Any) -> Any:
    """Whether a value is better than what is there; NaN is no value."""
    if not isinstance(number, types.Float):
        return (builder.icmp_signed if number.signed else builder.icmp_unsigned)(better, value, there)
    is_number = builder.fcmp_ordered("ord", value, value)
    return builder.and_(is_number, builder.fcmp_unordered(better, value, there))
