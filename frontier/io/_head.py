"""What stands before the edges of an edge list: comments, names of columns, lone vertices; and the first edge."""

from __future__ import annotations

import re
from dataclasses import dataclass

from frontier.errors import warn
from frontier.graph.meanings import SOURCES, TARGETS, Columns, columns_of, plain, warn_of_doubt
from frontier.io import _table
from frontier.io._edges import Marker, is_number
from frontier.io._options import Options
from frontier.io._source import Source, shown

__all__ = ["TABLES", "Head", "head_of", "usual_columns"]

_COLUMNS = {"el": 2, "wel": 3}

#: Formats whose first line names the columns if it holds no numbers.
TABLES = ("csv", "tsv")

#: Comments that say of all edges whether they are directed, of SNAP, KONECT and Matrix Market, and the word that they
#: hold if not.
_SAYINGS = (
    (re.compile(r"(un)?directed(?:\s+(?:graph|network|edges)\b|\s*$|\s*[:=]\s*(?:yes|true|1)\b)", re.I), "un"),
    (re.compile(r"(sym|asym|bip)\s+(?:(?:un)?weighted|positive|signed|posweighted|multi\w+|dynamic)\b"), "sym"),
    (re.compile(r"matrixmarket\s+matrix\s+\w+\s+\w+\s+([\w-]+)\s*$", re.I), "symmetric"),
)
_NODES = re.compile(r"\bnodes\s*[:=]\s*(\d[\d,]{0,17})(?![\d.])", re.I)


@dataclass
class Head:
    """What stands before the edges, and what the first of them looks like."""

    marker: Marker
    names: bool = False  # whether the ends are names, to be labels
    marked: bool = False
    columns: Columns | None = None  # as a line of names says
    known: bool = False  # whether the names say which column is which
    above: bool = False  # whether they stand above numbers, and so are surely names of columns
    directed: bool | None = None  # as their names say
    told: bool | None = None  # as a comment says
    nodes: int | None = None  # as a comment says
    konect: bool = False  # whether that comment is one of KONECT
    third: str | None = None  # what a third column of numbers is called that is no weight
    vertices: int = 0  # as lines with one vertex say
    first: str | None = None
    delimiter: str | None = None

    @property
    def says_enough(self) -> bool:
        """Whether there may be no edges."""
        return self.marked or self.known or self.vertices > 0


def usual_columns(head: Head, suffix: str) -> Columns:
    """What a file without names of columns holds: of KONECT, perhaps times after the weights."""
    count = _COLUMNS.get(suffix)
    if count is None and head.marker.weighted is not None:
        count = 3 if head.marker.weighted else 2
    if count is None:
        first = head.first or ""  # in which names may hold blanks, and between quotes anything
        count = 2 if len(_table.cells(first, head.delimiter) if head.names else _words(first)) <= 2 else 3
    timed = head.konect and len(_words(head.first or "")) == 4
    return Columns(weight=2 if count == 3 else None, others={"time": 3} if timed and count == 3 else {})


def _words(line: str) -> list[str]:
    return line.replace(",", " ").replace(";", " ").split()


def head_of(source: Source, suffix: str, options: Options) -> Head:
    """Read what stands before the edges; the first edge stays in the file."""
    head, beginning = Head(Marker(), names=options.labels is True), True
    header = True if options.names_ends else options.header
    while (line := source.readline()) is not None:
        text = line.decode("utf-8", "replace")
        words = _words(text)
        if not words:
            continue
        if words[0][0] in "#%":
            _take_comment(head, source.path, line, text)
            continue
        delimiter = None if head.konect else _table.delimiter_of(text, suffix)
        cells = _table.cells(text, delimiter)
        if beginning and header is None and suffix in TABLES and _is_above_numbers(cells, source, delimiter):
            header = True
        if beginning and header is not False and _names_columns(cells, suffix, head.names, header):
            _take_names(head, source, cells, options)
            head.above = header is True
            head.delimiter = delimiter
        elif not head.names and suffix in TABLES and _is_lone(cells):
            head.vertices = max(head.vertices, int(cells[0]) + 1)
        else:
            source.put_back(line)
            head.first = text
            if head.columns is None or len(_table.cells(text, head.delimiter)) < head.columns.count:
                head.delimiter = delimiter
            break
        beginning = False
    _settle(head, source, options)
    return head


def _settle(head: Head, source: Source, options: Options) -> None:
    """Decide what the first edge says of columns, and whether ends are names."""
    if head.columns is None:
        if isinstance(options.weight, str):
            what = f"a line of names of columns, one of them weight={options.weight!r}"
            source.fail(None, what, shown(head.first))
        return
    said = head.known or options.header or options.names_ends or head.above
    if options.infers_labels and said and not head.vertices and not head.marked:
        head.names = head.names or _holds_names(head, head.columns)
    _third(head)
    warn_of_doubt(source.path, head.columns, options.weight)


def _holds_names(head: Head, columns: Columns) -> bool:
    """Whether the ends of the first edge are names, not numbers."""
    row = [] if head.first is None else _table.cells(head.first, head.delimiter)
    ends = [row[at] for at in (columns.source, columns.target) if at < len(row)]
    return any(end and not is_number(end.encode()) for end in ends)


def _take_comment(head: Head, path: str, line: bytes, text: str) -> None:
    marker = Marker.parse(line)
    if marker is None:
        _listen(head, path, text)
    else:
        head.marker, head.marked = marker, True


def _names_columns(cells: list[str], suffix: str, names: bool, header: bool | None) -> bool:
    """Whether a first line names columns."""
    if header:
        return True
    known = [*map(plain, cells)]
    if any(name in known for name in SOURCES) and any(name in known for name in TARGETS):
        return True
    # where ids are numbers this is no edge
    return suffix in TABLES and not names and len(cells) > 1 and not any(is_number(cell.encode()) for cell in cells)


def _is_above_numbers(cells: list[str], source: Source, delimiter: str | None) -> bool:
    """Whether a first line has text where the next one has a number, beyond the ends: it names columns."""
    below = source.peek() if len(cells) > 2 else None
    row = [] if below is None else _table.cells(below.decode("utf-8", "replace"), delimiter)
    if len(row) != len(cells):
        return False
    pairs = zip(cells[2:], row[2:], strict=True)
    return any(cell and not is_number(cell.encode()) and is_number(number.encode()) for cell, number in pairs)


def _take_names(head: Head, source: Source, cells: list[str], options: Options) -> None:
    """Take the names of columns from the first line."""
    if len(cells) < 2:
        source.fail(None, "the names of two columns or more", repr(cells[0]))
    twice = [cell for cell in cells if cell and cells.count(cell) > 1]
    if twice:
        source.fail(None, "another name for each column", f"two that are called {twice[0]!r}")
    head.columns = columns_of(cells, options.weight, options.source, options.target)
    ends = [cells[at] for at in (head.columns.source, head.columns.target)]
    head.known = plain(ends[0]) in SOURCES and plain(ends[1]) in TARGETS
    head.directed = None if [end.lower() for end in ends] != ["u", "v"] else False


def _third(head: Head) -> None:
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


def _listen(head: Head, path: str, comment: str) -> None:
    """Take from a comment before the edges what it says of them."""
    text = comment.strip().lstrip("#%").strip()
    for pattern, word in _SAYINGS:
        match = pattern.match(text)
        if match is not None and head.told is None:
            head.told = (match[1] or "").lower() != word
            head.konect = word == "sym"
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


