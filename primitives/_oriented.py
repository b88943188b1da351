"""Simple graphs, and their orientation by degree: what all counting of triangles begins with.

Vertices are numbered by descending degree, ties by id, and every edge is kept in one direction: to the endpoint with
the smaller number, which has the higher degree. A triangle then has exactly one vertex from which two of its edges lead
away, so it is found once. The list of a hub is short, because few vertices have a higher degree: no list has more than
sqrt(2m) entries (Chiba, Nishizeki: Arboricity and subgraph listing algorithms, SIAM Journal on Computing 14, 1985;
Latapy: Main-memory triangle computations for very large (sparse (power-law)) graphs, Theoretical Computer Science 407,
2008). Since most entries of lists are hubs, which have small numbers, lists are also close together in what they hold.
Where all lists are short, vertices keep their ids as numbers, and lists their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import frontier as fr
from frontier.graph.graph import Graph
from frontier.graph.in_parts import check_alike, in_parts
from frontier.memory.arrays import is_device, matching

if TYPE_CHECKING:
    from frontier.program.schedule import Schedule

__all__ = [
    "SLOT", "Oriented", "at_hand", "canonical", "on_every_rank", "oriented", "repeated", "simple", "slots_in",
    "supports", "undivided", "with_slots",
]  # fmt: skip

#: The edge column with the slots of the graph that was oriented.
SLOT = "slot"


class Oriented(NamedTuple):
    """A simple graph with one direction of each edge; vertex v has the number ``rank[v]`` there."""

    graph: Graph
    rank: Any

    def there(self, values: Any) -> Any:
        """Return values of the vertices of the graph that was oriented in the order of the vertices of this one."""
        made = values.copy()
        made[self.rank] = values
        return made

    def back(self, values: Any) -> Any:
        """The reverse of :meth:`there`."""
        return values[matching(self.rank, values) if is_device(values) else self.rank]


def simple(g: Graph) -> Graph:
    """Return the graph without directions, self-loops and parallel edges, where g is; g itself if it has none."""
    if not g.directed and g.cached("simple", lambda: not bool(_superfluous(at_hand(g)).any())):
        return g
    here = at_hand(g)
    made = fr.from_edges(here.sources, here.targets, num_vertices=g.num_vertices, self_loops="drop")
    return made.to(g.placement)


def oriented(g: Graph, *, slots: bool = False) -> Oriented:
    """Orient a simple graph by degree; with the edge column ``slot``, the slot of each edge in g, if asked for."""
    here = at_hand(g)
    xp, n = here.placement.memory.xp, g.num_vertices
    numbers = xp.arange(n, dtype=here.id_dtype)
    if g.traits.short_lists:
        return Oriented(_by_ids(here, slots).to(g.placement), numbers)
    rank = xp.empty(n, here.id_dtype)
    rank[xp.argsort(numbers - here.out_degree.astype(np.int64) * n)] = numbers
    src, dst = rank[here.sources], rank[here.targets]
    kept = xp.flatnonzero(src > dst)
    made = fr.from_edges(
        src[kept], dst[kept], num_vertices=n, directed=True, duplicates="keep", edges={SLOT: kept} if slots else None
    )
    return Oriented(made.to(g.placement), rank)


def _by_ids(g: Graph, slots: bool) -> Graph:
    """Keep of each edge the direction to the smaller id."""
    xp, m = g.placement.memory.xp, g.num_slots
    mask = g.sources > g.targets
    upto = xp.zeros(m + 1, g.offsets.dtype)
    xp.cumsum(mask, dtype=upto.dtype, out=upto[1:])
    kept = xp.flatnonzero(mask)
    columns = {SLOT: kept} if slots else None
    return fr.Graph(upto[g.offsets], g.targets[kept], directed=True, edges=columns, placement=g.placement, check=False)


def slots_in(made: Graph, g: Graph) -> Any:
    """Return for each slot of g that of the same edge in ``made = simple(g)``; for a self-loop ``made.num_slots``."""
    here, there = at_hand(g), at_hand(made)
    xp, n = here.placement.memory.xp, g.num_vertices
    # Slots are in the order of source and target, so one number made of both can be searched.
    places = xp.searchsorted(*(each.sources.astype(np.int64) * n + each.targets for each in (there, here)))
    return xp.where(here.sources == here.targets, made.num_slots, places)


def canonical(g: Graph, slots: Any) -> Any:
    """Return for each slot of a simple graph the one of its edge's two slots that is among ``slots``."""
    here = at_hand(g)
    own = here.placement.memory.xp.arange(g.num_slots, dtype=here.offsets.dtype)
    own[here.in_edges[slots]] = slots
    return own


