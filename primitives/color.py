"""Colouring of the vertices: neighbours have different colours, and few colours are used.

A greedy algorithm visits the vertices in some order and gives each the least colour that none of its neighbours has.
In parallel, a vertex waits for its neighbours that come before it in that order, and no longer (Jones, Plassmann: A
parallel graph coloring heuristic, SIAM Journal on Scientific Computing 14, 1993). The order is by descending degree,
which needs few colours, and random among equal degrees (Welsh, Powell, 1967; Hasenplaug, Kaler, Schardl, Leiserson:
Ordering heuristics for parallel graph coloring, SPAA 2014).

A vertex that has got its colour tells those that wait for it: it sets the colour's bit in a row of bits of each, and
lowers the number of neighbours that this one waits for. So an edge is walked once. A row has a bit for each colour that
the vertex may get, and these are no more than its edges and one. That is the program for GPUs, on which a pass with a
hub, whose whole list is read to look for colours, would wait for it. Elsewhere a gather collects the colours around a
vertex as bits of one number, 62 colours at a time, which takes fewer atomics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.primitives._arguments import check_seed
from frontier.primitives._oriented import simple
from frontier.primitives._ranked import before, draw
from frontier.program.taking import at_graph
from frontier.registry import PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.problem import Field
    from frontier.program.schedule import Schedule

__all__ = ["ColorResult", "Coloring", "color"]

#: Colours that are looked at together: as many bits as a number has, without its sign.
WINDOW = 62
FULL = 2**WINDOW - 1


def rank(p, v):
    """Rank vertices by descending degree, and at random among equal degrees."""
    p.rank[v] = draw(p, v) - fr.degree(p, v) * 2**31


def earlier(p, src, dst):
    """1 for a neighbour that is coloured before dst."""
    return 1 if src != dst and before(p, src, dst) else 0


def least_free(bits):
    """The place of the lowest bit that is 0."""
    place = 0
    while bits >> place & 1:
        place += 1
    return place


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
    """Take the colour from a neighbour that comes later; true for the last one that it waits for."""
    if src == dst or not before(p, src, dst):
        return False
    if p.color[src] < -(p.rank[dst] >> 31):  # its degree; it has no need of other colours
        word, its_bit = p.row[dst] + p.color[src] // WINDOW, 1 << p.color[src] % WINDOW
        if p.taken[word] & its_bit == 0:
            fr.atomic_or(p.taken, word, its_bit)
    return fr.atomic_add(p.waits, dst, -1) == 1


def highest(p, v):
    """The number of colours up to that of v."""
    return p.color[v] + 1


class Coloring(fr.Enactor):
    """The frontier contains the vertices that need not wait any more."""

    loop = (
        fr.Compute(rank, over="vertices"),
        fr.Gather(earlier, "sum", into="waits", over="vertices"),
        fr.Loop(fr.Filter(paint), fr.Advance(release, unique="claimed"), over="vertices", count="rounds"),
        fr.Reduce(highest, "max", into="count", over="vertices"),
    )


def waits(p, v):
    """V must wait for a neighbour; the others are ready."""
    return p.waits[v] > 0


def bit(p, src, dst):
    """The bit of a neighbour's colour, if that lies in the window that dst looks at."""
    place = p.color[src] - p.base[dst]
    return 1 << place if p.color[src] >= 0 and 0 <= place < WINDOW and src != dst else 0


def paint_gathered(p, v):
    """Give v the least colour that is free in its window; false if none is, and v looks at the next one."""
    if p.around[v] == FULL:
        p.base[v] += WINDOW
        return False
    p.color[v] = p.base[v] + least_free(p.around[v])
    return True


def release_any(p, src, dst):
    """A neighbour that comes later waits for one less."""
    if src == dst or not before(p, src, dst):
        return False
    fr.atomic_add(p.waits, dst, -1)
    return True


class ColoringGathered(fr.Enactor):
    """The same with gathers; the pile ``ready`` holds the vertices that can be coloured now."""

    loop = (
        fr.Compute(rank, over="vertices"),
        fr.Gather(earlier, "sum", into="waits", over="vertices"),
        fr.Sequence(fr.Split(waits, rest="ready"), over="vertices"),
        fr.Loop(
            fr.Gather(bit, "or", into="around"),
            fr.Split(paint_gathered, rest="ready"),
            fr.Advance(release_any),
            fr.Split(waits, rest="ready"),
            take="ready",
            count="rounds",
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
    xp, n = g.placement.memory.xp, g.num_vertices
    row = g.offsets[:-1] // WINDOW + xp.arange(n, dtype=g.offsets.dtype)
    return {"row": fr.vertex(row.dtype, row), "taken": fr.array(xp.zeros(g.num_slots // WINDOW + n, np.int64))}


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
        rank=fr.vertex("int64"),
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
