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
    "articulation_points", "attracting_components", "biconnected_component_edges", "biconnected_components", "bridges",
    "condensation", "connected_components", "groups", "has_bridges", "is_attracting_component", "is_biconnected",
    "is_connected", "is_forest", "is_strongly_connected", "is_tree", "is_weakly_connected",
    "node_connected_component", "number_attracting_components", "number_connected_components",
    "number_strongly_connected_components",
    "number_weakly_connected_components", "strongly_connected_components", "weakly_connected_components",
]  # fmt: skip

_UNDIRECTED = "a directed graph"
_DIRECTED = "a graph without directions"
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
    return groups(G, _strong(G)[0])


def _strong(graph: ConvertedGraph) -> tuple[Array, Array]:
    """The number of each node's strongly connected component, and the edges between them.

    No edge leads from a component to one with a higher number.
    """
    label = host(fr.strongly_connected_components(graph.graph()).label)
    _, number = np.unique(label, return_inverse=True)
    count = int(number.max(initial=-1)) + 1
    src, dst = (number[ends] for ends in graph.read.ends)
    between = src != dst
    edges = np.stack([src[between], dst[between]])
    if not edges.size:
        return number, edges
    condensed = fr.from_edges(*edges, num_vertices=count, directed=True, duplicates="first")
    level = host(fr.topological_order(condensed).level)
    rank = np.empty(count, np.int64)
    rank[np.argsort(-level, kind="stable")] = np.arange(count)
    return rank[number], rank[edges]


@lacks(undirected=_DIRECTED)
def condensation(G: ConvertedGraph, scc: Any = None) -> Any:
    """The graph of the strongly connected components, with the members of each."""
    made = nx.DiGraph()
    made.graph["mapping"] = mapping = {}
    if not len(G):
        return made
    if scc is None:
        number, edges = _strong(G)
        members = [*groups(G, number)]
    else:
        members = [*scc]
        number = np.empty(len(G), np.int64)
        for i, each in enumerate(members):
            number[G.vertices(each)] = i
        edges = np.stack([number[ends] for ends in G.read.ends])
        edges = edges[:, edges[0] != edges[1]]
    for i, each in enumerate(members):
        mapping.update(dict.fromkeys(each, i))
        made.add_node(i, members=each)
    made.add_edges_from(np.unique(edges, axis=1).T.tolist())
    return made


@lacks(undirected=_DIRECTED)
def attracting_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    """The strongly connected components that no edge leaves."""
    number, edges = _strong(G)
    left = np.zeros(int(number.max(initial=-1)) + 1, bool)
    left[edges[0]] = True
    return (members for members, has in zip(groups(G, number), left, strict=True) if not has)


@lacks(undirected=_DIRECTED)
def number_attracting_components(G: ConvertedGraph) -> int:
    """The number of strongly connected components that no edge leaves."""
    return sum(1 for _ in attracting_components(G))


@lacks(undirected=_DIRECTED)
def is_attracting_component(G: ConvertedGraph) -> bool:
    """Whether no edge leaves the only strongly connected component."""
    found = [*attracting_components(G)]
    return len(found) == 1 and len(found[0]) == len(G)


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


@lacks(directed=_UNDIRECTED)
def biconnected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    """The sets of nodes that stay connected without any one of them."""
    found = fr.biconnected_components(G.graph(loops="drop"))
    return (set(G.names(np.array(members))) for members in found.components)


@lacks(directed=_UNDIRECTED)
def biconnected_component_edges(G: ConvertedGraph) -> Iterator[list[tuple[Any, Any]]]:
    """The edges within such sets of nodes."""
    if G.has_loops:
        refuse("an edge from a node to itself")
    found = fr.biconnected_components(G.graph(loops="drop"))
    return ([*zip(*(G.names(ends) for ends in np.array(edges).T), strict=True)] for edges in found.edge_components)


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
