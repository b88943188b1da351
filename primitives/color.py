"""Colouring of the vertices: neighbours have different colours, and few colours are used.

A greedy algorithm visits the vertices in some order and gives each the least colour that none of its neighbours has.
In parallel, a vertex waits for its neighbours that come before it in that order, and no longer (Jones, Plassmann: A
parallel graph coloring heuristic, SIAM Journal on Scientific Computing 14, 1993). The order is by descending degree,
which needs few colours, and random among equal degrees (Welsh, Powell, 1967; Hasenplaug, Kaler, Schardl, Leiserson:
Ordering heuristics for parallel graph coloring, SPAA 2014).

A vertex that has got its colour tells later neighbours: it sets the colour's bit in a row of bits of each, and lowers
the number of neighbours that this one waits for. So an edge is walked once. A row has a bit for each colour that the
vertex may get, and these are no more than its edges and one.

The neighbours of a graph's hubs are hubs, and thousands of these would wait for one another in a chain. On a GPU
vertices of high degree are therefore coloured in classes, from each power of two of the degree to the next. All of a
class get a colour at once, the least that no earlier class has taken. Then each that shares it with an earlier
neighbour of the class takes the least that is free of those that they have now, again and again until none changes.
Every vertex then has the colour that the greedy algorithm gives it, for the first vertex of the class has, and so has
each whose earlier neighbours have; and there are about as many rounds as colours, over the few edges within the class.
Prefixes of an order that are processed together are in Blelloch, Fineman, Shun: Greedy sequential maximal independent
set and matching are parallel on average, SPAA 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.primitives._arguments import check_seed
from frontier.primitives._coloring_gathered import ColoringGathered
from frontier.primitives._greedy import CLASS, FULL, WINDOW, highest, least_free, rank
from frontier.primitives._oriented import simple
from frontier.primitives._ranked import before
from frontier.program.taking import at_graph
from frontier.registry import PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.problem import Field
    from frontier.program.schedule import Schedule

__all__ = ["ColorResult", "Coloring", "color"]

#: The least degree of vertices that are coloured in classes, if it is also twice the mean degree.
HUB = 64

def bound_before(p):
    """The ranks of a part begin where those of the part before have ended."""
    return p.bound


def next_bound(p):
    """The ranks of a part end after a quarter of its class, a half, or all of it."""
    return (30 - p.bits + (p.turn - 1) // 3) * CLASS + (CLASS >> 2 - (p.turn - 1) % 3)


def others(p, v):
    """V is not of the part whose turn it is."""
    return p.rank[v] < p.first or p.rank[v] >= p.bound


def guess(p, v):
    """Give v the least colour that no vertex of a part before has told it."""
    word = p.row[v]
    while p.taken[word] == FULL:
        word += 1
    p.color[v] = (word - p.row[v]) * WINDOW + least_free(p.taken[word])
    p.waits[v] = 0


def inside(p, src, dst):
    """Keep the edges to later vertices of the part; count those at dst."""
    if src == dst or p.rank[dst] >= p.bound or not before(p, src, dst):
        return False
    fr.atomic_add(p.waits, dst, 1)
    return True


def limit(p, v):
    """Where the words end that v may need: for the colours in use, and one for each of its part that is before."""
    p.end[v] = min(p.row[v + 1], p.row[v] + (p.count + p.waits[v]) // WINDOW + 1)


def mention(p, src, dst):
    """Set the bit of a colour among those that vertices of the same part have now."""
    word = p.row[dst] + p.color[src] // WINDOW
    if word < p.end[dst]:
        fr.atomic_or(p.used, word, 1 << p.color[src] % WINDOW)


def renew(p, v):
    """Give v the least colour that is free now; 1 if it is another one. Four words are read at once."""
    row, end = p.row[v], p.end[v]
    color, word = np.int64(-1), row
    while color < 0:
        for ahead in (3, 2, 1, 0):
            at = min(word + ahead, end - 1)
            bits = p.taken[at] | p.used[at]
            if bits != FULL:
                color = (at - row) * WINDOW + least_free(bits)
        word += 4
    for at in range(row, end):
        p.used[at] = 0
    changed = color != p.color[v]
    p.color[v] = color
    return 1 if changed else 0


def settled(p):
    """No vertex has changed its colour."""
    return p.changed == 0


def most_so_far(p):
    """The number of colours of all classes so far."""
    return max(p.count, p.most)


def tell(p, src, dst):
    """Set the bit of a colour at a later vertex, if that may need so many colours."""
    word, its_bit = p.row[dst] + p.color[src] // WINDOW, 1 << p.color[src] % WINDOW
    if p.rank[dst] >= p.bound and word < p.row[dst + 1] and p.taken[word] & its_bit == 0:
        fr.atomic_or(p.taken, word, its_bit)


def few(p, v):
    """V belongs to no part."""
    return p.rank[v] >= p.bound


def later(p, src, dst):
    """1 for a neighbour that belongs to no part either, and is coloured before dst."""
    return 1 if src != dst and p.rank[src] >= p.bound and before(p, src, dst) else 0


def paint(p, v):
    """Give v the least colour that is free in its row of bits, unless it must wait for a neighbour."""
    if p.waits[v] > 0:
        return False
    word = p.row[v]
    while p.taken[word] == FULL:
        word += 1
    p.color[v] = (word - p.row[v]) * WINDOW + least_free(p.taken[word])
    return True


def release(p, src, dst):
    """Tell a neighbour that has no colour yet, so comes later; true for the last one that it waits for."""
    if p.color[dst] >= 0:
        return False
    word, its_bit = p.row[dst] + p.color[src] // WINDOW, 1 << p.color[src] % WINDOW
    if word < p.row[dst + 1] and p.taken[word] & its_bit == 0:
        fr.atomic_or(p.taken, word, its_bit)
    return fr.atomic_add(p.waits, dst, -1) == 1


class Coloring(fr.Enactor):
    """First the hubs, part by part; then the others, each of which waits for neighbours."""

    loop = (
        fr.Compute(rank, over="vertices"),
        fr.Loop(
            fr.Set(first=bound_before, bound=next_bound),
            fr.Sequence(fr.Split(others, rest="part"), over="vertices"),
            fr.Compute(guess, over="part"),
            fr.Sequence(
                fr.Advance(inside, output="edge"),
                fr.Compute(limit, over="part"),
                fr.Loop(
                    fr.Compute(mention),
                    fr.Reduce(renew, "sum", into="changed", over="part"),
                    until=settled,
                    count="rounds",
                ),
                over="part",
            ),
            fr.Reduce(highest, "max", into="most", over="part"),
            fr.Set(count=most_so_far),
            fr.Advance(tell, output=None, over="part"),
            fr.Take("part"),
            times="parts",
            count="turn",
        ),
        fr.Sequence(
            fr.Filter(few),
            fr.Gather(later, "sum", into="waits"),
            fr.Loop(fr.Filter(paint), fr.Advance(release, unique="claimed"), count="rounds"),
            over="vertices",
        ),
        fr.Reduce(highest, "max", into="count", over="vertices"),
    )


@dataclass(frozen=True)
class ColorResult:
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


def _tells(g: Graph) -> bool:
    """Whether vertices tell others their colours: parts of a graph cannot set bits of each other's vertices."""
    return g.placement.massively_parallel and not g.placement.divides


