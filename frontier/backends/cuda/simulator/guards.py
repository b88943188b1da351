"""Calls of functors that may raise, in the simulator of kernels; see :mod:`frontier.compile.functors.guards`.

They leave the same records for the host as compiled code does, so that the same path is tested.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import ATTENTION, COUNT, ERROR
from frontier.backends.cuda.simulator.fields import Outside
from frontier.compile import codes

__all__ = ["GUARDS", "Refused"]


class Refused(Exception):
    """A functor, given by its number, does what a compiler would usually have refused."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _called(fn: Callable[..., Any], C: Any, number: int, args: tuple[Any, ...], value: bool) -> tuple[Any, bool]:
    """The result, and whether it raised."""
    reason, note = 0, [0, 0, 0]
    try:
        result = fn(*args)
        if result is not None or not value:
            return result, False
        reason = codes.NOTHING
    except threading.BrokenBarrierError:  # another thread has ended all of them
        raise
    except (AttributeError, NameError, TypeError) as error:
        raise Refused(number) from error
    except Outside as error:
        reason, *note = error.args
    except Exception:  # whatever a functor raises
        pass
    if C[codes.FAILED] == 0:
        C[codes.FAILED], C[codes.REASON] = number + 1, reason
        C[codes.FIELD], C[codes.INDEX], C[codes.NUMBER] = note
    return 0, True


def _wide(value: Any) -> Any:
    """Functors get integers as int64."""
    return np.int64(value) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else value


def _guards(bits: dict[int, int]) -> SimpleNamespace:
    def in_decision(value: bool) -> Callable[..., Any]:
        return lambda fn, C, number, *args: _called(fn, C, number, args, value)

    def calling(
        functor: Callable[..., Any], number: int, order: tuple[int, ...], value: bool, problem: bool = True
    ) -> Callable[..., Any]:
        def call(p: Any, C: Any, slot: Any, *ends: Any) -> Any:
            given = tuple(_wide(ends[i]) for i in order)
            result, failed = _called(functor, C, number, (p, *given) if problem else given, value)
            if failed:
                for word, bit in bits.items():
                    C[slot + word] = int(C[slot + word]) | bit
            return result

        return call if problem else partial(call, None)

    return SimpleNamespace(calling=calling, tried=in_decision(False), tried_value=in_decision(True))


_BITS = {ERROR: codes.FUNCTOR_FAILED}
GUARDS = {False: _guards(_BITS), True: _guards({**_BITS, COUNT: ATTENTION})}
