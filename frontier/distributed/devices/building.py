"""Graphs that several GPUs build together: each makes a share of the edges, and has at last those of its own vertices.

As on ranks (:mod:`frontier.distributed.ranks.building`), the edges are made twice. First they are only counted: the
degrees say which vertices a GPU owns, and where the edges of each begin. Then they are made again, piece by piece, and
each edge goes to the GPU that owns its source, and to its place there. At last rows are sorted, and duplicates are
resolved, some rows at a time. So a GPU never holds more than its own rows twice, and one piece.

Edges arrive in the order in which one processor would have made them. So the graph is the same; or it is the same with
its vertices renumbered (:mod:`frontier.distributed.devices.numbering`).
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.devices import together
from frontier.distributed.devices.numbering import Numbering
from frontier.distributed.devices.spreading import HINT, Spread
from frontier.distributed.partition.cuts import at_equal_weights, whole_words
from frontier.errors import GraphError
from frontier.graph.build import from_edges
from frontier.graph.build_arrays import count, sorted_rows, spread
from frontier.graph.graph import Graph
from frontier.graph.shares import Piece
from frontier.graph.topology import id_dtype, offset_dtype
from frontier.graph.validation import mixed
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from frontier.graph.shares import Shares
    from frontier.memory.base import Memory
    from frontier.memory.placement import Placement

__all__ = ["build", "build_numbered", "share_of", "turns", "whole"]

#: Edges that a GPU makes in one go, and edges of the rows that it sorts in one go.
PIECE, BLOCK = 1 << 24, 1 << 27


def whole(shares: Shares, *, directed: bool, duplicates: str, self_loops: str, **more: Any) -> Graph:
    """Build a graph on the host."""
    made = shares.make(0, shares.count)
    if shares.check is not None:
        shares.check(len(made.src))
    n = shares.num_vertices
    if n is None:
        n = max([shares.least, *(int(end.max()) + 1 for end in (made.src, made.dst) if len(end))])
    graph = from_edges(
        made.src, made.dst, made.weights, num_vertices=n, directed=directed or shares.both_ways, duplicates=duplicates,
        self_loops=self_loops, edges=made.columns, **more,
    )  # fmt: skip
    if directed or not shares.both_ways:
        return graph
    from frontier.graph.build import check_symmetric

    check_symmetric(graph)
    return Graph(
        graph.offsets, graph.targets, graph.weights, directed=False, labels=graph.labels, vertices=graph.vertices,
        edges=graph.edges, check=False,
    )  # fmt: skip


def build(
    shares: Shares, place: Placement, memories: Sequence[Memory], *, directed: bool, duplicates: str, self_loops: str,
    labels: Any = None, vertices: Any = None,
) -> Graph:  # fmt: skip
    """Build a graph whose edges are spread over several GPUs; or on one, if there is one memory only."""
    work = _Pieces(shares, memories, not directed and not shares.both_ways, self_loops)
    rows, starts = _filled(work, work.survey())
    work.each(lambda part: rows[part].sort(duplicates))
    graph = _assembled(rows, work, place, starts, directed, labels, vertices)
    if not directed and shares.both_ways:
        _check_both_ways(graph)
    return graph


def build_numbered(
    shares: Shares, place: Placement, memories: Sequence[Memory], *, duplicates: str
) -> tuple[Graph, Numbering]:  # fmt: skip
    """Build an undirected graph without self-loops, whose vertices have other numbers than their ids."""
    work = _Pieces(shares, memories, True, "drop")
    work.numbering = numbering = Numbering(memories, work.survey())
    rows, starts = _filled(work, numbering.degree(), numbering.starts)
    numbering.settle()
    work.each(lambda part: rows[part].sort(duplicates))
    return _assembled(rows, work, place, starts, False, None, None), numbering


def _filled(
    work: _Pieces, degree: Any, starts: NDArray[Any] | None = None
) -> tuple[list[_Rows], NDArray[Any]]:  # fmt: skip
    """The rows of all parts, with all edges in them, and the first vertex of each."""
    first = work.memories[0]
    with first.using("the rows of a graph"):
        begins = first.xp.zeros(len(degree) + 1, np.int64)
        begins[1:] = first.xp.cumsum(degree, dtype=np.int64)
        del degree
        if starts is None:
            starts = whole_words(at_equal_weights(begins, len(work.memories), first.moved))
    rows = [_Rows(work, part, begins, starts) for part in range(len(work.memories))]
    del begins
    for pieces in work.dealt(starts):
        for each, told in zip(rows, zip(*pieces, strict=True), strict=True):
            each.told = told
        work.each(lambda part: rows[part].put())
    return rows, starts


def turns(count: int, parts: int) -> list[tuple[int, int]]:
    """Cut the numbers of edges into ranges, each of which all parts make together."""
    number = -(-count // (PIECE * parts))
    return list(itertools.pairwise([count * turn // number for turn in range(number + 1)] if number else [0]))


def share_of(turn: tuple[int, int], part: int, parts: int) -> tuple[int, int]:
    """What a part makes of such a range."""
    lo, hi = turn
    return lo + (hi - lo) * part // parts, lo + (hi - lo) * (part + 1) // parts


class _Pieces:
    """The edges in the order of their numbers, each piece made by all GPUs together."""

    def __init__(self, shares: Shares, memories: Sequence[Memory], both: bool, self_loops: str) -> None:
        self._shares, self.memories, self._both, self.self_loops = shares, tuple(memories), both, self_loops
        self._turns = turns(shares.count, len(memories))
        self.num_vertices = shares.num_vertices
        self.dtypes: dict[str, np.dtype[Any]] = {}
        self.numbering: Numbering | None = None

    def each(self, work: Callable[[int], Any]) -> list[Any]:
        """Call a function for each part, whose GPU is current; several GPUs work at the same time."""
        return together.on_gpus(self.memories, work, "building a graph")

    def _made(self, part: int, lo: int, hi: int) -> Piece:
        """Make a part's share of a piece, on its GPU."""
        memory, shares = self.memories[part], self._shares
        begin, end = share_of((lo, hi), part, len(self.memories))
        if shares.make_on is not None:
            return shares.checked(shares.make_on(memory, begin, end), self.self_loops)
        piece = shares.checked(shares.make(begin, end), self.self_loops)
        self._check(piece)
        values = {name: memory.moved(np.ascontiguousarray(value)) for name, value in piece.values.items()}
        return Piece(memory.moved(piece.src), memory.moved(piece.dst), values.pop("", None), values)

    def _check(self, piece: Piece) -> None:
        for name, end in (("src", piece.src), ("dst", piece.dst)):
            known = self.num_vertices
            if len(end) and (end.min() < 0 or (known is not None and end.max() >= known)):
                wrong = end[(end < 0) | (end >= (known or 0))][0]
                raise GraphError(f"{name} has the vertex {wrong}, but there are {known}, from 0")

    def survey(self) -> Any:
        """Count the edges of each vertex, before duplicates are dropped; on the first GPU."""
        shares = self._shares
        if shares.num_vertices is None:
            pieces = (shares.make(lo, hi) for lo, hi in self._turns)
            ends = [int(end.max()) + 1 for piece in pieces for end in (piece.src, piece.dst) if len(end)]
            self.num_vertices = max([shares.least, *ends])
        n, slots = int(self.num_vertices or 0), offset_dtype(2 * shares.count)

        def counted(part: int) -> tuple[Any, int, dict[str, set[Any]]]:
            xp, number = self.memories[part].xp, 0
            made, dtypes = xp.zeros(n, slots), dict[str, set[Any]]()
            for lo, hi in self._turns:
                piece = self._made(part, lo, hi)
                number += len(piece.src)
                count(xp, made, piece.src)
                if self._both:
                    count(xp, made, piece.dst[piece.src != piece.dst])
                for name, value in piece.values.items():
                    dtypes.setdefault(name, set()).add(value.dtype)
            return made, number, dtypes

        found = self.each(counted)
        if shares.check is not None:
            shares.check(sum(number for _, number, _ in found))
        names = dict.fromkeys(name for _, _, dtypes in found for name in dtypes)
        self.dtypes = {name: np.result_type(*(each for _, _, known in found for each in known[name])) for name in names}
        first = self.memories[0]
        with first.using("the degrees of a graph"):
            total = found[0][0]
            for degree, _, _ in found[1:]:
                total += first.moved(degree)
            first.synchronize()
        return total

    def dealt(self, starts: NDArray[Any]) -> Iterator[list[list[list[Any]]]]:
        """Of each piece, for each part that has made some of it, what each owner gets: sources, targets and values."""

        def of_turn(turn: tuple[int, int], part: int) -> list[list[Any]]:
            made, xp = self._made(part, *turn), self.memories[part].xp
            ids = id_dtype(int(self.num_vertices or 0))
            ends = (made.src, made.dst)
            if self.numbering is not None:
                ends = tuple(self.numbering.renamed(part, end) for end in ends)
            arrays = [end.astype(ids, copy=False) for end in ends]
            arrays += [made.values[name].astype(dtype, copy=False) for name, dtype in self.dtypes.items()]
            if self._both:
                arrays = _both_ways(xp, *arrays)
            if len(starts) == 2:
                return [arrays]  # all are its own
            owned = [xp.flatnonzero((arrays[0] >= a) & (arrays[0] < b)) for a, b in itertools.pairwise(starts.tolist())]
            return [[array[at] for array in arrays] for at in owned]

        for turn in self._turns:
            yield self.each(partial(of_turn, turn))


