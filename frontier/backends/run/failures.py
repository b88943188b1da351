"""The errors that the host raises after a functor has raised in compiled code."""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frontier.compile import codes
from frontier.errors import FrontierError, FunctorError, RunTimeoutError
from frontier.functors.functor import location

__all__ = ["failure"]


def failure(
    functors: Sequence[Callable[..., Any]], words: Sequence[int], fields: Mapping[str, Any] | None = None
) -> FrontierError:
    """The error for what a run has reported.

    Parameters
    ----------
    functors : sequence of function
        Those of the program, by their numbers.
    words : sequence of int
        The counters' first words, see :mod:`frontier.compile.codes`.
    fields : mapping of str to array, optional
        Fields whose every access is checked, in the order of their numbers.
    """
    number, reason = words[codes.FAILED], words[codes.REASON]
    if not number:
        return FrontierError("a worker thread has left the run, for an unknown reason")
    where = location(functors[number - 1])
    if reason == codes.NOTHING:
        return FunctorError(f"{where} returned nothing, where a number was expected: return one on every path")
    if reason == codes.EXPIRED:
        return RunTimeoutError(f"{where} is not done at the end of the run's timeout=")
    if reason in (codes.OUTSIDE, codes.OVERFLOW):
        name, array = list((fields or {}).items())[words[codes.FIELD]]
        entry = f"p.{name}[{words[codes.INDEX]}]"
        if name.endswith("__"):
            entry = f"fr.neighbours or a sister of it: {name.removesuffix('__')}[{words[codes.INDEX]}]"
        if reason == codes.OUTSIDE and array.ndim == 2:
            entry, last = f"p.{name}[{words[codes.INDEX]}, {words[codes.NUMBER]}]", array.shape[1] - 1
            return FunctorError(f"{where}: {entry}: valid are 0..{len(array) - 1} and 0..{last}")
        if reason == codes.OUTSIDE:
            return FunctorError(f"{where}: {entry}: valid are 0..{len(array) - 1}")
        return FunctorError(f"{where}: {entry} = {words[codes.NUMBER]}: overflow, the field holds {array.dtype}")
    what = _exception(reason) if reason else ""
    return FunctorError(f"{where} raised {what or 'an exception'}: run it on g.to('python') to see {_open(what)}")


def _open(what: str) -> str:
    """What a message leaves open."""
    return "with which arguments" if what else "which, and where"


class _Info(ctypes.Structure):
    """numba's record of an exception: a tuple of its type, its arguments and its place, pickled."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("size", ctypes.c_int32), ("hash", ctypes.c_void_p),
        ("unwrap", ctypes.c_void_p), ("dynamic", ctypes.c_int32),
    )  # fmt: skip


def _exception(address: int) -> str:
    """The exception that is described at an address, as text; empty if that cannot be read."""
    info = _Info.from_address(address)
    try:
        kind, arguments, place = pickle.loads(ctypes.string_at(info.data, info.size))
        said = str(kind(*arguments))
    except Exception:  # of a class that cannot be found, or that wants other arguments: whatever the user has made
        return ""
    text = f"{kind.__name__}: {said}" if said else kind.__name__
    return f"{text} ({place[1]}:{place[2]})" if place else text
