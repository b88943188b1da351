"""Triangles and what is counted from them."""

from __future__ import annotations

from typing import Any

import numpy as np

import frontier as fr
from frontier.graph.topology import Array
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.mappings import by_node, by_some
from frontier.nx_backend.reasons import lacks, refuse

__all__ = ["average_clustering", "clustering", "transitivity", "triangles"]

_MULTI = "a multigraph"
_DIRECTED = "triangles of directed edges"
_WEIGHTED = "triangles by weights"


def _of(graph: ConvertedGraph, nodes: Any, values: Array) -> Any:
    """The values of all nodes, of one, or of several."""
    if nodes is None:
        return by_node(graph, values)
    if nodes in graph:
        return values[graph.vertex(nodes)].item()
    try:
        chosen = graph.vertices(nodes)
    except TypeError:
        refuse("NetworkX says which nodes it takes")
    return by_some(graph, np.array([*dict.fromkeys(chosen)], np.int64), values)


@lacks(directed=_DIRECTED, multigraph=_MULTI)
def triangles(G: ConvertedGraph, nodes: Any = None) -> Any:
    """The number of triangles of each node."""
    return _of(G, nodes, host(fr.triangles(G.graph(loops="drop"), per_vertex=True).per_vertex))


@lacks(directed=_DIRECTED, multigraph=_MULTI, weight=_WEIGHTED)
def clustering(G: ConvertedGraph, nodes: Any = None, weight: Any = None) -> Any:
    """The share of pairs of neighbours that are neighbours of each other."""
    return _of(G, nodes, host(fr.clustering(G.graph(loops="drop")).coefficient))


@lacks(directed=_DIRECTED, multigraph=_MULTI, weight=_WEIGHTED)
def average_clustering(G: ConvertedGraph, nodes: Any = None, weight: Any = None, count_zeros: bool = True) -> float:
    """The mean of the clustering of nodes."""
    found = clustering(G, nodes)
    if not hasattr(found, "values"):
        refuse("one node")
    values = np.array([*found.values()])
    if not count_zeros:
        values = values[values != 0]
    if not len(values):
        raise ZeroDivisionError("division by zero")
    return float(values.mean())


@lacks(directed=_DIRECTED, multigraph=_MULTI)
def transitivity(G: ConvertedGraph) -> float:
    """The share of paths of two edges that are closed."""
    return float(fr.clustering(G.graph(loops="drop")).transitivity)
