"""The rows of a graph in parts: every rank makes a share of the edges, and each edge goes to the owner of its source.

The edges are made twice. First they are only counted (:mod:`frontier.distributed.ranks.degree_counts`): the degrees say
which vertices a rank owns, and where the edges of each begin. Then they are made again, piece by piece, sent to their
owners, and written to their places. So a rank never holds more than its own rows and one piece. Each row is sorted, and
duplicates are resolved, some rows at a time, in place. At last the ranks tell each other the degrees, as all have the
offsets of the whole graph.

Edges arrive in the order in which one process would have made them. So the graph is the same.

Where edges are sorted by source, as in an archive of :func:`frontier.write`, and their offsets are known, nothing has
to be counted or sent: each rank makes its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.ranks.degree_counts import Counts, Known, sorted_out
from frontier.distributed.ranks.local_rows import OwnRows, Rows
from frontier.distributed.ranks.symmetry import check_both_ways
from frontier.distributed.transport.rounds import common, met, sendable
from frontier.errors import FrontierError, GraphError
from frontier.graph.doubts import GAPS_FROM, ONE_IN, say_gaps, warn_of_duplicates
from frontier.graph.shares import Piece, Shares
from frontier.graph.topology import Array, id_dtype, offset_dtype

if TYPE_CHECKING:
    from frontier.distributed.transport.communicators import Communicator

__all__ = ["agree", "build", "turns"]

#: A share is made in so many pieces at most, of so many edges at least. In a sorted file, all that the ranks make at a
#: time may go to one of them.
PIECES, LEAST = 256, 1 << 11

#: With many ranks, a share is made in so many pieces for each.
_PIECES_EACH = 64

#: Vertices of which is counted at a time how many have edges.
_COUNTED = 1 << 16

#: What a rank has instead of edges that are wrong.
_NOTHING = Piece(np.zeros(0, np.int64), np.zeros(0, np.int64))


def build(shares: Shares, comm: Communicator, *, directed: bool, duplicates: str, self_loops: str) -> OwnRows:
    """Build the rows that a rank owns; all ranks call this together."""
    both = not directed and not shares.both_ways
    # a self-loop that is left out is in the offsets
    offsets = shares.offsets if not both and self_loops == "keep" and not shares.alone else None
    agree(comm, (shares.name, shares.alone, directed, duplicates, self_loops, offsets is not None))
    try:
        rows = _filled(_Pieces(shares, comm, both, self_loops), comm, offsets)
    finally:
        if shares.done is not None:
            shares.done()
    _sort(rows, comm, duplicates, "duplicates" in shares.doubts)
    made = rows.finished(comm)
    if shares.doubts:
        _warn(shares, rows, made, comm, directed)
    if not directed and shares.both_ways:
        check_both_ways(made, comm)
    return made


def agree(comm: Communicator, given: tuple[Any, ...] | Exception) -> None:
    """Let ranks that are going to build a graph tell each other what it is; all call this together.

    A rank that has found what is wrong gives the error instead: all raise that of the first rank.
    """
    told = met(comm, "builds a graph", sendable(given) if isinstance(given, Exception) else given)
    _raise_first(comm, [(0, each) if isinstance(each, Exception) else None for each in told])
    for rank, each in enumerate(told):
        if each != told[0]:
            raise common(GraphError(
                f"rank {rank} does not build the same graph as rank 0: all must call the same, with the same seed, "
                "file or edges, or with parts=True"
            ))  # fmt: skip


def _warn(shares: Shares, rows: Rows, made: OwnRows, comm: Communicator, directed: bool) -> None:
    """Warn, on one rank, of edges that may not be meant as they are taken; all call this together."""
    differ = [each for each in comm.allgather(rows.differ) if each is not None]
    gaps = ids_with_gaps(comm, made, directed) if "gaps" in shares.doubts else None
    if comm.rank == 0 and differ:
        source, target = differ[0]
        warn_of_duplicates(source, target, None)
    if comm.rank == 0 and gaps is not None:
        say_gaps(len(made.offsets) - 1, gaps)


def ids_with_gaps(comm: Communicator, made: OwnRows, directed: bool) -> int | None:
    """How many ids occur, if that is less than one in four."""
    n = len(made.offsets) - 1
    if n < GAPS_FROM:
        return None
    offsets = made.offsets
    cuts = [*range(0, n, _COUNTED), n]  # some at a time, for a rank has little memory beside its part
    found = sum(int((offsets[lo + 1 : hi + 1] != offsets[lo:hi]).sum()) for lo, hi in itertools.pairwise(cuts))
    if directed and found <= n // ONE_IN:
        occurs = offsets[1:] != offsets[:-1]
        occurs[made.targets[slice(*(int(offsets[at]) for at in made.own))]] = True
        for bits in comm.allgather(np.packbits(occurs)):
            occurs |= np.unpackbits(bits, count=n).view(bool)
        found = int(np.count_nonzero(occurs))
    return found if found <= n // ONE_IN else None


def _sort(rows: Rows, comm: Communicator, duplicates: str, watch: bool) -> None:
    """Sort the rows of each rank; one that has refused duplicates tells the others."""
    if duplicates != "error":
        rows.sort(duplicates, watch)
        return
    failed = None
    try:
        rows.sort(duplicates)
    except GraphError as error:
        failed = 0, error
    _raise(comm, failed)


def _filled(work: _Pieces, comm: Communicator, offsets: Callable[[], Array] | None) -> Rows:
    """The rows that a rank owns, with edges as they came; with ``offsets`` if these are sorted by source."""
    counts: Counts | Known = work.survey() if offsets is None else work.known(offsets())
    starts = counts.starts(work.num_vertices)
    rows = Rows(counts, starts, comm.rank, work.num_vertices, work.ids, work.dtypes)
    if offsets is None:
        del counts
        for piece in work.received(starts):
            rows.put(piece)
    else:
        begin, end = counts.before(starts[comm.rank : comm.rank + 2]).tolist()
        del counts
        work.made(begin, end, rows.put)
    return rows


class _Pieces:
    """The edges in the order of their numbers, each piece made by all ranks together."""

    def __init__(self, shares: Shares, comm: Communicator, both: bool, self_loops: str) -> None:
        self._shares, self._comm, self._both, self._self_loops = shares, comm, both, self_loops
        counts = comm.allgather(shares.count)
        self._first, self._total = 0, shares.count
        if shares.alone:
            self._first, self._total = sum(counts[: comm.rank]), sum(counts)
        self._turns = turns(self._total, comm.size, LEAST)
        self._found = 0
        #: What :meth:`survey` finds out.
        self.num_vertices, self.ids = 0, np.dtype(np.int32)
        self.dtypes: dict[str, np.dtype[Any]] = {}

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Which edges this rank makes, in each turn."""
        rank, size = self._comm.rank, self._comm.size
        cuts = [self._total * turn // self._turns for turn in range(self._turns + 1)]
        for lo, hi in itertools.pairwise(cuts):
            if self._shares.alone:  # those of the piece that this rank has
                end = self._first + self._shares.count
                begin, stop = (min(max(at, self._first), end) - self._first for at in (lo, hi))
            else:
                begin, stop = (lo + (hi - lo) * share // size for share in (rank, rank + 1))
            yield begin, stop

    def _piece(self, begin: int, stop: int) -> Piece:
        """Make some edges."""
        piece = self._shares.make(begin, stop)
        self._found += len(piece.src)
        return self._shares.checked(piece, self._self_loops)

    def _asked(self) -> int | None:
        """How many vertices there shall be."""
        asked = self._comm.allgather(self._shares.num_vertices)
        if len(set(asked)) > 1:
            raise common(GraphError("all ranks must say the same num_vertices="))
        said: int | None = asked[0]
        return said

    def known(self, offsets: Array) -> Known:
        """Find out what :meth:`survey` does, if edges are sorted by source."""
        self.num_vertices = self._asked() or 0
        self.ids = id_dtype(self.num_vertices)
        one = self._shares.make(0, min(1, self._shares.count))  # of one file, so all values are like these
        self.dtypes = {name: value.dtype for name, value in one.values.items()}
        return Known(self._comm, offsets)

    def survey(self) -> Counts:
        """Find out how many vertices there are, and count the edges of each before duplicates are dropped.

        If edges of some ranks are wrong, all raise the error of the first.
        """
        known = self._asked()
        counts = Counts(self._comm, offset_dtype(2 * self._total))
        least = self._shares.least if known is None else known
        empty: dict[str, Any] = {}  # dtypes of weights and columns
        full: dict[str, set[Any]] = {}
        failed = None
        for turn, (begin, stop) in enumerate(self._ranges()):
            try:
                piece = self._piece(begin, stop)
                least = max(least, _checked(piece, least, known is not None))
            except (FrontierError, OSError) as error:
                failed, piece = failed or (turn, sendable(error)), _NOTHING  # the others wait in this turn
            counts.add(piece.src, *([piece.dst[piece.src != piece.dst]] if self._both else []))
            for name, value in piece.values.items():
                empty.setdefault(name, value.dtype)
                if len(value):
                    full.setdefault(name, set()).add(value.dtype)
        check, alone = self._shares.check, self._shares.alone
        if check is not None and alone and failed is None:
            try:
                check(self._found)
            except FrontierError as error:  # of this rank's file, which the others do not know
                failed = self._turns, error
        _raise(self._comm, failed)
        if check is not None and not alone:
            check(sum(self._comm.allgather(self._found)))
        self.num_vertices = max(self._comm.allgather(least))
        self.ids = id_dtype(self.num_vertices)
        self._agree_dtypes(empty, full)
        return counts

    def _agree_dtypes(self, empty: dict[str, Any], full: dict[str, set[Any]]) -> None:
        """Find dtypes that hold the values of all; what is empty counts only where nothing has values."""
        told = self._comm.allgather((empty, full))
        if any(set(each) != set(told[0][0]) for each, _ in told):
            raise common(GraphError("either all ranks give weights, and the same columns, or none does"))
        for name in told[0][0]:
            dtypes = {dtype for _, each in told for dtype in each.get(name, ())}
            self.dtypes[name] = np.result_type(*(dtypes or {told[0][0][name]}))

    def made(self, begin: int, end: int, put: Callable[[tuple[Array, ...]], None]) -> None:
        """Make edges begin to end - 1, which are this rank's own, some at a time: sources, targets and values."""
        step, failed = max(self._average(), 1), None
        try:
            for lo in range(begin, end, step):
                piece = self._shares.make(lo, min(lo + step, end))
                _checked(piece, self.num_vertices, known=True)
                put(self._arrays(piece))
        except (FrontierError, OSError) as error:
            failed = 0, sendable(error)
        _raise(self._comm, failed)  # which is also when parts of one process need not make more of the same things

    def _average(self) -> int:
        """How many edges of a piece each rank makes."""
        return -(-self._total // (self._turns * self._comm.size))

    def _arrays(self, piece: Piece) -> tuple[Array, ...]:
        """Sources, targets and values with the dtypes of the graph."""
        ends = piece.src.astype(self.ids, copy=False), piece.dst.astype(self.ids, copy=False)
        return *ends, *(piece.values[name].astype(dtype, copy=False) for name, dtype in self.dtypes.items())

    def received(self, starts: Array) -> Iterator[tuple[Array, ...]]:
        """Of each piece the edges that begin at this rank's vertices, some at a time: sources, targets and values."""
        most = 2 * self._average() * (1 + self._both)
        for begin, stop in self._ranges():
            made = self._piece(begin, stop)
            arrays = list(self._arrays(made))
            if self._both:
                arrays = _both_ways(*arrays)
            owner = np.searchsorted(starts[1:], arrays[0], side="right")
            told = self._comm.alltoall(sorted_out(owner, arrays, self._comm.size))
            del made, arrays, owner
            yield from _some(told, most)
            del told


def _some(told: list[Any], most: int) -> Iterator[tuple[Array, ...]]:
    """Join what ranks have told, in their order, until it is so many edges.

    Where edges are sorted, one rank gets all of a piece. To bring edges to their rows takes several times their memory.
    """
    held: list[Any] = []
    for each in told:
        held.append(each)
        if sum(len(arrays[0]) for arrays in held) >= most:
            yield tuple(np.concatenate(parts) for parts in zip(*held, strict=True))
            held = []
    if held:
        yield tuple(np.concatenate(parts) for parts in zip(*held, strict=True))


def _raise(comm: Communicator, failed: tuple[int, Exception] | None) -> None:
    """Raise the first error, if a rank has one, on all; with the turn in which it occurred."""
    _raise_first(comm, comm.allgather(failed))


def _raise_first(comm: Communicator, found: list[tuple[int, Exception] | None]) -> None:
    """Raise the first of the errors that ranks have told."""
    told = [(each[0], rank, each[1]) for rank, each in enumerate(found) if each is not None]
    if told:
        _, rank, error = min(told, key=lambda each: each[:2])
        error.add_note(f"(rank {rank} of {comm.size})")
        raise common(error)


def _checked(piece: Piece, least: int, known: bool) -> int:
    """Refuse ends that are no vertices; the number of vertices that a piece needs, or ``least`` if that is known."""
    for name, end in (("src", piece.src), ("dst", piece.dst)):
        if len(end) == 0:
            continue
        if end.min() < 0 or (known and end.max() >= least):
            wrong = end[(end < 0) | (end >= least)][0]
            raise GraphError(f"{name} has the vertex {wrong}, but there are {least}, from 0")
        least = max(least, int(end.max()) + 1)
    return least


def _both_ways(src: Array, dst: Array, *values: Array) -> list[Array]:
    """Each edge, followed by its reverse if that is another one."""
    kept = np.ones(2 * len(src), np.bool_)
    kept[1::2] = src != dst
    ends = np.stack((src, dst), 1)
    return [ends.ravel()[kept], ends[:, ::-1].ravel()[kept], *(np.repeat(value, 2)[kept] for value in values)]


def turns(edges: int, ranks: int, least: int) -> int:
    """In how many pieces, of so many edges at least, each rank makes or sends its share of so many edges."""
    return max(1, min(max(PIECES, _PIECES_EACH * ranks), edges // (ranks * least)))
