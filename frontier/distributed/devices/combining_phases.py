"""What an owner makes of an element that several GPUs have changed: :mod:`frontier.distributed.merge`, in kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.compile.codes import BLOCK_BITS
from frontier.distributed.devices.block_phases import WORDS, bit_of
from frontier.distributed.merge import operation
from frontier.lowering.kernels import Callee

if TYPE_CHECKING:
    from frontier.backends.cuda.device.names import uint32_at

__all__ = ["changers", "combining", "following"]


def changers(marked, parts, blocks, v):
    """Bits of the GPUs that have touched an element."""
    who = np.int64(0)
    for r in range(parts):
        told = uint32_at(marked[r])
        if told[WORDS * blocks + (v >> BLOCK_BITS)] != 0 and bit_of(np.uint32(told[v >> 5]), v & 31):
            who |= np.int64(1) << np.int64(r)
    return who


def combining(at: Callee, combine: str, dtype: str) -> Callable[..., Any]:
    """Return a function that makes one value of an element of what GPUs have made of it, in their order.

    ``who`` has the bits of the GPUs that have touched it.
    """
    if combine == "sum":
        return adding(at, dtype)
    made = operation(combine)
    combines = made is not None
    values: Any = None if made is None else made.values
    kind = np.dtype(dtype).type  # a union of short integers is a long one

    def bring(mine, fields, who, bases, rank, parts, blocks, v):
        value = mine[v]
        found = False
        for r in range(parts):
            if (who >> np.int64(r)) & 1 != 0:
                theirs = at(fields[r])[v]
                if not found:
                    value = theirs
                elif combines:
                    value = kind(values(value, theirs))
                found = True
        return value

    return bring


def adding(at: Callee, dtype: str) -> Callable[..., Any]:
    """Return what :func:`combining` does for sums: to a GPU's own value, what each other has added to its copy."""
    # Sums of short integers are long ones, and a variable has one type.
    wide = np.int64 if np.dtype(dtype).kind in "iu" else np.dtype(dtype).type

    def bring(mine, fields, who, bases, rank, parts, blocks, v):
        total = wide(mine[v])
        for r in range(parts):
            if r != rank and (who >> np.int64(r)) & 1 != 0:
                total += wide(at(fields[r])[v]) - wide(at(bases[r])[v])
        return total

    return bring


def following(at: Callee, lead: Callee, lead_at: Callee, mirrored: bool) -> Callable[..., Any]:
    """Return a function that gives the value of the GPU whose value of another field, the leader, has been chosen.

    That is the first GPU that has changed the leader to what ``lead`` makes of it, or, if no GPU has changed it, the
    first that has changed this field. Copies of a field that is not ``mirrored`` are old where they were not touched.
    """

    def bring(mine, fields, who, leader, rank, parts, blocks, v):
        led_by = changers(leader.marked, parts, blocks, v)
        chosen = lead(leader.mine, leader.fields, led_by, leader.bases, rank, parts, blocks, v)
        value = mine[v]
        led = False
        found = False
        for r in range(parts):
            touched = (who >> np.int64(r)) & 1 != 0
            wins = not led and (led_by >> np.int64(r)) & 1 != 0 and lead_at(leader.fields[r])[v] == chosen
            if (wins and (mirrored or touched)) or (touched and not (found or led)):
                value = at(fields[r])[v]
                found = True
            led = led or wins
        return value

    return bring
