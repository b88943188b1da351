"""Components, and the nodes and edges that hold them together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import frontier as fr
from frontier.graph.topology import Array
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.reasons import lacks, refuse
from frontier.nx_backend.traversal import levels

__all__ = [
    "articulation_points", "bridges", "connected_components", "groups", "has_bridges", "is_biconnected",
    "is_connected", "is_forest", "is_strongly_connected", "is_tree", "is_weakly_connected",
    "node_connected_component", "number_connected_components", "number_strongly_connected_components",
    "number_weakly_connected_components", "strongly_connected_components", "weakly_connected_components",
]  # fmt: skip

_UNDIRECTED = "a directed graph"
_NOTHING = "Connectivity is undefined for the null graph."


def groups(graph: ConvertedGraph, label: Array) -> Iterator[set[Any]]:
    """The sets of nodes with the same label, in the order of labels; each is made when it is asked for."""
    order = np.argsort(label, kind="stable")
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    parts = np.split(order, cuts) if len(order) else []
    return (set(graph.names(part)) for part in parts)


def _count(graph: ConvertedGraph, strong: bool = False) -> int:
    find = fr.strongly_connected_components if strong else fr.connected_components
    return int(find(graph.graph()).count)


def _is_one(graph: ConvertedGraph, strong: bool = False) -> bool:
    if not len(graph):
        raise nx.NetworkXPointlessConcept(_NOTHING)
    return _count(graph, strong) == 1


@lacks(directed=_UNDIRECTED)
def connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    """The components of an undirected graph."""
    return groups(G, host(fr.connected_components(G.graph()).label))


def weakly_connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    """The components of a directed graph, along edges in either direction."""
    return groups(G, host(fr.connected_components(G.graph()).label))


def strongly_connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    """The strongly connected components, those first from which no edge leads to a later one, as in NetworkX."""
    label = host(fr.strongly_connected_components(G.graph()).label)
    _, number = np.unique(label, return_inverse=True)
    count = int(number.max(initial=-1)) + 1
    src, dst = (number[ends] for ends in G.read.ends)
    between = src != dst
    if not between.any():
        return groups(G, number)
    condensed = fr.from_edges(src[between], dst[between], num_vertices=count, directed=True, duplicates="first")
    level = host(fr.topological_order(condensed).level)
    rank = np.empty(count, np.int64)
    rank[np.argsort(-level, kind="stable")] = np.arange(count)
    return groups(G, rank[number])


@lacks(directed=_UNDIRECTED)
def number_connected_components(G: ConvertedGraph) -> int:
    """The number of components."""
    return _count(G)


def number_weakly_connected_components(G: ConvertedGraph) -> int:
    """The number of components along edges in either direction."""
    return _count(G)


def number_strongly_connected_components(G: ConvertedGraph) -> int:
    """The number of strongly connected components."""
    return _count(G, strong=True)


@lacks(directed=_UNDIRECTED)
def is_connected(G: ConvertedGraph) -> bool:
    """Whether there is one component."""
    return _is_one(G)


def is_weakly_connected(G: ConvertedGraph) -> bool:
    """Whether there is one component along edges in either direction."""
    return _is_one(G)


def is_strongly_connected(G: ConvertedGraph) -> bool:
    """Whether there is one strongly connected component."""
    return _is_one(G, strong=True)


def is_forest(G: ConvertedGraph) -> bool:
    """Whether there are no cycles along edges in either direction."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return len(G) - G.number_of_edges() == _count(G)


def is_tree(G: ConvertedGraph) -> bool:
    """Whether it is a forest in one piece."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return len(G) - 1 == G.number_of_edges() and _count(G) == 1


@lacks(directed=_UNDIRECTED)
def node_connected_component(G: ConvertedGraph, n: Any) -> set[Any]:
    """The component of a node."""
    if n not in G:
        raise KeyError(n)
    return set(G.names(np.flatnonzero(levels(G, G.vertex(n)) >= 0)))


def articulation_points(G: ConvertedGraph) -> Iterator[Any]:
    """The nodes without which a component falls apart."""
    found = host(fr.articulation_points(G.graph(loops="drop")).is_articulation)
    return iter(G.names(np.flatnonzero(found)))


def is_biconnected(G: ConvertedGraph) -> bool:
    """Whether the graph stays connected without any one node."""
    if len(G) < 2:
        refuse("fewer than two nodes")
    g = G.graph(loops="drop")
    return bool(fr.connected_components(g).count == 1 and fr.articulation_points(g).count == 0)


def bridges(G: ConvertedGraph, root: Any = None) -> Iterator[tuple[Any, Any]]:
    """The edges without which a component falls apart."""
    if root is not None and root not in G:
        raise nx.NodeNotFound(f"Root node {root} is not in graph")
    edges = host(fr.bridges(G.graph(parallel="keep")).edges).reshape(-1, 2)
    if root is not None:
        edges = edges[levels(G, G.vertex(root))[edges[:, 0]] >= 0]
    return zip(G.names(edges[:, 0]), G.names(edges[:, 1]), strict=True)


def has_bridges(G: ConvertedGraph, root: Any = None) -> bool:
    """Whether there is a bridge."""
    return next(bridges(G, root), None) is not None
