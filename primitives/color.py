"""Colouring of the vertices: neighbours have different colours, and few colours are used.

A greedy algorithm visits the vertices in some order and gives each the least colour that none of its neighbours has.
In parallel, a vertex waits for its neighbours that come before it in that order, and no longer (Jones, Plassmann: A
parallel graph coloring heuristic, SIAM Journal on Scientific Computing 14, 1993). The order is by descending degree,
which needs few colours, and random among equal degrees (Welsh, Powell, 1967; Hasenplaug, Kaler, Schardl, Leiserson:
Ordering heuristics for parallel graph coloring, SPAA 2014).

A vertex that has got its colour tells later neighbours: it sets the colour's bit in a row of bits of each, and lowers
the number of neighbours that this one waits for. So an edge is walked once. A row has a bit for each colour that the
vertex may get, and these are no more than its edges and one.

Other orders are given as a rank of each vertex, and the same program, without the step that computes ranks, finds what
the greedy algorithm would: by descending degree (Welsh, Powell), or the reverse of the order in which peeling removes
vertices (smallest last: Matula, Beck, 1983).

The neighbours of a graph's hubs are hubs, and thousands of these would wait for one another in a chain. On a GPU they
are therefore coloured part by part, see :mod:`primitives._coloring_hubs`, before the others. Where no vertex has many
edges, :mod:`primitives._coloring_packed` and, for the fewest, :mod:`primitives._coloring_low` take less time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives._arguments import check_seed
from frontier.primitives._coloring_gathered import ColoringGathered, ColoringInOrder
from frontier.primitives._coloring_hubs import hubs
from frontier.primitives._coloring_low import ColoringOfLowDegrees, lowest_degrees
from frontier.primitives._coloring_packed import COLORS, ColoringPacked, low_degrees
from frontier.primitives._greedy import WINDOW, highest, least, note, rank
from frontier.primitives._oriented import simple
from frontier.primitives._ranked import before
from frontier.primitives.onion_layers import onion_layers
from frontier.registry import Argument, primitive

__all__ = ["ColorResult", "Coloring", "ColoringInOrder", "ColoringWithoutHubs", "color"]

STRATEGIES = ("largest_log_first", "largest_first", "smallest_last")

#: The least degree of vertices that are coloured in classes, if it is also twice the mean degree.
HUB = 64

def few(p, v):
    """V belongs to no part."""
    return p.rank[v] >= p.bound


def later(p, src, dst):
    """1 for a neighbour that belongs to no part either, and is coloured before dst."""
    return 1 if src != dst and p.rank[src] >= p.bound and before(p, src, dst) else 0


def paint(p, v):
    """Give v the least colour that is free, unless it must wait for a neighbour."""
    if p.waits[v] > 0:
        return False
    p.color[v] = least(p, v)
    return True


def release(p, src, dst):
    """Tell a neighbour that has no colour yet, so comes later; true for the last one that it waits for."""
    if p.color[dst] >= 0:
        return False
    note(p, src, dst)
    return fr.atomic_add(p.waits, dst, -1) == 1


#: Colour those that belong to no part.
_OTHERS = (
    fr.Sequence(
        fr.Filter(few),
        fr.Gather(later, "sum", into="waits"),
        fr.Loop(fr.Filter(paint), fr.Advance(release, unique="claimed"), count="rounds"),
        over="vertices",
    ),
    fr.Reduce(highest, "max", into="count", over="vertices"),
)


class Coloring(fr.Enactor):
    """First the hubs, part by part; then the others, each of which waits for neighbours."""

    loop = (fr.Compute(rank, over="vertices"), hubs, *_OTHERS)


class ColoringWithoutHubs(fr.Enactor):
    """The same where there are no hubs; it needs no frontiers of edges."""

    loop = (fr.Compute(rank, over="vertices"), *_OTHERS)


@dataclass(frozen=True, eq=False, repr=False)
class ColorResult(fr.Result, columns=("color",)):
    """Result of :func:`color`.

    Attributes
    ----------
    color : ndarray, shape (n,)
        The colour of v, from 0, in the dtype of vertex ids.
    count : int
        Number of colours.
    """

    color: NDArray[Any]
    count: int


def _tells(g: fr.Graph) -> bool:
    """Whether vertices tell others their colours: parts of a graph cannot set bits of each other's vertices."""
    return g.placement.massively_parallel and not g.placement.divides


def _program(g: fr.Graph) -> type[fr.Enactor]:
    """Return the fastest program for a graph; ColoringPacked may need more colours than it has."""
    if not _tells(g):
        return ColoringGathered
    if lowest_degrees(g):
        return ColoringOfLowDegrees
    if low_degrees(g):
        return ColoringPacked
    return Coloring if _classes(g) > 0 else ColoringWithoutHubs


