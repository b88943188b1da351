"""Calls of functors that may raise, on the GPU; see :mod:`frontier.backends.guards`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from numba import types
from numba.cuda.extending import intrinsic

from frontier.backends.codes import FUNCTOR_FAILED
from frontier.backends.cuda.runtime_words import ATTENTION, COUNT, ERROR
from frontier.backends.guards import Call, Guard

__all__ = ["GUARDS"]


def _intrinsic(guard: Guard) -> Any:
    @intrinsic
    def guarded(typingctx, fn, *args):
        call = Call(typingctx, fn, args[guard.words :], guard.value)
        kinds = [args[0], *(types.int64 for _ in range(guard.words - 1)), *call.signature.args]

        def generate(context, builder, signature, given):
            parts = [builder.extract_value(given[1], i) for i in range(len(kinds))]
            return guard.generate(call, context, builder, parts[: guard.words], parts[guard.words :])

        return guard.type(call)(fn, types.BaseTuple.from_types(kinds)), generate

    return guarded


def _calling(bits: dict[int, int]) -> Any:
    """Return what makes ``call(p, C, slot, *ends)``, see :class:`frontier.lowering.kernels.FunctorCall`."""

    def calling(functor: Any, number: int, order: tuple[int, ...], value: bool, problem: bool = True) -> Any:
        guard = Guard(bits, value)
        if not problem:
            return _without_problem(guard, functor, number)

        @intrinsic
        def call(typingctx, p, C, slot, *ends):
            kinds = [types.unliteral(each) for each in ends]
            # Functors get integers as int64.
            taken = [types.int64 if isinstance(kinds[i], types.Integer) else kinds[i] for i in order]
            call = Call(typingctx, typingctx.resolve_value_type(functor), (p, *taken), value)

            def generate(context, builder, signature, given):
                parts = [(p, given[0])]
                parts += [(kinds[i], builder.extract_value(given[3], i)) for i in order]
                wanted = zip(parts, call.signature.args, strict=True)
                cast = [context.cast(builder, part, kind, kind_) for (kind, part), kind_ in wanted]
                words = [given[1], given[2], context.get_constant(types.int64, number)]
                return guard.generate(call, context, builder, words, cast)

            return call.type(p, C, types.int64, types.BaseTuple.from_types(kinds)), generate

        return call

    return calling


def _without_problem(guard: Guard, functor: Any, number: int) -> Any:
    """What makes ``call(C, slot, *ends)``, for a function that takes no problem and all of its ends, in their order."""

    @intrinsic
    def call(typingctx, C, slot, *ends):
        kinds = [types.unliteral(each) for each in ends]
        call = Call(typingctx, typingctx.resolve_value_type(functor), tuple(kinds), guard.value)

        def generate(context, builder, signature, given):
            parts = [builder.extract_value(given[2], i) for i in range(len(kinds))]
            wanted = zip(kinds, call.signature.args, parts, strict=True)
            cast = [context.cast(builder, part, kind, kind_) for kind, kind_, part in wanted]
            words = [given[0], given[1], context.get_constant(types.int64, number)]
            return guard.generate(call, context, builder, words, cast)

        return call.type(C, types.int64, types.BaseTuple.from_types(kinds)), generate

    return call


def _guards(bits: dict[int, int]) -> SimpleNamespace:
    return SimpleNamespace(
        calling=_calling(bits),
        tried=_intrinsic(Guard(None, value=False)), tried_value=_intrinsic(Guard(None, value=True)),
    )  # fmt: skip


_BITS = {ERROR: FUNCTOR_FAILED}

#: Calls of functors by whether the word of the count also says that other words are to be read (``ATTENTION``).
GUARDS = {False: _guards(_BITS), True: _guards({**_BITS, COUNT: ATTENTION})}
