"""Sort edges into rows on all threads by ``frontier.graph.build_kernels``, or few edges by array operations.

Results do not depend on the number of threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph import build_arrays as _build_arrays
from frontier.graph.build_arrays import Rows, narrowed, widened
from frontier.graph.topology import Array, id_dtype, offset_dtype, read_only
from frontier.memory.arrays import namespace_of, to_host
from frontier.native import threads
from frontier.native.jit import sparing

__all__ = ["DUPLICATES", "forward", "kept", "merged", "sorted_rows", "stretches", "take", "workers_for"]

DUPLICATES = ("keep", "first", "last", "min", "max", "sum", "error")  # numbered in the kernels

_MAX_BUCKET_BITS = 11  # more buckets than this, and dealing into them misses the TLB
_BUCKET_BITS = 16  # 2**16 edges are worth a bucket of their own, whose calls of kernels take 12 µs of Python
_WORTH_THREADS = 2**16  # so many edges are worth more than one thread


def sorted_rows(
    src: Array,
    dst: Array,
    num_vertices: int,
    *,
    duplicates: str = "keep",
    both: bool = False,
    drop_loops: bool = False,
    weights: Array | None = None,
    need_order: bool = False,
    targets_sorted: bool = False,
    num_sources: int | None = None,
    watch: bool = False,
) -> Rows:
    """Sort edges by source and target, and resolve duplicates.

    Parameters
    ----------
    src, dst : ndarray, shape (k,)
        Ends of the edges, both int32 or both int64, from 0 to num_vertices - 1.
    num_vertices : int
        Number of vertices.
    duplicates : str
        What becomes of duplicates, as in ``from_edges``. Those of an undirected edge stand in
        the same order in the lists of both ends, so that both choose, or add up, alike.
    both : bool
        Add the reverse of each edge.
    drop_loops : bool
        Leave out edges from a vertex to itself.
    weights : ndarray, shape (k,), optional
        Edge weights.
    need_order : bool
        Give ``order`` too.
    targets_sorted : bool
        The edges come in ascending order of ``dst``.
    num_sources : int, optional
        Make rows of so many vertices only, with sources that are numbered within them.
    watch : bool
        Where weights come with edges of which the first or the last is kept: name one whose duplicates have other
        weights, as ``differ``.
    """
    num_sources = num_vertices if num_sources is None else num_sources
    # sums of floats are rounded in another order there
    if duplicates != "sum" and sparing(num_sources + len(src), "frontier.graph.build_kernels"):
        options: dict[str, Any] = {"duplicates": duplicates, "both": both, "drop_loops": drop_loops}
        options |= {"weights": weights, "need_order": need_order, "num_sources": num_sources}
        options["watch"] = watch
        rows = _build_arrays.sorted_rows(np, src, dst, num_vertices, **options)
        if rows.order is not None:
            rows.order = rows.order.astype(offset_dtype(len(src)))
        return rows
    by_weight = weights is not None and duplicates in ("min", "max", "sum")
    as_bits = weights is not None and weights.itemsize in (4, 8)
    as_bits = as_bits and not by_weight and not need_order
    if as_bits:
        assert weights is not None
        values = weights.view(f"i{weights.itemsize}")
    elif weights is not None or need_order:
        values = np.arange(len(src), dtype=offset_dtype(len(src)))
    else:
        values = np.empty(0, np.int32)
    buckets = _Buckets(num_vertices, num_sources, len(src) * (2 if both else 1), values.dtype)
    buckets.deal(src, dst, both, drop_loops, values)
    wide = widened(weights) if by_weight else None
    watch = watch and weights is not None and duplicates in ("first", "last")
    if watch and not as_bits:
        wide = weights
    offsets, sums = buckets.sort(duplicates, wide, targets_sorted, watch)
    targets, carried = buckets.emit(offsets, buckets.payload)
    rows = Rows(offsets, targets, differ=buckets.differ)
    if as_bits:
        assert weights is not None
        rows.weights = carried.view(weights.dtype)
        return rows
    if weights is not None or need_order:
        rows.order = carried
    if sums is not None:
        assert weights is not None
        totals = buckets.emit(offsets, sums.view(np.int64))[1]
        rows.weights = narrowed(totals.view(sums.dtype), weights.dtype)
    elif weights is not None:
        rows.weights = take(weights, carried)
    return rows


class Layout:
    """How many buckets there are, and which bits of a source choose one."""

    def __init__(self, num_vertices: int, num_edges: int, num_sources: int | None = None) -> None:
        num_sources = num_vertices if num_sources is None else num_sources
        self.bits = max(1, (num_vertices - 1).bit_length())  # of a vertex id
        source_bits = max(1, (num_sources - 1).bit_length())
        wanted = min(max(0, num_edges.bit_length() - _BUCKET_BITS), _MAX_BUCKET_BITS, source_bits)
        # a key, the low bits of the source and all of the target, has 63 bits
        self.shift = min(source_bits - wanted, 63 - self.bits)
        self.count = (max(num_sources, 1) - 1 >> self.shift) + 1


class _Buckets(Layout):
    """Edges as keys, in buckets by the high bits of their source."""

    def __init__(self, num_vertices: int, num_sources: int, num_edges: int, payload_dtype: Any) -> None:
        super().__init__(num_vertices, num_edges, num_sources)
        self.num_vertices, self.num_sources = num_vertices, num_sources
        self.workers = workers_for(num_edges)
        self.starts = np.zeros(self.count + 1, np.int64)
        self.keys = np.empty(0, np.uint64)
        self.payload = np.empty(0, payload_dtype)
        self.differ: tuple[int, int] | None = None  # ends of an edge whose duplicates have different weights

    def deal(self, src: Array, dst: Array, both: bool, drop_loops: bool, values: Array) -> None:
        """Put the edges into the buckets, in the order in which they come."""
        from frontier.graph import build_kernels as kernels

        src, dst, values = read_only(src), read_only(dst), read_only(values)
        shift, bits = np.uint64(self.shift), np.uint64(self.bits)
        bounds = stretches(len(src), self.workers)
        counts = np.zeros((self.workers, self.count), np.int64)
        threads.run(
            lambda w: kernels.count(src, dst, bounds[w], bounds[w + 1], shift, both, drop_loops, counts[w]),
            self.workers,
        )
        ends = np.cumsum(counts.T.ravel())
        total = int(ends[-1])
        self.starts[1:] = ends[self.workers - 1 :: self.workers]
        cursors = (ends.reshape(self.count, self.workers).T - counts).copy()
        self.keys = np.empty(total, np.uint64)
        self.payload = np.empty(total if len(values) else 0, values.dtype)
        threads.run(
            lambda w: kernels.deal(
                src,
                dst,
                bounds[w],
                bounds[w + 1],
                shift,
                bits,
                both,
                drop_loops,
                values,
                cursors[w],
                self.keys,
                self.payload,
            ),
            self.workers,
        )

    def sort(
        self, duplicates: str, weights: Array | None, targets_sorted: bool, watch: bool
    ) -> tuple[Array, Array | None]:
        """Sort each bucket and resolve its duplicates; give the offsets, and sums if asked."""
        from frontier.graph import build_kernels as kernels

        how = DUPLICATES.index(duplicates)
        summing = weights is not None and duplicates == "sum"
        eyes = kernels.BLIND if not watch else kernels.BITS if weights is None else kernels.NUMBERED
        if weights is None:
            weights = np.empty(0, np.float64)
            how = kernels.FIRST if duplicates in ("min", "max", "sum") else how
        sums = np.empty(len(self.keys) if summing else 0, weights.dtype)
        weights = read_only(weights)
        offsets = np.zeros(self.num_sources + 1, np.int64)
        low_bit = self.bits if targets_sorted else 0
        shift, bits = np.uint64(self.shift), np.uint64(self.bits)

        def work(buckets: Iterator[int]) -> None:
            hist = np.zeros(1 << kernels.DIGIT_BITS, np.int64)
            keys = payload = np.empty(0)
            for b in buckets:
                lo, hi = self.starts[b], self.starts[b + 1]
                if keys is payload or len(keys) < hi - lo:
                    keys = np.empty(hi - lo, np.uint64)
                    payload = np.empty(hi - lo if len(self.payload) else 0, self.payload.dtype)
                bad = kernels.sort_bucket(
                    self.keys,
                    self.payload,
                    lo,
                    hi,
                    low_bit,
                    self.bits + self.shift,
                    keys,
                    payload,
                    hist,
                    np.uint64(b) << shift,
                    bits,
                    how,
                    eyes,
                    weights,
                    sums,
                    offsets[1:],
                )
                if bad < kernels.OVERFLOW:
                    differ[b] = kernels.OVERFLOW - 1 - bad
                elif bad != kernels.GOOD:
                    problems[b] = bad

        problems: dict[int, int] = {}
        differ: dict[int, int] = {}
        self._share(work)
        if differ:
            self.differ = self._ends(min(differ), differ[min(differ)])
        if problems:
            first = min(problems)
            self._refuse(first, problems[first])
        np.cumsum(offsets, out=offsets)
        return offsets.astype(offset_dtype(int(offsets[-1])), copy=False), sums if summing else None

    def _refuse(self, bucket: int, key: int) -> None:
        from frontier.graph import build_kernels as kernels

        if key == kernels.OVERFLOW:
            raise GraphError("the weights of duplicate edges add up to more than int64 holds")
        raise _build_arrays.repeated(*self._ends(bucket, key))

    def _ends(self, bucket: int, key: int) -> tuple[int, int]:
        """The source and the target of the edge with a key."""
        return (bucket << self.shift) + (key >> self.bits), key & ((1 << self.bits) - 1)

    def emit(self, offsets: Array, payload: Array) -> tuple[Array, Array]:
        """Return the targets and the payload in slot order."""
        from frontier.graph import build_kernels as kernels

        m = int(offsets[-1])
        targets = np.empty(m, id_dtype(self.num_vertices))
        values = np.empty(m if len(payload) else 0, payload.dtype)
        heads = np.arange(self.count + 1) << self.shift
        out = offsets[np.minimum(heads, self.num_sources)].astype(np.int64)

        def work(buckets: Iterator[int]) -> None:
            for b in buckets:
                kernels.emit(
                    self.keys,
                    payload,
                    self.starts[b],
                    out[b + 1] - out[b],
                    np.uint64(self.bits),
                    out[b],
                    targets,
                    values,
                )

        self._share(work)
        return targets, values

    def _share(self, work: Callable[[Iterator[int]], None]) -> None:
        """Call ``work`` on all threads; an idle thread takes the next bucket, large ones first."""
        largest_first = np.argsort(-np.diff(self.starts), kind="stable").tolist()
        turn = itertools.count()  # next() is atomic

        def buckets() -> Iterator[int]:
            while (i := next(turn)) < len(largest_first):
                yield largest_first[i]

        threads.run(lambda worker: work(buckets()), self.workers)


def merged(
    offsets: Array, targets: Array, weights: Array, directed: bool, group: Array, count: int
) -> tuple[Array, Array, Array]:
    """Return the edges between groups of vertices, of which there are ``count``: sources, targets, sums of weights.

    An undirected edge comes once. No edge comes twice, and nothing is sorted: the vertices of a group are gone through
    one after another, and what leads to the same group is added up where it was first written.
    """
    from frontier.graph import build_kernels as kernels

    everyone = np.arange(len(group), dtype=group.dtype)
    by_group = sorted_rows(group, everyone, len(group), targets_sorted=True, num_sources=count)
    members, begins = by_group.targets, by_group.offsets
    before = np.concatenate(([0], np.cumsum(np.diff(offsets)[members], dtype=np.int64)))[begins]  # slots, by group
    workers = workers_for(len(targets))
    bounds = np.searchsorted(before, stretches(len(targets), workers), side="left")
    bounds[-1] = count  # groups without edges come last
    ids = id_dtype(count)
    sources, ends = np.empty(len(targets), ids), np.empty(len(targets), ids)
    sums = np.empty(len(targets), weights.dtype)
    stops = before[bounds]
    given = read_only(offsets), read_only(targets), read_only(weights), read_only(group), members, begins

    def work(w: int) -> None:
        at = np.full(count, -1, np.int64)
        stops[w] = kernels.merge(*given, bounds[w], bounds[w + 1], not directed, at, sources, ends, sums, stops[w])

    threads.run(work, workers)
    pieces = [slice(before[bounds[w]], stops[w]) for w in range(workers)]
    return joined(sources, pieces), joined(ends, pieces), joined(sums, pieces)


def joined(values: Array, pieces: list[slice]) -> Array:
    """Return pieces of an array one after another, each copied by its own thread."""
    begins = np.cumsum([0] + [piece.stop - piece.start for piece in pieces]).tolist()
    made = np.empty(begins[-1], values.dtype)

    def work(w: int) -> None:
        made[begins[w] : begins[w + 1]] = values[pieces[w]]

    threads.run(work, len(pieces))
    return made


def forward(src: Array, dst: Array) -> Array:
    """Return which edges lead to the same or a higher vertex, on all threads, or where the arrays lie on a GPU."""
    workers = workers_for(len(src)) if isinstance(src, np.ndarray) and isinstance(dst, np.ndarray) else 1
    if workers == 1:
        found: Array = namespace_of(src).flatnonzero(src <= dst)
        return found
    bounds = stretches(len(src), workers)
    made: dict[int, Array] = {}

    def work(w: int) -> None:
        part = slice(bounds[w], bounds[w + 1])
        made[w] = np.flatnonzero(src[part] <= dst[part]) + bounds[w]

    threads.run(work, workers)
    return np.concatenate([made[w] for w in range(workers)])


def kept(
    offsets: Array, targets: Array, mask: Array, old: Array, new: Array, carry: bool
) -> tuple[Array, Array, Array]:
    """Return the rows between the vertices of a mask: offsets, targets by their new ids, and slots.

    ``old`` are the vertices, ``new`` has the new id of each. Without ``carry`` there are no slots.
    """
    from frontier.graph import build_kernels as kernels

    offsets, targets = read_only(offsets), read_only(targets)
    before = np.concatenate(([0], np.cumsum(offsets[old + 1] - offsets[old], dtype=np.int64)))
    total = int(before[-1])
    workers = workers_for(total)
    bounds = np.searchsorted(before, stretches(total, workers), side="left").tolist()
    bounds[-1] = len(old)  # vertices without edges come last
    begins = np.zeros(len(old) + 1, np.int64)
    threads.run(
        lambda w: kernels.count_kept(offsets, targets, mask, old, bounds[w], bounds[w + 1], begins[1:]), workers
    )
    np.cumsum(begins, out=begins)
    length = int(begins[-1])
    ends, slots = np.empty(length, new.dtype), np.empty(length if carry else 0, offsets.dtype)
    threads.run(
        lambda w: kernels.write_kept(
            offsets, targets, mask, new, old, bounds[w], bounds[w + 1], begins, ends, slots
        ),
        workers,
    )
    return begins, ends, slots


def take(values: Any, index: Any, out: Any = None) -> Array:
    """``values[index]``, on all threads, or where ``values`` lie on a GPU; into ``out`` if that is given."""
    if isinstance(values, np.ndarray) != isinstance(index, np.ndarray):  # a column that is no number
        index = to_host(index)
    workers = workers_for(len(index)) if isinstance(values, np.ndarray) else 1
    if workers == 1 or values.itemsize not in (4, 8) or values.dtype.hasobject or values.ndim != 1:
        picked: Array = values[index]
        if out is not None:
            out[...] = picked
        return picked
    from frontier.graph import build_kernels as kernels

    bits = f"i{values.itemsize}"
    taken: Array = np.empty(len(index), values.dtype) if out is None else out
    bounds = stretches(len(index), workers)
    source, index, target = read_only(values.view(bits)), read_only(index), taken.view(bits)
    threads.run(lambda w: kernels.take(source, index, bounds[w], bounds[w + 1], target), workers)
    return taken


def workers_for(count: int) -> int:
    """Number of threads worth using for so many edges."""
    return threads.num_threads() if count >= _WORTH_THREADS else 1


def stretches(count: int, workers: int) -> list[int]:
    """Bounds of equal stretches of a range, one for each worker."""
    return [count * w // workers for w in range(workers + 1)]
