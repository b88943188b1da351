"""The functions that NetworkX has for negative weights, too; here weights must not be negative yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from frontier.nx_backend import weighted
from frontier.nx_backend.converted import ConvertedGraph

__all__ = [
    "all_pairs_bellman_ford_path", "all_pairs_bellman_ford_path_length", "bellman_ford_path",
    "bellman_ford_path_length", "single_source_bellman_ford", "single_source_bellman_ford_path",
    "single_source_bellman_ford_path_length",
]  # fmt: skip


def _check(graph: ConvertedGraph, source: Any) -> None:
    if source not in graph:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")


def single_source_bellman_ford(G: ConvertedGraph, source: Any, target: Any = None, weight: Any = "weight") -> Any:
    """Distances and paths from a node."""
    _check(G, source)
    try:
        return weighted.single_source_dijkstra(G, source, target, weight=weight)
    except nx.NetworkXNoPath:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from None


def single_source_bellman_ford_path(G: ConvertedGraph, source: Any, weight: Any = "weight") -> Any:
    """Paths from a node."""
    return single_source_bellman_ford(G, source, weight=weight)[1]


def single_source_bellman_ford_path_length(G: ConvertedGraph, source: Any, weight: Any = "weight") -> Any:
    """Distances from a node."""
    _check(G, source)
    return weighted.single_source_dijkstra_path_length(G, source, weight=weight)


def bellman_ford_path(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """A path between two nodes."""
    return single_source_bellman_ford(G, source, target, weight)[1]


def bellman_ford_path_length(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """The distance between two nodes."""
    _check(G, source)
    return weighted.dijkstra_path_length(G, source, target, weight)


def all_pairs_bellman_ford_path(G: ConvertedGraph, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    """Paths from every node."""
    return weighted.all_pairs_dijkstra_path(G, weight=weight)


def all_pairs_bellman_ford_path_length(G: ConvertedGraph, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    """Distances from every node."""
    return weighted.all_pairs_dijkstra_path_length(G, weight=weight)
