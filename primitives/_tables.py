"""A hash table for each vertex: what occurs how often, or with how much weight, among its neighbours.

The table of a vertex with d edges is its d slots in edge fields, so the tables of all vertices fit in arrays of the
size of the graph. It never overflows, because a vertex cannot see more different values than it has edges. Collisions
go to the next slot (linear probing). Filling a table takes O(d) expected time where values repeat, and O(d sqrt(d)) if
all are different (Knuth: The art of computer programming, volume 3, 1998, section 6.4).
"""

from __future__ import annotations

import frontier as fr
from frontier.graph.graph import Graph
from frontier.primitives._oriented import undivided
from frontier.program.schedule import Schedule

__all__ = ["FREE", "clear", "find", "in_one_piece"]

#: What a slot holds that no value has taken.
FREE = -1


def clear(p, v):
    """Empty the table of a vertex."""
    for slot in fr.neighbours(p, v):
        p.key[slot] = FREE


def find(p, first, size, value):
    """Return the slot of a value >= 0 in the table of ``size`` slots from ``first`` on; a new one takes a free slot."""
    slot = first + (((fr.hash(value) & 0x7FFFFFFF) * size) >> 31)
    while True:
        held = p.key[slot]
        if held == FREE:
            # An atomic, though a table has one owner: it declares that the slot is claimed by this call.
            held = fr.atomic_cas(p.key, slot, FREE, value)
            if held == FREE:
                return slot
        if held == value:
            return slot
        slot += 1
        if slot == first + size:
            slot = first


def in_one_piece(g: Graph, schedule: Schedule | None) -> tuple[Graph, Schedule | None]:
    """Return a graph in parts as a whole, as no part may claim slots that depend on what it finds there.

    Each process runs the program, or the first of several GPUs does. Processes must find the same, so they run it with
    one thread each.
    """
    if not g.placement.divides:
        return g, schedule
    if g.placement.massively_parallel:
        return g.to(f"cuda{g.placement.memory.part}"), schedule
    return undivided(g), (schedule or Schedule()).replace(deterministic=True)
