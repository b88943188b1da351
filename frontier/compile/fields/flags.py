"""Arrays of bools and of narrow integers in compiled functors, on any target.

NumPy keeps a bool in a byte that must be 0 or 1. If these were plain bytes, ``p.flag[v] = p.level[v] & 4`` would store
a 4, and a number divisible by 256 would be stored as false. So reading gives a bool, and storing a value stores its
truth.

Integers of fewer than 64 bits are read as signed 64-bit integers, in which functors compute.
"""

from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from frontier.compile.elements import Flags, Narrow
from frontier.compile.functors.overloads import truth

__all__ = ["register"]

_BYTE = ir.IntType(8)


def _there(builder: Any, args: Any) -> Any:
    return builder.gep(args[0], [args[1]])


def register(intrinsic: Any, overload: Any, narrow: bool = True) -> SimpleNamespace:
    """Tell numba how such arrays are read and written on one target, by that target's own decorators.

    ``narrow`` says whether to tell it of narrow integers too. Gives the intrinsics: ``load``, ``store`` for bools,
    ``load_wide``, ``store_narrow`` for narrow integers.
    """
    # numba compares signatures literally, so what it reads has no annotations.

    @intrinsic
    def load(typingctx, flags, index):
        def generate(context, builder, signature, args):
            return builder.icmp_unsigned("!=", builder.load(_there(builder, args)), _BYTE(0))

        return types.boolean(flags, types.intp), generate

    @intrinsic
    def store(typingctx, flags, index, value):
        def generate(context, builder, signature, args):
            # A number, because the number of bits of a bool differs between targets.
            builder.store(builder.trunc(args[2], _BYTE), _there(builder, args))
            return context.get_dummy_value()

        return types.void(flags, types.intp, types.int32), generate

    @intrinsic
    def load_wide(typingctx, narrow, index):
        def generate(context, builder, signature, args):
            extended = builder.sext if signature.args[0].dtype.signed else builder.zext
            return extended(builder.load(_there(builder, args)), ir.IntType(64))

        return types.int64(narrow, types.intp), generate

    @intrinsic
    def store_narrow(typingctx, narrow, index, value):
        def generate(context, builder, signature, args):
            builder.store(args[2], _there(builder, args))
            return context.get_dummy_value()

        return types.void(narrow, types.intp, narrow.dtype), generate

    def getitem(flags, index):
        if isinstance(flags, Flags) and isinstance(index, types.Integer):
            return lambda flags, index: load(flags, index)
        if narrow and isinstance(flags, Narrow) and isinstance(index, types.Integer):
            return lambda flags, index: load_wide(flags, index)
        return None

    def setitem(flags, index, value):
        if isinstance(flags, Flags) and isinstance(index, types.Integer):
            return lambda flags, index, value: store(flags, index, np.int32(truth(value)))
        if narrow and isinstance(flags, Narrow) and isinstance(index, types.Integer):
            return lambda flags, index, value: store_narrow(flags, index, np.int64(value))
        return None

    overload(operator.getitem)(getitem)
    overload(operator.setitem)(setitem)
    return SimpleNamespace(load=load, store=store, load_wide=load_wide, store_narrow=store_narrow)
