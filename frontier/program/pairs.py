"""Pairs of fields: one of keys that only fall (or rise), and one that goes along with it, ``with_=`` the first.

A functor gives both in one call, ``fr.atomic_min(p.distance, dst, new, src)``, and whoever reads them later finds two
values that belong together. Backends that compile do this by atomics on a word of 64 bits if both fields have 32
bits; there their arrays lie in each other's gaps. Wider ones are changed under a lock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from frontier.memory.base import Memory
    from frontier.program.problem import Field

__all__ = ["Pair", "apart", "pair_fillers", "pairs_of", "side_by_side", "why_none"]


class Pair(NamedTuple):
    """Names of two fields, how the key changes (``"min"`` or ``"max"``), and whether both fit into one word."""

    key: str
    other: str
    combine: str
    word: bool


def pairs_of(fields: Mapping[str, Field]) -> tuple[Pair, ...]:
    """The pairs among a problem's fields."""
    found = []
    for name, field in fields.items():
        key = field.with_
        if key is not None and key in fields and not _obstacle(fields[key], field):
            found.append(Pair(key, name, fields[key].combine or "", _bits(fields[key]) == _bits(field) == 32))
    return tuple(found)


def _obstacle(key: Field, other: Field) -> str:
    """Why two fields are no pair; empty if they are one."""
    if key.combine not in ("min", "max"):
        return "the latter is declared without combine='min' or combine='max'"
    if key.kind != other.kind:
        return "they are of different kinds"
    for field in (key, other):
        if _bits(field) not in (32, 64):
            return f"{field.dtype} has neither 32 nor 64 bits"
    return ""


def _bits(field: Field) -> int:
    return 0 if field.dtype is None else 8 * field.dtype.itemsize


def why_none(fields: Mapping[str, Field], key: str) -> str:
    """Why no field goes along with one, in words."""
    others = [name for name, field in fields.items() if field.with_ == key]
    if not others:
        return f"no field goes along with p.{key}: declare one with_={key!r}"
    return f"p.{others[0]} cannot go along with p.{key}: {_obstacle(fields[key], fields[others[0]])}"


def side_by_side(memory: Memory, before: tuple[Any, Any]) -> tuple[Any, Any]:
    """Two arrays with the elements of two others, each in the other's gaps.

    Entry v of both is one word, with the key in its upper half.
    """
    words = memory.full(2 * len(before[0]), 0, np.dtype(np.int32))
    made = words[1::2].view(before[0].dtype), words[::2].view(before[1].dtype)
    for array, values in zip(made, before, strict=True):
        array[...] = values
    return made


def pair_fillers(memory: Memory, key: Any, other: Any, first: Any, second: Any) -> list[Callable[[], Any]]:
    """Return calls that give all elements of two arrays side by side two values, in one pass over their words."""
    words = key.base
    if words is None or words.nbytes != 2 * key.nbytes:
        return [memory.filler(key, first), memory.filler(other, second)]
    return [memory.filler(words.view(np.int64), _word(first, second, key.dtype, other.dtype))]


def _word(first: Any, second: Any, key: np.dtype[Any], other: np.dtype[Any]) -> int:
    """The word of two values, the first in its upper half."""
    halves = np.array(second, other).tobytes() + np.array(first, key).tobytes()
    return int(np.frombuffer(halves, np.int64)[0])


def apart(key: Any, other: Any) -> bool:
    """Whether two arrays do not lie so, as after a copy."""
    first, second = _where(key), _where(other)
    steps = first["strides"] == second["strides"] == (8,)
    return not (steps and first["data"][0] - second["data"][0] == 4)


def _where(array: Any) -> Any:
    return array.__array_interface__ if isinstance(array, np.ndarray) else array.__cuda_array_interface__
