"""What programs share that move vertices between communities, for modularity: weights, classes, and the result.

Vertices move in parallel. They are divided by hashing into classes, anew in every round; those of one class decide at
the same time, on what the classes before have left, and then move. The weights of edges to each neighbouring community
are added up in a hash table for each vertex.

Weights are integers, and floats are rounded to such: sums of integers are the same in any order, so that what vertices
choose does not depend on the number of threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError, warn
from frontier.memory.arrays import namespace_of, to_host
from frontier.primitives._arguments import check_number, check_weights
from frontier.primitives._oriented import repeated
from frontier.primitives._tables import FREE, find
from frontier.primitives._tallies import fields_of_tallies
from frontier.program.step import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.problem import Field

__all__ = [
    "JOIN",
    "WEIGH",
    "CommunitiesResult",
    "check",
    "class_of",
    "classes",
    "due",
    "facts",
    "fields",
    "in_integers",
    "modularity",
    "move",
    "moves",
    "tallies",
    "tally",
    "wake",
    "weighted",
]

#: Number of classes of vertices; those of one class move at the same time. With 16, or up to 64 on small graphs, a
#: round has as many passes more, and modularities are the same within what seeds change: on fifteen graphs from karate
#: to road-NY and R-MAT 14, means of 3 to 40 seeds were from 1 % lower (uniform random) to 1.3 % higher with 8.
CLASSES = 8


def class_of(p, v):
    """Return the class of a vertex in this round."""
    return fr.hash(fr.hash(p.seed + p.round) + v) % p.classes


def due(p, v):
    """Whether v is to decide now: a neighbour has moved, and it is the turn of v's class."""
    if p.awake[v] == 0 or class_of(p, v) != p.turn - 1:
        return False
    p.awake[v] = 0
    return True


def weigh(p, src, dst, weight):
    """The weight of an edge; that of a loop counts twice."""
    return 2 * weight if src == dst else weight


def weight_of(p, v):
    """The sum of the weights at v."""
    return p.weight[v]


def join(p, v):
    """Count v in its first community."""
    fr.atomic_add(p.total, p.label[v], p.weight[v])
    fr.atomic_add(p.size, p.label[v], 1)


def tally(p, v):
    """Add up the weights of v's edges to each other community in v's table; return the sum for v's own."""
    first = fr.neighbours(p, v).start
    size = fr.degree(p, v)
    own = p.label[v]
    within = p.weight[v] * 0
    for e in fr.neighbours(p, v):
        p.key[e] = FREE
        p.sum[e] = 0
    for e in fr.neighbours(p, v):
        u = fr.target(p, e)
        label = p.label[u]
        if label != own:
            slot = find(p, first, size, label)
            p.sum[slot] = p.sum[slot] + fr.weight(p, e)
        elif u != v:
            within = within + fr.weight(p, e)
    return within


def move(p, v):
    """Move v to the community that it has chosen; 1, to be counted."""
    fr.atomic_add(p.total, p.label[v], -p.weight[v])
    fr.atomic_add(p.total, p.next[v], p.weight[v])
    fr.atomic_add(p.size, p.label[v], -1)
    fr.atomic_add(p.size, p.next[v], 1)
    p.label[v] = p.next[v]
    return 1


def wake(p, src, dst):
    """Let the neighbours in other communities decide again."""
    if p.label[dst] != p.label[src]:
        p.awake[dst] = 1


def moves(p):
    """Return the number of moves of this round so far."""
    return p.moves + p.moved


#: Add up what vertices have, for communities.
JOIN = fr.Compute(join, over="vertices")

#: Add up the weights of vertices and of communities.
WEIGH: tuple[Step, ...] = (
    fr.Gather(weigh, "sum", into="weight", edges="out", over="vertices"),
    fr.Reduce(weight_of, "sum", into="all", over="vertices"),
    JOIN,
)


