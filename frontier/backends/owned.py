"""Fields of which a machine stores only the elements that it owns, on any target: what is stored elsewhere is dropped.

So several machines that store the same value at an element need not tell it to its owner.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types

from frontier.backends.elements import Owned

__all__ = ["register"]


def register(intrinsic: Any, overload: Any, register_model: Any, models: Any) -> Any:
    """Tell numba what such fields are on one target; what makes one of a pointer and the range that is owned.

    Parameters
    ----------
    intrinsic, overload, register_model : callable
        The target's decorators.
    models : module
        Its data models.
    """

    @register_model(Owned)
    class _Model(models.StructModel):
        def __init__(self, manager: Any, fe_type: Any) -> None:
            parts = [("pointer", fe_type.inner), ("first", types.int64), ("end", types.int64)]
            super().__init__(manager, fe_type, parts)

    def part(number: int) -> Any:
        @intrinsic
        def read(typingctx, field):
            def generate(context, builder, signature, args):
                return builder.extract_value(args[0], number)

            return (types.int64 if number else field.inner)(field), generate

        return read

    inner, first, end = map(part, range(3))

    def getitem(field, index):
        if isinstance(field, Owned) and isinstance(index, types.Integer):
            return lambda field, index: inner(field)[index]
        return None

    def setitem(field, index, value):
        if not (isinstance(field, Owned) and isinstance(index, types.Integer)):
            return None

        def store(field, index, value):
            if first(field) <= index < end(field):
                inner(field)[index] = value

        return store

    overload(operator.getitem)(getitem)
    overload(operator.setitem)(setitem)

    @intrinsic
    def owned(typingctx, pointer, first, end):
        kind = Owned(pointer)

        def generate(context, builder, signature, args):
            made = ir.Constant(context.get_value_type(kind), ir.Undefined)
            for i, each in enumerate(args):
                made = builder.insert_value(made, each, i)
            return made

        return kind(pointer, types.int64, types.int64), generate

    return owned
