"""Minimum spanning forests by the algorithm of Borůvka.

Every vertex begins as a tree of its own. In each round every tree takes the lightest edge that leads to another tree
(Borůvka: O jistém problému minimálním, 1926), and trees are joined along the edges that they have taken, by pointer
jumping. Of edges of equal weight the one with the lower slot counts as lighter, so all weights are different, as it
were: the forest is unique, and no cycle arises except where two trees take the same edge. Of such two, the one with the
lower root stays. At least half of the trees disappear in each round.

The frontier contains one slot of each edge between trees, as in the data-parallel form of Vineet, Harish, Patidar,
Narayanan (Fast minimum spanning tree for large graphs on the GPU, HPG 2009), but the graph is not contracted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError
from frontier.memory.arrays import to_host
from frontier.primitives._oriented import at_hand
from frontier.program.taking import at_graph
from frontier.registry import PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.schedule import Schedule
    from frontier.program.step import Step

__all__ = ["Boruvka", "BoruvkaUnweighted", "SpanningForestResult", "minimum_spanning_forest"]


def own(p, v):
    """Every vertex is the root of its own tree."""
    p.tree[v] = v


def between(p, src, dst):
    """Keep edges between different trees, and one slot of each."""
    return src < dst and p.tree[src] != p.tree[dst]


def forget(p, v):
    """Reset the choice of every tree."""
    p.lightest[v] = p.heaviest
    p.taken[v] = p.none
    p.other[v] = -1


def weigh(p, src, dst, weight):
    """Find the least weight of an edge that leaves a tree."""
    fr.atomic_min(p.lightest, p.tree[src], weight)
    fr.atomic_min(p.lightest, p.tree[dst], weight)


def take(p, src, dst, edge, weight):
    """Among the edges of that weight, take the one with the lowest slot."""
    if weight == p.lightest[p.tree[src]]:
        fr.atomic_min(p.taken, p.tree[src], edge)
    if weight == p.lightest[p.tree[dst]]:
        fr.atomic_min(p.taken, p.tree[dst], edge)


def take_lowest(p, src, dst, edge):
    """Without weights, take the edge with the lowest slot."""
    fr.atomic_min(p.taken, p.tree[src], edge)
    fr.atomic_min(p.taken, p.tree[dst], edge)


def look(p, src, dst, edge):
    """Find the tree at the other end of the edge that a tree has taken."""
    if p.taken[p.tree[src]] == edge:
        p.other[p.tree[src]] = p.tree[dst]
    if p.taken[p.tree[dst]] == edge:
        p.other[p.tree[dst]] = p.tree[src]


def hang(p, v):
    """Attach a root to the root at the other end of its edge; if both have taken the same edge, the lower one stays."""
    other = p.other[v]
    p.above[v] = p.tree[v]
    if other == -1 or (p.taken[other] == p.taken[v] and v < other):
        return
    p.above[v] = other
    p.chosen[v] = p.taken[v]


def jump(p, v):
    """Point to the parent's parent; keep v until it points to a root."""
    above = p.tree[v]
    p.tree[v] = p.tree[above]
    return p.tree[v] != above


def _rounds(*choice: Step) -> tuple[Step, ...]:
    """Repeat rounds until no edge joins different trees; the steps of ``choice`` set the edge that each tree takes."""
    return (
        fr.Compute(own, over="vertices"),
        fr.Loop(
            fr.Filter(between),
            fr.Compute(forget, over="vertices"),
            *choice,
            fr.Compute(look),
            fr.Compute(hang, over="vertices"),
            fr.Swap("tree", "above"),
            fr.Loop(fr.Filter(jump), over="vertices"),
            over="edges",
            count="rounds",
        ),
    )


class Boruvka(fr.Enactor):
    """Join trees by their lightest edges; ``chosen`` gets the edge by which each root was attached."""

    loop = _rounds(fr.Compute(weigh), fr.Compute(take))


