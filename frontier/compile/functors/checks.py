"""``FRONTIER_CHECK=1``: fields that check every access in compiled functors, on any target.

A checked field is a pointer with a length. If an index is outside it, or an integer does not fit the dtype of the
field, the functor records that and raises; the call of the functor finds the record
(:mod:`frontier.compile.functors.guards`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from frontier.compile import codes
from frontier.compile.elements import Rows, Wrapped
from frontier.functors import atomics

__all__ = ["Checked", "noted", "register", "with_note"]

_I64 = ir.IntType(64)
#: The record of an invalid access: the reason (0 if there was none), the field's number, the index, the value; then how
#: many accesses there were, and the moment from which on the functor stops.
_NOTE = ir.ArrayType(_I64, 6)
_RECORDED, _COUNT, _UNTIL = 4, 4, 5
#: Accesses, a power of two, after which a functor looks at the clock: its loops may go on for ever.
_EVERY = 1 << 12


def _word(number: int) -> Any:
    return ir.Constant(_I64, number)


class Checked(Wrapped):
    """A field: its number in the problem, and the type of the pointer to it."""

    def __init__(self, inner: Any, number: int) -> None:
        super().__init__(f"checked({inner}, {number})", inner)
        self.number = number


def _members(fe_type: Any) -> list[tuple[str, Any]]:
    return [("pointer", fe_type.inner), ("length", types.int64), ("note", types.CPointer(types.int64))]


def with_note(builder: Any, kinds: Any, given: list[Any], until: Any = None) -> tuple[list[Any], Any]:
    """A functor's arguments with a place of the calling thread's for notes; None if it has no checked fields.

    ``until``, where a target has clocks: the moment from which on it stops, and whether some functor has failed, so
    that it looks at the clock at once.
    """
    if not kinds or not any(isinstance(kind, Checked) for kind in getattr(kinds[0], "types", ())):
        return given, None
    with builder.goto_entry_block():
        place = builder.alloca(_NOTE)
    note = builder.gep(place, [_word(0), _word(0)])
    builder.store(_word(0), note)
    if until is not None:
        moment, over = until
        builder.store(builder.select(over, _word(_EVERY - 1), _word(0)), builder.gep(note, [_word(_COUNT)]))
        builder.store(moment, builder.gep(note, [_word(_UNTIL)]))
    problem = given[0]
    for i, kind in enumerate(kinds[0].types):
        if isinstance(kind, Checked):
            problem = builder.insert_value(problem, note, [i, 2])
    return [problem, *given[1:]], note


def noted(builder: Any, note: Any) -> list[Any]:
    """The words of a note: the reason first."""
    return [builder.load(builder.gep(note, [_word(i)])) for i in range(_RECORDED)]


def register(
    intrinsic: Any,
    overload: Any,
    register_model: Any,
    models: Any,
    raises: Callable[..., Any],
    paired: bool = False,
    now: Callable[[Any], Any] | None = None,
) -> Callable[[int], Any]:
    """Tell numba what checked fields are on one target.

    Parameters
    ----------
    intrinsic, overload, register_model : callable
        The target's decorators.
    models : module
        Its data models.
    raises : callable
        ``raises(context, builder, kind, arguments)`` leaves a function by an exception.
    paired : bool
        Whether fields share words there.
    now : callable, optional
        ``now(builder)`` is the time; with it functors stop when it is later than their notes say.

    Returns
    -------
    callable
        From a field's number to a function of compiled code, of a pointer and a length, that gives the checked field.
    """

    @register_model(Checked)
    class _Model(models.StructModel):
        def __init__(self, manager: Any, fe_type: Any) -> None:
            super().__init__(manager, fe_type, _members(fe_type))

    def refuse(context: Any, builder: Any, field: Any, number: int, words: tuple[Any, ...]) -> None:
        note = builder.extract_value(field, 2)
        for i, word in enumerate((words[0], _word(number), *words[1:])):
            builder.store(word, builder.gep(note, [_word(i)]))
        raises(context, builder, IndexError, ("outside a field",))

    def look(context: Any, builder: Any, field: Any, number: int) -> None:
        """Count an access, and look at the clock now and then."""
        if now is None:
            return
        note = builder.extract_value(field, 2)
        place = builder.gep(note, [_word(_COUNT)])
        count = builder.add(builder.load(place), _word(1))
        builder.store(count, place)
        due = builder.icmp_unsigned("==", builder.and_(count, _word(_EVERY - 1)), _word(0))
        with builder.if_then(due, likely=False):
            late = builder.icmp_signed(">", now(builder), builder.load(builder.gep(note, [_word(_UNTIL)])))
            with builder.if_then(late, likely=False):
                refuse(context, builder, field, number, (_word(codes.EXPIRED), _word(0), _word(0)))

    @intrinsic
    def inside(typingctx, field, index):
        """The pointer to a field, if it has such an index."""

        def generate(context, builder, signature, args):
            checked, at = args
            look(context, builder, checked, field.number)
            wrong = builder.icmp_unsigned(">=", at, builder.extract_value(checked, 1))  # negative ones are huge
            with builder.if_then(wrong, likely=False):
                refuse(context, builder, checked, field.number, (_word(codes.OUTSIDE), at, _word(0)))
            return builder.extract_value(checked, 0)

        return field.inner(field, types.int64), generate

    @intrinsic
    def inside_row(typingctx, field, v, i):
        """The pointer to a field of several values, if it has such indices."""

        def generate(context, builder, signature, args):
            checked, *at = args
            look(context, builder, checked, field.number)
            lengths = (builder.extract_value(checked, 1), _word(field.inner.width))
            wrong = [builder.icmp_unsigned(">=", each, end) for each, end in zip(at, lengths, strict=True)]
            with builder.if_then(builder.or_(*wrong), likely=False):
                refuse(context, builder, checked, field.number, (_word(codes.OUTSIDE), *at))
            return builder.extract_value(checked, 0)

        return field.inner(field, types.int64, types.int64), generate

    @intrinsic
    def fitting(typingctx, field, index, value):
        """A value, if the field holds it."""

        def generate(context, builder, signature, args):
            checked, at, given = args
            wide = context.cast(builder, given, value, types.int64) if value != types.int64 else given
            low, high = _limits(field.dtype, value)
            wrong = builder.or_(
                builder.icmp_signed("<", wide, _word(low)), builder.icmp_signed(">", wide, _word(high))
            )
            with builder.if_then(wrong, likely=False):
                refuse(context, builder, checked, field.number, (_word(codes.OVERFLOW), at, wide))
            return given

        return value(field, types.int64, value), generate

    def narrows(field: Any, value: Any) -> bool:
        whole = isinstance(getattr(field, "dtype", None), types.Integer) and isinstance(value, types.Integer)
        return whole and field.dtype != value and not isinstance(value, types.Boolean)

    def of_row(field: Any, index: Any) -> bool:
        return isinstance(field, Checked) and isinstance(field.inner, Rows) and isinstance(index, types.BaseTuple)

    def getitem(field, index):
        if of_row(field, index):
            return lambda field, index: inside_row(field, index[0], index[1])[index]
        if isinstance(field, Checked) and isinstance(index, types.Integer):
            return lambda field, index: inside(field, index)[index]
        return None

    def setitem(field, index, value):
        if of_row(field, index):
            narrow_row = narrows(field, value)

            def row(field, index, value):
                there = inside_row(field, index[0], index[1])
                there[index] = fitting(field, index[0], value) if narrow_row else value

            return row
        if not isinstance(field, Checked) or not isinstance(index, types.Integer):
            return None
        if narrows(field, value):

            def narrow(field, index, value):
                inside(field, index)[index] = fitting(field, index, value)

            return narrow

        def plain(field, index, value):
            inside(field, index)[index] = value

        return plain

    def atomic(name: str) -> None:
        public = getattr(atomics, f"atomic_{name}")

        def implement(field, index, value):
            if of_row(field, index):
                return lambda field, index, value: public(inside_row(field, index[0], index[1]), index, value)
            if isinstance(field, Checked):
                return lambda field, index, value: public(inside(field, index), index, value)
            return None

        overload(public)(implement)

    def atomic_of_pair(name: str) -> None:
        public = getattr(atomics, f"atomic_{name}")

        def implement(field, index, value, companion=None):
            if not isinstance(field, Checked):
                return None
            if of_row(field, index):
                return lambda field, index, value, companion=None: public(
                    inside_row(field, index[0], index[1]), index, value
                )
            if companion is None:
                return lambda field, index, value, companion=None: public(inside(field, index), index, value)
            return lambda field, index, value, companion=None: public(inside(field, index), index, value, companion)

        overload(public)(implement)

    def cas(field, index, expected, value):
        if of_row(field, index):
            return lambda field, index, expected, value: swap(
                inside_row(field, index[0], index[1]), index, expected, value
            )
        if isinstance(field, Checked):
            return lambda field, index, expected, value: swap(inside(field, index), index, expected, value)
        return None

    overload(operator.getitem)(getitem)
    overload(operator.setitem)(setitem)
    for name in ("add", "min", "max", "or", "exch"):
        (atomic_of_pair if paired and name in ("min", "max") else atomic)(name)
    swap = atomics.atomic_cas
    overload(swap)(cas)

    def checked(number: int) -> Any:
        @intrinsic
        def make(typingctx, pointer, length):
            kind = Checked(pointer, number)

            def generate(context, builder, signature, args):
                made = ir.Constant(context.get_value_type(kind), ir.Undefined)
                null = ir.Constant(_I64.as_pointer(), None)
                for i, part in enumerate((*args, null)):
                    made = builder.insert_value(made, part, i)
                return made

            return kind(pointer, types.int64), generate

        return make

    return checked


def _limits(field: Any, value: Any) -> tuple[int, int]:
    """The least and the greatest integer of 64 bits with a sign that a field holds, for values of a type."""
    if field.signed:
        bits = field.bitwidth - 1
        least = -(1 << bits)
    else:
        bits, least = min(field.bitwidth, 63), 0
    return (0 if not value.signed else least), (1 << bits) - 1
