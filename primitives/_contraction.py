"""The graph between communities, made by a program: on a GPU it is one launch, where a sort takes dozens.

The vertices of a community have as many edge slots as its table, in which the weights of edges to each other community
are added up; see :mod:`frontier.primitives._tables`. Tables lie side by side, so a scan of the slots that are taken
says where each entry goes. Rows are in the order of the tables, which differs from run to run on a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import frontier as fr
from frontier.primitives._tables import FREE, find

if TYPE_CHECKING:
    from frontier.program.problem import Field

__all__ = ["Contraction", "contraction"]


def occur(p, v):
    """Note that there is a community of this label."""
    p.occurs[p.label[v]] = 1


def occurs(p, v):
    """Whether there is one."""
    return p.occurs[v]


def join(p, v):
    """Give the community of v its number, and room for the edges of v."""
    group = p.number[p.label[v]]
    p.group[v] = group
    fr.atomic_add(p.room, group, fr.degree(p, v))


def room(p, v):
    """How many slots the table of a community has."""
    return p.room[v]


def inside(p, src, dst, weight):
    """The weight of an edge inside a community, which counts in one direction."""
    return weight if p.group[src] == p.group[dst] and src <= dst else 0


def has_inside(p, src, dst):
    """Whether there is such an edge, of whatever weight."""
    return p.group[src] == p.group[dst]


def add(p, group, other, weight):
    """Add to the weight of what leads from one community to another."""
    fr.atomic_add(p.sum, find(p, p.first[group], p.room[group], other), weight)


def add_inside(p, v):
    """Add the weight of the edges of v inside its community to a loop."""
    if p.within[v]:
        add(p, p.group[v], p.group[v], p.loop[v])


def add_between(p, src, dst, weight):
    """Add the weight of an edge to another community."""
    if p.group[src] != p.group[dst]:
        add(p, p.group[src], p.group[dst], weight)


def taken(p, edge):
    """Whether a slot of a table is taken."""
    return 1 if p.key[edge] != FREE else 0


def fill(p, edge):
    """Write an entry of a table to its row."""
    if p.key[edge] != FREE:
        p.target[p.place[edge]] = p.key[edge]
        p.weight[p.place[edge]] = p.sum[edge]


def begin(p, v):
    """Where the row of a community begins; of one without slots, where the next one does."""
    p.start[v] = p.place[p.first[v]] if p.first[v] < p.m else p.slots


class Contraction(fr.Enactor):
    """Number the communities, and add up the weights of edges between them, and of loops."""

    loop = fr.Sequence(
        fr.Compute(occur),
        fr.Scan(occurs, "number", total="count"),
        fr.Compute(join),
        fr.Scan(room, "first"),
        fr.Gather(inside, "sum", into="loop", edges="out"),
        fr.Gather(has_inside, "or", into="within", edges="out"),
        fr.Compute(add_inside),
        fr.Advance(add_between, output=None),
        fr.Scan(taken, "place", total="slots", over="edges"),
        fr.Compute(fill, over="edges"),
        fr.Compute(begin),
        over="vertices",
    )


def contraction(h: fr.Graph, label: Any) -> tuple[Any, fr.Graph]:
    """Return the number of each vertex's community, and the graph of which each community is a vertex.

    ``h`` has weights of int64, and labels are numbers of vertices. Communities are in the order of labels.
    """
    p = fr.Problem(h, **_fields(h, label))
    if h.num_vertices:
        Contraction(p).run()
    count, slots = int(p.count), int(p.slots)
    offsets = h.placement.memory.full(count + 1, slots, h.offsets.dtype)
    offsets[:count] = p.start[:count]
    rows = offsets, p.target[:slots].copy(), p.weight[:slots].copy()
    return p.group, fr.Graph(*rows, directed=h.directed, placement=h.placement, check=False)


def _fields(h: fr.Graph, label: Any) -> dict[str, Field]:
    ids = h.id_dtype
    return {
        "label": fr.vertex(ids, label, copy=False),
        "occurs": fr.vertex("int8"),
        "number": fr.vertex(ids),
        "group": fr.vertex(ids),
        "room": fr.vertex("int64"),
        "first": fr.vertex("int64"),
        "start": fr.vertex("int64"),
        "loop": fr.vertex("int64"),
        "within": fr.vertex("bool"),
        "key": fr.edge(ids, FREE),
        "sum": fr.edge("int64"),
        "place": fr.edge(h.offsets.dtype),
        "target": fr.edge(ids),
        "weight": fr.edge("int64"),
        "count": fr.scalar("int64"),
        "slots": fr.scalar("int64"),
        "m": fr.scalar("int64", h.num_slots),
    }
