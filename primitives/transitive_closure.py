"""Transitive closure: which vertices each vertex reaches, as bits.

Vertices of a strongly connected component reach the same ones, so rows and columns are components: the graph is
condensed first, and what remains has no cycles. Its rows are made from the last to the first, or by one of the methods
for dense matrices; see :mod:`frontier.primitives._closure`. Nothing is unpacked: questions are answered from the bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.subgraphs import groups
from frontier.memory.arrays import to_host
from frontier.primitives._closure import ByCondensation, BySquaring, ByWarshall, Count
from frontier.primitives._closure_result import ClosureResult
from frontier.primitives._oriented import at_hand
from frontier.primitives.scc import strongly_connected_components
from frontier.primitives.topological_order import topological_order
from frontier.program.taking import at_graph
from frontier.registry import Argument, PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.memory.base import Memory
    from frontier.program.problem import Field
    from frontier.program.schedule import Schedule

__all__ = ["ClosureResult", "transitive_closure"]

METHODS = ("auto", "condensation", "warshall", "squaring")


@at_graph
def transitive_closure(
    g: Graph, *, method: str = "auto", reflexive: bool | None = False, schedule: Schedule | None = None
) -> ClosureResult:
    """Which vertices each vertex reaches.

    Parameters
    ----------
    g : Graph
    method : {"auto", "condensation", "warshall", "squaring"}
        How rows are made: of components, in reverse topological order ("auto" is that); or of vertices, by the method
        of Warshall with 64 pivots at a time, or by squaring the matrix until nothing changes.
    reflexive : bool or None
        Whether a vertex reaches itself: if False, only if it is on a cycle; if True, always; if None, only if it has a
        self-loop.
    schedule : Schedule, optional

    Returns
    -------
    ClosureResult

    Raises
    ------
    FrontierMemoryError
        If the bits do not fit into memory; the message says how many bytes are needed.
    GraphError
        For arguments out of range.

    Notes
    -----
    With c components, e edges between them and w = c / 64 words in a row: O(n + m + e w) work by condensation. The
    other two take O(n² w / 8), and O(n² w) for each squaring, at most log n of them. Memory: c²/8 bytes, or n²/8.
    Of a graph in parts, every process makes the whole closure, on its processors.
    """
    if method not in METHODS:
        raise GraphError(f"method={method!r}: choose one of {', '.join(METHODS)}")
    if reflexive not in (True, False, None):
        raise GraphError(f"reflexive={reflexive!r}: choose True, False or None")
    if g.placement.divides:  # a row is made of others, whoever owns them
        g = g.to("cpu")
    memory, n = g.placement.memory, g.num_vertices
    xp = memory.xp
    if method in ("auto", "condensation"):
        component, rows, total, size, cyclic = _by_condensation(g, memory, schedule)
    else:
        component, rows, total, size, cyclic = _by_matrix(g, memory, method, schedule)
    itself = xp.full(n, reflexive is True)
    if reflexive is False:
        itself = cyclic[component]
    elif reflexive is None and g.num_slots:
        here = at_hand(g)
        itself[memory.moved(here.sources[here.sources == here.targets])] = True
    counts = (total - xp.where(cyclic, 1, size))[component] + itself
    return ClosureResult(component, rows, size, cyclic, counts, int(counts.sum()) if n else 0, itself)


def _words(c: int, memory: Memory, copies: int, rows: str) -> int:
    """How many words a row has; refuses what does not fit."""
    words = -(-c // 64)
    memory.check_room(copies * 8 * c * words, f"the transitive closure of {c:,} {rows}, as bits")
    return words


def _bits(memory: Memory) -> Any:
    return memory.moved(np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64)).view(np.int64))


def _by_condensation(g: Graph, memory: Memory, schedule: Schedule | None) -> tuple[Any, ...]:
    """Return the row of each vertex, the rows, and their numbers of vertices, sizes, and whether they have cycles."""
    xp = memory.xp
    labels = strongly_connected_components(g, schedule=schedule).label
    component = groups(g, labels)[1].astype(np.int64)
    c = int(component.max()) + 1 if g.num_vertices else 0
    here = at_hand(g)
    src, dst = component[memory.moved(here.sources)], component[memory.moved(here.targets)]
    cyclic = xp.zeros(c, np.bool_)
    if g.num_slots:
        cyclic[src[src == dst]] = True
    condensed = g if g.directed and c == g.num_vertices and not cyclic.any() else _dag(src, dst, c, g)
    order = topological_order(condensed, schedule=schedule)
    words = _words(c, memory, 2, "components")  # and their initial values
    every = xp.arange(c)
    position = xp.empty(c, np.int64)
    position[order.order] = every
    component, src, dst = position[component], position[src], position[dst]
    size = memory.moved(np.bincount(to_host(component), minlength=c).astype(np.int64))
    starts = np.concatenate(([0], np.cumsum(np.bincount(to_host(order.level), minlength=order.depth))))
    piece = 1 if memory.residence == "device" else words  # neighbouring threads take neighbouring words there
    p = fr.Problem(
        _dag(src, dst, c, g),
        rows=fr.array(xp.zeros(c * words, np.int64)),  # the host maps no memory for them
        starts=fr.array(memory.moved(starts.astype(np.int64))),
        piece=fr.scalar("int64", piece),
        pieces=fr.scalar("int64", words // max(piece, 1)),
        depth=fr.scalar("int64", order.depth),
        level=fr.scalar("int64", order.depth),
        first=fr.scalar("int64"),
        items=fr.scalar("int64"),
        **_count_fields(size, words, memory, next_row=words, next_word=1),
    )
    if c:
        p.rows[every * words + (every >> 6)] = _bits(memory)[every & 63]
        ByCondensation(p, schedule).run()
        Count(p, schedule).run()
    found = xp.empty(c, np.bool_)
    found[position] = cyclic
    return component, p.rows.reshape(c, words), p.total, size, found


def _dag(src: Any, dst: Any, c: int, g: Graph) -> Graph:
    """The graph of the components, without edges inside them, where g is."""
    made = fr.from_edges(src, dst, num_vertices=c, directed=True, duplicates="first", self_loops="drop")
    return made.to(g.placement)


def _by_matrix(g: Graph, memory: Memory, method: str, schedule: Schedule | None) -> tuple[Any, ...]:
    """As :func:`_by_condensation`, with every vertex for itself."""
    n, xp = g.num_vertices, memory.xp
    words = _words(n, memory, 3, "vertices")  # the same, and transposed
    size = memory.full(n, 1, np.int64)
    fields = {
        "rows": fr.array(xp.zeros(words * n, np.int64)),
        "bit": fr.array(_bits(memory)),
        "n": fr.scalar("int64", n),
        "all_words": fr.scalar("int64", words * n),
        **_count_fields(size, words, memory, next_row=1, next_word=n),
    }
    if method == "warshall":
        fields |= {
            "diagonal": fr.array(memory.full(64, 0, np.int64)),
            "table": fr.array(memory.full(2048 * words, 0, np.int64)),
            "mask": fr.array(memory.full(n, 0, np.int64)),
            "block": fr.scalar("int64", -1),
            "pivot_words": fr.scalar("int64", 64 * words),
            "choices": fr.scalar("int64", 2048 * words),
        }
    else:
        fields["changed"] = fr.scalar("int64")
    p = fr.Problem(g, **fields)
    every = xp.arange(n)
    cyclic = xp.zeros(n, np.bool_)
    if n:
        (ByWarshall if method == "warshall" else BySquaring)(p, schedule).run()
        own = (every >> 6) * n + every
        cyclic = (p.rows[own] >> (every & 63) & 1).astype(np.bool_)
        p.rows[own] |= _bits(memory)[every & 63]
        Count(p, schedule).run()
    return every, xp.ascontiguousarray(p.rows.reshape(words, n).T), p.total, size, cyclic


def _count_fields(size: Any, words: int, memory: Memory, next_row: int, next_word: int) -> dict[str, Field]:
    """The fields of ``Count``, among them the vertices in each choice of eight columns."""
    padded = np.zeros(64 * words, np.int64)
    padded[: len(size)] = to_host(size)
    choices = np.arange(256)[:, None] >> np.arange(8) & 1
    return {
        "total": fr.array(memory.full(len(size), 0, np.int64)),
        "sums": fr.array(memory.moved((padded.reshape(-1, 8) @ choices.T).ravel())),
        "words": fr.scalar("int64", words),
        "next_row": fr.scalar("int64", next_row),
        "next_word": fr.scalar("int64", next_word),
        "count": fr.scalar("int64", len(size)),
    }


def _facts(g: Graph, result: ClosureResult) -> dict[str, Any]:
    return {"pairs": result.pairs, "components": len(result.size), "bytes": result.rows.nbytes}


register_primitive(
    PrimitiveEntry(
        "transitive_closure", transitive_closure, "which vertices each vertex reaches",
        arguments=(Argument("--method", "how rows are made (default: auto)", type=str, choices=METHODS),),
        columns=("counts",), report=_facts,
    )
)  # fmt: skip
