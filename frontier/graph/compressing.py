"""A graph with compressed adjacency lists, and back; see :mod:`frontier.graph.packed`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from frontier.graph.packed import PackedIds, packed_ids
from frontier.graph.topology import OF_ROWS, OF_WEIGHTS, Topology, plain

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.graph.topology import Array

__all__ = ["compressed", "compressed_ids", "decompressed"]


def compressed_ids(graph: Graph, ids: Array) -> PackedIds:
    """Compress ids, on the host; the result lies where the graph's offsets and edges do."""
    place = graph.placement
    made = packed_ids(ids, graph.offsets.dtype)
    with place.memory.using("the compressed lists of a graph"):
        return made.copied(lambda array, kind: place.memory_of(kind).moved(array))


def compressed(graph: Graph) -> Graph:
    """Do the work of ``Graph.compressed``."""
    top = graph._topology
    top.check_whole("compressing")
    if top.packed:
        return graph
    with top.reading():
        return _with(graph, compressed_ids(graph, top.targets), lambda ends: compressed_ids(graph, plain(ends)))


def decompressed(graph: Graph) -> Graph:
    """Do the work of ``Graph.decompressed``."""
    if not graph._topology.packed:
        return graph
    memory = graph.placement.memory_of("edges")
    return _with(graph, memory.moved(graph.targets), lambda ends: memory.moved(plain(ends)))


def _with(graph: Graph, ends: Array | PackedIds, change: Callable[[Array | PackedIds], Array | PackedIds]) -> Graph:
    """The same graph with lists of other kind; what is derived of it and is not of that kind goes along."""
    top = graph._topology
    made = Topology(top.offsets, ends, top.weights, top.directed, top.labels, top.vertices, top.edges)
    for name, value in top.built().items():
        if name == "in_lists":
            made.derived[name] = (value[0], change(value[1]))
        elif name in (*OF_ROWS, *OF_WEIGHTS):
            made.derived[name] = value
    return graph._wrap(made, graph.placement)
