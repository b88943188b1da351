"""Shortest paths by weights that may be negative, and cycles of negative weight.

Every pass relaxes the edges of the vertices whose distances have changed (Bellman: On a routing problem, 1958; Moore:
The shortest path through a maze, 1959). With a cycle of negative weight this would never end. Then, after some passes,
parents form a cycle, which has negative weight (Cherkassky and Goldberg: Negative-cycle detection algorithms, 1999): so
after 16 passes, 32, 64 and so on the parents are searched for one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError, NegativeCycleError
from frontier.graph.labels import VertexNames
from frontier.memory.arrays import to_host
from frontier.primitives._paths import path_to, unreached
from frontier.registry import primitive

__all__ = ["BellmanFord", "BellmanFordResult", "bellman_ford"]

#: After so many passes parents are searched for a cycle for the first time.
SOON = 16


def relax(p, src, dst, weight):
    """Offer dst a shorter path through src; its parent goes along."""
    new = p.distance[src] + weight
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new, src)


def enough(p):
    """It is time to look for a cycle."""
    return p.turn >= p.limit


class BellmanFord(fr.Enactor):
    """Passes over the vertices of the pile ``front``, up to ``limit`` of them; what is left then is in the pile."""

    loop = (
        fr.Take("front"),
        fr.Loop(fr.Advance(relax), count="turn", until=enough),
        fr.Put("front"),
    )


@dataclass(frozen=True, eq=False, repr=False)
class BellmanFordResult(fr.Result, columns=("distance", "parent"), ids=("parent",)):
    """Result of :func:`bellman_ford`; entry v of an array belongs to vertex v.

    Attributes
    ----------
    source : int
        Vertex id.
    distance : ndarray of float64 or int64, shape (n,)
        Length of a shortest path from the source; inf (for integers, the maximum of int64) if there is none.
    parent : ndarray of shape (n,)
        The vertex before v on such a path; -1 if there is none. The source is its own parent.
    """

    source: int
    distance: NDArray[Any]
    parent: NDArray[Any]

    def path_to(self, vertex: Any) -> list[Any]:
        """Return the vertices of a shortest path from the source to a vertex; empty if there is none."""
        return path_to(self.parent, vertex, self.names)


def _facts(g: fr.Graph, result: BellmanFordResult) -> dict[str, Any]:
    reached = result.distance < unreached(result.distance.dtype)
    least, most = result.distance[reached].min().item(), result.distance[reached].max().item()
    return {"reached": int(reached.sum()), "nearest": least, "farthest": most}


@primitive(
    "bellman_ford", "shortest paths by weights that may be negative",
    takes_source=True, needs_weights=True, verify="bellman_ford", report=_facts,
)  # fmt: skip
def bellman_ford(g: fr.Graph, source: Any, *, schedule: fr.Schedule | None = None) -> BellmanFordResult:
    """Shortest paths from one vertex by weights that may be negative.

    Parameters
    ----------
    g : Graph
        With weights. In an undirected graph each edge of negative weight is a cycle, there and back.
    source : int or label
    schedule : Schedule, optional

    Returns
    -------
    BellmanFordResult
        With integer weights, distances are int64 and exact; otherwise float64.

    Raises
    ------
    NegativeCycleError
        If a cycle of negative weight can be reached; its ``cycle`` is a list of vertices.
    GraphError
        If the source does not exist, the graph has no weights, one is -inf, or distances may not fit into 64 bits.

    Notes
    -----
    O(m) work for a pass, at most n passes, usually few. With weights that are not negative :func:`frontier.sssp` is
    faster. Sums of floats are rounded: a cycle of weight 0 may then pass for a negative one.

    Examples
    --------
    >>> g = fr.from_edges(["a", "a", "b"], ["b", "c", "c"], [4, 2, -3], directed=True)
    >>> fr.bellman_ford(g, "a").to_dict()
    {'a': 0, 'b': 4, 'c': 1}
    """
    start = g.vertex_id(source)
    check_signed_lengths(g)
    p = settled(g, np.array([start]), schedule)
    p.parent[start] = start
    return BellmanFordResult(start, p.distance, p.parent)


def settled(g: fr.Graph, starts: NDArray[np.int64] | None, schedule: fr.Schedule | None) -> fr.Problem:
    """Return a problem with distances from the nearest of some vertices, or of all, and parents; starts have none."""
    assert g.weights is not None
    distances = np.dtype(np.int64 if g.weights.dtype.kind in "iu" else np.float64)
    p = fr.Problem(
        g,
        distance=fr.vertex(distances, 0 if starts is None else unreached(distances), combine="min"),
        parent=fr.vertex(g.id_dtype, -1, with_="distance"),
        front=fr.pile(),
        turn=fr.scalar("int64"),
        limit=fr.scalar("int64", SOON),
    )
    if starts is not None:
        p.distance[int(starts[0])] = 0
    p.front = fr.Frontier.all(g) if starts is None else fr.Frontier(g, starts)
    enactor = BellmanFord(p, schedule)
    enactor.run(fr.Frontier(g))
    while len(p.front):
        cycle = _cycle(np.asarray(to_host(p.parent)))
        if cycle:
            raise _error(g, cycle)
        p.limit = 2 * p.limit
        enactor.run(fr.Frontier(g))
    return p


def check_signed_lengths(g: fr.Graph) -> None:
    """Raise GraphError without weights, for one of -inf, and if a path may be too long for int64."""
    if g.weights is None:
        raise GraphError("shortest paths need weights, and the graph has none; for numbers of edges use fr.bfs")
    if not g.num_slots:
        return
    if g.min_weight == -math.inf:
        raise GraphError("shortest paths need weights above -inf")
    if g.weights.dtype.kind in "iu" and max(g.max_weight, -g.min_weight) * g.num_vertices >= 2**62:
        raise GraphError("distances by these integer weights may not fit into 64 bits: use weights of float64")


def _cycle(parent: NDArray[Any]) -> list[int]:
    """Return a cycle of parents, in the direction of edges and with its first vertex at the end, too; [] if none."""
    n = len(parent)
    hop = np.append(np.where(parent < 0, n, parent), n)  # n is its own parent
    for _ in range(n.bit_length()):
        hop = hop[hop]
    on_cycle = hop[hop < n]
    if not len(on_cycle):
        return []
    cycle = [int(on_cycle[0])]
    while len(cycle) == 1 or cycle[-1] != cycle[0]:
        cycle.append(int(parent[cycle[-1]]))
    return cycle[::-1]


def _error(g: fr.Graph, cycle: list[int]) -> NegativeCycleError:
    here = g.to("cpu")
    total = math.fsum(_least(here, u, v) for u, v in pairwise(cycle))
    names = VertexNames(g.labels, g.num_vertices).of(cycle)
    shown = [repr(name) for name in names]
    if len(shown) > 9:
        shown = [*shown[:4], "...", *shown[-4:]]
    weight = f"{total:.6g}" if total < 0 else f"{total:.6g}, negative by rounding only"
    return NegativeCycleError(f"there is a cycle of negative weight: {' -> '.join(shown)} ({weight})", names)


def _least(g: fr.Graph, u: int, v: int) -> float:
    """The least weight of an edge from u to v."""
    assert g.weights is not None
    lo, hi = int(g.offsets[u]), int(g.offsets[u + 1])
    return float(g.weights[lo:hi][g.targets[lo:hi] == v].min())
