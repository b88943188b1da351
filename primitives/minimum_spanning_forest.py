"""Minimum spanning forests by the algorithm of Borůvka, with light edges first.

Every vertex begins as a tree of its own. In each round every tree takes the lightest edge that leads to another tree
(Borůvka: O jistém problému minimálním, 1926), and trees are joined along the edges that they have taken, by pointer
jumping. Of edges of equal weight the one with the lower slot counts as lighter, so all weights are different, as it
were: the forest is unique, and no cycle arises except where two trees take the same edge. Of such two, the one with the
lower root stays. At least half of the trees disappear in each round.

The frontier contains one slot of each edge between trees, as in the data-parallel form of Vineet, Harish, Patidar,
Narayanan (Fast minimum spanning tree for large graphs on the GPU, HPG 2009), but the graph is not contracted. Weight
and slot are one word where they fit into it, so one atomic finds the lightest edge. A round goes through the frontier
once: edges within a tree are dropped in the pass in which the others are offered to their trees.

On a graph with many edges a first turn looks at the lightest ones only, about twice as many as there are vertices.
They join most vertices, and most heavier edges then lie within a tree, and are dropped by the one look that the second
turn takes at all edges (Osipov, Sanders, Singler: The filter-Kruskal minimum spanning tree algorithm, ALENEX 2009;
Fallin, Gonzalez, Seo, Burtscher: A high-performance MST implementation for GPUs, SC 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.memory.arrays import matching, namespace_of, to_host
from frontier.primitives._arguments import check_signed
from frontier.primitives._oriented import at_hand
from frontier.program.step import Functor, Step
from frontier.registry import primitive

__all__ = [
    "Boruvka", "BoruvkaApart", "BoruvkaUnweighted", "BoruvkaUnweightedApart", "BoruvkaWide", "BoruvkaWideApart",
    "SpanningForestResult", "minimum_spanning_forest",
]  # fmt: skip


#: Edges for each vertex in the first turn; a graph has one if that is less than half of its edges.
FIRST = 2

#: Weights that are sampled to find out which edges are light.
SAMPLES = 1024

#: Slots for each vertex up to which those chosen are marked, and not sorted.
MARKED = 8

#: Integers up to this size are floats of 32 bits, exactly.
EXACT = 2**24


def own(p, v):
    """Every vertex is the root of its own tree."""
    p.tree[v] = v


def light(p, src, dst, weight):
    """Keep edges up to the limit that join different trees, and one slot of each."""
    return src < dst and weight <= p.limit and p.tree[src] != p.tree[dst]


def early(p, src, dst, edge):
    """The same without weights, of which the slots take the place."""
    return src < dst and edge <= p.limit and p.tree[src] != p.tree[dst]


def forget(p, v):
    """Reset the choice of every tree."""
    if p.tree[v] == v:
        p.taken[v] = p.none
        p.other[v] = -1


def ordered(weight):
    """A number of 32 bits with the order of the weights: the bits of a float, where those of negative ones are turned.

    Adding 0.0 makes one of the two zeros of the other.
    """
    bits = np.int64(np.float32(weight + 0.0).view(np.int32))
    return bits ^ 0x7FFFFFFF if bits < 0 else bits


def offer(p, tree, key):
    """Let a tree take a key that is less than what it has; reading that first spares most of the atomics."""
    if key < p.taken[tree]:
        fr.atomic_min(p.taken, tree, key)


def take(p, src, dst, edge, weight):
    """Take the edge of least weight, and of those the one with the lowest slot; false for an edge within a tree."""
    a = p.tree[src]
    b = p.tree[dst]
    if a == b:
        return False
    key = (ordered(weight) << 32) + edge
    offer(p, a, key)
    offer(p, b, key)
    return True


def take_lowest(p, src, dst, edge):
    """Without weights, take the edge with the lowest slot."""
    a = p.tree[src]
    b = p.tree[dst]
    if a == b:
        return False
    offer(p, a, edge)
    offer(p, b, edge)
    return True


def lighten(p, tree, weight):
    """Lower the least weight at a tree."""
    if weight < p.lightest[tree]:
        fr.atomic_min(p.lightest, tree, weight)


def weigh(p, src, dst, weight):
    """Find the least weight of an edge that leaves a tree; false for an edge within one."""
    a = p.tree[src]
    b = p.tree[dst]
    if a == b:
        return False
    lighten(p, a, weight)
    lighten(p, b, weight)
    return True


def take_lightest(p, src, dst, edge, weight):
    """Among the edges of that weight, take the one with the lowest slot."""
    if weight == p.lightest[p.tree[src]]:
        offer(p, p.tree[src], edge)
    if weight == p.lightest[p.tree[dst]]:
        offer(p, p.tree[dst], edge)


def forget_weight(p, v):
    """Reset the least weight at every tree."""
    p.lightest[v] = p.heaviest


def look_up(p, v):
    """Find the tree at the other end of the edge that a tree has taken."""
    if p.tree[v] == v and p.taken[v] != p.none:
        edge = p.taken[v] & p.slot
        a = p.tree[fr.source(p, edge)]
        p.other[v] = a if a != v else p.tree[fr.target(p, edge)]


def look(p, src, dst, edge):
    """The same where an edge cannot be looked up, by all edges."""
    a = p.tree[src]
    b = p.tree[dst]
    if p.taken[a] & p.slot == edge:
        p.other[a] = b
    if p.taken[b] & p.slot == edge:
        p.other[b] = a


def hang(p, v):
    """Attach a root to the root at the other end of its edge; if both have taken the same edge, the lower one stays."""
    other = p.other[v]
    if p.tree[v] != v or other == -1 or (p.taken[other] == p.taken[v] and v < other):
        return
    p.tree[v] = other
    p.chosen[v] = p.taken[v] & p.slot


def jump(p, v):
    """Point to the parent's parent; keep v until it points to a root."""
    above = p.tree[v]
    top = p.tree[above]
    if top == above:
        return False
    p.tree[v] = top
    return True


