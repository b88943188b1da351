"""Scores of pairs of nodes that may become neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import frontier as fr
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.reasons import lacks, refuse

__all__ = ["adamic_adar_index", "jaccard_coefficient", "preferential_attachment", "resource_allocation_index"]

_undirected = lacks(directed="NetworkX has no such scores of directed graphs", multigraph="parallel edges")


def _scored(graph: ConvertedGraph, ebunch: Any, score: str) -> Iterator[tuple[Any, Any, Any]]:
    """Each pair with its score."""
    if ebunch is None:
        refuse("all pairs that are no edges")
    pairs = [*ebunch]
    for node in (node for pair in pairs for node in pair):
        if node not in graph:
            raise nx.NodeNotFound(f"Node {node} not in G.")
    if graph.has_loops or any(u == v for u, v in pairs):
        refuse("a node beside itself")
    ids = np.array([(graph.vertex(u), graph.vertex(v)) for u, v in pairs], np.int64).reshape(-1, 2)
    values = host(getattr(fr.link_prediction(graph.graph(), ids), score)).tolist()
    return ((u, v, value) for (u, v), value in zip(pairs, values, strict=True))


@_undirected
def jaccard_coefficient(G: ConvertedGraph, ebunch: Any = None) -> Any:
    """The share of neighbours that are common."""
    return _scored(G, ebunch, "jaccard")


@_undirected
def adamic_adar_index(G: ConvertedGraph, ebunch: Any = None) -> Any:
    """The sum of the inverse logarithms of the degrees of common neighbours."""
    return _scored(G, ebunch, "adamic_adar")


@_undirected
def resource_allocation_index(G: ConvertedGraph, ebunch: Any = None) -> Any:
    """The sum of the inverse degrees of common neighbours."""
    return _scored(G, ebunch, "resource_allocation")


@_undirected
def preferential_attachment(G: ConvertedGraph, ebunch: Any = None) -> Any:
    """The product of degrees."""
    return _scored(G, ebunch, "preferential_attachment")
