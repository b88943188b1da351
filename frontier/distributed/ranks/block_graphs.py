"""The graph of a part's block in a grid, with the ids of the whole graph.

Only vertices of the part's column have edges in it (of its row, where in-edges are walked), and with many parts few of
these. So offsets are doubly compressed (:mod:`frontier.graph.sparse_offsets`) where that takes fewer bytes, and what is
counted while a block is made has an entry for each vertex of the column alone.

Where a step walks in-edges, these are taken for edges: the graph is said to be symmetric, so that in-edges are what
edges are, with their weights beside them.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.partition.partition import Partition
from frontier.distributed.ranks.grid import COLUMN, ROW
from frontier.distributed.ranks.row_filling import count, places, scatter
from frontier.graph.graph import Graph
from frontier.graph.sparse_offsets import SparseOffsets
from frontier.graph.topology import read_only

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from frontier.distributed.ranks.grid import Grid
    from frontier.distributed.transport.communicators import Communicator

__all__ = ["numbered", "sent", "taken"]

#: A part sends its edges in so many pieces at most, of so many edges at least.
PIECES, LEAST = 64, 1 << 17


class _Near:
    """The vertices that the near ends of a block's edges may be: those of some parts, numbered from 0 on."""

    def __init__(self, grid: Grid, starts: NDArray[Any], inwards: bool) -> None:
        column = grid.members[COLUMN]
        if inwards:
            row = np.array(grid.members[ROW])
            self._begins, self._ends = starts[row], starts[row + 1]
        else:  # parts that follow each other
            self._begins, self._ends = starts[[column.start]], starts[[column.stop]]
        sizes = self._ends - self._begins
        self.number = int(sizes.sum())
        self._first = np.cumsum(sizes) - sizes  # number of the first vertex of each part
        self._vertices = int(starts[-1])

    def numbers(self, ids: NDArray[Any]) -> NDArray[Any]:
        """The numbers of some vertices."""
        shift = (self._begins - self._first).astype(ids.dtype)
        part = 0 if len(shift) == 1 else np.searchsorted(self._ends, ids, side="right")
        found: NDArray[Any] = ids - shift[part]
        return found

    def offsets(self, upto: NDArray[Any]) -> Any:
        """Offsets of all vertices; ``upto`` has those by numbers, and one more."""
        numbers = np.flatnonzero(upto[1:] != upto[:-1])
        columns = numbers + (self._begins - self._first)[np.searchsorted(self._first, numbers, side="right") - 1]
        span = range(int(self._begins[0]), int(self._ends[-1]))
        if SparseOffsets.bytes_of(len(numbers), len(span), upto.itemsize) < (self._vertices + 1) * upto.itemsize:
            return SparseOffsets.of(columns, np.append(upto[numbers], upto[-1]), span, self._vertices)
        found = np.zeros(self._vertices + 1, upto.dtype)
        found[columns + 1] = upto[numbers + 1] - upto[numbers]
        return np.cumsum(found, out=found)


# ---- of a graph that is there as a whole -------------------------------------------------------------------


def taken(g: Graph, grid: Grid, starts: NDArray[Any], comm: Communicator, inwards: bool) -> Graph:
    """A block of a graph that is there as a whole."""
    offsets, far, slots = _lists(g, grid, starts, inwards)
    weights = None if g.weights is None else g.weights[slots]
    return _graph(g, offsets, far, weights, inwards)


def numbered(g: Graph, grid: Grid, starts: NDArray[Any], comm: Communicator, inwards: bool) -> Graph:
    """The same as the in-edges of a graph that has all edges, so that each keeps its slot."""
    offsets, far, slots = _lists(g, grid, starts, inwards)
    made = Graph(g.offsets, g.targets, g.weights, directed=True, placement=g.placement, check=False)
    derived, lists = made._topology.derived, (read_only(offsets), read_only(far))
    derived.update(in_lists=lists, in_edges=read_only(slots.astype(g.offsets.dtype)))
    made._topology.recipes["sources"] = lambda: g.sources
    return made


