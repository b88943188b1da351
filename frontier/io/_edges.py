"""Code that formats share: from edges to a graph, and from a graph to the edges of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.graph.topology import Array
from frontier.io._source import Source

__all__ = ["Edges", "Marker", "check_claim", "check_count", "check_weights", "graph_edges", "is_number", "text_rows"]

_CHUNK = 2**17  # rows turned into text at a time


@dataclass
class Edges:
    """What a file says: its edges and how they are meant.

    ``lines_of`` has the line of each vertex where the file has one; ``both_ways`` says that an
    undirected edge stands in the file once for each direction. ``vertices`` and ``edges`` are
    columns of data; ``at_least``: that there may be more vertices, of which other files of the
    same graph tell; ``nodes``: how many a comment tells of, whatever their ids are.
    """

    src: Array
    dst: Array
    weights: Array | None
    num_vertices: int | None
    directed: bool
    both_ways: bool = False
    lines_of: Array | None = None
    vertices: dict[str, Array] = field(default_factory=dict)
    edges: dict[str, Array] = field(default_factory=dict)
    labels: Array | None = None
    at_least: bool = False
    nodes: int | None = None


@dataclass
class Marker:
    """A comment that says of a graph what the format cannot say.

    ``# frontier: vertices=34 directed=no`` in a list of edges.
    """

    vertices: int | None = None
    directed: bool | None = None
    weighted: bool | None = None

    @classmethod
    def parse(cls, line: bytes) -> Marker | None:
        """Read a comment; None if it is an ordinary one."""
        match = re.fullmatch(rb"\s*\S\s*frontier:((?:\s+[a-z]+=\w+)*)\s*", line)
        if match is None:
            return None
        facts = dict(pair.split("=") for pair in match[1].decode().split())
        count = facts.get("vertices", "")
        return cls(
            int(count) if count.isdecimal() and len(count) < 19 else None,
            _yes(facts.get("directed")),
            _yes(facts.get("weighted")),
        )

    def line(self, comment: str) -> bytes:
        """The comment as it stands in a file."""
        facts = [f"{comment} frontier:"]
        if self.vertices is not None:
            facts.append(f"vertices={self.vertices}")
        for name, value in (("directed", self.directed), ("weighted", self.weighted)):
            if value is not None:
                facts.append(f"{name}={'yes' if value else 'no'}")
        return " ".join(facts).encode() + b"\n"


def _yes(text: str | None) -> bool | None:
    return {"yes": True, "no": False}.get(text or "")


def is_number(word: bytes) -> bool:
    """Whether a word is a number, as far as telling a header from data goes."""
    try:
        float(word)
    except ValueError:
        return False
    return b"_" not in word


def check_count(source: Source, found: int, expected: int, what: str, where: int) -> None:
    """Refuse a file that holds another number of edges than its line ``where`` says."""
    if found < expected:
        source.fail(None, f"{expected} {what}, as line {where} says", f"the end of the file after {found}")
    if found > expected:
        source.fail(where, f"{expected} {what}, as this line says", "more")


def check_claim(source: Source, claimed: int, least: int, what: str) -> None:
    """Refuse a number on the line just read that the file is far too short for, ``least`` bytes each."""
    left = source.left()
    if left is not None and claimed * least > 2 * left + 1000:
        source.fail(None, f"at most {left // least + 1} {what}, the file being no longer", f"{claimed}")


def check_weights(weights: Array | None, path: str) -> None:
    """Refuse to write integers that could not be read again."""
    if weights is None or weights.dtype != np.uint64 or len(weights) == 0:
        return
    if weights.max() > np.iinfo(np.int64).max:
        raise GraphError(f"{path}: the weight {weights.max()} is beyond int64: write .npz")


def graph_edges(graph: Graph, *, once: bool) -> tuple[Array, Array, Array | None]:
    """Sources, targets and weights; ``once``: an undirected edge only from its smaller end."""
    src, dst, weights = graph.sources, graph.targets, graph.weights
    if graph.directed or not once:
        return src, dst, weights
    kept = src <= dst
    return src[kept], dst[kept], None if weights is None else weights[kept]


def text_rows(columns: list[Array], *, tag: str = "", separator: str = " ") -> Iterator[bytes]:
    """Rows as text; floats so that reading them gives the same float64 again."""
    row = tag + separator.join(["%r"] * len(columns)) + "\n"
    for begin in range(0, len(columns[0]), _CHUNK):
        parts: list[list[Any]] = []
        for column in columns:
            part = column[begin : begin + _CHUNK]
            parts.append((part.astype(np.float64) if part.dtype.kind == "f" else part).tolist())
        yield "".join([row % entry for entry in zip(*parts, strict=True)]).encode()
