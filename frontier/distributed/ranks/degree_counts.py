"""How many edges each vertex has, of a graph that all ranks build together; no rank has the numbers of all vertices.

Vertices are counted in blocks, which the ranks take in turn: the first is that of rank 0, the next that of rank 1. So
each counts about as many vertices, also where nobody knows yet how many there are. All know the sums of the blocks;
these and what the owner of a block knows of it say where the graph is cut. Then every rank is told what others have
counted of the vertices that it gets.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.partition.cuts import at_shares, of_ranks
from frontier.distributed.ranks.row_filling import count
from frontier.graph.topology import Array, offset_dtype

if TYPE_CHECKING:
    from frontier.distributed.transport.communicators import Communicator

__all__ = ["Counts", "Known", "offsets_of", "sorted_out"]

#: A block has 2**BITS vertices.
BITS = 12
_BLOCK = 1 << BITS

#: Ranks tell each other one in so many of all degrees at a time, and each tells so many at least.
_ONE_IN, _LEAST = 64, 1 << 10


class Counts:
    """The number of edges of each vertex, of which a rank has those of its blocks. All ranks call the methods together.

    Parameters
    ----------
    comm : Communicator
    dtype : numpy.dtype
        Has room for the edges of a vertex.
    """

    def __init__(self, comm: Communicator, dtype: np.dtype[Any]) -> None:
        self._comm = comm
        self._found: Array = np.zeros(0, dtype)  # of the own blocks, one after the other
        self._before: Array = np.zeros(1, np.int64)  # edges before each block, and of all

    def add(self, *ids: Array) -> None:
        """Count an edge of each of these vertices."""
        comm = self._comm
        owners = [each >> BITS for each in ids]
        for owner in owners:
            owner %= comm.size
        parts = [sorted_out(owner, [each], comm.size) for owner, each in zip(owners, ids, strict=True)]
        for (came,) in itertools.chain(*comm.alltoall([list(each) for each in zip(*parts, strict=True)])):
            if len(came) == 0:
                continue
            places = came & (_BLOCK - 1)
            places += (came >> BITS) // comm.size << BITS
            self._grow(int(places.max()) + 1)
            count(self._found, places)

    def _grow(self, length: int) -> None:
        """Make room for whole blocks; they take little more than before if they are few, for few vertices are new."""
        if len(self._found) < length:
            room = max(-(-length // _BLOCK), len(self._found) * 9 // 8 // _BLOCK) * _BLOCK
            self._found = np.concatenate((self._found, np.zeros(room - len(self._found), self._found.dtype)))

    def starts(self, num_vertices: int) -> Array:
        """First vertex of each rank's part, and the end; see :func:`frontier.distributed.partition.cuts.of_ranks`."""
        comm = self._comm
        blocks = -(-num_vertices // _BLOCK)
        self._grow(len(range(comm.rank, blocks, comm.size)) * _BLOCK)
        sums = np.zeros(blocks, np.int64)
        for rank, each in enumerate(comm.allgather(self._found.reshape(-1, _BLOCK).sum(1, dtype=np.int64))):
            own = sums[rank :: comm.size]
            own[:] = each[: len(own)]
        self._before = np.concatenate(([0], np.cumsum(sums)))
        return of_ranks(at_shares(self.before, num_vertices, comm.size))

    def before(self, vertices: Array) -> Array:
        """Number of edges of all vertices that precede given ones, the same on all ranks."""
        found = np.zeros(len(vertices), np.int64)
        for at, vertex in enumerate(vertices.tolist()):
            turn, owner = divmod(vertex >> BITS, self._comm.size)
            if owner == self._comm.rank:
                first = turn << BITS
                found[at] = self._found[first : first + vertex % _BLOCK].sum(dtype=np.int64)
        self._comm.allreduce(found)
        found += self._before[vertices >> BITS]
        return found

    def own(self, starts: Array) -> Array:
        """The numbers of this rank's own vertices; this gives away what the rank has counted."""
        comm = self._comm
        cuts = [self._place(comm.rank, vertex) for vertex in starts.tolist()]
        told = comm.alltoall([self._found[lo:hi] for lo, hi in itertools.pairwise(cuts)])
        first, end = starts[comm.rank : comm.rank + 2].tolist()
        made = np.empty(end - first, self._found.dtype)
        self._found = self._found[:0].copy()
        offset = [self._place(rank, first) for rank in range(comm.size)]
        while first < end:
            rank, stop = (first >> BITS) % comm.size, min(end, (first // _BLOCK + 1) * _BLOCK)
            lo = self._place(rank, first) - offset[rank]
            made[len(made) - (end - first) : len(made) - (end - stop)] = told[rank][lo : lo + stop - first]
            first = stop
        return made

    def _place(self, rank: int, vertex: int) -> int:
        """How many of the vertices that precede one are in blocks of a rank."""
        turn, owner = divmod(vertex >> BITS, self._comm.size)
        return (turn + (rank < owner)) * _BLOCK + (vertex % _BLOCK if rank == owner else 0)


class Known:
    """The number of edges of each vertex, from offsets that every rank has; otherwise as :class:`Counts`.

    Parameters
    ----------
    comm : Communicator
    offsets : ndarray
    """

    def __init__(self, comm: Communicator, offsets: Array) -> None:
        self._comm, self._offsets = comm, offsets

    def starts(self, num_vertices: int) -> Array:
        """First vertex of each rank's part, and the end."""
        return of_ranks(at_shares(self.before, num_vertices, self._comm.size))

    def before(self, vertices: Array) -> Array:
        """Number of edges of all vertices that precede given ones."""
        return self._offsets[vertices].astype(np.int64)

    def own(self, starts: Array) -> Array:
        """The numbers of this rank's own vertices."""
        first, end = starts[self._comm.rank : self._comm.rank + 2].tolist()
        return np.diff(self._offsets[first : end + 1]).astype(offset_dtype(int(self._offsets[-1])), copy=False)


def sorted_out(owner: Array, arrays: list[Array], size: int) -> list[list[Array]]:
    """For each rank, the entries of arrays that it owns, in their order."""
    there = (np.flatnonzero(owner == rank) for rank in range(size))
    return [[array[at] for array in arrays] for at in there]


def offsets_of(degree: Array, starts: Array, comm: Communicator) -> tuple[Array, Array]:
    """The offsets of the whole graph, and the first slot of every rank; each rank gives the degrees of its vertices."""
    bounds = np.concatenate(([0], np.cumsum(comm.allgather(int(degree.sum(dtype=np.int64))))))
    offsets = np.zeros(int(starts[-1]) + 1, offset_dtype(int(bounds[-1])))
    step = max(_LEAST, int(starts[-1]) // (_ONE_IN * comm.size))
    for turn in range(0, int(np.diff(starts).max()), step):
        first = np.minimum(starts[:-1] + turn, starts[1:])
        stop = np.minimum(first + step, starts[1:])
        lengths = ((stop - first) * offsets.itemsize).tolist()
        given = degree[turn : turn + step].astype(offsets.dtype).tobytes()
        for lo, hi, came in zip(first.tolist(), stop.tolist(), comm.allgather_bytes(given, lengths), strict=True):
            offsets[lo + 1 : hi + 1] = np.frombuffer(came, offsets.dtype)
    np.cumsum(offsets, dtype=offsets.dtype, out=offsets)
    return offsets, bounds
