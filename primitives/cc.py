"""Connected components: Afforest, and Gunrock's hooking over a frontier of edges.

Afforest (Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling,
IPDPS 2018): link every vertex along its first two edges, compress, guess the largest component by sampling,
and visit the remaining edges only of vertices outside it. On graphs with one giant component most edges are
never read. Hooking is Soman, Kishore and Narayanan's (2010), as in Gunrock: an edge hooks the higher of its
two roots below the lower and stays in the frontier until both ends agree; pointer jumping flattens the trees.

Components of directed graphs are the weak ones. Labels are the smallest vertex id of each component.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError
from frontier.memory.arrays import namespace_of, to_host
from frontier.memory.placement import Placement
from frontier.program.taking import at_graph
from frontier.registry import Argument, Plan, PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.problem import Field
    from frontier.program.schedule import Schedule

__all__ = ["Afforest", "AfforestDirected", "ComponentsResult", "Hooking", "components_problem", "connected_components"]

#: Vertices sampled to guess the largest component.
SAMPLES = 1024


def find(p, v):
    """The root of a tree; every vertex on the way is pointed past its parent, which halves the way of those who follow.

    Intermediate pointer jumping, as in ECL-CC (Jaiganesh, Burtscher: A high-performance connected components
    implementation for GPUs, HPDC 2018). Labels only fall, so what others write meanwhile does no harm.
    """
    below = v
    here = p.label[v]
    above = p.label[here]
    while above < here:
        p.label[below] = above
        below = here
        here = above
        above = p.label[here]
    return here


def link(p, src, dst):
    """Join the trees of the two ends: the higher root points to the lower."""
    a = find(p, src)
    b = find(p, dst)
    while a != b:
        high = max(a, b)
        low = min(a, b)
        old = fr.atomic_cas(p.label, high, high, low)
        if old == high:
            break
        a = find(p, old)
        b = low
    return False


def compress(p, v):
    """Point straight to the root."""
    while p.label[v] != p.label[p.label[v]]:
        p.label[v] = p.label[p.label[v]]


def vote(p, i):
    """A sampled vertex votes for its component."""
    fr.atomic_add(p.votes, p.label[fr.hash(i) % p.n], 1)


def ballot(p, i):
    """Votes and component of a sampled vertex in one number, so that the maximum elects."""
    label = p.label[fr.hash(i) % p.n]
    return p.votes[label] * (p.n + 1) + p.n - label


def elected(p):
    """The component of the highest ballot."""
    return p.n - p.top % (p.n + 1)


def outside(p, v):
    """Not known to be in the elected component."""
    return p.label[v] != p.giant


def root(p, v):
    """1 for the vertex that gives its component the label."""
    return 1 if p.label[v] == v else 0


_SAMPLE = (
    fr.Advance(link, part=slice(0, 2), output=None, over="vertices"),
    fr.Compute(compress, over="vertices"),
    fr.Compute(vote, over=SAMPLES),
    fr.Reduce(ballot, "max", into="top", over=SAMPLES),
    fr.Set(giant=elected),
)
_FLATTEN = (fr.Compute(compress, over="vertices"), fr.Reduce(root, "sum", into="count", over="vertices"))


class Afforest(fr.Enactor):
    """Afforest on an undirected graph: an edge between inside and outside is seen from outside."""

    loop = (
        *_SAMPLE,
        fr.Sequence(fr.Filter(outside), fr.Advance(link, part=slice(2, None), output=None), over="vertices"),
        *_FLATTEN,
    )


class AfforestDirected(fr.Enactor):
    """Afforest on a directed graph: from outside, edges are seen in both directions."""

    loop = (
        *_SAMPLE,
        fr.Sequence(
            fr.Filter(outside),
            fr.Advance(link, part=slice(2, None), output=None),
            fr.Advance(link, edges="in", output=None),
            over="vertices",
        ),
        *_FLATTEN,
    )


def hook(p, src, dst):
    """Hook the higher root below the lower; look at the edge once more until both ends agree."""
    a = p.label[src]
    b = p.label[dst]
    if a == b:
        return False
    fr.atomic_min(p.label, max(a, b), min(a, b))
    return True


def jump(p, v):
    """Halve the way to the root."""
    parent = p.label[v]
    above = p.label[parent]
    if parent == above:
        return False
    p.label[v] = above
    return True


class Hooking(fr.Enactor):
    """Hooking over the frontier of all edges, and pointer jumping."""

    loop = (
        fr.Loop(fr.Filter(hook), fr.Loop(fr.Filter(jump), over="vertices"), over="edges"),
        *_FLATTEN,
    )


METHODS = ("afforest", "hooking")


@dataclass(frozen=True)
class ComponentsResult:
    """Result of :func:`connected_components`.

    Attributes
    ----------
    label : ndarray, shape (n,)
        The smallest vertex id of v's component.
    count : int
        Number of components.
    """

    label: NDArray[Any]
    count: int

    def sizes(self) -> dict[int, int]:
        """Number of vertices of each component, by label, largest first."""
        with Placement.of(self.label).memory.using("the sizes of components"):
            found = namespace_of(self.label).unique(self.label, return_counts=True)
        labels, sizes = map(to_host, found)
        order = np.argsort(-sizes, kind="stable")
        return dict(zip(labels[order].tolist(), sizes[order].tolist(), strict=True))


@at_graph
def components_problem(g: Graph, **fields: Field) -> fr.Problem:
    """The problem before the first edge, with more fields for functors of one's own."""
    own = g.placement.memory.xp.arange(g.num_vertices, dtype=g.targets.dtype)
    return fr.Problem(g, **_fields(g, own), **fields)


