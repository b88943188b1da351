"""Distances between all pairs by weights that may be negative.

A potential of every vertex, its distance from a vertex that has an edge of weight 0 to each, makes weights that are not
negative: w + h(u) - h(v). Shortest paths stay the same, and :func:`frontier.sssp_many` finds their lengths (Johnson:
Efficient algorithms for shortest paths in sparse networks, 1977).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import frontier as fr
from frontier.graph.several import vertex_ids
from frontier.primitives._arguments import named
from frontier.primitives._oriented import undivided
from frontier.primitives.bellman_ford import check_signed_lengths, settled
from frontier.primitives.sssp_many import SSSPManyResult, _facts, sssp_many
from frontier.registry import primitive

__all__ = ["johnson"]

#: Entries of the rows that are set right together.
BLOCK = 1 << 22


@primitive(
    "johnson", "distances between all pairs by weights that may be negative",
    report=_facts, needs_weights=True, verify="johnson",
)  # fmt: skip
def johnson(g: fr.Graph, sources: Any = None, *, schedule: fr.Schedule | None = None) -> SSSPManyResult:
    """Distances from many vertices, or between all pairs, by weights that may be negative.

    Parameters
    ----------
    g : Graph
        With weights. Edges are followed in their direction.
    sources : sequence of vertices (labels, if the graph has labels), Frontier or mask, optional
        All vertices by default. A vertex may occur more than once.
    schedule : Schedule, optional

    Returns
    -------
    SSSPManyResult
        With integer weights, distances are exact.

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight anywhere in the graph; its ``cycle`` is a list of vertices.
    GraphError
        If a source does not exist, the graph has no weights, one is -inf, or distances may not fit into 64 bits.
    FrontierMemoryError
        If the distances do not fit into memory.

    Notes
    -----
    The work of :func:`frontier.bellman_ford` once, and that of :func:`frontier.sssp_many`. Without negative weights it
    is the latter.

    Examples
    --------
    >>> g = fr.from_edges(["a", "a", "b"], ["b", "c", "c"], [4, 2, -3], directed=True)
    >>> fr.johnson(g)["a", "c"], fr.johnson(g, ["b"])["b", "c"]
    (1, -3)
    """
    check_signed_lengths(g)
    if not g.num_slots or g.min_weight >= 0:
        return sssp_many(g, sources, schedule=schedule)
    ids = np.arange(g.num_vertices) if sources is None else vertex_ids(g, sources, "sources")
    here = undivided(g)
    assert here.weights is not None
    height = settled(here, None, schedule).distance
    xp = here.placement.memory.xp
    lifted = here.weights.astype(height.dtype) + height[here.sources] - height[here.targets]
    found = sssp_many(here.with_weights(xp.maximum(lifted, 0)), named(g, ids), schedule=schedule)  # below 0 by rounding
    distance, at = found.distance, here.placement.memory.moved(ids)
    unreached = np.iinfo(np.int64).max if height.dtype.kind == "i" else np.inf
    size = max(1, BLOCK // g.num_vertices)
    for first in range(0, len(ids), size):
        rows = distance[first : first + size]
        rows[...] = xp.where(rows < unreached, rows - height[at[first : first + size], None] + height, rows)
    return SSSPManyResult(ids, distance)
