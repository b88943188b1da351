"""How many copies of a small graph are worth making, so that one run works on many sources.

A pass of a loop takes a few microseconds however little it does, and a small graph leaves most of a GPU idle. In k
copies of it (:func:`frontier.graph.copies.copies`) k sources are worked on at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph

__all__ = ["SLOTS", "SLOTS_WIDE", "number_of_copies"]

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
