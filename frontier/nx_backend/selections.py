"""Choices of nodes and edges: spanning trees, matchings, independent sets, colours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.coloring.greedy_coloring import STRATEGIES
from networkx.utils import create_py_random_state

import frontier as fr
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.mappings import by_node
from frontier.nx_backend.reasons import lacks, refuse

__all__ = [
    "greedy_color", "maximal_independent_set", "maximal_matching", "maximum_spanning_edges", "maximum_spanning_tree",
    "minimum_spanning_edges", "minimum_spanning_tree",
]  # fmt: skip

_ALGORITHMS = ("kruskal", "prim", "boruvka", "borůvka")


def _tree_edges(
    graph: ConvertedGraph, algorithm: str, weight: Any, keys: bool, data: bool, sign: int
) -> Iterator[tuple[Any, ...]]:
    """The edges of a spanning forest, the lightest first, as NetworkX gives them; ``sign`` -1 for the heaviest."""
    if algorithm not in _ALGORITHMS:
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    if graph.is_multigraph() and algorithm.startswith("bor"):
        refuse("a multigraph")
    g = graph.graph(weight, parallel="min", negate=sign < 0, ones=weight is None)
    slots = host(fr.minimum_spanning_forest(g).edges)
    slots = slots[np.argsort(host(g.weights)[slots], kind="stable")]
    ends = zip(graph.names(host(g.sources)[slots]), graph.names(host(g.targets)[slots]), strict=True)
    edges = graph.to_networkx()._adj
    multi = graph.is_multigraph()
    for u, v in ends:
        found: tuple[Any, ...] = (u, v)
        about = edges[u][v]
        if multi:
            key = min(about, key=lambda key: sign * about[key].get(weight, 1))
            found, about = ((u, v, key) if keys else found), about[key]
        yield (*found, about) if data else found


def _tree(graph: ConvertedGraph, algorithm: str, weight: Any, sign: int) -> Any:
    """The spanning forest as a graph, with all attributes."""
    original = graph.to_networkx()
    tree = original.__class__()
    tree.graph.update(original.graph)
    tree.add_nodes_from(original.nodes.items())
    tree.add_edges_from(_tree_edges(graph, algorithm, weight, True, True, sign))
    return tree


def _listed(edges: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Edges that are all found now, so that what cannot be done is said now."""
    return iter([*edges])


@lacks(directed="a directed graph")
def minimum_spanning_edges(
    G: ConvertedGraph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """The edges of a spanning forest of least weight."""
    return _listed(_tree_edges(G, algorithm, weight, keys, data, 1))


@lacks(directed="a directed graph")
def maximum_spanning_edges(
    G: ConvertedGraph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """The edges of a spanning forest of largest weight."""
    return _listed(_tree_edges(G, algorithm, weight, keys, data, -1))


@lacks(directed="a directed graph")
def minimum_spanning_tree(
    G: ConvertedGraph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    """A spanning forest of least weight."""
    return _tree(G, algorithm, weight, 1)


@lacks(directed="a directed graph")
def maximum_spanning_tree(
    G: ConvertedGraph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    """A spanning forest of largest weight."""
    return _tree(G, algorithm, weight, -1)


@lacks(directed="a directed graph", multigraph="a multigraph")
def maximal_matching(G: ConvertedGraph) -> set[tuple[Any, Any]]:
    """Edges without a common node, to which none can be added."""
    partner = host(fr.maximal_matching(G.graph(loops="drop")).partner)
    first = np.flatnonzero(partner > np.arange(len(partner)))
    return set(zip(G.names(first), G.names(partner[first]), strict=True))


@lacks(directed="a directed graph")
def maximal_independent_set(G: ConvertedGraph, nodes: Any = None, seed: Any = None) -> list[Any]:
    """Nodes without an edge between them, to which none can be added; with those that are given."""
    random = create_py_random_state(seed)
    if not len(G):
        refuse("an empty graph")
    given = set(nodes or ())
    if not given.issubset(G):
        raise nx.NetworkXUnfeasible(f"{given} is not a subset of the nodes of G")
    members = np.zeros(len(G), bool)
    members[G.vertices(given)] = True
    near = np.zeros(len(G), bool)
    near[G.read.targets[members[G.read.sources]]] = True
    if (near & members).any():
        raise nx.NetworkXUnfeasible(f"{given} is not an independent set of G")
    free = ~(members | near)
    src, dst = G.read.ends
    inside = free[src] & free[dst]
    rest = G.graph(loops="drop")
    if given:
        rest = fr.from_edges(
            src[inside], dst[inside], num_vertices=len(G), duplicates="first", self_loops="drop"
        ).to(rest.placement)
    found = host(fr.maximal_independent_set(rest, seed=random.getrandbits(31)).mask)
    return [*given, *G.names(np.flatnonzero(found & free))]


@lacks(interchange="colours that change places")
def greedy_color(G: ConvertedGraph, strategy: Any = "largest_first", interchange: bool = False) -> Any:
    """Colours of nodes, each the least that no neighbour has; in the orders that do not look at colours."""
    if not len(G):
        return {}
    if G.is_directed() or G.has_loops:
        refuse("a directed graph, or self-loops")
    if strategy == "largest_first":
        return by_node(G, host(fr.color(G.graph(), strategy="largest_first").color))
    if callable(strategy) or strategy not in STRATEGIES or strategy in ("saturation_largest_first", "DSATUR"):
        refuse("an order that depends on colours")
    rank = np.empty(len(G), np.int64)
    rank[G.vertices(STRATEGIES[strategy](G.to_networkx(), {}))] = np.arange(len(G))
    return by_node(G, host(fr.color(G.graph(), order=rank).color))
