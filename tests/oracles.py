"""The right answers, computed by SciPy and NetworkX.

Nothing here shares code with Frontier: a graph is taken apart into its arrays, and other people's
programs do the work. Parallel edges are understood, except by ``betweenness``.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import csgraph

import frontier as fr
from frontier.memory.arrays import to_host

UNREACHED = np.iinfo(np.int64).max
EXACT = 2**53
"""Integers up to here are exact as floats, which is how SciPy adds up distances."""


def matrix(g: fr.Graph, values: NDArray[Any] | None = None) -> sp.csr_array:
    """Give the adjacency matrix, of ones or of ``values``, with a stored entry for every edge slot.

    ``csgraph`` takes a stored zero of a sparse matrix as an edge of weight zero, and parallel edges
    one by one, as long as nothing sums or drops entries on the way: so made from the rows as they are.
    """
    g = g.to("cpu")
    data = np.ones(g.num_slots) if values is None else np.array(to_host(values), dtype=np.float64)
    shape = (g.num_vertices, g.num_vertices)
    return sp.csr_array((data, np.array(g.targets), np.array(g.offsets)), shape=shape)


def networkx_graph(g: fr.Graph) -> nx.Graph:
    """Give a NetworkX graph; of parallel edges the one of least weight stays."""
    g = g.to("cpu")
    graph = nx.DiGraph() if g.directed else nx.Graph()
    graph.add_nodes_from(range(g.num_vertices))
    weights = [1] * g.num_slots if g.weights is None else g.weights.tolist()
    for u, v, w in zip(g.sources.tolist(), g.targets.tolist(), weights, strict=True):
        if not graph.has_edge(u, v) or w < graph[u][v]["weight"]:
            graph.add_edge(u, v, weight=w)
    return graph


def bfs_levels(g: fr.Graph, source: int) -> NDArray[np.int32]:
    """Give each vertex's level, -1 where unreached: (n,) int32."""
    order, parent = csgraph.breadth_first_order(matrix(g), source)
    place = np.zeros(g.num_vertices, dtype=np.int64)
    place[order] = np.arange(len(order))
    above = place[parent[order[1:]]]  # ascends: vertices are found in the order of their parents
    level = np.full(g.num_vertices, -1, dtype=np.int32)
    level[source] = 0
    begin, end, depth = 0, 1, 0
    while end > begin:
        depth += 1
        begin, end = end, 1 + int(np.searchsorted(above, end))
        level[order[begin:end]] = depth
    return level


def sssp_distances(g: fr.Graph, source: int) -> NDArray[Any]:
    """Give each vertex's distance: (n,) int64 (maximum: unreached) or, of float weights, float64 (inf)."""
    distance: NDArray[np.float64] = csgraph.dijkstra(matrix(g, g.weights), indices=source)
    if g.weights is not None and g.weights.dtype.kind == "f":
        return distance
    reached = np.isfinite(distance)
    if reached.any() and distance[reached].max() >= EXACT:
        raise ValueError("these distances are too long for this oracle")
    whole = np.full(g.num_vertices, UNREACHED)
    whole[reached] = distance[reached].astype(np.int64)
    return whole


def components(g: fr.Graph) -> NDArray[np.int64]:
    """Give each vertex the smallest vertex of its (weak) component: (n,) int64."""
    if g.num_vertices == 0:
        return np.zeros(0, dtype=np.int64)
    _, kind = csgraph.connected_components(matrix(g), directed=True, connection="weak")
    _, first = np.unique(kind, return_index=True)
    return first[kind]


def pagerank(
    g: fr.Graph,
    damping: float = 0.85,
    personalization: NDArray[Any] | None = None,
    weighted: bool = False,
    iterations: int | None = None,
) -> NDArray[np.float64]:
    """Give ranks with sum 1: (n,) float64, exact to about 1e-14, or after some iterations from 1/n each.

    Rank of vertices without out-edges (or with weights of zero only) goes where the teleport goes.
    """
    n = g.num_vertices
    if n == 0:
        return np.zeros(0)
    teleport = np.full(n, 1 / n)
    if personalization is not None:
        teleport = to_host(personalization) / to_host(personalization).sum()
    links = matrix(g, g.weights if weighted else None)
    out = np.asarray(links.sum(axis=1)).ravel()
    loose = out == 0
    into = sp.csr_array(links.T)
    rank = np.full(n, 1 / n)
    for _ in range(10_000 if iterations is None else iterations):
        share = np.divide(rank, out, out=np.zeros(n), where=~loose)
        new = (1 - damping) * teleport + damping * (into @ share + rank[loose].sum() * teleport)
        change = np.abs(new - rank).sum()
        rank = new
        if iterations is None and change < 1e-15:
            break
    return rank


def betweenness(g: fr.Graph, sources: Any = None, normalized: bool = False) -> NDArray[np.float64]:
    """Give each vertex's centrality, from all vertices or from ``sources``: (n,) float64."""
    g = g.to("cpu")
    slots = g.sources.astype(np.int64) * max(g.num_vertices, 1) + g.targets
    if len(np.unique(slots)) < len(slots):
        raise ValueError("NetworkX counts parallel edges as one path: no oracle for this graph")
    graph = networkx_graph(g)
    if sources is None:
        found = nx.betweenness_centrality(graph, normalized=normalized)
    else:
        some = [int(s) for s in sources]
        found = nx.betweenness_centrality_subset(graph, some, list(graph), normalized=normalized)
    return np.array([found[v] for v in range(g.num_vertices)], dtype=np.float64)


def parents(g: fr.Graph, source: int, length: NDArray[Any], weighted: bool) -> NDArray[np.int32]:
    """Give each vertex its parent on a tree of shortest paths of the given lengths: (n,) int32.

    For tests of results, not for large graphs: a plain search along the edges that give a vertex
    its length, so that circles of weight zero do no harm.
    """
    g = g.to("cpu")
    weights = g.weights.tolist() if weighted and g.weights is not None else [1] * g.num_slots
    offsets, targets, known = g.offsets.tolist(), g.targets.tolist(), length.tolist()
    parent = np.full(g.num_vertices, -1, dtype=np.int32)
    parent[source] = source
    queue = [source]
    for u in queue:
        for slot in range(offsets[u], offsets[u + 1]):
            v = targets[slot]
            if parent[v] < 0 and known[v] == known[u] + weights[slot]:
                parent[v] = u
                queue.append(v)
    return parent
