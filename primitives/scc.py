"""Strongly connected components: trim, one forward-backward search, then colouring.

Those of a symmetric graph are its connected components. For others the steps are those of the Multistep method (Slota,
Rajamanickam, Madduri: BFS and coloring-based parallel algorithms for strongly connected components and related
problems, IPDPS 2014):

1. Trim: a vertex without in-edges, or without out-edges, from vertices that are left is a component by itself.
2. Forward-backward (Fleischer, Hendrickson, Pinar: On identifying strongly connected components in parallel, 2000): a
   pivot of high degree probably lies in the largest component, which consists of the vertices that the pivot reaches
   and that reach it.
3. Colouring (Orzan: On distributed verification and verified distribution, 2004): every vertex takes the highest
   colour of those that reach it, its own included. A vertex that keeps its own colour is a root; its component
   consists of the vertices of its colour that reach it. This repeats with what is left.

Trimming and the searches stop after a few passes: a graph that is deep is left to colouring, which needs the logarithm
of its depth. There a vertex has the highest colour that it knows to reach it, so whatever reaches the vertex with that
colour reaches it, too: colours come from there at the same time, over distances that double (pointer jumping, as in
Alabandi, Sands, Biros, Burtscher: A GPU algorithm for detecting strongly connected components, SC 2023). The same way
back finds those that reach the root, as they learn of no higher colour than the root's.

In the first round a colour is the id of the vertex, so where edges lead to higher ids one pass finds that there is no
cycle. Later colours are random, and spread only between vertices that had the same colours in the round before, forth
and back, because those of a component do. So a chain of n components takes O(log n) rounds, not n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._labels import sizes_of
from frontier.primitives.cc import connected_components
from frontier.program.step import Step
from frontier.registry import primitive

__all__ = ["Colouring", "LargestComponent", "StrongComponentsResult", "Trimming", "strongly_connected_components"]

#: Passes of trimming in each direction, and of a search, after which a GPU takes a graph to be deep; in a graph of more
#: edges, a pass over all of which takes longer, it trims once more for so many edges.
TRIMS, LEVELS, EDGES = 12, 24, 1 << 22


def entering(p, src, dst):
    """1 for an edge that enters dst from another vertex."""
    return 1 if src != dst else 0


def leaving(p, src, dst):
    """1 for an edge to another vertex; it is left, for vertices that were removed had no in-edges from the rest."""
    return 1 if src != dst else 0


def trimmed_enough(p):
    """The rest is deep, or is not to be trimmed."""
    return p.passes >= p.trims


def sink_or_source(p, v):
    """Label v with itself if no edge is left; such vertices are removed."""
    if p.label[v] == -1 and p.degree[v] == 0:
        p.label[v] = v
        return True
    return False


def release(p, src, dst):
    """Remove an edge from a source that is removed; true for the last one of dst, which is labelled with itself."""
    if src == dst or fr.atomic_add(p.degree, dst, -1) != 1:
        return False
    p.label[dst] = dst
    return True


def release_back(p, src, dst):
    """Remove an edge to a sink that is removed; true for the last one of src, which is labelled with itself."""
    if src == dst or fr.atomic_add(p.degree, src, -1) != 1:
        return False
    p.label[src] = src
    return True


def left(p, v):
    """V has no component yet."""
    return p.label[v] == -1


def left_behind(p, src):
    """The source has no component yet."""
    return p.label[src] == -1


def remove(p, src, dst):
    """Remove an edge from a source, on a graph in parts, where nobody knows yet whether it is the last one of dst."""
    if src == dst:
        return False
    fr.atomic_add(p.degree, dst, -1)
    return True


def remove_back(p, src, dst):
    """The same for an edge to a sink."""
    if src == dst:
        return False
    fr.atomic_add(p.degree, src, -1)
    return True


def ballot(p, v):
    """Encode degree and id of v in one number, so that the maximum is the vertex of highest degree."""
    return p.degree[v] * (p.n + 1) + p.n - v


def elected(p):
    """Decode the vertex of highest degree; 0 if none is left."""
    return p.n - p.top % (p.n + 1) if p.top >= 0 else 0


def begin(p, v):
    """Mark the pivot, unless it has a component, which means that no vertex is left."""
    if p.label[v] == -1:
        p.reached[v] = 2
        return True
    return False


def ahead(p, dst):
    """The target is left, and not reached yet."""
    return p.label[dst] == -1 and p.reached[dst] == 0


def forward(p, dst):
    """Mark a vertex that the pivot reaches."""
    return fr.atomic_cas(p.reached, dst, 0, 1) == 0


def deep(p):
    """The component of the pivot is not found within the passes of a search."""
    return p.passes >= p.levels


def again(p):
    """Count anew, but for a search that has not come to its end."""
    return p.levels if p.passes >= p.levels else 0


def still_wanted(p, v):
    """V is the pivot, and all that it reaches are known."""
    return p.label[v] == -1 and p.passes < p.levels


def behind(p, src):
    """The pivot reaches the source, which is not known to reach the pivot."""
    return p.reached[src] == 1


def backward(p, src):
    """Mark a vertex that reaches the pivot and is reached by it."""
    return fr.atomic_cas(p.reached, src, 1, 2) == 1


def settle(p, v):
    """Label the component of the pivot."""
    if p.reached[v] == 2 and p.passes < p.levels:
        p.label[v] = p.pivot


def key(p, v):
    """Return a number that no other vertex has: its id, and from the second round on random bits above."""
    return v if p.rounds == 1 else (fr.hash(v) & p.high) | v


def paint(p, v):
    """Give v its own colour, and remember the last one, and that of the highest that v reached."""
    p.part[v] = p.colour[v] ^ p.back[v]
    p.colour[v] = key(p, v)
    p.back[v] = p.colour[v]


def gives(p, src, dst):
    """Whether an edge passes the colour of src on, at first."""
    return p.part[src] == p.part[dst] and p.colour[src] > p.colour[dst]


def gives_back(p, src, dst):
    """Whether an edge passes what dst reaches back, at first."""
    return p.colour[src] == p.colour[dst] and p.back[dst] > p.back[src]


def giving(p, v):
    """Whether v has such an edge."""
    return p.gives[v]


def spread(p, src, dst):
    """Pass a higher colour on to a vertex that had the same colours in the round before, so has no label."""
    if p.part[src] != p.part[dst]:
        return False
    new = p.colour[src]
    new = max(new, p.colour[new & p.ids])  # which reaches the vertex of that colour, and so the source
    return new > p.colour[dst] and new > fr.atomic_max(p.colour, dst, new)


def spread_back(p, src, dst):
    """Tell a vertex of the same colour of a higher one that dst reaches."""
    if p.colour[src] != p.colour[dst]:
        return False
    new = p.back[dst]
    new = max(new, p.back[new & p.ids])
    return new > p.back[src] and new > fr.atomic_max(p.back, src, new)


def unsettled(p, v):
    """Label a vertex that the root of its colour reaches, and that reaches the root; 1 for the others, the rest."""
    if p.back[v] != p.colour[v]:
        return 1
    p.label[v] = p.colour[v] & p.ids
    return 0


def all_settled(p):
    """Every vertex has a label."""
    return p.rest == 0


def lowest(p, v):
    """Find the least id with the label of v, as which many do not come into question."""
    if v < p.least[p.label[v]]:
        fr.atomic_min(p.least, p.label[v], v)


def rename(p, v):
    """Label v with the least id of its component; 1 for that vertex."""
    p.label[v] = p.least[p.label[v]]
    return 1 if p.label[v] == v else 0


def _trimming(sources: tuple[Step, ...], sinks: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the program that trims sources, then sinks: without its sinks no graph has a new source."""
    return (
        fr.Gather(entering, "sum", into="degree", over="vertices"),
        fr.Sequence(
            fr.Filter(sink_or_source),
            fr.Loop(*sources, count="passes", until=trimmed_enough),
            over="vertices",
        ),
        fr.Set(passes=0),
        fr.Sequence(
            fr.Filter(left),
            fr.Gather(leaving, "sum", into="degree", edges="out"),
            fr.Filter(sink_or_source),
            fr.Loop(*sinks, count="passes", until=trimmed_enough),
            over="vertices",
        ),
    )


