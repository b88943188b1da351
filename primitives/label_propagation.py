"""Communities by label propagation.

Every vertex begins with a label of its own, its id. In every round it takes the label that is most frequent among its
neighbours (Raghavan, Albert, Kumara: Near linear time algorithm to detect community structures in large-scale
networks, 2007). Made deterministic, this is CDLP of the benchmark LDBC Graphalytics: all vertices choose at the same
time, and of several labels that are equally frequent the smallest wins. Edges of a directed graph are followed both
ways, and each of them counts.

In the asynchronous method vertices see what others have chosen in the same round, as in the first of these papers.
They are divided by hashing into classes, anew in every round, and one class chooses after the other. A vertex keeps its
label if that is among the most frequent ones, so that a round without changes is the end; otherwise it draws one of
them. It chooses again only if the label of a neighbour has changed.

The first two methods choose by a gather of the most frequent label (``"mode"``). The asynchronous one, which has to
know all labels that are equally frequent, counts them in a hash table for each vertex, in a slice of two edge fields;
so do all methods where neighbours count with the weights of edges, as integers, whose sums do not depend on an order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import check_number, check_weights
from frontier.primitives._communities import classes, due, in_integers, moves, wake
from frontier.primitives._oriented import at_hand
from frontier.primitives._tables import FREE, clear, find, in_one_piece
from frontier.primitives._weighted_sums import check_weighted
from frontier.program.problem import Field
from frontier.program.step import Step
from frontier.registry import Argument, Plan, primitive

__all__ = ["Alternating", "Asynchronous", "LabelPropagationResult", "Synchronous", "label_propagation"]

METHODS = ("synchronous", "alternating", "asynchronous")


def of_neighbour(p, dst):
    """Count the label of a neighbour."""
    return p.label[dst]


def settle(p, v):
    """Let v keep its label if it has no neighbour. Returns whether the label changes."""
    if p.next[v] == -1:
        p.next[v] = p.label[v]
    return p.next[v] != p.label[v]


def empty(p, v):
    """Empty v's table."""
    clear(p, v)
    for e in fr.neighbours(p, v):
        p.times[e] = 0


def add(p, v, e, amount):
    """Add to the entry of the label at the other end of e in v's table; return its sum."""
    slot = find(p, fr.neighbours(p, v).start, fr.degree(p, v), p.label[fr.target(p, e)])
    p.times[slot] = p.times[slot] + amount
    return p.times[slot]


def count(p, v):
    """Count the edges to each label around v, in v's table; return the greatest number."""
    empty(p, v)
    most = 0
    for e in fr.neighbours(p, v):
        most = max(most, add(p, v, e, 1))
    return most


def weigh(p, v):
    """Add up the weights of the edges to each label around v, in v's table; return the greatest sum."""
    empty(p, v)
    most = 0
    for e in fr.neighbours(p, v):
        most = max(most, add(p, v, e, fr.weight(p, e)))
    return most


def heaviest(p, v):
    """Choose the smallest of the labels of the greatest weight around v; -1 without neighbours."""
    most = weigh(p, v)
    best = -1
    for slot in fr.neighbours(p, v):
        label = p.key[slot]
        if label != FREE and p.times[slot] == most and (best == -1 or label < best):
            best = label
    p.next[v] = best


def draw_one(p, v, most):
    """Choose one of the labels with ``most`` in v's table, v's own if it is among them; true if it changes."""
    best = p.label[v]
    lot = -1  # the labels' lots are not negative
    key = fr.hash(fr.hash(p.seed + p.round) + v)
    for slot in fr.neighbours(p, v):
        label = p.key[slot]
        if label != FREE and p.times[slot] == most:
            if label == p.label[v]:
                return False
            drawn = fr.hash(key + label) & 0x7FFFFFFF
            if drawn > lot or (drawn == lot and label < best):
                best = label
                lot = drawn
    p.next[v] = best
    return best != p.label[v]


def draw(p, v):
    """Choose one of the most frequent labels around v."""
    return draw_one(p, v, count(p, v))


def draw_by_weight(p, v):
    """Choose one of the labels of the greatest weight around v."""
    return draw_one(p, v, weigh(p, v))


def adopt(p, v):
    """Take the chosen label; 1, to be counted."""
    p.label[v] = p.next[v]
    return 1


def first_half(p, v):
    """Whether v is in the half of the vertices that chooses first; hashing mixes the halves well."""
    return fr.hash(v) & 1 == 0


def second_half(p, v):
    """Whether v is in the other half."""
    return fr.hash(v) & 1 == 1


def changed_at_all(p):
    """Return how many labels a whole round has changed."""
    return p.changed + p.changed_first


def stable(p):
    """Whether the last round has changed nothing, so that the next ones would not either."""
    return p.changed == 0


def unmoved(p):
    """Whether no vertex has changed its label in this round."""
    return p.moves == 0


def mark(p, v):
    """Mark a label that is in use."""
    p.used[p.label[v]] = 1


def in_use(p, v):
    """1 for a label that is in use."""
    return p.used[v]


