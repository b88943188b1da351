"""Arrays of bools and of narrow unsigned integers inside compiled functors.

NumPy keeps a bool in a byte that must be 0 or 1. Were these plain bytes, ``p.flag[v] = p.level[v] & 4``
would leave a 4 there, and a number divisible by 256 would be false. So what is read is a bool, and what is
stored is the truth of a value.

Unsigned integers of fewer than 64 bits are read as signed ones of 64 bits, as all other integers are computed with:
by numba's own rule ``p.a[u] - p.a[v]`` would be a huge number where it should be negative.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from frontier.backends.cpu.atomics import truth
from frontier.backends.cpu.intrinsics import Flags, Narrow

__all__: list[str] = []

_BYTE = ir.IntType(8)


@intrinsic
def _load(typingctx: Any, flags: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = builder.load(builder.gep(args[0], [args[1]]))
        return builder.icmp_unsigned("!=", byte, _BYTE(0))

    return types.boolean(flags, types.intp), generate


@intrinsic
def _store(typingctx: Any, flags: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(builder.zext(args[2], _BYTE), builder.gep(args[0], [args[1]]))
        return context.get_dummy_value()

    return types.void(flags, types.intp, types.boolean), generate


@intrinsic
def _load_wide(typingctx: Any, narrow: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.load(builder.gep(args[0], [args[1]])), ir.IntType(64))

    return types.int64(narrow, types.intp), generate


@intrinsic
def _store_narrow(typingctx: Any, narrow: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], builder.gep(args[0], [args[1]]))
        return context.get_dummy_value()

    return types.void(narrow, types.intp, narrow.dtype), generate


@overload(operator.getitem, target="cpu")
def _getitem(flags, index):  # type: ignore[no-untyped-def]
    if isinstance(flags, Flags) and isinstance(index, types.Integer):
        return lambda flags, index: _load(flags, index)  # type: ignore[call-arg]
    if isinstance(flags, Narrow) and isinstance(index, types.Integer):
        return lambda flags, index: _load_wide(flags, index)  # type: ignore[call-arg]
    return None


@overload(operator.setitem, target="cpu")
def _setitem(flags, index, value):  # type: ignore[no-untyped-def]
    if isinstance(flags, Flags) and isinstance(index, types.Integer):
        return lambda flags, index, value: _store(flags, index, truth(value))  # type: ignore[call-arg]
    if isinstance(flags, Narrow) and isinstance(index, types.Integer):
        return lambda flags, index, value: _store_narrow(flags, index, np.int64(value))  # type: ignore[call-arg]
    return None
