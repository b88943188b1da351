"""The entry point of compiled helper functions: it takes one table of words, with the addresses of arrays among them.

Filling a table takes a fraction of the time of passing as many arguments. After a word for the result, it contains: for
an array its address, its lengths and, if it is not contiguous, its strides; for a number the number itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

from frontier.native.machine_code import OPTIONS

__all__ = ["library", "types_of"]

_WORD = ir.IntType(64)


def types_of(kinds: Iterator[Any], count: int = -1) -> Iterator[Any]:
    """So many arguments' types for numba (-1: all), from what their code depends on, one after another."""
    while count != 0 and (kind := next(kinds, None)) is not None:
        count -= 1
        if kind == "tuple":
            yield types.Tuple(list(types_of(kinds, next(kinds))))
        elif isinstance(kind, str):
            yield getattr(types, kind)
        else:
            yield types.Array(from_dtype(kind), next(kinds), "C" if next(kinds) else "A")


def library(dispatcher: Any, kinds: tuple[Any, ...], name: str) -> tuple[Any, str]:
    """A library of numba's with a function of this name that calls another, and the type that this returns."""
    arguments = tuple(types_of(iter(kinds)))
    dispatcher.compile(arguments)
    made = dispatcher.overloads[arguments]

    @intrinsic
    def leave(typingctx):
        def generate(context, builder, signature, args):
            _define(context, builder.module, made, name)
            return context.get_dummy_value()

        return types.void(), generate

    call: Any = leave  # which numba calls without the first argument

    @njit(**OPTIONS)
    def entry() -> None:
        call()

    entry.compile(())
    return entry.overloads[()].library, str(made.signature.return_type)


def _define(context: Any, module: Any, made: Any, name: str) -> None:
    """The function: of a table; whether the other has failed."""
    function = ir.Function(module, ir.FunctionType(_WORD, [_WORD.as_pointer()]), name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    words = _Words(context, builder, function.args[0])
    given = [words.value(kind) for kind in made.signature.args]
    status, result = context.call_internal_no_propagate(builder, made.fndesc, made.signature, given)
    context.active_code_library.add_linking_library(made.library)
    if made.signature.return_type != types.none:
        builder.store(builder.zext(result, _WORD) if result.type != _WORD else result, function.args[0])
    builder.ret(builder.zext(status.is_error, _WORD))


class _Words:
    """Reads values off a table."""

    def __init__(self, context: Any, builder: Any, table: Any) -> None:
        self.context, self.builder, self.table, self.at = context, builder, table, 1

    def word(self) -> Any:
        """The next word."""
        place = self.builder.gep(self.table, [ir.Constant(_WORD, self.at)])
        self.at += 1
        return self.builder.load(place)

    def value(self, kind: Any) -> Any:
        """The next value of a type."""
        if isinstance(kind, types.Array):
            return self._array(kind)
        if isinstance(kind, types.BaseTuple):
            inner: Any = kind
            return self.context.make_tuple(self.builder, kind, [self.value(each) for each in inner])
        word = self.word()
        if isinstance(kind, types.Boolean):
            return self.builder.icmp_unsigned("!=", word, ir.Constant(_WORD, 0))
        if isinstance(kind, types.Float):
            double = self.builder.bitcast(word, ir.DoubleType())
            return double if kind == types.float64 else self.builder.fptrunc(double, ir.FloatType())
        return word if kind.bitwidth == 64 else self.builder.trunc(word, ir.IntType(kind.bitwidth))

    def _array(self, kind: Any) -> Any:
        context, builder = self.context, self.builder
        made = context.make_array(kind)(context, builder)
        element = context.get_data_type(kind.dtype)
        size = ir.Constant(_WORD, context.get_abi_sizeof(element))
        data = builder.inttoptr(self.word(), element.as_pointer())
        shape = [self.word() for _ in range(kind.ndim)]
        if kind.layout == "C":
            strides = [size]
            for length in shape[:0:-1]:
                strides.insert(0, builder.mul(strides[0], length))
        else:
            strides = [self.word() for _ in range(kind.ndim)]
        pack = cgutils.pack_array
        populate_array(
            made, data=data, shape=pack(builder, shape), strides=pack(builder, strides), itemsize=size, meminfo=None
        )
        return made._getvalue()
