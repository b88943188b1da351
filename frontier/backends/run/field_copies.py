"""Copies of a field that is only added to: each worker but the first has one, and adds to it without atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.lowering.inputs import FieldCopies

__all__ = ["words_of"]

#: Entries of all copies for each edge slot of the graph, at most: with more, to add them up takes longer than it saves.
MOST = 4


def words_of(copies: FieldCopies, g: Graph, workers: int) -> int:
    """64-bit words of all copies of a field; 0 if there are to be none."""
    entries = (workers - 1) * (g.num_vertices if copies.kind == "vertex" else g.num_slots)
    return (entries * copies.itemsize + 7) // 8 if entries <= MOST * g.num_slots else 0
