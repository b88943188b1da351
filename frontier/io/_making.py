"""Graphs of what readers of formats find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

import numpy as np

from frontier.errors import GraphError, warn
from frontier.graph.build import from_csr, from_edges
from frontier.graph.graph import Graph
from frontier.io._edges import Edges
from frontier.io._options import Options

__all__ = ["arrays_of", "graph_of", "stored_graph"]

#: What refuses a file: of a line, what was expected and what was found.
Fail: TypeAlias = Callable[[int | None, str, str], NoReturn]


def graph_of(name: str, found: Edges, options: Options, fail: Fail) -> Graph:
    """The graph of edges; ``fail`` refuses a line of the file that is called so."""
    directed = found.directed if options.directed is None else options.directed
    src, dst, weights, columns = found.src, found.dst, found.weights, found.edges
    if directed and not found.directed and not found.both_ways:
        other = src != dst
        src, dst = np.concatenate((src, dst[other])), np.concatenate((dst, src[other]))
        weights = None if weights is None else np.concatenate((weights, weights[other]))
        columns = {name: np.concatenate((column, column[other])) for name, column in columns.items()}
    count = found.num_vertices if options.num_vertices is None else options.num_vertices
    if options.labels is True or found.labels is not None:
        count = options.num_vertices
    elif count is None and options.labels is None and found.nodes is not None:
        count = _count(name, found)
    graph = from_edges(
        src, dst, weights, num_vertices=count, directed=directed or found.both_ways,
        duplicates=options.duplicates, self_loops=options.self_loops,
        labels=options.labels if found.labels is None else found.labels,
        vertices=found.vertices, edges=columns,
    )  # fmt: skip
    if directed or not found.both_ways:
        return graph
    return _undirected(graph, found, fail)


def _count(name: str, found: Edges) -> int:
    """The number of vertices by the ids of edges, with a warning if a comment tells of another."""
    count = max(int(ends.max()) + 1 if len(ends) else 0 for ends in (found.src, found.dst))
    if count != found.nodes:
        warn(
            f"{name}: a comment tells of {found.nodes:,} vertices, and ids go up to {count - 1:,}: labels=True numbers "
            "those that occur, and num_vertices= says how many there are"
        )
    return count


def _undirected(graph: Graph, found: Edges, fail: Fail) -> Graph:
    """A graph whose file has every edge both ways as an undirected one."""
    try:
        return from_csr(
            graph.offsets, graph.targets, graph.weights, directed=False, labels=graph.labels,
            vertices=graph.vertices,
        )  # fmt: skip
    except GraphError:
        s, d, w = _one_sided(graph)
        line = None if found.lines_of is None else int(found.lines_of[s])
        weight = "" if w is None else f" with the weight {w}"
        fail(
            line, f"vertex {s + 1} among the neighbours of {d + 1}{weight}",
            f"only vertex {d + 1} among those of {s + 1}",
        )  # fmt: skip


def _one_sided(graph: Graph) -> tuple[int, int, Any]:
    """An edge of a graph that is not symmetric whose reverse is not there, or differs."""
    weights = [0] * graph.num_slots if graph.weights is None else graph.weights.tolist()
    there = list(zip(graph.sources.tolist(), graph.targets.tolist(), weights, strict=True))
    known = set(there)
    s, d, w = next((e for e in there if (e[1], e[0], e[2]) not in known), there[0])
    return s, d, None if graph.weights is None else w


def arrays_of(graph: Graph) -> dict[str, Any]:
    """A graph as the arguments of ``from_csr``."""
    kept = ("offsets", "targets", "weights", "directed", "labels", "vertices", "edges")
    return {name: getattr(graph, name) for name in kept}


def stored_graph(found: dict[str, Any], options: Options, directed: bool, keep: bool) -> Graph:
    """The graph of an archive in our own layout, or of a format that gives graphs."""
    stored = found["directed"]
    labels = found["labels"] if options.labels is None else options.labels
    found = {**found, "labels": labels}
    if keep and options.self_loops == "keep":
        return from_csr(**{**found, "directed": directed})
    rows = from_csr(**{**found, "directed": stored})
    kept = slice(None) if stored or directed else rows.sources <= rows.targets
    return from_edges(
        rows.sources[kept], rows.targets[kept],
        None if rows.weights is None else rows.weights[kept],
        num_vertices=rows.num_vertices, directed=directed, labels=rows.labels,
        duplicates="keep" if keep else options.duplicates,
        self_loops=options.self_loops, vertices=rows.vertices,
        edges={name: column[kept] for name, column in rows.edges.items()},
    )  # fmt: skip
