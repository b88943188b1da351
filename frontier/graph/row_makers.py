"""The two ways to make rows and derived data: compiled kernels on the host, or array operations in the arrays' memory.

:mod:`frontier.graph.build` and :mod:`frontier.graph.derived` say what to make; :func:`row_maker` returns the maker for
a memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from frontier.graph import build_arrays as _build_arrays
from frontier.graph import build_sort
from frontier.graph.build_arrays import Rows
from frontier.graph.topology import Array, Topology
from frontier.memory.base import Memory
from frontier.memory.host import HOST, HostMemory
from frontier.native.jit import sparing

__all__ = ["RowMaker", "row_maker"]

#: Sources, targets and weights.
Edges = tuple[Array, Array, Array]


class RowMaker(ABC):
    """Makes rows of edges in a memory."""

    @abstractmethod
    def sorted_rows(self, src: Array, dst: Array, num_vertices: int, **options: Any) -> Rows:
        """Sort edges by source and target, and resolve duplicates; options as of ``_build_sort.sorted_rows``."""

    @abstractmethod
    def check_room(
        self, num_edges: int, what: str, *, both: bool = False, carry: bool = False, ids: int = 4, beside: int = 0
    ) -> None:
        """Refuse to sort more edges than there is memory for.

        Parameters
        ----------
        num_edges : int
        what : str
            What they are sorted for.
        both : bool
            Whether each goes both ways.
        carry : bool
            Whether weights or columns go with the edges.
        ids : int
            Bytes of a vertex id.
        beside : int
            Bytes for each edge that something else takes.
        """

    @abstractmethod
    def sources(self, offsets: Array, dtype: Any) -> Array:
        """Return the source of each edge slot."""

    @abstractmethod
    def transposed(self, top: Topology, permutation: bool) -> tuple[Array, Array, Array | None]:
        """Return in-offsets, in-sources and, if asked for, the edge slot of each in-edge."""

    @abstractmethod
    def in_degree(self, top: Topology) -> Array:
        """Count how often each vertex is a target."""

    @abstractmethod
    def out_weight(self, offsets: Array, sources: Callable[[], Array], weights: Array) -> Array:
        """Sum the weights of each vertex's edge slots, as float64; ``sources`` returns those of all slots."""

    def between(self, top: Topology, sources: Callable[[], Array], weights: Array, group: Array, count: int) -> Edges:
        """Return the edges between groups of vertices, undirected ones once: sources, targets and weights.

        Edges between the same two groups may have been added up. ``sources`` returns those of all slots.
        """
        ends = sources(), top.targets
        if not top.directed:
            once = build_sort.forward(*ends)
            ends = build_sort.take(ends[0], once), build_sort.take(ends[1], once)
            weights = build_sort.take(weights, once)
        return build_sort.take(group, ends[0]), build_sort.take(group, ends[1]), weights

    def contracted(
        self, top: Topology, sources: Callable[[], Array], weights: Array, group: Array, count: int, loops: bool
    ) -> Rows | None:
        """Return the rows of the graph between groups of vertices, weights added up; None: build it as any other."""
        return None

    def induced(
        self, top: Topology, mask: Array, old: Array, new: Array, carry: bool
    ) -> tuple[Array, Array, Array | None]:
        """Return the rows between the vertices of a mask: offsets, targets by their new ids, and their slots.

        ``old`` are the vertices, ``new`` has the new id of each. Without ``carry``, slots may be left out.
        """
        xp = self._xp
        # The slots of these vertices, one list after another.
        begins = top.offsets[old].astype(np.int64)
        lists = _offsets(xp, top.offsets[old + 1] - begins)
        sources = self.sources(lists, new.dtype)
        slots = xp.arange(len(sources), dtype=np.int64)
        slots += build_sort.take(begins - lists[:-1], sources)
        # Those of them that lead to such a vertex.
        targets = build_sort.take(top.targets, slots)
        stays = build_sort.take(mask, targets)
        return _offsets(xp, stays)[lists], build_sort.take(new, targets[stays]), slots[stays]

    @property
    @abstractmethod
    def _xp(self) -> Any:
        """The module of the arrays."""

    @abstractmethod
    def num_loops(self, top: Topology) -> int:
        """Count self-loops without keeping the sources."""


#: Fewer edge slots than this are not worth being added up before they are sorted. Not a matter of what is compiled
#: already: sums of floats are rounded in another order.
FEW = 1 << 14

#: Weights that are summed at once on a GPU, which takes 8 bytes for each.
MOST = 1 << 28

#: Slots whose sources are made at a time where self-loops are counted.
CHUNK = 1 << 22


def _offsets(xp: Any, lengths: Array) -> Array:
    """Where lists of these lengths begin, and the last ends."""
    made: Array = xp.zeros(len(lengths) + 1, np.int64)
    xp.cumsum(lengths, out=made[1:])
    return made


