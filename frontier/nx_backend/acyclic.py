"""Directed acyclic graphs, and which node reaches which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import frontier as fr
from frontier.errors import GraphError
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.reasons import lacks

__all__ = ["is_directed_acyclic_graph", "topological_generations", "topological_sort", "transitive_closure"]


def is_directed_acyclic_graph(G: ConvertedGraph) -> bool:
    """Whether edges are directed and no cycle is made of them."""
    if not G.is_directed():
        return False
    try:
        fr.topological_order(G.graph())
    except GraphError:
        return False
    return True


def topological_generations(G: ConvertedGraph) -> Iterator[list[Any]]:
    """The nodes by the length of the longest path that leads to them."""
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    if not len(G):
        return
    try:
        level = host(fr.topological_order(G.graph()).level)
    except GraphError:
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration") from None
    order = np.argsort(level, kind="stable")
    for generation in np.split(order, np.flatnonzero(np.diff(level[order])) + 1):
        yield G.names(generation)


def topological_sort(G: ConvertedGraph) -> Iterator[Any]:
    """The nodes, each after those from which edges lead to it."""
    for generation in topological_generations(G):
        yield from generation


_CYCLES = "what counts as a cycle differs"


@lacks(multigraph=_CYCLES)
def transitive_closure(G: ConvertedGraph, reflexive: bool | None = False) -> Any:
    """The graph with an edge wherever there is a path."""
    if reflexive not in {None, True, False}:
        raise nx.NetworkXError("Incorrect value for the parameter `reflexive`")
    if not G.is_directed():
        raise NotImplementedError(f"an undirected graph: {_CYCLES}")
    closure = G.to_networkx().copy()
    if not len(G):
        return closure
    found = fr.transitive_closure(G.graph(), reflexive=reflexive)
    for vertex, node in enumerate(G.nodes):
        there = closure._adj[node]
        closure.add_edges_from((node, other) for other in G.names(found.row(vertex)) if other not in there)
    return closure
