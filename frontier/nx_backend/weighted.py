"""Shortest paths by weights that are not negative."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

import frontier as fr
from frontier.graph.topology import Array
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.distances import distance_rows, reached, weighted_graph
from frontier.nx_backend.mappings import by_some, each
from frontier.nx_backend.reasons import refuse

__all__ = [
    "all_pairs_dijkstra", "all_pairs_dijkstra_path", "all_pairs_dijkstra_path_length", "bidirectional_dijkstra",
    "dijkstra_path", "dijkstra_path_length", "dijkstra_predecessor_and_distance", "distances_to", "floyd_warshall",
    "floyd_warshall_numpy", "multi_source_dijkstra", "multi_source_dijkstra_path",
    "multi_source_dijkstra_path_length", "paths_to", "single_source_dijkstra", "single_source_dijkstra_path",
    "single_source_dijkstra_path_length",
]  # fmt: skip


def _start(graph: ConvertedGraph, node: Any, message: str = "Node {} not found in graph") -> int:
    if node not in graph:
        raise nx.NodeNotFound(message.format(node))
    return graph.vertex(node)


def _nearest_first(distance: Array, cutoff: Any) -> Array:
    """The vertices that are reached, up to the cutoff, by distance."""
    there = reached(distance)
    found = np.flatnonzero(there if cutoff is None else there & (distance <= cutoff))
    return found[np.argsort(distance[found], kind="stable")]


def _searched(
    graph: ConvertedGraph, sources: Iterable[Any], weight: Any, cutoff: Any, *, paths: bool, reverse: bool = False
) -> tuple[Any, Any]:
    """Distances from, or in reverse to, the nearest of some nodes, and the paths if they are wanted."""
    starts = [*dict.fromkeys(_start(graph, source) for source in sources)]
    found = fr.sssp(
        weighted_graph(graph, weight, reverse=reverse), starts[0] if len(starts) == 1 else starts, parents=paths
    )
    distance = host(found.distance)
    order = _nearest_first(distance, cutoff)
    return by_some(graph, order, distance), _paths(graph, order, host(found.parent), reverse) if paths else None


def path_maker(graph: ConvertedGraph, order: Array, parent: Array, reverse: bool) -> Callable[[int], list[Any]]:
    """A function that gives the path to the i-th vertex of an order, along the tree of a search.

    Parameters
    ----------
    order : ndarray
        The vertices that are reached.
    parent : ndarray, shape (n,)
        The vertex before each; one that is its own or -1 is a start.
    reverse : bool
        Whether paths lead to the start.
    """

    def path(i: int) -> list[Any]:
        vertex = int(order[i])
        found = [vertex]
        while (before := int(parent[vertex])) not in (vertex, -1):
            found.append(vertex := before)
        return graph.names(np.array(found if reverse else found[::-1]))

    return path


def _paths(graph: ConvertedGraph, order: Array, parent: Array, reverse: bool) -> Any:
    """Paths by the node at their end; edges of weight 0 may have put a vertex before its parent."""
    path = path_maker(graph, order, parent, reverse)
    return each(graph, order, path, lambda: [path(i) for i in range(len(order))])


def multi_source_dijkstra(
    G: ConvertedGraph, sources: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Distances and paths from the nearest of some nodes."""
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        _start(G, source)
    if target in sources:
        return 0, [target]
    if target is None:
        return _searched(G, sources, weight, cutoff, paths=True)
    if target not in G:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    try:
        path = _path_between(G, list(sources), target, weight)
    except nx.NetworkXNoPath:
        raise nx.NetworkXNoPath(f"No path to {target}.") from None
    length = _length(G, path, weight)
    if cutoff is not None and length > cutoff:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return length, path


def multi_source_dijkstra_path(G: ConvertedGraph, sources: Any, cutoff: Any = None, weight: Any = "weight") -> Any:
    """Paths from the nearest of some nodes."""
    return multi_source_dijkstra(G, sources, cutoff=cutoff, weight=weight)[1]