@dataclass(frozen=True, eq=False, repr=False)
class CommunitiesResult(fr.Result, columns=("label",)):
    """Result of :func:`louvain`.

    Attributes
    ----------
    label : ndarray, shape (n,)
        Number of the community of v, from 0 on.
    count : int
        Number of communities.
    modularity : float
        Modularity of these communities at the given resolution; 0 if the graph has no edge of positive weight.
    graphs : int
        Number of graphs on which vertices have been moved: the given one, each time, and smaller ones made of it.
    resolution : float
    dendrogram : tuple of ndarray
        What :attr:`levels` is made of: for each vertex of a graph its vertex in the next smaller one.
    directed : bool
        Whether it is directed modularity.
    """

    label: NDArray[Any]
    count: int
    modularity: float
    graphs: int
    resolution: float
    dendrogram: tuple[NDArray[Any], ...] = field(default=(), repr=False, compare=False)
    directed: bool = False

    @property
    def levels(self) -> list[NDArray[Any]]:
        """Communities inside communities: for each level a label for each vertex, from 0 on; the last is ``label``.

        Those of one level are unions of those of the level before. They are the communities that were contracted on
        the way, divided where vertices have left them later.
        """
        xp = namespace_of(self.label)
        at = xp.arange(len(self.label))
        found = []
        for group in self.dendrogram:
            at = group[at]
            both, label = xp.unique(at.astype(np.int64) * self.count + self.label, return_inverse=True)
            found.append((len(both), label.reshape(-1).astype(self.label.dtype)))
        found.append((self.count, self.label))
        # Of levels with as many communities, which are the same, the last.
        return [label for (here, label), (there, _) in pairwise(found) if here > there] + [self.label]

    @property
    def communities(self) -> list[list[Any]]:
        """The vertices of each community, by their names, the largest first."""
        return self.groups_by("label")


def check(
    g: Graph, who: str, resolution: float, seed: int, threshold: float = 0.0, max_level: int | None = None
) -> None:
    """Raise GraphError for a graph or arguments with which communities cannot be found."""
    check_number("resolution", resolution, lambda x: 0 <= x < np.inf, "it must be finite and not negative")
    check_number("threshold", threshold, lambda x: 0 <= x < np.inf, "it must be finite and not negative")
    if max_level is not None:
        check_number("max_level", max_level, lambda x: x >= 1 and x == int(x), "a whole number from 1, or None")
    check_number("seed", seed, lambda x: abs(x) < 2**62 and x == int(x), "a whole number of 62 bits")
    check_weights(g, who)


def without_directions(g: Graph, who: str) -> Graph:
    """Return an undirected graph as it is; of a directed one the edges both ways, with a warning."""
    if g.symmetric:
        return g
    warn(
        f"{who} takes edges for undirected, and adds up the weights of those in opposite directions: g.undirected() "
        "says that this is meant"
    )
    return g.undirected()


def weighted(g: Graph) -> Graph:
    """Return the graph with weights of int64, 1 if there are none, and parallel edges as one.

    Sums of integers are the same in any order. No sum of these wraps, also if loops count twice: it is below 2**63.
    """
    h = in_integers(g)
    return h.contracted(g.placement.memory.xp.arange(g.num_vertices)) if bool(repeated(g).any()) else h


def in_integers(g: Graph, weighted: bool = True) -> Graph:
    """Return the graph without columns, with weights of int64; all 1 if there are none or these are not wanted."""
    memory = g.placement.memory_of("edges")
    if weighted and g.weights is not None:
        weights = memory.moved(whole(g.weights))
    else:
        weights = memory.full(g.num_slots, 1, np.int64)
    return fr.Graph(g.offsets, g.targets, weights, directed=g.directed, placement=g.placement, check=False)


def whole(weights: Any) -> Any:
    """Return weights in proportion to the given ones, as int64 without a common divisor, with a sum below 2**62.

    Floats become multiples of a power of two, of at most 2**-60 of their sum, to the nearest; that power depends on
    nothing but the weights. GraphError if the sum of integers is too large.
    """
    if weights.dtype.kind == "f":
        weights = _in_units(weights)
    elif float(weights.sum(dtype=np.float64)) >= 2**62:
        raise GraphError("the sum of these integer weights may not fit into 64 bits: use weights of float64")
    weights = weights.astype(np.int64, copy=False)
    divisor = common_divisor(weights)
    return weights // divisor if divisor > 1 else weights


