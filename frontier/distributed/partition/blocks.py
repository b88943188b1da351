"""The edges that a part of a grid holds: from the vertices of its column to those of its row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from frontier.distributed.partition.dcsc import DCSC
from frontier.graph.topology import Array
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from frontier.distributed.partition.partition import Partition

__all__ = ["Block", "block", "sizes"]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Block:
    """The edges that one part holds, as NumPy arrays; made by :meth:`frontier.Partition.block`.

    Attributes
    ----------
    part, row, column : int
        The part, and its place in the grid.
    span : range
        The ids that sources may have: those that the parts of this column own.
    slots : ndarray of int64, shape (m,)
        The edge slot of each edge in the graph, ascending: ``g.weights[block.slots]`` are the weights.
    sources, targets : ndarray, shape (m,)
        Both ends of each edge.
    """

    part: int
    row: int
    column: int
    span: range
    slots: Array
    sources: Array
    targets: Array

    def dcsc(self) -> DCSC:
        """Return the edges in doubly compressed sparse columns."""
        return DCSC.from_edges(self.sources, self.targets, self.span)

    def __repr__(self) -> str:
        return f"Block(part={self.part}, row={self.row}, column={self.column}, edges={len(self.slots)})"


def block(partition: Partition, part: int) -> Block:
    """Find the edges of a part; only the lists of its column are read."""
    graph, rows = partition.graph, partition.rows
    column, row = divmod(part, rows)
    span = range(int(partition.starts[column * rows]), int(partition.starts[(column + 1) * rows]))
    offsets = to_host(graph.offsets[span.start : span.stop + 1])
    first, stop = int(offsets[0]), int(offsets[-1])
    targets = to_host(graph.targets[first:stop])
    sources = np.repeat(np.arange(span.start, span.stop, dtype=targets.dtype), np.diff(offsets))
    slots = np.arange(first, stop, dtype=np.int64)
    if rows > 1:
        here = partition.owner(targets) % rows == row
        slots, sources, targets = slots[here], sources[here], targets[here]
    return Block(part, row, column, span, slots, sources, targets)


def sizes(partition: Partition) -> Array:
    """Number of edges of each part; targets are read by one range of vertices at a time."""
    graph, rows, starts = partition.graph, partition.rows, partition.starts
    where = starts if isinstance(graph.offsets, np.ndarray) else graph.placement.memory.moved(starts)
    ends = to_host(graph.offsets[where]).astype(np.int64)
    if rows == 1:
        return np.diff(ends)
    found = np.zeros((partition.columns, rows), np.int64)
    for piece in range(partition.parts):
        targets = to_host(graph.targets[ends[piece] : ends[piece + 1]])
        found[piece // rows] += np.bincount(partition.owner(targets) % rows, minlength=rows)
    return found.reshape(-1)
