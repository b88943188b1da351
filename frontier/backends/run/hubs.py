"""The hubs of a graph, its vertices of highest degree, for the switch rule ``hubs`` and the hub cache of pulls.

After Enterprise (Liu and Huang, SC 2015): by default, about a thousand vertices are hubs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["hub_ids", "hub_number"]

#: Vertices that are hubs, where no degree is given; of small graphs one in so many.
MOST, ONE_IN = 1000, 16


def hub_number(g: Graph, role: str) -> int:
    """The number that a role asks for.

    Parameters
    ----------
    g : Graph
    role : str
        ``hub_degree out``: the degree that hubs exceed; ``hubs out``: how many do; ``hubs out 500``: how many exceed
        500. ``in`` for degrees of in-edges. Counted once for a graph.
    """
    what, edges, *given = role.split()
    if what == "hub_degree":
        found: int = g._once(f"hub degree {edges}", lambda: _least(g, edges))
        return found
    least = int(given[0]) if given else hub_number(g, f"hub_degree {edges}")
    count: int = g._once(f"hubs {edges} {least}", lambda: int((_degrees(g, edges) > least).sum()))
    return count


def hub_ids(g: Graph, role: str) -> Any:
    """The hubs' ids, ascending, where the graph lies: ``hub_ids out``, or ``hub_ids out 500`` for degrees above 500."""
    _, edges, *given = role.split()
    least = int(given[0]) if given else hub_number(g, f"hub_degree {edges}")
    xp = g.placement.memory.xp
    dtype = g.id_dtype
    return g._once(f"hub ids {edges} {least}", lambda: xp.flatnonzero(_degrees(g, edges) > least).astype(dtype))


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
