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
from frontier.primitives import _directed_communities as skewed
from frontier.primitives._arguments import check_number
from frontier.primitives._communities import (
    JOIN,
    WEIGH,
    CommunitiesResult,
    check,
    class_of,
    facts,
    move,
    tallies,
    tally,
)
from frontier.primitives._levels import Level, first_level
from frontier.primitives._piles import aside
from frontier.primitives._tables import FREE, in_one_piece
from frontier.primitives._tallies import LARGE, large, tallied
from frontier.primitives.cc import alone, compress, link
from frontier.primitives.louvain import THRESHOLD, Helper, local_moving, polished
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


def worth_if(linked: Helper) -> Helper:
    """Return what communities are worth that are ``linked``."""

    def worth(p, v, label, sum):
        """What modularity gains if v joins a refined community to which it has so much weight; -inf if it may not."""
        if p.part[label] != p.part[v] or not linked(p, label):
            return -np.inf
        share = p.resolution * p.weight[v] / p.all if p.all > 0 else 0.0
        return sum - share * p.total[label]

    return worth


def choosing(worth: Helper) -> tuple[Helper, Helper]:
    """Return the functors by which a vertex chooses, without and with the best community of a hub known already."""

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

    def choose_tallied(p, v):
        if fr.degree(p, v) < LARGE:
            return choose(p, v)
        p.next[v] = p.best[v] if p.most[v] > 0 else v
        return p.next[v] != v

    return choose, choose_tallied


def tempting(p, v):
    """Whether modularity gains if a hub joins another community."""
    return p.most[v] > 0


def stays(p, v):
    """Whether the community that v has chosen will not be left: of two that choose each other, the lesser moves."""
    other = p.next[v]
    return p.size[other] > 1 or p.next[other] == other or (p.next[other] == v and v < other)


def enclose(p, src, dst, weight):
    """Subtract the weight of an edge, both ways, that leaves the refined community of src no longer."""
    if src != dst and p.label[src] == p.label[dst]:
        # If dst has moved at the same time, it subtracts the other half.
        fr.atomic_add(p.out, p.label[src], -weight if p.when[dst] == p.turn else -2 * weight)


def refining(
    linked: Helper, worth: Helper, move: Helper, survey: tuple[Step, ...], hubs: bool
) -> tuple[Step, ...]:  # fmt: skip
    """Return the program that makes communities inside given ones; each vertex has one turn.

    Parameters
    ----------
    linked, worth : helper
        Whether a refined community may be joined, and what modularity gains by it.
    move : functor
        Move a vertex.
    survey : tuple of Step
        Add up what vertices, communities and parts have.
    hubs : bool
        Whether all lanes of a GPU walk the edges of a hub.
    """
    choose, choose_tallied = choosing(worth)

    def may_join(p, v):
        """Whether it is the turn of v's class, and v is alone and well connected; v is the label of its community."""
        p.next[v] = v
        return class_of(p, v) == p.turn - 1 and p.label[v] == v and p.size[v] == 1 and linked(p, v)

    def join(p, v):
        """Move v, and note when."""
        move(p, v)
        p.when[v] = p.turn
        fr.atomic_add(p.out, p.label[v], p.out[v])

    joins = fr.Filter(stays), fr.Compute(join), fr.Advance(enclose, output=None)
    if hubs:
        steps: tuple[Step, ...] = (
            fr.Sequence(fr.Filter(may_join), fr.Split(aside, rest="due"), over="vertices"),
            fr.Sequence(fr.Filter(large), *tallied(worth, tempting), over="due"),
            fr.Sequence(fr.Filter(choose_tallied), *joins, over="due"),
            fr.Take("due"),
        )
    else:
        steps = (fr.Sequence(fr.Filter(may_join), fr.Filter(choose), *joins, over="vertices"),)
    return (*survey, fr.Loop(*steps, times="classes", count="turn"))


#: Look at vertices and parts.
_SURVEY = fr.Compute(survey, over="vertices")


class Refinement(fr.Enactor):
    """Make communities inside given ones, of vertices that begin alone; each vertex has one turn."""

    loop = refining(linked, worth_if(linked), move, (*WEIGH, _SURVEY), hubs=False)


class RefinementTallied(fr.Enactor):
    """The same on a GPU, where all lanes walk the edges of a hub."""

    loop = refining(linked, worth_if(linked), move, (*WEIGH, _SURVEY), hubs=True)


class RefinementByMass(fr.Enactor):
    """The same for vertices whose weights are given."""

    loop = refining(linked, worth_if(linked), move, (JOIN, _SURVEY), hubs=False)


class RefinementByMassTallied(fr.Enactor):
    """The same on a GPU."""

    loop = refining(linked, worth_if(linked), move, (JOIN, _SURVEY), hubs=True)


def _directed(hubs: bool) -> tuple[Step, ...]:
    worth = skewed.worth(worth_if(skewed.linked))
    return refining(skewed.linked, worth, skewed.move, (*skewed.WEIGH, _SURVEY, skewed.SURVEY), hubs)


