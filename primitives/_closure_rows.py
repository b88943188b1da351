"""The rows of a transitive closure: what runs on the host around the programs of ``_closure``.

Three functions make rows: of all components, of all vertices, and of the components of some vertices. Each returns a
:class:`Rows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import frontier as fr
from frontier.graph.subgraphs import groups
from frontier.memory.arrays import to_host
from frontier.primitives._closure import (
    ByCondensation,
    ByCondensationWords,
    BySources,
    BySquaring,
    ByWarshall,
    Count,
    Transpose,
)
from frontier.primitives._oriented import at_hand
from frontier.primitives.scc import strongly_connected_components
from frontier.primitives.topological_order import topological_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.memory.base import Memory
    from frontier.program.problem import Field
    from frontier.program.schedule import Schedule

__all__ = ["Rows", "of_components", "of_sources", "of_vertices"]


class Rows(NamedTuple):
    """The rows of a closure; attributes as of ``ClosureResult``, and the number of vertices that each row has."""

    component: Any
    rows: Any
    size: Any
    cyclic: Any
    total: Any
    place: Any


class Condensed(NamedTuple):
    """A graph's components in topological order, and the edges between them."""

    component: Any
    src: Any
    dst: Any
    size: Any
    cyclic: Any
    starts: NDArray[np.int64]  # the first component of each level, and their number


#: What would help where the rows do not fit.
_SOME = "with sources=, some of the rows are made"
_FEWER = "fewer sources would help"

#: Which bits of a word stay in it when squares of 32, 16, 8, 4, 2 and 1 bits change places.
MASKS = np.array([sum(1 << b for b in range(64) if b & size == 0) for size in (32, 16, 8, 4, 2, 1)], np.int64)


def _words(c: int, memory: Memory, needed: int, rows: str, hint: str = _SOME) -> int:
    """How many words a row of c columns has; refuses if more words are needed than there is room for."""
    memory.check_room(8 * needed, f"the transitive closure of {c:,} {rows}, as bits", hint)
    return -(-c // 64)


def _bits(memory: Memory) -> Any:
    return memory.moved(np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64)).view(np.int64))


def _condensed(g: Graph, memory: Memory, schedule: Schedule | None) -> Condensed:
    xp = memory.xp
    labels = strongly_connected_components(g, schedule=schedule).label
    component = groups(g, labels)[1].astype(np.int64)
    c = int(component.max()) + 1 if g.num_vertices else 0
    here = at_hand(g)
    src, dst = component[memory.moved(here.sources)], component[memory.moved(here.targets)]
    cyclic = xp.zeros(c, np.bool_)
    if g.num_slots:
        cyclic[src[src == dst]] = True
    dag = g if g.directed and c == g.num_vertices and not cyclic.any() else _dag(src, dst, c, g)
    order = topological_order(dag, schedule=schedule)
    position = xp.empty(c, np.int64)
    position[order.order] = xp.arange(c)
    component, src, dst = position[component], position[src], position[dst]
    found = xp.empty(c, np.bool_)
    found[position] = cyclic
    size = _counted(component, c, memory)
    starts = np.concatenate(([0], np.cumsum(to_host(_counted(order.level, order.depth, memory)))))
    return Condensed(component, src, dst, size, found, starts.astype(np.int64))


def _counted(values: Any, count: int, memory: Memory) -> Any:
    """How often each number below ``count`` occurs."""
    if not count:  # the array is empty, of which not every library takes the largest number
        return memory.full(0, 0, np.int64)
    return memory.xp.bincount(values, minlength=count).astype(np.int64)


