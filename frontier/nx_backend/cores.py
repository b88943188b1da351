"""Cores and trusses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

import frontier as fr
from frontier.graph.topology import Array
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.mappings import by_node
from frontier.nx_backend.reasons import lacks, refuse

__all__ = ["core_number", "k_core", "k_corona", "k_crust", "k_shell", "k_truss", "onion_layers"]

_MULTI = "a multigraph"


def _check_loops(graph: ConvertedGraph) -> None:
    if graph.has_loops:
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )


def _cores(graph: ConvertedGraph) -> Array:
    """Core numbers; of directed graphs, edges out and in count, as in NetworkX."""
    _check_loops(graph)
    return host(fr.core_numbers(graph.graph(), reciprocal="twice").core)


def _chosen(graph: ConvertedGraph, given: Any, choose: Callable[[Array], Array]) -> Any:
    """The subgraph of the nodes whose core numbers are chosen, with all attributes."""
    if not len(graph):
        refuse("an empty graph")
    cores = _cores(graph) if given is None else np.array([given[node] for node in graph.nodes])
    return graph.to_networkx().subgraph(graph.names(np.flatnonzero(choose(cores)))).copy()


@lacks(multigraph=_MULTI)
def core_number(G: ConvertedGraph) -> Any:
    """The core numbers of nodes."""
    return by_node(G, _cores(G))


@lacks(directed="directed edges", multigraph=_MULTI)
def onion_layers(G: ConvertedGraph) -> Any:
    """The layers of nodes: in which round they go when those of least degree go."""
    if G.has_loops:
        refuse("NetworkX says that loops must go first")
    return by_node(G, host(fr.onion_layers(G.graph()).layer))


@lacks(multigraph=_MULTI)
def k_core(G: ConvertedGraph, k: Any = None, core_number: Any = None) -> Any:
    """The subgraph of core numbers from ``k`` on."""
    return _chosen(G, core_number, lambda core: core >= (core.max() if k is None else k))


@lacks(multigraph=_MULTI)
def k_shell(G: ConvertedGraph, k: Any = None, core_number: Any = None) -> Any:
    """The subgraph of core number ``k``."""
    return _chosen(G, core_number, lambda core: core == (core.max() if k is None else k))


@lacks(multigraph=_MULTI)
def k_crust(G: ConvertedGraph, k: Any = None, core_number: Any = None) -> Any:
    """The subgraph of core numbers up to ``k``."""
    return _chosen(G, core_number, lambda core: core <= (core.max() - 1 if k is None else k))


@lacks(multigraph=_MULTI)
def k_corona(G: ConvertedGraph, k: Any, core_number: Any = None) -> Any:
    """The nodes of core number ``k`` with just so many neighbours in the core."""

    def choose(core: Array) -> Array:
        inside = np.bincount(G.read.sources[core[G.read.targets] >= k], minlength=len(G))
        chosen: Array = (core == k) & (inside == k)
        return chosen

    return _chosen(G, core_number, choose)


@lacks(directed="a directed graph", multigraph=_MULTI)
def k_truss(G: ConvertedGraph, k: Any) -> Any:
    """The subgraph whose edges are each in ``k - 2`` triangles."""
    _check_loops(G)
    if k != int(k):
        refuse("k that is no integer")
    g = G.graph()
    inside = host(fr.k_truss(g, max(int(k), 2)).mask)
    edges = zip(G.names(host(g.sources)[inside]), G.names(host(g.targets)[inside]), strict=True)
    return G.to_networkx().edge_subgraph(edges).copy()
