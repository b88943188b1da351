"""Connected components: Afforest, and Gunrock's hooking over a frontier of edges.

Both keep a forest of the vertices in the field ``label`` (pi in the papers): ``label[v]`` is the parent of v, with an
id that is not greater, and a root is its own parent. Edges join trees until there is one tree for each component. In
the end ``label[v]`` is the root, the smallest id in the component.

Afforest (Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling, IPDPS 2018)
links every vertex along its first two edges, compresses the trees, guesses the largest component by sampling, and then
visits the remaining edges of vertices outside that component only. On graphs with one giant component most edges are
never read. The two edges are one step here, where the paper compresses after each; that pays on processors for large
graphs whose lists are all short, such as grids, whose first edges make long paths. Where a graph is in parts, links
become hooks, which parts can merge.

Hooking (Soman, Kishore, Narayanan, 2010; as in Gunrock) attaches, for every edge, the root with the higher id to the
root with the lower id, and keeps the edge in the frontier until both endpoints agree. Pointer jumping flattens the
trees.

Components of directed graphs are the weak ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives._labels import sizes_of
from frontier.program.problem import Field
from frontier.program.taking import at_graph
from frontier.registry import Argument, Plan, primitive

__all__ = [
    "Afforest", "AfforestApart", "AfforestDirected", "AfforestOfShortLists", "ComponentsResult", "Hooking",
    "HookingApart", "components_problem", "connected_components",
]  # fmt: skip

#: Vertices sampled to guess the largest component.
SAMPLES = 1024

#: Vertices from which on paths that go all over the labels take long on processors: these do not fit into a cache.
LARGE = 1 << 20


def find(p, v):
    """Return the root of v's tree, and let every vertex on the path skip its parent, which halves later paths.

    This is intermediate pointer jumping, as in ECL-CC (Jaiganesh, Burtscher: A high-performance connected components
    implementation for GPUs, HPDC 2018). Labels only fall, so concurrent writes by other calls do no harm.
    """
    below = v
    here = p.label[v]
    above = p.label[here]
    while above < here:  # here is no root
        p.label[below] = above
        below = here
        here = above
        above = p.label[here]
    return here


def link(p, src, dst):
    """Join the trees of the two endpoints: the root with the higher id points to the lower one."""
    a = find(p, src)
    b = find(p, dst)
    while a != b:
        high = max(a, b)
        low = min(a, b)
        old = fr.atomic_cas(p.label, high, high, low)
        if old == high:
            break
        a = find(p, old)  # another call has attached high to old meanwhile
        b = low
    return False  # the frontier that an Advance makes is not needed


def compress(p, v):
    """Point v directly to its root."""
    while p.label[v] != p.label[p.label[v]]:
        p.label[v] = p.label[p.label[v]]


def sampled(p, i):
    """Return the component of the i-th vertex of the sample."""
    return p.label[fr.hash(i) % p.n]


def vote(p, i):
    """Count a vote of a sampled vertex for its component."""
    fr.atomic_add(p.votes, sampled(p, i), 1)


def ballot(p, i):
    """Encode the component of a sampled vertex and its votes in one number, so that the maximum is the winner."""
    label = sampled(p, i)
    return p.votes[label] * (p.n + 1) + p.n - label


def elected(p):
    """Decode the component with the most votes, among several the one with the smallest id."""
    return p.n - p.top % (p.n + 1)


def vote_now_and_then(p, v):
    """Count a vote of one of every so many vertices for its component."""
    if fr.hash(v) % p.every == 0:
        fr.atomic_add(p.votes, p.label[v], 1)


def ballot_of(p, v):
    """Encode a component, named by its root, and its votes in one number, as ``ballot`` does."""
    return p.votes[v] * (p.n + 1) + p.n - v


def outside(p, v):
    """V is not known to be in the largest component."""
    return p.label[v] != p.giant


def outside_with_more(p, v):
    """The same of a vertex that has edges after its first two."""
    return outside(p, v) and fr.degree(p, v) > 2


def root(p, v):
    """1 for the root of a tree: there is one in each component."""
    return 1 if p.label[v] == v else 0


def alone(p, v):
    """Make v a tree of its own."""
    p.label[v] = v


def follow(p, v):
    """Attach v to its first neighbour, if that has a smaller id; whether it has a first one, and that is larger."""
    p.label[v] = v
    if fr.degree(p, v) > 0:
        p.label[v] = min(v, fr.target(p, fr.neighbours(p, v).start))
    return fr.degree(p, v) > 0 and p.label[v] == v


#: Every vertex begins alone.
_BEGIN = fr.Compute(alone, over="vertices")

#: Link every vertex along its first two edges.
_LINK_FIRST = (
    _BEGIN,
    fr.Advance(link, part=slice(0, 2), output=None, over="vertices"),
    fr.Compute(compress, over="vertices"),
)

#: The same where a vertex begins in the tree of its first neighbour, if that has a smaller id, which is no atomic.
_LINK_SECOND = (
    fr.Sequence(fr.Filter(follow), fr.Advance(link, part=slice(0, 1), output=None), over="vertices"),
    fr.Advance(link, part=slice(1, 2), output=None, over="vertices"),
    fr.Compute(compress, over="vertices"),
)

#: Guess the largest component.
_ELECT = (
    fr.Compute(vote, over=SAMPLES),
    fr.Reduce(ballot, "max", into="top", over=SAMPLES),
    fr.Set(giant=elected),
)

#: Make every tree a star, and count them.
_FLATTEN = (fr.Compute(compress, over="vertices"), fr.Reduce(root, "sum", into="count", over="vertices"))


#: Look at the other edges of vertices outside the largest component, which see all edges that leave it.
_LINK_REST = (
    *_ELECT,
    fr.Sequence(fr.Filter(outside_with_more), fr.Advance(link, part=slice(2, None), output=None), over="vertices"),
    *_FLATTEN,
)


class Afforest(fr.Enactor):
    """Afforest on an undirected graph."""

    loop = (*_LINK_FIRST, *_LINK_REST)


class AfforestOfShortLists(fr.Enactor):
    """Afforest on an undirected graph whose lists are all short and in order: most begin with a smaller id."""

    loop = (*_LINK_SECOND, *_LINK_REST)


class AfforestDirected(fr.Enactor):
    """Afforest on a directed graph, where vertices outside the largest component follow edges in both directions."""

    loop = (
        *_LINK_FIRST,
        *_ELECT,
        fr.Sequence(
            fr.Filter(outside),
            fr.Advance(link, part=slice(2, None), output=None),
            fr.Advance(link, edges="in", output=None),
            over="vertices",
        ),
        *_FLATTEN,
    )


def attach(p, a, b):
    """Attach the root with the higher id to the lower one, unless it is attached to one as low by now.

    Most edges of a hub come too late for that. To look first takes less time than an atomic that changes nothing.
    """
    high = max(a, b)
    low = min(a, b)
    if p.label[high] > low:
        fr.atomic_min(p.label, high, low)


def hook(p, src, dst):
    """Attach the root with the higher id to the lower one; keep the edge until its endpoints agree."""
    a = p.label[src]
    b = p.label[dst]
    if a == b:
        return False
    attach(p, a, b)
    return True


def jump(p, v):
    """Point to the parent's parent; keep v until it points to a root."""
    parent = p.label[v]
    above = p.label[parent]
    if parent == above:
        return False
    p.label[v] = above
    return True


