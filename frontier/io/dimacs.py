"""DIMACS shortest-path files, ``.gr``.

The format of the 9th DIMACS implementation challenge, http://www.diag.uniroma1.it/challenge9/:
comments "c ...", one line "p sp VERTICES ARCS", and a line "a SOURCE TARGET WEIGHT" for each
arc, ids counted from 1. An undirected graph is written with both arcs of each edge, as the
challenge's road networks are. A comment ``c frontier: directed=no weighted=no`` says that it is
one, and whether the weights (1) are there only because the format wants some.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from frontier.graph.graph import Graph
from frontier.graph.shares import Piece
from frontier.io import _parse
from frontier.io._divisible import Divisible, lines_in_parts
from frontier.io._edges import (
    Edges,
    Marker,
    check_claim,
    check_count,
    check_weights,
    graph_edges,
    text_rows,
)
from frontier.io._source import Source, shown

__all__ = ["divisible", "read", "write"]


def read(source: Source) -> Edges:
    """Read a DIMACS file."""
    marker, n, count = _head(source)
    problem_line = source.line
    check_claim(source, count, 8, "arcs")
    found = _parse.rows(source, columns=3, base=1, limit=n, tag="a", comments="c", most=count)
    check_count(source, len(found.src), count, "arcs", problem_line)
    weights = None if marker.weighted is False else found.weights
    undirected = marker.directed is False
    return Edges(found.src, found.dst, weights, n, not undirected, both_ways=undirected)


def divisible(source: Source) -> Divisible:
    """How several processes can read the arcs of a file."""
    marker, n, count = _head(source)
    check_claim(source, count, 8, "arcs")

    def made(part: Source) -> Piece:
        rows = _parse.rows(part, columns=3, base=1, limit=n, tag="a", comments="c")
        return Piece(rows.src, rows.dst, None if marker.weighted is False else rows.weights)

    check = partial(check_count, source, expected=count, what="arcs", where=source.line)
    undirected = marker.directed is False
    return Divisible(lines_in_parts(source, made, n, both_ways=undirected, check=check), not undirected)


def _head(source: Source) -> tuple[Marker, int, int]:
    marker = Marker()
    while (line := source.readline()) is not None:
        words = line.split()
        if not words:
            continue
        if words[0] == b"c":
            marker = Marker.parse(line) or marker
            continue
        counts = words[2:]
        if words[0] != b"p" or len(counts) != 2:
            break
        if words[1] != b"sp" or not all(w.isdigit() and len(w) < 19 for w in counts):
            break
        return marker, int(counts[0]), int(counts[1])
    source.fail(None, "'p sp VERTICES ARCS'", shown(line))


def write(graph: Graph, path: str) -> Iterator[bytes]:
    """Return a graph as a DIMACS file."""
    src, dst, weights = graph_edges(graph, once=False)
    marker = Marker(directed=graph.directed, weighted=weights is not None)
    if weights is None:
        weights = np.ones(len(src), np.int64)
    check_weights(weights, path)
    yield marker.line("c") + f"p sp {graph.num_vertices} {len(src)}\n".encode()
    one = np.int64(1)
    yield from text_rows([src + one, dst + one, weights], tag="a ")