def _synchronous(choose: Step) -> Step:
    return fr.Loop(
        choose,
        fr.Reduce(settle, "sum", into="changed", over="vertices"),
        fr.Swap("label", "next"),
        times="limit",
        until=stable,
        count="iterations",
    )


def _alternating(choose: Step) -> Step:
    return fr.Loop(
        fr.Sequence(
            fr.Filter(first_half),
            choose,
            fr.Reduce(settle, "sum", into="changed_first"),
            fr.Compute(adopt),
            over="vertices",
        ),
        fr.Sequence(
            fr.Filter(second_half),
            choose,
            fr.Reduce(settle, "sum", into="changed"),
            fr.Compute(adopt),
            over="vertices",
        ),
        fr.Set(changed=changed_at_all),
        times="limit",
        until=stable,
        count="iterations",
    )


def _asynchronous(choose: Callable[..., Any]) -> Step:
    return fr.Loop(
        fr.Set(moves=0, turn=0),
        fr.Loop(
            fr.Sequence(
                fr.Filter(due),
                fr.Filter(choose),
                fr.Reduce(adopt, "sum", into="moved"),
                fr.Advance(wake, output=None),
                over="vertices",
            ),
            fr.Set(moves=moves),
            times="classes",
            count="turn",
        ),
        times="limit",
        until=unmoved,
        count="round",
    )


class Synchronous(fr.Enactor):
    """All vertices choose at the same time, at most ``limit`` times."""

    loop = _synchronous(fr.Gather(of_neighbour, "mode", into="next", edges="out", over="vertices"))


class Alternating(fr.Enactor):
    """In every round one half of the vertices chooses, then the other half."""

    loop = _alternating(fr.Gather(of_neighbour, "mode", into="next", edges="out"))


class SynchronousByWeight(fr.Enactor):
    """As :class:`Synchronous`, by the weights of edges."""

    loop = _synchronous(fr.Compute(heaviest, over="vertices"))


class AlternatingByWeight(fr.Enactor):
    """As :class:`Alternating`, by the weights of edges."""

    loop = _alternating(fr.Compute(heaviest))


class Asynchronous(fr.Enactor):
    """In every round one class of the vertices chooses after the other."""

    loop = _asynchronous(draw)


class AsynchronousByWeight(fr.Enactor):
    """As :class:`Asynchronous`, by the weights of edges."""

    loop = _asynchronous(draw_by_weight)


class Count(fr.Enactor):
    """Count the labels in use: by itself, since it uses labels as ids, and rounds may run with vertices by degree."""

    loop = (fr.Compute(mark, over="vertices"), fr.Reduce(in_use, "sum", into="count", over="vertices"))


@dataclass(frozen=True, eq=False, repr=False)
class LabelPropagationResult(fr.Result, columns=("label",), ids=("label",)):
    """Result of :func:`label_propagation`.

    Attributes
    ----------
    label : ndarray, shape (n,)
        The id of the vertex whose label has reached v; equal in a community.
    count : int
        Number of communities.
    iterations : int
        Number of rounds.
    converged : bool
        Whether the last round has changed no label.
    """

    label: NDArray[Any]
    count: int
    iterations: int
    converged: bool

    @property
    def communities(self) -> list[list[Any]]:
        """The vertices of each community, by their names, the largest first."""
        return self.groups_by("label")


#: The program of each method, and the names of the scalars with the number of rounds, and of changes in the last one.
_ROUNDS = {
    ("synchronous", False): (Synchronous, "iterations", "changed"),
    ("synchronous", True): (SynchronousByWeight, "iterations", "changed"),
    ("alternating", False): (Alternating, "iterations", "changed"),
    ("alternating", True): (AlternatingByWeight, "iterations", "changed"),
    ("asynchronous", False): (Asynchronous, "round", "moves"),
    ("asynchronous", True): (AsynchronousByWeight, "round", "moves"),
}


def _plan(g: fr.Graph) -> Plan:
    # Of a directed graph: a copy with twice the edges.
    copied = 0 if g.symmetric else 4 * g.num_slots * g.id_dtype.itemsize + g.offsets.nbytes
    return Plan(_fields(g), [Synchronous, Count], beside=copied)


def _facts(g: fr.Graph, result: LabelPropagationResult) -> dict[str, Any]:
    sizes = np.bincount(to_host(result.label))
    return {
        "communities": result.count,
        "largest": int(sizes.max()) if len(sizes) else 0,
        "iterations": result.iterations,
        "converged": result.converged,
        "slots": g.num_slots * result.iterations,
    }


