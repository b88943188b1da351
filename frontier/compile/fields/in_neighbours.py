"""``fr.neighbours(p, v, "in")`` in compiled functors, on any target: a loop over the slots of a vertex's in-edges.

Slots of out-edges are a range. Those of in-edges lie one after the other in an array, of which this is a piece.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from frontier.compile.elements import Narrow

__all__ = ["register"]

_I64 = ir.IntType(64)


class _Slots(types.SimpleIterableType):  # type: ignore[name-defined]
    """A piece of an array of slots: the array, and where the piece begins and ends."""

    def __init__(self, array: Any) -> None:
        self.array = array
        super().__init__(name=f"slots({array})", iterator_type=_Iterator(array))


class _Iterator(types.SimpleIteratorType):  # type: ignore[name-defined]
    def __init__(self, array: Any) -> None:
        self.array = array
        super().__init__(name=f"iterator over slots({array})", yield_type=types.int64)


def register(intrinsic: Any, lower: Any, register_model: Any, models: Any) -> Any:
    """Tell numba what such a piece is on one target, by the target's decorators and data models.

    Returns
    -------
    callable
        Of compiled code: makes a piece of an array, a beginning and an end.
    """

    @register_model(_Slots)
    class _SlotsModel(models.StructModel):
        def __init__(self, manager: Any, fe_type: Any) -> None:
            members = [("array", fe_type.array), ("first", types.int64), ("end", types.int64)]
            super().__init__(manager, fe_type, members)

    @register_model(_Iterator)
    class _IteratorModel(models.StructModel):
        def __init__(self, manager: Any, fe_type: Any) -> None:
            members = [("array", fe_type.array), ("at", types.EphemeralPointer(types.int64)), ("end", types.int64)]
            super().__init__(manager, fe_type, members)

    @intrinsic
    def piece(typingctx, array, first, end):
        kind = _Slots(array)

        def generate(context, builder, signature, args):
            made = context.make_helper(builder, kind)
            made.array, made.first, made.end = args
            return made._getvalue()

        return kind(array, types.int64, types.int64), generate

    @lower("getiter", _Slots)
    def begin(context, builder, signature, args):
        given = context.make_helper(builder, signature.args[0], args[0])
        made = context.make_helper(builder, signature.return_type)
        with builder.goto_entry_block():
            at = builder.alloca(_I64)
        builder.store(given.first, at)
        made.array, made.at, made.end = given.array, at, given.end
        return made._getvalue()

    @lower("iternext", _Iterator)
    def following(context, builder, signature, args):
        kind = signature.args[0]
        given = context.make_helper(builder, kind, args[0])
        made = context.make_helper(builder, signature.return_type)
        at = builder.load(given.at)
        made.second = builder.icmp_signed("<", at, given.end)
        with builder.if_then(made.second):
            slot = builder.load(builder.gep(given.array, [at]))
            made.first = builder.sext(slot, _I64) if isinstance(kind.array, Narrow) else slot
            builder.store(builder.add(at, ir.Constant(_I64, 1)), given.at)
        return made._getvalue()

    return piece
