"""Matrix Market files, ``.mtx``.

The format: https://math.nist.gov/MatrixMarket/formats.html. A header names the layout, the field (pattern, integer or
real) and the symmetry; after comments follow the numbers of rows and columns.

In the layout coordinate, they are followed by the number of entries, and a line for each of these, "row column value",
counted from 1. Row i, column j is an edge from i - 1 to j - 1. In the layout array, the values follow column by column,
and those that are not zero are edges.

A symmetric file holds one triangle only and is an undirected graph; a skew-symmetric one holds one triangle whose
mirror image has negated values, and becomes a directed graph with an edge and its negated reverse for each entry. A
matrix that is not square is an undirected bipartite graph: first the rows are vertices, then the columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from frontier.errors import warn
from frontier.graph.graph import Graph
from frontier.graph.shares import Piece
from frontier.io import _parse
from frontier.io._divisible import Divisible, lines_in_parts
from frontier.io._edges import Edges, check_claim, check_count, check_weights, graph_edges, text_rows
from frontier.io._source import Source, shown
from frontier.memory.host import HOST

__all__ = ["divisible", "read", "write"]

_KINDS = {"pattern": "auto", "integer": "integer", "real": "float", "double": "float"}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")


@dataclass(frozen=True)
class _Matrix:
    """What the header and the sizes say."""

    layout: str
    field: str
    symmetry: str
    rows: int
    columns: int
    count: int
    line: int  # of the sizes

    @property
    def square(self) -> bool:
        """Whether rows and columns are the same vertices."""
        return self.rows == self.columns


def read(source: Source) -> Edges:
    """Read a Matrix Market file."""
    matrix = _head(source)
    edges = _array(source, matrix) if matrix.layout == "array" else _coordinates(source, matrix)
    if matrix.symmetry == "skew-symmetric":
        return _mirrored(source, edges)
    return edges if matrix.square else _two_sides(source, matrix, edges)


def divisible(source: Source) -> Divisible | None:
    """How several processes can read the entries of a file; None if these say more than an edge each."""
    matrix = _head(source)
    if matrix.symmetry == "skew-symmetric" or matrix.layout == "array" or not matrix.square:
        return None
    field, n = matrix.field, matrix.rows

    def made(part: Source) -> Piece:
        rows = _parse.rows(
            part, columns=2 if field == "pattern" else 3, kind=_KINDS[field], base=1, limit=n, comments="%"
        )
        return Piece(rows.src, rows.dst, rows.weights)

    check = partial(check_count, source, expected=matrix.count, what="entries", where=source.line)
    return Divisible(lines_in_parts(source, made, n, check=check), directed=matrix.symmetry != "symmetric")


def _head(source: Source) -> _Matrix:
    layout, field, symmetry = _header(source)
    rows, columns, count = _size(source, layout)
    if rows != columns and symmetry != "general":
        source.fail(None, f"a square matrix, as it is {symmetry}", f"{rows} rows and {columns} columns")
    if layout == "array":
        count = {"general": rows * columns, "symmetric": rows * (rows + 1) // 2}.get(symmetry, rows * (rows - 1) // 2)
    check_claim(source, count, 2 if layout == "array" else 4, "entries")
    return _Matrix(layout, field, symmetry, rows, columns, count, source.line)


def _header(source: Source) -> tuple[str, str, str]:
    line = source.readline() or b""
    words = line.decode("latin-1").lower().split()
    if len(words) != 5 or words[0] != "%%matrixmarket" or words[1] != "matrix":
        source.fail(1, "'%%MatrixMarket matrix coordinate FIELD SYMMETRY'", shown(line))
    layout, field, symmetry = words[2:]
    if layout not in ("coordinate", "array"):
        source.fail(1, "the layout coordinate or array", shown(layout))
    if field == "complex":
        way = f"fr.from_scipy(abs(scipy.io.mmread({source.path!r}))) takes the absolute values"
        source.fail(1, "the field pattern, integer or real", f"'complex': {way}")
    if field not in _KINDS:
        source.fail(1, "the field pattern, integer or real", shown(field))
    if symmetry not in _SYMMETRIES:
        source.fail(1, f"the symmetry {', '.join(_SYMMETRIES[:2])} or skew-symmetric", shown(symmetry))
    if field == "pattern" and (symmetry == "skew-symmetric" or layout == "array"):
        source.fail(1, f"an integer or real field with {symmetry if layout == 'coordinate' else layout}", "'pattern'")
    return layout, field, symmetry


def _size(source: Source, layout: str) -> tuple[int, int, int]:
    line = source.readline()
    while line is not None and (not line.strip() or line.lstrip().startswith(b"%")):
        line = source.readline()
    words = [] if line is None else line.split()
    what = "rows, columns and entries" if layout == "coordinate" else "rows and columns"
    if len(words) != (3 if layout == "coordinate" else 2) or not all(w.isdigit() and len(w) < 19 for w in words):
        source.fail(None, f"the numbers of {what}", shown(line))
    rows, columns, count = [*map(int, words), 0][:3]
    return rows, columns, count


def _coordinates(source: Source, matrix: _Matrix) -> Edges:
    """The entries of which each has a line; of rows and columns as they are numbered."""
    field, n = matrix.field, max(matrix.rows, matrix.columns)
    found = _parse.rows(
        source, columns=2 if field == "pattern" else 3, kind=_KINDS[field],
        base=1, limit=n, comments="%", most=matrix.count,
    )  # fmt: skip
    check_count(source, len(found.src), matrix.count, "entries", matrix.line)
    for what, ends, limit in (("row", found.src, matrix.rows), ("column", found.dst, matrix.columns)):
        if limit < n and (ends >= limit).any():
            entry = int(np.argmax(ends >= limit))
            source.fail(matrix.line, f"a {what} from 1 to {limit}", f"{ends[entry] + 1} at entry {entry + 1}")
    return Edges(found.src, found.dst, found.weights, n, directed=matrix.symmetry != "symmetric")


def _array(source: Source, matrix: _Matrix) -> Edges:
    """The entries that are not zero of those that stand column by column."""
    values = _parse.lists(source, "%").numbers
    check_count(source, len(values), matrix.count, "entries", matrix.line)
    if _KINDS[matrix.field] == "float":
        values = values.astype(np.float64, copy=False)
    elif values.dtype.kind != "i":
        source.fail(matrix.line, "integers, as line 1 says", "other numbers")
    at = np.flatnonzero(values)
    if matrix.symmetry == "general":
        column, row = np.divmod(at, max(matrix.rows, 1))
    else:  # of each column what stands below the diagonal, or from there on
        below = int(matrix.symmetry != "symmetric")
        begin = np.concatenate(([0], np.cumsum(np.arange(matrix.rows - below, 0, -1, dtype=np.int64))))
        column = np.searchsorted(begin, at, "right") - 1
        row = at - begin[column] + column + below
    n = max(matrix.rows, matrix.columns)
    return Edges(row, column, values[at], n, directed=matrix.symmetry != "symmetric")


def _two_sides(source: Source, matrix: _Matrix, edges: Edges) -> Edges:
    """The bipartite graph of rows, and of columns, which are numbered after them."""
    rows, columns = matrix.rows, matrix.columns
    HOST.check_room(9 * (rows + columns), f"{rows + columns} vertices", "read it on a machine with more")
    warn(
        f"{source.path}: {rows:,} rows and {columns:,} columns make an undirected bipartite graph: rows are vertices, "
        f"and columns come after them, from {rows:,} on; g.vertices['side'] is 0 and 1"
    )
    side = np.repeat(np.array([0, 1], np.int8), [rows, columns])
    dst = edges.dst.astype(np.int64) + rows
    return Edges(edges.src, dst, edges.weights, rows + columns, directed=False, vertices={"side": side})


def _mirrored(source: Source, edges: Edges) -> Edges:
    """Add the negated reverse of each edge."""
    src, dst, weights = edges.src, edges.dst, edges.weights
    assert weights is not None
    if (src == dst).any():
        entry = int(np.argmax(src == dst))
        source.fail(
            1, "no entry on the diagonal of a skew-symmetric matrix",
            f"entry {entry + 1} at ({src[entry] + 1}, {dst[entry] + 1})",
        )  # fmt: skip
    if weights.dtype.kind == "i" and len(weights) and weights.min() == np.iinfo(np.int64).min:
        source.fail(1, "values that can be negated", f"{weights.min()}")
    edges.src, edges.dst = np.concatenate((src, dst)), np.concatenate((dst, src))
    edges.weights = np.concatenate((weights, -weights))
    return edges


def write(graph: Graph, path: str) -> Iterator[bytes]:
    """Return a graph as a Matrix Market file: symmetric if undirected, else general."""
    src, dst, weights = graph_edges(graph, once=True)
    n = graph.num_vertices
    check_weights(weights, path)
    if weights is None:
        field = "pattern"
    else:
        field = "real" if weights.dtype.kind == "f" else "integer"
    symmetry = "general" if graph.directed else "symmetric"
    yield f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{n} {n} {len(src)}\n".encode()
    if not graph.directed:
        src, dst = dst, src  # the lower triangle
    one = np.int64(1)
    yield from text_rows([src + one, dst + one, *([] if weights is None else [weights])])
