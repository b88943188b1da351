"""Fields of several values in compiled code, on any target: ``p.h[v, i]`` lies at ``v * width + i``."""

from __future__ import annotations

import operator
from typing import Any

from numba import types

from frontier.compile.elements import Rows
from frontier.functors import atomics

__all__ = ["register"]


def register(intrinsic: Any, overload: Any) -> None:
    """Tell numba how such fields are read and written on one target, by that target's own decorators."""
    # numba compares signatures literally, so what it reads has no annotations.

    @intrinsic
    def flat(typingctx, rows):
        def generate(context, builder, signature, args):
            return args[0]

        return rows.inner(rows), generate

    def two(field, index):
        return isinstance(field, Rows) and isinstance(index, types.BaseTuple) and len(index) == 2

    def getitem(field, index):
        if not two(field, index):
            return None
        width = field.width
        return lambda field, index: flat(field)[index[0] * width + index[1]]

    def setitem(field, index, value):
        if not two(field, index):
            return None
        width = field.width

        def store(field, index, value):
            flat(field)[index[0] * width + index[1]] = value

        return store

    overload(operator.getitem)(getitem)
    overload(operator.setitem)(setitem)

    def define(public):
        def implement(field, index, value):
            if not two(field, index):
                return None
            width = field.width
            return lambda field, index, value: public(flat(field), index[0] * width + index[1], value)

        overload(public)(implement)

    def cas(field, index, expected, value):
        if not two(field, index):
            return None
        width, public = field.width, atomics.atomic_cas
        return lambda field, index, expected, value: public(
            flat(field), index[0] * width + index[1], expected, value
        )

    overload(atomics.atomic_cas)(cas)
    for name in ("add", "min", "max", "or", "exch"):
        define(getattr(atomics, f"atomic_{name}"))
