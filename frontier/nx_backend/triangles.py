"""Triangles and what is counted from them."""

from __future__ import annotations

from typing import Any

import numpy as np

import frontier as fr
from frontier.graph.topology import Array
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.mappings import by_node, by_some
from frontier.nx_backend.reasons import lacks, refuse

__all__ = ["average_clustering", "clustering", "square_clustering", "transitivity", "triangles"]

_MULTI = "a multigraph"
_DIRECTED = "triangles of directed edges"


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


@lacks(multigraph=_MULTI)
def clustering(G: ConvertedGraph, nodes: Any = None, weight: Any = None) -> Any:
    """The share of pairs of neighbours that are neighbours of each other; with directions by Fagiolo."""
    if weight is not None and G.has_loops:
        refuse("the weight of a loop may be the greatest")
    g = G.graph(weight, loops="drop")
    return _of(G, nodes, host(fr.clustering(g, method="fagiolo", weighted=weight is not None).coefficient))


@lacks(multigraph=_MULTI)
def average_clustering(G: ConvertedGraph, nodes: Any = None, weight: Any = None, count_zeros: bool = True) -> float:
    """The mean of the clustering of nodes."""
    found = clustering(G, nodes, weight)
    if not hasattr(found, "values"):
        refuse("one node")
    values = np.array([*found.values()])
    if not count_zeros:
        values = values[values != 0]
    if not len(values):
        raise ZeroDivisionError("division by zero")
    return float(values.mean())


@lacks(directed="squares of directed edges", multigraph=_MULTI)
def square_clustering(G: ConvertedGraph, nodes: Any = None) -> Any:
    """The share of possible squares at a node that exist."""
    if G.has_loops:
        refuse("loops")
    return _of(G, nodes, host(fr.square_clustering(G.graph()).coefficient))


@lacks(directed=_DIRECTED, multigraph=_MULTI)
def transitivity(G: ConvertedGraph) -> float:
    """The share of paths of two edges that are closed."""
    return float(fr.clustering(G.graph(loops="drop")).transitivity)
