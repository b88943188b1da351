"""Transitive closure: which vertices each vertex reaches, as bits.

Vertices of a strongly connected component reach the same ones, so rows and columns are components: the graph is
condensed first, and what remains has no cycles. Its rows are made from the last to the first, or by one of the methods
for dense matrices; see :mod:`frontier.primitives._closure`. Nothing is unpacked: questions are answered from the bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.subgraphs import groups
from frontier.memory.arrays import matching, to_host
from frontier.primitives._closure import ByCondensation, BySquaring, ByWarshall, Count
from frontier.primitives._tables import refuse_parts
from frontier.primitives.scc import strongly_connected_components
from frontier.primitives.topological_order import topological_order
from frontier.program.taking import at_graph
from frontier.registry import Argument, PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from frontier.graph.graph import Graph
    from frontier.memory.base import Memory
    from frontier.program.schedule import Schedule

__all__ = ["ClosureResult", "transitive_closure"]

METHODS = ("auto", "condensation", "warshall", "squaring")

#: Entries of a matrix that are unpacked at a time.
_PIECE = 1 << 24


@dataclass(frozen=True)
class ClosureResult:
    """Result of :func:`transitive_closure`.

    Attributes
    ----------
    component : ndarray of int64, shape (n,)
        The row, and the column, of each vertex.
    rows : ndarray of int64, shape (c, w)
        Bit b of ``rows[i, k]`` says whether component i reaches component 64 k + b, another one.
    size : ndarray of int64, shape (c,)
        Number of vertices of each component.
    cyclic : ndarray of bool, shape (c,)
        Whether there is a cycle in it: more than one vertex, or a self-loop.
    counts : ndarray of int64, shape (n,)
        How many vertices each vertex reaches.
    pairs : int
        How many pairs of vertices are in the closure.
    reflexive : bool or None
    """

    component: NDArray[Any]
    rows: NDArray[Any]
    size: NDArray[Any]
    cyclic: NDArray[Any]
    counts: NDArray[Any]
    pairs: int
    reflexive: bool | None

    def reaches(self, u: ArrayLike, v: ArrayLike) -> Any:
        """Whether u reaches v; arrays of vertices give an array.

        Raises
        ------
        IndexError
            If there is no such vertex.
        """
        u, v = np.asarray(to_host(u)), np.asarray(to_host(v))
        n = len(self.component)
        if any(ids.size and (ids.min() < 0 or ids.max() >= n) for ids in (u, v)):
            raise IndexError(f"vertices are numbered from 0 to {n - 1}")
        u, v = np.broadcast_arrays(u, v)
        i, k = (to_host(self.component[matching(ids.ravel(), self.component)]).reshape(ids.shape) for ids in (u, v))
        at = matching(i.ravel() * self.rows.shape[1] + (k.ravel() >> 6), self.rows)
        words = to_host(self.rows.ravel()[at]).reshape(i.shape)
        found = ((words >> (k & 63)) & 1).astype(bool)
        same, cyclic = i == k, to_host(self.cyclic)[i]
        own = {True: np.bool_(True), False: cyclic, None: np.bool_(False)}[self.reflexive]
        found = np.where(u == v, own, np.where(same, cyclic, found))
        return bool(found) if found.ndim == 0 else found

    def row(self, v: int) -> NDArray[Any]:
        """Return the vertices that v reaches, in ascending order."""
        return np.flatnonzero(self._of(np.asarray([v]))[0])

    def pairs_in_pieces(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield all pairs as arrays of sources and of targets, in order, some sources at a time."""
        n = len(self.component)
        step = max(_PIECE // max(n, 1), 1)
        for first in range(0, n, step):
            sources, targets = np.nonzero(self._of(np.arange(first, min(first + step, n))))
            yield sources + first, targets

    def to_dense(self) -> NDArray[np.bool_]:
        """Return the closure as a matrix of n times n entries.

        Raises
        ------
        FrontierMemoryError
            If it does not fit into memory.
        """
        from frontier.memory.host import HOST

        n = len(self.component)
        HOST.check_room(n * n, "the closure as a matrix")
        made = np.empty((n, n), np.bool_)
        step = max(_PIECE // max(n, 1), 1)
        for first in range(0, n, step):
            made[first : first + step] = self._of(np.arange(first, min(first + step, n)))
        return made

    def _of(self, vertices: NDArray[Any]) -> NDArray[np.bool_]:
        """Rows of some vertices, unpacked."""
        component, cyclic = to_host(self.component), to_host(self.cyclic)
        rows = component[vertices]
        words = np.ascontiguousarray(to_host(self.rows[matching(rows, self.rows)]))
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, : len(cyclic)].astype(bool)
        bits[np.arange(len(rows)), rows] = cyclic[rows]
        made: NDArray[np.bool_] = bits[:, component]
        if self.reflexive is not False:
            made[np.arange(len(vertices)), vertices] = bool(self.reflexive)
        return made


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
        Whether a vertex reaches itself: if False, only if it is on a cycle; if True, always; if None, never.
    schedule : Schedule, optional

    Returns
    -------
    ClosureResult

    Raises
    ------
    FrontierMemoryError
        If the bits do not fit into memory; the message says how many bytes are needed.
    GraphError
        For arguments out of range, or on the ranks backend.

    Notes
    -----
    With c components, e edges between them and w = c / 64 words in a row: O(n + m + e w) work by condensation. The
    other two take O(n² w / 8), and O(n² w) for each squaring, at most log n of them. Memory: c²/8 bytes, or n²/8.
    """
    if method not in METHODS:
        raise GraphError(f"method={method!r}: choose one of {', '.join(METHODS)}")
    if reflexive not in (True, False, None):
        raise GraphError(f"reflexive={reflexive!r}: choose True, False or None")
    refuse_parts(g, "transitive_closure")
    memory, n = g.placement.memory, g.num_vertices
    xp = memory.xp
    if method in ("auto", "condensation"):
        component, rows, cyclic = _by_condensation(g, memory, schedule)
    else:
        rows, cyclic = _by_matrix(g, memory, ByWarshall if method == "warshall" else BySquaring, schedule)
        component = xp.arange(n)
    c = len(cyclic)
    size = memory.moved(np.bincount(to_host(component), minlength=c).astype(np.int64))
    others = _counted(g, memory, rows, size, schedule)
    total = others + xp.where(cyclic, size - 1, 0)
    total += {True: 1, False: cyclic.astype(np.int64), None: 0}[reflexive]
    counts = total[component]
    return ClosureResult(component, rows, size, cyclic, counts, int(counts.sum()) if n else 0, reflexive)


def _words(c: int, memory: Memory) -> int:
    """How many words a row has; refuses what does not fit."""
    words = -(-c // 64)
    memory.check_room(2 * 8 * c * words, f"the transitive closure of {c:,} components, as bits")
    return words


def _bits(memory: Memory) -> Any:
    return memory.moved(np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64)).view(np.int64))


def _by_condensation(g: Graph, memory: Memory, schedule: Schedule | None) -> tuple[Any, Any, Any]:
    xp = memory.xp
    labels = strongly_connected_components(g, schedule=schedule).label
    component = groups(g, labels)[1].astype(np.int64)
    c = int(component.max()) + 1 if g.num_vertices else 0
    src, dst = component[g.sources], component[g.targets]
    cyclic = xp.zeros(c, np.bool_)
    if g.num_slots:
        cyclic[src[src == dst]] = True
    dag = fr.from_edges(src, dst, num_vertices=c, directed=True, duplicates="first", self_loops="drop").to(g.placement)
    order = topological_order(dag, schedule=schedule)
    position = xp.empty(c, np.int64)
    position[order.order] = xp.arange(c)
    words = _words(c, memory)
    starts = np.concatenate(([0], np.cumsum(np.bincount(to_host(order.level), minlength=order.depth))))
    p = fr.Problem(
        dag,
        rows=fr.array(memory.full(c * words, 0, np.int64)),
        order=fr.vertex(np.int64, order.order.astype(np.int64)),
        position=fr.vertex(np.int64, position),
        starts=fr.array(memory.moved(starts.astype(np.int64))),
        bit=fr.array(_bits(memory)),
        words=fr.scalar("int64", words),
        depth=fr.scalar("int64", order.depth),
        level=fr.scalar("int64", order.depth),
        first=fr.scalar("int64"),
        items=fr.scalar("int64"),
    )
    if c:
        ByCondensation(p, schedule).run()
    found = xp.empty(c, np.bool_)
    found[position] = cyclic
    return position[component], p.rows.reshape(c, words), found


def _by_matrix(g: Graph, memory: Memory, enactor: type[fr.Enactor], schedule: Schedule | None) -> tuple[Any, Any]:
    n, xp = g.num_vertices, memory.xp
    words = _words(n, memory)
    fields = {
        "rows": fr.array(memory.full(words * n, 0, np.int64)),
        "bit": fr.array(_bits(memory)),
        "words": fr.scalar("int64", words),
        "n": fr.scalar("int64", n),
        "all_words": fr.scalar("int64", words * n),
    }
    if enactor is ByWarshall:
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
    if n:
        enactor(p, schedule).run()
    rows = xp.ascontiguousarray(p.rows.reshape(words, n).T)
    every = xp.arange(n)
    own = rows[every, every >> 6] >> (every & 63) & 1
    rows[every, every >> 6] -= own << (every & 63)
    return rows, own.astype(np.bool_)


def _counted(g: Graph, memory: Memory, rows: Any, size: Any, schedule: Schedule | None) -> Any:
    """How many vertices each row has."""
    c, words = rows.shape
    padded = np.zeros(64 * words, np.int64)
    padded[:c] = to_host(size)
    choices = np.arange(256)[:, None] >> np.arange(8) & 1
    sums = (padded.reshape(-1, 8) @ choices.T).ravel()
    p = fr.Problem(
        g,
        rows=fr.array(rows.ravel()),
        total=fr.array(memory.full(c, 0, np.int64)),
        sums=fr.array(memory.moved(sums)),
        words=fr.scalar("int64", words),
        count=fr.scalar("int64", c),
    )
    if c:
        Count(p, schedule).run()
    return p.total


def _facts(g: Graph, result: ClosureResult) -> dict[str, Any]:
    return {"pairs": result.pairs, "components": len(result.size), "bytes": result.rows.nbytes}


register_primitive(
    PrimitiveEntry(
        "transitive_closure", transitive_closure, "which vertices each vertex reaches",
        arguments=(Argument("--method", "how rows are made (default: auto)", type=str, choices=METHODS),),
        columns=("counts",), report=_facts,
    )
)  # fmt: skip
