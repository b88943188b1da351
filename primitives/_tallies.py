"""Weights of edges to communities, added up edge by edge, for hubs on a GPU.

In :mod:`primitives._communities` one call goes through all edges of a vertex; if that is a hub, all others wait for it.
Here a call is an edge. It adds its weight, by an atomic, to the sum of its community in the vertex's table. Then each
slot of the table is valued, a gather finds the best value, and another the least label that has it.

A table has as many slots as the vertex has edges, and in the first round every neighbour is a community of its own.
Collisions go to a slot at a distance that depends on the value (double hashing), so that filling all d slots takes
about log d probes a value, where the next free slot would be up to sqrt(d) away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import frontier as fr
from frontier.primitives._tables import FREE
from frontier.program.step import Step

__all__ = ["LARGE", "fields_of_tallies", "large", "tallied"]

#: Degree from which the edges of a vertex are walked by several lanes.
LARGE = 32

#: More than any label.
NOBODY = 2**62


def large(p, v):
    """Whether v has so many edges that several lanes walk them; it has no weight within its community yet."""
    p.within[v] = 0
    return fr.degree(p, v) >= LARGE


def empty(p, edge):
    """Empty a slot of the table."""
    p.key[edge] = FREE
    p.sum[edge] = 0


def claimed(p, first, size, value):
    """Return the slot of a value >= 0 in the table of ``size`` slots from ``first`` on, which several calls fill."""
    number = fr.hash(value)
    at = ((number & 0x7FFFFFFF) * size) >> 31
    ahead = 1 + ((((number >> 31) & 0x7FFFFFFF) * (size - 1)) >> 31)
    begin = at
    while True:
        held = p.key[first + at]
        if held == FREE:
            held = fr.atomic_cas(p.key, first + at, FREE, value)
        if held in (FREE, value):
            return first + at
        at += ahead
        if at >= size:
            at -= size
        if at == begin:  # the distance and the size have a common divisor: go on beside the slots seen
            begin += 1
            if begin == size:
                begin = 0
            at = begin


def add(p, src, dst, edge, weight):
    """Add the weight of an edge to the sum of its community."""
    label = p.label[dst]
    if label != p.label[src]:
        slots = fr.neighbours(p, src)
        fr.atomic_add(p.sum, claimed(p, slots.start, slots.stop - slots.start, label), weight)
    elif src != dst:
        fr.atomic_add(p.within, src, weight)


def tallied(value: Callable[..., Any]) -> tuple[Step, ...]:
    """Return steps that set ``most`` and ``best``, the best value of a community and the least label that has it.

    ``value(p, v, slot)`` says what the community in a slot of v's table is worth.
    """

    def worth(p, src, edge):
        return value(p, src, edge) if p.key[edge] != FREE else -np.inf

    def candidate(p, src, edge):
        return p.key[edge] if p.key[edge] != FREE and value(p, src, edge) == p.most[src] else NOBODY

    return (
        fr.Advance(empty, output=None),
        fr.Advance(add, output=None),
        fr.Gather(worth, "max", into="most", edges="out"),
        fr.Gather(candidate, "min", into="best", edges="out"),
    )


def fields_of_tallies(sums: str) -> dict[str, Any]:
    """Return the fields for it, where sums have this dtype."""
    return {"within": fr.vertex(sums), "most": fr.vertex("float64"), "best": fr.vertex("int64"), "due": fr.pile()}
