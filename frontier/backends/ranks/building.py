"""The rows of a graph in parts: every rank makes a share of the edges, and each edge goes to the owner of its source.

The edges are made twice. First they are only counted: the degrees say which vertices a rank owns, and where the edges
of each begin. Then they are made again, piece by piece, sent to their owners, and written to their places. So a rank
never holds more than its own rows and one piece. At last each row is sorted, and duplicates are resolved, some rows
at a time, in place.

Edges arrive in the order in which one process would have made them. So the graph is the same.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.ranks.rounds import common, met
from frontier.errors import GraphError
from frontier.graph.build_sort import sorted_rows, take
from frontier.graph.shares import Piece, Shares
from frontier.graph.topology import Array, id_dtype, offset_dtype
from frontier.memory.reserved import reserved
from frontier.partitions.cuts import at_equal_weights

if TYPE_CHECKING:
    from frontier.backends.ranks.communicators import Communicator

__all__ = ["OwnRows", "build", "mixed", "places"]

#: A share is made in so many pieces at most, of so many edges at least; rows are sorted in so many blocks.
PIECES, LEAST, BLOCKS = 256, 1 << 14, 64


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


def build(shares: Shares, comm: Communicator, *, directed: bool, duplicates: str, self_loops: str) -> OwnRows:
    """Build the rows that a rank owns; all ranks call this together."""
    told = met(comm, "builds a graph", (shares.name, shares.alone, directed, duplicates, self_loops))
    for rank, each in enumerate(told):
        if each != told[0]:
            raise common(GraphError(
                f"rank {rank} does not build the same graph as rank 0: all must call the same, with the same seed, "
                "file or edges, or with parts=True"
            ))  # fmt: skip
    work = _Pieces(shares, comm, both=not directed and not shares.both_ways, self_loops=self_loops)
    degree = work.survey()
    begins = np.zeros(len(degree) + 1, offset_dtype(int(degree.sum(dtype=np.int64))))
    np.cumsum(degree, out=begins[1:])
    del degree
    starts = at_equal_weights(begins, comm.size)
    rows = _Rows(work, begins, starts, comm.rank)
    del begins
    for piece in work.received(starts):
        rows.put(piece)
    made = rows.finished(comm, duplicates)
    if not directed and shares.both_ways:
        check_both_ways(made, comm)
    return made


class _Pieces:
    """The edges in the order of their numbers, each piece made by all ranks together."""

    def __init__(self, shares: Shares, comm: Communicator, both: bool, self_loops: str) -> None:
        self._shares, self._comm, self._both, self._self_loops = shares, comm, both, self_loops
        counts = comm.gather(shares.count)
        self._first, self._total = 0, shares.count
        if shares.alone:
            self._first, self._total = sum(counts[: comm.rank]), sum(counts)
        self._turns = max(1, min(PIECES, self._total // (comm.size * LEAST)))
        self._found = 0
        #: What :meth:`survey` finds out.
        self.num_vertices, self.ids = 0, np.dtype(np.int32)
        self.dtypes: dict[str, np.dtype[Any]] = {}

    def _made(self) -> Iterator[Piece]:
        """Make the share of this rank, piece by piece."""
        rank, size = self._comm.rank, self._comm.size
        cuts = [self._total * turn // self._turns for turn in range(self._turns + 1)]
        for lo, hi in itertools.pairwise(cuts):
            if self._shares.alone:  # those of the piece that this rank has
                end = self._first + self._shares.count
                begin, stop = (min(max(at, self._first), end) - self._first for at in (lo, hi))
            else:
                begin, stop = (lo + (hi - lo) * share // size for share in (rank, rank + 1))
            piece = self._shares.make(begin, stop)
            self._found += len(piece.src)
            yield self._shares.checked(piece, self._self_loops)

    def survey(self) -> Array:
        """Find out how many vertices there are, and how many edges each has before duplicates are dropped."""
        asked = self._comm.gather(self._shares.num_vertices)
        if len(set(asked)) > 1:
            raise GraphError("all ranks must say the same num_vertices=")
        known = asked[0]
        found = np.zeros(self._shares.least if known is None else known, offset_dtype(2 * self._total))
        empty: dict[str, Any] = {}  # dtypes of weights and columns
        full: dict[str, set[Any]] = {}
        for piece in self._made():
            found = _counted(found, piece, self._both, known)
            for name, value in piece.values.items():
                empty.setdefault(name, value.dtype)
                if len(value):
                    full.setdefault(name, set()).add(value.dtype)
        if self._shares.check is not None:
            self._shares.check(self._found if self._shares.alone else sum(self._comm.gather(self._found)))
        self.num_vertices = max(self._comm.gather(len(found)))
        self.ids = id_dtype(self.num_vertices)
        self._agree_dtypes(empty, full)
        found = _lengthened(found, self.num_vertices)
        self._comm.add(found)
        return found

    def _agree_dtypes(self, empty: dict[str, Any], full: dict[str, set[Any]]) -> None:
        """Find dtypes that hold the values of all; what is empty counts only where nothing has values."""
        told = self._comm.gather((empty, full))
        if any(set(each) != set(told[0][0]) for each, _ in told):
            raise GraphError("either all ranks give weights, and the same columns, or none does")
        for name in told[0][0]:
            dtypes = {dtype for _, each in told for dtype in each.get(name, ())}
            self.dtypes[name] = np.result_type(*(dtypes or {told[0][0][name]}))

    def received(self, starts: Array) -> Iterator[tuple[Array, ...]]:
        """Of each piece the edges that begin at this rank's vertices: sources, targets and values."""
        for made in self._made():
            ends = made.src.astype(self.ids, copy=False), made.dst.astype(self.ids, copy=False)
            arrays = [*ends, *(made.values[name].astype(dtype) for name, dtype in self.dtypes.items())]
            if self._both:
                arrays = _both_ways(*arrays)
            owner = np.searchsorted(starts[1:], arrays[0], side="right")
            there = (np.flatnonzero(owner == rank) for rank in range(self._comm.size))
            told = self._comm.deal([[array[at] for array in arrays] for at in there])
            del made, ends, arrays, owner
            yield tuple(np.concatenate(parts) for parts in zip(*told, strict=True))


