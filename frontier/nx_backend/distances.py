"""Distances between all pairs, in edges or by weights, and what is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import frontier as fr
from frontier.graph.topology import Array
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.mappings import by_node, by_some
from frontier.nx_backend.reasons import lacks, refuse
from frontier.nx_backend.traversal import levels, levels_of_many

__all__ = [
    "barycenter", "center", "check_connected", "diameter", "distance_rows", "eccentricity", "periphery", "radius",
    "reached", "total_distance", "weighted_graph",
]  # fmt: skip

#: Distances that are held at once.
_ENTRIES = 1 << 24


def weighted_graph(
    graph: ConvertedGraph, weight: Any, *, reverse: bool = False, signed: bool = False
) -> fr.Graph:  # fmt: skip
    """The graph for shortest paths by weights: of parallel edges the lightest.

    Raises
    ------
    NotImplementedError
        If a weight is infinite, or negative unless they may be ``signed``.
    """
    if weight is not None:
        weights = graph.weights(weight)
        if not signed and len(weights) and weights.min() < 0:
            refuse("negative weights")
        if weights.dtype.kind == "f" and not np.isfinite(weights).all():
            refuse("infinite weights")
    return graph.graph(weight, parallel="min", reverse=reverse, ones=weight is None)


def reached(distance: Array) -> Array:
    """Where a distance by weights is known."""
    return distance < np.iinfo(np.int64).max if distance.dtype.kind == "i" else np.isfinite(distance)


def distance_rows(
    graph: ConvertedGraph, vertices: Array, weight: Any, by_weight: bool, reverse: bool = False
) -> Iterator[tuple[Array, Array, Array]]:
    """Distances from vertices, some at a time: these, their distances, and where there is a path."""
    size = max(1, min(256, _ENTRIES // max(len(graph), 1)))
    for first in range(0, len(vertices), size):
        some = vertices[first : first + size]
        if by_weight:
            found = host(fr.sssp_many(weighted_graph(graph, weight, reverse=reverse), some).distance)
            yield some, found, reached(found)
        else:
            found = levels_of_many(graph, some, reverse=reverse)
            yield some, found, found >= 0


def check_connected(graph: ConvertedGraph, directed: str, undirected: str) -> None:
    """Raise NetworkX's error with one of these messages if some node cannot be reached from another."""
    g = graph.graph()
    count = (fr.strongly_connected_components(g) if graph.is_directed() else fr.connected_components(g)).count
    if count > 1:
        raise nx.NetworkXError(directed if graph.is_directed() else undirected)


def total_distance(graph: ConvertedGraph, weight: Any, by_weight: bool) -> Any:
    """The sum of the distances between all pairs of a connected graph."""
    if not by_weight:
        return int(host(fr.closeness(graph.graph()).total).sum())
    rows = distance_rows(graph, np.arange(len(graph)), weight, True)
    return sum(distance.sum().item() for _, distance, _ in rows)


@lacks(attr="an attribute of nodes to write", sp="distances that are given")
def barycenter(G: ConvertedGraph, weight: Any = None, attr: Any = None, sp: Any = None) -> list[Any]:
    """The nodes whose distances to all others have the least sum."""
    n = len(G)
    totals = [np.zeros(0)]
    for _, distance, there in distance_rows(G, np.arange(n), weight, weight is not None):
        if not there.all():
            what = "so every induced subgraph has infinite barycentricity."
            raise nx.NetworkXNoPath(f"Input graph {G.to_networkx()} is disconnected, {what}")
        totals.append(distance.sum(axis=1))
    total = np.concatenate(totals)
    return G.names(np.flatnonzero(total == total.min(initial=np.inf)))


def _farthest(graph: ConvertedGraph, weight: Any) -> Array:
    """The eccentricity of each vertex."""
    if not len(graph):
        refuse("an empty graph")
    check_connected(
        graph,
        "Found infinite path length because the digraph is not strongly connected",
        "Found infinite path length because the graph is not connected",
    )
    if weight is None:
        return host(fr.eccentricity(graph.graph()).eccentricity)
    rows = distance_rows(graph, np.arange(len(graph)), weight, True)
    return np.concatenate([distance.max(axis=1) for _, distance, _ in rows])


@lacks(sp="distances that are given")
def eccentricity(G: ConvertedGraph, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    """The distance to the farthest node."""
    if v is None:
        return by_node(G, _farthest(G, weight)) if len(G) else {}
    if v in G and weight is None:
        level = levels(G, G.vertex(v))
        if (level < 0).any():
            _farthest(G, weight)  # which says it
        return int(level.max())
    found = _farthest(G, weight)
    if v in G:
        return found[G.vertex(v)].item()
    try:
        chosen = G.vertices(v)
    except TypeError:
        refuse("NetworkX says which nodes it takes")
    return by_some(G, np.array(chosen, np.int64), found)


_GIVEN = "eccentricities that are given"


@lacks(e=_GIVEN)
def diameter(G: ConvertedGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    """The largest distance."""
    return _farthest(G, weight).max().item()


@lacks(e=_GIVEN)
def radius(G: ConvertedGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    """The least eccentricity."""
    return _farthest(G, weight).min().item()


@lacks(e=_GIVEN)
def center(G: ConvertedGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    """The nodes with the least eccentricity."""
    found = _farthest(G, weight)
    return G.names(np.flatnonzero(found == found.min()))


@lacks(e=_GIVEN)
def periphery(G: ConvertedGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    """The nodes with the largest eccentricity."""
    found = _farthest(G, weight)
    return G.names(np.flatnonzero(found == found.max()))