class BoruvkaUnweighted(fr.Enactor):
    """Join trees by their edges with the lowest slots."""

    loop = _rounds(fr.Compute(take_lowest))


@dataclass(frozen=True)
class SpanningForestResult:
    """Result of :func:`minimum_spanning_forest`.

    Attributes
    ----------
    weight : int or float
        Sum of the weights of the forest's edges; an int if weights are integers. Without weights, the number of edges.
    edges : ndarray of int64, shape (k,)
        One slot of each edge of the forest, ascending; ``g.sources[edges]`` is less than ``g.targets[edges]``.
    tree : ndarray, shape (n,)
        Some vertex of v's tree, the same for all its vertices; in the dtype of vertex ids.
    count : int
        Number of trees, which is that of connected components; k is n - count.
    """

    weight: float
    edges: NDArray[Any]
    tree: NDArray[Any]
    count: int


@at_graph
def minimum_spanning_forest(g: Graph, *, schedule: Schedule | None = None) -> SpanningForestResult:
    """Find a spanning tree of least weight in every connected component.

    Parameters
    ----------
    g : Graph
        Undirected. Its weights may be negative; without weights any spanning forest is one of least weight.
        Self-loops are ignored, and of parallel edges the lightest one counts.
    schedule : Schedule, optional

    Returns
    -------
    SpanningForestResult
        Of several forests of least weight the one whose slots are lower is found, always the same.

    Raises
    ------
    GraphError
        If the graph is directed, or has weights of uint64 that int64 does not hold.

    Notes
    -----
    O((n + m) log n) work: at most log2(n) rounds, each over the edges that are left between trees and all vertices.
    """
    if g.directed:
        raise GraphError("a spanning forest needs an undirected graph: fr.from_edges(..., directed=False) makes one")
    whole = g.weights is None or g.weights.dtype.kind in "iu"
    if g.weights is not None and g.weights.dtype == np.uint64 and g.num_slots and int(g.max_weight) >= 2**63:
        raise GraphError("a minimum spanning forest needs weights below 2**63: use weights of float64")
    dtype = np.dtype(np.int64 if whole else np.float64)
    heaviest = np.iinfo(np.int64).max if whole else np.inf
    n = g.num_vertices
    p = fr.Problem(
        g,
        tree=fr.vertex(g.id_dtype),
        above=fr.vertex(g.id_dtype),
        other=fr.vertex(g.id_dtype, -1, combine="max"),
        lightest=fr.vertex(dtype, combine="min"),
        taken=fr.vertex("int64", combine="min"),
        chosen=fr.vertex("int64", -1),
        heaviest=fr.scalar(dtype, heaviest),
        none=fr.scalar("int64", g.num_slots),
        rounds=fr.scalar("int64"),
    )
    if n:
        (BoruvkaUnweighted if g.weights is None else Boruvka)(p, schedule).run()
    here = at_hand(g)
    edges = here.placement.memory.xp.sort(p.chosen[p.chosen >= 0])
    weight = len(edges) if here.weights is None else _sum(here.weights[edges], whole)
    return SpanningForestResult(weight, edges, p.tree, n - len(edges))


def _sum(weights: Any, whole: bool) -> float:
    """Add up weights; integers exactly, as Python's if the sum may not fit into 64 bits."""
    if not whole:
        return float(weights.sum(dtype=np.float64))
    large = float(abs(weights.astype(np.float64)).sum()) >= 2**62
    return sum(to_host(weights).tolist()) if large else int(weights.sum(dtype=np.int64))


def _facts(g: Graph, result: SpanningForestResult) -> dict[str, Any]:
    return {"weight": result.weight, "edges": len(result.edges), "trees": result.count}


register_primitive(
    PrimitiveEntry(
        "minimum_spanning_forest", minimum_spanning_forest, "a spanning forest of least weight",
        columns=("tree",), report=_facts, needs_weights=True,
    )
)  # fmt: skip
