"""Breadth-first searches whose order is that of NetworkX: neighbours are visited as the dictionaries have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np

import frontier as fr
from frontier.graph.topology import Array
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.reasons import lacks, refuse

__all__ = [
    "ancestors", "bfs_edges", "bfs_layers", "bfs_predecessors", "bfs_successors", "bfs_tree", "descendants",
    "descendants_at_distance", "entries_of", "forward", "levels", "levels_of_many", "ordered_layers",
]  # fmt: skip

_SORTED = "neighbours in an order of your own"


def levels(graph: ConvertedGraph, vertex: int, *, reverse: bool = False, cutoff: float | None = None) -> Array:
    """The distance of each vertex in edges; -1 beyond the cutoff, and where there is no way."""
    return _cut(host(fr.bfs(graph.graph(reverse=reverse), vertex).level), cutoff)


def _cut(level: Array, cutoff: float | None) -> Array:
    """Levels without those that a search with a cutoff does not begin, at which it has come as far as the cutoff."""
    return level if cutoff is None else np.where((level > 0) & (level - 1 >= cutoff), -1, level)


def levels_of_many(
    graph: ConvertedGraph, vertices: Array, *, reverse: bool = False, cutoff: float | None = None
) -> Array:
    """The same from several vertices: a row for each."""
    return _cut(host(fr.bfs_many(graph.graph(reverse=reverse), vertices).level), cutoff)


def ordered_layers(
    graph: ConvertedGraph, starts: Iterable[int], *, reverse: bool = False, cutoff: float | None = None
) -> tuple[list[Array], Array]:
    """Search as NetworkX does, level by level.

    Returns
    -------
    layers : list of ndarray
        The vertices of each level, in the order in which they are found.
    parent : ndarray, shape (n,)
        By which vertex each is found.
    """
    offsets, targets = _backward(graph) if reverse and graph.is_directed() else forward(graph)
    parent = np.full(len(graph), -1)
    layer = np.array([*starts], np.int64)
    seen = np.zeros(len(graph), bool)
    seen[layer] = True
    layers = [layer]
    while cutoff is None or len(layers) - 1 < cutoff:
        entries, owners = entries_of(offsets, layer)
        ends = targets[entries]
        new = ~seen[ends]
        ends, owners = ends[new], owners[new]
        if not len(ends):
            break
        _, first = np.unique(ends, return_index=True)
        first.sort()
        layer = ends[first]
        seen[layer] = True
        parent[layer] = owners[first]
        layers.append(layer)
    return layers, parent


def entries_of(offsets: Array, layer: Array) -> tuple[Array, Array]:
    """The entries of the adjacency of some vertices, one after the other, and whose each is."""
    counts = offsets[layer + 1] - offsets[layer]
    before = np.cumsum(counts) - counts
    return np.repeat(offsets[layer] - before, counts) + np.arange(counts.sum()), np.repeat(layer, counts)


def forward(graph: ConvertedGraph) -> tuple[Array, Array]:
    """Where the entries of each vertex begin, and their targets."""
    if "forward" not in graph._made:
        graph._made["forward"] = np.concatenate([[0], np.cumsum(graph.read.degrees)])
    return graph._made["forward"], graph.read.targets


def _backward(graph: ConvertedGraph) -> tuple[Array, Array]:
    """The same along edges that lead to a vertex: the order of ``G._pred``, which the arrays do not have."""
    if "backward" not in graph._made:
        lists = graph.to_networkx()._pred
        degrees = np.fromiter((len(lists[node]) for node in graph.nodes), np.int64, len(graph))
        ends = (graph.vertex(node) for of in graph.nodes for node in lists[of])
        graph._made["backward"] = np.concatenate([[0], np.cumsum(degrees)]), np.fromiter(ends, np.int64)
    found: tuple[Array, Array] = graph._made["backward"]
    return found


def start(graph: ConvertedGraph, source: Any) -> int:
    """The vertex of a node.

    Raises
    ------
    networkx.NetworkXError
        It is not in the graph.
    """
    if source not in graph:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return graph.vertex(source)


@lacks(sort_neighbors=_SORTED)
def bfs_edges(
    G: ConvertedGraph, source: Any, reverse: bool = False, depth_limit: Any = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """The edges of a breadth-first search."""
    layers, parent = ordered_layers(G, [start(G, source)], reverse=reverse, cutoff=depth_limit)
    found = np.concatenate(layers[1:]) if len(layers) > 1 else np.zeros(0, np.int64)
    return zip(G.names(parent[found]), G.names(found), strict=True)


@lacks(sort_neighbors=_SORTED)
def bfs_tree(
    G: ConvertedGraph, source: Any, reverse: bool = False, depth_limit: Any = None, sort_neighbors: Any = None
) -> Any:
    """The tree of a breadth-first search."""
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(bfs_edges(G, source, reverse, depth_limit))
    return tree


@lacks(sort_neighbors=_SORTED)
def bfs_predecessors(
    G: ConvertedGraph, source: Any, depth_limit: Any = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Each node that is found, and by which."""
    return ((child, parent) for parent, child in bfs_edges(G, source, depth_limit=depth_limit))


@lacks(sort_neighbors=_SORTED)
def bfs_successors(
    G: ConvertedGraph, source: Any, depth_limit: Any = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, list[Any]]]:
    """Each node that finds others, and these."""
    layers, parent = ordered_layers(G, [start(G, source)], cutoff=depth_limit)
    if len(layers) == 1:
        return iter([(source, [])])
    found = np.concatenate(layers[1:])
    parents = parent[found]
    cuts = np.flatnonzero(np.diff(parents)) + 1  # children of the same parent follow each other
    heads = G.names(parents[np.concatenate([[0], cuts])])
    return ((head, G.names(children)) for head, children in zip(heads, np.split(found, cuts), strict=True))


def bfs_layers(G: ConvertedGraph, sources: Any) -> Iterator[list[Any]]:
    """The nodes of each level."""
    if sources in G:
        sources = [sources]
    starts = [*dict.fromkeys(start(G, source) for source in sources)]
    return (G.names(layer) for layer in ordered_layers(G, starts)[0]) if starts else iter([])


def descendants_at_distance(G: ConvertedGraph, source: Any, distance: Any) -> set[Any]:
    """The nodes of one level."""
    if distance != int(distance) or distance < 0:
        refuse("a distance that no node has")
    return set(G.names(np.flatnonzero(levels(G, start(G, source)) == distance)))


def descendants(G: ConvertedGraph, source: Any) -> set[Any]:
    """The nodes to which there is a way."""
    return set(G.names(np.flatnonzero(levels(G, start(G, source)) > 0)))


def ancestors(G: ConvertedGraph, source: Any) -> set[Any]:
    """The nodes from which there is a way."""
    return set(G.names(np.flatnonzero(levels(G, start(G, source), reverse=True) > 0)))