def _lists(g: Graph, grid: Grid, starts: NDArray[Any], inwards: bool) -> tuple[Any, ...]:
    """Offsets, far ends and slots of a block of a whole graph, by sources or by targets."""
    edges = Partition(g, "2d", grid.rows, grid.columns, starts).block(grid.rank)
    near, far, slots = edges.sources, edges.targets, edges.slots
    if inwards:
        order = np.argsort(edges.targets, kind="stable")
        near, far, slots = edges.targets, edges.sources[order], slots[order]
    ends = _Near(grid, starts, inwards)
    upto = np.zeros(ends.number + 1, g.offsets.dtype)
    np.cumsum(np.bincount(ends.numbers(near), minlength=ends.number), out=upto[1:])
    return ends.offsets(upto), far, slots


def _graph(g: Graph, offsets: Any, far: NDArray[Any], weights: NDArray[Any] | None, inwards: bool) -> Graph:
    """A block from its lists; what is derived of doubly compressed ones is made of lists that are not empty."""
    made = Graph(offsets, far, weights, directed=not inwards, placement=g.placement, check=False)
    if isinstance(offsets, SparseOffsets):
        made._topology.recipes["max_degree"] = lambda: offsets.longest
        made._topology.recipes["sources"] = lambda: np.repeat(offsets.columns.astype(far.dtype), offsets.lengths)
    return made


# ---- of a graph in parts ---------------------------------------------------------------------------------


def sent(g: Graph, grid: Grid, starts: NDArray[Any], comm: Communicator, inwards: bool) -> Graph:
    """A block of a graph in parts: owners of sources send edges to the parts of their column, piece by piece."""
    ends = _Near(grid, starts, inwards)
    upto = np.zeros(ends.number + 1, g.offsets.dtype)
    for (near,) in _received(g, grid, starts, comm, inwards, only_near=True):
        count(upto[1:], ends.numbers(near))
    np.cumsum(upto, out=upto)
    far = np.empty(int(upto[-1]), g.id_dtype)
    weights = None if g.weights is None else np.empty(len(far), g.weights.dtype)
    cursor = upto[:-1].astype(np.int64)
    for near, others, *values in _received(g, grid, starts, comm, inwards):
        at = places(cursor, ends.numbers(near))
        scatter(far, at, others)
        if weights is not None:
            scatter(weights, at, values[0])
    return _graph(g, ends.offsets(upto), far, weights, inwards)


def _received(
    g: Graph, grid: Grid, starts: NDArray[Any], comm: Communicator, inwards: bool, only_near: bool = False
) -> Iterator[tuple[NDArray[Any], ...]]:
    """Near ends, far ends and weights of the edges of a part's block, piece by piece."""
    lo, hi = (int(g.offsets[starts[rank]]) for rank in (comm.rank, comm.rank + 1))
    turns = max(1, min(PIECES, g.num_slots // (comm.size * LEAST)))
    column = grid.members[COLUMN]
    for begin, end in itertools.pairwise(lo + (hi - lo) * turn // turns for turn in range(turns + 1)):
        sources = np.searchsorted(g.offsets, np.arange(begin, end, dtype=g.offsets.dtype), side="right") - 1
        targets = g.targets[begin:end]
        both = sources.astype(targets.dtype), targets
        arrays = [*(reversed(both) if inwards else both)][: 1 if only_near else 2]
        if g.weights is not None and not only_near:
            arrays.append(g.weights[begin:end])
        owners = column.start + np.searchsorted(starts[1:], targets, side="right") % grid.rows
        there = (np.flatnonzero(owners == rank) for rank in range(comm.size))
        told = comm.alltoall([[array[at] for array in arrays] for at in there])
        yield tuple(np.concatenate(parts) for parts in zip(*told, strict=True))
