"""Shortest paths as declared programs, with limits that let near vertices go before far ones.

``SSSP`` is delta-stepping in the form of Davidson, Baxter, Garland and Owens (Work-efficient parallel GPU methods for
single-source shortest paths, IPDPS 2014), as in Gunrock 0.x: vertices nearer than a limit are relaxed until there are
no more, the others wait in the far pile; then the limit moves on. The limit starts at the nearest waiting vertex, so
empty stretches are skipped, and its width adapts to how many vertices the rounds before had, on a GPU also to how many
wait (after ADDS; Wang, Fussell, Lin, PPoPP 2021).

``Sliding`` is for graphs without long lists on a GPU, where a round must be one pass: vertices that are not nearer than
the limit wait in the frontier itself, and the limit follows the wave of the search.
"""

from __future__ import annotations

from typing import Any

import frontier as fr
from frontier.primitives import _packed

__all__ = ["SSSP", "PackedSSSP", "PackedSliding", "Sliding", "distance", "fresh", "near", "relax"]


def relax(p, src, dst, weight):  # type: ignore[no-untyped-def]
    """Offer dst a shorter way through src."""
    new = p.distance[src] + weight
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


def near(p, v):  # type: ignore[no-untyped-def]
    """Nearer than the limit."""
    return p.distance[v] < p.limit


def fresh(p, v):  # type: ignore[no-untyped-def]
    """Not nearer than the limit: not settled while it waited."""
    return p.distance[v] >= p.limit


def distance(p, v):  # type: ignore[no-untyped-def]
    """How far the vertex is."""
    return p.distance[v]


def one(p, v):  # type: ignore[no-untyped-def]
    """Every vertex counts."""
    return 1


def count(p):  # type: ignore[no-untyped-def]
    """Vertices relaxed since the limit moved."""
    return p.work + p.batch


def width(p):  # type: ignore[no-untyped-def]
    """The width of the next limit: wider after rounds of few vertices each, narrower after many or if more wait."""
    mean = p.work / max(p.rounds, 1)
    if p.waiting >= p.enough and p.waiting > p.waited:
        return min(p.delta, p.first)
    if p.rounds > 0 and mean < p.few:
        return min(p.delta * 2, p.widest)
    if mean > p.many:
        return max(p.delta / 2, p.first / 4)
    return p.delta


def waiting(p):  # type: ignore[no-untyped-def]
    """How many wait now, for the next limit to compare with."""
    return p.waiting


def widen(p):  # type: ignore[no-untyped-def]
    """The next limit: above the lowest distance, also where that is so large that it swallows delta."""
    return p.lowest + max(p.delta, p.least, p.lowest * p.rounding)


def follow(p):  # type: ignore[no-untyped-def]
    """The next limit of a search whose vertices wait in the frontier."""
    return p.limit + p.delta if 2 * p.waiting >= p.batch else p.limit


def all_wait(p):  # type: ignore[no-untyped-def]
    """Nobody was near: the limit must leap."""
    return p.waiting == p.batch


def zero(p):  # type: ignore[no-untyped-def]
    """Counting begins anew."""
    return 0


class SSSP(fr.Enactor):
    """Distances from the vertices in the pile ``far``."""

    loop = fr.Loop(
        fr.Filter(fresh),
        fr.Reduce(distance, "min", into="lowest"),
        fr.Reduce(one, "sum", into="waiting"),
        fr.Set(delta=width, waited=waiting, rounds=zero, work=zero),
        fr.Set(limit=widen),
        fr.Split(near, rest="far"),
        fr.Loop(
            fr.Reduce(one, "sum", into="batch"),
            fr.Set(work=count),
            fr.Advance(relax),
            fr.Split(near, rest="far"),
            count="rounds",
        ),
        take="far",
    )


class Sliding(fr.Enactor):
    """Distances from the vertices in the pile ``far``, by one pass a round: who is not nearer than the limit waits.

    The limit moves on only where it holds up at least half of a frontier, so it stays close behind the wave of the
    search, however fast that is. In a model of synchronous rounds on road networks and grids it takes a fifth more
    rounds than a search without limits (Bellman and Ford), and visits a vertex one to five times instead of up to 400.
    """

    loop = (
        fr.Take("far"),
        fr.Loop(
            fr.Reduce(distance, "min", into="lowest"),
            fr.Set(limit=widen),
            fr.Loop(
                fr.Reduce(one, "sum", into="batch"),
                fr.Advance(relax, hold=fresh, held="waiting"),
                fr.Set(limit=follow),
                until=all_wait,
            ),
        ),
    )


_PACKED: dict[Any, Any] = {relax: _packed.relax, distance: _packed.distance}
_UNPACK = fr.Reduce(_packed.unpack, "max", into="top", over="vertices")


class PackedSSSP(fr.Enactor):
    """As SSSP, with parents, in the words of the field ``best``."""

    loop = (SSSP.program().but(_PACKED | {near: _packed.near, fresh: _packed.fresh}), _UNPACK)


class PackedSliding(fr.Enactor):
    """As Sliding, with parents, in the words of the field ``best``."""

    loop = (Sliding.program().but(_PACKED | {fresh: _packed.fresh}), _UNPACK)
