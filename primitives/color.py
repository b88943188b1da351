"""Colouring of the vertices: neighbours have different colours, and few colours are used.

A greedy algorithm visits the vertices in some order and gives each the least colour that none of its neighbours has.
In parallel, a vertex waits for its neighbours that come before it in that order, and no longer (Jones, Plassmann: A
parallel graph coloring heuristic, SIAM Journal on Scientific Computing 14, 1993). The order is by descending degree,
which needs few colours, and random among equal degrees (Welsh, Powell, 1967; Hasenplaug, Kaler, Schardl, Leiserson:
Ordering heuristics for parallel graph coloring, SPAA 2014).

A gather collects the colours around a vertex as bits of one number, 62 colours at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import frontier as fr
from frontier.primitives._oriented import simple
from frontier.primitives._ranked import before, draw
from frontier.program.taking import at_graph
from frontier.registry import PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.schedule import Schedule

__all__ = ["ColorResult", "Coloring", "color"]

#: Colours that are looked at together: as many bits as a number has, without its sign.
WINDOW = 62


def rank(p, v):
    """Rank vertices by descending degree, and at random among equal degrees."""
    p.rank[v] = draw(p, v) - fr.degree(p, v) * 2**31


def earlier(p, src, dst):
    """1 for a neighbour that is coloured before dst."""
    return 1 if src != dst and before(p, src, dst) else 0


def waits(p, v):
    """V must wait for a neighbour; the others are ready."""
    return p.waits[v] > 0


def bit(p, src, dst):
    """The bit of a neighbour's colour, if that lies in the window that dst looks at."""
    place = p.color[src] - p.base[dst]
    return 1 << place if p.color[src] >= 0 and 0 <= place < WINDOW and src != dst else 0


def paint(p, v):
    """Give v the least colour that is free in its window; false if none is, and v looks at the next one."""
    place = 0
    while place < WINDOW and p.around[v] >> place & 1:
        place += 1
    if place == WINDOW:
        p.base[v] += WINDOW
        return False
    p.color[v] = p.base[v] + place
    return True


def release(p, src, dst):
    """A neighbour that comes later waits for one less."""
    if src == dst or not before(p, src, dst):
        return False
    fr.atomic_add(p.waits, dst, -1)
    return True


def highest(p, v):
    """The number of colours up to that of v."""
    return p.color[v] + 1


class Coloring(fr.Enactor):
    """The pile ``ready`` holds the vertices that can be coloured now."""

    loop = (
        fr.Compute(rank, over="vertices"),
        fr.Gather(earlier, "sum", into="waits", over="vertices"),
        fr.Sequence(fr.Split(waits, rest="ready"), over="vertices"),
        fr.Loop(
            fr.Gather(bit, "or", into="around"),
            fr.Split(paint, rest="ready"),
            fr.Advance(release),
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
    O(n + m) work, if no vertex needs more than 62 colours, and otherwise for each further 62 the edges of those
    vertices once more. The number of passes is the length of the longest path along which ranks rise, plus one for each
    62 colours of a vertex on it.
    """
    plain = simple(g) if g.directed else g
    p = fr.Problem(
        plain,
        color=fr.vertex(g.id_dtype, -1),
        rank=fr.vertex("int64"),
        waits=fr.vertex("int64", combine="sum"),
        around=fr.vertex("int64"),
        base=fr.vertex("int64"),
        seed=fr.scalar("int64", seed),
        rounds=fr.scalar("int64"),
        count=fr.scalar("int64"),
        ready=fr.pile(),
    )
    if g.num_vertices:
        Coloring(p, schedule).run()
    return ColorResult(p.color, int(p.count))


def _facts(g: Graph, result: ColorResult) -> dict[str, Any]:
    return {"colours": result.count}


register_primitive(PrimitiveEntry("color", color, "a colouring of the vertices", columns=("color",), report=_facts))
