"""The hubs of a graph, its vertices of highest degree, for the switch rule ``hubs`` and the hub cache of pulls.

After Enterprise (Liu and Huang, SC 2015): by default, about a thousand vertices are hubs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.lowering.inputs import Hubs

__all__ = ["hubs"]

#: Vertices that are hubs, where no degree is given; of small graphs one in so many.
MOST, ONE_IN = 1000, 16


def hubs(g: Graph, wanted: Hubs) -> Any:
    """The degree that hubs exceed, how many there are, or their ids, ascending, where the graph lies.

    Counted once for a graph.
    """
    edges = wanted.edges
    degree = wanted.degree
    if degree is None:
        degree = g._once(f"hub degree {edges}", lambda: _least(g, edges))
    if wanted.what == "degree":
        return degree
    if wanted.what == "count":
        return g._once(f"hubs {edges} {degree}", lambda: int((_degrees(g, edges) > degree).sum()))
    xp, dtype = g.placement.memory.xp, g.id_dtype
    return g._once(f"hub ids {edges} {degree}", lambda: xp.flatnonzero(_degrees(g, edges) > degree).astype(dtype))


def _degrees(g: Graph, edges: str) -> Any:
    return g.out_degree if edges == "out" else g.in_degree


def _least(g: Graph, edges: str) -> int:
    n = g.num_vertices
    if n == 0:
        return 0
    values, counts = g.placement.memory.xp.unique(_degrees(g, edges), return_counts=True)
    upto = np.cumsum(to_host(counts))
    few = int(np.searchsorted(upto, n - min(MOST, n // ONE_IN)))  # the first degree that no more exceed
    return int(to_host(values)[few])
