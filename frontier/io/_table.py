"""Tables of cells, parsed by Python: edge lists of labels, and those with more columns or in another order.

It takes two to three microseconds per row, ten times as long as the tokenizer. Cells may be quoted, as in CSV.
"""

from __future__ import annotations

import csv
import io
import math
from array import array
from collections.abc import Iterable, Iterator

import numpy as np

from frontier.graph.meanings import Columns
from frontier.graph.names import whole_numbers
from frontier.graph.topology import Array
from frontier.io._edges import Edges, is_number
from frontier.io._source import Source, shown

__all__ = ["cells", "delimiter_of", "read"]

_BLOCK = 2**22  # bytes turned into text at a time


def delimiter_of(line: str, suffix: str) -> str | None:
    """What stands between the cells of a line; None is blanks, which tabs are where names may not hold blanks."""
    marks = {"tsv": "\t,;", "csv": ",;\t"}.get(suffix, ",;")
    return next((mark for mark in marks if mark in line), None)


def cells(line: str, delimiter: str | None) -> list[str]:
    """The cells of one line."""
    if delimiter is None:
        return line.split()
    try:
        row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    except csv.Error:  # no text at all, which the reader of rows says better
        row = line.split(delimiter)
    return [cell.strip() for cell in row]


def read(source: Source, columns: Columns, delimiter: str | None, names: bool) -> Edges:
    """Read the rest of a file.

    Parameters
    ----------
    source : Source
        The file, its header read.
    columns : Columns
        What stands where.
    delimiter : str, optional
        What stands between cells; None: blanks.
    names : bool
        Whether the ends of edges are names, to be numbered in the order in which they come; else they are ids.
    """
    reader = _Reader(source, columns, names)
    first = source.line
    lines = _lines(source)
    if delimiter is None:
        reader.take(enumerate((line.split() for line in lines), first + 1))
        return reader.edges()
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        reader.take((first + rows.line_num, row) for row in rows)
    except csv.Error as error:
        source.fail(first + rows.line_num, "cells between separators", str(error))
    return reader.edges()


def _lines(source: Source) -> Iterator[str]:
    """The rest of a file, line by line; comments are empty."""
    for block in source.blocks(_BLOCK):
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError as error:
            source.fail(source.line + block.count(b"\n", 0, error.start) + 1, "text in UTF-8", "other bytes")
        for line in io.StringIO(text, newline="\n"):
            yield "\n" if line.lstrip()[:1] in ("#", "%") else line
        source.line += block.count(b"\n")


class _Reader:
    """What the rows so far have given."""

    def __init__(self, source: Source, columns: Columns, names: bool) -> None:
        self.source, self.columns = source, columns
        self.number: dict[str, int] | None = {} if names else None
        self.src, self.dst, self.lines = array("q"), array("q"), array("q")
        self.weights: list[str] = []
        self.others: dict[str, list[str]] = {name: [] for name in columns.others}
        self.vertices = 0  # as lone ones say

    def take(self, rows: Iterable[tuple[int, list[str]]]) -> None:
        """Add rows with their lines: each an edge, or a vertex without any."""
        columns, vertex = self.columns, self._vertex if self.number is None else self._named
        source, target, weight, count = columns.source, columns.target, columns.weight, columns.count
        others = [(self.others[name], at) for name, at in columns.others.items()]
        for line, row in rows:
            if len(row) != count:
                self._odd(row, line)
                continue
            end = vertex(row[source], line)
            if not row[target].strip() and not any(cell.strip() for i, cell in enumerate(row) if i != source):
                self.vertices = max(self.vertices, end + 1)
                continue
            self.src.append(end)
            self.dst.append(vertex(row[target], line))
            self.lines.append(line)
            if weight is not None:
                self.weights.append(row[weight])
            for values, at in others:
                values.append(row[at].strip())

    def _odd(self, row: list[str], line: int) -> None:
        count = self.columns.count
        given = [cell.strip() for cell in row]
        if not any(given):  # an empty line, or a comment
            return
        if len(given) < count:
            self.source.fail(line, f"{count} cells", f"{len(given)}")
        self.source.fail(line, f"the line to end after {count} cells", shown(given[count] or "another separator"))

    def _named(self, cell: str, line: int) -> int:
        """The number of a name."""
        assert self.number is not None
        name = cell.strip()
        if not name:
            self.source.fail(line, "the name of a vertex", "an empty cell")
        return self.number.setdefault(name, len(self.number))

    def _vertex(self, cell: str, line: int) -> int:
        """An id."""
        name = cell.strip()
        if not (name.isdigit() and name.isascii() and len(name) < 19):
            self.source.fail(line, "a vertex id, an integer from 0", shown(name) if name else "an empty cell")
        return int(name)

    def edges(self) -> Edges:
        """All that was read."""
        src, dst = (np.frombuffer(ends, np.int64) if ends else np.empty(0, np.int64) for ends in (self.src, self.dst))
        labels, count = None, self.vertices or None
        if self.number is not None:
            labels, place = _labels(list(self.number))
            src, dst, count = place[src], place[dst], None
        elif count is not None and len(src):
            count = max(count, int(src.max()) + 1, int(dst.max()) + 1)
        weights = None if self.columns.weight is None else self._weights()
        others = {name: _column(values) for name, values in self.others.items()}
        return Edges(src, dst, weights, count, directed=True, labels=labels, edges=others, at_least=True)

    def _weights(self) -> Array:
        whole = _whole(self.weights)
        if whole is not None:
            return whole
        for i, cell in enumerate(self.weights):
            if not is_number(cell.encode()) or math.isnan(float(cell)):
                named = self.lines[i] == 1 and cell.strip()[:1].isalpha() and not is_number(cell.encode())
                way = " (header=True, or --header, if the first line names the columns)" if named else ""
                found = shown(cell) if cell.strip() else "an empty cell"
                self.source.fail(self.lines[i], f"a number as weight{way}", found)
        return np.array(list(map(float, self.weights)))


def _labels(names: list[str]) -> tuple[Array, Array]:
    """Labels, numbers if all names are; and the vertex of each name, for "7" and "07" are one number."""
    numbers = _integers(names)
    if numbers is None:
        return np.array(names, object if not names else None), np.arange(len(names))
    place = {number: i for i, number in enumerate(dict.fromkeys(numbers))}
    return whole_numbers(list(place)), np.array([place[number] for number in numbers], np.int64)


def _column(values: list[str]) -> Array:
    """Values as integers, as floats (where an empty cell is NaN), or as text."""
    whole = _whole(values)
    if whole is not None:
        return whole
    if all(not value or is_number(value.encode()) for value in values) and any(values):
        return np.array([float(value or "nan") for value in values])
    return np.array(values)


def _whole(values: list[str]) -> Array | None:
    """Texts as int64, if all of them are such integers."""
    numbers = _integers(values)
    if numbers is None or not all(-(2**63) <= number < 2**63 for number in numbers):
        return None
    return np.array(numbers, np.int64)


def _integers(values: list[str]) -> list[int] | None:
    """Texts as integers, if all of them are."""
    try:
        numbers = list(map(int, values))
    except ValueError:  # no number, or one of thousands of digits
        return None
    return None if any("_" in value for value in values) else numbers
