"""The functors of loops with an order, as templates: see :mod:`frontier.operators.order.loops`.

``p.limit`` and similar names stand for a loop's own fields; ``p.key``, ``p.count`` and ``p.given`` stand for those that
its order and its ``count=`` name. :class:`frontier.operators.order.names.Names` substitutes the real names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "Tuning", "all_wait", "aside", "bucket_of", "counted", "first", "follow", "fresh_of", "given", "held_of",
    "key_of", "least", "limit_of", "lower", "lowest_of", "near_of", "new_of", "next_bucket", "one", "place_of",
    "place_width_of", "put", "rank_of", "take", "waiting", "waits", "width_of", "window", "work", "zero",
]  # fmt: skip

Functor = Callable[..., Any]


@dataclass(frozen=True)
class Tuning:
    """When the width of a limit changes: measured on R-MAT 20 and road-NE, and R-MAT 21 to 24 on one H200.

    Attributes
    ----------
    few, many : int
        Elements in a pass below which the limit widens, and above which it narrows.
    enough : int
        It does not widen while so many wait, and more than before: then a wave is coming that one wide limit would
        take too early. (On a GPU, uniform 23 takes 15 ms instead of 20: an edge is relaxed 1.1 times where it was 1.6
        times, on R-MAT 24 1.6 times where it was 1.9.)
    wider : int
        How many times wider than at first it may get.
    """

    few: int
    many: int
    enough: int
    wider: int


def near_of(key: Functor) -> Functor:
    """Below the limit, or of the least key: the limit is no higher where that is infinite, or swallows the width."""

    def near(p, v):
        found = key(p, v)
        return found < p.limit or found <= p.least

    return near


def held_of(key: Functor) -> Functor:
    """V is not near."""

    def held(p, v):
        found = key(p, v)
        return found >= p.limit and found > p.least

    return held


def lowest_of(key: Functor) -> Functor:
    """The key of v is not above the least key."""

    def lowest(p, v):
        return key(p, v) <= p.least

    return lowest


def fresh_of(key: Functor) -> Functor:
    """The key of v is not below the limit: v was not processed while it was pending."""

    def fresh(p, v):
        return key(p, v) >= p.limit

    return fresh


def place_of(key: Functor, count: int) -> Functor:
    """The number of its bucket, from 1 on; one more than there are buckets beyond the last."""

    def place(p, v):
        at = (key(p, v) - p.base) / p.width
        if at >= count:
            return count + 1.0
        return at + 1 if at > 0 else 1.0  # also of an infinite key and base

    return place


def bucket_of(key: Functor, count: int) -> Functor:
    """Number of the bucket relative to the current one; the highest number for keys beyond the last."""

    def bucket(p, v):
        at = (key(p, v) - p.base) / p.width
        return float(count) if at >= count else at - p.bucket

    return bucket


def rank_of(key: Functor, count: int) -> Functor:
    """0 for the least key, 1 for others of the bucket that is worked on or before; from 2 on the buckets after it."""

    def rank(p, v):
        found = key(p, v)
        at = (found - p.base) / p.width
        if at >= count:
            return count + 1.0
        if at >= p.bucket + 1:
            return at - p.bucket + 1
        return 0.0 if found <= p.least else 1.0

    return rank


def new_of(key: Functor) -> Functor:
    """V is not in an earlier bucket: it was not processed while it was pending."""

    def new(p, v):
        return not (key(p, v) - p.base) / p.width < p.bucket

    return new


def key_of(p, v):
    """The key that a field holds."""
    return p.key[v]


def aside(p, v):
    """Everyone waits."""
    return False


def waits(p, v):
    """V was not processed since it was put aside."""
    return p.waits[v]


def put(p, v):
    """It waits from now on."""
    p.waits[v] = True


def take(p, v):
    """It does not wait any more."""
    p.waits[v] = False


def one(p, v):
    """Every element counts."""
    return 1


def zero(p):
    """Counting begins anew."""
    return 0


def work(p):
    """Elements taken since the limit moved."""
    return p.work + p.batch


def waiting(p):
    """Number of pending elements, with which the next limit compares."""
    return p.waiting


def first(p):
    """The first width."""
    return p.first


def given(p):
    """The width that the user's scalar holds."""
    return p.given


def width_of(tuning: Tuning) -> Functor:
    """The width of the next limit: wider after passes of few elements each, narrower after many or if more wait."""
    few, many, enough, wider = tuning.few, tuning.many, tuning.enough, tuning.wider

    def width(p):
        mean = p.work / max(p.rounds, 1)
        if p.waiting >= enough and p.waiting > p.waited:
            return min(p.delta, p.first)
        if p.rounds > 0 and mean < few:
            return min(p.delta * 2, p.first * wider)
        if mean > many:
            return max(p.delta / 2, p.first / 4)
        return p.delta

    return width


def limit_of(least: float, rounding: float) -> Functor:
    """The next limit: above the least key, also where that is so large that it swallows the width."""

    def limit(p):
        return p.least + max(p.delta, least, p.least * rounding)

    return limit


def place_width_of(least: float, rounding: float) -> Functor:
    """The width of buckets: no less than the least key's rounding."""

    def width(p):
        return max(p.delta, least, p.least * rounding)

    return width


def next_bucket(p):
    """One bucket is empty."""
    return p.bucket + 1


def window(p):
    """The end of a window that begins at the least key."""
    return p.least + p.delta


def lower(p):
    """The least key, if what came in has a lower one."""
    return min(p.least, p.lower)


def least(p):
    """The least key."""
    return p.least


def follow(p):
    """The next limit of a loop whose elements wait in the frontier."""
    return p.limit + p.delta if 2 * p.waiting >= p.batch else p.limit


def all_wait(p):
    """No element was near, so the limit must be raised to the least key."""
    return p.waiting == p.batch


def counted(p):
    """One more pass."""
    return p.count + 1