def _counted(found: Array, piece: Piece, both: bool, known: int | None) -> Array:
    """Add the edges of a piece to those of each vertex."""
    for name, end in (("src", piece.src), ("dst", piece.dst)):
        if len(end) == 0:
            continue
        if end.min() < 0 or (known is not None and end.max() >= known):
            wrong = end[(end < 0) | (end >= len(found))][0]
            raise GraphError(f"{name} has the vertex {wrong}, but there are {len(found)}, from 0")
        found = _lengthened(found, int(end.max()) + 1)
    np.add.at(found, piece.src, 1)
    if both:
        np.add.at(found, piece.dst[piece.src != piece.dst], 1)
    return found


def _lengthened(array: Array, length: int) -> Array:
    if len(array) >= length:
        return array
    return np.concatenate((array, np.zeros(length - len(array), array.dtype)))


def _both_ways(src: Array, dst: Array, *values: Array) -> list[Array]:
    """Each edge, followed by its reverse if that is another one."""
    kept = np.ones(2 * len(src), np.bool_)
    kept[1::2] = src != dst
    ends = np.stack((src, dst), 1)
    return [ends.ravel()[kept], ends[:, ::-1].ravel()[kept], *(np.repeat(value, 2)[kept] for value in values)]


class _Rows:
    """The rows of a rank while they are filled.

    Their arrays have room for all edges that were counted, before this rank's own and after them. However many of them
    turn out to be duplicates, arrays that begin somewhat later have this rank's slots at their final places.
    """

    def __init__(self, work: _Pieces, begins: Array, starts: Array, rank: int) -> None:
        self._starts, self._names = starts, list(work.dtypes)
        self._first, self._end = int(starts[rank]), int(starts[rank + 1])
        self._n, room = len(begins) - 1, int(begins[-1])
        self._base = int(begins[self._first])
        self._begins = begins[self._first : self._end + 1].astype(np.int64) - self._base
        self._cursor = self._begins[:-1].copy()
        self._arrays = [reserved(room, dtype) for dtype in (work.ids, *work.dtypes.values())]
        self._own = [array[self._base : self._base + int(self._begins[-1])] for array in self._arrays]

    def put(self, piece: tuple[Array, ...]) -> None:
        """Write edges to the rows of their sources."""
        at = places(self._cursor, piece[0] - self._first)
        for own, values in zip(self._own, piece[1:], strict=True):
            own[at] = values

    def finished(self, comm: Communicator, duplicates: str) -> OwnRows:
        """Sort the rows, and learn those of the others."""
        del self._cursor
        degree, loops = self._sorted(duplicates)
        count = int(degree.sum())
        own = [array[:count] for array in self._own]
        for array in self._own:
            array[count:] = 0  # where duplicates were
        offsets, bounds = _offsets(comm.gather(degree), self._n, int(self._starts[-1]))
        before, m = int(bounds[comm.rank]), int(bounds[-1])
        shift = self._base - before
        whole = [array[shift : shift + m] for array in self._arrays]
        facts = _facts(comm, offsets, own, self._names, loops)
        values = dict(zip(self._names, whole[1:], strict=True))
        return OwnRows(self._starts, (self._first, self._end), offsets, whole[0], values, facts)

    def _sorted(self, duplicates: str) -> tuple[Array, int]:
        """Sort all rows, some at a time; their degrees, and how many self-loops there are."""
        targets, *values = self._own
        columns = [value for name, value in zip(self._names, values, strict=True) if name]
        weights = values[0] if self._names[:1] == [""] else None
        degree, loops, filled = np.zeros(len(self._begins) - 1, offset_dtype(len(targets))), 0, 0
        for begin, end in itertools.pairwise(_blocks(self._begins)):
            lo, hi = int(self._begins[begin]), int(self._begins[end])
            base = 0 if duplicates == "error" else self._first + begin  # its message has the ends of an edge
            ids = np.arange(self._first + begin - base, self._first + end - base, dtype=targets.dtype)
            rows = sorted_rows(
                np.repeat(ids, np.diff(self._begins[begin : end + 1])), targets[lo:hi], self._n, duplicates=duplicates,
                weights=None if weights is None else weights[lo:hi], need_order=bool(columns),
                num_sources=self._first + end - base,
            )  # fmt: skip
            degree[begin:end] = np.diff(rows.offsets[self._first + begin - base :])
            there = slice(filled, filled + len(rows.targets))
            filled = there.stop
            loops += int(np.count_nonzero(np.repeat(ids + base, degree[begin:end]) == rows.targets))
            for column in columns:
                assert rows.order is not None
                column[there] = take(column[lo:hi], rows.order)
            targets[there] = rows.targets
            if weights is not None:
                weights[there] = rows.weights
        return degree, loops


