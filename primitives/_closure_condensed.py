"""The rows of a transitive closure by condensation: of all components, or of those of some vertices.

Components are numbered in topological order, and rows are made level by level.

*All rows* are made from the last level to the first: a row is its own bit, and the union of the rows of the successors.
Half of each row is known to be 0, and of the successors only those count that no other one reaches.

*Some rows* cannot be made of others, which are not there; but a column is made of other columns. So bits are sources at
first, and each component unites those of its predecessors, from the first level to the last. In the end squares of 64
times 64 bits are transposed (Warren: Hacker's delight, 2002).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import frontier as fr
from frontier.graph.subgraphs import groups
from frontier.memory.arrays import to_host
from frontier.primitives._closure_bits import Rows, bits, words_of
from frontier.primitives._oriented import at_hand
from frontier.primitives.scc import strongly_connected_components
from frontier.primitives.topological_order import topological_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.schedule import Schedule

__all__ = ["ByPredecessors", "BySuccessors", "BySuccessorsInWords", "Transpose", "of_components", "of_sources"]


# ---- level by level: rows[v * words + w] -----------------------------------------------------------------


def begin(p):
    """The first component on the level of this turn."""
    return p.begins[p.turn - 1]


def pieces(p):
    """How many pieces the rows of the level have: one each on the host, and on a GPU each word is one."""
    return (p.ends[p.turn - 1] - p.begins[p.turn - 1]) * (p.words // p.piece)


def either(p, one, other):
    """The bits of one word or another."""
    return p.rows[one] | p.rows[other]


def unite(p, i):
    """Let a row, in which the bit of its vertex is set, take over the rows of the successors.

    Successors are in topological order, so those that reach others come first. A successor whose bit is there already
    is reached by way of another, and adds nothing. All words before that bit are 0.
    """
    row = (p.first + i) * p.words
    for e in fr.neighbours(p, p.first + i):
        after = fr.target(p, e)
        if (p.rows[row + after // 64] >> (after % 64)) & 1 == 0:
            for w in range(after // 64, p.words):
                p.rows[row + w] = either(p, row + w, after * p.words + w)


def unite_word(p, i):
    """The same for one word of a row, which is kept at hand until all of it is known.

    The word of a successor is used one successor later, so that the loop goes on while it is on its way: that takes a
    third less time on a GPU.
    """
    at = p.first * p.words + i
    w = at % p.words
    word = p.rows[at]
    coming = word
    for e in fr.neighbours(p, at // p.words):
        after = fr.target(p, e)
        lowest = after // 64 - w
        if lowest > 0:
            break
        if lowest < 0 or (word >> (after % 64)) & 1 == 0:
            word = word | coming
            coming = p.rows[after * p.words + w]
    p.rows[at] = word | coming


def unite_all(p, i):
    """Let a piece of a row take over that piece of the rows of all to which edges lead."""
    at = p.first * p.words + i * p.piece
    begin = at % p.words
    for e in fr.neighbours(p, at // p.words):
        other = fr.target(p, e) * p.words + begin
        for k in range(p.piece):
            p.rows[at + k] = either(p, at + k, other + k)


class BySuccessors(fr.Enactor):
    """Rows of a graph without cycles, level by level, by a call for each row."""

    loop = fr.Loop(
        fr.Set(first=begin, items=pieces),
        fr.Compute(unite, over="items"),
        times="depth",
        count="turn",
    )


class BySuccessorsInWords(fr.Enactor):
    """The same by a call for each word, for a GPU."""

    loop = BySuccessors.program().replace({unite: unite_word})


class ByPredecessors(fr.Enactor):
    """Which sources reach each vertex of a graph without cycles; its edges are reversed."""

    loop = BySuccessors.program().replace({unite: unite_all})


# ---- columns to rows -------------------------------------------------------------------------------------


def word(p, at):
    """One word."""
    return p.rows[at]


def transpose(p, i):
    """Make a square of 64 rows and a word of columns of a word of each of 64 vertices."""
    first = i // p.words * 64 * p.words + i % p.words
    for b in range(64):
        v = i % p.words * 64 + b
        if v < p.components:
            p.rows[first + b * p.words] = p.columns[v * p.across + i // p.words]
    size = 32
    mask = np.int64(0xFFFFFFFF)
    while size > 0:  # exchange two of the four squares of this size, and so on in each
        for b in range(64):
            if b & size == 0:
                one = first + b * p.words
                other = one + size * p.words
                high = word(p, one)
                low = word(p, other)
                change = ((high >> size) ^ low) & mask
                p.rows[one] = high ^ (change << size)
                p.rows[other] = low ^ change
        size = size // 2
        mask = mask ^ (mask << size)


class Transpose(fr.Enactor):
    """Rows of sources from words with bits of sources."""

    loop = fr.Compute(transpose, over="squares")


# ---- on the host -----------------------------------------------------------------------------------------


class Condensed(NamedTuple):
    """A graph's components in topological order, and the edges between them."""

    component: Any
    src: Any
    dst: Any
    size: Any
    cyclic: Any
    starts: NDArray[np.int64]  # the first component of each level, and their number


