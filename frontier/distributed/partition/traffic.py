"""Counts the bytes that the parts of a graph send to each other during a breadth-first search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.partition.blocks import block
from frontier.errors import GraphError
from frontier.graph.topology import Array
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from frontier.distributed.partition.partition import Partition

__all__ = ["Exchange", "exchanged"]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Exchange:
    """The bytes that a search moves, counted, not measured; made by :meth:`frontier.Partition.exchanged`.

    Attributes
    ----------
    expand : ndarray of int64, shape (levels,)
        Bytes sent in each level along the columns of the grid: owners tell who holds edges of their new vertices.
    fold : ndarray of int64, shape (levels,)
        Bytes sent in each level along the rows: who found a vertex tells its owner.
    largest : ndarray of int64, shape (levels,)
        The most bytes that one part sends in each level.
    lists, bitmaps : int
        How many messages were lists of ids, and how many were bitmaps.
    """

    expand: Array
    fold: Array
    largest: Array
    lists: int
    bitmaps: int

    @property
    def total(self) -> int:
        """Bytes of the whole search."""
        return int(self.expand.sum() + self.fold.sum())

    def __repr__(self) -> str:
        return (
            f"Exchange(levels={len(self.expand)}, expand={int(self.expand.sum())}, fold={int(self.fold.sum())}, "
            f"lists={self.lists}, bitmaps={self.bitmaps})"
        )


class _Counter:
    """Messages of each part in each level, in the cheaper of two forms."""

    def __init__(self, partition: Partition, levels: int, payload: int) -> None:
        self.sizes = np.diff(partition.starts)
        self.id_bytes, self.payload = partition.graph.id_dtype.itemsize, payload
        self.sent = np.zeros((partition.parts, levels), np.int64)
        self.lists = self.bitmaps = 0

    def send(self, part: int, owner: Array, entries: Array, payload: int, copies: int = 1) -> Array:
        """Count messages about vertices of an owner, a number of entries for each level; return the bytes by level."""
        ids = entries * (self.id_bytes + payload)
        bits = -(-self.sizes[owner] // 8)[..., None] + entries * payload
        some = entries > 0
        lists = some & (ids <= bits)
        cost: Array = (np.where(some, np.minimum(ids, bits), 0) * copies).reshape(-1, entries.shape[-1]).sum(axis=0)
        self.sent[part] += cost
        self.lists += int(lists.sum()) * copies
        self.bitmaps += int((some & ~lists).sum()) * copies
        return cost


def exchanged(partition: Partition, levels: Any, payload: int) -> Exchange:
    """Do the work of ``Partition.exchanged``."""
    level = to_host(levels)
    n, parts, starts = partition.graph.num_vertices, partition.parts, partition.starts
    rows, columns = partition.rows, partition.columns
    if level.shape != (n,) or (n and level.dtype.kind not in "iu"):
        raise GraphError(f"levels must be {n} integers, one for each vertex, not {level.dtype} of shape {level.shape}")
    level = level.astype(np.int64)
    depth = int(level.max()) + 1 if n else 0
    counter = _Counter(partition, depth, payload)
    expand, fold = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    for part in range(parts if depth > 0 else 0):
        if rows > 1:
            own = level[starts[part] : starts[part + 1]]
            new = np.bincount(own[own >= 0], minlength=depth)
            expand += counter.send(part, np.array(part), new, 0, rows - 1)
        if columns > 1:
            found = _found(partition, part, level, depth)
            fold += counter.send(part, np.arange(parts), found, payload)
    largest = counter.sent.max(axis=0, initial=0)
    return Exchange(expand, fold, largest, counter.lists, counter.bitmaps)


def _found(partition: Partition, part: int, level: Array, depth: int) -> Array:
    """How many vertices of each other part this one finds in each level; each vertex once, when it is first found."""
    edges = block(partition, part)
    when, target = level[edges.sources], edges.targets
    reached = when >= 0
    when, target = when[reached], target[reached]
    order = np.lexsort((when, target))
    when, target = when[order], target[order]
    first = np.ones(len(target), bool)
    first[1:] = target[1:] != target[:-1]
    when, owner = when[first], partition.owner(target[first])
    other = owner != part
    found = np.bincount(owner[other] * depth + when[other], minlength=partition.parts * depth)
    return found.reshape(partition.parts, depth)