def check_both_ways(rows: OwnRows, comm: Communicator) -> None:
    """Refuse rows in which not every edge has its reverse, with the same weight; all ranks call this together.

    An edge and its reverse are with different ranks. So each adds up numbers that are made of its edges, and of their
    reverses: the sums of all ranks are equal if the edges are, and hardly ever otherwise.
    """
    first, end = rows.own
    begins = rows.offsets[first : end + 1].astype(np.int64)
    weights = rows.values.get("")
    there = back = 0
    for begin, stop in itertools.pairwise(_blocks(begins - begins[0])):
        slots = slice(int(begins[begin]), int(begins[stop]))
        src = np.repeat(np.arange(first + begin, first + stop, dtype=np.uint64), np.diff(begins[begin : stop + 1]))
        dst = rows.targets[slots].astype(np.uint64)
        value = None if weights is None else weights[slots]
        there, back = there + mixed(src, dst, value), back + mixed(dst, src, value)
    told = comm.gather((there, back))
    if (sum(each[0] for each in told) - sum(each[1] for each in told)) % 2**64:
        raise common(GraphError(
            "the rows of an undirected graph must have every edge both ways, with the same weight, and these do not"
        ))  # fmt: skip


def mixed(src: Array, dst: Array, weights: Array | None) -> int:
    """A number that is made of edges, in whatever order they are."""
    found: Any = src * np.uint64(0x9E3779B97F4A7C15) + dst * np.uint64(0xC2B2AE3D27D4EB4F)
    if weights is not None:
        bits = (weights.astype(np.float64) + 0.0).view(np.uint64) if weights.dtype.kind == "f" else weights
        found += bits.astype(np.uint64) * np.uint64(0x165667B19E3779F9)
    found ^= found >> np.uint64(31)
    found *= np.uint64(0xBF58476D1CE4E5B9)
    found ^= found >> np.uint64(29)
    return int(found.sum(dtype=np.uint64))


def places(cursor: Array, rows: Array) -> Array:
    """Where entries of some rows go: ``cursor`` has the next place of each row, and moves on."""
    keys = (rows.astype(np.int64) << 32) | np.arange(len(rows))
    keys.sort()
    order, row = keys & 0xFFFFFFFF, keys >> 32
    heads = np.flatnonzero(np.diff(row, prepend=-1))
    counts = np.diff(heads, append=len(row))
    at = np.empty(len(rows), np.int64)
    at[order] = cursor[row] + np.arange(len(row)) - np.repeat(heads, counts)
    cursor[row[heads]] += counts
    return at


def _blocks(begins: Array) -> list[int]:
    """Cut rows into blocks of about equally many edges."""
    total = int(begins[-1])
    cuts = np.searchsorted(begins, [total * i // BLOCKS for i in range(1, BLOCKS)])
    return sorted({0, *cuts.tolist(), len(begins) - 1})


def _offsets(degrees: list[Array], n: int, end: int) -> tuple[Array, Array]:
    """The offsets of the whole graph, and the first slot of every rank."""
    bounds = np.zeros(len(degrees) + 1, np.int64)
    bounds[1:] = np.cumsum([degree.sum(dtype=np.int64) for degree in degrees])
    offsets = np.zeros(n + 1, offset_dtype(int(bounds[-1])))
    at = 1
    for first, degree in zip(bounds.tolist(), degrees, strict=False):
        row = offsets[at : at + len(degree)]
        np.cumsum(degree, out=row)
        row += offsets.dtype.type(first)
        at += len(degree)
    assert at == end + 1
    return offsets, bounds


def _facts(comm: Communicator, offsets: Array, own: list[Array], names: list[str], loops: int) -> dict[str, Any]:
    """What is asked of a whole graph, from what each rank knows of its rows."""
    weights = own[1 + names.index("")] if "" in names else None
    some = weights is not None and len(weights) > 0
    least, most = (weights.min().item(), weights.max().item()) if some and weights is not None else (None, None)
    checksums = tuple(zlib.crc32(np.ascontiguousarray(array).data) for array in own)
    told = comm.gather((loops, least, most, checksums))
    facts = {
        "num_loops": sum(each[0] for each in told),
        "min_weight": min((each[1] for each in told if each[1] is not None), default=None),
        "max_weight": max((each[2] for each in told if each[2] is not None), default=None),
        "cached checksum": (zlib.crc32(offsets.data), *(each[3] for each in told)),
    }
    return facts