def _classes(g: fr.Graph) -> int:
    """Return the number of classes of hubs, whose degrees have as many bits."""
    return int(g.max_degree).bit_length() - max(HUB, 2 * g.num_slots // max(g.num_vertices, 1)).bit_length()


def _fields(g: fr.Graph, program: type[fr.Enactor]) -> dict[str, Any]:
    """Fields that only some of the programs have."""
    if program is ColoringOfLowDegrees:
        return {"state": fr.vertex("int8"), "seen": fr.vertex("int8"), "taken": fr.vertex("int64")}
    ranks = {"rank": fr.vertex("int16")}
    if program is ColoringPacked:
        return ranks | {"state": fr.vertex("int32", combine="sum")}
    waiting = ranks | {"waits": fr.vertex(g.offsets.dtype, combine="sum")}
    if program is ColoringGathered:
        return waiting | {"around": fr.vertex("int64"), "base": fr.vertex("int64"), "ready": fr.pile()}
    xp, n = g.placement.memory.xp, g.num_vertices
    row = g.offsets // WINDOW + xp.arange(n + 1, dtype=g.offsets.dtype)
    words = xp.zeros(g.num_slots // WINDOW + n + 1, np.int64)
    made = waiting | {"row": fr.array(row), "taken": fr.array(words), "bound": fr.scalar("int64")}
    if program is Coloring:
        made |= {"part": fr.pile(), "used": fr.array(words), "end": fr.vertex(row.dtype)}
        made |= {name: fr.scalar("int64") for name in ("turn", "first", "most", "changed")}
        made |= {"parts": fr.scalar("int64", 3 * _classes(g))}
        made |= {"bits": fr.scalar("int64", int(g.max_degree).bit_length())}
    return made


def _colored(g: fr.Graph, program: type[fr.Enactor], seed: int, schedule: fr.Schedule | None) -> ColorResult:
    """Return what one of the programs finds."""
    p = fr.Problem(
        g,
        color=fr.vertex(g.id_dtype, -1),
        seed=fr.scalar("int64", seed),
        rounds=fr.scalar("int64"),
        count=fr.scalar("int64"),
        **_fields(g, program),
    )
    if g.num_vertices:
        program(p, schedule).run()
    return ColorResult(p.color, int(p.count))


def _in_order(g: fr.Graph, rank: Any, schedule: fr.Schedule | None) -> ColorResult:
    """Return what the greedy algorithm finds that visits vertices by rank, ties by id."""
    p = fr.Problem(
        g,
        color=fr.vertex(g.id_dtype, -1),
        rank=fr.vertex("int64", rank),
        waits=fr.vertex(g.offsets.dtype, combine="sum"),
        around=fr.vertex("int64"),
        base=fr.vertex("int64"),
        ready=fr.pile(),
        rounds=fr.scalar("int64"),
        count=fr.scalar("int64"),
    )
    if g.num_vertices:
        ColoringInOrder(p, schedule).run()
    return ColorResult(p.color, int(p.count))


def _ranks(g: fr.Graph, strategy: str, schedule: fr.Schedule | None) -> Any:
    """Return the rank of each vertex of a simple graph by a strategy; lower ones are coloured first."""
    if strategy == "largest_first":
        return -g.out_degree.astype(np.int64)
    return -onion_layers(g, schedule=schedule).layer.astype(np.int64)


def _given_order(g: fr.Graph, order: Any) -> Any:
    """Return an order that a user gives, one number for each vertex, where the graph is."""
    ranks = np.asarray(order) if isinstance(order, (list, tuple, range)) else order
    if getattr(ranks, "shape", None) != (g.num_vertices,) or (g.num_vertices and ranks.dtype.kind not in "iub"):
        raise GraphError(f"order must have an integer for each of the {g.num_vertices} vertices")
    return g.placement.memory.moved(ranks.astype(np.int64))


@primitive(
    "color", "a colouring of the vertices",
    arguments=(
        Argument(
            "--strategy", "who is coloured first (default: largest_log_first)", type=str, choices=STRATEGIES
        ),
    ),
    report=lambda g, r: {"colours": r.count},
)  # fmt: skip
def color(
    g: fr.Graph,
    *,
    strategy: str = "largest_log_first",
    order: Any = None,
    seed: int = 0,
    schedule: fr.Schedule | None = None,
) -> ColorResult:
    """Give every vertex a colour, such that neighbours have different ones and few are used.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, and self-loops are ignored. A directed graph is first copied without
        directions.
    strategy : {"largest_log_first", "largest_first", "smallest_last"}
        In which order vertices take the least colour that is free. ``largest_log_first``: by descending number of bits
        of their degree, and at random among these, which is the fastest. ``largest_first``: by descending degree, ties
        by id; these are the colours of NetworkX. ``smallest_last``: by descending onion layer, ties by id, which needs
        at most one colour more than the degeneracy; NetworkX has the same bound, and breaks ties in another way.
    order : array_like of int, shape (n,), optional
        An order of your own in place of the strategy: vertices of lower numbers come first, ties by id.
    seed : int
        Decides the order of vertices whose degrees have as many bits; another one gives other colours, perhaps fewer.
        The other strategies do not use it.
    schedule : Schedule, optional

    Returns
    -------
    ColorResult
        It depends on the graph, the order and the seed only. The number of colours is at most the highest degree plus
        one.

    Raises
    ------
    GraphError
        If there is no such strategy, or not one integer of an order for each vertex.

    Notes
    -----
    O(n + m) work. The number of passes is that of the longest path along which ranks rise, on a GPU among vertices
    that are no hubs; for these it needs 8 bytes for each edge slot. Elsewhere, a vertex that needs more than 62 colours
    walks its edges once more for each further 62, in a pass of its own.

    Examples
    --------
    >>> result = fr.color(fr.star(5))
    >>> result.count, result.color
    (2, array([0, 1, 1, 1, 1], dtype=int32))
    """
    check_seed(seed)
    if strategy not in STRATEGIES:
        raise GraphError(f"strategy={strategy!r}: choose from {', '.join(STRATEGIES)}")
    if order is not None:
        return _in_order(simple(g) if g.directed else g, _given_order(g, order), schedule)
    if strategy != STRATEGIES[0]:
        plain = simple(g)
        return _in_order(plain, _ranks(plain, strategy, schedule), schedule)
    plain = simple(g) if g.directed else g
    program = _program(plain)
    found = _colored(plain, program, seed, schedule)
    if program is ColoringPacked and found.count > COLORS:
        found = _colored(plain, ColoringWithoutHubs, seed, schedule)
    return found