def _both_ways(xp: Any, src: Any, dst: Any, *values: Any) -> list[Any]:
    """Each edge, followed by its reverse if that is another one."""
    kept = xp.ones(2 * len(src), np.bool_)
    kept[1::2] = src != dst

    def woven(first: Any, second: Any) -> Any:
        made = xp.empty(2 * len(first), first.dtype)
        made[::2], made[1::2] = first, second
        return made[kept]

    return [woven(src, dst), woven(dst, src), *(woven(value, value) for value in values)]


class _Rows:
    """The rows of a part while they are filled."""

    def __init__(self, work: _Pieces, part: int, begins: Any, starts: NDArray[Any]) -> None:
        self._work, self._memory = work, work.memories[part]
        self.first, self.end = starts[part : part + 2].tolist()
        self._n = len(begins) - 1
        memory = self._memory
        with memory.using("the rows of a graph"):
            self._begins = memory.moved(begins[self.first : self.end + 1], copy=True)
            self._begins -= self._begins[:1].copy()
            self._cursor = self._begins[:-1].copy()
            room = int(self._begins[-1])
            dtypes = [id_dtype(self._n), *work.dtypes.values()]
            memory.check_room(room * sum(np.dtype(each).itemsize for each in dtypes), "a GPU's part of a graph", HINT)
            self.arrays = [memory.xp.empty(room, dtype) for dtype in dtypes]
        self.told: Sequence[list[Any]] = ()  # edges of a piece that the parts have made, in this order
        self.degree: Any = None
        self.loops = 0

    def put(self) -> None:
        """Write edges that have been told to the rows of their sources."""
        memory = self._memory
        for piece in self.told:
            src, *values = (memory.moved(array) for array in piece)
            at = _places(memory.xp, self._cursor, src - self.first)
            for array, value in zip(self.arrays, values, strict=True):
                array.put(at, value)  # CuPy's array[at] = value takes fewer than 2**31 elements
        self.told = ()

    def sort(self, duplicates: str) -> None:
        """Sort all rows, some at a time, and bring what is left of them to the front of the arrays."""
        del self._cursor
        xp, names = self._memory.xp, list(self._work.dtypes)
        begins = to_host(self._begins)
        self.degree = xp.zeros(self.end - self.first, offset_dtype(int(begins[-1])))
        filled = 0
        for row, end in _blocks(begins):
            lo, hi = int(begins[row]), int(begins[end])
            base = self.first + row if duplicates == "error" else 0  # whose message has the ends of an edge
            targets, *values = (array[lo:hi] for array in self.arrays)
            weights = values[0] if names[:1] == [""] else None
            made = sorted_rows(
                xp, spread(xp, self._begins[row : end + 1] - lo, targets.dtype) + base, targets, self._n,
                duplicates=duplicates, weights=weights, need_order=any(names), num_sources=base + end - row,
            )  # fmt: skip
            offsets = made.offsets[base:]
            self.degree[row:end] = offsets[1:] - offsets[:-1]
            there = slice(filled, filled + len(made.targets))
            filled = there.stop
            if self._work.self_loops == "keep":
                self.loops += int((spread(xp, offsets, targets.dtype) + (self.first + row) == made.targets).sum())
            for name, array, value in zip(names, self.arrays[1:], values, strict=True):
                array[there] = made.weights if name == "" else value[made.order]
            self.arrays[0][there] = made.targets
        self.arrays = [array[:filled] for array in self.arrays]
        del self._begins


