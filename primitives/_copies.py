"""Copies of a small graph side by side in one, so that one run works on many sources.

A pass of a loop takes a few microseconds however little it does, and a small graph leaves most of a GPU idle. In k
copies of it k sources are worked on at once: vertex v of copy j is vertex j * n + v, and no edge leads from one copy
to another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier._topology import Array, read_only
from frontier.graph import Graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SLOTS", "SLOTS_WIDE", "copies", "number_of_copies"]

#: Vertices and edge slots of all copies together. On processors what one thread works on, without barriers: with two,
#: graphs of short frontiers got up to five times slower. (On a GPU 512 sources of an R-MAT graph of 4,096 vertices take
#: 213 ms one by one, 23 ms with 2^22, 14 with 2^23 and 9 with 2^24.)
SLOTS, SLOTS_WIDE = (1 << 15) - 1, 1 << 24


def number_of_copies(g: Graph, sources: NDArray[Any], bytes_per_vertex: int) -> int:
    """How many copies are worth making.

    Parameters
    ----------
    g : Graph
    sources : ndarray of int
    bytes_per_vertex : int
        Of the problem's fields and the frontiers.

    Returns
    -------
    int
        The fewest that do the sources in as many turns as the most would; 1 where the graph is large, where the sources
        are not distinct, or where a GPU has little memory left.
    """
    n, m = g.num_vertices, g.num_slots
    wide = g.placement.massively_parallel
    most = min((SLOTS_WIDE if wide else SLOTS) // max(1, n + m), len(sources))
    if most > 1 and wide:
        each = 2 * (n * (bytes_per_vertex + 8) + m * 8)  # at most half of what is free, with in-edges
        most = min(most, g.placement.memory.free(most * each) // each)
    if most < 2 or len(np.unique(sources)) < len(sources):
        return 1
    turns = -(-len(sources) // most)
    return -(-len(sources) // turns)


def copies(g: Graph, count: int, in_edges: bool) -> Graph:
    """Give so many copies of a graph, without weights, columns and labels; ids must fit in its dtypes.

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
