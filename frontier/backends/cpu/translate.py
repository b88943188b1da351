"""The loop functions of the CPU: translated to LLVM, and callable from Python without the GIL.

See :mod:`frontier.compile.translation.translator`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.callconv import CPUCallConv
from numba.extending import intrinsic

from frontier.backends.cpu import atomics
from frontier.compile.translation.texts import Written
from frontier.compile.translation.translator import Translator

__all__ = ["translated"]


def translated(written: Written, name: str) -> Any:
    """Return an intrinsic that adds a function of this name to the module in which it is called.

    It is one of C that Python calls (``METH_FASTCALL``) with three integers as arguments, and does what the written one
    does with them; the call that leaves it does nothing.
    """

    @intrinsic
    def leave(typingctx):
        def generate(context, builder, signature, args):
            # What the program's module has, kernels of other modules have too.
            translator = _Translator(_steady(context), builder.module, written.function.__globals__)
            _, made = translator.function(written, [types.int64] * 3, f"{name}.loop")
            # It is long but takes nanoseconds, as it does no work itself; optimising it would be half of LLVM's work.
            made.attributes.add("optnone")
            _callable(translator.module, made, name)
            return context.get_dummy_value()

        return types.void(), generate

    return leave


class _Translator(Translator):
    arrays = atomics.arrays


class _CallConv(CPUCallConv):
    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """Go on: the functions here have no status to return. What they call gives 0 if it fails."""


@cache
def _class(base: Any) -> Any:
    return type("SteadyContext", (base,), {"call_conv": property(_CallConv)})


def _steady(context: Any) -> Any:
    """A context in which calls of what numba has compiled do not make the caller return."""
    made = context.subtarget()
    made.__class__ = _class(type(context))  # type: ignore[arg-type]
    return made


def _callable(module: Any, inner: Any, name: str) -> None:
    """A function of Python's for one that takes integers: from an array of objects, and without the GIL."""
    pointer, long = ir.IntType(8).as_pointer(), ir.IntType(64)

    def call(name: str, result: Any, *args: Any) -> Any:
        kind = ir.FunctionType(result, [arg.type for arg in args])
        return builder.call(cgutils.get_or_insert_function(module, kind, name), args)

    made = ir.Function(module, ir.FunctionType(pointer, [pointer, pointer.as_pointer(), long]), name)
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    places = [builder.gep(made.args[1], [ir.Constant(long, i)]) for i in range(len(inner.args))]
    given = [call("PyLong_AsLongLong", long, builder.load(place)) for place in places]
    state = call("PyEval_SaveThread", pointer)
    builder.call(inner, given)
    call("PyEval_RestoreThread", ir.VoidType(), state)
    builder.ret(call("PyLong_FromLongLong", pointer, ir.Constant(long, 0)))
