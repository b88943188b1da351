"""Transitive closure: which vertices each vertex reaches, as bits.

Vertices of a strongly connected component reach the same ones, so rows and columns are components: the graph is
condensed first, and what remains has no cycles (:mod:`frontier.primitives._closure_condensed`). Dense graphs of few
vertices are given to a method for matrices instead (:mod:`frontier.primitives._closure_matrix`). Nothing is unpacked:
questions are answered from the bits.
"""

from __future__ import annotations

from typing import Any

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives._closure_bits import counted
from frontier.primitives._closure_condensed import of_components, of_sources
from frontier.primitives._closure_matrix import of_vertices
from frontier.primitives._closure_result import ClosureResult
from frontier.primitives._oriented import at_hand, undivided
from frontier.primitives._searches import places
from frontier.registry import Argument, primitive

__all__ = ["ClosureResult", "transitive_closure"]

METHODS = ("auto", "condensation", "warshall", "squaring")

#: What condensing takes for each edge, in lookups of Warshall's method: 25 to 50 ns against 1.6 on a CPU, the less the
#: larger the components are. On a GPU both take less, and each level of a graph without cycles takes passes.
CONDENSING = 25


#: Vertices up to which a dense graph is squared. Its rows fit in a cache, and few squarings are needed: on a CPU 2.6 ms
#: of a random graph of 1,024 vertices, half of all edges, 7.3 by Warshall's method; without cycles 4.1 and 5.8, with
#: 2,048 vertices 24 and 23. On a GPU, n / 64 steps one after another take longer than some at once (3.6 and 1.5 ms).
SQUARED = 2048


def chosen(n: int, m: int) -> str:
    """The method of "auto" for a graph of n vertices and m edges, by the estimated work.

    Warshall's method looks up 8 words for each of 64 pivots, row and word of it. Condensing takes ``CONDENSING`` times
    that for each edge. The rows are made then, but of how many components is not known before, and on dense graphs,
    where the choice matters, that adds little: nearly all edges are skipped.
    """
    words = -(-n // 64)
    if 8 * n * words * words >= CONDENSING * m:
        return "condensation"
    return "squaring" if n <= SQUARED else "warshall"


def _facts(g: fr.Graph, result: ClosureResult) -> dict[str, Any]:
    return {"pairs": result.pairs, "method": result.method, "components": len(result.size), "bytes": result.rows.nbytes}


@primitive(
    "transitive_closure", "which vertices each vertex reaches",
    arguments=(Argument("--method", "how rows are made (default: auto)", type=str, choices=METHODS),),
    report=_facts,
)  # fmt: skip
def transitive_closure(
    g: fr.Graph,
    *,
    sources: Any = None,
    method: str = "auto",
    reflexive: bool | None = False,
    schedule: fr.Schedule | None = None,
) -> ClosureResult:
    """Which vertices each vertex reaches.

    Parameters
    ----------
    g : Graph
    sources : sequence of vertices (labels, if the graph has labels), Frontier or mask, optional
        Make only the rows of these: a closure that does not fit into memory can be made some rows at a time. By default
        all vertices. A vertex may occur more than once.
    method : {"auto", "condensation", "warshall", "squaring"}
        How rows are made: of components, in reverse topological order; or of vertices, by the method of Warshall with
        64 pivots at a time, or by squaring the matrix until nothing changes. "auto" is one of the latter where that
        takes less work than condensing the graph, as for dense graphs of some thousand vertices, and else
        condensation. With ``sources``, it is always condensation.
    reflexive : bool or None
        Whether a vertex reaches itself: if False, only if it is on a cycle (in an undirected graph, if it has an edge);
        if True, always; if None, only if it has a self-loop.
    schedule : Schedule, optional

    Returns
    -------
    ClosureResult

    Raises
    ------
    FrontierMemoryError
        If the bits do not fit into memory; the message says how many bytes are needed.
    GraphError
        For arguments out of range, if a source does not exist, or for ``sources`` with a method for matrices.

    Notes
    -----
    With c components, e edges between them and w = c / 64 words in a row: O(n + m + e w) work by condensation. The
    other two take O(n² w / 8), and O(n² w) for each squaring, at most log n of them. Memory: c²/8 bytes, or n²/8. With
    k sources: O(n + m + e k / 64) work, and k c / 8 bytes.
    Of a graph in parts, every process makes the whole closure, on its processors.

    Examples
    --------
    >>> g = fr.from_edges(["ann", "bob"], ["bob", "cid"], directed=True)
    >>> closure = fr.transitive_closure(g)
    >>> closure.pairs, closure.counts
    (3, array([2, 1, 0]))
    """
    if method not in METHODS:
        raise GraphError(f"method={method!r}: choose one of {', '.join(METHODS)}")
    if reflexive not in (True, False, None):
        raise GraphError(f"reflexive={reflexive!r}: choose True, False or None")
    if sources is not None and method not in ("auto", "condensation"):
        raise GraphError(f"method={method!r} makes all rows: leave it out with sources=")
    g = undivided(g)  # a row is made of others, whoever owns them
    memory, n = g.placement.memory, g.num_vertices
    xp = memory.xp
    vertices = xp.arange(n)
    if method == "auto":
        method = "condensation" if sources is not None else chosen(n, g.num_slots)
    if sources is not None:
        place, which = places(g, sources)
        given = (place >= 0).nonzero()[0][which]
        made = of_sources(g, given, schedule)
        vertices = memory.moved(given)
    elif method == "condensation":
        made = of_components(g, schedule)
    else:
        made = of_vertices(g, method, schedule)
    itself = xp.full(n, reflexive is True)
    if reflexive is False:
        itself = made.cyclic[made.component]
    elif reflexive is None and g.num_slots:
        here = at_hand(g)
        itself[memory.moved(here.sources[here.sources == here.targets])] = True
    own = made.component[vertices]
    row = own if made.place is None else made.place[own]
    counts = counted(g, made, schedule)[row] - xp.where(made.cyclic, 1, made.size)[own] + itself[vertices]
    pairs = int(counts.sum()) if len(counts) else 0
    return ClosureResult(
        made.component, made.rows, made.size, made.cyclic, counts, pairs, itself, vertices, made.place, method,
        g.placement,
    )
