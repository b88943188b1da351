"""Modularity of given communities: how many more edges lie inside them than chance would put there.

With w(c) the weight of the edges inside community c, T(c) that at its vertices, and W that of all edges, it is the sum
over all communities of w(c) / W - r (T(c) / 2W)², r being the resolution (Newman, Girvan: Finding and evaluating
community structure in networks, Physical Review E 69, 2004; Reichardt, Bornholdt: Statistical mechanics of community
detection, Physical Review E 74, 2006). In a directed graph T(c)² / 4 becomes the product of the weights that leave the
vertices of c and that enter them (Leicht, Newman: Community structure in directed networks, Physical Review Letters
100, 2008). The graph is contracted to its communities; after that all is a sum over these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import frontier as fr
from frontier.memory.arrays import namespace_of
from frontier.primitives._arguments import check_number, check_weights
from frontier.primitives._communities import in_integers
from frontier.primitives._communities import modularity as undirected
from frontier.primitives._tables import in_one_piece
from frontier.program.taking import at_graph

__all__ = ["modularity"]


@at_graph
def modularity(g: fr.Graph, labels: Any, *, resolution: float = 1.0, weighted: bool = True) -> float:
    """Return the modularity of communities.

    Parameters
    ----------
    g : Graph
        Parallel edges count with the sum of their weights. In an undirected graph a self-loop counts twice at its
        vertex, as in NetworkX; of a directed graph it is directed modularity.
    labels : array_like of int, shape (n,)
        The label of each vertex's community.
    resolution : float
        The larger it is, the less a large community is worth.
    weighted : bool
        Whether to use the weights, if there are any.

    Returns
    -------
    float
        At most 1; 0 if there is no edge of positive weight.

    Raises
    ------
    GraphError
        If there is not one integer for each vertex, weights are not finite, or are integers with a sum of 2**62 or
        more, or the resolution is negative.
    NegativeWeightError
        If a weight is negative.

    Notes
    -----
    O(n + m) work. Weights that are floats are rounded as in :func:`frontier.louvain`, so that the result is the same in
    every run. Of a graph in parts, each process, or the first of several GPUs, needs all edges.

    Examples
    --------
    >>> fr.modularity(fr.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5]), [0, 0, 0, 1, 1, 1])
    0.5
    """
    check_number("resolution", resolution, lambda x: 0 <= x < np.inf, "it must be finite and not negative")
    if weighted:
        check_weights(g, "modularity")
    g, _ = in_one_piece(g, None)
    between = in_integers(g, weighted).contracted(labels)
    return directed(between, resolution) if g.directed else undirected(between, resolution)


def directed(h: fr.Graph, resolution: float) -> float:
    """Return the modularity of a directed graph in which each vertex is a community."""
    if not h.num_slots:
        return 0.0
    assert h.weights is not None
    assert h.out_weight is not None
    memory, loops = h.placement.memory, namespace_of(h.sources).flatnonzero(h.sources == h.targets)
    inside = float(memory.moved(h.weights[loops]).astype(np.float64).sum())
    entering = memory.xp.bincount(
        memory.moved(h.targets), weights=memory.moved(h.weights), minlength=h.num_vertices
    )
    total = float(h.out_weight.sum())
    if total == 0:
        return 0.0
    return inside / total - resolution * float(((h.out_weight / total) * (entering / total)).sum())
