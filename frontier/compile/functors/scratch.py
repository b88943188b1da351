"""``fr.scratch`` in compiled functors, on any target: numbers on the stack of a call, or in registers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError

from frontier.functors import scratch as plain
from frontier.functors.numbers import refused_float

__all__ = ["register"]

_I64 = ir.IntType(64)


class _Scratch(types.Type):
    """Pointer to so many numbers of a type."""

    def __init__(self, number: Any, size: int) -> None:
        super().__init__(name=f"scratch({number}, {size})")
        self.number, self.size = number, size


def register(intrinsic: Any, overload: Any, register_model: Any, models: Any, raises: Callable[..., Any]) -> None:
    """Tell numba what scratch memory is on one target, by the target's decorators and data models.

    ``raises(context, builder, kind, arguments)`` leaves a function by an exception.
    """

    @register_model(_Scratch)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager: Any, fe_type: Any) -> None:
            super().__init__(manager, fe_type, manager[fe_type.number].get_value_type().as_pointer())

    def place(context: Any, builder: Any, kind: Any, args: Any) -> Any:
        outside = builder.icmp_unsigned(">=", args[1], ir.Constant(_I64, kind.size))  # negative ones are huge
        with builder.if_then(outside, likely=False):
            raises(context, builder, IndexError, ("outside a scratch",))
        return builder.gep(args[0], [args[1]])

    @intrinsic
    def make(typingctx, size, value):
        if not isinstance(size, types.IntegerLiteral):
            return None
        kind = _Scratch(value, size.literal_value)

        def generate(context, builder, signature, args):
            with builder.goto_entry_block():
                memory = builder.alloca(context.get_value_type(value), ir.Constant(_I64, kind.size))
            for i in range(kind.size):
                builder.store(args[1], builder.gep(memory, [ir.Constant(_I64, i)]))
            return memory

        return kind(size, value), generate

    @intrinsic
    def load(typingctx, scratch, index):
        def generate(context, builder, signature, args):
            return builder.load(place(context, builder, scratch, args))

        return scratch.number(scratch, types.int64), generate

    @intrinsic
    def store(typingctx, scratch, index, value):
        def generate(context, builder, signature, args):
            builder.store(args[2], place(context, builder, scratch, args))
            return context.get_dummy_value()

        return types.void(scratch, types.int64, scratch.number), generate

    def scratch(size, value=0):
        if not isinstance(size, types.IntegerLiteral):
            return None
        reason = plain.refusal(size.literal_value)
        if reason is not None:
            raise TypingError(reason)
        number, constant = types.float64 if isinstance(value, types.Float) else types.int64, size.literal_value
        return lambda size, value=0: make(constant, number(value))

    def getitem(scratch, index):
        if isinstance(scratch, _Scratch) and isinstance(index, types.Integer):
            return lambda scratch, index: load(scratch, index)
        return None

    def setitem(scratch, index, value):
        if not isinstance(scratch, _Scratch) or not isinstance(index, types.Integer):
            return None
        if isinstance(value, types.Float) and scratch.number == types.int64:
            raise TypingError(refused_float(scratch.number))
        number = scratch.number
        return lambda scratch, index, value: store(scratch, index, number(value))

    def length(scratch):
        if isinstance(scratch, _Scratch):
            size = scratch.size
            return lambda scratch: size
        return None

    overload(plain.scratch, inline="always")(scratch)  # in the frame of the functor, which the memory is of
    overload(operator.getitem)(getitem)
    overload(operator.setitem)(setitem)
    overload(len)(length)