class Trimming(fr.Enactor):
    """Remove vertices without in-edges, or without out-edges, from those that are left."""

    loop = _trimming(
        (fr.Advance(release, unique="claimed"),),
        (fr.Advance(release_back, edges="in", where=left_behind, unique="claimed"),),
    )


class TrimmingApart(fr.Enactor):
    """The same on a graph in parts, which count the edges that are left together after each pass."""

    loop = _trimming(
        (fr.Advance(remove), fr.Filter(sink_or_source)),
        (fr.Advance(remove_back, edges="in", where=left_behind), fr.Filter(sink_or_source)),
    )


class LargestComponent(fr.Enactor):
    """Find the component of a vertex of high degree."""

    loop = (
        fr.Sequence(fr.Filter(left), fr.Reduce(ballot, "max", into="top"), over="vertices"),
        fr.Set(pivot=elected, passes=0),
        fr.Sequence(
            fr.Filter(begin),
            fr.Loop(fr.Advance(forward, where=ahead, unique="claimed"), count="passes", until=deep),
            over="pivot",
        ),
        fr.Set(passes=again),
        fr.Sequence(
            fr.Filter(still_wanted),
            fr.Loop(
                fr.Advance(backward, where=behind, edges="in", unique="claimed"), count="passes", until=deep
            ),
            over="pivot",
        ),
        fr.Compute(settle, over="vertices"),
    )  # fmt: skip


