"""The colouring of :mod:`primitives.color` by gathers, for everything but a whole graph on a GPU.

A gather collects the colours around a vertex as bits of one number, 62 colours at a time. That takes fewer atomics than
telling neighbours, and sets no bits at vertices that other parts of a graph own.
"""

from __future__ import annotations

from typing import Any

import frontier as fr
from frontier.primitives._greedy import FULL, WINDOW, earlier, highest, least_free, rank
from frontier.primitives._ranked import before

__all__ = ["ColoringGathered", "ColoringInOrder", "fields"]


def waits(p, v):
    """V must wait for a neighbour; the others are ready."""
    return p.waits[v] > 0


def bit(p, src, dst):
    """The bit of a neighbour's colour, if that lies in the window that dst looks at."""
    place = p.color[src] - p.base[dst]
    return 1 << place if p.color[src] >= 0 and 0 <= place < WINDOW and src != dst else 0


def paint_gathered(p, v):
    """Give v the least colour that is free in its window; false if none is, and v looks at the next one."""
    if p.around[v] == FULL:
        p.base[v] += WINDOW
        return False
    p.color[v] = p.base[v] + least_free(p.around[v])
    return True


def release_any(p, src, dst):
    """A neighbour that comes later waits for one less."""
    if src == dst or not before(p, src, dst):
        return False
    fr.atomic_add(p.waits, dst, -1)
    return True


#: Colour the vertices by ``rank``, ties by id.
_BY_RANK = (
    fr.Gather(earlier, "sum", into="waits", over="vertices"),
    fr.Sequence(fr.Split(waits, rest="ready"), over="vertices"),
    fr.Loop(
        fr.Gather(bit, "or", into="around"),
        fr.Split(paint_gathered, rest="ready"),
        fr.Advance(release_any),
        fr.Split(waits, rest="ready"),
        take="ready",
        count="rounds",
    ),
    fr.Reduce(highest, "max", into="count", over="vertices"),
)


class ColoringGathered(fr.Enactor):
    """A vertex gathers the colours of its neighbours; the pile ``ready`` holds those that can be coloured now."""

    loop = (fr.Compute(rank, over="vertices"), *_BY_RANK)


class ColoringInOrder(fr.Enactor):
    """The same with ranks that are given."""

    loop = _BY_RANK


def fields(g: fr.Graph, ranks: Any = None) -> dict[str, Any]:
    """Ranks, what is around a vertex, and how many neighbours it waits for."""
    return {
        "rank": fr.vertex("int16") if ranks is None else fr.vertex("int64", ranks),
        "waits": fr.vertex(g.offsets.dtype, combine="sum"),
        "around": fr.vertex("int64"),
        "base": fr.vertex("int64"),
        "ready": fr.pile(),
    }
