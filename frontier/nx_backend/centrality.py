"""Centralities that are made of shortest paths."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
from networkx.utils import create_py_random_state

import frontier as fr
from frontier.graph.topology import Array
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.distances import distance_rows
from frontier.nx_backend.mappings import by_node, by_some
from frontier.nx_backend.reasons import refuse
from frontier.nx_backend.traversal import levels_of_many

__all__ = [
    "betweenness_centrality", "betweenness_centrality_subset", "closeness_centrality", "edge_betweenness_centrality",
    "harmonic_centrality",
]  # fmt: skip


def betweenness_centrality(
    G: ConvertedGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> Any:
    """Betweenness of nodes, or an estimate from ``k`` of them."""
    n = len(G)
    if not n:
        return {}
    chosen = None
    if k is not None and k != n:
        chosen = np.array(G.vertices(create_py_random_state(seed).sample(G.nodes, k)), np.int64)
    weighted = weight is not None
    counted = host(fr.betweenness(_weighing(G, weight), chosen, weighted=weighted).centrality).astype(float)
    if not G.is_directed():
        counted = counted * 2  # NetworkX counts both directions before it scales
    if endpoints:
        counted = counted + _as_ends(G, np.arange(n) if chosen is None else chosen)
    return by_node(G, counted * _scale(G, chosen, normalized, endpoints))


def betweenness_centrality_subset(
    G: ConvertedGraph, sources: Any, targets: Any, normalized: bool = False, weight: Any = None
) -> Any:
    """Betweenness of nodes on paths from some nodes to others."""
    if not len(G):
        return {}
    if any(node not in G for node in sources):
        refuse("a source that is not in the graph")
    starts, ends = (np.array(G.vertices(nodes), np.int64) for nodes in (sources, targets))
    found = fr.betweenness(_weighing(G, weight), starts, targets=ends, weighted=weight is not None)
    counted = host(found.centrality).astype(float) * (1 if G.is_directed() else 2)
    return by_node(G, counted * _scale(G, None, normalized, endpoints=False))


def _weighing(graph: ConvertedGraph, weight: Any) -> fr.Graph:
    """The graph whose shortest paths count: of parallel edges the lightest is one of them."""
    return graph.graph(weight, parallel="min") if weight is not None else graph.graph()


def edge_betweenness_centrality(
    G: ConvertedGraph, k: int | None = None, normalized: bool = True, weight: Any = None, seed: Any = None
) -> Any:
    """Betweenness of edges, or an estimate from ``k`` nodes; parallel edges of the least weight share it."""
    g, n = _weighing(G, weight), len(G)
    chosen = None
    if k is not None:
        chosen = np.array(G.vertices(create_py_random_state(seed).sample(G.nodes, k)), np.int64)
    counted = host(fr.edge_betweenness(g, chosen, weighted=weight is not None).centrality)
    values = counted * (1 if G.is_directed() else 2) * _scale(G, chosen, normalized, endpoints=True)
    src, dst = G.read.ends
    slots = np.searchsorted(host(g.sources).astype(np.int64) * n + host(g.targets), src * n + dst)
    if not G.is_multigraph():
        return dict(zip(zip(G.names(src), G.names(dst), strict=True), values[slots].tolist(), strict=True))
    least = np.ones(len(src), bool) if weight is None else G.weights(weight) == host(g.weights)[slots]
    pairs = np.minimum(src, dst) * n + np.maximum(src, dst) if not G.is_directed() else src * n + dst
    _, pair = np.unique(pairs, return_inverse=True)
    shared = np.bincount(pair, least)[pair]
    found = np.where(least, values[slots] / shared, 0.0)
    return dict(zip(G.to_networkx().edges, found.tolist(), strict=True))


def _as_ends(graph: ConvertedGraph, sources: Array) -> Array:
    """On how many paths from sources each vertex is an end."""
    found = np.zeros(len(graph))
    for first in range(0, len(sources), 256):
        some = sources[first : first + 256]
        there = levels_of_many(graph, some) > 0
        found += there.sum(axis=0)
        found[some] += there.sum(axis=1)
    return found


def _scale(graph: ConvertedGraph, chosen: Array | None, normalized: bool, endpoints: bool) -> Any:
    """The factor that makes counts of paths betweenness.

    An estimate leaves out paths from a vertex to itself: sources take part in one search less than others.
    """
    n, pairs = len(graph), 1 if graph.is_directed() else 2
    others = n if endpoints else n - 1
    if others < 2:
        return 1.0
    searches = others if chosen is None else len(chosen)
    if normalized:
        of = lambda count: 1 / (count * (others - 1))  # noqa: E731
    else:
        of = lambda count: others / (count * pairs)  # noqa: E731
    if chosen is None or endpoints:
        return of(searches)
    factors = np.full(n, of(searches))
    factors[chosen] = of(searches - 1) if searches > 1 else math.nan
    return factors


def closeness_centrality(G: ConvertedGraph, u: Any = None, distance: Any = None, wf_improved: bool = True) -> Any:
    """The inverse of the mean distance from others."""
    n = len(G)
    if u is None and distance is None:
        found = fr.closeness(G.graph())
        count, total = host(found.reached), host(found.total)
    else:
        if u is not None and u not in G:
            raise nx.NodeNotFound(f"Node {u} is not in G")
        vertices = np.arange(n) if u is None else np.array([G.vertex(u)])
        rows = [*distance_rows(G, vertices, distance, distance is not None, reverse=True)]
        count = np.concatenate([there.sum(axis=1) - 1 for _, _, there in rows]) if rows else np.zeros(0)
        total = np.concatenate([np.where(there, d, 0).sum(axis=1) for _, d, there in rows]) if rows else np.zeros(0)
    value = np.divide(count, total, out=np.zeros(len(count)), where=total > 0)
    if wf_improved and n > 1:
        value = value * (count / (n - 1))
    return by_node(G, value) if u is None else float(value[0])


def harmonic_centrality(G: ConvertedGraph, nbunch: Any = None, distance: Any = None, sources: Any = None) -> Any:
    """The sum of the inverse distances from others, or from some sources."""
    some = nbunch is not None
    if nbunch is None and distance is None and sources is None:
        return by_node(G, host(fr.harmonic(G.graph()).centrality))
    wanted = _given(G, nbunch)
    starts = _given(G, sources)
    backward = some and len(wanted) < len(starts)
    found = np.zeros(len(G))
    ends = wanted if backward else starts
    for vertices, d, there in distance_rows(G, ends, distance, distance is not None, backward):
        inverse = np.divide(1.0, d, out=np.zeros(d.shape), where=there & (d != 0))
        if backward:
            found[vertices] = inverse[:, starts].sum(axis=1)
        else:
            found += inverse.sum(axis=0)
    return by_some(G, wanted, found)


def _given(graph: ConvertedGraph, nodes: Any) -> Array:
    """The vertices of a node or of several; all if none are given."""
    if nodes is None:
        return np.arange(len(graph))
    if nodes in graph:
        return np.array([graph.vertex(nodes)])
    return np.array([*dict.fromkeys(graph.vertices(nodes))], np.int64)
