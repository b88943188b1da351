"""Edges that workers have handed over to a rank, and the graph that all ranks make of theirs."""

from __future__ import annotations

from typing import Any

import numpy as np

from frontier.backends.ranks.communicators import Communicator, world
from frontier.backends.ranks.rounds import common, met
from frontier.errors import GraphError
from frontier.graph.build import from_edges
from frontier.graph.graph import Graph
from frontier.graph.topology import Array

__all__ = ["forget", "graph_of", "put"]

#: Columns of edges, by the name of the graph and by the place of these edges among all.
_handed: dict[str, dict[int, dict[str, Array]]] = {}


def put(name: str, place: int, columns: dict[str, Array]) -> None:
    """Take columns of some edges."""
    _handed.setdefault(name, {})[place] = columns


def forget(name: str) -> None:
    """Forget edges of which no graph will be made."""
    _handed.pop(name, None)


def graph_of(
    name: str, source: str, target: str, weight: str | None, others: list[str], labels: bool | None, **options: Any
) -> Graph:
    """Make a graph in parts of what has been handed over; all ranks call this together.

    Parameters
    ----------
    name : str
        Of the graph.
    source, target, weight : str
        Names of columns.
    others : list of str
        Columns to keep as data of edges.
    labels : bool, optional
        Whether integers are labels, too.
    **options
        Those of :func:`frontier.from_edges`.
    """
    pieces = [columns for _, columns in sorted(_handed.pop(name, {}).items())]

    def column(which: str) -> Array:
        return np.concatenate([each[which] for each in pieces]) if pieces else np.empty(0, np.int64)

    src, dst, names = column(source), column(target), None
    kinds = met(world(), "looks at the ends of edges", (src.dtype.kind, dst.dtype.kind) if len(src) else None)
    if labels or any(kind not in "iu" for each in kinds if each for kind in each):
        src, dst, names = numbered(world(), src, dst)
    weights, data = None if weight is None else column(weight), {each: column(each) for each in others}
    return from_edges(src, dst, weights, labels=names, edges=data, parts=True, **options)


def numbered(comm: Communicator, src: Array, dst: Array) -> tuple[Array, Array, Array]:
    """Return ids of the ends of a rank's edges, and the names of all vertices, in order; all call this together."""
    try:
        mine = np.unique(np.concatenate((src, dst))) if len(src) else None
        told = [each for each in met(comm, "numbers the names of vertices", mine) if each is not None]
        names = np.unique(np.concatenate(told)) if told else src
    except TypeError:
        kinds = GraphError("the ends of edges are names of several kinds: let all be text, or all numbers")
        raise common(kinds) from None
    return np.searchsorted(names, src), np.searchsorted(names, dst), names
