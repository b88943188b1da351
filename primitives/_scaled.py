"""Graphs whose weights are so large or small that float64 could not hold sums or products: scaled, others as they are.

Ranks and walks do not depend on the unit of a vertex's weights, centralities not on that of all weights.
"""

from __future__ import annotations

import numpy as np

from frontier.graph.graph import Graph
from frontier.graph.scaling import is_moderate, scaled_by_row
from frontier.memory.arrays import to_host
from frontier.primitives._oriented import at_hand

__all__ = ["scaled", "with_rows_scaled"]


def scaled(g: Graph) -> tuple[Graph, int]:
    """Return the graph with weights times ``2**-exponent``, the greatest in [1/2, 1), and the exponent; or g and 0."""
    if g.weights is None or not g.num_slots or is_moderate(g.max_weight):
        return g, 0
    exponent = int(np.frexp(float(g.max_weight))[1])
    here = at_hand(g)
    made = here.with_weights(np.ldexp(to_host(here.weights).astype(np.float64), -exponent))
    return made.to(g.placement), exponent


def with_rows_scaled(g: Graph) -> Graph:
    """Return the graph with the weights of each vertex's out-edges scaled, directed therefore; or g."""
    if g.weights is None or not g.num_slots or _sums_are_moderate(g):
        return g
    here = at_hand(g)
    weights = scaled_by_row(to_host(here.offsets), to_host(here.weights))
    made = Graph(
        here.offsets, here.targets, here.placement.memory.moved(weights), directed=True,
        labels=here.labels, vertices=here.vertices, edges=here.edges, placement=here.placement,
    )  # fmt: skip
    return made.to(g.placement)


def _sums_are_moderate(g: Graph) -> bool:
    """Whether the sums of all vertices' weights are; most graphs are found out by two weights."""
    if not is_moderate(g.max_weight):
        return False
    if g.min_weight > 0 and is_moderate(g.min_weight):
        return True
    sums = to_host(g.out_weight)
    return is_moderate(sums.min(initial=1.0, where=sums > 0))
