"""Calls of functors in compiled code that always return to the caller, even if the functor raises, on any target.

In numba, an exception is a status that every caller passes on by returning at once. A worker that returned from the
loop function would be missing at the next barrier, and the others would wait for it forever. So functors are called by
the functions here. If the functor raises, they record that where all workers see it after the barrier of the phase, and
return 0; then all workers return together. If LLVM can prove that a functor does not raise, it removes all of this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError

from frontier.compile import codes
from frontier.compile.functors.checks import noted, with_note

__all__ = ["Call", "Guard"]

_I64 = ir.IntType(64)


def _word(number: int) -> Any:
    return ir.Constant(_I64, number)


@dataclass(frozen=True)
class Guard:
    """A way to call functors.

    In phases, ``guard(functor, C, slot, number, ...)`` gives the result. Where it is decided what comes next,
    ``guard(functor, C, number, ...)`` gives the result and whether it raised, on which the caller acts at once.

    Attributes
    ----------
    bits : dict of int to int, or None
        Words of a phase's slot, and the bits to set there if a functor raises; None in decisions.
    value : bool
        Whether it is an error if nothing is returned.
    timed : bool
        Whether checked functors stop at the moment that the counters say.
    """

    bits: dict[int, int] | None
    value: bool
    timed: bool = False

    @property
    def words(self) -> int:
        """Number of arguments between the functor and its own: the counters, the slot, the functor's number."""
        return 2 if self.bits is None else 3

    def generate(self, call: Call, context: Any, builder: Any, words: list[Any], given: list[Any]) -> Any:
        """Write the call, for arguments of the types that the functor's signature has."""
        counters, number = words[0], words[-1]
        until = self._until(builder, counters) if self.timed else None
        result, failed, reason, note = call.generate(context, builder, given, until)
        with builder.if_then(failed, likely=False):
            self._report(builder, counters, number, reason, note)
            for word, value in (self.bits or {}).items():
                there = builder.gep(counters, [builder.add(words[1], _word(word))])
                builder.atomic_rmw("or", there, _word(value), "monotonic")
        if self.bits is not None:
            return result
        return context.make_tuple(builder, self.type(call), [result, failed])

    def _until(self, builder: Any, counters: Any) -> tuple[Any, Any]:
        moment, failed = (builder.load(builder.gep(counters, [_word(at)])) for at in (codes.EXPIRES, codes.FAILED))
        return moment, builder.icmp_unsigned("!=", failed, _word(0))

    def type(self, call: Call) -> Any:
        """Type of what :meth:`generate` gives."""
        return call.type if self.bits is not None else types.Tuple((call.type, types.boolean))

    def _report(self, builder: Any, counters: Any, number: Any, reason: Any, note: Any) -> None:
        """Record which functor failed, if none has been recorded yet."""
        there = builder.gep(counters, [_word(codes.FAILED)])
        new = builder.add(number, _word(1))
        pair = builder.cmpxchg(there, _word(0), new, "monotonic", "monotonic")
        first = builder.icmp_unsigned("==", builder.extract_value(pair, 0), _word(0))
        with builder.if_then(first):
            if note is not None:
                found, *rest = noted(builder, note)
                reason = builder.select(builder.icmp_unsigned("!=", found, _word(0)), found, reason)
                for i, word in enumerate(rest):
                    builder.store(word, builder.gep(counters, [_word(codes.FIELD + i)]))
            builder.store(reason, builder.gep(counters, [_word(codes.REASON)]))


class Call:
    """One call of a functor, typed.

    Attributes
    ----------
    signature : Signature
    type : numba type
        Of the result, in which nothing counts as 0, which is no.
    """

    def __init__(self, typing: Any, fn: Any, args: tuple[Any, ...], value: bool) -> None:
        self._fn, self._value = fn, value
        self.signature = fn.get_call_type(typing, args, {})
        returned = self.signature.return_type
        if value and isinstance(returned, types.NoneType):
            raise TypingError("the functor returns nothing, where a number was expected")
        self.type = returned.type if isinstance(returned, types.Optional) else returned

    def generate(self, context: Any, builder: Any, given: list[Any], until: Any) -> tuple[Any, Any, Any, Any]:
        """The result (0 if it raised), whether it raised, the reason, and what is noted of checked fields."""
        given, note = with_note(builder, self.signature.args, given, until)
        made = self._fn.dispatcher.overloads[tuple(self.signature.args)]
        status, result = context.call_internal_no_propagate(builder, made.fndesc, self.signature, given)
        context.active_code_library.add_linking_library(made.library)
        reason = _word(0)
        if status.excinfoptr is not None:  # on the CPU
            pointer = builder.ptrtoint(status.excinfoptr, _I64)
            reason = builder.select(status.is_user_exc, pointer, _word(0))
        failed = status.is_error
        if self._value and isinstance(self.signature.return_type, types.Optional):
            failed = builder.or_(failed, status.is_none)
            reason = builder.select(status.is_none, _word(codes.NOTHING), reason)
        return result, failed, reason, note
