"""What conversions share."""

from __future__ import annotations

from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.build import check_symmetric, is_symmetric
from frontier.graph.graph import Graph
from frontier.graph.moving import on_host
from frontier.graph.topology import Array

__all__ = ["edge_slots", "graph_on_host", "kind_of_value", "undirected_if_symmetric"]


def kind_of_value(value: Any) -> str:
    """The type of a value, with its package."""
    module, name = type(value).__module__.partition(".")[0], type(value).__name__
    return name if module == "builtins" else f"{module}.{name}"


def graph_on_host(graph: Any, who: str) -> Graph:
    """The graph to convert, in the host's memory."""
    if type(getattr(graph, "num_slots", None)) is not int:
        raise GraphError(f"{who} takes a Graph, not {type(graph).__name__}")
    return on_host(graph)


def undirected_if_symmetric(graph: Graph, directed: bool | None) -> Graph:
    """A directed graph, as an undirected one if it is symmetric and nobody has said ``directed=True``.

    Raises
    ------
    GraphError
        If ``directed`` is False and the graph is not symmetric.
    """
    if directed is False:
        check_symmetric(graph)
    if directed or not is_symmetric(graph):
        return graph
    return Graph(
        graph.offsets, graph.targets, graph.weights, directed=False, labels=graph.labels, placement=graph.placement,
        check=False,
    )


def edge_slots(graph: Graph) -> Array:
    """The slots that show each edge once."""
    if graph.directed:
        return np.arange(graph.num_slots)
    return np.flatnonzero(graph.sources <= graph.targets)
