"""Communities of high modularity that are connected: the Leiden method.

The Louvain method contracts each community to one vertex as it stands, and may leave communities that hang together by
vertices which have moved away. Here each community is first refined: its vertices begin alone again, and join smaller
communities inside it, by an edge each, so that these are connected. The refined communities are contracted, and the
vertices made of them begin in the communities that they came from, from which they may move away again, as a whole
(Traag, Waltman, van Eck: From Louvain to Leiden: guaranteeing well-connected communities, 2019).

Only a vertex that is alone moves in the refinement, and only if it is well connected to the rest of its community, to
a refined community of which the same holds. The paper draws that at random, preferring gains; here it is the one where
modularity gains most, as in parallel programs (Sahu: GVE-Leiden, 2023). Vertices move in parallel, in classes drawn by
hashing, as in the module of the Louvain method. A vertex does not join one that is alone and leaves at the same time;
a community of two or more is never left, so it stays connected.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import frontier as fr
from frontier.graph.subgraphs import groups
from frontier.memory.arrays import matching
from frontier.primitives._arguments import check_number
from frontier.primitives._communities import (
    WEIGH,
    CommunitiesResult,
    check,
    class_of,
    facts,
    fields,
    first_communities,
    modularity,
    move,
    tallies,
    tally,
    weighted,
    without_directions,
)
from frontier.primitives._piles import aside
from frontier.primitives._tables import FREE, in_one_piece
from frontier.primitives._tallies import LARGE, large, tallied
from frontier.primitives.louvain import THRESHOLD, local_moving, polished
from frontier.program.problem import Field
from frontier.program.step import Step
from frontier.registry import Argument, primitive

__all__ = ["Refinement", "RefinementTallied", "leiden"]

#: At most one vertex in so many moves in the last round of local moving.
SETTLED = 1000


def survey(p, v):
    """Add up the weight of v's part, and of v's edges to the rest of it."""
    fr.atomic_add(p.whole, p.part[v], p.weight[v])
    sum = p.out[v]
    for e in fr.neighbours(p, v):
        if fr.target(p, e) != v and p.part[fr.target(p, e)] == p.part[v]:
            sum += fr.weight(p, e)
    p.out[v] = sum


def linked(p, label):
    """Whether a refined community has as much weight to the rest of its part as is to be expected, or more."""
    rest = p.whole[p.part[label]] - p.total[label]
    return float(p.out[label]) * p.all >= p.resolution * p.total[label] * rest  # products are beyond 64 bits


def may_join(p, v):
    """Whether it is the turn of v's class, and v is alone and well connected; v then is the label of its community."""
    p.next[v] = v
    return class_of(p, v) == p.turn - 1 and p.label[v] == v and p.size[v] == 1 and linked(p, v)


def worth(p, v, label, sum):
    """What modularity gains if v joins a refined community to which it has so much weight; -inf if it may not."""
    if p.part[label] != p.part[v] or not linked(p, label):
        return -np.inf
    share = p.resolution * p.weight[v] / p.all if p.all > 0 else 0.0
    return sum - share * p.total[label]


def choose(p, v):
    """Choose the refined community in v's part where modularity gains most; true if there is one."""
    tally(p, v)
    best = v
    most = 0.0
    for slot in fr.neighbours(p, v):
        if p.key[slot] == FREE:
            continue
        label, gain = p.key[slot], worth(p, v, p.key[slot], p.sum[slot])
        if gain > most or (gain == most and label < best and best != v):
            best = label
            most = gain
    p.next[v] = best
    return best != v


def tempting(p, v):
    """Whether modularity gains if a hub joins another community."""
    return p.most[v] > 0


def choose_tallied(p, v):
    """The same, where a hub's best community is known already."""
    if fr.degree(p, v) < LARGE:
        return choose(p, v)
    p.next[v] = p.best[v] if p.most[v] > 0 else v
    return p.next[v] != v


def stays(p, v):
    """Whether the community that v has chosen will not be left: of two that choose each other, the lesser moves."""
    other = p.next[v]
    return p.size[other] > 1 or p.next[other] == other or (p.next[other] == v and v < other)


def join(p, v):
    """Move v, and note when."""
    move(p, v)
    p.when[v] = p.turn
    fr.atomic_add(p.out, p.label[v], p.out[v])


def enclose(p, src, dst, weight):
    """Subtract the weight of an edge, both ways, that leaves the refined community of src no longer."""
    if src != dst and p.label[src] == p.label[dst]:
        # If dst has moved at the same time, it subtracts the other half.
        fr.atomic_add(p.out, p.label[src], -weight if p.when[dst] == p.turn else -2 * weight)


def _refining(*steps: Step) -> tuple[Step, ...]:
    """Return the program in which a class of vertices chooses and joins in ``steps``."""
    return (*WEIGH, fr.Compute(survey, over="vertices"), fr.Loop(*steps, times="classes", count="turn"))


#: What those that have chosen do.
_JOIN = (fr.Filter(stays), fr.Compute(join), fr.Advance(enclose, output=None))


class Refinement(fr.Enactor):
    """Make communities inside given ones, of vertices that begin alone; each vertex has one turn."""

    loop = _refining(fr.Sequence(fr.Filter(may_join), fr.Filter(choose), *_JOIN, over="vertices"))


class RefinementTallied(fr.Enactor):
    """The same on a GPU, where all lanes walk the edges of a hub."""

    loop = _refining(
        fr.Sequence(fr.Filter(may_join), fr.Split(aside, rest="due"), over="vertices"),
        fr.Sequence(fr.Filter(large), *tallied(worth, tempting), over="due"),
        fr.Sequence(fr.Filter(choose_tallied), *_JOIN, over="due"),
        fr.Take("due"),
    )


