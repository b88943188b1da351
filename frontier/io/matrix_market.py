"""Matrix Market coordinate files, ``.mtx``.

The format: https://math.nist.gov/MatrixMarket/formats.html. A header names the field (pattern,
integer or real) and the symmetry; after comments follow the numbers of rows, columns and
entries, then a line for each entry, "row column value", counted from 1. Row i, column j is an
edge from i - 1 to j - 1. A symmetric file holds one triangle only and is an undirected graph; a
skew-symmetric one holds one triangle whose mirror image has negated values, and becomes a
directed graph with an edge and its negated reverse for each entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from frontier.graph.graph import Graph
from frontier.graph.shares import Piece
from frontier.io import _parse
from frontier.io._divisible import Divisible, lines_in_parts
from frontier.io._edges import Edges, check_claim, check_count, check_weights, graph_edges, text_rows
from frontier.io._source import Source, shown

__all__ = ["divisible", "read", "write"]

_KINDS = {"pattern": "auto", "integer": "integer", "real": "float", "double": "float"}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")


def read(source: Source) -> Edges:
    """Read a Matrix Market file."""
    field, symmetry = _header(source)
    n, count = _size(source)
    size_line = source.line
    check_claim(source, count, 4, "entries")
    found = _parse.rows(
        source, columns=2 if field == "pattern" else 3, kind=_KINDS[field],
        base=1, limit=n, comments="%", most=count,
    )  # fmt: skip
    check_count(source, len(found.src), count, "entries", size_line)
    edges = Edges(found.src, found.dst, found.weights, n, directed=symmetry != "symmetric")
    return _mirrored(source, edges) if symmetry == "skew-symmetric" else edges


def divisible(source: Source) -> Divisible | None:
    """How several processes can read the entries of a file; None if entries are mirrored."""
    field, symmetry = _header(source)
    n, count = _size(source)
    check_claim(source, count, 4, "entries")
    if symmetry == "skew-symmetric":
        return None

    def made(part: Source) -> Piece:
        rows = _parse.rows(
            part, columns=2 if field == "pattern" else 3, kind=_KINDS[field], base=1, limit=n, comments="%"
        )
        return Piece(rows.src, rows.dst, rows.weights)

    check = partial(check_count, source, expected=count, what="entries", where=source.line)
    return Divisible(lines_in_parts(source, made, n, check=check), directed=symmetry != "symmetric")


def _header(source: Source) -> tuple[str, str]:
    line = source.readline() or b""
    words = line.decode("latin-1").lower().split()
    if len(words) != 5 or words[0] != "%%matrixmarket" or words[1] != "matrix":
        source.fail(1, "'%%MatrixMarket matrix coordinate FIELD SYMMETRY'", shown(line))
    layout, field, symmetry = words[2:]
    if layout != "coordinate":
        source.fail(1, "the layout coordinate", shown(layout))
    if field not in _KINDS:
        source.fail(1, "the field pattern, integer or real", shown(field))
    if symmetry not in _SYMMETRIES:
        source.fail(1, f"the symmetry {', '.join(_SYMMETRIES[:2])} or skew-symmetric", shown(symmetry))
    if symmetry == "skew-symmetric" and field == "pattern":
        source.fail(1, "an integer or real field with skew-symmetric", "'pattern'")
    return field, symmetry


def _size(source: Source) -> tuple[int, int]:
    line = source.readline()
    while line is not None and (not line.strip() or line.lstrip().startswith(b"%")):
        line = source.readline()
    words = [] if line is None else line.split()
    if len(words) != 3 or not all(w.isdigit() and len(w) < 19 for w in words):
        source.fail(None, "the numbers of rows, columns and entries", shown(line))
    rows, columns, count = map(int, words)
    if rows != columns:
        source.fail(None, "a square matrix", f"{rows} rows and {columns} columns")
    return rows, count


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
