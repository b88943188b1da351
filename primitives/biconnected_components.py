"""Biconnected components: the maximal sets of edges of which any two lie on a common simple cycle, and their vertices.

They are also called blocks; ``primitives/_blocks.py`` finds them, and says how and from which sources. There, each
vertex but the roots of a breadth-first forest stands for the edge above it. An edge belongs to the block of its deeper
end: either it is the edge above that, or it closes a cycle with it. A vertex belongs to the block of the edge above it,
and to all blocks of which it is the highest vertex.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.memory.arrays import matching, to_host
from frontier.primitives._blocks import FIND_BLOCKS, blocks_problem
from frontier.registry import primitive

__all__ = ["BiconnectedComponents", "BiconnectedComponentsResult", "biconnected_components"]


def assign(p, src, dst, edge):
    """Put an edge into the block of its deeper end; a self-loop into none."""
    deeper = src if p.level[src] > p.level[dst] else dst
    p.block[edge] = p.label[deeper] if src != dst else -1


class BiconnectedComponents(fr.Enactor):
    """Find the blocks, each named by a vertex, and write them into the edge field ``block``."""

    loop = (*FIND_BLOCKS, fr.Compute(assign, over="edges"))


@dataclass(frozen=True, eq=False, repr=False)
class BiconnectedComponentsResult(fr.Result, columns=("label",), rows="slot"):
    """Result of :func:`biconnected_components`.

    Attributes
    ----------
    label : ndarray, shape (m,)
        The number of the component of each edge slot, from 0 on; -1 for self-loops.
    count : int
        Number of components.
    offsets : ndarray of int64, shape (count + 1,)
        The vertices of component c are ``vertices[offsets[c]:offsets[c + 1]]``.
    vertices : ndarray
        The vertices of one component after the other, in ascending order. An articulation point is there several times,
        and a vertex without edges to others not at all.
    """

    label: NDArray[Any]
    count: int
    offsets: NDArray[np.int64] = field(repr=False)
    vertices: NDArray[Any] = field(repr=False)

    @property
    def components(self) -> list[list[Any]]:
        """The vertices of each component, by their names, the largest first."""
        parts = np.split(self.host_array("vertices"), self.host_array("offsets")[1:-1]) if self.count else []
        return [self.names.of(parts[c]) for c in self._order()]

    @property
    def edge_components(self) -> list[list[tuple[Any, Any]]]:
        """The edges of each component, each once, as pairs of names, in the order of :attr:`components`."""
        g = self.input_graph
        src, dst, label = to_host(g.sources), to_host(g.targets), self.host_array("label")
        slots = np.flatnonzero((src < dst) & (label >= 0))
        slots = slots[np.argsort(label[slots], kind="stable")]
        parts = np.split(slots, np.searchsorted(label[slots], np.arange(1, self.count))) if self.count else []
        names = self.names
        return [list(zip(names.of(src[parts[c]]), names.of(dst[parts[c]]), strict=True)) for c in self._order()]

    def _order(self) -> list[int]:
        """The components, those of most vertices first."""
        order: list[int] = np.argsort(-np.diff(self.host_array("offsets")), kind="stable").tolist()
        return order


def _facts(g: fr.Graph, result: BiconnectedComponentsResult) -> dict[str, Any]:
    sizes = np.diff(to_host(result.offsets))
    return {"components": result.count, "vertices of the largest": int(sizes.max()) if len(sizes) else 0}


@primitive("biconnected_components", "blocks: edges that lie on common cycles", report=_facts)
def biconnected_components(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> BiconnectedComponentsResult:
    """Find the biconnected components: maximal subgraphs that no removal of a single vertex divides.

    Every edge but self-loops belongs to one of them; two of them share one vertex at most, an articulation point.

    Parameters
    ----------
    g : Graph
        Undirected. Parallel edges do not matter. A graph in parts is made whole, on processors, for this.
    schedule : Schedule, optional

    Returns
    -------
    BiconnectedComponentsResult

    Raises
    ------
    GraphError
        If the graph is directed.

    Notes
    -----
    Nearly O(n + m) work, and O(n log n) to sort the vertices of components. One pass for each level of a breadth-first
    search. The result is the same in every run.

    Examples
    --------
    >>> found = fr.biconnected_components(fr.from_edges([0, 1, 2, 2], [1, 2, 0, 3]))
    >>> found.components, found.edge_components[1]
    ([[0, 1, 2], [2, 3]], [(2, 3)])
    """
    p = blocks_problem(g, "biconnected components", block=fr.edge(g.id_dtype, -1))
    if g.num_vertices:
        BiconnectedComponents(p, schedule).run()
    xp = p.graph.placement.memory.xp
    below = xp.flatnonzero(p.level > 0)
    names, part = xp.unique(p.label[below], return_inverse=True)
    count = len(names)
    number = xp.full(g.num_vertices + 1, -1, p.label.dtype)  # the last one is for self-loops
    number[names] = xp.arange(count)
    label = matching(number, p.block)[p.block]
    # Each component has the vertices whose edge above belongs to it, and the one above the vertex that names it.
    component = xp.concatenate([part.reshape(-1), xp.arange(count)])
    vertices = xp.concatenate([below.astype(g.id_dtype), p.parent[names]])
    order = xp.argsort(component.astype(np.int64) * max(g.num_vertices, 1) + vertices)
    offsets = xp.searchsorted(component[order], xp.arange(count + 1))
    return BiconnectedComponentsResult(label, count, offsets.astype(np.int64), vertices[order])
