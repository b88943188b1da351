"""Square clustering: which fraction of the squares at a vertex that there might be there are.

For each pair u, w of v's neighbours, the squares are the other neighbours that u and w have in common, and those that
there might be are all other neighbours of u and of w (Lind, González, Herrmann: Cycles and clustering in bipartite
networks, Physical Review E 72, 2005; in the form that counts edges to either one alone: Zhang et al.: Clustering
coefficient and community structure of bipartite networks, Physica A 387, 2008). Added up over all pairs, what there
might be follows from degrees, triangles and squares. The squares at v are counted at their opposite corners: a vertex x
to which two edges lead from v in c ways is that of c (c - 1) / 2. These ways are listed and sorted, for so many
vertices at once that memory stays small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._oriented import at_hand, simple, undivided
from frontier.primitives.triangles import triangles
from frontier.registry import primitive

__all__ = ["SquareClusteringResult", "square_clustering"]

#: Ways of two edges that are listed at once; more if a single vertex has more.
WAYS = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class SquareClusteringResult(fr.Result, columns=("coefficient", "squares")):
    """Result of :func:`square_clustering`.

    Attributes
    ----------
    coefficient : ndarray of float64, shape (n,)
        The squares at v divided by those that there might be; 0 if none might be.
    squares : ndarray of int64, shape (n,)
        The number of squares, which are cycles of four edges, that v is a corner of.
    average : float
        Mean of the coefficients; 0 if there is no vertex.
    """

    coefficient: NDArray[np.float64]
    squares: NDArray[np.int64]
    average: float


@primitive(
    "square_clustering", "square clustering coefficients, and squares at each vertex",
    report=lambda g, r: {"squares": int(r.squares.sum()) // 4, "average": r.average},
)  # fmt: skip
def square_clustering(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> SquareClusteringResult:
    """Compute the square clustering coefficient of every vertex, as NetworkX does.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, parallel edges count as one, and self-loops not at all. A graph in parts
        is made whole, on processors, for this.
    schedule : Schedule, optional

    Returns
    -------
    SquareClusteringResult

    Notes
    -----
    With D the sum of the squares of all degrees, O(D log D) work, which a vertex of high degree raises. On the CPU one
    thread does nearly all of it.

    Examples
    --------
    >>> fr.square_clustering(fr.grid(2, 3)).coefficient.round(2).tolist()
    [0.5, 0.33, 0.5, 0.5, 0.33, 0.5]
    """
    plain = at_hand(simple(undivided(g)))
    xp = plain.placement.memory.xp
    squares, around = _squares(plain)
    degree = plain.out_degree.astype(np.int64)
    corners = triangles(plain, per_vertex=True, schedule=schedule).per_vertex
    assert corners is not None
    potential = (degree - 1) * around - degree * (degree - 1) - 2 * corners - squares
    coefficient = xp.where(potential > 0, squares / xp.maximum(potential, 1), 0.0)
    average = float(coefficient.sum()) / max(g.num_vertices, 1)
    return SquareClusteringResult(coefficient, squares, average)


def _squares(g: fr.Graph) -> tuple[Any, Any]:
    """Return for each vertex the number of squares, and the sum of its neighbours' degrees, that is of ways."""
    xp, n, offsets = g.placement.memory.xp, g.num_vertices, g.offsets
    ends = xp.zeros(g.num_slots + 1, np.int64)  # of the ways that begin with each edge
    xp.cumsum(g.out_degree[g.targets], dtype=np.int64, out=ends[1:])
    upto = ends[offsets]
    found = xp.zeros(n, np.int64)
    low = 0
    while low < n:
        high = max(low + 1, int(xp.searchsorted(upto, upto[low] + WAYS, side="right")) - 1)
        first, last = int(offsets[low]), int(offsets[high])
        way = xp.arange(int(ends[first]), int(ends[last]))
        edge = xp.searchsorted(ends[: last + 1], way, side="right") - 1
        v, x = g.sources[edge].astype(np.int64), g.targets[offsets[g.targets[edge]] + way - ends[edge]]
        pair, ways = xp.unique((v * n + x)[v != x], return_counts=True)
        if len(pair):
            each = xp.bincount(pair // n - low, weights=ways * (ways - 1) / 2, minlength=high - low)
            found[low:high] = xp.rint(each).astype(np.int64)
        low = high
    return found, upto[1:] - upto[:-1]
