"""All shortest paths, not one of them for each node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from frontier.nx_backend.converted import ConvertedGraph
from frontier.nx_backend.paths import predecessor
from frontier.nx_backend.reasons import refuse
from frontier.nx_backend.weighted import dijkstra_predecessor_and_distance

__all__ = ["all_pairs_all_shortest_paths", "all_shortest_paths", "single_source_all_shortest_paths"]


def _before(graph: ConvertedGraph, source: Any, weight: Any, method: str) -> dict[Any, list[Any]]:
    """The nodes before each node on shortest paths."""
    if weight is None:
        found: dict[Any, list[Any]] = predecessor(graph, source)
        return found
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    if method == "bellman-ford" and (weights := graph.weights(weight)).size and weights.min() < 0:
        refuse("predecessors by negative weights")
    return dijkstra_predecessor_and_distance(graph, source, weight=weight)[0]


def _paths(before: dict[Any, list[Any]], source: Any, target: Any) -> Iterator[list[Any]]:
    """The paths to a node, backward along the nodes before it; there are no cycles among these."""
    if target not in before:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    path, left = [target], [iter(before[target])]
    if target == source:
        yield [target]
        return
    while left:
        node = next(left[-1], _END)
        if node is _END:
            left.pop()
            path.pop()
        elif node == source:
            yield [source, *reversed(path)]
        else:
            path.append(node)
            left.append(iter(before[node]))


_END = object()


def all_shortest_paths(
    G: ConvertedGraph, source: Any, target: Any, weight: Any = None, method: str = "dijkstra"
) -> Iterator[list[Any]]:
    """The shortest paths between two nodes."""
    return _paths(_before(G, source, weight, method), source, target)


def single_source_all_shortest_paths(
    G: ConvertedGraph, source: Any, weight: Any = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, list[list[Any]]]]:
    """The shortest paths from a node, by the node at their end."""
    before = _before(G, source, weight, method)
    return ((node, [*_paths(before, source, node)]) for node in before)


def all_pairs_all_shortest_paths(
    G: ConvertedGraph, weight: Any = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, dict[Any, list[list[Any]]]]]:
    """The shortest paths between all pairs of nodes."""
    return ((node, dict(single_source_all_shortest_paths(G, node, weight, method))) for node in G.nodes)
