"""One graph made of several copies of a graph, so that one run can process many sources."""

from __future__ import annotations

from typing import Any

import numpy as np

from frontier.graph import by_degree, by_weight
from frontier.graph.graph import Graph
from frontier.graph.topology import Array, read_only
from frontier.memory.placement import placed

__all__ = ["copies", "outline"]


def copies(g: Graph, count: int, weights: bool = False) -> Graph:
    """Return one graph that consists of several copies of a graph, without columns and labels.

    Vertex v of copy j is vertex ``j * n + v``, and no edge leads from one copy to another. Ids must fit in the graph's
    dtypes. In-edges are made on first use from those of the graph itself, which keeps them.

    Parameters
    ----------
    g : Graph
    count : int
    weights : bool
        Whether the copies have weights, if the graph has weights.
    """
    memory = g.placement.memory
    repeated = memory.xp.tile(memory.moved(g.weights), count) if weights and g.weights is not None else None
    rows = _rows(g, g.offsets, g.targets, count)
    # copies are made of small graphs, whose edges need not lie elsewhere
    there = placed(g.placement.backend, g.placement.memory)
    made = Graph(*rows, repeated, directed=g.directed, placement=there, check=False)
    _shared(made, g)
    if g._topology.divided is None:  # else only the copies are there as a whole
        made._topology.recipes["in_lists"] = lambda: _rows(g, g.in_offsets, g.in_sources, count)
    return made


def outline(g: Graph, count: int) -> Graph:
    """Return a graph as large as that of several copies, but without data, to compute the memory that it would take."""

    def repeated(dtype: Any, length: int) -> Array:
        return np.broadcast_to(np.zeros((), dtype), (length,))

    slots = count * g.num_slots
    weights = None if g.weights is None else repeated(g.weights.dtype, slots)
    rows = repeated(g.offsets.dtype, count * g.num_vertices + 1), repeated(g.id_dtype, slots)
    made = Graph(*rows, weights, directed=g.directed, placement=g.placement, check=False)
    _shared(made, g)
    return made


def _shared(made: Graph, g: Graph) -> None:
    """Take from the graph what is the same for its copies; an outline has no data of which to compute it.

    Copies are not numbered by degree: the hubs of all would lie side by side, of which a list leads to one copy's.
    """
    made._topology.recipes |= {
        "max_degree": lambda: g.max_degree,
        f"cached {by_weight.DIFFERENT}": lambda: by_weight.share_of_different(g),
        f"cached {by_degree.STEPS}": lambda: by_degree.share_of_steps(g),
        **{f"cached {name}": lambda: 0.0 for name in by_degree.MORE_LINES.values()},
    }


def _rows(g: Graph, offsets: Array, ends: Array, count: int) -> tuple[Array, Array]:
    memory = g.placement.memory
    xp, ends = memory.xp, memory.moved(ends)  # which may lie on a disk
    number = xp.arange(count, dtype=ends.dtype)[:, None]
    begins = xp.empty(count * g.num_vertices + 1, offsets.dtype)
    begins[:-1] = xp.ravel(offsets[:-1] + number * g.num_slots)
    begins[-1] = count * g.num_slots
    return read_only(begins), read_only(xp.ravel(ends + number * g.num_vertices))
