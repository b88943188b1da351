"""The public atomics, hashes and random numbers inside functors on the GPU; bools and narrow integers.

Import this module before compiling: it tells numba-cuda what they mean.
"""

from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import cuda, types
from numba.cuda.extending import intrinsic, overload

from frontier.backends.cpu.intrinsics import Flags, Narrow
from frontier.backends.cuda import intrinsics
from frontier.backends.overloads import register, truth

__all__ = ["truth"]

_BYTE = ir.IntType(8)

register(overload, SimpleNamespace(**vars(intrinsics)), cuda.jit(device=True))


# What is read and stored is as on the CPU, see frontier.backends.cpu.flags; numba-cuda wants overloads of its own.


@intrinsic
def _load(typingctx: Any, flags: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = builder.load(builder.gep(args[0], [args[1]]))
        return builder.icmp_unsigned("!=", byte, _BYTE(0))

    return types.boolean(flags, types.intp), generate


@intrinsic
def _store(typingctx: Any, flags: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = builder.select(builder.trunc(args[2], ir.IntType(1)), _BYTE(1), _BYTE(0))
        builder.store(byte, builder.gep(args[0], [args[1]]))
        return context.get_dummy_value()

    return types.void(flags, types.intp, types.int32), generate


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


@overload(operator.getitem)
def _getitem(flags, index):  # type: ignore[no-untyped-def]
    if isinstance(flags, Flags) and isinstance(index, types.Integer):
        return lambda flags, index: _load(flags, index)  # type: ignore[call-arg]
    if isinstance(flags, Narrow) and isinstance(index, types.Integer):
        return lambda flags, index: _load_wide(flags, index)  # type: ignore[call-arg]
    return None


@overload(operator.setitem)
def _setitem(flags, index, value):  # type: ignore[no-untyped-def]
    if isinstance(flags, Flags) and isinstance(index, types.Integer):
        return lambda flags, index, value: _store(flags, index, np.int32(truth(value)))  # type: ignore[call-arg]
    if isinstance(flags, Narrow) and isinstance(index, types.Integer):
        return lambda flags, index, value: _store_narrow(flags, index, np.int64(value))  # type: ignore[call-arg]
    return None
