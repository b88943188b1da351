"""DIMACS files: ``.gr`` for shortest paths, ``.max`` for maximum flow, ``.col`` and ``.clq`` of undirected graphs.

The formats of the DIMACS implementation challenges, http://www.diag.uniroma1.it/challenge9/ and
http://archive.dimacs.rutgers.edu/pub/challenge/: comments "c ...", one problem line, and a line for each edge, ids
counted from 1. Which problem it is, the file says, whatever its suffix:

- "p sp VERTICES ARCS" and "a SOURCE TARGET WEIGHT". An undirected graph is written with both arcs of each edge, as the
  challenge's road networks are. A comment ``c frontier: directed=no weighted=no`` says that it is one, and whether the
  weights (1) are there only because the format wants some.
- "p max VERTICES ARCS" and "a SOURCE TARGET CAPACITY"; "n ID s" and "n ID t" become the vertices' column ``terminal``.
- "p edge VERTICES EDGES" (or "p col") and "e U V"; "n ID VALUE" becomes the vertices' column ``weight``. Some of these
  files count each edge twice on the problem line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from frontier.graph.graph import Graph
from frontier.graph.shares import Piece
from frontier.graph.topology import Array
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
from frontier.memory.host import HOST

__all__ = ["divisible", "read", "write"]


#: Problem -> the letter of lines with edges, and how many numbers these hold.
_PROBLEMS = {"sp": ("a", 3), "max": ("a", 3), "edge": ("e", 2), "col": ("e", 2)}


@dataclass
class _Problem:
    """What stands before the edges."""

    marker: Marker
    kind: str
    num_vertices: int
    count: int
    line: int
    vertices: dict[str, Array] = field(default_factory=dict)

    @property
    def undirected(self) -> bool:
        """Whether a line is an edge both ways."""
        return self.kind in ("edge", "col")

    @property
    def what(self) -> str:
        """What lines are called."""
        return "edges" if self.undirected else "arcs"

    def check(self, source: Source, found: int) -> None:
        """Refuse another number of edges than the problem line says."""
        if not (self.undirected and 2 * found == self.count):
            check_count(source, found, self.count, self.what, self.line)


def read(source: Source) -> Edges:
    """Read a DIMACS file."""
    problem = _head(source)
    tag, columns = _PROBLEMS[problem.kind]
    n = problem.num_vertices
    found = _parse.rows(source, columns=columns, base=1, limit=n, tag=tag, comments="c", most=problem.count)
    problem.check(source, len(found.src))
    weights = None if problem.marker.weighted is False else found.weights
    both = problem.marker.directed is False and not problem.undirected
    directed = not (both or problem.undirected)
    return Edges(found.src, found.dst, weights, n, directed, both_ways=both, vertices=problem.vertices)


def divisible(source: Source) -> Divisible:
    """How several processes can read the edges of a file."""
    problem = _head(source)
    tag, columns = _PROBLEMS[problem.kind]
    n = problem.num_vertices

    def made(part: Source) -> Piece:
        rows = _parse.rows(part, columns=columns, base=1, limit=n, tag=tag, comments="c")
        return Piece(rows.src, rows.dst, None if problem.marker.weighted is False else rows.weights)

    both = problem.marker.directed is False and not problem.undirected
    lines = lines_in_parts(source, made, n, both_ways=both, check=partial(problem.check, source))
    return Divisible(lines, not (both or problem.undirected), vertices=problem.vertices)


def _head(source: Source) -> _Problem:
    marker = Marker()
    while (line := source.readline()) is not None:
        words = line.split()
        if not words:
            continue
        if words[0] == b"c":
            marker = Marker.parse(line) or marker
            continue
        kind, counts = b"".join(words[1:2]).decode("latin-1"), words[2:]
        if words[0] != b"p" or len(counts) != 2 or kind not in _PROBLEMS or not all(map(_is_count, counts)):
            break
        problem = _Problem(marker, kind, int(counts[0]), int(counts[1]), source.line)
        check_claim(source, problem.count, 8 if _PROBLEMS[kind][1] == 3 else 6, problem.what)
        if kind != "sp":
            problem.vertices = _said_of_vertices(source, problem)
        return problem
    source.fail(None, "'p sp VERTICES ARCS' (or p max, p edge, p col)", shown(line))


def _is_count(word: bytes) -> bool:
    return word.isdigit() and len(word) < 19


def _said_of_vertices(source: Source, problem: _Problem) -> dict[str, Array]:
    """Columns of vertices by the lines before the first edge; the first edge stays in the file."""
    said: dict[int, str] = {}
    n = problem.num_vertices
    while (line := source.readline()) is not None:
        words = line.split()
        if words and words[0] == b"n":
            if len(words) != 3 or not _is_count(words[1]) or not 1 <= int(words[1]) <= n:
                source.fail(None, f"'n ID VALUE', ID from 1 to {n}", shown(line))
            said[int(words[1]) - 1] = _value(source, words[2], problem)
        elif words and not (words[0] == b"c" or (problem.undirected and words[0] in (b"d", b"v", b"x"))):
            source.put_back(line)
            break
    if not said:
        return {}
    HOST.check_room(8 * n, f"a column of {n} vertices", "read it on a machine with more")
    column: Array = np.zeros(n, np.int64 if problem.undirected else np.dtype("U1"))
    column[[*said]] = [int(word) for word in said.values()] if problem.undirected else [*said.values()]
    return {"weight" if problem.undirected else "terminal": column}


def _value(source: Source, word: bytes, problem: _Problem) -> str:
    """What a line says of a vertex: its weight, or whether it is the source or the sink."""
    if problem.undirected and not _is_count(word.lstrip(b"-")):
        source.fail(None, "an integer as weight of the vertex", shown(word))
    if not problem.undirected and word not in (b"s", b"t"):
        source.fail(None, "s or t, the source or the sink", shown(word))
    return word.decode()


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
