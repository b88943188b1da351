"""Doubly compressed offsets in compiled code, on any target: an offset by its vertex.

See :mod:`frontier.graph.sparse_offsets`. Where the address of the directory is 0, the pointers are of all vertices: so
one graph may have offsets of both kinds, and prefix sums can take the place of offsets.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types

from frontier.compile.elements import Sparse

__all__ = ["MEMBERS", "assembled", "place", "register"]

#: What kernels take for offsets, in this order.
MEMBERS = ("words", "pointers", "first", "length")

_I64 = ir.IntType(64)


def assembled(intrinsic: Any, kind: Any) -> Any:
    """From the addresses of directory and pointers, the first vertex and their number to what kernels take."""

    @intrinsic
    def make(typingctx, words, pointers, first, length):
        def generate(context, builder, signature, args):
            made = ir.Constant(context.get_value_type(kind), ir.Undefined)
            for i, (value, each) in enumerate(zip(args, kind.kinds, strict=True)):
                if isinstance(each, types.CPointer):
                    value = builder.inttoptr(value, context.get_value_type(each))
                made = builder.insert_value(made, value, i)
            return made

        return kind(types.int64, types.int64, types.int64, types.int64), generate

    return make


def _is_plain(builder: Any, sparse: Any) -> Any:
    """Whether there is no directory."""
    return builder.icmp_unsigned("==", builder.ptrtoint(builder.extract_value(sparse, 0), _I64), _I64(0))


def _word(builder: Any, sparse: Any, vertex: Any) -> tuple[Any, Any]:
    """Where a vertex's word of the directory lies, and its place among the vertices that may have edges."""
    words, _, first, length = (builder.extract_value(sparse, i) for i in range(4))
    at = builder.sub(vertex, first)
    at = builder.select(builder.icmp_signed("<", at, _I64(0)), _I64(0), at)
    at = builder.select(builder.icmp_signed(">", at, length), length, at)
    return builder.gep(words, [builder.lshr(at, _I64(5))]), at


def place(builder: Any, sparse: Any, vertex: Any) -> Any:
    """What is read first of an offset."""
    plain = builder.gep(builder.extract_value(sparse, 1), [vertex])
    word, _ = _word(builder, sparse, vertex)
    return builder.select(_is_plain(builder, sparse), builder.bitcast(plain, word.type), word)


def _before(builder: Any, sparse: Any, vertex: Any) -> Any:
    """How many lists that are not empty come before a vertex's."""
    address, at = _word(builder, sparse, vertex)
    word = builder.load(address)
    below = builder.sub(builder.shl(_I64(1), builder.and_(at, _I64(31))), _I64(1))
    return builder.add(builder.lshr(word, _I64(32)), builder.ctpop(builder.and_(word, below)))


def register(intrinsic: Any, overload: Any) -> Any:
    """Tell numba how offsets are read on one target, by that target's own decorators; gives the intrinsic."""
    # numba compares signatures literally, so what it reads has no annotations.

    @intrinsic
    def load(typingctx, sparse, vertex):
        def generate(context, builder, signature, args):
            begun = builder.block
            with builder.if_then(builder.not_(_is_plain(builder, args[0])), likely=True):
                before, found = _before(builder, *args), builder.block
            index = builder.phi(_I64)
            index.add_incoming(args[1], begun)
            index.add_incoming(before, found)
            value = builder.load(builder.gep(builder.extract_value(args[0], 1), [index]))
            return value if value.type == _I64 else builder.sext(value, _I64)

        return types.int64(sparse, types.intp), generate

    def getitem(sparse, vertex):
        if isinstance(sparse, Sparse) and isinstance(vertex, types.Integer):
            return lambda sparse, vertex: load(sparse, vertex)
        return None

    overload(operator.getitem)(getitem)
    return load
