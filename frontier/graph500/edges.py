"""The list of edge tuples that the generator makes, kernel 1 reads, and validation reads again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from frontier.graph.topology import Array

__all__ = ["BLOCK", "EdgeList"]

#: Edges that are handled at a time: temporary arrays then stay in the cache, and take little memory.
BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class EdgeList:
    """Undirected edges with weights, in no order; self-loops and duplicates are in it.

    Attributes
    ----------
    src, dst : ndarray of int64
        The ends of each edge. (The specification asks for at least 48 bits.)
    weight : ndarray of float32
        Its weight, from 0 to less than 1.
    first : int
        The number of the first of these edges, if they are a part of a longer list.
    """

    src: Array
    dst: Array
    weight: Array
    first: int = 0

    def __len__(self) -> int:
        return len(self.src)

    @cached_property
    def num_vertices(self) -> int:
        """The largest id plus one."""
        return 1 + max((int(end.max()) for end in (self.src, self.dst) if len(end)), default=-1)

    def blocks(self, lo: int = 0, hi: int | None = None) -> Iterator[slice]:
        """Cut a range of these edges, by default all, into blocks."""
        hi = len(self) if hi is None else hi
        for at in range(lo, hi, BLOCK):
            yield slice(at, min(at + BLOCK, hi))