#: Make every tree a star.
_JUMP = fr.Loop(fr.Filter(jump), over="vertices")


class Hooking(fr.Enactor):
    """Hooking over the frontier of all edges, and pointer jumping."""

    loop = (_BEGIN, fr.Loop(fr.Filter(hook), _JUMP, over="edges"), *_FLATTEN)


def hook_apart(p, src, dst):
    """Attach the root with the higher id to the lower one; note that an edge of src has joined two trees."""
    a = p.label[src]
    b = p.label[dst]
    if a != b:
        attach(p, a, b)
        p.apart[src] = True


def apart(p, v):
    """V has had an edge to another tree: look at its edges again."""
    if not p.apart[v]:
        return False
    p.apart[v] = False
    return True


class HookingApart(fr.Enactor):
    """The same for parts that hold the edges of their own vertices, over these: edges take no memory besides."""

    loop = (
        _BEGIN,
        fr.Loop(fr.Advance(hook_apart, output=None), fr.Filter(apart), _JUMP, over="vertices"),
        *_FLATTEN,
    )


class AfforestApart(fr.Enactor):
    """Afforest on an undirected graph in parts, where trees are joined by hooking: parts can merge what it changes."""

    loop = (
        _BEGIN,
        fr.Loop(fr.Advance(hook_apart, part=slice(0, 2), output=None), fr.Filter(apart), _JUMP, over="vertices"),
        fr.Compute(vote_now_and_then, over="vertices"),
        fr.Reduce(ballot_of, "max", into="top", over="vertices"),
        fr.Set(giant=elected),
        fr.Sequence(
            fr.Filter(outside),
            fr.Loop(fr.Advance(hook_apart, output=None), fr.Filter(apart), _JUMP),
            over="vertices",
        ),
        *_FLATTEN,
    )