def multi_source_dijkstra_path_length(
    G: ConvertedGraph, sources: Any, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Distances from the nearest of some nodes."""
    if not sources:
        raise ValueError("sources must not be empty")
    return _searched(G, sources, weight, cutoff, paths=False)[0]


def single_source_dijkstra(
    G: ConvertedGraph, source: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Distances and paths from a node."""
    return multi_source_dijkstra(G, {source}, target, cutoff, weight)


def single_source_dijkstra_path(G: ConvertedGraph, source: Any, cutoff: Any = None, weight: Any = "weight") -> Any:
    """Paths from a node."""
    return _searched(G, [source], weight, cutoff, paths=True)[1]


def single_source_dijkstra_path_length(
    G: ConvertedGraph, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Distances from a node."""
    return _searched(G, [source], weight, cutoff, paths=False)[0]


def distances_to(graph: ConvertedGraph, target: Any, weight: Any) -> Any:
    """Distances to a node."""
    return _searched(graph, [target], weight, None, paths=False, reverse=True)[0]


def paths_to(graph: ConvertedGraph, target: Any, weight: Any) -> Any:
    """Paths to a node."""
    return _searched(graph, [target], weight, None, paths=True, reverse=True)[1]


def dijkstra_path(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """A path between two nodes."""
    return multi_source_dijkstra(G, {source}, target, weight=weight)[1]


def dijkstra_path_length(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """The distance between two nodes."""
    _start(G, source)
    if source == target:
        return 0
    if target not in G:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    try:
        return _length(G, _path_between(G, [source], target, weight), weight)
    except nx.NetworkXNoPath:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from None


def bidirectional_dijkstra(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """The distance between two nodes, and a path."""
    _start(G, source, "Source {} is not in G")
    _start(G, target, "Target {} is not in G")
    if source == target:
        return 0, [source]
    path = _path_between(G, [source], target, weight)
    return _length(G, path, weight), path


def _path_between(graph: ConvertedGraph, sources: list[Any], target: Any, weight: Any) -> list[Any]:
    """A shortest path to a node from the nearest of some."""
    g, starts, end = weighted_graph(graph, weight), [*map(graph.vertex, sources)], graph.vertex(target)
    if len(starts) == 1:
        path: Any = fr.shortest_path(g, starts[0], end, weighted=True).path
    else:
        path = fr.sssp(g, starts, target=end).path
    if not len(path):
        raise nx.NetworkXNoPath(f"No path between {sources[0]} and {target}.")
    return graph.names(np.asarray(path))


def _length(graph: ConvertedGraph, path: list[Any], weight: Any) -> Any:
    """The weights along a path, added from its start, as NetworkX adds them."""
    edges = graph.to_networkx()._adj
    if graph.is_multigraph():
        return sum(min(data.get(weight, 1) for data in edges[a][b].values()) for a, b in pairwise(path))
    return sum(edges[a][b].get(weight, 1) for a, b in pairwise(path))


def all_pairs_dijkstra(
    G: ConvertedGraph, cutoff: Any = None, weight: Any = "weight"
) -> Iterator[tuple[Any, tuple[Any, Any]]]:
    """Distances and paths from every node."""
    weighted_graph(G, weight)  # says now what it cannot do
    return ((node, _searched(G, [node], weight, cutoff, paths=True)) for node in G.nodes)


def all_pairs_dijkstra_path(
    G: ConvertedGraph, cutoff: Any = None, weight: Any = "weight"
) -> Iterator[tuple[Any, Any]]:
    """Paths from every node."""
    return ((node, paths) for node, (_, paths) in all_pairs_dijkstra(G, cutoff, weight))


def all_pairs_dijkstra_path_length(
    G: ConvertedGraph, cutoff: Any = None, weight: Any = "weight"
) -> Iterator[tuple[Any, Any]]:
    """Distances from every node."""
    weighted_graph(G, weight)
    return (
        (G.nodes[vertex], by_some(G, _nearest_first(distance, cutoff), distance))
        for vertices, rows, _ in distance_rows(G, np.arange(len(G)), weight, True)
        for vertex, distance in zip(vertices.tolist(), rows, strict=True)
    )


def dijkstra_predecessor_and_distance(
    G: ConvertedGraph, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> tuple[dict[Any, list[Any]], Any]:
    """The nodes before each node on shortest paths from a source, and distances."""
    start = _start(G, source, "Node {} is not found in the graph")
    g = weighted_graph(G, weight)
    if len(G.read.data) and weight is not None and not (G.weights(weight) > 0).all():
        refuse("weights of 0, where NetworkX leaves out some predecessors")
    distance = host(fr.sssp(g, start, parents=False).distance)
    order = _nearest_first(distance, cutoff)
    within = np.zeros(len(G), bool)
    within[order] = True
    before, after = host(g.sources), host(g.targets)
    on_path = within[before] & within[after]
    before, after = before[on_path], after[on_path]
    tight = distance[before] + host(g.weights)[on_path] == distance[after]
    before, after = before[tight], after[tight]
    near = np.argsort(distance[before], kind="stable")
    found: dict[Any, list[Any]] = {node: [] for node in G.names(order)}
    for a, b in zip(G.names(before[near]), G.names(after[near]), strict=True):
        found[b].append(a)
    return found, by_some(G, order, distance)


def floyd_warshall(G: ConvertedGraph, weight: Any = "weight") -> dict[Any, Any]:
    """Distances between all pairs; infinite where there is no path."""
    matrix = _matrix(G, weight)
    every = np.arange(len(G))
    return {node: by_some(G, every, row) for node, row in zip(G.nodes, matrix, strict=True)}


def floyd_warshall_numpy(G: ConvertedGraph, nodelist: Any = None, weight: Any = "weight") -> Array:
    """Distances between all pairs as a matrix."""
    if nodelist is None:
        return _matrix(G, weight).astype(float)
    if not len(nodelist) == len(G) == len(set(nodelist)):
        raise nx.NetworkXError(
            "nodelist must contain every node in G with no repeats."
            "If you wanted a subgraph of G use G.subgraph(nodelist)"
        )
    if not all(node in G for node in nodelist):
        refuse("NetworkX says which nodes are missing")
    order = G.vertices(nodelist)
    return _matrix(G, weight)[np.ix_(order, order)].astype(float)


def _matrix(graph: ConvertedGraph, weight: Any) -> Array:
    if not len(graph):
        refuse("an empty graph")
    rows = []
    for _, distance, there in distance_rows(graph, np.arange(len(graph)), weight, True):
        rows.append(distance if there.all() else np.where(there, distance, np.inf))
    return np.concatenate(rows)