class Colouring(fr.Enactor):
    """Find the components of the rest, by rounds of colouring; then count all, and label each with its least id."""

    loop = (
        fr.Loop(
            fr.Sequence(
                fr.Filter(left), fr.Compute(paint), fr.Gather(gives, "or", into="gives", edges="out"),
                fr.Filter(giving), fr.Loop(fr.Advance(spread)),
                over="vertices",
            ),
            fr.Sequence(
                fr.Filter(left), fr.Gather(gives_back, "or", into="gives"),
                fr.Filter(giving), fr.Loop(fr.Advance(spread_back, edges="in")),
                over="vertices",
            ),
            fr.Sequence(fr.Filter(left), fr.Reduce(unsettled, "sum", into="rest"), over="vertices"),
            until=all_settled,
            count="rounds",
        ),
        fr.Compute(lowest, over="vertices"),
        fr.Reduce(rename, "sum", into="count", over="vertices"),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class StrongComponentsResult(fr.Result, columns=("label",), ids=("label",)):
    """Result of :func:`strongly_connected_components`.

    Attributes
    ----------
    label : ndarray, shape (n,)
        The smallest vertex id in v's component, in the dtype of vertex ids.
    count : int
        Number of components.
    """

    label: NDArray[Any]
    count: int

    @property
    def components(self) -> list[list[Any]]:
        """The vertices of each component, by their names, the largest first."""
        return self.groups_by("label")

    def sizes(self) -> dict[int, int]:
        """Return the number of vertices of each component, by label, the largest first."""
        return sizes_of(self.label)


def _facts(g: fr.Graph, result: StrongComponentsResult) -> dict[str, Any]:
    return {"components": result.count, "largest": next(iter(result.sizes().values()), 0)}


@primitive("scc", "strongly connected components", report=_facts)
def strongly_connected_components(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> StrongComponentsResult:
    """Find the strongly connected components of a directed graph.

    Two vertices are in the same component if each can be reached from the other.

    Parameters
    ----------
    g : Graph
        In an undirected graph these are the connected components, and are found as such.
    schedule : Schedule, optional

    Returns
    -------
    StrongComponentsResult

    Notes
    -----
    O(n + m) work for trimming and for the largest component, O((n + m) log² n) expected for the vertices that remain.

    Examples
    --------
    >>> g = fr.from_edges(["ann", "bob", "bob"], ["bob", "ann", "cid"], directed=True)
    >>> fr.strongly_connected_components(g).components
    [['ann', 'bob'], ['cid']]
    """
    if g.symmetric:
        weak = connected_components(g, schedule=schedule)
        return StrongComponentsResult(weak.label, weak.count)
    n = g.num_vertices
    gpu = g.placement.massively_parallel
    ids = (1 << n.bit_length()) - 1
    p = fr.Problem(
        g,
        label=fr.vertex(g.id_dtype, -1, combine="claim"),
        degree=fr.vertex(g.offsets.dtype, combine="sum"),
        gives=fr.vertex("bool"),
        reached=fr.vertex("int32", combine="max"),
        colour=fr.vertex("int64", combine="max"),
        back=fr.vertex("int64", combine="max"),
        part=fr.vertex("int64", -1),
        least=fr.vertex(g.id_dtype, n, combine="min"),
        top=fr.scalar("int64"),
        pivot=fr.scalar("int64"),
        passes=fr.scalar("int64"),
        trims=fr.scalar("int64", TRIMS + g.num_slots // EDGES if gpu else n + 1),
        levels=fr.scalar("int64", LEVELS if gpu else n + 1),
        rounds=fr.scalar("int64"),
        count=fr.scalar("int64"),
        n=fr.scalar("int64", n),
        ids=fr.scalar("int64", ids),
        high=fr.scalar("int64", 2**63 - 1 - ids),
        rest=fr.scalar("int64"),
    )
    if n:
        trimming = TrimmingApart if g.placement.divides else Trimming
        for part in (trimming, LargestComponent, Colouring):  # three small programs compile sooner than one
            part(p, schedule).run()
    return StrongComponentsResult(p.label, int(p.count))