def _condensed(g: Graph, schedule: Schedule | None) -> Condensed:
    memory, here = g.placement.memory, at_hand(g)
    xp = memory.xp
    labels = strongly_connected_components(g, schedule=schedule).label
    component = groups(g, labels)[1].astype(np.int64)
    c = int(component.max()) + 1 if g.num_vertices else 0
    src, dst = component[memory.moved(here.sources)], component[memory.moved(here.targets)]
    cyclic = xp.zeros(c, np.bool_)
    if g.num_slots:
        cyclic[src[src == dst]] = True
    dag = g if g.directed and c == g.num_vertices and not cyclic.any() else _dag(src, dst, c, g)
    order = topological_order(dag, schedule=schedule)
    position = xp.empty(c, np.int64)
    position[order.order] = xp.arange(c)
    component, src, dst = position[component], position[src], position[dst]
    size = _counted(xp, component, c)
    starts = np.concatenate(([0], np.cumsum(to_host(_counted(xp, order.level, order.depth)))))
    return Condensed(component, src, dst, size, cyclic[order.order], starts.astype(np.int64))


def _counted(xp: Any, values: Any, count: int) -> Any:
    """How often each number below ``count`` occurs."""
    if not count:  # the array is empty, of which not every library takes the largest number
        return xp.zeros(0, np.int64)
    return xp.bincount(values, minlength=count).astype(np.int64)


def _dag(src: Any, dst: Any, c: int, g: Graph) -> Graph:
    """The graph of the components, without edges inside them, where g is."""
    made = fr.from_edges(src, dst, num_vertices=c, directed=True, duplicates="first", self_loops="drop")
    return made.to(g.placement)


def of_components(g: Graph, schedule: Schedule | None) -> Rows:
    """Rows of all components, in reverse topological order."""
    memory, made = g.placement.memory, _condensed(g, schedule)
    c = len(made.size)
    words = words_of(c, memory, 2 * c * -(-c // 64), "components")  # and their initial values
    program = BySuccessorsInWords if memory.residence == "device" else BySuccessors
    levels = made.starts[::-1]
    rows = _united(
        program, _dag(made.src, made.dst, c, g), levels[1:], levels[:-1], memory.xp.arange(c), words, schedule
    )
    return Rows(made.component, rows.reshape(c, words), made.size, made.cyclic)


def of_sources(g: Graph, sources: NDArray[np.int64], schedule: Schedule | None) -> Rows:
    """Rows of the components of some vertices."""
    memory, made = g.placement.memory, _condensed(g, schedule)
    xp, c = memory.xp, len(made.size)
    wanted = xp.unique(made.component[memory.moved(sources)])
    k = len(wanted)
    across = -(-k // 64)  # words with the sources
    needed = across * (c + 128 * -(-c // 64))  # columns, and rows with their initial values
    words = words_of(c, memory, needed, f"components from {k:,} of them", "fewer sources would help")
    reversed_dag = _dag(made.dst, made.src, c, g)
    columns = _united(ByPredecessors, reversed_dag, made.starts[:-1], made.starts[1:], wanted, across, schedule)
    p = fr.Problem(
        g,
        columns=fr.array(columns),
        rows=fr.array(xp.zeros(64 * across * words, np.int64)),
        words=fr.scalar("int64", words),
        across=fr.scalar("int64", across),
        components=fr.scalar("int64", c),
        squares=fr.scalar("int64", across * words),
    )
    if k:
        Transpose(p, schedule).run()
    place = xp.full(c, -1, np.int64)
    place[wanted] = xp.arange(k)
    return Rows(made.component, p.rows.reshape(64 * across, words)[:k], made.size, made.cyclic, place)


def _united(
    program: type[fr.Enactor], dag: Graph, begins: NDArray[np.int64], ends: NDArray[np.int64], own: Any, words: int,
    schedule: Schedule | None,
) -> Any:  # fmt: skip
    """Run a program on rows of so many words: bit i is set in row ``own[i]``, and levels are given in their order."""
    memory = dag.placement.memory
    p = fr.Problem(
        dag,
        rows=fr.array(memory.xp.zeros(dag.num_vertices * words, np.int64)),  # the host maps no memory for them
        begins=fr.array(memory.moved(begins.copy())),
        ends=fr.array(memory.moved(ends.copy())),
        words=fr.scalar("int64", words),
        piece=fr.scalar("int64", 1 if memory.residence == "device" else words),
        depth=fr.scalar("int64", len(begins)),
        **{name: fr.scalar("int64") for name in ("turn", "first", "items")},
    )
    every = memory.xp.arange(len(own))
    p.rows[own * words + (every >> 6)] = bits(memory, every)
    if len(own):
        program(p, schedule).run()
    return p.rows
