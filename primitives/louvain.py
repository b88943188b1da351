"""Communities of high modularity: the Louvain method.

Every vertex begins as a community of its own. Vertices move to the neighbouring community where modularity gains most,
until few want to move; then each community becomes one vertex, with the weights of its edges added up, and the same
begins anew on the smaller graph, until that gains no more (Blondel, Guillaume, Lambiotte, Lefebvre: Fast unfolding of
communities in large networks, 2008). All of that is done twice. The second time, vertices begin in the communities that
have been found, and leave those which have become the wrong ones meanwhile (Rotta, Noack: Multilevel local search
algorithms for modularity clustering, 2011); so the first time need not be thorough. In the end, single vertices of a
small graph move until none gains by it.

Vertices move in parallel. Two neighbours that decide at the same time may exchange their communities, for ever, or
both leave the place where they would have met. So vertices are divided by hashing into classes, anew in every round;
those of one class decide at the same time, on what the classes before have left, and then move. Of two vertices of a
class that are alone in their communities only that with the larger label may join the other (Lu, Halappanavar,
Kalyanaraman: Parallel heuristics for scalable community detection, 2015). A vertex decides again only if a neighbour
has moved (Ozaki, Tezuka, Inaba: A simple acceleration method for the Louvain algorithm, 2016).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import frontier as fr
from frontier.primitives import _directed_communities as skewed
from frontier.primitives._communities import (
    JOIN,
    WEIGH,
    CommunitiesResult,
    check,
    class_of,
    due,
    facts,
    move,
    moves,
    tally,
    wake,
)
from frontier.primitives._levels import Level, first_level
from frontier.primitives._piles import aside
from frontier.primitives._tables import FREE, in_one_piece
from frontier.primitives._tallies import LARGE, large, tallied
from frontier.program.step import Step
from frontier.registry import Argument, primitive

__all__ = ["CommunitiesResult", "LocalMoving", "LocalMovingTallied", "louvain"]

#: A function that functors call, or a functor.
Helper = Callable[..., Any]

#: Rounds of local moving on one graph at most; few need more than twenty. (Uniform random graphs do: with 100 rounds
#: urand23 takes 9.1 s on an H200 and reaches .159, with 24 it takes 3.9 s and reaches .158.)
ROUNDS = 24

#: Edges of a vertex up to which it needs no table.
FEW = 8

#: At most one vertex in so many moves in the last round, the first time and the second.
SETTLED = (20, 100)

#: In graphs of fewer vertices and edge slots single vertices are moved in the end, so often at most.
SMALL, POLISHED = 1 << 15, 20

#: Modularity that a smaller graph must gain at least, or it was the last.
THRESHOLD = 1e-7


def worth_of(p, v, label, sum):
    """What modularity gains if v moves to a community to which it has edges of so much weight; -inf if it may not."""
    own = p.label[v]
    if p.size[own] == 1 and p.size[label] == 1 and label > own and class_of(p, label) == p.turn - 1:
        return -np.inf  # the one in it is mostly the vertex of that number; if not, another round undoes the swap
    share = p.resolution * p.weight[v] / p.all if p.all > 0 else 0.0
    return sum - share * p.total[label]


def stay(p, v, within):
    """What modularity gains if v returns to its own community, to which it has edges of so much weight."""
    share = p.resolution * p.weight[v] / p.all if p.all > 0 else 0.0
    return within - share * (p.total[p.label[v]] - p.weight[v])


def weight_to(p, v, label):
    """Add up the weights of v's edges to a community, without loops."""
    sum = p.weight[v] * 0
    for e in fr.neighbours(p, v):
        if p.label[fr.target(p, e)] == label and fr.target(p, e) != v:
            sum += fr.weight(p, e)
    return sum