def _fields(g: Graph, own: Any = 0) -> dict[str, Field]:
    return {
        "label": fr.vertex(g.targets.dtype, own, combine="min"),
        "votes": fr.vertex("int32", 0, combine="sum"),
        "top": fr.scalar("int64", 0),
        "giant": fr.scalar("int64", 0),
        "n": fr.scalar("int64", g.num_vertices),
        "count": fr.scalar("int64", 0),
    }


def _afforest(g: Graph) -> type[fr.Enactor]:
    return Afforest if g.symmetric else AfforestDirected


@at_graph
def connected_components(
    g: Graph, *, method: str = "afforest", schedule: Schedule | None = None
) -> ComponentsResult:
    """Connected components; weak ones if the graph is directed.

    Parameters
    ----------
    g : Graph
    method : {"afforest", "hooking"}
        Both give the same labels. Hooking keeps a frontier of all edges.
    schedule : Schedule, optional

    Returns
    -------
    ComponentsResult

    Notes
    -----
    Afforest: O(n + m) work at most, close to O(n) with one giant component. Hooking: O(m log n).
    """
    if method not in METHODS:
        raise GraphError(f"method={method!r}: choose from {', '.join(METHODS)}")
    p = components_problem(g)
    if g.num_vertices:
        enactor = Hooking if method == "hooking" else _afforest(g)
        enactor(p, schedule).run()
    return ComponentsResult(p.label, int(p.count))


def _facts(g: Graph, result: ComponentsResult) -> dict[str, Any]:
    largest = next(iter(result.sizes().values()), 0)
    return {"components": result.count, "largest": largest}


def _plan(g: Graph) -> Plan:
    return Plan(_fields(g), [_afforest(g)], beside=g.num_vertices * g.targets.itemsize)  # the first labels


register_primitive(
    PrimitiveEntry(
        "cc", connected_components, "connected components (weak ones of directed graphs)",
        arguments=(Argument("--method", "how (default: afforest)", type=str, choices=METHODS),),
        columns=("label",), verify="connected_components", report=_facts, memory=_plan,
    )
)  # fmt: skip
