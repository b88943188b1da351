"""Pairs of fields that functors change at the same time, on any target: see :mod:`frontier.program.pairs`.

Two fields of 32 bits share words of 64 bits, so that atomics on a word change both. A word's upper half holds the
element of one field, the key, and the lower half that of the field declared ``with_=`` it. So words are in the order of
their keys. Functors, and the host, see each as an array whose elements lie eight bytes apart.

Wider fields are arrays as others are. Whoever has a better value takes a lock, of which there are a few thousand. The
key still changes by an atomic, for other atomics on it take no lock.
"""

from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from frontier.compile.codes import LOCKS
from frontier.compile.elements import Half, Locked

__all__ = ["locked", "place", "register", "swapping", "word_of"]

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def place(builder: Any, args: Any) -> Any:
    """Where an element lies, of a pointer and an index."""
    return builder.gep(args[0], [builder.shl(args[1], _I64(1))])


def word_of(builder: Any, args: Any) -> Any:
    """Where the word of a key lies, of a pointer and an index."""
    half = builder.bitcast(place(builder, args), _I32.as_pointer())
    return builder.bitcast(builder.gep(half, [_I64(-1)]), _I64.as_pointer())


def register(intrinsic: Any, overload: Any, jit: Any, operations: Any, offer: Any) -> SimpleNamespace:
    """Tell numba how the fields of pairs are read and written on one target, by that target's own decorators.

    ``operations`` are ``fetch_min``, ``fetch_max``, ``compare_exchange``, ``load_acquire``, ``store_release`` and
    ``yield_processor``; ``offer(better)`` makes the intrinsic that changes a word, with ``"<"`` or ``">"``.

    Gives ``minimum`` and ``maximum`` for halves of words, and ``locked_minimum`` and ``locked_maximum``: functions of a
    field, an index, a value and one for the other field. Both are stored if the value is less, or greater, than what is
    there; the result is what was there. ``key_of`` gives the pointer to a key that has locks.
    """
    made = _locked(intrinsic, overload, jit, operations)
    made.minimum, made.maximum = offer("<"), offer(">")
    _halves(intrinsic, overload)
    return made


# ---- words ---------------------------------------------------------------------------------------------------


def _halves(intrinsic: Any, overload: Any) -> None:
    # numba compares signatures literally, so what it reads has no annotations.

    @intrinsic
    def load(typingctx, half, index):
        whole = isinstance(half.dtype, types.Integer)

        def generate(context, builder, signature, args):
            value = builder.load(place(builder, args))
            if not whole:
                return value
            return (builder.sext if half.dtype.signed else builder.zext)(value, _I64)

        return (types.int64 if whole else half.dtype)(half, types.intp), generate

    @intrinsic
    def store(typingctx, half, index, value):
        def generate(context, builder, signature, args):
            builder.store(args[2], place(builder, args))
            return context.get_dummy_value()

        return types.void(half, types.intp, half.dtype), generate

    def getitem(half, index):
        if isinstance(half, Half) and isinstance(index, types.Integer):
            return lambda half, index: load(half, index)
        return None

    def setitem(half, index, value):
        if not isinstance(half, Half) or not isinstance(index, types.Integer):
            return None
        if isinstance(half.dtype, types.Integer):
            return lambda half, index, value: store(half, index, np.int64(value))
        return lambda half, index, value: store(half, index, value)

    overload(operator.getitem)(getitem)
    overload(operator.setitem)(setitem)


