"""Patterns of :func:`frontier.subgraph_match`: what they are, and in which order their vertices are matched."""

from __future__ import annotations

from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.memory.arrays import to_host
from frontier.primitives._oriented import at_hand

__all__ = ["PATTERNS", "Stage", "kinds_of", "pattern_of", "plan"]

#: Named patterns, as lists of edges.
PATTERNS = {
    "triangle": [(0, 1), (1, 2), (0, 2)],
    "4-clique": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
    "square": [(0, 1), (1, 2), (2, 3), (0, 3)],
    "path": [(0, 1), (1, 2)],
}

#: Most vertices of a pattern.
LARGEST = 8


class Stage(NamedTuple):
    """What the next vertex of the pattern needs; sets of vertices that are matched already are bits."""

    joined: int
    above: int
    least_degree: int
    wanted: int


def pattern_of(pattern: Any, labels: Any) -> tuple[set[tuple[int, int]], int]:
    """Return the edges of a pattern in both directions, and the number of its vertices."""
    if isinstance(pattern, str):
        if pattern not in PATTERNS:
            raise GraphError(f"pattern={pattern!r}: choose from {', '.join(PATTERNS)}, or give a graph")
        if pattern == "path" and labels is not None:
            pattern = fr.path(len(labels))
        else:
            pattern = fr.from_edges(PATTERNS[pattern])
    if not isinstance(pattern, Graph):
        raise GraphError(f"pattern={pattern!r}: a name or a graph")
    pattern, k = at_hand(pattern).to("cpu"), pattern.num_vertices
    edges = set(zip(pattern.sources.tolist(), pattern.targets.tolist(), strict=True))
    if pattern.directed or any(a == b for a, b in edges):
        raise GraphError("patterns are undirected graphs without self-loops")
    if not 1 <= k <= LARGEST:
        raise GraphError(f"a pattern has 1 to {LARGEST} vertices, not {k}")
    if fr.connected_components(pattern).count > 1:
        raise GraphError("patterns are connected: match the components one by one")
    return edges, k


def kinds_of(g: Graph, k: int, labels: Any, vertex_labels: Any) -> tuple[list[int], NDArray[Any]]:
    """Return a number for the label that each vertex of the pattern requires, -1 for any, and those of all vertices."""
    kinds = np.zeros(g.num_vertices, np.int32)
    if labels is None:
        return [-1] * k, kinds
    if vertex_labels is None:
        raise GraphError("labels= goes with vertex_labels=, which says what the labels of the graph's vertices are")
    if isinstance(vertex_labels, str):
        if vertex_labels not in g.vertices:
            raise GraphError(f"vertex_labels={vertex_labels!r}: there is no such vertex column")
        vertex_labels = g.vertices[vertex_labels]
    given = to_host(vertex_labels)
    if given.shape != (g.num_vertices,):
        raise GraphError(f"vertex_labels of shape {given.shape}, but there are {g.num_vertices} vertices")
    if len(labels) != k:
        raise GraphError(f"{len(labels)} labels for a pattern of {k} vertices")
    numbers: dict[Any, int] = {}
    for label in labels:
        if label is not None and label not in numbers:
            numbers[label] = len(numbers) + 1
            kinds[given == label] = numbers[label]
    return [-1 if label is None else numbers[label] for label in labels], kinds


def plan(edges: set[tuple[int, int]], k: int, wanted: list[int]) -> tuple[list[int], list[Stage]]:
    """Return an order of the pattern's vertices, and what each needs when its turn comes.

    Next is always the vertex with the most neighbours among those before it, then the one with the most in all.
    """
    lists = [{b for a, b in edges if a == v} for v in range(k)]
    order: list[int] = []
    for _ in range(k):
        rest = [v for v in range(k) if v not in order]
        order.append(max(rest, key=lambda v: (len(lists[v] & set(order)), len(lists[v]), wanted[v] >= 0)))
    same = [
        image
        for image in permutations(range(k))
        if all(wanted[image[v]] == wanted[v] for v in range(k)) and all((image[a], image[b]) in edges for a, b in edges)
    ]
    # Of the vertices that symmetries put in the place of v, v has the greatest number; symmetries that keep v remain.
    above = [0] * k
    for i, v in enumerate(order):
        for w in {image[v] for image in same} - {v}:
            above[w] |= 1 << i
        same = [image for image in same if image[v] == v]
    bits = [sum(1 << i for i, w in enumerate(order) if w in lists[v]) for v in range(k)]
    return order, [Stage(bits[v] & (1 << i) - 1, above[v], len(lists[v]), wanted[v]) for i, v in enumerate(order)]