class _HostRows(RowMaker):
    _xp = np

    def sorted_rows(self, src: Array, dst: Array, num_vertices: int, **options: Any) -> Rows:
        return build_sort.sorted_rows(src, dst, num_vertices, **options)

    def check_room(
        self, num_edges: int, what: str, *, both: bool = False, carry: bool = False, ids: int = 4, beside: int = 0
    ) -> None:
        each = beside + 8 + ids + (8 if carry else 0)  # a key, the target, and what comes with it
        HOST.check_room(num_edges * each * (1 + both), what)

    def sources(self, offsets: Array, dtype: Any) -> Array:
        return np.repeat(np.arange(len(offsets) - 1, dtype=dtype), np.diff(offsets))

    def transposed(self, top: Topology, permutation: bool) -> tuple[Array, Array, Array | None]:
        sources = top.built().get("sources")
        if sources is None:  # not kept
            sources = self.sources(top.offsets, top.id_dtype)
        n, m = len(top.offsets) - 1, top.num_slots
        self.check_room(m, f"the in-edges of {m:,} edge slots", carry=permutation, ids=sources.itemsize)
        rows = self.sorted_rows(top.targets, sources, n, need_order=permutation, targets_sorted=True)
        return rows.offsets, rows.targets, rows.order

    def in_degree(self, top: Topology) -> Array:
        return np.bincount(top.targets, minlength=len(top.offsets) - 1).astype(top.offsets.dtype)

    def out_weight(self, offsets: Array, sources: Callable[[], Array], weights: Array) -> Array:
        if weights.dtype.kind not in "iu" or not len(weights) or _may_wrap(weights):
            return np.bincount(sources(), weights=weights, minlength=len(offsets) - 1)
        full = np.flatnonzero(offsets[1:] != offsets[:-1])
        found = np.zeros(len(offsets) - 1)  # integers have one sum in any order, which this finds ten times as fast
        dtype = weights.dtype if weights.dtype.itemsize == 8 else np.int64
        found[full] = np.add.reduceat(weights, offsets[full], dtype=dtype)
        return found

    def between(self, top: Topology, sources: Callable[[], Array], weights: Array, group: Array, count: int) -> Edges:
        if top.num_slots < FEW or (weights.dtype.kind != "f" and _may_wrap(weights)):  # which sorting them finds out
            return super().between(top, sources, weights, group, count)
        return build_sort.merged(top.offsets, top.targets, weights, top.directed, group, count)

    def induced(
        self, top: Topology, mask: Array, old: Array, new: Array, carry: bool
    ) -> tuple[Array, Array, Array | None]:
        plain = isinstance(top.targets, np.ndarray)  # not compressed
        if not plain or sparing(top.num_slots, "frontier.graph.build_kernels"):
            return super().induced(top, mask, old, new, carry)
        return build_sort.kept(top.offsets, top.targets, mask, old, new, carry)

    def num_loops(self, top: Topology) -> int:
        offsets, targets = top.offsets, top.targets
        count, begin, n = 0, 0, len(offsets) - 1
        while begin < n:
            # as many whole lists as fit into a piece, but at least one
            end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + CHUNK, side="right")) - 1)
            ends = np.arange(begin, end, dtype=targets.dtype)
            piece = np.repeat(ends, np.diff(offsets[begin : end + 1]))
            count += int(np.count_nonzero(piece == targets[offsets[begin] : offsets[end]]))
            begin = end
        return count


class _ArrayRows(RowMaker):
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @property
    def _xp(self) -> Any:
        return self._memory.xp

    def sorted_rows(self, src: Array, dst: Array, num_vertices: int, **options: Any) -> Rows:
        return _build_arrays.sorted_rows(self._memory.xp, src, dst, num_vertices, **options)

    def check_room(
        self, num_edges: int, what: str, *, both: bool = False, carry: bool = False, ids: int = 4, beside: int = 0
    ) -> None:
        self._memory.check_room(beside * num_edges + _build_arrays.bytes_for(num_edges, both, carry), what)

    def sources(self, offsets: Array, dtype: Any) -> Array:
        return _build_arrays.spread(self._memory.xp, offsets, dtype)

    def transposed(self, top: Topology, permutation: bool) -> tuple[Array, Array, Array | None]:
        m = top.num_slots
        self.check_room(m, f"the in-edges of {m:,} edge slots", carry=permutation)
        return _build_arrays.transposed(self._memory.xp, top.offsets, top.targets, permutation)

    def in_degree(self, top: Topology) -> Array:
        return _build_arrays.counts(self._memory.xp, top.targets, len(top.offsets) - 1, top.offsets.dtype)

    def out_weight(self, offsets: Array, sources: Callable[[], Array], weights: Array) -> Array:
        xp, n = self._memory.xp, len(offsets) - 1
        found: Array = xp.zeros(n)
        if weights.dtype.kind not in "iu" or not 0 < len(weights) <= MOST or _may_wrap(weights):
            xp.add.at(found, sources(), weights)
            return found
        upto = xp.zeros(len(weights) + 1, np.int64)  # no atomics, of which those on a hub would wait for one another
        xp.cumsum(weights, out=upto[1:])
        found[...] = upto[offsets[1:]] - upto[offsets[:-1]]
        return found

    def contracted(
        self, top: Topology, sources: Callable[[], Array], weights: Array, group: Array, count: int, loops: bool
    ) -> Rows | None:
        # Both directions of an edge are summed, which is the same for integers only.
        if weights.dtype.kind == "f" or count > 1 << 31:
            return None
        self.check_room(top.num_slots, f"a graph between groups, from {top.num_slots:,} edge slots", carry=True)
        return _build_arrays.contracted(
            self._memory.xp, sources(), top.targets, weights, group, count, once=not top.directed, loops=loops
        )

    def num_loops(self, top: Topology) -> int:
        return int((top.targets == self.sources(top.offsets, top.id_dtype)).sum())


def _may_wrap(weights: Array) -> bool:
    """Whether sums of these integers may be more than an integer holds."""
    least, most = int(weights.min()), int(weights.max())
    if max(most, -least) * len(weights) < 1 << 63:
        return False
    return float((weights if least >= 0 else abs(weights.astype(np.float64))).sum(dtype=np.float64)) >= 2**62


@singledispatch
def row_maker(memory: Memory) -> RowMaker:
    """Return the maker of rows for arrays in a memory; a new kind of memory may register its own."""
    return _ArrayRows(memory)


@row_maker.register
def _(memory: HostMemory) -> RowMaker:
    return _HostRows()
