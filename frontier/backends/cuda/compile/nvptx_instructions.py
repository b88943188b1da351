"""Instructions of a warp and a block for the target of :mod:`nvptx_target`, by the names that numba-cuda has for them.

LLVM knows of its own intrinsics that all lanes must come to them together.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from frontier.backends.cuda.compile.nvptx_target import intrinsic

__all__ = [
    "any_sync", "ballot_sync", "ffs", "match_any_sync", "popc", "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shifts",
    "syncthreads", "syncthreads_or", "syncwarp",
]  # fmt: skip

_I1, _I32, _I64, _VOID = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.VoidType()
_EVERY_LANE = ir.Constant(_I32, 0xFFFFFFFF)


def _call(builder: Any, name: str, result: Any, *args: Any) -> Any:
    found = builder.module.globals.get(name)
    if found is None:
        found = ir.Function(builder.module, ir.FunctionType(result, [each.type for each in args]), name)
    return builder.call(found, args)


@intrinsic
def syncthreads(typingctx: Any) -> Any:
    """All threads of the block meet."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _call(builder, "llvm.nvvm.barrier.cta.sync.aligned.all", _VOID, ir.Constant(_I32, 0))
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def syncthreads_or(typingctx: Any, flag: Any) -> Any:
    """All threads of the block meet; not 0 if the flag of any is not."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, "llvm.nvvm.barrier0.or", _I32, args[0])

    return types.int32(types.int32), generate


@intrinsic
def syncwarp(typingctx: Any) -> Any:
    """The lanes of a warp meet."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _call(builder, "llvm.nvvm.bar.warp.sync", _VOID, _EVERY_LANE)
        return context.get_dummy_value()

    return types.void(), generate


def _vote(name: str, result: Any, kind: Any) -> Any:
    @intrinsic
    def vote(typingctx: Any, mask: Any, flag: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            flag = context.cast(builder, args[1], signature.args[1], types.boolean)
            return _call(builder, f"llvm.nvvm.vote.{name}.sync", result, _EVERY_LANE, flag)

        return kind(mask, flag), generate

    return vote


ballot_sync = _vote("ballot", _I32, types.uint32)
any_sync = _vote("any", _I1, types.boolean)


@intrinsic
def match_any_sync(typingctx: Any, mask: Any, value: Any) -> Any:
    """Bit i: whether lane i has the same value."""
    bits = 64 if value.bitwidth == 64 else 32

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = builder.bitcast(args[1], ir.IntType(bits))
        return _call(builder, f"llvm.nvvm.match.any.sync.i{bits}", _I32, _EVERY_LANE, word)

    return types.uint32(mask, value), generate


def _shuffle(mode: str, clamp: int) -> Any:
    last = ir.Constant(_I32, clamp)

    def words(builder: Any, word: Any, lane: Any) -> Any:
        return _call(builder, f"llvm.nvvm.shfl.sync.{mode}.i32", _I32, _EVERY_LANE, word, lane, last)

    @intrinsic
    def shuffle(typingctx: Any, mask: Any, value: Any, lane: Any) -> Any:
        wide = not isinstance(value, types.Boolean) and value.bitwidth == 64
        kind = value if isinstance(value, types.Boolean) or value.bitwidth >= 32 else types.int32

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            whole = context.get_value_type(kind)
            given = context.cast(builder, args[1], value, kind)
            if not wide:
                word = builder.zext(given, _I32) if whole == _I1 else builder.bitcast(given, _I32)
                moved = words(builder, word, args[2])
                return builder.trunc(moved, _I1) if whole == _I1 else builder.bitcast(moved, whole)
            word = builder.bitcast(given, _I64)
            low = words(builder, builder.trunc(word, _I32), args[2])
            high = words(builder, builder.trunc(builder.lshr(word, _I64(32)), _I32), args[2])
            both = builder.or_(builder.zext(low, _I64), builder.shl(builder.zext(high, _I64), _I64(32)))
            return builder.bitcast(both, whole)

        return kind(mask, value, types.int32), generate

    return shuffle


shfl_sync, shfl_up_sync, shfl_down_sync = _shuffle("idx", 31), _shuffle("up", 0), _shuffle("down", 31)


@intrinsic
def popc(typingctx: Any, word: Any) -> Any:
    """Number of one bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return word(word), generate


@intrinsic
def ffs(typingctx: Any, word: Any) -> Any:
    """Index of the lowest one bit, from 1; 0 if there is none."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zero, one = ir.Constant(args[0].type, 0), ir.Constant(args[0].type, 1)
        after = builder.add(builder.cttz(args[0], _I1(0)), one)
        return builder.select(builder.icmp_unsigned("==", args[0], zero), zero, after)

    return word(word), generate


def _shift(direction: str) -> Any:
    @intrinsic
    def shift(typingctx: Any, a: Any, n: Any) -> Any:
        """As PTX does: nothing is left of a number that is shifted by as many bits as it has, or more.

        LLVM 22 writes a choice between a shift and 0 as such a shift by the lower half of ``n`` alone, which is another
        number if ``n`` has 64 bits.
        """
        bits = max(a.bitwidth, 32)
        word, letter = ir.IntType(bits), "l" if bits == 64 else "r"
        kind = f"shl.b{bits}" if direction == "left" else f"shr.{'s' if a.signed else 'u'}{bits}"

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            extended = builder.sext if n.signed else builder.zext
            amount = extended(args[1], _I64)
            few = builder.icmp_unsigned("<", amount, _I64(255))
            amount = builder.trunc(builder.select(few, amount, _I64(255)), _I32)
            whole = (builder.sext if a.signed else builder.zext)(args[0], word)
            form = ir.FunctionType(word, [word, _I32])
            made = builder.asm(form, f"{kind} $0, $1, $2;", f"={letter},{letter},r", [whole, amount], False)
            return builder.trunc(made, args[0].type)

        return a(a, n), generate

    return shift


#: What shifts to the left, and to the right.
shifts = _shift("left"), _shift("right")
