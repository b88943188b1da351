"""Subgraph matching: where a small pattern occurs in a graph, how often, and at which vertices.

Matches grow by one vertex of the pattern at a time, all partial matches of a batch in parallel, as in systems on GPUs
(Tran, Kim, He: Fast subgraph matching on large graphs using graphics processors, DASFAA 2015). A vertex is added from
the shortest list of the vertices that must be its neighbours, if the others are its neighbours, too (the worst-case
optimal join of Ngo, Porat, Re, Rudra: Worst-case optimal join algorithms, PODS 2012). A pattern with symmetries would
be found several times at the same place. This is avoided by conditions on the order of ids (Grochow, Kellis: Network
motif discovery using subgraph enumeration and symmetry-breaking, RECOMB 2007; ``primitives/_patterns.py`` makes them).
Vertices are numbered by descending degree, and the conditions ask for smaller numbers, so from hubs few candidates are
left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import FrontierError
from frontier.graph.graph import Graph
from frontier.memory.arrays import to_host
from frontier.primitives._oriented import at_hand, simple
from frontier.primitives._patterns import PATTERNS, Stage, kinds_of, pattern_of, plan
from frontier.registry import Argument, primitive

__all__ = ["CountMatches", "ExtendMatches", "Extensions", "SubgraphMatchResult", "subgraph_match"]

#: Partial matches that are extended at once.
BATCH = 1 << 22


def adjacent(p, a, b):
    """Search the shorter of two lists for the other vertex."""
    if fr.degree(p, a) > fr.degree(p, b):
        a, b = b, a
    low = fr.neighbours(p, a).start
    end = low + fr.degree(p, a)
    high = end
    while low < high:
        middle = (low + high) // 2
        if fr.target(p, middle) < b:
            low = middle + 1
        else:
            high = middle
    return low < end and fr.target(p, low) == b


def pivot(p, i):
    """Of the vertices of match i that the next one must have for neighbours, the one with the shortest list."""
    best = -1
    for j in range(p.width):
        if p.joined >> j & 1:
            x = p.rows[i * p.width + j]
            if best == -1 or fr.degree(p, x) < fr.degree(p, best):
                best = x
    return best


def limit(p, i):
    """The next vertex must have a smaller number than this."""
    least = p.n
    for j in range(p.width):
        if p.above >> j & 1:
            least = min(least, p.rows[i * p.width + j])
    return least


def fits(p, i, near, c):
    """Whether c, a neighbour of the vertex near, can be the next vertex of match i."""
    if fr.degree(p, c) < p.least_degree or (p.wanted >= 0 and p.kind[c] != p.wanted):
        return False
    for j in range(p.width):
        x = p.rows[i * p.width + j]
        if x == c or (p.joined >> j & 1 and x != near and not adjacent(p, x, c)):
            return False
    return True


def extensions(p, i):
    """Count the vertices that can be added to match i."""
    near = pivot(p, i)
    end = limit(p, i)
    found = 0
    for e in fr.neighbours(p, near):
        c = fr.target(p, e)
        if c >= end:
            break
        if fits(p, i, near, c):
            found += 1
    return found


def store(p, i):
    """The same, and keep the number."""
    p.count[i] = extensions(p, i)


def extend(p, i):
    """Write match i with each of these vertices, from the row start[i] on."""
    near = pivot(p, i)
    end = limit(p, i)
    at = p.start[i] * (p.width + 1)
    for e in fr.neighbours(p, near):
        c = fr.target(p, e)
        if c >= end:
            break
        if fits(p, i, near, c):
            for j in range(p.width):
                p.made[at + j] = p.rows[i * p.width + j]
            p.made[at + p.width] = c
            at += p.width + 1


class CountMatches(fr.Enactor):
    """Count the extensions of all matches, into the scalar ``total``."""

    loop = fr.Reduce(extensions, "sum", into="total", over="matches")


class Extensions(fr.Enactor):
    """Count the extensions of each match, into the array ``count``."""

    loop = fr.Compute(store, over="matches")


class ExtendMatches(fr.Enactor):
    """Write the extended matches into the array ``made``."""

    loop = fr.Compute(extend, over="matches")


@dataclass(frozen=True, eq=False, repr=False)
class SubgraphMatchResult(fr.Result, rows="other"):
    """Result of :func:`subgraph_match`.

    Attributes
    ----------
    count : int
        Number of subgraphs that match.
    matches : ndarray, shape (count, k), or None
        A row for each of them; entry j is the vertex in the place of vertex j of the pattern. Rows are in no particular
        order. None if not asked for.
    """

    count: int
    matches: NDArray[Any] | None = field(default=None, repr=False)

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each match, with a column for each vertex of the pattern: ``vertex_0`` and so on."""
        if self.matches is None:
            raise FrontierError("there are no matches, only their number: listed=True asks for them")
        return {f"vertex_{j}": (column, True) for j, column in enumerate(self.host_array("matches")[rows].T)}