@primitive(
    "label_propagation", "communities by label propagation (CDLP)",
    arguments=(
        Argument("--max-iterations", "number of rounds (default: 10)", type=int),
        Argument("--method", "who chooses at a time (default: synchronous, all)", type=str, choices=METHODS),
        Argument("--weighted", "count edges by their weights (default: no)", type=bool),
    ),
    report=_facts, memory=_plan,
)  # fmt: skip
def label_propagation(
    g: fr.Graph,
    *,
    max_iterations: int = 10,
    method: str = "synchronous",
    weighted: bool = False,
    seed: int = 0,
    schedule: fr.Schedule | None = None,
) -> LabelPropagationResult:
    """Communities by label propagation.

    Parameters
    ----------
    g : Graph
        Edges of a directed graph are followed both ways, and an edge and its reverse count as two. So do parallel
        edges.
    max_iterations : int
        Number of rounds; fewer, if a round changes nothing.
    method : {"synchronous", "alternating", "asynchronous"}
        ``synchronous`` is CDLP of LDBC Graphalytics: all vertices choose at the same time. In parts of a graph that are
        bipartite, such as stars, labels may then swap sides for ever. With ``alternating``, half of the vertices
        choose first, then the others, which converges more often. With ``asynchronous``, there are up to 64 such
        classes, and vertices keep their label or draw one of several that are equally frequent. That usually
        converges in few rounds, of which the later ones cost little, to more and smaller communities.
    weighted : bool
        Whether edges count with their weights, which must not be negative, instead of 1: a vertex takes the label with
        the greatest sum. Floats are rounded to multiples of a power of two, of at most 2**-60 of their sum, so that
        sums do not depend on an order.
    seed : int
        Decides in the asynchronous method which vertices choose at the same time, and what they draw.
    schedule : Schedule, optional

    Returns
    -------
    LabelPropagationResult
        The same on every backend.

    Raises
    ------
    GraphError
        If an argument is invalid, ``weighted`` without weights, or weights are infinite or integers with a sum of 2**62
        or more.
    NegativeWeightError
        ``weighted`` with a negative weight.

    Notes
    -----
    O(n + m) expected work in each round. A directed graph is copied with edges in both directions, for which each
    process needs all of a graph in parts, as also for ``method="asynchronous"`` and for weights.

    Examples
    --------
    >>> fr.label_propagation(fr.karate(), method="asynchronous", seed=1).count
    4
    """
    if method not in METHODS:
        raise GraphError(f"method={method!r}: choose from {', '.join(METHODS)}")
    check_number("seed", seed, lambda x: abs(x) < 2**62 and x == int(x), "a whole number of 62 bits")
    check_number("max_iterations", max_iterations, lambda x: 0 <= x < 2**62 and x == int(x), "a whole number from 0")
    if weighted:
        check_weighted(g)
        check_weights(g, "label propagation", scaled=True)
    if method == "asynchronous" or weighted:
        g, schedule = in_one_piece(g, schedule)
    h = both_ways(in_integers(g), weighted=True) if weighted else both_ways(g)
    program, rounds, changes = _ROUNDS[method, weighted]
    more = _tables(h, weighted) if method == "asynchronous" or weighted else {}
    if method == "asynchronous":
        more |= _classes(h, seed)
    p = fr.Problem(h, **_fields(h, int(max_iterations)), **more)
    p.label = h.placement.memory.xp.arange(g.num_vertices, dtype=h.id_dtype)
    if g.num_vertices:
        program(p, schedule).run()
        Count(p, schedule).run()
    iterations, changed = int(getattr(p, rounds)), int(getattr(p, changes))
    converged = (changed == 0 and iterations > 0) or not g.num_vertices
    return LabelPropagationResult(p.label, int(p.count), iterations, converged)


def both_ways(g: fr.Graph, weighted: bool = False) -> fr.Graph:
    """Return a directed graph with the reverse of every edge added, perhaps weighted; an undirected graph as it is."""
    if g.symmetric:
        return g
    here = at_hand(g)
    xp = here.placement.memory.xp
    src = xp.concatenate([here.sources, here.targets])
    dst = xp.concatenate([here.targets, here.sources])
    weights = xp.concatenate([here.weights, here.weights]) if weighted else None
    made = fr.from_edges(src, dst, weights, num_vertices=g.num_vertices, directed=True, duplicates="keep")
    return made.to(g.placement)


def _fields(g: fr.Graph, limit: int = 10) -> dict[str, Field]:
    ids = g.id_dtype
    return {
        "label": fr.vertex(ids),
        "next": fr.vertex(ids),
        "used": fr.vertex("int8"),
        "changed": fr.scalar("int64"),
        "changed_first": fr.scalar("int64"),
        "count": fr.scalar("int64"),
        "iterations": fr.scalar("int64"),
        "limit": fr.scalar("int64", limit),
    }


def _tables(g: fr.Graph, weighted: bool) -> dict[str, Field]:
    """Return the fields of tables of labels: what a slot is taken by, and the sum of the weights."""
    return {"key": fr.edge(g.id_dtype), "times": fr.edge("int64" if weighted else g.id_dtype)}


def _classes(g: fr.Graph, seed: int) -> dict[str, Field]:
    """Return the fields of the asynchronous method, in addition."""
    return {
        "awake": fr.vertex("int8", 1),
        "seed": fr.scalar("int64", seed),
        "round": fr.scalar("int64"),
        "turn": fr.scalar("int64"),
        "classes": fr.scalar("int64", classes(g.num_vertices)),
        "moved": fr.scalar("int64"),
        "moves": fr.scalar("int64"),
    }
