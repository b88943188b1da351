"""Rows of bits: what the ways to make a transitive closure share.

A row consists of words of 64 bits, of int64. Bit b of word w says whether column 64 w + b is reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import frontier as fr
from frontier.program.problem import replace_array

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.memory.base import Memory
    from frontier.program.schedule import Schedule

__all__ = ["Count", "Rows", "bit", "bits", "counted", "words_of"]


class Rows(NamedTuple):
    """The rows of a closure; attributes are those of ``ClosureResult``."""

    component: Any
    rows: Any
    size: Any
    cyclic: Any
    place: Any = None


def bit(b):
    """A word with one bit."""
    return np.int64(1) << b


def bits(memory: Memory, columns: Any) -> Any:
    """The words with the bits of columns."""
    return memory.xp.ones(len(columns), np.int64) << (columns & 63)


def words_of(
    c: int, memory: Memory, needed: int, rows: str, hint: str = "with sources=, some of the rows are made"
) -> int:
    """How many words a row of c columns has; refuses if more words are needed than there is room for."""
    memory.check_room(8 * needed, f"the transitive closure of {c:,} {rows}, as bits", hint)
    return -(-c // 64)


def count(p, i):
    """Add up the sizes of the columns that the i-th row has, eight columns by one lookup."""
    total = np.int64(0)
    for w in range(p.words):
        word = p.rows[i * p.words + w]
        if word != 0:
            for k in range(8):
                total = total + p.sums[w * 2048 + 256 * k + ((word >> (8 * k)) & 255)]
    p.total[i] = total


class Count(fr.Enactor):
    """How many vertices each row has."""

    loop = fr.Compute(count, over="count")


def counted(g: Graph, made: Rows, schedule: Schedule | None) -> Any:
    """How many vertices each row has, of columns of some sizes."""
    memory = g.placement.memory
    k, words = made.rows.shape
    sizes = memory.full(64 * words, 0, np.int64)
    sizes[: len(made.size)] = made.size
    sizes = sizes.reshape(-1, 8)
    sums = memory.full(256 * len(sizes), 0, np.int64).reshape(len(sizes), 256)
    for b in range(8):  # the choices with column b are those without it, and its size
        sums[:, 1 << b : 2 << b] = sums[:, : 1 << b] + sizes[:, b : b + 1]
    p = fr.Problem(
        g,
        rows=fr.array(sums[:0].ravel()),
        sums=fr.array(sums.ravel()),
        total=fr.array(memory.full(k, 0, np.int64)),
        words=fr.scalar("int64", words),
        count=fr.scalar("int64", k),
    )
    replace_array(p, "rows", made.rows.ravel())
    if k:
        Count(p, schedule).run()
    return p.total
