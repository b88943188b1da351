"""A copy of a graph whose vertices are numbered by descending degree, kept beside it.

Half of the edges of a skewed graph lead to a few vertices. Side by side, what fields hold of these takes few lines of
a cache, and lists of similar length follow each other: gathers over the copy are faster. On other graphs they may not
be, and where ids that are near each other belong together, as in the web, the copy is worse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from frontier.graph.topology import Array, Topology, read_only

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = [
    "MORE_LINES", "STEPS", "ByDegree", "arrays_by_degree", "by_degree", "has_by_degree", "pays", "share_of_steps",
]  # fmt: skip

#: What a graph keeps of :func:`share_of_steps`, and of how many more lines of fields its own lists lead to.
STEPS = "share of vertices of another degree than the next one"
MORE_LINES = {edges: f"lines by degree, {edges}" for edges in ("out", "in")}

_NAME = "copy by degree"

#: Where it pays: on graphs of at least so many edge slots, of which a vertex has so many times the mean, and where
#: stretches of lists lead to so many times as many lines of fields as in the copy. (Measured on two cores: 1.7 to 2.0
#: on R-MAT graphs, which are 1.3 to 2.4 times as fast; 0.3 to 0.7 in the web and among friends, where some are slower.)
SLOTS, HUBS, LINES = 2**20, 8, 1.3

#: On the CPU also where lists are short, and such a share of vertices has another degree than the next one: a processor
#: predicts where lists of one length end. (Roads, 0.6: 1.1 to 2.5 times as fast; uniform graphs, 0.9: 1.1 to 1.4;
#: grids, 0.0: 0.7 to 1.0.)
DIFFER = 0.4

#: Such stretches, the slots of each, and the elements of a line.
STRETCHES, SLOTS_EACH, ELEMENTS = 8, 2**16, 8


class ByDegree(NamedTuple):
    """The copy, without columns and labels.

    Attributes
    ----------
    graph : Graph
    old : array, shape (n,)
        The id in the graph itself of each vertex of the copy.
    new : array, shape (n,)
        The id in the copy of each vertex of the graph.
    """

    graph: Graph
    old: Array
    new: Array


def by_degree(g: Graph) -> ByDegree:
    """Return the copy, which is made once, in O(m) for the most part."""
    topology, old, new = g._once(_NAME, lambda: _made(g))
    return ByDegree(g._wrap(topology, g.placement), old, new)


def has_by_degree(g: Graph) -> bool:
    """Whether there is a copy by now."""
    return _NAME in g._topology.derived


def arrays_by_degree(g: Graph) -> list[Any]:
    """Return the arrays of the copy, if there is one."""
    topology, *ids = g._topology.built().get(_NAME, (None,))
    return [] if topology is None else [*(array for _, array in topology.arrays()), *ids[1:]]


def _made(g: Graph) -> tuple[Topology, Array, Array]:
    from frontier.graph.reorder import ORIGINAL

    top = g._topology
    plain = g._wrap(Topology(top.offsets, top.ends, top.weights, top.directed, None, {}, {}), g.placement)
    topology = plain.reordered("degree")._topology
    old = topology.vertices[ORIGINAL]
    return topology, old, read_only(_inverse(g, old))


def _inverse(g: Graph, old: Array) -> Array:
    xp = g.placement.memory.xp
    new: Array = xp.empty(len(old), old.dtype)
    new[old] = xp.arange(len(old), dtype=old.dtype)
    return new


def pays(g: Graph, edges: str) -> bool:
    """Whether gathers over out- or in-edges are faster in the copy."""
    traits = g.traits
    if g.num_slots < SLOTS:
        return False
    if traits.short_lists and not g.placement.massively_parallel:
        return share_of_steps(g) >= DIFFER
    if traits.max_degree < HUBS * traits.mean_degree:
        return False
    times: float = g.cached(MORE_LINES[edges], lambda: _times_as_many_lines(g, edges))
    return times >= LINES


def share_of_steps(g: Graph) -> float:
    """Of all vertices the share that has another degree than the next one."""
    share: float = g.cached(STEPS, lambda: _differing(g))
    return share


def _differing(g: Graph) -> float:
    degree = g.out_degree
    return float((degree[1:] != degree[:-1]).mean())


def _times_as_many_lines(g: Graph, edges: str) -> float:
    """How many times as many lines stretches of lists lead to as they do in the copy; 0 if it would be the same."""
    from frontier.graph.build_arrays import argsort

    xp, degree = g.placement.memory.xp, g.out_degree
    if bool((degree[1:] <= degree[:-1]).all()):
        return 0.0
    offsets, ends = (g.offsets, g.targets) if edges == "out" else (g.in_offsets, g.in_sources)
    size = min(SLOTS_EACH, len(ends) // STRETCHES)
    places = xp.arange(STRETCHES)[:, None] * (len(ends) // STRETCHES) + xp.arange(size)
    old = argsort(xp, -degree)
    lengths = (offsets[1:] - offsets[:-1])[old]
    sums = xp.cumsum(lengths, dtype=offsets.dtype)
    number = xp.searchsorted(sums, places.ravel(), side="right").reshape(places.shape)
    slots = offsets[old[number]] + places - (sums[number] - lengths[number])
    return _lines(xp, ends[places]) / _lines(xp, _inverse(g, old)[ends[slots]])


def _lines(xp: Any, ids: Array) -> int:
    """How many lines of a field the ids of each stretch lead to, together."""
    rows = xp.sort(ids // ELEMENTS, axis=1)
    return int((rows[:, 1:] != rows[:, :-1]).sum()) + len(rows)