@primitive(
    "subgraph_match", "number of triangles, 4-cliques, squares or paths",
    arguments=(Argument("--pattern", "what to count (default: triangle)", type=str, choices=tuple(PATTERNS)),),
    to_write={"listed": True}, report=lambda g, r: {"count": r.count},
)  # fmt: skip
def subgraph_match(
    g: Graph,
    pattern: str | Graph = "triangle",
    *,
    labels: Sequence[Any] | None = None,
    vertex_labels: Any = None,
    listed: bool = False,
    schedule: fr.Schedule | None = None,
) -> SubgraphMatchResult:
    """Count and list the subgraphs that look like a small pattern.

    A match is a subgraph of g: different vertices, and an edge for every edge of the pattern; there may be more edges
    between them. Each subgraph counts once, however many symmetries the pattern has.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, parallel edges count as one, and self-loops not at all.
    pattern : {"triangle", "4-clique", "square", "path"} or Graph
        A connected undirected graph of at most 8 vertices. ``"path"`` has as many vertices as there are labels, or 3.
    labels : sequence, optional
        The label that each vertex of the pattern requires; None for any. Symmetries that exchange vertices with
        different labels do not count as such.
    vertex_labels : str or array_like, shape (n,), optional
        The labels of the vertices of g, or the name of a vertex column that holds them.
    listed : bool
        Whether to return the matches, not only their number.
    schedule : Schedule, optional

    Returns
    -------
    SubgraphMatchResult

    Raises
    ------
    GraphError
        If the pattern is unknown, too large, directed, not connected or has self-loops, or labels do not fit.

    Notes
    -----
    The work is proportional to the number of partial matches and the lists that are searched for each; it may grow with
    the power k of the largest degree. Partial matches are extended in batches of a few million, so that their number is
    not limited by memory; with ``listed`` the result is.

    Examples
    --------
    >>> fr.subgraph_match(fr.complete(4), "triangle").count
    4
    """
    edges, k = pattern_of(pattern, labels)
    wanted, kinds = kinds_of(g, k, labels, vertex_labels)
    order, stages = plan(edges, k, wanted)
    plain = at_hand(simple(g))
    bare = Graph(plain.offsets, plain.targets, directed=False, placement=plain.placement, check=False)
    numbered = bare.reordered("degree")
    memory = g.placement.memory  # that of fields, and so of matches, wherever edges are
    old = memory.moved(numbered.vertices["original"])
    count, rows = _search(numbered.to(g.placement), stages, memory.moved(kinds)[old], listed, schedule)
    if rows is None:
        return SubgraphMatchResult(count)
    place = np.argsort(order)  # of each vertex of the pattern in the order in which they are matched
    return SubgraphMatchResult(count, old[rows][:, memory.moved(place)])


def _search(g: Graph, stages: list[Stage], kinds: Any, listed: bool, schedule: fr.Schedule | None) -> tuple[int, Any]:
    """Return the number of matches and, if they are listed, the matches in the order of the stages."""
    memory, k = g.placement.memory, len(stages)
    xp = memory.xp
    fits = memory.moved(at_hand(g).out_degree) >= stages[0].least_degree
    if stages[0].wanted >= 0:
        fits &= kinds == stages[0].wanted
    pending = [xp.flatnonzero(fits).astype(g.id_dtype).reshape(-1, 1)]
    none = memory.full(0, 0, np.int64)
    total, found = 0, [memory.full(0, 0, g.id_dtype).reshape(0, k)]
    while pending:
        rows = pending.pop()
        many, width = rows.shape
        if width == k or not many:
            total += many
            found += [rows] * (listed and width == k)
            continue
        stage = stages[width]
        if width == k - 1 and not listed:
            p = _problem(g, stage, rows, kinds, none, none, 0)
            CountMatches(p, schedule).run()
            total += int(p.total)
            continue
        p = _problem(g, stage, rows, kinds, memory.full(many, 0, np.int64), none, 0)
        Extensions(p, schedule).run()
        ends = xp.cumsum(p.count)
        size = int(ends[-1])
        cuts = [0, *to_host(xp.searchsorted(ends, xp.arange(BATCH, size, BATCH))).tolist(), many]
        for first, last in pairwise(cuts):
            if first < last:
                before = int(ends[first - 1]) if first else 0
                start = ends[first:last] - p.count[first:last] - before
                q = _problem(g, stage, rows[first:last], kinds, none, start, int(ends[last - 1]) - before)
                ExtendMatches(q, schedule).run()
                pending.append(q.made.reshape(-1, width + 1))
    return total, xp.concatenate(found) if listed else None


def _problem(g: Graph, stage: Stage, rows: Any, kinds: Any, count: Any, start: Any, size: int) -> fr.Problem:
    """Return the problem of extending some matches by one vertex."""
    memory = g.placement.memory
    return fr.Problem(
        g,
        rows=fr.array(rows.reshape(-1)),
        count=fr.array(count),
        start=fr.array(start),
        made=fr.array(memory.full(size * (rows.shape[1] + 1), 0, rows.dtype)),
        kind=fr.vertex("int32", kinds),
        width=fr.scalar("int64", rows.shape[1]),
        matches=fr.scalar("int64", len(rows)),
        n=fr.scalar("int64", g.num_vertices),
        total=fr.scalar("int64"),
        **{name: fr.scalar("int64", value) for name, value in stage._asdict().items()},
    )
