"""Verifying edge betweenness: a second computation from some sources, and the sum of all distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from frontier.graph.graph import Graph
from frontier.verify.centrality import (
    RELATIVE,
    check_distances,
    check_values,
    flag_or_false,
    positive_weights,
    scale_of,
    targets_of,
    with_all_edges,
)
from frontier.verify.dependencies import EXACT, dependencies
from frontier.verify.edges import edge_name
from frontier.verify.report import Checks, Report, examine, fail, flag_field, vertex_field, vertex_list

__all__ = ["edge_betweenness"]


def edge_betweenness(g: Graph, result: Any) -> Report:
    """Check the betweenness of edges.

    Parameters
    ----------
    g : Graph
        n vertices, m edge slots. Parallel edges are different paths.
    result : EdgeBetweennessResult
        ``centrality`` (m,) floats; ``sources`` and ``targets``, integers, or None for all vertices; ``normalized``:
        whether values are divided by the number of pairs, n(n - 1), half of that in undirected graphs; ``sampled``:
        whether they are multiplied by n and divided by the number of sources; ``weighted``.

    Returns
    -------
    Report
        True if the result passed; see its ``raise_if_failed()``.

    Notes
    -----
    Values are finite and not negative. For k (n + m) up to 4e6, with k sources, each is computed again and must agree
    to 1e-9 of itself; beyond that only from some sources, as a lower bound. And the sum of all is that of distances,
    unless ``weighted``: a path of d edges counts for each of them. O(k (n + m)) time.

    Examples
    --------
    >>> g = fr.karate()
    >>> fr.verify.edge_betweenness(g, fr.edge_betweenness(g)).passed
    True
    """
    return examine("edge_betweenness", _properties, g, result, ("centrality", "sources", "normalized"))


def _properties(g: Graph, result: Any, checks: Checks) -> None:
    n = g.num_vertices
    values = vertex_field(result, "centrality", g.num_slots, of="edge slot")
    sources, end = vertex_list(result, "sources", n), targets_of(result, n)
    weighted = flag_or_false(result, "weighted")
    scale = scale_of(g, flag_field(result, "normalized"), ends=True)
    if flag_or_false(result, "sampled"):
        values = values * (len(sources) / max(n, 1))
    check_values(values, "centrality", checks)
    if weighted:
        positive_weights(g, checks)

    g = with_all_edges(g)
    k = len(sources)
    some = min(k, max(1, EXACT // (n + g.num_slots + 1)))
    _, again = dependencies(g, sources[np.arange(some) * k // max(some, 1)], end, weighted)
    if not g.directed:
        again = again + again[g.in_edges]
    again *= scale
    if some == k:
        checks.begin(f"a second computation, from all {k} sources, gives the same")
        wrong = ~(np.abs(values - again) <= RELATIVE * again)
    else:
        checks.begin(f"none is less than what {some} of the {k} sources contribute")
        wrong = values < again * (1 - RELATIVE)
    if wrong.any():
        at = int(np.argmax(wrong))
        fail(f"centrality of {edge_name(g, at)[2]} is {float(values[at])!r}, expected {float(again[at])!r}")
    if not weighted:
        checks.begin(f"their sum is that of distances, from all {k} sources")
        check_distances(values, g, sources, end, 0, scale if g.directed else 2 * scale)