def of_components(g: Graph, memory: Memory, schedule: Schedule | None) -> Rows:
    """Rows of all components, in reverse topological order."""
    xp, made = memory.xp, _condensed(g, memory, schedule)
    c = len(made.size)
    words = _words(c, memory, 2 * c * -(-c // 64), "components")  # and their initial values
    depth = len(made.starts) - 1
    p = fr.Problem(
        _dag(made.src, made.dst, c, g),
        **(
            _level_fields(c, words, made.starts, depth, memory)
            | _count_fields(made.size, c, words, memory, next_row=words, next_word=1)
        ),
    )
    if c:
        every = xp.arange(c)
        p.rows[every * words + (every >> 6)] = _bits(memory)[every & 63]
        (ByCondensationWords if memory.residence == "device" else ByCondensation)(p, schedule).run()
        Count(p, schedule).run()
    return Rows(made.component, p.rows.reshape(c, words), made.size, made.cyclic, p.total, None)


def of_sources(g: Graph, memory: Memory, sources: NDArray[np.int64], schedule: Schedule | None) -> Rows:
    """Rows of the components of some vertices.

    What is made are the columns of the graph with reversed edges, which are independent of each other, unlike its rows:
    for each component, which sources reach it. They are transposed then.
    """
    xp, made = memory.xp, _condensed(g, memory, schedule)
    c = len(made.size)
    wanted = xp.unique(made.component[memory.moved(sources)])
    k = len(wanted)
    across = -(-k // 64)  # words with the sources
    needed = across * (c + 128 * -(-c // 64))  # columns, and rows with their initial values
    words = _words(c, memory, needed, f"components from {k:,} of them", _FEWER)
    p = fr.Problem(_dag(made.dst, made.src, c, g), **_level_fields(c, across, made.starts, -1, memory))
    every = xp.arange(k)
    p.rows[wanted * across + (every >> 6)] = _bits(memory)[every & 63]
    if k:
        BySources(p, schedule).run()
    turned = fr.Problem(
        g,
        columns=fr.array(p.rows),
        rows=fr.array(xp.zeros(64 * across * words, np.int64)),
        masks=fr.array(memory.moved(MASKS)),
        across=fr.scalar("int64", across),
        components=fr.scalar("int64", c),
        squares=fr.scalar("int64", across * words),
        **_count_fields(made.size, k, words, memory, next_row=words, next_word=1),
    )
    del p
    if k:
        Transpose(turned, schedule).run()
        Count(turned, schedule).run()
    place = xp.full(c, -1, np.int64)
    place[wanted] = every
    rows = turned.rows.reshape(64 * across, words)[:k]
    return Rows(made.component, rows, made.size, made.cyclic, turned.total, place)


def _dag(src: Any, dst: Any, c: int, g: Graph) -> Graph:
    """The graph of the components, without edges inside them, where g is."""
    made = fr.from_edges(src, dst, num_vertices=c, directed=True, duplicates="first", self_loops="drop")
    return made.to(g.placement)


def _level_fields(c: int, words: int, starts: NDArray[np.int64], before: int, memory: Memory) -> dict[str, Field]:
    """The fields of programs that make rows level by level, of which the first comes after the level ``before``."""
    piece = 1 if memory.residence == "device" else words  # neighbouring threads take neighbouring words there
    return {
        "rows": fr.array(memory.xp.zeros(c * words, np.int64)),  # the host maps no memory for them
        "starts": fr.array(memory.moved(starts)),
        "piece": fr.scalar("int64", piece),
        "pieces": fr.scalar("int64", words // max(piece, 1)),
        "words": fr.scalar("int64", words),
        "depth": fr.scalar("int64", len(starts) - 1),
        "level": fr.scalar("int64", before),
        "first": fr.scalar("int64"),
        "items": fr.scalar("int64"),
    }


def of_vertices(g: Graph, memory: Memory, method: str, schedule: Schedule | None) -> Rows:
    """Rows of all vertices, by one of the methods for matrices."""
    n, xp = g.num_vertices, memory.xp
    words = _words(n, memory, 3 * n * -(-n // 64), "vertices")  # the same, and transposed
    size = memory.full(n, 1, np.int64)
    fields = {
        "rows": fr.array(xp.zeros(words * n, np.int64)),
        "bit": fr.array(_bits(memory)),
        "n": fr.scalar("int64", n),
        "all_words": fr.scalar("int64", words * n),
        **_count_fields(size, n, words, memory, next_row=1, next_word=n),
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
        fields["last"] = fr.scalar("int64", (1 << n % 64) - 1 if n % 64 else -1)
    p = fr.Problem(g, **fields)
    every = xp.arange(n)
    cyclic = xp.zeros(n, np.bool_)
    if n:
        (ByWarshall if method == "warshall" else BySquaring)(p, schedule).run()
        own = (every >> 6) * n + every
        cyclic = (p.rows[own] >> (every & 63) & 1).astype(np.bool_)
        p.rows[own] |= _bits(memory)[every & 63]
        Count(p, schedule).run()
    return Rows(every, xp.ascontiguousarray(p.rows.reshape(words, n).T), size, cyclic, p.total, None)


def _count_fields(size: Any, count: int, words: int, memory: Memory, next_row: int, next_word: int) -> dict[str, Field]:
    """The fields of ``Count``, among them the vertices in each choice of eight columns."""
    eight = memory.full(64 * words, 0, np.int64)
    eight[: len(size)] = size
    eight = eight.reshape(-1, 8)
    sums = memory.full(256 * len(eight), 0, np.int64).reshape(len(eight), 256)
    for b in range(8):  # the choices with column b are those without it, and its size
        sums[:, 1 << b : 2 << b] = sums[:, : 1 << b] + eight[:, b : b + 1]
    return {
        "total": fr.array(memory.full(count, 0, np.int64)),
        "sums": fr.array(sums.ravel()),
        "words": fr.scalar("int64", words),
        "next_row": fr.scalar("int64", next_row),
        "next_word": fr.scalar("int64", next_word),
        "count": fr.scalar("int64", count),
    }