class DirectedRefinement(fr.Enactor):
    """The same by directed modularity."""

    loop = _directed(hubs=False)


class DirectedRefinementTallied(fr.Enactor):
    """The same on a GPU."""

    loop = _directed(hubs=True)


#: By the model of what is to be expected, and whether all lanes walk the edges of a hub.
REFINING = {
    ("modularity", False): Refinement,
    ("modularity", True): RefinementTallied,
    ("node weights", False): RefinementByMass,
    ("node weights", True): RefinementByMassTallied,
    ("directed", False): DirectedRefinement,
    ("directed", True): DirectedRefinementTallied,
}


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
    directed: bool = False,
    node_weights: Any = None,
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
        for undirected, with a warning, see :meth:`frontier.Graph.undirected`, unless ``directed``.
    resolution : float
        The larger it is, the more and the smaller communities there are.
    directed, node_weights
        As of :func:`frontier.louvain`.
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

    Examples
    --------
    >>> result = fr.leiden(fr.karate(), seed=2)
    >>> len(result.communities), round(result.modularity, 3)
    (4, 0.42)
    """
    check(g, "leiden", resolution, seed, threshold, max_level)
    check_number("iterations", iterations, lambda x: 0 < x < 2**31 and x == int(x), "a whole number from 1")
    g, schedule = in_one_piece(g, schedule)
    level = first_level(g, "leiden", float(resolution), directed, node_weights)
    h, graphs, dendrogram = level.graph, 0, []
    label, communities = level.begun(None if start is None else connected(h, groups(h, start)[1]))
    reached = communities.quality()
    for _ in range(int(iterations) if h.num_vertices else 0):
        found, between, steps = once(level, label, max_level or h.num_vertices, seed + graphs, schedule)
        graphs += len(steps) + 1
        now = between.quality()
        if now < reached:
            break  # moves at the same time can do harm, though they hardly do
        gained = now - reached
        label, communities, dendrogram, reached = found, between, steps, now
        if gained < threshold:
            break
    label, communities, more = polished(level, label, communities, seed + graphs, schedule, divide=connected)
    return level.result(label, communities, graphs + more, float(resolution), dendrogram)


def once(
    level: Level, label: Any, max_level: int, seed: int, schedule: fr.Schedule | None
) -> tuple[Any, Level, list[Any]]:
    """Return better communities than the given ones, their level, and how graphs were contracted.

    That is the vertex of the next graph for each vertex of a graph. Labels of the given communities are numbers from 0
    on, all of which occur.
    """
    steps: list[Any] = []
    xp, n = level.graph.placement.memory.xp, level.graph.num_vertices
    at = xp.arange(n, dtype=level.graph.id_dtype)  # the vertex of this graph for each vertex of the first
    while True:
        h = level.graph
        first = xp.unique(label, return_index=True)[1]  # a vertex for each community
        p = fr.Problem(h, **level.fields(seed + len(steps), SETTLED, first[label]))
        local_moving(level, p, schedule)
        _, part = groups(h, p.label)
        del p  # before the fields of the next problem
        if len(steps) + 1 >= max_level:
            break
        p = fr.Problem(h, **level.fields(seed + len(steps) + 1, SETTLED), **of_parts(level, part))
        REFINING[level.kind, tallies(h)](p, schedule).run()
        refined = p.label
        del p
        group, smaller = level.contracted(refined)
        if smaller.graph.num_vertices == h.num_vertices:
            break
        label = part[: smaller.graph.num_vertices].copy()
        label[group] = part
        at, level = group[at], smaller
        steps.append(group)
    last, smaller = level.contracted(connected(level.graph, part))
    return last[at], smaller, steps


def of_parts(level: Level, part: Any) -> dict[str, Field]:
    """Return the fields of a refinement inside the given parts."""
    return {
        "part": fr.vertex(level.graph.id_dtype, part),
        "whole": fr.vertex("int64"),
        "out": fr.vertex("int64"),
        "when": fr.vertex("int32"),
        **({} if level.skew is None else {"whole_skew": fr.vertex("int64")}),
    }


def link_inside(p, src, dst, weight):
    """Join the trees of two vertices of a part that have an edge of positive weight."""
    return weight > 0 and p.part[src] == p.part[dst] and link(p, src, dst)


class Pieces(fr.Enactor):
    """Label each connected piece of each part by its first vertex."""

    loop = fr.Sequence(
        fr.Compute(alone), fr.Advance(link_inside, output=None), fr.Compute(compress), over="vertices"
    )  # fmt: skip


def connected(h: fr.Graph, part: Any) -> Any:
    """Return a label for each connected piece of each part; mostly a part is a single vertex by now."""
    p = fr.Problem(h, part=fr.vertex(h.id_dtype, part), label=fr.vertex(h.id_dtype, combine="min"))
    return Pieces(p).run().label
