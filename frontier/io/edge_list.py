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
Gephi writes.

So are ``.csv`` and ``.tsv`` written. What is written of the others begins with a comment
``# frontier: vertices=34 directed=no``, which gives the number of vertices and says whether each line is an edge both
ways; it is understood wherever it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from frontier.errors import GraphError, warn
from frontier.graph.graph import Graph
from frontier.graph.meanings import SOURCES, TARGETS, Columns, columns_of, plain, type_column, warn_of_doubt
from frontier.graph.shares import Piece
from frontier.graph.topology import Array
from frontier.io import _parse, _table
from frontier.io._divisible import Divisible, lines_in_parts
from frontier.io._edges import Edges, Marker, check_weights, graph_edges, is_number, text_rows
from frontier.io._source import Source, shown

__all__ = ["divisible", "read", "write"]

_COLUMNS = {"el": 2, "wel": 3}
_TABLES = ("csv", "tsv")
_SEPARATORS = {"csv": ",", "tsv": "\t"}

#: Comments that say of all edges whether they are directed, of SNAP, KONECT and Matrix Market, and the word that they
#: hold if not.
_SAYINGS = (
    (re.compile(r"(un)?directed(?:\s+(?:graph|network|edges)\b|\s*$|\s*[:=]\s*(?:yes|true|1)\b)", re.I), "un"),
    (re.compile(r"(sym|asym|bip)\s+(?:(?:un)?weighted|positive|signed|posweighted|multi\w+|dynamic)\b"), "sym"),
    (re.compile(r"matrixmarket\s+matrix\s+\w+\s+\w+\s+([\w-]+)\s*$", re.I), "symmetric"),
)
_NODES = re.compile(r"\bnodes\s*[:=]\s*(\d[\d,]{0,17})(?![\d.])", re.I)


@dataclass
class _Head:
    """What stands before the edges, and what the first of them looks like."""

    marker: Marker
    marked: bool = False
    columns: Columns | None = None  # as a line of names says
    known: bool = False  # whether the names say which column is which
    directed: bool | None = None  # as their names say
    told: bool | None = None  # as a comment says
    nodes: int | None = None  # as a comment says
    third: str | None = None  # what a third column of numbers is called that is no weight
    vertices: int = 0  # as lines with one vertex say
    first: str | None = None
    delimiter: str | None = None

    @property
    def says_enough(self) -> bool:
        """Whether there may be no edges."""
        return self.marked or self.known or self.vertices > 0