def deciding(worth_of: Helper, stay: Helper) -> Helper:
    """Return the functor by which a vertex chooses, of what communities are worth, and its own is."""

    def decide(p, v):
        """Choose the community where modularity gains most, or one that v begins; true if it is another one.

        A vertex of few edges goes through them again for each, which is faster than to fill a table.
        """
        own = p.label[v]
        few = fr.degree(p, v) <= FEW
        best = own
        most = stay(p, v, weight_to(p, v, own) if few else tally(p, v))
        if most < 0 and p.size[v] == 0:
            best = v  # an empty community; no other vertex can choose it
            most = 0.0
        for slot in fr.neighbours(p, v):
            label = p.label[fr.target(p, slot)] if few else p.key[slot]
            if label in (FREE, own):
                continue
            gain = worth_of(p, v, label, weight_to(p, v, label) if few else p.sum[slot])
            if gain > most or (gain == most and label < best and best != own):
                best = label
                most = gain
        p.next[v] = best
        return best != own

    return decide


def deciding_tallied(decide: Helper, stay: Helper) -> tuple[Helper, Helper]:
    """Return the functors that say whether a hub may move at all, and where to a vertex does."""

    def tempting(p, v):
        """Whether another community is worth as much to a hub as its own, or more, or it may begin one."""
        most = stay(p, v, p.within[v])
        return p.most[v] >= most or (most < 0 and p.size[v] == 0)

    def decide_tallied(p, v):
        """The same as ``decide``, where a hub's best community is known already."""
        if fr.degree(p, v) < LARGE:
            return decide(p, v)
        own = p.label[v]
        best = own
        most = stay(p, v, p.within[v])
        if most < 0 and p.size[v] == 0:
            best = v
            most = 0.0
        if p.most[v] > most or (p.most[v] == most and p.best[v] < best and best != own):
            best = p.best[v]
        p.next[v] = best
        return best != own

    return tempting, decide_tallied


def settled(p):
    """Whether few vertices have moved in this round."""
    return p.moves * p.among <= p.n


def moving(worth_of: Helper, stay: Helper, move: Helper, weigh: tuple[Step, ...], hubs: bool) -> tuple[Step, ...]:
    """Return the program in which vertices move, class after class.

    Parameters
    ----------
    worth_of, stay : helper
        What modularity gains by another community, and by the vertex's own.
    move : functor
        Move a vertex; 1, to be counted.
    weigh : tuple of Step
        Add up what vertices and communities have.
    hubs : bool
        Whether all lanes of a GPU walk the edges of a hub.
    """
    decide = deciding(worth_of, stay)
    ends = fr.Reduce(move, "sum", into="moved"), fr.Advance(wake, output=None)
    if hubs:
        tempting, decide_tallied = deciding_tallied(decide, stay)
        steps: tuple[Step, ...] = (
            fr.Sequence(fr.Filter(due), fr.Split(aside, rest="due"), over="vertices"),
            fr.Sequence(fr.Filter(large), *tallied(worth_of, tempting), over="due"),
            fr.Sequence(fr.Filter(decide_tallied), *ends, over="due"),
            fr.Take("due"),
        )
    else:
        steps = (fr.Sequence(fr.Filter(due), fr.Filter(decide), *ends, over="vertices"),)
    turn = fr.Loop(*steps, fr.Set(moves=moves), times="classes", count="turn")
    return (*weigh, fr.Loop(fr.Set(moves=0, turn=0), turn, times=ROUNDS, until=settled, count="round"))


class LocalMoving(fr.Enactor):
    """Move vertices to other communities, class after class, until few want to move."""

    loop = moving(worth_of, stay, move, WEIGH, hubs=False)


class LocalMovingTallied(fr.Enactor):
    """The same on a GPU, where all lanes walk the edges of a hub."""

    loop = moving(worth_of, stay, move, WEIGH, hubs=True)


class LocalMovingByMass(fr.Enactor):
    """The same for vertices whose weights are given."""

    loop = moving(worth_of, stay, move, (JOIN,), hubs=False)