def _in_units(weights: Any) -> Any:
    """Return floats as multiples of the least power of two by which their sum is below 2**61."""
    xp, weights = namespace_of(weights), weights.astype(np.float64, copy=False)
    bits = math.frexp(float(weights.max()) if len(weights) else 0.0)[1]  # each is less than 2**bits
    above = int(xp.ceil(xp.ldexp(weights, 30 - bits)).astype(np.int64).sum())  # of integers, whatever the order
    return xp.rint(xp.ldexp(weights, 91 - bits - above.bit_length()))


def common_divisor(weights: Any) -> int:
    """Return the greatest common divisor of integers that are not negative; 1 if all are 0."""
    divisor = 0
    for some in (weights[:4096], weights):  # mostly a few say that it is 1
        divisor = math.gcd(divisor, int(some.max()) if len(some) else 0)
        while divisor > 1 and (rest := int((some % divisor).max())):
            divisor = math.gcd(divisor, rest)
        if divisor == 1:
            break
    return max(divisor, 1)


def classes(n: int) -> int:
    """Return the number of classes of n vertices."""
    return min(CLASSES, n)


def tallies(g: Graph) -> bool:
    """Whether all lanes walk the edges of a hub."""
    return g.placement.massively_parallel


def fields(g: Graph, resolution: float, seed: int, among: int, label: Any = None) -> dict[str, Field]:
    """Return the fields of local moving, which begins with the given communities, or with each vertex alone.

    A round is the last one if at most one vertex ``among`` so many has moved.
    """
    ids = g.id_dtype
    own = g.placement.memory.xp.arange(g.num_vertices, dtype=ids) if label is None else label
    return {
        "label": fr.vertex(ids, own),
        "next": fr.vertex(ids),
        "weight": fr.vertex("int64"),
        "total": fr.vertex("int64"),
        "size": fr.vertex("int32"),
        "awake": fr.vertex("int8", 1),
        "key": fr.edge(ids),
        "sum": fr.edge("int64"),
        "all": fr.scalar("int64"),
        "resolution": fr.scalar("float64", resolution),
        "seed": fr.scalar("int64", seed),
        "round": fr.scalar("int64"),
        "turn": fr.scalar("int64"),
        "classes": fr.scalar("int64", classes(g.num_vertices)),
        "moved": fr.scalar("int64"),
        "moves": fr.scalar("int64"),
        "n": fr.scalar("int64", g.num_vertices),
        "among": fr.scalar("int64", among),
        **(fields_of_tallies() if tallies(g) else {}),
    }


def looped(p, src, dst, weight):
    """The weight of a loop."""
    return weight if src == dst else 0


def within(p, v):
    """The weight of the loops at v."""
    return p.inside[v]


class Weights(fr.Enactor):
    """Add up the weights of edges at every vertex, and of loops, and both over all vertices."""

    loop = (
        *WEIGH[:2],
        fr.Gather(looped, "sum", into="inside", edges="out", over="vertices"),
        fr.Reduce(within, "sum", into="loops", over="vertices"),
    )


def modularity(h: Graph, resolution: float) -> float:
    """Return the modularity of a graph in which each vertex is a community."""
    p = fr.Problem(
        h, weight=fr.vertex("int64"), inside=fr.vertex("int64"), all=fr.scalar("int64"), loops=fr.scalar("int64")
    )
    if h.num_slots:
        Weights(p).run()
    total = float(p.all)
    if total == 0:
        return 0.0
    return 2 * float(p.loops) / total - resolution * float(((p.weight / total) ** 2).sum())


def facts(g: Graph, result: CommunitiesResult) -> dict[str, Any]:
    """Return what the command line prints of communities."""
    sizes = np.bincount(to_host(result.label))
    return {
        "communities": result.count,
        "largest": int(sizes.max()) if len(sizes) else 0,
        "modularity": result.modularity,
        "graphs": result.graphs,
    }
