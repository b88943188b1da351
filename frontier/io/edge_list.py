"""Edge lists: ``.el``, ``.wel``, ``.txt``, ``.tsv``, ``.csv``, ``.edges``.

A line for each edge: source, target and perhaps a weight, between them blanks, tabs, a comma or
a semicolon; lines that begin with # or % are comments. Ids count from 0. ``.el`` has no weights,
``.wel`` has; the others have what their first line has. In ``.csv`` and ``.tsv`` the first line
may name the columns. Weights are int64 if all are integers, else float64.

What is written begins with a comment ``# frontier: vertices=34 directed=no``, which gives the
number of vertices and says whether each line is an edge both ways; it is understood when read.
"""

from __future__ import annotations

from collections.abc import Iterator

from frontier.errors import GraphError
from frontier.graph import Graph
from frontier.io import _parse
from frontier.io._edges import Edges, Marker, check_weights, graph_edges, is_number, text_rows
from frontier.io._source import Source

__all__ = ["read", "write"]

_COLUMNS = {"el": 2, "wel": 3}
_WITH_HEADER = ("csv", "tsv")
_SEPARATORS = {"csv": ",", "tsv": "\t"}


def read(source: Source, suffix: str) -> Edges:
    """Read an edge list."""
    marker, first = _head(source, suffix)
    if first is None and marker is None:
        source.fail(None, "an edge", "the end of the file")
    columns = _COLUMNS.get(suffix)
    if columns is None:
        columns = 2 if len(_words(first or b"")) <= 2 else 3
    if marker is None:
        marker = Marker()
    elif marker.weighted is not None and suffix not in _COLUMNS:
        columns = 3 if marker.weighted else 2
    found = _parse.rows(source, columns=columns, comments="#%", limit=marker.vertices)
    directed = True if marker.directed is None else marker.directed
    return Edges(found.src, found.dst, found.weights, marker.vertices, directed)


def _words(line: bytes) -> list[bytes]:
    return line.replace(b",", b" ").replace(b";", b" ").split()


def _head(source: Source, suffix: str) -> tuple[Marker | None, bytes | None]:
    """Read what stands before the edges; gives the marker and the first edge's line."""
    marker: Marker | None = None
    may_name = suffix in _WITH_HEADER
    while (line := source.readline()) is not None:
        words = _words(line)
        if not words:
            continue
        if words[0][:1] in (b"#", b"%"):
            marker = Marker.parse(line) or marker
        elif may_name and not any(is_number(word) for word in words):
            may_name = False
        else:
            source.put_back(line)
            return marker, line
    return marker, None


def write(graph: Graph, path: str, suffix: str) -> Iterator[bytes]:
    """Give a graph as an edge list; an undirected edge stands in it once."""
    src, dst, weights = graph_edges(graph, once=True)
    if suffix == "el" and weights is not None:
        raise GraphError(f"{path}: .el files have no weights: write .wel, or graph.with_weights(None)")
    if suffix == "wel" and weights is None:
        raise GraphError(f"{path}: .wel files have weights, and the graph has none: write .el")
    check_weights(weights, path)
    yield Marker(graph.num_vertices, graph.directed, weights is not None).line("#")
    columns = [src, dst, *([] if weights is None else [weights])]
    if suffix == "csv":
        yield b"source,target,weight\n" if weights is not None else b"source,target\n"
    yield from text_rows(columns, separator=_SEPARATORS.get(suffix, " "))