@primitive(
    "leiden", "connected communities of high modularity, by the Leiden method",
    arguments=(
        Argument("--resolution", "larger for more and smaller communities (default: 1)"),
        Argument("--iterations", "how often it begins anew from what it found (default: 2)", type=int),
        Argument("--threshold", "modularity that an iteration must gain, or it is the last (default: 1e-7)"),
        Argument("--max-level", "how often communities are refined in an iteration at most", type=int),
    ),
    verify="leiden", report=facts,
)  # fmt: skip
def leiden(
    g: fr.Graph,
    *,
    resolution: float = 1.0,
    iterations: int = 2,
    start: Any = None,
    threshold: float = THRESHOLD,
    max_level: int | None = None,
    seed: int = 0,
    schedule: fr.Schedule | None = None,
) -> CommunitiesResult:
    """Connected communities of high modularity, by the Leiden method.

    Parameters
    ----------
    g : Graph
        Weights are used if there are any; parallel edges count with the sum of their weights. A directed graph is taken
        for undirected, with a warning, see :meth:`frontier.Graph.undirected`.
    resolution : float
        The larger it is, the more and the smaller communities there are.
    iterations : int
        How often the method is applied at most, each time to the communities found before.
    start : array_like of int, shape (n,), optional
        The label of each vertex's community to begin with, such as ``result.label`` of an earlier call. By default
        every vertex begins alone. Those that are not connected are divided first.
    threshold : float
        It is applied again only if that has raised modularity by so much.
    max_level : int, optional
        How often communities are refined in each iteration at most; all but the last are contracted.
    seed : int
        Decides which vertices move at the same time.
    schedule : Schedule, optional

    Returns
    -------
    CommunitiesResult
        Every community is connected, by edges of positive weight. ``result.levels`` has those of each level, which are
        the refined ones, and connected.

    Raises
    ------
    GraphError
        If weights are not finite, or are integers with a sum of 2**62 or more (both directions
        of an edge count), or an argument is invalid.
    NegativeWeightError
        If a weight is negative.

    Notes
    -----
    O(n + m) expected work for each round of moves; usually there are some dozens. Results depend on the seed only, and
    floats are rounded, as in :func:`frontier.louvain`. There, too, is said of which graphs no single vertex could move
    to raise modularity. Of a graph in parts, each process, or the first of several GPUs, needs all edges.
    """
    check(g, "leiden", resolution, seed, threshold, max_level)
    g, schedule = in_one_piece(g, schedule)
    g = without_directions(g, "leiden")
    check_number("iterations", iterations, lambda x: 0 < x < 2**31 and x == int(x), "a whole number from 1")
    h, graphs, dendrogram = weighted(g), 0, []
    label, communities = first_communities(h, None if start is None else connected(h, groups(h, start)[1]))
    reached = modularity(communities, resolution)
    for _ in range(int(iterations) if h.num_vertices else 0):
        found, between, steps = once(h, label, resolution, max_level or h.num_vertices, seed + graphs, schedule)
        graphs += len(steps) + 1
        now = modularity(between, resolution)
        if now < reached:
            break  # moves at the same time can do harm, though they hardly do
        gained = now - reached
        label, communities, dendrogram, reached = found, between, steps, now
        if gained < threshold:
            break
    label, communities, more = polished(h, label, communities, resolution, seed + graphs, schedule, divide=connected)
    reached, count = modularity(communities, resolution), communities.num_vertices
    return CommunitiesResult(label, count, reached, graphs + more, float(resolution), tuple(dendrogram))


def once(
    h: fr.Graph, label: Any, resolution: float, max_level: int, seed: int, schedule: fr.Schedule | None
) -> tuple[Any, fr.Graph, list[Any]]:
    """Return better communities than the given ones, the graph between them, and how graphs were contracted.

    That is the vertex of the next graph for each vertex of a graph. Labels of the given communities are numbers from 0
    on, all of which occur.
    """
    steps: list[Any] = []
    at = h.placement.memory.xp.arange(h.num_vertices, dtype=h.id_dtype)  # the vertex of h for each vertex
    while True:
        first = h.placement.memory.xp.unique(label, return_index=True)[1]  # a vertex for each community
        p = fr.Problem(h, **fields(h, resolution, seed + len(steps), SETTLED, first[label]))
        local_moving(p, schedule)
        _, part = groups(h, p.label)
        del p  # before the fields of the next problem
        if len(steps) + 1 >= max_level:
            break
        p = fr.Problem(h, **fields(h, resolution, seed + len(steps) + 1, SETTLED), **of_parts(h, part))
        (RefinementTallied if tallies(h) else Refinement)(p, schedule).run()
        _, group = groups(h, p.label)
        del p
        smaller = h.contracted(group)
        if smaller.num_vertices == h.num_vertices:
            break
        label = part[: smaller.num_vertices].copy()
        label[group] = part
        at, h = group[at], smaller
        steps.append(group)
    _, last = groups(h, connected(h, part))
    return last[at], h.contracted(last), steps


def of_parts(h: fr.Graph, part: Any) -> dict[str, Field]:
    """Return the fields of a refinement inside the given parts."""
    return {
        "part": fr.vertex(h.id_dtype, part),
        "whole": fr.vertex("int64"),
        "out": fr.vertex("int64"),
        "when": fr.vertex("int32"),
    }


def connected(h: fr.Graph, part: Any) -> Any:
    """Return a label for each connected piece of each part; mostly a part is a single vertex by now."""
    assert h.weights is not None
    part = matching(part, h.targets)  # edges may lie in another memory than fields
    inside = (part[h.sources] == part[h.targets]) & (h.weights > 0)
    links = fr.from_edges(h.sources[inside], h.targets[inside], num_vertices=h.num_vertices, directed=False)
    return fr.connected_components(links.to(h.placement)).label