def read(
    source: Source, suffix: str, names: bool = False, header: bool | None = None, weight: str | bool | None = None,
    directed: bool | None = None,
) -> Edges:  # fmt: skip
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
    weight : str or False, optional
        The column that holds the weights, or that none does.
    directed : bool, optional
        Whether the graph will be directed, whatever the file says.
    """
    head = _head(source, suffix, names, header, weight)
    if head.first is None and not head.says_enough:
        source.fail(None, "an edge", "the end of the file")
    columns = head.columns or _usual(head, suffix, names)
    if names or not _simple(columns, head):
        found = _table.read(source, columns, head.delimiter, names)
    else:
        found = _numbers(source, columns, head)
    found.directed = _directed(head, directed, found.edges)
    found.nodes = head.nodes
    if weight is False and head.columns is None:
        found.weights = None
    return found


def _directed(head: _Head, wanted: bool | None, edges: dict[str, Array]) -> bool:
    """Whether edges are directed: as our own comment says, a column of types, another comment, or the names of ends.

    Where the user says what is ``wanted``, a column and comments of others count for nothing.
    """
    said = [head.marker.directed, head.directed]
    if wanted is None and said[0] is None:
        said[1:1] = [type_column(edges), head.told]
    return next((each for each in said if each is not None), True)


def divisible(
    source: Source, suffix: str, header: bool | None = None, weight: str | bool | None = None,
    directed: bool | None = None,
) -> Divisible | None:  # fmt: skip
    """How several processes can read the lines of an edge list; None if they cannot."""
    head = _head(source, suffix, names=False, header=header, weight=weight)
    columns = head.columns or _usual(head, suffix, names=False)
    if not _simple(columns, head) or (head.first is None and not head.says_enough):
        return None
    limit = head.marker.vertices

    def made(part: Source) -> Piece:
        rows = _parse.rows(part, columns=columns.count, comments="#%", limit=limit, names=True, third=head.third)
        if head.third is not None and rows.weights is not None:
            return Piece(rows.src, rows.dst, None, {head.third: rows.weights})
        return Piece(rows.src, rows.dst, None if head.columns is None and weight is False else rows.weights)

    return Divisible(lines_in_parts(source, made, limit, least=head.vertices), _directed(head, directed, {}))


def _simple(columns: Columns, head: _Head) -> bool:
    """Whether lines hold source, target and perhaps a weight, or another number, in this order."""
    if head.third is not None:
        return True
    return (columns.source, columns.target, columns.weight) in ((0, 1, None), (0, 1, 2)) and not columns.others


def _numbers(source: Source, columns: Columns, head: _Head) -> Edges:
    limit = head.marker.vertices
    rows = _parse.rows(source, columns=columns.count, comments="#%", limit=limit, names=True, third=head.third)
    count = limit
    if count is None and head.vertices:
        count = max(head.vertices, *(int(ends.max()) + 1 if len(ends) else 0 for ends in (rows.src, rows.dst)))
    made = Edges(rows.src, rows.dst, rows.weights, count, directed=True, at_least=limit is None)
    if head.third is not None and rows.weights is not None:
        made.weights, made.edges = None, {head.third: rows.weights}
    return made


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


def _head(
    source: Source, suffix: str, names: bool, header: bool | None, weight: str | bool | None
) -> _Head:
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
            else:
                _listen(head, source.path, text)
            continue
        delimiter = _table.delimiter_of(text, suffix)
        cells = _table.cells(text, delimiter)
        if beginning and header is not False and _names_columns(cells, suffix, names, header):
            head.columns = _named(source, cells, weight)
            ends = [cells[at] for at in (head.columns.source, head.columns.target)]
            head.known = plain(ends[0]) in SOURCES and plain(ends[1]) in TARGETS
            head.directed = None if [end.lower() for end in ends] != ["u", "v"] else False
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
    if head.columns is None:
        if isinstance(weight, str):
            source.fail(None, f"a line of names of columns, one of them weight={weight!r}", shown(head.first))
        return head
    _third(head)
    if weight is None:
        warn_of_doubt(source.path, head.columns)
    return head


def _names_columns(cells: list[str], suffix: str, names: bool, header: bool | None) -> bool:
    """Whether a first line names columns."""
    if header:
        return True
    known = [*map(plain, cells)]
    if any(name in known for name in SOURCES) and any(name in known for name in TARGETS):
        return True
    # where ids are numbers this is no edge
    return suffix in _TABLES and not names and len(cells) > 1 and not any(is_number(cell.encode()) for cell in cells)


def _named(source: Source, cells: list[str], weight: str | bool | None) -> Columns:
    if len(cells) < 2:
        source.fail(None, "the names of two columns or more", repr(cells[0]))
    twice = [cell for cell in cells if cell and cells.count(cell) > 1]
    if twice:
        source.fail(None, "another name for each column", f"two that are called {twice[0]!r}")
    return columns_of(cells, weight)


def _third(head: _Head) -> None:
    """Note a third column of numbers that is not called like weights, as which it might be meant."""
    columns = head.columns
    assert columns is not None
    if columns.weight is not None or len(columns.others) != 1:
        return
    name, at = next(iter(columns.others.items()))
    row = [] if head.first is None else _table.cells(head.first, head.delimiter)
    if len(row) > at and is_number(row[at].encode()):
        columns.doubt = [name]
        if (columns.source, columns.target, at) == (0, 1, 2):
            head.third = name


def _listen(head: _Head, path: str, comment: str) -> None:
    """Take from a comment before the edges what it says of them."""
    text = comment.strip().lstrip("#%").strip()
    for pattern, word in _SAYINGS:
        match = pattern.match(text)
        if match is not None and head.told is None:
            head.told = (match[1] or "").lower() != word
            if match[1] == "bip":
                warn(
                    f"{path}: the two sides of a bipartite graph of KONECT are numbered apart, so here vertex 1 "
                    "of one is vertex 1 of the other"
                )
    nodes = _NODES.search(text)
    if nodes is not None and head.nodes is None:
        head.nodes = int(nodes[1].replace(",", ""))


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