def no_limit(p):
    """In the last turn edges of all weights are looked at."""
    return p.heaviest


def done(p):
    """Whether that was the last turn."""
    return p.turn == p.turns


def _turns(first: Functor, *choice: Step, apart: bool = False) -> tuple[Step, ...]:
    """Join trees until no edge leads to another; the steps of ``choice`` set the edge that each tree takes."""
    rounds = fr.Loop(
        fr.Compute(forget, over="vertices"),
        *choice,
        fr.Compute(look) if apart else fr.Compute(look_up, over="vertices"),
        fr.Compute(hang, over="vertices"),
        fr.Loop(fr.Filter(jump), over="vertices"),
        count="rounds",
    )
    return (
        fr.Compute(own, over="vertices"),
        fr.Loop(fr.Sequence(fr.Filter(first), rounds, over="edges"), fr.Set(limit=no_limit), until=done, count="turn"),
    )


#: The least weight at each tree, then the lowest slot of that weight.
_IN_TWO = fr.Compute(forget_weight, over="vertices"), fr.Filter(weigh), fr.Compute(take_lightest)


class Boruvka(fr.Enactor):
    """Join trees by their lightest edges; ``chosen`` gets the edge by which each root was attached."""

    loop = _turns(light, fr.Filter(take))


class BoruvkaUnweighted(fr.Enactor):
    """Join trees by their edges with the lowest slots."""

    loop = _turns(early, fr.Filter(take_lowest))


class BoruvkaWide(fr.Enactor):
    """As Boruvka, for weights and slots that do not fit into one word together."""

    loop = _turns(light, *_IN_TWO)


class BoruvkaApart(fr.Enactor):
    """As Boruvka, where edges are in parts or on a disk."""

    loop = _turns(light, fr.Filter(take), apart=True)


class BoruvkaUnweightedApart(fr.Enactor):
    """As BoruvkaUnweighted, where edges are in parts or on a disk."""

    loop = _turns(early, fr.Filter(take_lowest), apart=True)


class BoruvkaWideApart(fr.Enactor):
    """As BoruvkaWide, where edges are in parts or on a disk."""

    loop = _turns(light, *_IN_TWO, apart=True)


#: The programs for edges that cannot be looked up.
APART = {Boruvka: BoruvkaApart, BoruvkaUnweighted: BoruvkaUnweightedApart, BoruvkaWide: BoruvkaWideApart}