class LocalMovingByMassTallied(fr.Enactor):
    """The same on a GPU."""

    loop = moving(worth_of, stay, move, (JOIN,), hubs=True)


def _directed(hubs: bool) -> tuple[Step, ...]:
    return moving(skewed.worth(worth_of), skewed.stay(stay), skewed.move, skewed.WEIGH, hubs)


class DirectedMoving(fr.Enactor):
    """The same by directed modularity."""

    loop = _directed(hubs=False)


class DirectedMovingTallied(fr.Enactor):
    """The same on a GPU."""

    loop = _directed(hubs=True)


#: By the model of what is to be expected, and whether all lanes walk the edges of a hub.
MOVING = {
    ("modularity", False): LocalMoving,
    ("modularity", True): LocalMovingTallied,
    ("node weights", False): LocalMovingByMass,
    ("node weights", True): LocalMovingByMassTallied,
    ("directed", False): DirectedMoving,
    ("directed", True): DirectedMovingTallied,
}


def local_moving(level: Level, p: fr.Problem, schedule: fr.Schedule | None) -> None:
    """Run the program for the model, and for where the graph is."""
    MOVING[level.kind, "most" in p.fields](p, schedule).run()


@primitive(
    "louvain", "communities of high modularity, by the Louvain method",
    arguments=(
        Argument("--resolution", "larger for more and smaller communities (default: 1)"),
        Argument("--threshold", "modularity that a level must gain, or it is the last (default: 1e-7)"),
        Argument("--max-level", "how often communities are contracted in a descent at most", type=int),
    ),
    verify="louvain", report=facts,
)  # fmt: skip
def louvain(
    g: fr.Graph,
    *,
    resolution: float = 1.0,
    directed: bool = False,
    node_weights: Any = None,
    start: Any = None,
    threshold: float = THRESHOLD,
    max_level: int | None = None,
    seed: int = 0,
    schedule: fr.Schedule | None = None,
) -> CommunitiesResult:
    """Communities of high modularity, by the Louvain method.

    Parameters
    ----------
    g : Graph
        Weights are used if there are any; parallel edges count with the sum of their weights. A directed graph is taken
        for undirected, with a warning, see :meth:`frontier.Graph.undirected`, unless ``directed``.
    resolution : float
        The larger it is, the more and the smaller communities there are.
    directed : bool
        Whether to look for directed modularity: what is to be expected of two vertices is the product of the weight
        that leaves one and that which enters the other.
    node_weights : array_like, shape (n,), optional
        Numbers whose products are to be expected instead, at the resolution as it is: with 1 for all vertices, the
        constant Potts model. ``result.modularity`` then is the sum of weights less products, over pairs of vertices in
        one community, divided by the sum of all weights, both ways, as in igraph.
    start : array_like of int, shape (n,), optional
        The label of each vertex's community to begin with, such as ``result.label`` of an earlier call. By default
        every vertex begins alone.
    threshold : float
        Communities are contracted again only if that has raised modularity by so much.
    max_level : int, optional
        How often they are contracted at most, before the descent begins anew and after: 1 moves single vertices only.
    seed : int
        Decides which vertices move at the same time.
    schedule : Schedule, optional

    Returns
    -------
    CommunitiesResult
        ``result.levels`` has the communities of each level. Modularity is not below that of ``start``.

    Raises
    ------
    GraphError
        If weights are not finite, or are integers with a sum of 2**62 or more (both directions
        of an edge count), or an argument is invalid.
    NegativeWeightError
        If a weight is negative.

    Notes
    -----
    O(n + m) expected work for each round of moves; usually there are some dozens. Results depend on the seed only, on
    any number of threads and on a GPU. For that, weights that are floats are rounded to multiples of at most 2**-60 of
    their sum; what is less than half of that counts as 0. In a graph of less than 32,768 vertices and edge slots there
    is no single vertex in the end whose move to another community, or to one of its own, would raise modularity. Of a
    graph in parts, each process, or the first of several GPUs, needs all edges.

    Examples
    --------
    >>> result = fr.louvain(fr.from_edges(["ann", "bob", "cid", "dan"], ["bob", "cid", "ann", "eve"]))
    >>> result.communities
    [['ann', 'bob', 'cid'], ['dan', 'eve']]
    """
    check(g, "louvain", resolution, seed, threshold, max_level)
    g, schedule = in_one_piece(g, schedule)
    level, graphs = first_level(g, "louvain", float(resolution), directed, node_weights), 0
    limits = threshold, max_level or g.num_vertices
    label, communities = level.begun(start)
    dendrograms = []
    for among in SETTLED:
        label, communities, steps, more = descend(level, label, communities, among, limits, seed + graphs, schedule)
        graphs += more
        dendrograms.append(steps)
    label, communities, more = polished(level, label, communities, seed + graphs, schedule)
    return level.result(label, communities, graphs + more, float(resolution), dendrograms[0][:-1])


