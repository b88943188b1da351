"""Edge lists: ``.el``, ``.wel``, ``.txt``, ``.tsv``, ``.csv``, ``.edges``.

A line for each edge: source, target and perhaps a weight, between them blanks, tabs, a comma or a semicolon; lines that
begin with # or % are comments. Ids count from 0. ``.el`` has no weights, ``.wel`` has; the others have what their first
line has. Weights are int64 if all are integers, else float64.

The first line may name the columns, in any order, as ``frontier.graph.meanings`` knows them: source, target, ``u`` and
``v`` for undirected edges, the weight. Others become columns of the edges. In ``.csv`` and ``.tsv`` other names are
taken for names of columns in this order, where ids are numbers; where they are names such a line is an edge. In these
two, a line with a source only, ``33,``, is a vertex that may have no edges; it stands before the first edge where ids
are numbers.

Comments before the edges are listened to: ``# Undirected graph`` and ``# Nodes: 5`` as SNAP writes them, KONECT's
``% sym``, and the first line of a Matrix Market file. So is a column ``Type`` of ``Directed`` or ``Undirected``, which
Gephi writes. In files of KONECT a fourth column becomes the column ``time`` of the edges.

So are ``.csv`` and ``.tsv`` written. What is written of the others begins with a comment
``# frontier: vertices=34 directed=no``, which gives the number of vertices and says whether each line is an edge both
ways; it is understood wherever it is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.graph.meanings import Columns, type_column
from frontier.graph.shares import Piece
from frontier.graph.topology import Array
from frontier.io import _parse, _table
from frontier.io._divisible import Divisible, lines_in_parts
from frontier.io._edges import Edges, Marker, check_weights, graph_edges, text_rows
from frontier.io._head import TABLES, Head, head_of, usual_columns
from frontier.io._options import Options
from frontier.io._source import Source, shown

__all__ = ["divisible", "read", "write"]

_SEPARATORS = {"csv": ",", "tsv": "\t"}

def read(source: Source, suffix: str, options: Options) -> Edges:
    """Read an edge list; ``suffix`` is which of the formats it has."""
    head = head_of(source, suffix, options)
    if head.first is None and not head.says_enough:
        source.fail(None, "an edge", "the end of the file")
    columns, names = head.columns or usual_columns(head, suffix), head.names
    cells = _table.cells(head.first or "", head.delimiter)
    if suffix == "el" and head.columns is None and len(cells) == 3:
        what = "numbers" if not names else "cells"
        source.fail(None, f"the line to end after 2 {what}, as .el has no weights (format='wel' has)", shown(cells[2]))
    if names or not _simple(columns, head):
        found = _table.read(source, columns, head.delimiter, names)
    else:
        found = _numbers(source, columns, head)
    found.directed = _directed(head, options.directed, found.edges)
    found.nodes = head.nodes
    if options.weight is False and head.columns is None:
        found.weights = None
    return found


def _directed(head: Head, wanted: bool | None, edges: dict[str, Array]) -> bool:
    """Whether edges are directed: as our own comment says, a column of types, another comment, or the names of ends.

    Where the user says what is ``wanted``, a column and comments of others count for nothing.
    """
    said = [head.marker.directed, head.directed]
    if wanted is None and said[0] is None:
        said[1:1] = [type_column(edges), head.told]
    return next((each for each in said if each is not None), True)


def divisible(source: Source, suffix: str, options: Options) -> Divisible | None:
    """How several processes can read the lines of an edge list; None if they cannot."""
    head = head_of(source, suffix, options)
    columns = head.columns or usual_columns(head, suffix)
    if head.names or (head.first is None and not head.says_enough):
        return None
    if not _simple(columns, head):
        return None if options.keeps_columns else _divisible_table(source, columns, head, options)
    limit, weighted = head.marker.vertices, head.columns is not None or options.weight is not False

    def made(part: Source) -> Piece:
        rows = _parse.rows(part, columns=columns.count, comments="#%", limit=limit, names=True, third=head.third)
        if head.third is not None and rows.weights is not None:
            return Piece(rows.src, rows.dst, None, {head.third: rows.weights} if options.keeps_columns else None)
        return Piece(rows.src, rows.dst, rows.weights if weighted else None)

    return Divisible(lines_in_parts(source, made, limit, least=head.vertices), _directed(head, options.directed, {}))


def _divisible_table(source: Source, columns: Columns, head: Head, options: Options) -> Divisible:
    """How edges and weights are read in pieces where there are other columns, or others stand first."""

    def made(part: Source) -> Piece:
        found = _table.read(part, columns, head.delimiter, names=False)
        if found.num_vertices is not None:
            what = "a line with one end only is a vertex without edges"
            raise GraphError(f"{source.path}: {what}: num_vertices= says how many vertices there are")
        return Piece(found.src, found.dst, found.weights)

    shares = lines_in_parts(source, made, head.marker.vertices, least=head.vertices)
    return Divisible(shares, _directed(head, options.directed, {}))


def _simple(columns: Columns, head: Head) -> bool:
    """Whether lines hold source, target and perhaps a weight, or another number, in this order."""
    if head.third is not None:
        return True
    return (columns.source, columns.target, columns.weight) in ((0, 1, None), (0, 1, 2)) and not columns.others


def _numbers(source: Source, columns: Columns, head: Head) -> Edges:
    limit = head.marker.vertices
    rows = _parse.rows(source, columns=columns.count, comments="#%", limit=limit, names=True, third=head.third)
    count = limit
    if count is None and head.vertices:
        count = max(head.vertices, *(int(ends.max()) + 1 if len(ends) else 0 for ends in (rows.src, rows.dst)))
    made = Edges(rows.src, rows.dst, rows.weights, count, directed=True, at_least=limit is None)
    if head.third is not None and rows.weights is not None:
        made.weights, made.edges = None, {head.third: rows.weights}
    return made


def write(graph: Graph, path: str, suffix: str) -> Iterator[bytes]:
    """Return a graph as an edge list; an undirected edge stands in it once."""
    src, dst, weights = graph_edges(graph, once=True)
    if suffix == "el" and weights is not None:
        raise GraphError(f"{path}: .el files have no weights: write .wel, or graph.with_weights(None)")
    if suffix == "wel" and weights is None:
        raise GraphError(f"{path}: .wel files have weights, and the graph has none: write .el")
    check_weights(weights, path)
    columns = [src, dst, *([] if weights is None else [weights])]
    separator = _SEPARATORS.get(suffix, " ")
    if suffix in TABLES:
        yield _header(graph, columns, separator)
    else:
        yield Marker(graph.num_vertices, graph.directed, weights is not None).line("#")
    yield from text_rows(columns, separator=separator)


def _header(graph: Graph, columns: list[Array], separator: str) -> bytes:
    """The names of the columns, and the last vertex if it has no edge."""
    names = ["source", "target"] if graph.directed else ["u", "v"]
    names += ["weight"] if len(columns) == 3 else []
    last = graph.num_vertices - 1
    seen = max((int(ends.max()) for ends in columns[:2] if len(ends)), default=-1)
    lone = f"{last}{separator * (len(columns) - 1)}\n" if seen < last else ""
    return (separator.join(names) + "\n" + lone).encode()
