"""Shortest paths in edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np

import frontier as fr
from frontier.graph.topology import Array
from frontier.nx_backend import bellman_ford, weighted
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.distances import check_connected, total_distance
from frontier.nx_backend.mappings import by_some, each
from frontier.nx_backend.reasons import refuse
from frontier.nx_backend.traversal import entries_of, forward, levels, levels_of_many, ordered_layers

__all__ = [
    "all_pairs_shortest_path", "all_pairs_shortest_path_length", "average_shortest_path_length",
    "bidirectional_shortest_path", "global_efficiency", "has_path", "predecessor", "shortest_path",
    "shortest_path_length", "single_source_shortest_path", "single_source_shortest_path_length",
    "single_target_shortest_path", "single_target_shortest_path_length", "wiener_index",
]  # fmt: skip

#: Searches that run side by side.
SIDE_BY_SIDE = 256


def _start(graph: ConvertedGraph, node: Any, message: str) -> int:
    if node not in graph:
        raise nx.NodeNotFound(message)
    return graph.vertex(node)


def _by_level(graph: ConvertedGraph, level: Array) -> Any:
    """The levels of nodes that are reached, the nearest first."""
    reached = np.flatnonzero(level >= 0)
    near = level[reached].astype(np.uint16) if level.max(initial=0) < 1 << 16 else level[reached]  # sorted by radix
    return by_some(graph, reached[np.argsort(near, kind="stable")], level)


def single_source_shortest_path_length(G: ConvertedGraph, source: Any, cutoff: Any = None) -> Any:
    """Distances from a node."""
    return _by_level(G, levels(G, _start(G, source, f"Source {source} is not in G"), cutoff=cutoff))


def single_target_shortest_path_length(G: ConvertedGraph, target: Any, cutoff: Any = None) -> Any:
    """Distances to a node."""
    return _by_level(G, levels(G, _start(G, target, f"Target {target} is not in G"), reverse=True, cutoff=cutoff))


def all_pairs_shortest_path_length(G: ConvertedGraph, cutoff: Any = None) -> Iterator[tuple[Any, Any]]:
    """Distances from every node."""
    for first in range(0, len(G), SIDE_BY_SIDE):
        vertices = np.arange(first, min(first + SIDE_BY_SIDE, len(G)))
        for node, level in zip(G.names(vertices), levels_of_many(G, vertices, cutoff=cutoff), strict=True):
            yield node, _by_level(G, level)


def paths_of(graph: ConvertedGraph, order: Array, parent: Array, reverse: bool = False) -> Any:
    """The paths along the tree of a search, by the node at their end, which are made when asked for.

    Parameters
    ----------
    order : ndarray
        The vertices that are reached, each after its parent.
    parent, reverse
        As for :func:`frontier.nx_backend.weighted.path_maker`.
    """
    path = weighted.path_maker(graph, order, parent, reverse)

    def all_paths() -> list[list[Any]]:
        made: dict[int, list[Any]] = {}
        for vertex, before, node in zip(order.tolist(), parent[order].tolist(), graph.names(order), strict=True):
            rest = [] if before in (vertex, -1) else made[before]
            made[vertex] = [node, *rest] if reverse else [*rest, node]
        return list(made.values())

    return each(graph, order, path, all_paths)


def _paths(graph: ConvertedGraph, vertex: int, cutoff: Any, reverse: bool = False) -> Any:
    layers, parent = ordered_layers(graph, [vertex], cutoff=cutoff, reverse=reverse)
    return paths_of(graph, np.concatenate(layers), parent, reverse)


def single_source_shortest_path(G: ConvertedGraph, source: Any, cutoff: Any = None) -> Any:
    """Paths from a node."""
    return _paths(G, _start(G, source, f"Source {source} not in G"), cutoff)


def single_target_shortest_path(G: ConvertedGraph, target: Any, cutoff: Any = None) -> Any:
    """Paths to a node."""
    return _paths(G, _start(G, target, f"Target {target} not in G"), cutoff, reverse=True)


def all_pairs_shortest_path(G: ConvertedGraph, cutoff: Any = None) -> Iterator[tuple[Any, Any]]:
    """Paths from every node."""
    return ((node, _paths(G, vertex, cutoff)) for vertex, node in enumerate(G.nodes))


def predecessor(
    G: ConvertedGraph, source: Any, target: Any = None, cutoff: Any = None, return_seen: Any = None
) -> Any:
    """The nodes before each node on shortest paths from a source."""
    if cutoff is not None and cutoff < 0:
        refuse("a negative cutoff")
    layers, _ = ordered_layers(G, [_start(G, source, f"Source {source} not in G")], cutoff=cutoff or None)
    order = np.concatenate(layers)
    level = np.full(len(G), -1)
    for depth, layer in enumerate(layers):
        level[layer] = depth
    offsets, targets = forward(G)
    entries, before = entries_of(offsets, order)
    after = targets[entries]
    onward = level[after] == level[before] + 1
    found: dict[Any, list[Any]] = {node: [] for node in G.names(order)}
    for a, b in zip(G.names(before[onward]), G.names(after[onward]), strict=True):
        found[b].append(a)
    if target is None:
        return (found, by_some(G, order, level)) if return_seen else found
    if return_seen:
        return (found[target], int(level[G.vertex(target)])) if target in found else ([], -1)
    return found.get(target, [])


def bidirectional_shortest_path(G: ConvertedGraph, source: Any, target: Any) -> list[Any]:
    """A path between two nodes."""
    a = _start(G, source, f"Source {source} is not in G")
    b = _start(G, target, f"Target {target} is not in G")
    path = fr.shortest_path(G.graph(), a, b).path
    if not len(path):
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return G.names(np.asarray(path))


def has_path(G: ConvertedGraph, source: Any, target: Any) -> bool:
    """Whether there is a path."""
    try:
        bidirectional_shortest_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


def shortest_path(
    G: ConvertedGraph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Paths between two nodes, from one, to one, or between all."""
    if _method(weight, method) == "unweighted":
        one, many, to, every = (
            bidirectional_shortest_path, single_source_shortest_path, single_target_shortest_path,
            all_pairs_shortest_path,
        )  # fmt: skip
        return _asked(G, source, target, one, many, to, every)
    if method == "bellman-ford":
        return _asked(
            G, source, target,
            lambda G, source, target: bellman_ford.bellman_ford_path(G, source, target, weight),
            lambda G, source: bellman_ford.single_source_bellman_ford_path(G, source, weight),
            lambda G, target: bellman_ford.paths_to(G, target, weight),
            lambda G: bellman_ford.all_pairs_bellman_ford_path(G, weight),
        )  # fmt: skip
    return _asked(
        G, source, target,
        lambda G, source, target: weighted.bidirectional_dijkstra(G, source, target, weight)[1],
        lambda G, source: weighted.single_source_dijkstra_path(G, source, weight=weight),
        lambda G, target: weighted.paths_to(G, target, weight),
        lambda G: weighted.all_pairs_dijkstra_path(G, weight=weight),
    )  # fmt: skip