def descend(
    level: Level,
    label: Any,
    communities: Level,
    among: int,
    limits: tuple[float, int],
    seed: int,
    schedule: fr.Schedule | None,
) -> tuple[Any, Level, list[Any], int]:
    """Return communities that are not worse than the given ones, the level of these, and how they were made.

    That is the vertex of the next graph for each vertex of a graph, and the number of graphs. Labels of the given ones
    are numbers from 0 on, all of which occur. The limits are what modularity must gain, and the number of levels.
    """
    xp = level.graph.placement.memory.xp
    steps: list[Any] = []
    reached, levels = communities.quality(), 0
    at = xp.arange(level.graph.num_vertices)  # the vertex of the smaller graph for each vertex
    start = xp.unique(label, return_index=True)[1][label]  # a vertex for each community
    while level.graph.num_vertices and len(steps) < limits[1]:
        p = fr.Problem(level.graph, **level.fields(seed + levels, among, start))
        local_moving(level, p, schedule)
        levels += 1
        moved = p.label
        del p  # before the fields of the next problem
        group, smaller = level.contracted(moved)
        now = smaller.quality()
        if now < reached:
            break  # moves at the same time can do harm, though they hardly do
        at = label = group[at]
        communities = smaller
        steps.append(group)
        if smaller.graph.num_vertices == level.graph.num_vertices or now - reached < limits[0]:
            break
        level, reached, start = smaller, now, None
    return label, communities, steps, levels


def polished(
    level: Level,
    label: Any,
    communities: Level,
    seed: int,
    schedule: fr.Schedule | None,
    divide: Callable[[fr.Graph, Any], Any] | None = None,
) -> tuple[Any, Level, int]:
    """Move single vertices of a small graph until that gains nothing; return communities as :func:`descend`.

    Whole communities have moved meanwhile, after which some of their vertices had better be elsewhere. A community that
    vertices have left may have to be divided. The vertex by which a community is called cannot begin another one, so
    communities are called by their first and by their last vertex in turn.
    """
    h = level.graph
    xp, n, quiet, levels = h.placement.memory.xp, h.num_vertices, 0, 0
    reached = communities.quality()
    while 0 < n + h.num_slots < SMALL and quiet < 2 and levels < POLISHED:
        first = xp.unique(label, return_index=True)[1]
        last = n - 1 - xp.unique(label[::-1], return_index=True)[1]
        p = fr.Problem(h, **level.fields(seed + levels, n + 1, (last if levels % 2 else first)[label]))
        local_moving(level, p, schedule)
        levels += 1
        if int(p.round) == 1 and int(p.moves) == 0:  # all have decided to stay
            quiet += 1
            continue
        group, smaller = level.contracted(p.label if divide is None else divide(h, p.label))
        now = smaller.quality()
        quiet = 0
        if now > reached:  # else moves at the same time have done harm, and those of other classes may not
            label, communities, reached = group, smaller, now
    return label, communities, levels
