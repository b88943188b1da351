"""The rows of one rank: edges are written to their places, then each row is sorted, and duplicates are resolved."""

from __future__ import annotations

import itertools
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.ranks.degree_counts import offsets_of
from frontier.distributed.ranks.row_filling import places, scatter
from frontier.graph.build_arrays import repeated
from frontier.graph.build_sort import sorted_rows, take
from frontier.graph.topology import Array, offset_dtype
from frontier.memory.reserved import reserved

if TYPE_CHECKING:
    from frontier.distributed.ranks.degree_counts import Counts, Known
    from frontier.distributed.transport.communicators import Communicator

__all__ = ["BLOCKS", "OwnRows", "Rows", "blocks"]

#: Rows are sorted in so many blocks.
BLOCKS = 64


@dataclass(frozen=True)
class OwnRows:
    """The rows of one rank, in arrays as long as those of the whole graph, of which only its own slots are written.

    Attributes
    ----------
    starts : ndarray
        First vertex of every rank, and the number of vertices.
    own : tuple of int
        First vertex of this rank, and the first after its own.
    offsets : ndarray, shape (n + 1,)
        Of the whole graph.
    targets, values : ndarray, dict of ndarray, shape (m,)
        Weights are the value ``""``.
    facts : dict
        What is known of the whole graph.
    """

    starts: Array
    own: tuple[int, int]
    offsets: Array
    targets: Array
    values: dict[str, Array]
    facts: dict[str, Any]


class Rows:
    """The rows of a rank while they are filled.

    Their arrays have room for all edges that were counted, before this rank's own and after them. However many of them
    turn out to be duplicates, arrays that begin somewhat later have this rank's slots at their final places.

    Parameters
    ----------
    counts : Counts or Known
        The number of edges of each vertex, before duplicates are dropped.
    starts : ndarray
        First vertex of every rank, and the number of vertices.
    rank, num_vertices : int
    ids : dtype
        Of targets.
    dtypes : dict of dtypes
        Of the values that go with edges.
    """

    def __init__(
        self, counts: Counts | Known, starts: Array, rank: int, num_vertices: int, ids: np.dtype[Any],
        dtypes: dict[str, np.dtype[Any]],
    ) -> None:  # fmt: skip
        self._starts, self._names, self._n = starts, list(dtypes), num_vertices
        self._first = int(starts[rank])
        bounds = counts.before(starts)
        self._base, room = int(bounds[rank]), int(bounds[-1])
        own = counts.own(starts)
        self._begins = np.zeros(len(own) + 1, offset_dtype(int(bounds[rank + 1]) - self._base))
        np.cumsum(own, dtype=self._begins.dtype, out=self._begins[1:])
        del own
        self._cursor = self._begins[:-1].copy()
        self._arrays = [reserved(room, dtype) for dtype in (ids, *dtypes.values())]
        #: The ends of an edge that is there several times, with different weights, if that was asked for.
        self.differ: tuple[int, int] | None = None
        self._own = [array[self._base : self._base + int(self._begins[-1])] for array in self._arrays]

    def put(self, piece: tuple[Array, ...]) -> None:
        """Write edges to the rows of their sources."""
        at = places(self._cursor, piece[0] - self._first)
        for own, values in zip(self._own, piece[1:], strict=True):
            scatter(own, at, values)

    def sort(self, duplicates: str, watch: bool = False) -> None:
        """Sort the rows, and resolve duplicates; the only step that may find what is wrong on one rank alone.

        ``watch``: note an edge, :attr:`differ`, of which there are duplicates of different weights.
        """
        del self._cursor
        self._watch = watch
        self._degree, self._loops = self._sorted(duplicates)

    def finished(self, comm: Communicator) -> OwnRows:
        """Learn the rows of the others, once all are sorted."""
        degree, loops = self._degree, self._loops
        del self._degree
        count = int(degree.sum())
        own = [array[:count] for array in self._own]
        for array in self._own:
            array[count:] = 0  # where duplicates were
        offsets, bounds = offsets_of(degree, self._starts, comm)
        before, m = int(bounds[comm.rank]), int(bounds[-1])
        shift = self._base - before
        whole = [array[shift : shift + m] for array in self._arrays]
        facts = _facts(comm, offsets, own, self._names, loops)
        values = dict(zip(self._names, whole[1:], strict=True))
        own_vertices = self._first, self._first + len(degree)
        return OwnRows(self._starts, own_vertices, offsets, whole[0], values, facts)

    def _sorted(self, duplicates: str) -> tuple[Array, int]:
        """Sort all rows, some at a time; their degrees, and how many self-loops there are."""
        targets, *values = self._own
        columns = [value for name, value in zip(self._names, values, strict=True) if name]
        weights = values[0] if self._names[:1] == [""] else None
        degree, loops, filled = self._begins[:-1], 0, 0  # those of a block take the place of its offsets
        allowed = "keep" if duplicates == "error" else duplicates  # an error has to name the ends of an edge
        for begin, end in itertools.pairwise(blocks(self._begins)):
            lo, hi = int(self._begins[begin]), int(self._begins[end])
            ids = np.arange(end - begin, dtype=targets.dtype)
            rows = sorted_rows(
                np.repeat(ids, np.diff(self._begins[begin : end + 1])), targets[lo:hi], self._n, duplicates=allowed,
                weights=None if weights is None else weights[lo:hi], need_order=bool(columns), num_sources=end - begin,
                watch=self._watch and weights is not None,
            )  # fmt: skip
            if rows.differ is not None:
                self.differ, self._watch = (rows.differ[0] + self._first + begin, rows.differ[1]), False
            degree[begin:end] = np.diff(rows.offsets)
            there = slice(filled, filled + len(rows.targets))
            filled = there.stop
            sources = np.repeat(ids + self._first + begin, degree[begin:end])
            loops += int(np.count_nonzero(sources == rows.targets))
            if duplicates == "error":
                twice = np.flatnonzero((sources[1:] == sources[:-1]) & (rows.targets[1:] == rows.targets[:-1]))
                if len(twice):
                    raise repeated(int(sources[twice[0]]), int(rows.targets[twice[0]]))
            for column in columns:
                assert rows.order is not None
                column[there] = take(column[lo:hi], rows.order)
            targets[there] = rows.targets
            if weights is not None:
                weights[there] = rows.weights
        return degree, loops


def blocks(begins: Array, number: int = BLOCKS) -> list[int]:
    """Cut rows into blocks of about equally many edges."""
    lo, hi = int(begins[0]), int(begins[-1])
    cuts = np.searchsorted(begins, np.array([lo + (hi - lo) * i // number for i in range(1, number)], begins.dtype))
    return sorted({0, *cuts.tolist(), len(begins) - 1})


def _facts(comm: Communicator, offsets: Array, own: list[Array], names: list[str], loops: int) -> dict[str, Any]:
    """What is asked of a whole graph, from what each rank knows of its rows."""
    weights = own[1 + names.index("")] if "" in names else None
    some = weights is not None and len(weights) > 0
    least, most = (weights.min().item(), weights.max().item()) if some and weights is not None else (None, None)
    checksums = tuple(zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data) for array in own)
    told = comm.allgather((loops, least, most, checksums))
    facts = {
        "num_loops": sum(each[0] for each in told),
        "min_weight": min((each[1] for each in told if each[1] is not None), default=None),
        "max_weight": max((each[2] for each in told if each[2] is not None), default=None),
        "cached checksum": (zlib.crc32(offsets.data), *(each[3] for each in told)),
    }
    return facts
