"""Strongly connected components: trim, one forward-backward search, then colouring.

The steps are those of the Multistep method (Slota, Rajamanickam, Madduri: BFS and coloring-based parallel algorithms
for strongly connected components and related problems, IPDPS 2014):

1. Trim: a vertex without in-edges, or without out-edges, from vertices that are left is a component by itself.
2. Forward-backward (Fleischer, Hendrickson, Pinar: On identifying strongly connected components in parallel, 2000): a
   pivot of high degree probably lies in the largest component, which consists of the vertices that the pivot reaches
   and that reach it.
3. Colouring (Orzan: On distributed verification and verified distribution, 2004): every vertex takes the least colour
   of those that reach it, its own included. A vertex that keeps its own colour is a root; its component consists of the
   vertices of its colour that reach it. This repeats with what is left.

Here colours are random and differ between vertices, and they spread only between vertices that had the same colour in
the round before, because a component has one colour. So a chain of n components takes O(log n) rounds, not n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.primitives._labels import sizes_of
from frontier.registry import primitive

__all__ = ["Colouring", "LargestComponent", "StrongComponentsResult", "Trimming", "strongly_connected_components"]


def entering(p, src, dst):
    """1 for an edge that enters dst from another vertex."""
    return 1 if src != dst else 0


def leaving(p, src, dst):
    """1 for an edge to another vertex that is left."""
    return 1 if src != dst and p.label[dst] == -1 else 0


def sink_or_source(p, v):
    """Label v with itself if no edge is left; such vertices are removed."""
    if p.label[v] == -1 and p.degree[v] == 0:
        p.label[v] = v
        return True
    return False


def release(p, src, dst):
    """Remove an edge from a source that is removed."""
    if src == dst:
        return False
    fr.atomic_add(p.degree, dst, -1)
    return True


def release_back(p, src, dst):
    """Remove an edge to a sink that is removed."""
    if src == dst:
        return False
    fr.atomic_add(p.degree, src, -1)
    return True


def left(p, v):
    """V has no component yet."""
    return p.label[v] == -1


def left_behind(p, src):
    """The source has no component yet."""
    return p.label[src] == -1


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


def behind(p, src):
    """The pivot reaches the source, which is not known to reach the pivot."""
    return p.reached[src] == 1


def backward(p, src):
    """Mark a vertex that reaches the pivot and is reached by it."""
    return fr.atomic_cas(p.reached, src, 1, 2) == 1


def settle(p, v):
    """Label the component of the pivot; the vertices without a label are the rest."""
    if p.reached[v] == 2:
        p.label[v] = p.pivot
    return p.label[v] != -1


def key(p, v):
    """Return a random number that no other vertex has."""
    return fr.hash(v) % 2**31 * p.n + v


def paint(p, v):
    """Give v its own colour, and remember the last one."""
    p.part[v] = p.colour[v]
    p.colour[v] = key(p, v)


def spread(p, src, dst):
    """Pass a lower colour on to a vertex that had the same colour in the round before."""
    new = p.colour[src]
    if p.label[dst] != -1 or p.part[src] != p.part[dst] or new >= p.colour[dst]:
        return False
    return new < fr.atomic_min(p.colour, dst, new)


def root(p, v):
    """Label v with itself if it has kept its own colour."""
    if p.colour[v] == key(p, v):
        p.label[v] = v
        return True
    return False


def gather_in(p, src, dst):
    """Label a vertex of the same colour that reaches the root."""
    return p.colour[src] == p.colour[dst] and fr.atomic_cas(p.label, src, -1, p.label[dst]) == -1


def labelled(p, v):
    """V has a label; the others are the rest."""
    return p.label[v] != -1


def lowest(p, v):
    """Find the least id with the label of v."""
    fr.atomic_min(p.least, p.label[v], v)


def rename(p, v):
    """Label v with the least id of its component; 1 for that vertex."""
    p.label[v] = p.least[p.label[v]]
    return 1 if p.label[v] == v else 0


class Trimming(fr.Enactor):
    """Trim sources, then sinks: without its sinks no graph has a new source."""

    loop = (
        fr.Gather(entering, "sum", into="degree", over="vertices"),
        fr.Sequence(
            fr.Filter(sink_or_source),
            fr.Loop(fr.Advance(release), fr.Filter(sink_or_source)),
            over="vertices",
        ),
        fr.Sequence(
            fr.Filter(left),
            fr.Gather(leaving, "sum", into="degree", edges="out"),
            fr.Filter(sink_or_source),
            fr.Loop(fr.Advance(release_back, edges="in", where=left_behind), fr.Filter(sink_or_source)),
            over="vertices",
        ),
    )


class LargestComponent(fr.Enactor):
    """Find the component of a vertex of high degree; the others without a label are the rest."""

    loop = (
        fr.Sequence(fr.Filter(left), fr.Reduce(ballot, "max", into="top"), over="vertices"),
        fr.Set(pivot=elected),
        fr.Sequence(
            fr.Filter(begin), fr.Loop(fr.Advance(forward, where=ahead, unique="claimed")), over="pivot"
        ),
        fr.Sequence(
            fr.Filter(left), fr.Loop(fr.Advance(backward, where=behind, edges="in", unique="claimed")), over="pivot"
        ),
        fr.Sequence(fr.Split(settle, rest="rest"), over="vertices"),
    )  # fmt: skip


class Colouring(fr.Enactor):
    """Find the components of the rest, by rounds of colouring; then count all, and label each with its least id."""

    loop = (
        fr.Loop(
            fr.Compute(paint),
            fr.Split(labelled, rest="rest"),  # all of them: the pile keeps what the searches below begin with
            fr.Loop(fr.Advance(spread), over="rest"),
            fr.Sequence(
                fr.Filter(root), fr.Loop(fr.Advance(gather_in, where=left_behind, edges="in", unique="claimed")),
                over="rest",
            ),
            fr.Take("rest"),
            fr.Split(labelled, rest="rest"),
            take="rest",
            count="rounds",
        ),
        fr.Compute(lowest, over="vertices"),
        fr.Reduce(rename, "sum", into="count", over="vertices"),
    )  # fmt: skip


@dataclass(frozen=True)
class StrongComponentsResult:
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

    def sizes(self) -> dict[int, int]:
        """Return the number of vertices of each component, by label, the largest first."""
        return sizes_of(self.label)


def _facts(g: fr.Graph, result: StrongComponentsResult) -> dict[str, Any]:
    return {"components": result.count, "largest": next(iter(result.sizes().values()), 0)}


@primitive("scc", "strongly connected components", columns=("label",), report=_facts)
def strongly_connected_components(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> StrongComponentsResult:
    """Find the strongly connected components of a directed graph.

    Two vertices are in the same component if each can be reached from the other.

    Parameters
    ----------
    g : Graph
        In an undirected graph these are the connected components, which :func:`connected_components` finds faster.
    schedule : Schedule, optional

    Returns
    -------
    StrongComponentsResult

    Notes
    -----
    O(n + m) work for trimming and for the largest component, O((n + m) log n) expected for the vertices that remain.
    """
    n = g.num_vertices
    p = fr.Problem(
        g,
        label=fr.vertex(g.id_dtype, -1, combine="claim"),
        degree=fr.vertex("int64", combine="sum"),
        reached=fr.vertex("int32", combine="max"),
        colour=fr.vertex("int64", combine="min"),
        part=fr.vertex("int64"),
        least=fr.vertex(g.id_dtype, n, combine="min"),
        top=fr.scalar("int64"),
        pivot=fr.scalar("int64"),
        rounds=fr.scalar("int64"),
        count=fr.scalar("int64"),
        n=fr.scalar("int64", n),
        rest=fr.pile(),
    )
    if n:
        for part in (Trimming, LargestComponent, Colouring):  # three small programs compile sooner than one
            part(p, schedule).run()
    return StrongComponentsResult(p.label, int(p.count))
