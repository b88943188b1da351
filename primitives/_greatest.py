"""A loop that finds the elements with the greatest keys, without sorting.

The keys are integers, in the field ``key``. Each pass halves the range of the keys that are left. If no more elements
than are wanted lie in the upper half, they are found, and the search goes on below; otherwise it goes on among them. So
there are at most as many passes as a key has bits. If all keys that are left are equal, ids take their place.
"""

from __future__ import annotations

import frontier as fr
from frontier.program.problem import Field

__all__ = ["greatest", "greatest_fields"]


def key(p, v):
    """What elements are compared by."""
    return p.key[v]


def middle(p):
    """The first key of the upper half."""
    return p.low + (p.high - p.low + 1) // 2


def upper(p, v):
    """1 if v is in the upper half."""
    return 1 if p.key[v] >= p.middle else 0


def waits(p, v):
    """False for those that are found, which go to the pile."""
    return p.key[v] < p.middle or p.many > p.wanted


def goes_on(p, v):
    """Whether v may still be among the greatest: in the lower half if the upper one is not enough, else in that."""
    return p.many < p.wanted if p.key[v] < p.middle else 0 < p.wanted < p.many


def left(p):
    """How many are wanted still."""
    return p.wanted - p.many if p.many <= p.wanted else p.wanted


def by_id(p, v):
    """Of elements with equal keys, the least ids come first."""
    if p.low == p.high:
        p.key[v] = -v


def greatest(pile: str) -> fr.Loop:
    """Move the ``p.wanted`` vertices of the frontier with the greatest keys to a pile; all, if there are no more."""
    return fr.Loop(
        fr.Reduce(key, "min", into="low"),
        fr.Reduce(key, "max", into="high"),
        fr.Set(middle=middle),
        fr.Reduce(upper, "sum", into="many"),
        fr.Split(waits, rest=pile),
        fr.Filter(goes_on),
        fr.Compute(by_id),
        fr.Set(wanted=left),
    )


def greatest_fields() -> dict[str, Field]:
    """Return the fields that the loop uses."""
    return {
        "key": fr.vertex("int64"),
        **{name: fr.scalar("int64") for name in ("wanted", "low", "high", "middle", "many")},
    }