def shortest_path_length(
    G: ConvertedGraph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Distances between two nodes, from one, to one, or between all."""
    if _method(weight, method) == "unweighted":
        return _asked(
            G, source, target, lambda *ends: len(bidirectional_shortest_path(*ends)) - 1,
            single_source_shortest_path_length, single_target_shortest_path_length, all_pairs_shortest_path_length,
        )  # fmt: skip
    if method == "bellman-ford":
        return _asked(
            G, source, target,
            lambda G, source, target: bellman_ford.bellman_ford_path_length(G, source, target, weight),
            lambda G, source: bellman_ford.single_source_bellman_ford_path_length(G, source, weight),
            lambda G, target: bellman_ford.distances_to(G, target, weight),
            lambda G: bellman_ford.all_pairs_bellman_ford_path_length(G, weight),
        )  # fmt: skip
    return _asked(
        G, source, target,
        lambda G, source, target: weighted.dijkstra_path_length(G, source, target, weight),
        lambda G, source: weighted.single_source_dijkstra_path_length(G, source, weight=weight),
        lambda G, target: weighted.distances_to(G, target, weight),
        lambda G: weighted.all_pairs_dijkstra_path_length(G, weight=weight),
    )  # fmt: skip


def _method(weight: Any, method: str) -> str:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    return "unweighted" if weight is None else method


def _asked(
    graph: ConvertedGraph,
    source: Any,
    target: Any,
    one: Callable[..., Any],
    many: Callable[..., Any],
    to: Callable[..., Any],
    every: Callable[..., Any],
) -> Any:
    """Call the function for the ends that are given."""
    if source is None:
        return every(graph) if target is None else to(graph, target)
    return many(graph, source) if target is None else one(graph, source, target)


_METHODS = ("unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy")


def average_shortest_path_length(G: ConvertedGraph, weight: Any = None, method: Any = None) -> float:
    """The mean distance between two nodes."""
    if method is None:
        method = "unweighted" if weight is None else "dijkstra"
    if method not in _METHODS:
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if n == 1:
        return 0
    check_connected(G, "Graph is not strongly connected.", "Graph is not connected.")
    return float(total_distance(G, weight, method != "unweighted") / (n * (n - 1)))


def global_efficiency(G: ConvertedGraph) -> float:
    """The mean of the inverse distances between two nodes."""
    n = len(G)
    return float(host(fr.harmonic(G.graph()).centrality).sum() / (n * (n - 1))) if n > 1 else 0


def wiener_index(G: ConvertedGraph, weight: Any = None) -> Any:
    """The sum of the distances between two nodes."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    try:
        check_connected(G, "", "")
    except nx.NetworkXError:
        return float("inf")
    total = total_distance(G, weight, weight is not None)
    return total if G.is_directed() else total / 2
