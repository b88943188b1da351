"""Verifying connected components (weak ones, where the graph is directed).

Two properties leave one partition:

1. Every edge joins two vertices of the same label. So no component is split: a class of equal
   labels is one component or several.
2. Every vertex is in the component of the vertex that it is labelled with, as an independent
   computation finds components. So no class is several.

That computation is Borůvka's contraction in numpy, with no random choice and no
label of the result: each part hooks onto its smallest neighbouring part, so that every round at
least halves the parts that have an edge left (O. Borůvka, 1926; as a parallel algorithm Y. Shiloach
and U. Vishkin, An O(log n) parallel connectivity algorithm, J. Algorithms 3(1), 1982).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frontier.verify.edges import edge_blocks, edge_name, spread
from frontier.verify.report import Checks, Report, examine, fail, integer_field, vertex_field

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["connected_components"]


def connected_components(g: Graph, result: Any) -> Report:
    """Check connected components.

    Parameters
    ----------
    g : Graph
        n vertices, m edges; the direction of edges does not matter.
    result : ComponentsResult
        ``label`` (n,) integers: the same vertex of the component for all its vertices; ``count``,
        the number of components.

    Returns
    -------
    Report
        True if the result passed; see its ``raise_if_failed()``.

    Notes
    -----
    Every edge joins equal labels, and vertices of equal labels are joined by a path, as an
    independent count of components shows; together they leave one partition. Every label is a
    vertex of its own component; that it is the smallest is not asked for. O((n + m) log n) time,
    O(n + m) memory at worst.

    Examples
    --------
    >>> g = fr.from_edges([0, 2], [1, 3])
    >>> fr.verify.connected_components(g, fr.connected_components(g)).passed
    True
    """
    return examine("connected_components", _properties, g, result, ("label", "count"))


def _properties(g: Graph, result: Any, checks: Checks) -> None:
    n = g.num_vertices
    label = vertex_field(result, "label", n, "iu")
    count = integer_field(result, "count")

    checks.begin("every label is a vertex of its own component")
    wrong = (label < 0) | (label >= n)
    if wrong.any():
        v = int(np.argmax(wrong))
        fail(f"label[{v}] is {label[v]}, which is not a vertex: vertices are 0 to {n - 1}")
    wrong = label[label] != label
    if wrong.any():
        v = int(np.argmax(wrong))
        u = int(label[v])
        fail(f"label[{v}] is {u}, but label[{u}] is {label[u]}")

    checks.begin("every edge joins equal labels")
    for vertices, slots in edge_blocks(g.offsets):
        split = spread(label, g.offsets, vertices) != label[g.targets[slots]]
        if split.any():
            u, v, edge = edge_name(g, slots.start + int(np.argmax(split)))
            fail(f"label[{u}] is {label[u]} and label[{v}] is {label[v]}, but {edge} joins them")

    checks.begin("vertices of equal labels are joined by a path")
    part = weak_components(g)
    merged = part != part[label]
    if merged.any():
        v = int(np.argmax(merged))
        u = int(label[v])
        fail(f"label[{u}] and label[{v}] are both {u}, but no path joins them")

    checks.begin("count is the number of components")
    expected = int(np.count_nonzero(label == np.arange(n)))
    if count != expected:
        fail(f"count is {count}, but there are {expected} components")


def weak_components(g: Graph) -> NDArray[np.int64]:
    """Give each vertex a vertex of its component, the same for the whole component: (n,)."""
    n = g.num_vertices
    ids = np.arange(n)
    part = _first_hooks(g, ids)
    a, b = _edges_between(g, part)
    while a.size:
        best = np.full(n, n)
        np.minimum.at(best, a, b)
        np.minimum.at(best, b, a)
        parent = np.where(best < n, best, ids)
        # The smallest neighbours make cycles of two at most; the smaller of the two is the root.
        mutual = (parent[parent] == ids) & (ids < parent)
        parent[mutual] = ids[mutual]
        root = _roots(parent)
        part = root[part]
        a, b = root[a], root[b]
        keep = a != b
        a, b = a[keep], b[keep]
    return part


def _first_hooks(g: Graph, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hook each vertex onto its first neighbour if that is smaller: most edges are then done."""
    parent = ids.copy()
    for vertices, slots in edge_blocks(g.offsets):
        some = vertices.start + np.flatnonzero(np.diff(g.offsets[vertices.start : vertices.stop + 1]))
        parent[some] = np.minimum(ids[some], g.targets[slots][g.offsets[some] - slots.start])
    return _roots(parent)


def _edges_between(g: Graph, part: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two parts of each edge that joins different ones; once if symmetric."""
    kept = [(part[:0], part[:0])]
    for vertices, slots in edge_blocks(g.offsets):
        a, b = spread(part, g.offsets, vertices), part[g.targets[slots]]
        keep = a < b if g.symmetric else a != b
        kept.append((a[keep], b[keep]))
    a, b = (np.concatenate(ends) for ends in zip(*kept, strict=True))
    return a, b


def _roots(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Point every vertex of a forest at its root."""
    while True:
        grand = parent[parent]
        if np.array_equal(grand, parent):
            return parent
        parent = grand