def _places(xp: Any, cursor: Any, rows: Any) -> Any:
    """Where entries of some rows go: ``cursor`` has the next place of each row, and moves on."""
    number = xp.arange(len(rows), dtype=np.int64)
    at = xp.empty(len(rows), np.int64)
    if len(rows) == 0:
        return at
    keys = rows.astype(np.int64) << 32
    keys |= number
    keys.sort()
    order, row = keys & 0xFFFFFFFF, keys >> 32
    heads = xp.ones(len(rows), np.bool_)
    heads[1:] = row[1:] != row[:-1]
    begins = xp.flatnonzero(heads)
    at[order] = cursor[row] + number - begins[xp.cumsum(heads, dtype=np.int64) - 1]
    ends = xp.concatenate((begins[1:], number[-1:] + 1))
    cursor[row[begins]] += ends - begins
    return at


def _blocks(begins: NDArray[Any]) -> list[tuple[int, int]]:
    """Cut rows into ranges of about :data:`BLOCK` edges, leaving out those without any."""
    total = int(begins[-1])
    cuts = np.searchsorted(begins, range(BLOCK, total, BLOCK)).tolist()
    return [(a, b) for a, b in itertools.pairwise(sorted({0, *cuts, len(begins) - 1})) if begins[a] < begins[b]]


