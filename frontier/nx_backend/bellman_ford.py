"""Shortest paths by weights that may be negative. Without negative ones they are those of ``weighted``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import frontier as fr
from frontier.errors import NegativeCycleError
from frontier.graph.topology import Array
from frontier.nx_backend import weighted
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.distances import reached, weighted_graph
from frontier.nx_backend.mappings import by_some, each

__all__ = [
    "all_pairs_bellman_ford_path", "all_pairs_bellman_ford_path_length", "bellman_ford_path",
    "bellman_ford_path_length", "distances_to", "find_negative_cycle", "goldberg_radzik", "johnson",
    "negative_edge_cycle", "paths_to", "single_source_bellman_ford", "single_source_bellman_ford_path",
    "single_source_bellman_ford_path_length",
]  # fmt: skip

_UNBOUNDED = "Negative cycle detected."


def _check(graph: ConvertedGraph, source: Any) -> int:
    if source not in graph:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    return graph.vertex(source)


def _is_signed(graph: ConvertedGraph, weight: Any) -> bool:
    """Whether some weight is negative."""
    return weight is not None and bool((graph.weights(weight) < 0).any())


def _tree(graph: ConvertedGraph, start: int, weight: Any, reverse: bool = False) -> tuple[Array, Array, Array]:
    """The vertices that are reached, the nearest first; distances, and the vertex before each."""
    g = weighted_graph(graph, weight, reverse=reverse, signed=True)
    try:
        found = fr.bellman_ford(g, start)
    except NegativeCycleError as error:
        raise nx.NetworkXUnbounded(_UNBOUNDED) from error
    distance = host(found.distance)
    order = np.flatnonzero(reached(distance))
    return order[np.argsort(distance[order], kind="stable")], distance, host(found.parent)


def _distances(graph: ConvertedGraph, start: int, weight: Any, reverse: bool = False) -> Any:
    order, distance, _ = _tree(graph, start, weight, reverse)
    return by_some(graph, order, distance)


def _distances_and_paths(graph: ConvertedGraph, start: int, weight: Any, reverse: bool = False) -> tuple[Any, Any]:
    order, distance, parent = _tree(graph, start, weight, reverse)
    path = weighted.path_maker(graph, order, parent, reverse)
    paths = each(graph, order, path, lambda: [path(i) for i in range(len(order))])
    return by_some(graph, order, distance), paths


def single_source_bellman_ford(G: ConvertedGraph, source: Any, target: Any = None, weight: Any = "weight") -> Any:
    """Distances and paths from a node."""
    start = _check(G, source)
    no_path = f"Node {target} not reachable from {source}"
    if not _is_signed(G, weight):
        try:
            return weighted.single_source_dijkstra(G, source, target, weight=weight)
        except nx.NetworkXNoPath:
            raise nx.NetworkXNoPath(no_path) from None
    if target is not None and source == target:
        return 0, [source]
    distances, paths = _distances_and_paths(G, start, weight)
    if target is None:
        return distances, paths
    if target not in distances:
        raise nx.NetworkXNoPath(no_path)
    return distances[target], paths[target]


def single_source_bellman_ford_path(G: ConvertedGraph, source: Any, weight: Any = "weight") -> Any:
    """Paths from a node."""
    return single_source_bellman_ford(G, source, weight=weight)[1]


def single_source_bellman_ford_path_length(G: ConvertedGraph, source: Any, weight: Any = "weight") -> Any:
    """Distances from a node."""
    start = _check(G, source)
    if _is_signed(G, weight):
        return _distances(G, start, weight)
    return weighted.single_source_dijkstra_path_length(G, source, weight=weight)


def distances_to(graph: ConvertedGraph, target: Any, weight: Any) -> Any:
    """Distances to a node."""
    if _is_signed(graph, weight):
        return _distances(graph, _check(graph, target), weight, reverse=True)
    return weighted.distances_to(graph, target, weight)


def paths_to(graph: ConvertedGraph, target: Any, weight: Any) -> Any:
    """Paths to a node."""
    if _is_signed(graph, weight):
        return _distances_and_paths(graph, _check(graph, target), weight, reverse=True)[1]
    return weighted.paths_to(graph, target, weight)


def bellman_ford_path(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """A path between two nodes."""
    return single_source_bellman_ford(G, source, target, weight)[1]


def bellman_ford_path_length(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """The distance between two nodes."""
    _check(G, source)
    if _is_signed(G, weight):
        return single_source_bellman_ford(G, source, target, weight)[0]
    return weighted.dijkstra_path_length(G, source, target, weight)


def all_pairs_bellman_ford_path(G: ConvertedGraph, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    """Paths from every node."""
    if not _is_signed(G, weight):
        return weighted.all_pairs_dijkstra_path(G, weight=weight)
    return ((node, single_source_bellman_ford_path(G, node, weight)) for node in G.nodes)


def all_pairs_bellman_ford_path_length(G: ConvertedGraph, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    """Distances from every node."""
    if not _is_signed(G, weight):
        return weighted.all_pairs_dijkstra_path_length(G, weight=weight)
    return ((node, single_source_bellman_ford_path_length(G, node, weight)) for node in G.nodes)


def johnson(G: ConvertedGraph, weight: Any = "weight") -> dict[Any, Any]:
    """Paths between all pairs of nodes."""
    return dict(all_pairs_bellman_ford_path(G, weight))


def goldberg_radzik(G: ConvertedGraph, source: Any, weight: Any = "weight") -> tuple[dict[Any, Any], Any]:
    """The node before each node on a shortest path from a source, and distances."""
    order, distance, parent = _tree(G, _check(G, source), weight)
    nodes, before = G.names(order), G.names(parent[order])
    return {node: None if node == source else b for node, b in zip(nodes, before, strict=True)}, by_some(
        G, order, distance
    )


def negative_edge_cycle(G: ConvertedGraph, weight: Any = "weight", heuristic: bool = True) -> bool:
    """Whether there is a cycle of negative weight anywhere."""
    if not _is_signed(G, weight):
        return False
    try:
        fr.johnson(weighted_graph(G, weight, signed=True), sources=[])
    except NegativeCycleError:
        return True
    return False


def find_negative_cycle(G: ConvertedGraph, source: Any, weight: Any = "weight") -> list[Any]:
    """A cycle of negative weight that can be reached from a node; its first node is also its last."""
    try:
        fr.bellman_ford(weighted_graph(G, weight, signed=True), _check(G, source))
    except NegativeCycleError as error:
        return G.names(np.array(error.cycle))
    raise nx.NetworkXError("No negative cycles detected.")
