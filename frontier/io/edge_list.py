"""Edge lists: ``.el``, ``.wel``, ``.txt``, ``.tsv``, ``.csv``, ``.edges``.

A line for each edge: source, target and perhaps a weight, between them blanks, tabs, a comma or a semicolon; lines that
begin with # or % are comments. Ids count from 0. ``.el`` has no weights, ``.wel`` has; the others have what their first
line has. Weights are int64 if all are integers, else float64.

The first line may name the columns, in any order: ``src``, ``source``, ``from`` or ``start``; ``dst``, ``target``,
``to`` or ``end``; ``u`` and ``v`` for undirected edges; ``weight``. Others become columns of the edges; one alone, if
it holds numbers, the weights. In ``.csv`` and ``.tsv`` other names are taken for names of columns in this order, where
ids are numbers; where they are names such a line is an edge. In these two, a line with a source only, ``33,``, is a
vertex that may have no edges; it stands before the first edge where ids are numbers.

So are ``.csv`` and ``.tsv`` written. What is written of the others begins with a comment
``# frontier: vertices=34 directed=no``, which gives the number of vertices and says whether each line is an edge both
ways; it is understood wherever it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.graph.shares import Piece
from frontier.graph.topology import Array
from frontier.io import _parse, _table
from frontier.io._divisible import Divisible, lines_in_parts
from frontier.io._edges import Edges, Marker, check_weights, graph_edges, is_number, text_rows
from frontier.io._source import Source
from frontier.io._table import Columns

__all__ = ["columns_of", "divisible", "read", "write"]

_COLUMNS = {"el": 2, "wel": 3}
_TABLES = ("csv", "tsv")
_SEPARATORS = {"csv": ",", "tsv": "\t"}

_SOURCES = ("src", "source", "from", "start", "u")
_TARGETS = ("dst", "target", "to", "end", "v")
_WEIGHTS = ("weight", "weights")


@dataclass
class _Head:
    """What stands before the edges, and what the first of them looks like."""

    marker: Marker
    marked: bool = False
    columns: Columns | None = None  # as a line of names says
    known: bool = False  # whether the names say which column is which
    directed: bool | None = None  # as their names say
    vertices: int = 0  # as lines with one vertex say
    first: str | None = None
    delimiter: str | None = None

    @property
    def says_enough(self) -> bool:
        """Whether there may be no edges."""
        return self.marked or self.known or self.vertices > 0


def read(source: Source, suffix: str, names: bool = False, header: bool | None = None) -> Edges:
    """Read an edge list.

    Parameters
    ----------
    source : Source
        The file.
    suffix : str
        Which of the formats it has.
    names : bool
        Whether the ends of edges are names.
    header : bool, optional
        Whether the first line names the columns; by default, if it looks so.
    """
    head = _head(source, suffix, names, header)
    if head.first is None and not head.says_enough:
        source.fail(None, "an edge", "the end of the file")
    columns = head.columns or _usual(head, suffix, names)
    if names or not _simple(columns):
        found = _table.read(source, columns, head.delimiter, names)
    else:
        found = _numbers(source, columns, head)
    given = head.marker.directed
    found.directed = given if given is not None else head.directed is not False
    return found


def divisible(source: Source, suffix: str, header: bool | None = None) -> Divisible | None:
    """How several processes can read the lines of an edge list; None if they cannot."""
    head = _head(source, suffix, names=False, header=header)
    columns = head.columns or _usual(head, suffix, names=False)
    if not _simple(columns) or (head.first is None and not head.says_enough):
        return None
    limit = head.marker.vertices

    def made(part: Source) -> Piece:
        rows = _parse.rows(part, columns=columns.count, comments="#%", limit=limit, names=True)
        return Piece(rows.src, rows.dst, rows.weights)

    given = head.marker.directed
    directed = given if given is not None else head.directed is not False
    return Divisible(lines_in_parts(source, made, limit, least=head.vertices), directed)


def _simple(columns: Columns) -> bool:
    """Whether lines hold source, target and perhaps a weight in this order."""
    return (columns.source, columns.target, columns.weight) in ((0, 1, None), (0, 1, 2)) and not columns.others


def _numbers(source: Source, columns: Columns, head: _Head) -> Edges:
    limit = head.marker.vertices
    rows = _parse.rows(source, columns=columns.count, comments="#%", limit=limit, names=True)
    count = limit
    if count is None and head.vertices:
        count = max(head.vertices, *(int(ends.max()) + 1 if len(ends) else 0 for ends in (rows.src, rows.dst)))
    return Edges(rows.src, rows.dst, rows.weights, count, directed=True, at_least=limit is None)


def _usual(head: _Head, suffix: str, names: bool) -> Columns:
    """What a file without names of columns holds."""
    count = _COLUMNS.get(suffix)
    if count is None and head.marker.weighted is not None:
        count = 3 if head.marker.weighted else 2
    if count is None:
        first = head.first or ""  # in which names may hold blanks, and between quotes anything
        count = 2 if len(_table.cells(first, head.delimiter) if names else _words(first)) <= 2 else 3
    return Columns(weight=2 if count == 3 else None)


def _words(line: str) -> list[str]:
    return line.replace(",", " ").replace(";", " ").split()


def _head(source: Source, suffix: str, names: bool, header: bool | None) -> _Head:
    """Read what stands before the edges; the first edge stays in the file."""
    head, beginning = _Head(Marker()), True
    while (line := source.readline()) is not None:
        text = line.decode("utf-8", "replace")
        words = _words(text)
        if not words:
            continue
        if words[0][0] in "#%":
            marker = Marker.parse(line)
            if marker is not None:
                head.marker, head.marked = marker, True
            continue
        delimiter = _table.delimiter_of(text, suffix)
        cells = _table.cells(text, delimiter)
        if beginning and header is not False and _names_columns(cells, suffix, names, header):
            head.columns = _named(source, cells)
            known = [cells[at].lower() for at in (head.columns.source, head.columns.target)]
            head.known = known[0] in _SOURCES and known[1] in _TARGETS
            head.directed = None if known != ["u", "v"] else False
            head.delimiter = delimiter
        elif not names and suffix in _TABLES and _is_lone(cells):
            head.vertices = max(head.vertices, int(cells[0]) + 1)
        else:
            source.put_back(line)
            head.first = text
            if head.columns is None or len(_table.cells(text, head.delimiter)) < head.columns.count:
                head.delimiter = delimiter
            break
        beginning = False
    if head.columns is not None:
        _sole(head)
    return head


def _names_columns(cells: list[str], suffix: str, names: bool, header: bool | None) -> bool:
    """Whether a first line names columns."""
    if header:
        return True
    known = [cell.lower() for cell in cells]
    if any(name in known for name in _SOURCES) and any(name in known for name in _TARGETS):
        return True
    # where ids are numbers this is no edge
    return suffix in _TABLES and not names and len(cells) > 1 and not any(is_number(cell.encode()) for cell in cells)


def _named(source: Source, cells: list[str]) -> Columns:
    if len(cells) < 2:
        source.fail(None, "the names of two columns or more", repr(cells[0]))
    twice = [cell for cell in cells if cell and cells.count(cell) > 1]
    if twice:
        source.fail(None, "another name for each column", f"two that are called {twice[0]!r}")
    return columns_of(cells)


def columns_of(cells: list[str]) -> Columns:
    """The columns by their names; the first two are the ends where the names do not say it."""
    known = [cell.lower() for cell in cells]
    src = next((known.index(name) for name in _SOURCES if name in known), None)
    dst = next((known.index(name) for name in _TARGETS if name in known), None)
    weight = next((known.index(name) for name in _WEIGHTS if name in known), None)
    if src is None or dst is None:
        src, dst = 0, 1
        weight = weight if weight is not None and weight > 1 else None
    others = {cell or f"column{i}": i for i, cell in enumerate(cells) if i not in (src, dst, weight)}
    return Columns(src, dst, weight, others)


def _sole(head: _Head) -> None:
    """Take a third column for the weights, whatever it is called, if its first cell is a number."""
    columns = head.columns
    assert columns is not None
    if columns.weight is not None or len(columns.others) != 1:
        return
    at = next(iter(columns.others.values()))
    row = [] if head.first is None else _table.cells(head.first, head.delimiter)
    if len(row) > at and is_number(row[at].encode()):
        columns.weight, columns.others = at, {}


def _is_lone(cells: list[str]) -> bool:
    """Whether a line holds a vertex and no edge: a source and empty cells."""
    number = cells[0]
    return len(cells) > 1 and not any(cells[1:]) and number.isascii() and number.isdigit() and len(number) < 19


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
    if suffix in _TABLES:
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
