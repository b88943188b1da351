"""Weights of edges to communities, added up edge by edge, for hubs on a GPU.

In :mod:`primitives._communities` one call goes through all edges of a vertex; if that is a hub, all others wait for it.
Here a call is an edge. It adds its weight, by an atomic, to the sum of its community in the vertex's table. Then each
slot of the table is valued, a gather finds the best value, and another the least label that has it.

A table has as many slots as the vertex has edges, and in the first round every neighbour is a community of its own. In
a table that is full to the last slot, the last value tries half of all slots, one after another. So a neighbour that
is alone in its community, and therefore the only one that adds to its sum, is not entered: its edge is marked, and
valued as it is. Collisions go to a slot at a distance that depends on the value (double hashing).
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
    p.alone[edge] = 0


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
    """Add the weight of an edge to the sum of its community, or mark an edge to a neighbour that is alone."""
    label = p.label[dst]
    if label == p.label[src]:
        if src != dst:
            fr.atomic_add(p.within, src, weight)
    elif p.size[label] == 1:
        p.alone[edge] = 1
    else:
        slots = fr.neighbours(p, src)
        fr.atomic_add(p.sum, claimed(p, slots.start, slots.stop - slots.start, label), weight)


def tallied(value: Callable[..., Any], enough: Callable[..., Any]) -> tuple[Step, ...]:
    """Return steps that set ``most`` and ``best``, the best value of a community and the least label that has it.

    ``value(p, v, label, sum)`` says what a community is worth to which v has edges of so much weight. Of a vertex for
    which the best one is not ``enough(p, v)``, it is not asked which community that is.
    """

    def worth(p, src, dst, edge, weight):
        most = value(p, src, p.key[edge], p.sum[edge]) if p.key[edge] != FREE else -np.inf
        return max(most, value(p, src, p.label[dst], weight)) if p.alone[edge] else most

    def candidate(p, src, dst, edge, weight):
        label = p.key[edge] if p.key[edge] != FREE else NOBODY
        if label != NOBODY and value(p, src, label, p.sum[edge]) != p.most[src]:
            label = NOBODY
        if p.alone[edge] and p.label[dst] < label and value(p, src, p.label[dst], weight) == p.most[src]:
            label = p.label[dst]
        return label

    return (
        fr.Advance(empty, output=None),
        fr.Advance(add, output=None),
        fr.Gather(worth, "max", into="most", edges="out"),
        fr.Filter(enough),
        fr.Gather(candidate, "min", into="best", edges="out"),
    )


def fields_of_tallies() -> dict[str, Any]:
    """Return the fields for it."""
    found = {"within": fr.vertex("int64"), "most": fr.vertex("float64"), "best": fr.vertex("int64")}
    return {"alone": fr.edge("int8"), "due": fr.pile(), **found}
