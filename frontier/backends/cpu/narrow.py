"""Narrow integer fields on the CPU: read as int64, in which functors compute, and stored in their own width.

This does the same as :mod:`frontier.compile.fields.flags`, but is registered with numba without a function to compile
first.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from frontier.compile.elements import Narrow

__all__: list[str] = []


def _named(args: Any) -> bool:
    """Whether it is an entry of such a field."""
    return isinstance(args[0], Narrow) and isinstance(args[1], types.Integer)


@infer_global(operator.getitem)
class _Get(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.int64, args[0], types.intp) if _named(args) else None


@infer_global(operator.setitem)
class _Set(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        number = isinstance(args[2], (types.Number, types.Boolean)) if len(args) == 3 else False
        return signature(types.none, args[0], types.intp, args[0].dtype) if _named(args) and number else None


@lower_builtin(operator.getitem, Narrow, types.intp)
def _load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    extended = builder.sext if sig.args[0].dtype.signed else builder.zext
    return extended(builder.load(builder.gep(args[0], [args[1]])), ir.IntType(64))


@lower_builtin(operator.setitem, Narrow, types.intp, types.Any)
def _store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    builder.store(args[2], builder.gep(args[0], [args[1]]))
    return context.get_dummy_value()