def _own_fields(g: Graph) -> dict[str, Field]:
    """Fields that only one of the two programs has."""
    if not _tells(g):
        return {"around": fr.vertex("int64"), "base": fr.vertex("int64"), "ready": fr.pile()}
    xp, n, most = g.placement.memory.xp, g.num_vertices, int(g.max_degree)
    row = g.offsets // WINDOW + xp.arange(n + 1, dtype=g.offsets.dtype)
    size = int(g.num_slots // WINDOW + n + 1)
    classes = max(most.bit_length() - max(HUB, 2 * g.num_slots // max(n, 1)).bit_length(), 0)
    return {
        "row": fr.array(row),
        "end": fr.vertex(row.dtype),
        "taken": fr.array(xp.zeros(size, np.int64)),
        "used": fr.array(xp.zeros(size if classes else 1, np.int64)),
        "part": fr.pile(),
        "parts": fr.scalar("int64", 3 * classes),
        "turn": fr.scalar("int64"),
        "bits": fr.scalar("int64", most.bit_length()),
        "first": fr.scalar("int64"),
        "bound": fr.scalar("int64"),
        "most": fr.scalar("int64"),
        "changed": fr.scalar("int64"),
    }


@at_graph
def color(g: Graph, *, seed: int = 0, schedule: Schedule | None = None) -> ColorResult:
    """Give every vertex a colour, such that neighbours have different ones and few are used.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, and self-loops are ignored. A directed graph is first copied without
        directions.
    seed : int
        Decides the order of vertices of equal degree; another one gives other colours, perhaps fewer.
    schedule : Schedule, optional

    Returns
    -------
    ColorResult
        It depends on the graph and the seed only. The number of colours is at most the highest degree plus one.

    Notes
    -----
    O(n + m) work. The number of passes is the length of the longest path along which ranks rise. Except on a GPU, a
    vertex that needs more than 62 colours walks its edges once more for each further 62, in a pass of its own.
    """
    check_seed(seed)
    plain = simple(g) if g.directed else g
    p = fr.Problem(
        plain,
        color=fr.vertex(g.id_dtype, -1),
        rank=fr.vertex("int32"),
        waits=fr.vertex(plain.offsets.dtype, combine="sum"),
        seed=fr.scalar("int64", seed),
        rounds=fr.scalar("int64"),
        count=fr.scalar("int64"),
        **_own_fields(plain),
    )
    if g.num_vertices:
        (Coloring if _tells(plain) else ColoringGathered)(p, schedule).run()
    return ColorResult(p.color, int(p.count))


def _facts(g: Graph, result: ColorResult) -> dict[str, Any]:
    return {"colours": result.count}


register_primitive(PrimitiveEntry("color", color, "a colouring of the vertices", columns=("color",), report=_facts))