def _assembled(
    rows: list[_Rows], work: _Pieces, place: Placement, starts: NDArray[Any], directed: bool, labels: Any, vertices: Any
) -> Graph:
    """The graph of all rows."""
    bounds = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(each.arrays[0]) for each in rows], out=bounds[1:])
    how, first, n = Spread(work.memories, starts, bounds), place.memory, int(starts[-1])
    alone = len(rows) == 1
    slots = offset_dtype(int(bounds[-1]))
    with first.using("the rows of a graph"):
        offsets = first.xp.zeros(n + 1, slots)
        for part, each in enumerate(rows):
            degree = first.moved(each.degree)
            offsets[each.first + 1 : each.end + 1] = first.xp.cumsum(degree, dtype=slots) + int(bounds[part])
            each.degree = None
        first.synchronize()
    made = []
    for dtype in (id_dtype(n), *work.dtypes.values()):
        if alone:
            with first.using("the rows of a graph"):
                made.append(rows[0].arrays.pop(0).copy())  # without the room for what was dropped
            continue
        array = how.empty(dtype)

        def put(part: int, array: Any = array) -> None:
            how.here(array, part)[int(bounds[part]) : int(bounds[part + 1])] = rows[part].arrays.pop(0)

        how.each(put)
        made.append(array)
    values = dict(zip(work.dtypes, made[1:], strict=True))
    with first.using("the columns of a graph"):
        columns = {name: first.moved(column) for name, column in (vertices or {}).items()}
        graph = Graph(
            offsets, made[0], values.pop("", None), directed=directed, labels=labels, vertices=columns, edges=values,
            placement=place, check=False,
        )  # fmt: skip
    if not alone:
        how.share_out(graph._topology, place)
    graph._topology.derived["num_loops"] = sum(each.loops for each in rows)
    return graph


def _check_both_ways(g: Graph) -> None:
    """Refuse rows in which not every edge has its reverse, with the same weight, by sums over edges and reverses."""
    how, top = g._topology.gpus, g._topology

    def sums(part: int) -> int:
        low, high = how.bounds[part : part + 2].tolist()
        total = 0
        for begin in range(low, high, BLOCK):
            piece = slice(begin, min(begin + BLOCK, high))
            src, dst = (how.here(each, part)[piece].astype(np.uint64) for each in (g.sources, top.ends))
            weights = None if top.weights is None else how.here(top.weights, part)[piece]
            total += mixed(src, dst, weights) - mixed(dst, src, weights)
        return total

    g.sources  # noqa: B018  # made before all ask for them
    if sum(how.each(sums)) % 2**64:
        raise GraphError(
            "the rows of an undirected graph must have every edge both ways, with the same weight, and these do not"
        )
