"""Maximum flows and minimum cuts."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import frontier as fr
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.reasons import lacks, refuse

__all__ = ["maximum_flow", "maximum_flow_value", "minimum_cut", "minimum_cut_value"]

_METHOD = "an algorithm of NetworkX's"


def _network(graph: ConvertedGraph, capacity: Any) -> tuple[fr.Graph, Any]:
    """The graph with capacities, and a bound of all finite flows.

    Capacities that are infinite are replaced by more than the sum of all others: they then limit no finite flow.
    """
    key = ("flow", capacity)
    if key not in graph._made:
        given = graph.weights(capacity, float("inf"))
        finite = np.isfinite(given)
        if not finite.all() and all(type(value) is int for value in graph.read.values(capacity, 0)):
            given = np.where(finite, given, 0).astype(np.int64)
        given = np.where(finite, np.maximum(given, 0), 0)
        bound = sum(given.tolist())
        if isinstance(bound, int) and bound >= 1 << 60:
            refuse("capacities that are too large together")
        capacities = np.where(finite, given, bound + 1).astype(given.dtype)
        src, dst = graph.read.ends
        g = fr.from_edges(src, dst, capacities, num_vertices=len(graph), directed=graph.is_directed())
        graph._made[key] = g, bound
    found: tuple[fr.Graph, Any] = graph._made[key]
    return found


def _flow(graph: ConvertedGraph, source: Any, sink: Any, capacity: Any, kwargs: dict[str, Any]) -> tuple[fr.Graph, Any]:
    if kwargs:
        refuse("parameters of an algorithm of NetworkX's")
    if source not in graph:
        raise nx.NetworkXError(f"node {source} not in graph")
    if sink not in graph:
        raise nx.NetworkXError(f"node {sink} not in graph")
    if source == sink:
        raise nx.NetworkXError("source and sink are the same node")
    g, bound = _network(graph, capacity)
    found = fr.max_flow(g, graph.vertex(source), graph.vertex(sink))
    if found.value > bound:
        raise nx.NetworkXUnbounded("Infinite capacity path, flow unbounded above.")
    return g, found


@lacks(flow_func=_METHOD, multigraph="a multigraph")
def maximum_flow_value(
    flowG: ConvertedGraph, _s: Any, _t: Any, capacity: Any = "capacity", flow_func: Any = None, **kwargs: Any
) -> Any:
    """The value of a maximum flow."""
    return _flow(flowG, _s, _t, capacity, kwargs)[1].value


@lacks(flow_func=_METHOD, multigraph="a multigraph")
def minimum_cut_value(
    flowG: ConvertedGraph, _s: Any, _t: Any, capacity: Any = "capacity", flow_func: Any = None, **kwargs: Any
) -> Any:
    """The value of a minimum cut."""
    return _flow(flowG, _s, _t, capacity, kwargs)[1].value


@lacks(flow_func=_METHOD, multigraph="a multigraph")
def maximum_flow(
    flowG: ConvertedGraph, _s: Any, _t: Any, capacity: Any = "capacity", flow_func: Any = None, **kwargs: Any
) -> tuple[Any, dict[Any, dict[Any, Any]]]:
    """A maximum flow: its value, and what flows along each edge."""
    g, found = _flow(flowG, _s, _t, capacity, kwargs)
    flows: dict[Any, dict[Any, Any]] = {node: {} for node in flowG.nodes}
    ends = flowG.names(host(g.sources)), flowG.names(host(g.targets))
    for u, v, amount in zip(*ends, host(found.flow).tolist(), strict=True):
        flows[u][v] = amount
    return found.value, flows


@lacks(flow_func=_METHOD, multigraph="a multigraph")
def minimum_cut(
    flowG: ConvertedGraph, _s: Any, _t: Any, capacity: Any = "capacity", flow_func: Any = None, **kwargs: Any
) -> tuple[Any, tuple[set[Any], set[Any]]]:
    """A minimum cut: its value, and the nodes on both sides."""
    found = _flow(flowG, _s, _t, capacity, kwargs)[1]
    inside = host(found.cut)
    return found.value, (set(flowG.names(np.flatnonzero(inside))), set(flowG.names(np.flatnonzero(~inside))))
