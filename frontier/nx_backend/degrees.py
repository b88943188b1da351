"""Degrees, and how they go together."""

from __future__ import annotations

from typing import Any

import numpy as np

import frontier as fr
from frontier.graph.topology import Array
from frontier.nx_backend.converted import ConvertedGraph
from frontier.nx_backend.mappings import by_node
from frontier.nx_backend.reasons import lacks

__all__ = ["degree_assortativity_coefficient", "degree_centrality", "in_degree_centrality", "out_degree_centrality"]

_UNDIRECTED = "a graph without directions"


def _degrees(graph: ConvertedGraph, *ends: Array) -> Any:
    """How often each node is at one of these ends, as a share of the other nodes."""
    n = len(graph)
    if n <= 1:
        return by_node(graph, np.ones(n, int))
    return by_node(graph, np.bincount(np.concatenate(ends), minlength=n) * (1 / (n - 1)))


def degree_centrality(G: ConvertedGraph) -> Any:
    """The share of other nodes to which a node is joined."""
    return _degrees(G, *G.read.ends)


@lacks(undirected=_UNDIRECTED)
def in_degree_centrality(G: ConvertedGraph) -> Any:
    """The share of other nodes from which an edge leads to a node."""
    return _degrees(G, G.read.ends[1])


@lacks(undirected=_UNDIRECTED)
def out_degree_centrality(G: ConvertedGraph) -> Any:
    """The share of other nodes to which an edge leads from a node."""
    return _degrees(G, G.read.ends[0])


@lacks(nodes="the degrees of some nodes")
def degree_assortativity_coefficient(
    G: ConvertedGraph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    """The correlation of the degrees at both ends of an edge."""
    g = G.graph(weight, parallel="keep")
    return float(fr.degree_assortativity(g, x=x, y=y, weighted=weight is not None).coefficient)