def swapping(intrinsic: Any, read: Any, better: str) -> Any:
    """A loop that exchanges the word until it succeeds, or what is there is no worse.

    ``read(builder, pointer)`` loads a word that others write.
    """

    @intrinsic
    def offer(typingctx, half, index, value, other):
        if not isinstance(half, Half) or half.other is None:
            return None

        def generate(context, builder, signature, args):
            word = word_of(builder, args)
            high, low = (builder.zext(builder.bitcast(each, _I32), _I64) for each in args[2:])
            new = builder.or_(builder.shl(high, _I64(32)), low)
            first, begin = read(builder, word), builder.block
            look, swap, done = (builder.append_basic_block(f"offer_{name}") for name in ("look", "swap", "done"))
            builder.branch(look)
            builder.position_at_end(look)
            held = builder.phi(_I64)
            held.add_incoming(first, begin)
            upper = builder.trunc(builder.lshr(held, _I64(32)), _I32)
            there = builder.bitcast(upper, context.get_value_type(half.dtype))
            builder.cbranch(_compared(builder, better, half.dtype, args[2], there), swap, done)
            builder.position_at_end(swap)
            result = builder.cmpxchg(word, held, new, "monotonic", "monotonic")
            held.add_incoming(builder.extract_value(result, 0), swap)
            builder.cbranch(builder.extract_value(result, 1), done, look)
            builder.position_at_end(done)
            return there

        return half.dtype(half, types.intp, half.dtype, half.other), generate

    return offer


def _compared(builder: Any, better: str, number: Any, value: Any, there: Any) -> Any:
    """Whether a value is better than what is there; NaN is no value."""
    if not isinstance(number, types.Float):
        return (builder.icmp_signed if number.signed else builder.icmp_unsigned)(better, value, there)
    is_number = builder.fcmp_ordered("ord", value, value)
    return builder.and_(is_number, builder.fcmp_unordered(better, value, there))


# ---- locks ---------------------------------------------------------------------------------------------------


def locked(intrinsic: Any, kind: Any) -> Any:
    """From the addresses of the key, of the other field and of the locks to a key as functors see it."""

    @intrinsic
    def make(typingctx, key, other, locks):
        def generate(context, builder, signature, args):
            made = ir.Constant(context.get_value_type(kind), ir.Undefined)
            for i, (address, each) in enumerate(zip(args, kind.kinds, strict=True)):
                made = builder.insert_value(made, builder.inttoptr(address, context.get_value_type(each)), i)
            return made

        return kind(types.int64, types.int64, types.int64), generate

    return make


def _locked(intrinsic: Any, overload: Any, jit: Any, operations: Any) -> SimpleNamespace:
    def part(number: int) -> Any:
        @intrinsic
        def given(typingctx, field):
            def generate(context, builder, signature, args):
                return builder.extract_value(args[0], number)

            return field.kinds[number](field), generate

        return given

    key_of, other_of, locks_of = part(0), part(1), part(2)
    exchange, acquire, release = operations.compare_exchange, operations.load_acquire, operations.store_release
    give_way = operations.yield_processor
    last = LOCKS - 1

    @intrinsic
    def as_key(typingctx, field, value):
        """A value as the key holds it."""

        def generate(context, builder, signature, args):
            return args[1]

        return field.dtype(field, field.dtype), generate

    @jit
    def less(value, there):
        return value < there or (there != there and value == value)

    @jit
    def greater(value, there):
        return value > there or (there != there and value == value)

    def offering(better: Any, change: Any) -> Any:
        @jit
        def offer(field, index, value, companion):
            key, new = key_of(field), as_key(field, value)
            there = key[index]
            if not better(new, there):
                return there
            locks, at, tries = locks_of(field), index & last, 0
            while True:  # all under the lock is inside, where the lanes of a warp wait for each other
                if exchange(locks, at, 0, 1) == 0:
                    acquire(locks, at)
                    there = change(key, index, new)
                    if better(new, there):
                        other_of(field)[index] = companion
                    release(locks, at, 0)
                    return there
                tries += 1
                if tries > 64:  # the thread that has it may wait for a core
                    give_way()

        return offer

    def getitem(field, index):
        if isinstance(field, Locked) and isinstance(index, types.Integer):
            return lambda field, index: key_of(field)[index]
        return None

    def setitem(field, index, value):
        if not isinstance(field, Locked) or not isinstance(index, types.Integer):
            return None

        def store(field, index, value):
            key_of(field)[index] = value

        return store

    overload(operator.getitem)(getitem)
    overload(operator.setitem)(setitem)
    return SimpleNamespace(
        key_of=key_of, locked_minimum=offering(less, operations.fetch_min),
        locked_maximum=offering(greater, operations.fetch_max),
    )  # fmt: skip