METHODS = ("afforest", "hooking")


@dataclass(frozen=True, eq=False, repr=False)
class ComponentsResult(fr.Result, columns=("label",), ids=("label",)):
    """Result of :func:`connected_components`.

    Attributes
    ----------
    label : ndarray, shape (n,)
        The smallest vertex id in v's component.
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


@at_graph
def components_problem(g: fr.Graph, **fields: Field) -> fr.Problem:
    """Return the problem before the first edge; ``fields`` are additional fields for your own functors."""
    own = g.placement.memory.xp.arange(g.num_vertices, dtype=g.id_dtype)
    return fr.Problem(g, **_fields(g) | {"label": fr.vertex(g.id_dtype, own, combine="min")}, **fields)


def _fields(g: fr.Graph) -> dict[str, Field]:
    return _declared(g.id_dtype, g.num_vertices, bool(g.placement.divides))


@lru_cache(maxsize=4)
def _declared(ids: np.dtype[Any], n: int, divides: bool) -> dict[str, Field]:
    """Return the fields of the problem; they are declarations without data, and making them takes 10 microseconds."""
    more = {"apart": fr.vertex("bool", combine="or")} if divides else {}
    return {
        **more,
        "label": fr.vertex(ids, combine="min"),
        "votes": fr.vertex("int32", 0, combine="sum"),
        "top": fr.scalar("int64", 0),
        "giant": fr.scalar("int64", 0),
        "n": fr.scalar("int64", n),
        "every": fr.scalar("int64", max(1, n // SAMPLES)),
        "count": fr.scalar("int64", 0),
    }


def _program(g: fr.Graph, method: str = "afforest") -> type[fr.Enactor]:
    # Trees that parts have linked apart cannot be merged: one of two links of a root would be lost.
    if g.placement.divides:
        if method == "afforest" and g.symmetric:
            return AfforestApart
        return Hooking if g.placement.massively_parallel else HookingApart
    if method == "hooking":
        return Hooking
    if not g.symmetric:
        return AfforestDirected
    short = g.traits.short_lists and g.num_vertices >= LARGE
    plain = g.placement.edges is None and not g.placement.massively_parallel
    return AfforestOfShortLists if short and plain else Afforest


def _plan(g: fr.Graph) -> Plan:
    return Plan(_fields(g), [_program(g)])


def _facts(g: fr.Graph, result: ComponentsResult) -> dict[str, Any]:
    largest = next(iter(result.sizes().values()), 0)
    return {"components": result.count, "largest": largest}


@primitive(
    "cc", "connected components (weak ones of directed graphs)",
    arguments=(Argument("--method", "how (default: afforest)", type=str, choices=METHODS),),
    verify="connected_components", report=_facts, memory=_plan,
)  # fmt: skip
def connected_components(
    g: fr.Graph, *, method: str = "afforest", schedule: fr.Schedule | None = None
) -> ComponentsResult:
    """Connected components; weakly connected ones if the graph is directed.

    Parameters
    ----------
    g : Graph
    method : {"afforest", "hooking"}
        Both give the same labels. ``hooking`` works on a frontier of all edges; on ranks, on vertices of which an edge
        leads to another tree. On several GPUs and on ranks, ``afforest`` joins trees by hooking, too, and a directed
        graph takes ``hooking`` either way.
    schedule : Schedule, optional

    Returns
    -------
    ComponentsResult

    Notes
    -----
    Afforest: O(n + m) work at most, close to O(n) with one giant component. Hooking: O(m log n).

    Examples
    --------
    >>> result = fr.connected_components(fr.from_edges(["ann", "cid"], ["bob", "dan"]))
    >>> result.count, result.components
    (2, [['ann', 'bob'], ['cid', 'dan']])
    """
    if method not in METHODS:
        raise GraphError(f"method={method!r}: choose from {', '.join(METHODS)}")
    p = fr.Problem(g, **_fields(g))
    if g.num_vertices:
        _program(g, method)(p, schedule).run()
    return ComponentsResult(p.label, int(p.count))
