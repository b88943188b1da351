"""METIS graph files, ``.graph`` and ``.metis``.

The format of METIS's manual, section 4.1.1: after comments, which begin with %, a line
"VERTICES EDGES [FORMAT [CONSTRAINTS]]"; then a line for each vertex, empty if it has no edges:
its size and weights, if FORMAT says so, and its neighbours, counted from 1, each followed by
the edge's weight if FORMAT ends in 1. Every edge stands in the lines of both ends, and counts
once. Sizes and weights of vertices become the columns "size" and "weight", or "weight0",
"weight1", ... of the graph's vertices.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.graph.topology import Array, id_dtype
from frontier.io import _parse
from frontier.io._edges import Edges, check_claim, check_weights
from frontier.io._source import Source, shown

__all__ = ["read", "write"]

_CHUNK = 2**16  # lines turned into text at a time


@dataclass
class _Head:
    """The first line: what it says and where it stands."""

    vertices: int
    edges: int
    columns: list[str]  # of vertex data, before the neighbours
    weighted: bool
    line: int


def read(source: Source) -> Edges:
    """Read a METIS file."""
    head = _head(source)
    check_claim(source, head.vertices, 1, "vertices, a line for each")
    check_claim(source, head.edges, 4, "edges, each in two lists")
    found = _parse.lists(source, "%")
    n = head.vertices
    if len(found.sizes) < n:
        source.fail(
            None, f"{n} lines of neighbours, as line {head.line} says",
            f"the end of the file after {len(found.sizes)}",
        )  # fmt: skip
    if found.sizes[n:].any():
        surplus = n + int(np.argmax(found.sizes[n:] > 0))
        source.fail(int(found.lines[surplus]), f"nothing after {n} lines of neighbours", "more")
    sizes, lines = found.sizes[:n], found.lines[:n]
    before = len(head.columns)
    odd = (sizes < before) | ((sizes - before) % (2 if head.weighted else 1) != 0)
    if odd.any():
        v = int(np.argmax(odd))
        what = f"{before} numbers of the vertex and " if before else ""
        pairs = "pairs of neighbour and weight" if head.weighted else "neighbours"
        source.fail(int(lines[v]), what + pairs, f"{sizes[v]} numbers")
    return _edges(source, head, found.numbers, sizes, lines)


def _edges(source: Source, head: _Head, numbers: Array, sizes: Array, lines: Array) -> Edges:
    """Take the numbers of all lines apart."""
    begins = np.cumsum(sizes) - sizes
    columns = {name: numbers[begins + i] for i, name in enumerate(head.columns)}
    if columns:
        others = np.ones(len(numbers), bool)
        for i in range(len(columns)):
            others[begins + i] = False
        numbers = numbers[others]
    degrees = sizes - len(columns)
    weights = None
    if head.weighted:
        numbers, weights, degrees = numbers[::2], numbers[1::2].copy(), degrees // 2
    dtype = id_dtype(head.vertices)
    src = np.repeat(np.arange(head.vertices, dtype=dtype), degrees)
    wrong = (numbers < 1) | (numbers > head.vertices)
    if numbers.dtype.kind == "f":
        wrong |= numbers != np.floor(numbers)
    if wrong.any():
        at = int(np.argmax(wrong))
        source.fail(int(lines[src[at]]), f"a neighbour from 1 to {head.vertices}", shown(str(numbers[at])))
    dst = (numbers - 1).astype(dtype)
    loops = int(np.count_nonzero(src == dst))
    if head.edges == len(src) > loops:
        source.fail(
            head.line, "the true number of edges, each of which stands in the lists of both ends",
            f"{head.edges}, and as many neighbours: a directed graph, perhaps, which METIS files do not hold",
        )  # fmt: skip
    # some programs write a loop once, some twice
    if 2 * head.edges not in (len(src), len(src) + loops):
        source.fail(
            head.line, f"the true number of edges, each in two lists, for {len(src)} neighbours",
            f"{head.edges}",
        )  # fmt: skip
    return Edges(
        src, dst, weights, head.vertices, directed=False, both_ways=True, lines_of=lines,
        vertices=columns,
    )  # fmt: skip


def _head(source: Source) -> _Head:
    line = source.readline()
    while line is not None and (not line.strip() or line.lstrip().startswith(b"%")):
        line = source.readline()
    words = [] if line is None else line.split()
    numeric = all(w.isdigit() and len(w) < 19 for w in words)
    if not numeric or not 2 <= len(words) <= 4:
        source.fail(None, "'VERTICES EDGES [FORMAT [CONSTRAINTS]]'", shown(line))
    code = words[2].decode() if len(words) > 2 else "0"
    flags = code.zfill(3)
    if len(flags) != 3 or set(flags) - set("01"):
        source.fail(None, "a format of up to three digits 0 and 1", shown(code))
    columns = ["size"] if flags[0] == "1" else []
    constraints = int(words[3]) if len(words) == 4 else 1
    if flags[1] == "1":
        if constraints > 999:
            source.fail(None, "at most 999 weights of a vertex", f"{constraints}")
        several = [f"weight{i}" for i in range(constraints)]
        columns += ["weight"] if constraints == 1 else several
    return _Head(int(words[0]), int(words[1]), columns, flags[2] == "1", source.line)


def write(graph: Graph, path: str) -> Iterator[bytes]:
    """Return an undirected graph as a METIS file."""
    weights = graph.weights
    if graph.directed:
        raise GraphError(f"{path}: METIS files hold undirected graphs, and this one is directed")
    loops = graph.sources == graph.targets
    if loops.any():
        v = int(graph.sources[np.argmax(loops)])
        raise GraphError(f"{path}: METIS files hold no self-loops, and vertex {v} has one")
    if weights is not None and weights.dtype.kind == "f":
        raise GraphError(f"{path}: METIS files hold integer weights, and these are {weights.dtype}")
    check_weights(weights, path)
    head = f"{graph.num_vertices} {graph.num_edges}"
    numbers, starts = graph.targets.astype(np.int64) + 1, graph.offsets.astype(np.int64)
    if weights is not None:
        head += " 001"
        numbers = np.column_stack((numbers, weights.astype(np.int64))).ravel()
        starts = starts * 2
    yield head.encode() + b"\n"
    for v in range(0, graph.num_vertices, _CHUNK):
        bounds = (starts[v : v + _CHUNK + 1]).tolist()
        words = list(map(str, numbers[bounds[0] : bounds[-1]].tolist()))
        first = bounds[0]
        yield "".join(
            " ".join(words[begin - first : end - first]) + "\n" for begin, end in itertools.pairwise(bounds)
        ).encode()
