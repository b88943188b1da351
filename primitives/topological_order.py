"""Topological order: vertices ordered such that every edge leads forward.

Kahn's algorithm, level by level (Kahn: Topological sorting of large networks, Communications of the ACM 5, 1962):
vertices without in-edges come first. They are removed, and the next level consists of the vertices that lose their last
in-edge thereby. So the level of a vertex is the length of the longest path to it, in edges. If vertices are left in the
end, then each of them has an in-edge from another one that is left, and following these back leads around a cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.labels import called
from frontier.memory.arrays import namespace_of, to_host
from frontier.primitives._oriented import at_hand
from frontier.registry import primitive

__all__ = ["Kahn", "KahnDivided", "TopologicalOrderResult", "topological_order"]


def place(p, v):
    """Place v on the level of this pass, if none of its in-edges is left."""
    if p.entering[v] != 0:
        return False
    p.level[v] = p.depth - 1
    return True


def release(p, dst):
    """Remove an edge of a vertex that has been placed; true for the last in-edge of its target."""
    return fr.atomic_add(p.entering, dst, -1) == 1


class Kahn(fr.Enactor):
    """Place the vertices without in-edges and remove their out-edges, pass after pass."""

    loop = fr.Loop(fr.Filter(place), fr.Advance(release), over="vertices", count="depth")


def release_any(p, dst):
    """Remove an edge; true, because only the part that owns the target knows whether it was the last one."""
    fr.atomic_add(p.entering, dst, -1)
    return True


class KahnDivided(fr.Enactor):
    """The same on a graph in parts."""

    loop = Kahn.program().replace({release: release_any})


@dataclass(frozen=True, eq=False, repr=False)
class TopologicalOrderResult(fr.Result, columns=("level",)):
    """Result of :func:`topological_order`.

    Attributes
    ----------
    order : ndarray, shape (n,)
        All vertices, by level, and on each level by id. Every edge leads from a vertex to a later one.
    level : ndarray of int32, shape (n,)
        Number of edges on a longest path that ends at v; 0 for a vertex without in-edges.
    depth : int
        Number of levels: the number of vertices on a longest path; 0 if there is no vertex.
    """

    order: NDArray[Any]
    level: NDArray[np.int32]
    depth: int

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each ``vertex``, in the order, with its ``level``."""
        order = self.host_array("order")[rows]
        return {"vertex": (order, True), "level": (self.host_array("level")[order], False)}


@primitive(
    "topological_order", "topological order of a directed acyclic graph",
    report=lambda g, r: {
        "levels": r.depth,
        "vertices on the widest": int(np.bincount(to_host(r.level)).max(initial=0)),
    },
)  # fmt: skip
def topological_order(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> TopologicalOrderResult:
    """Order the vertices of a directed acyclic graph such that every edge leads forward.

    Parameters
    ----------
    g : Graph
        Directed and without cycles. A self-loop is a cycle; parallel edges do not matter.
    schedule : Schedule, optional

    Returns
    -------
    TopologicalOrderResult

    Raises
    ------
    GraphError
        If the graph is undirected, or has a cycle; the message names a vertex on a cycle.

    Notes
    -----
    O(n + m) work, one pass for each level.

    Examples
    --------
    >>> fr.topological_order(fr.from_edges(["shirt", "tie"], ["tie", "jacket"], directed=True)).order
    array([0, 1, 2], dtype=int32)
    """
    if not g.directed:
        raise GraphError("a topological order needs a directed graph, but this one is undirected")
    p = fr.Problem(
        g,
        entering=fr.vertex(g.id_dtype, g.in_degree, combine="sum"),
        level=fr.vertex("int32", -1),
        depth=fr.scalar("int64"),
    )
    if g.num_vertices:
        (KahnDivided if g.placement.divides else Kahn)(p, schedule).run()
    left = p.level < 0
    if left.any():
        vertex = _on_cycle(at_hand(g), to_host(left))
        raise GraphError(
            f"the graph has a cycle, so there is no topological order: {called(vertex, g.labels)} lies on one; "
            "see strongly_connected_components"
        )
    depth = int(p.level.max()) + 1 if g.num_vertices else 0
    return TopologicalOrderResult(_by_level(p.level, depth).astype(g.id_dtype), p.level, depth)


def _by_level(level: Any, depth: int) -> Any:
    """Sort the vertices by level, ties by id."""
    if namespace_of(level) is np:
        narrow = level.astype(np.uint16) if depth <= 2**16 else level  # which NumPy sorts by radix, ten times faster
        return np.argsort(narrow, kind="stable")
    return level.argsort()  # stable in CuPy


def _on_cycle(g: fr.Graph, left: NDArray[np.bool_]) -> int:
    """Return a vertex on a cycle, given the vertices that have no level: each has an in-edge from another one."""
    src, dst = to_host(g.sources), to_host(g.targets)
    between = left[src] & left[dst]
    before = np.full(len(left), -1)
    before[dst[between]] = src[between]
    vertex, seen = int(np.flatnonzero(left)[0]), set()
    while vertex not in seen:
        seen.add(vertex)
        vertex = int(before[vertex])
    return vertex