@dataclass(frozen=True, eq=False, repr=False)
class SpanningForestResult(fr.Result, rows="other"):
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

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each edge of the forest: ``source``, ``target``, and ``weight`` if there are weights."""
        g, slots = self.input_graph, self.host_array("edges")[rows]
        table = {"source": (to_host(g.sources)[slots], True), "target": (to_host(g.targets)[slots], True)}
        return table if g.weights is None else {**table, "weight": (to_host(g.weights)[slots], False)}


def _facts(g: fr.Graph, result: SpanningForestResult) -> dict[str, Any]:
    return {"weight": result.weight, "edges": len(result.edges), "trees": result.count}


@primitive(
    "minimum_spanning_forest", "a spanning forest of least weight",
    report=_facts, needs_weights=True,
)  # fmt: skip
def minimum_spanning_forest(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> SpanningForestResult:
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
    O((n + m) log n) work: at most log2(n) rounds, each over the edges that are left between trees and all vertices;
    twice, if there are more than four edges for each vertex, but the first time only over the lightest ones.

    Examples
    --------
    >>> float(fr.minimum_spanning_forest(fr.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 4.0])).weight)
    3.0
    """
    if g.directed:
        raise GraphError("a spanning forest needs an undirected graph: fr.from_edges(..., directed=False) makes one")
    check_signed(g, "a minimum spanning forest")
    program, n = _program(g), g.num_vertices
    whole = g.weights is None or g.weights.dtype.kind in "iu"
    dtype = np.dtype(np.int64 if whole or program is BoruvkaUnweighted else np.float64)
    most = np.iinfo(np.int64).max
    fields = {"lightest": fr.vertex(dtype, combine="min")} if program is BoruvkaWide else {}
    many = g.num_slots > 4 * FIRST * n
    p = fr.Problem(
        g,
        tree=fr.vertex(g.id_dtype),
        other=fr.vertex(g.id_dtype, -1, combine="max"),
        taken=fr.vertex("int64", combine="min"),
        chosen=fr.vertex("int64", -1),
        none=fr.scalar("int64", most),
        slot=fr.scalar("int64", 2**32 - 1 if program is Boruvka else most),
        heaviest=fr.scalar(dtype, most if dtype == np.int64 else np.inf),
        limit=fr.scalar(dtype),
        turns=fr.scalar("int64", 2 if many else 1),
        turn=fr.scalar("int64"),
        rounds=fr.scalar("int64"),
        **fields,
    )
    p.limit = _limit(g, program) if many else p.heaviest
    if n:
        apart = g.placement.divides or (g.placement.edges is not None and g.placement.edges.residence == "disk")
        (APART[program] if apart else program)(p, schedule).run()
    here = at_hand(g)
    edges = _ascending(p.chosen, g.num_slots)
    weight = len(edges) if here.weights is None else _sum(g, here.weights[matching(edges, here.weights)], whole)
    return SpanningForestResult(weight, edges, p.tree, n - len(edges))


def _program(g: fr.Graph) -> type[fr.Enactor]:
    """The program for the weights of a graph."""
    if g.weights is None or not g.num_slots or g.min_weight == g.max_weight:
        return BoruvkaUnweighted
    short = g.weights.dtype in (np.float16, np.float32) or (
        g.weights.dtype.kind in "iu" and -EXACT <= int(g.min_weight) <= int(g.max_weight) <= EXACT
    )
    return Boruvka if short and g.num_slots < 2**32 else BoruvkaWide


def _limit(g: fr.Graph, program: type[fr.Enactor]) -> Any:
    """The weight, or the slot, up to which there are about ``FIRST`` edges for each vertex."""
    share = 2 * FIRST * g.num_vertices / g.num_slots
    if program is BoruvkaUnweighted:
        return int(share * g.num_slots)
    step = max(g.num_slots // SAMPLES, 1) | 1  # odd, against patterns of lists of equal length
    weights: Any = at_hand(g).weights
    sample = np.sort(to_host(weights[::step]))
    return sample[int(share * len(sample))].item()


def _ascending(chosen: Any, slots: int) -> Any:
    """Return the slots in an array, ascending, without those of -1; none occurs twice."""
    xp = namespace_of(chosen)
    if slots > MARKED * len(chosen):
        return xp.sort(chosen[chosen >= 0])
    marks = xp.zeros(slots + 1, np.bool_)
    marks[chosen] = True  # -1 is the last
    return xp.flatnonzero(marks[:-1])


def _sum(g: fr.Graph, weights: Any, whole: bool) -> float:
    """Add up weights of edges; integers exactly, as Python's if the sum may not fit into 64 bits."""
    if not whole:
        with np.errstate(over="ignore"):  # infinity, then
            return float(weights.sum(dtype=np.float64))
    largest = max(abs(int(each or 0)) for each in (g.min_weight, g.max_weight))
    large = largest * len(weights) >= 2**63 and float(abs(weights.astype(np.float64)).sum()) >= 2**62
    return sum(to_host(weights).tolist()) if large else int(weights.sum(dtype=np.int64))
