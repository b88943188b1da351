"""Formats that NetworkX reads: GraphML, GML, GEXF, Pajek, graph6, sparse6, node-link JSON and adjacency lists.

It makes Python objects of every vertex and edge, which takes ten to fifty microseconds and about two kilobytes each.
Names of nodes become labels, unless they are 0 to n - 1; the attribute ``weight`` holds the weights; others become
columns, of which missing numbers are NaN and missing texts empty.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any
from xml.parsers import expat

import numpy as np

from frontier.errors import GraphError, warn
from frontier.graph.convert_networkx import to_networkx
from frontier.graph.graph import Graph
from frontier.graph.names import whole_numbers
from frontier.graph.topology import Array
from frontier.io._edges import Edges
from frontier.io._options import Options
from frontier.io._source import Source
from frontier.memory.host import HOST

__all__ = ["NAMES", "read", "write"]

#: Suffix -> what the format is called.
NAMES = {
    "graphml": "GraphML", "gml": "GML", "gexf": "GEXF", "net": "Pajek", "g6": "graph6", "s6": "sparse6",
    "json": "node-link JSON", "adjlist": "NetworkX adjacency list",
}  # fmt: skip

#: Bytes that a node takes at least.
_NODE = 300


def read(source: Source, suffix: str, options: Options) -> Edges:
    """Read a file; ``suffix`` is which of the formats it has."""
    nx, data = _networkx(suffix), source.seekable().read()
    with _refusing(source.path, suffix):
        graph = _READERS[suffix](nx, data, options)
        return _edges(source.path, suffix, graph, options)


def write(graph: Graph, name: str, suffix: str) -> Callable[[Any], None]:
    """What writes a graph to an open file."""
    nx, out = _networkx(suffix), BytesIO()
    try:
        _WRITERS[suffix](nx, to_networkx(graph), out)
    except (nx.NetworkXException, TypeError, ValueError) as error:
        why = " ".join(str(error).split())
        raise GraphError(f"{name}: {NAMES[suffix]} cannot hold the graph: {why}; .npz can") from None
    data = out.getvalue()
    return lambda file: file.write(data)


def _networkx(suffix: str) -> Any:
    try:
        return importlib.import_module("networkx")
    except ImportError:
        raise GraphError(f"{NAMES[suffix]} files need NetworkX: pip install networkx") from None


@contextmanager
def _refusing(path: str, suffix: str) -> Iterator[None]:
    """One error for whatever the readers raise of a broken file, which are errors of all kinds."""
    try:
        yield
    except (GraphError, MemoryError, Warning):
        raise
    except Exception as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise GraphError(f"{path}: expected a {NAMES[suffix]} file, found something else: {why}") from None


# ---- from a file to a graph of NetworkX -----------------------------------------------------------------------


class _BegunError(Exception):
    """The first element of a document has begun."""


def _check_xml(data: bytes) -> None:
    """Refuse a document type, which can define entities that never end, or lie in other files."""

    def refuse(*_: Any) -> None:
        raise GraphError("it has a document type (<!DOCTYPE ...>), which is not read: delete it")

    def begun(*_: Any) -> None:
        raise _BegunError

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.StartElementHandler = begun
    try:
        parser.Parse(data, True)
    except _BegunError:
        return


def _xml(function: str) -> Callable[[Any, bytes, Options], Any]:
    def made(nx: Any, data: bytes, options: Options) -> Any:
        _check_xml(data)
        return getattr(nx, function)(BytesIO(data))

    return made


def _gml(nx: Any, data: bytes, options: Options) -> Any:
    """Nodes by their labels if all have one of their own, else by their ids."""
    text = data.decode("utf-8-sig").encode("ascii", "xmlcharrefreplace")
    try:
        return nx.read_gml(BytesIO(text), label="label")
    except nx.NetworkXError as error:
        if "label" not in str(error):
            raise
        return nx.read_gml(BytesIO(text), label="id")


def _json(nx: Any, data: bytes, options: Options) -> Any:
    found = json.loads(data)
    if not isinstance(found, dict) or not isinstance(found.get("nodes"), list):
        raise GraphError("expected an object with lists of 'nodes' and 'links', found other JSON")
    links = "links" if "links" in found else "edges"
    named = "edges" if "edges" in inspect.signature(nx.node_link_graph).parameters else "link"
    return nx.node_link_graph(found, **{named: links})


def _lines(function: str) -> Callable[[Any, bytes, Options], Any]:
    """A format with a graph on each line, of which there may be one."""

    def made(nx: Any, data: bytes, options: Options) -> Any:
        lines = [line for line in data.splitlines() if line.strip()]
        if len(lines) != 1:
            raise GraphError(f"expected one line with a graph, found {len(lines)}: write each to a file of its own")
        line = lines[0].strip()
        count = _claimed(re.sub(rb"^>>\w+<<|^:", b"", line).removeprefix(b":"))
        HOST.check_room(_NODE * count, f"{count} nodes of NetworkX", "write an edge list instead")
        return getattr(nx, function)(line)

    return made


def _claimed(line: bytes) -> int:
    """How many vertices a graph in graph6 or sparse6 says that it has: in 1, 4 or 8 letters."""
    letters = [letter - 63 for letter in line[:8]]
    if not letters or letters[0] < 63:
        return letters[0] if letters else 0
    used = letters[2:8] if letters[1:2] == [63] else letters[1:4]
    return sum(letter << 6 * i for i, letter in enumerate(reversed(used)))


def _adjacency(nx: Any, data: bytes, options: Options) -> Any:
    return nx.read_adjlist(BytesIO(data), create_using=nx.DiGraph if options.directed else nx.Graph)


_READERS: dict[str, Callable[[Any, bytes, Options], Any]] = {
    "graphml": _xml("read_graphml"),
    "gexf": _xml("read_gexf"),
    "gml": _gml,
    "net": lambda nx, data, options: nx.read_pajek(BytesIO(data)),
    "g6": _lines("from_graph6_bytes"),
    "s6": _lines("from_sparse6_bytes"),
    "json": _json,
    "adjlist": _adjacency,
}


def _write_json(nx: Any, graph: Any, out: BytesIO) -> None:
    named = "edges" if "edges" in inspect.signature(nx.node_link_data).parameters else "link"
    out.write(json.dumps(nx.node_link_data(graph, **{named: "links"})).encode())


_WRITERS: dict[str, Callable[[Any, Any, BytesIO], None]] = {
    "graphml": lambda nx, graph, out: nx.write_graphml(graph, out),
    "gexf": lambda nx, graph, out: nx.write_gexf(graph, out),
    "gml": lambda nx, graph, out: nx.write_gml(graph, out),
    "json": _write_json,
}


# ---- from a graph of NetworkX to edges ------------------------------------------------------------------------


def _edges(path: str, suffix: str, graph: Any, options: Options) -> Edges:
    place = {node: v for v, node in enumerate(graph)}
    ends = np.array([(place[s], place[d]) for s, d in graph.edges()], np.int64).reshape(-1, 2)
    of_edges = [data for _, _, data in graph.edges(data=True)]
    of_nodes = [data for _, data in graph.nodes(data=True)]
    if suffix == "gexf":
        of_edges, of_nodes = [*map(_undrawn, of_edges)], [*map(_undrawn, of_nodes)]
    weights, name = _weights(of_edges, options.weight)
    edges, left = _columns(of_edges, {name, *(["id"] if suffix == "gexf" else [])})
    vertices, more = _columns(of_nodes, set())
    if suffix == "gexf" and vertices.get("label", np.array([])).tolist() == [str(node) for node in place]:
        del vertices["label"]
    if left or more:
        names = ", ".join(map(repr, dict.fromkeys([*more, *left])))
        warn(f"{path}: attributes that are neither numbers nor texts are left out: {names}")
    labels = _labels([*place]) if options.labels is None else None
    return Edges(
        ends[:, 0], ends[:, 1], weights, len(place), graph.is_directed(), vertices=vertices, edges=edges, labels=labels
    )


def _undrawn(row: dict[str, Any]) -> dict[str, Any]:
    """Attributes without what says how Gephi draws an element, but for its position."""
    drawn = row.get("viz", {})
    place = {axis: float(drawn["position"][axis]) for axis in "xyz" if axis in drawn.get("position", {})}
    return {name: value for name, value in row.items() if name != "viz"} | place


def _labels(nodes: list[Any]) -> Array | None:
    """Names of nodes: numbers if all are, else texts; None if they are the places of the nodes."""
    texts = [str(node) for node in nodes]
    if texts == [str(v) for v in range(len(texts))]:
        return None
    numbers = all(re.fullmatch(r"-?\d{1,18}", text) and str(int(text)) == text for text in texts)
    return whole_numbers([int(text) for text in texts]) if numbers else np.array(texts)


def _weights(rows: list[dict[str, Any]], wanted: str | bool | None) -> tuple[Array | None, str | None]:
    """The weights, of edges without one 1, and the name of the attribute that holds them."""
    name = wanted if isinstance(wanted, str) else "weight"
    if wanted is False or not any(name in row for row in rows):
        if isinstance(wanted, str):
            there = ", ".join(map(repr, dict.fromkeys(each for row in rows for each in row))) or "none"
            raise GraphError(f"weight={wanted!r}: edges have no such attribute, but {there}")
        return None, None
    values = [_number(row.get(name, 1)) for row in rows]
    whole = all(isinstance(value, int) and -(2**63) <= value < 2**63 for value in values)
    return np.array(values, np.int64 if whole else np.float64), name


def _number(value: Any) -> int | float:
    """A weight, which may be written as a text."""
    if isinstance(value, str):
        value = int(value) if re.fullmatch(r"[-+]?\d+", value) else float(value)
    if not isinstance(value, int | float):
        raise GraphError(f"expected numbers as weights, found {value!r}")
    return value


def _columns(rows: list[dict[str, Any]], without: set[str | None]) -> tuple[dict[str, Array], list[str]]:
    """The attributes of nodes or edges as columns, and the names of those that are none."""
    found: dict[str, Array] = {}
    left = []
    for name in dict.fromkeys(str(name) for row in rows for name in row):
        if name in without:
            continue
        column = _column([row.get(name) for row in rows])
        if column is None:
            left.append(name)
        else:
            found[name] = column
    return found, left


def _column(values: list[Any]) -> Array | None:
    kinds = {type(value) for value in values}
    if kinds <= {str, type(None)}:
        return np.array(["" if value is None else value for value in values])
    if kinds in ({bool}, {int}):
        try:
            return np.array(values, np.bool_ if kinds == {bool} else np.int64)
        except OverflowError:
            return np.array(values, np.float64)
    if kinds <= {int, float, type(None)}:
        return np.array([np.nan if value is None else value for value in values], np.float64)
    return None
