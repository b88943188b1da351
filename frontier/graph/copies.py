"""Copies of a graph side by side in one, so that one run works on many sources."""

from __future__ import annotations

from frontier.graph.graph import Graph
from frontier.graph.topology import Array, read_only

__all__ = ["copies"]


def copies(g: Graph, count: int, in_edges: bool = False) -> Graph:
    """Give so many copies of a graph as one, without weights, columns and labels.

    Vertex v of copy j is vertex ``j * n + v``, and no edge leads from one copy to another. Ids must fit in the graph's
    dtypes.

    Parameters
    ----------
    g : Graph
    count : int
    in_edges : bool
        Copy the in-edges of a directed graph, too. They are sorted for the graph itself, which keeps them.
    """
    made = Graph(*_rows(g, g.offsets, g.targets, count), directed=g.directed, placement=g.placement)
    made._once("max_degree", lambda: g.max_degree)
    if in_edges and not g.symmetric:
        offsets, ends = _rows(g, g.in_offsets, g.in_sources, count)
        made._once("in_lists", lambda: (read_only(offsets), read_only(ends)))
    return made


def _rows(g: Graph, offsets: Array, ends: Array, count: int) -> tuple[Array, Array]:
    xp = g.placement.memory.xp
    number = xp.arange(count, dtype=ends.dtype)[:, None]
    begins = xp.empty(count * g.num_vertices + 1, offsets.dtype)
    begins[:-1] = xp.ravel(offsets[:-1] + number * g.num_slots)
    begins[-1] = count * g.num_slots
    return begins, xp.ravel(ends + number * g.num_vertices)
