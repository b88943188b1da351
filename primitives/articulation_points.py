"""Articulation points: the vertices whose removal divides a component.

Every edge belongs to one block, and an articulation point to more than one. In a breadth-first forest, the highest
vertex of a block is the parent of the vertex that stands for it. Any other vertex of the forest but a root belongs to
the block of the edge above it, too, so it is an articulation point if it is the highest vertex of some block; a root is
one if it is that of two. ``primitives/_blocks.py`` finds the blocks, and says how and from which sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._blocks import FIND_BLOCKS, blocks_problem, top
from frontier.registry import primitive

__all__ = ["ArticulationPoints", "ArticulationPointsResult", "articulation_points"]


def below(p, v):
    """Count a block at its highest vertex."""
    if top(p, v):
        fr.atomic_add(p.blocks, p.parent[v], 1)


def cuts(p, v):
    """Whether v is in more than one block; 1 if it is."""
    blocks = p.blocks[v] + (1 if p.level[v] > 0 else 0)
    p.is_articulation[v] = blocks > 1
    return 1 if blocks > 1 else 0


class ArticulationPoints(fr.Enactor):
    """Find the blocks, and count those of each vertex."""

    loop = (*FIND_BLOCKS, fr.Compute(below, over="vertices"), fr.Reduce(cuts, "sum", into="count", over="vertices"))


@dataclass(frozen=True, eq=False, repr=False)
class ArticulationPointsResult(fr.Result, columns=("is_articulation",)):
    """Result of :func:`articulation_points`.

    Attributes
    ----------
    is_articulation : ndarray of bool, shape (n,)
        Whether v is an articulation point.
    count : int
        Number of articulation points.
    """

    is_articulation: NDArray[Any]
    count: int

    @property
    def members(self) -> list[Any]:
        """The articulation points, by their names."""
        return self.vertices_where("is_articulation")


def _facts(g: fr.Graph, result: ArticulationPointsResult) -> dict[str, Any]:
    return {"articulation points": result.count}


@primitive(
    "articulation_points", "vertices whose removal divides a component",
    report=_facts,
)  # fmt: skip
def articulation_points(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> ArticulationPointsResult:
    """Find the vertices whose removal divides a connected component.

    Parameters
    ----------
    g : Graph
        Undirected. Parallel edges and self-loops do not matter. A graph in parts is made whole, on processors, for
        this.
    schedule : Schedule, optional

    Returns
    -------
    ArticulationPointsResult

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
    >>> fr.articulation_points(fr.from_edges(["ann", "bob"], ["bob", "cid"])).to_dict()
    {'ann': False, 'bob': True, 'cid': False}
    """
    p = blocks_problem(
        g, "articulation points", blocks=fr.vertex(g.id_dtype, combine="sum"), is_articulation=fr.vertex("bool")
    )
    if g.num_vertices:
        ArticulationPoints(p, schedule).run()
    return ArticulationPointsResult(p.is_articulation, int(p.count))
