"""Places for vertices in the plane, or in space: neighbours near one another, others apart.

The graph is made smaller and smaller, until each component is one vertex. From the smallest graph to the given one,
vertices begin where the smaller graph has put those that stand for them, and forces move them, for some iterations
(Walshaw: A multilevel algorithm for force-directed graph drawing, 2003). So the smallest graphs decide on the whole,
and the larger ones on details. In the end components, which have not seen each other, are put beside each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import check_number, check_seed, check_weights
from frontier.primitives._communities import in_integers
from frontier.primitives._layout_forces import SETTLING, forces
from frontier.primitives._layout_levels import levels
from frontier.primitives._oriented import at_hand
from frontier.primitives._packing import apart
from frontier.primitives._tables import in_one_piece
from frontier.registry import Argument, primitive

__all__ = ["LayoutResult", "layout"]

#: Vertices of a graph from which the given number of iterations is enough, and how often more on small graphs.
LARGE, MORE = 100_000, 10


@dataclass(frozen=True, eq=False, repr=False)
class LayoutResult(fr.Result, columns=("x", "y", "z")):
    """Result of :func:`layout`.

    Attributes
    ----------
    position : ndarray of float64, shape (n, 2) or (n, 3)
        Where each vertex is. The widest component is around the origin.
    """

    position: NDArray[Any]

    @property
    def x(self) -> NDArray[Any]:
        """The first coordinate of each vertex."""
        return self.position[:, 0]

    @property
    def y(self) -> NDArray[Any]:
        """The second coordinate."""
        return self.position[:, 1]

    @property
    def z(self) -> NDArray[Any] | None:
        """The third coordinate; None in the plane."""
        return self.position[:, 2] if self.position.shape[1] > 2 else None


def _facts(g: fr.Graph, result: LayoutResult) -> dict[str, Any]:
    if not len(result.position):
        return {}
    extent = result.position.max(axis=0) - result.position.min(axis=0)
    return {"extent": " x ".join(f"{float(x):.1f}" for x in extent)}


@primitive(
    "layout", "places for vertices, to draw a graph",
    arguments=(
        Argument("--iterations", "on each graph of 100,000 vertices or more; on small ones up to ten times as many "
                 "(default: 30)", type=int),
        Argument("--dimensions", "2 or 3 (default: 2)", type=int),
        Argument("--weighted", "whether heavy edges pull more (default: no)", type=bool),
    ),
    verify="layout",
    report=_facts,
)  # fmt: skip
def layout(
    g: fr.Graph,
    *,
    iterations: int = 30,
    dimensions: int = 2,
    weighted: bool = False,
    seed: int = 0,
    schedule: fr.Schedule | None = None,
) -> LayoutResult:
    """Lay out a graph by forces: neighbours near one another, others apart.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, parallel edges pull together, and self-loops do not count.
    iterations : int
        How often vertices move, in each graph of 100,000 vertices or more of the hierarchy; in smaller ones more often,
        up to ten times.
    dimensions : {2, 3}
    weighted : bool
        Whether edges pull in proportion to their weights. Edges of weight 0 hardly do.
    seed : int
    schedule : Schedule, optional

    Returns
    -------
    LayoutResult
        Most edges are some units long. Components have their own places.

    Raises
    ------
    GraphError
        If an argument is out of range, or ``weighted`` and the graph has no weights, or infinite ones.
    NegativeWeightError
        If ``weighted``, and a weight is negative.

    Notes
    -----
    O(m + n log n) work an iteration. Results depend on the graph and the seed only, bit by bit, and not on the number
    of threads. A graph in parts is made whole, and edges that lie elsewhere come into memory.

    Examples
    --------
    >>> fr.layout(fr.grid(3, 4)).position.shape
    (12, 2)
    """
    check_number("iterations", iterations, lambda x: 1 <= x < 2**31 and x == int(x), "must be a whole number from 1")
    check_number("dimensions", dimensions, lambda x: x in (2, 3), "must be 2 or 3")
    check_seed(seed)
    if weighted and g.weights is None:
        raise fr.GraphError("weighted=True, but the graph has no weights")
    if weighted:
        check_weights(g, "layout")
    g, schedule = in_one_piece(g, schedule)
    memory, dims = g.placement.memory, int(dimensions)
    if not g.num_vertices:
        return LayoutResult(memory.xp.zeros((0, dims)))
    graphs, components = levels(_simple(g, weighted), seed, schedule)
    component = memory.xp.arange(components)
    position = memory.xp.zeros((components, dims))
    for k, level in reversed([*enumerate(graphs)]):
        h, component = level.graph, component[level.group]
        often = int(iterations * min(max((LARGE / h.num_vertices) ** 0.5, 1), MORE))
        p = fr.Problem(
            h,
            position=fr.vertex("float64", position[level.group], shape=dims),
            **forces(h, level.length, component, often, seed + k, dims),
        )
        SETTLING[dims](p, schedule).run()
        position = p.position
    found = apart(to_host(position), to_host(component), components)
    return LayoutResult(memory.moved(found))


def _simple(g: fr.Graph, weighted: bool) -> fr.Graph:
    """Return the graph without directions, self-loops and parallel edges, with integers as weights, and in memory."""
    h = in_integers(at_hand(g), weighted)
    if h.directed:
        h = h.undirected()
    h = h.contracted(h.placement.memory.xp.arange(h.num_vertices), self_loops="drop")
    if h.num_slots and not h.max_weight:
        h = in_integers(h, weighted=False)
    return h.to(g.placement.name)
