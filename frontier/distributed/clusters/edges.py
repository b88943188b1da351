"""On a rank: edges from the partitions of a distributed table, and the graph that all ranks build of theirs."""

from __future__ import annotations

from typing import Any

import numpy as np

from frontier.distributed.transport.communicators import Communicator, world
from frontier.distributed.transport.rounds import common, met
from frontier.errors import GraphError
from frontier.graph.build import from_edges
from frontier.graph.graph import Graph
from frontier.graph.topology import Array

__all__ = ["add_partition", "build_graph", "discard"]

#: Columns of each partition, by the name of the graph and the partition's place in the table.
_partitions: dict[str, dict[int, dict[str, Array]]] = {}


def add_partition(name: str, place: int, columns: dict[str, Array]) -> None:
    """Add the columns of a partition to a graph that will be built."""
    _partitions.setdefault(name, {})[place] = columns


def discard(name: str) -> None:
    """Discard the partitions of a graph that will not be built."""
    _partitions.pop(name, None)


def build_graph(
    name: str, source: str, target: str, weight: str | None, others: list[str], labels: bool | None, **options: Any
) -> Graph:
    """Build a graph in parts from the partitions of all ranks; all ranks call this together.

    Parameters
    ----------
    name : str
        Name of the graph.
    source, target, weight : str
        Names of columns.
    others : list of str
        Columns to keep as data of edges.
    labels : bool, optional
        Whether integers are labels, too.
    **options
        Those of :func:`frontier.from_edges`.
    """
    pieces = [columns for _, columns in sorted(_partitions.pop(name, {}).items())]

    def column(which: str) -> Array:
        return np.concatenate([each[which] for each in pieces]) if pieces else np.empty(0, np.int64)

    src, dst, names = column(source), column(target), None
    kinds = met(world(), "looks at the ends of edges", (src.dtype.kind, dst.dtype.kind) if len(src) else None)
    if labels or any(kind not in "iu" for each in kinds if each for kind in each):
        src, dst, names = _numbered(world(), src, dst)
    weights, data = None if weight is None else column(weight), {each: column(each) for each in others}
    return from_edges(src, dst, weights, labels=names, edges=data, parts=True, **options)


def _numbered(comm: Communicator, src: Array, dst: Array) -> tuple[Array, Array, Array]:
    """Return the ids of the ends of a rank's edges, and the sorted names of all vertices; all ranks call this."""
    try:
        mine = np.unique(np.concatenate((src, dst))) if len(src) else None
        told = [each for each in met(comm, "numbers the names of vertices", mine) if each is not None]
        names = np.unique(np.concatenate(told)) if told else src
    except TypeError:
        kinds = GraphError("the ends of edges are names of several kinds: let all be text, or all numbers")
        raise common(kinds) from None
    return np.searchsorted(names, src), np.searchsorted(names, dst), names
