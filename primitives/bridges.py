"""Bridges: the edges whose removal divides a component.

An edge is a bridge if it lies on no cycle. So it belongs to every spanning forest, it has no parallel edge, and it is
a block by itself; ``primitives/_blocks.py`` finds the blocks, and says how and from which sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._blocks import FIND_BLOCKS, blocks_problem, top
from frontier.registry import primitive

__all__ = ["Bridges", "BridgesResult", "bridges"]


def shared(p, v):
    """Mark the blocks that have more than one vertex below their first one."""
    if p.label[v] != v:
        p.shared[p.label[v]] = True


def alone(p, v):
    """The edge above v is a block by itself."""
    return top(p, v) and not p.shared[v]


def copy(p, src, dst):
    """1 for each copy of the edge between dst and its parent."""
    return 1 if p.parent[dst] == src else 0


def single(p, v):
    """There is one such edge: it is a bridge."""
    p.bridge[v] = p.copies[v] == 1


class Bridges(fr.Enactor):
    """Find the blocks; those of one edge that has no copy are bridges, marked at their lower endpoint."""

    loop = (
        *FIND_BLOCKS,
        fr.Compute(shared, over="vertices"),
        fr.Sequence(
            fr.Filter(alone), fr.Gather(copy, "sum", into="copies"), fr.Compute(single), over="vertices"
        ),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class BridgesResult(fr.Result, rows="other"):
    """Result of :func:`bridges`.

    Attributes
    ----------
    edges : ndarray, shape (count, 2)
        The endpoints of each bridge, the smaller one first, in ascending order.
    count : int
        Number of bridges.
    """

    edges: NDArray[Any]
    count: int

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each bridge: ``source`` and ``target``."""
        edges = self.host_array("edges")[rows]
        return {"source": (edges[:, 0], True), "target": (edges[:, 1], True)}


def _facts(g: fr.Graph, result: BridgesResult) -> dict[str, Any]:
    return {"bridges": result.count}


@primitive("bridges", "edges whose removal divides a component", report=_facts)
def bridges(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> BridgesResult:
    """Find the edges whose removal divides a connected component.

    Parameters
    ----------
    g : Graph
        Undirected. Parallel edges are no bridges, and neither are self-loops. A graph in parts is made whole, on
        processors, for this.
    schedule : Schedule, optional

    Returns
    -------
    BridgesResult

    Raises
    ------
    GraphError
        If the graph is directed.

    Notes
    -----
    Nearly O(n + m) work; edges within the largest block are mostly not read. One pass for each level of a
    breadth-first search.

    Examples
    --------
    >>> g = fr.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> fr.bridges(g).count
    1
    """
    p = blocks_problem(
        g, "bridges", shared=fr.vertex("bool"), copies=fr.vertex(g.id_dtype), bridge=fr.vertex("bool")
    )
    if g.num_vertices:
        Bridges(p, schedule).run()
    xp = p.graph.placement.memory.xp
    below = xp.flatnonzero(p.bridge)
    ends = below.astype(g.id_dtype), p.parent[below]
    low, high = xp.minimum(*ends), xp.maximum(*ends)
    order = xp.argsort(low.astype("int64") * g.num_vertices + high)
    return BridgesResult(xp.stack([low[order], high[order]], axis=1), len(below))
