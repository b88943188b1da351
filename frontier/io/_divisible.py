"""Files that several processes read together, a part each, and graphs in parts of them.

A format that can be divided says how any piece of a file is read; see :class:`~frontier.graph.shares.Shares`. Each
process reads its pieces one by one and keeps none, so a file that is larger than its memory can be read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from frontier.graph.build import SELF_LOOPS, check_choice
from frontier.graph.build_input import label_array
from frontier.graph.build_sort import DUPLICATES
from frontier.graph.graph import Graph
from frontier.graph.shares import Piece, Shares
from frontier.graph.topology import Array
from frontier.io._source import Source
from frontier.io._unpacked import Unpacked
from frontier.memory.placement import Placement

__all__ = ["Divisible", "graph_in_parts", "in_parts", "lines_in_parts"]


@dataclass(frozen=True)
class Divisible:
    """How several processes can read a file.

    Attributes
    ----------
    shares : Shares
        Its edges.
    directed : bool
        Whether the graph is directed.
    labels, vertices
        Of the vertices, as a whole.
    keeps : bool
        Whether duplicates are kept unless something else is asked for.
    """

    shares: Shares
    directed: bool
    labels: Array | None = None
    vertices: Mapping[str, Array] = field(default_factory=dict)
    keeps: bool = False


def lines_in_parts(
    source: Source, made: Callable[[Source], Piece], num_vertices: int | None, **more: Any
) -> Shares:
    """Edges of the rest of a text file, counted in bytes; ``made`` reads lines, ``more`` is what is known of them."""
    begin, size = source.range_of_lines()
    if not source.packing:
        return Shares(size, partial(_of_range, source.path, begin, made), num_vertices, **more)
    lines = Unpacked(source.path, begin, source.packing)
    return Shares(size, lambda lo, hi: made(lines.read(lo, hi)), num_vertices, done=lines.close, **more)


def _of_range(path: str, begin: int, made: Callable[[Source], Piece], lo: int, hi: int) -> Piece:
    with open(path, "rb") as file:
        return made(Source.of_lines(path, file, begin + lo, begin + hi, begin))


def graph_in_parts(
    name: str, found: Divisible, there: Placement, *, directed: bool | None, duplicates: str | None, self_loops: str,
    num_vertices: int | None, labels: Any, parts: bool,
) -> Callable[[], Graph] | None:  # fmt: skip
    """What makes the graph of a file of which each process reads a part; None if it can be read as a whole only.

    Parameters
    ----------
    name : str
        Of the file.
    found : Divisible
    there : Placement
    directed, duplicates, self_loops, num_vertices, labels, parts
        As of :func:`frontier.read`.
    """
    check_choice("duplicates", duplicates or "keep", DUPLICATES)
    check_choice("self_loops", self_loops, SELF_LOOPS)
    shares, kind = found.shares, found.directed if directed is None else directed
    if kind and not found.directed and not shares.both_ways:
        return None  # each line says two edges
    names = found.labels if labels is None else labels
    names = None if names is None else label_array(names)
    count = shares.num_vertices if num_vertices is None else num_vertices
    if names is not None and (len(names) < shares.least if count is None else len(names) != count):
        return None  # which is refused
    keeps = found.keeps and (kind or not found.directed)
    unsaid = duplicates is None and not keeps
    if parts and shares.both_ways:
        return None  # in one process's file an edge may be there from one end only
    shares = replace(
        shares, num_vertices=count if names is None else len(names), alone=parts,
        name=None if parts else (os.path.basename(name), shares.count),
        doubts=frozenset(doubt for doubt, here in (("duplicates", unsaid), ("gaps", count is None)) if here),
    )  # fmt: skip
    return partial(
        there.backend.build, shares, there, directed=kind, duplicates=duplicates or ("keep" if keeps else "first"),
        self_loops=self_loops, labels=names, vertices=dict(found.vertices),
    )  # fmt: skip


def in_parts(
    graph: Graph, there: Placement, parts: bool = False, duplicates: str = "keep", at_least: bool = False
) -> Callable[[], Graph]:
    """What makes a graph that every process has as a whole one in parts; or of the graphs of all one graph.

    ``at_least``: whether a graph of one process may have fewer vertices than that of all.
    """
    kept = slice(None) if graph.directed else graph.sources <= graph.targets
    piece = Piece(
        graph.sources[kept], graph.targets[kept], None if graph.weights is None else graph.weights[kept],
        {name: column[kept] for name, column in graph.edges.items()},
    )  # fmt: skip
    n = graph.num_vertices
    said = not (parts and at_least) or graph.labels is not None or bool(graph.vertices)
    shares = replace(Shares.of(piece, n if said else None, parts), least=n)
    return partial(
        there.backend.build, shares, there, directed=graph.directed, duplicates=duplicates if parts else "keep",
        self_loops="keep", labels=graph.labels, vertices=dict(graph.vertices),
    )  # fmt: skip
