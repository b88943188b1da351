"""Sums over the distances by weights from many sources to each vertex, without keeping the distances."""

from __future__ import annotations

from typing import Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives._arguments import check_lengths
from frontier.primitives._oriented import undivided
from frontier.primitives._searches import chosen
from frontier.primitives.sssp_many import distance_rows

__all__ = ["check_weighted", "sum_by_weight"]


def check_weighted(g: fr.Graph) -> None:
    """Raise an error if there are no weights by which to measure, or some that are negative."""
    if g.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    check_lengths(g)


def sum_by_weight(
    g: fr.Graph, sources: Any, seed: int, schedule: fr.Schedule | None, inverse: bool
) -> tuple[Any, Any, Any]:
    """Return for each vertex a sum over sources, how many others reach it, and how many others there are.

    The sum is that of the distances to it, or of their inverses, of which that of 0 is 0.
    """
    check_weighted(g)
    place = chosen(g, sources, seed)
    here = undivided(g)
    xp = here.placement.memory.xp
    total, count = xp.zeros(g.num_vertices), xp.zeros(g.num_vertices, np.int64)
    for _, rows in distance_rows(here, np.flatnonzero(place >= 0), schedule):
        far = np.iinfo(np.int64).max if rows.dtype.kind == "i" else np.inf
        values = xp.where(rows < far, rows, 0).astype(np.float64)
        if inverse:
            values[values > 0] = 1 / values[values > 0]
        total += values.sum(axis=0)
        count += (rows < far).sum(axis=0)
    is_source = place >= 0
    moved = g.placement.memory.moved
    count -= here.placement.memory.moved(is_source.astype(np.int64))
    return moved(total), moved(count), moved((is_source.sum() - is_source).astype(np.float64))