def at_three_edges(p, u, v, w, uv, uw, vw):
    """Count a triangle at its three edges."""
    fr.atomic_add(p.support, uv, 1)
    fr.atomic_add(p.support, uw, 1)
    fr.atomic_add(p.support, vw, 1)


class Supports(fr.Enactor):
    """Count the triangles at each edge of an oriented graph, into the edge field ``support``."""

    loop = fr.Intersect(at_three_edges, over="edges")


class EdgeSupports(NamedTuple):
    """The number of triangles at each edge of a simple graph, which is that at one of its two slots.

    Attributes
    ----------
    slots : array
        These slots, in ascending order.
    own : array
        For each slot, that of its edge.
    count : array of int32
        For each of these slots, the number of triangles, which are fewer than vertices; 0 for others.
    """

    slots: Any
    own: Any
    count: Any


def supports(g: Graph, schedule: Schedule | None = None) -> EdgeSupports:
    """Count the triangles at each edge of a simple graph."""
    made = oriented(g, slots=True)
    p = fr.Problem(made.graph, support=fr.edge("int32", combine="sum"))
    Supports(p, schedule).run()
    here = at_hand(made.graph)
    slots = here.edges[SLOT]
    count = here.placement.memory.full(g.num_slots, 0, np.int32)
    count[slots] = matching(p.support, slots)
    chosen = here.placement.memory.full(g.num_slots, False, np.bool_)
    chosen[slots] = True
    slots = here.placement.memory.xp.flatnonzero(chosen).astype(slots.dtype)  # in order, sooner than by sorting
    return EdgeSupports(slots, canonical(g, slots), count)


def at_hand(g: Graph) -> Graph:
    """Return the graph with whole arrays in one memory, where they can be computed with: g itself, if it has them."""
    return g.to("cpu") if g.placement.divides or g.placement.edges is not None else g


def undivided(g: Graph) -> Graph:
    """Return a graph in parts as a whole on processors, for what every process computes alike; others as they are.

    All processes call this together. They must have the same graph, as for programs that are divided.
    """
    if not g.placement.divides:
        return g
    check_alike(g)
    return g.to("cpu")


def repeated(g: Graph) -> Any:
    """Mark all but the first of parallel edges, for all slots but the first."""
    return (g.sources[1:] == g.sources[:-1]) & (g.targets[1:] == g.targets[:-1])


def _superfluous(g: Graph) -> Any:
    """Mark self-loops, and all but the first of parallel edges."""
    found = g.sources == g.targets
    found[1:] |= repeated(g)
    return found


def with_slots(g: Graph, slots: Any) -> Graph:
    """Return the graph with some of its edge slots only, given in ascending order; it keeps everything else."""
    here = at_hand(g)
    xp = here.placement.memory.xp
    made = Graph(
        xp.searchsorted(slots, here.offsets).astype(here.offsets.dtype),
        here.targets[slots],
        None if here.weights is None else here.weights[slots],
        directed=g.directed,
        labels=here.labels,
        vertices=here.vertices,
        edges={name: column[slots] for name, column in here.edges.items()},
        placement=here.placement, check=False,
    )
    return made.to(g.placement)


def on_every_rank(g: Graph) -> Graph:
    """Return a graph that was made in parts with all edges on every rank, for programs that look them up anywhere."""
    return g.to("cpu").to(g.placement) if in_parts(g) else g
