"""Deal pairs of vertices to parts that fit into memory, and sort the parts: the rows and in-edges of a conversion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from frontier.graph.build_sort import sorted_rows
from frontier.graph.doubts import warn_of_duplicates
from frontier.graph.topology import Array, id_dtype, offset_dtype
from frontier.io._unfinished import Unfinished

__all__ = ["EACH", "InEdges", "Rows", "offsets_of"]

#: Bytes of memory for each edge of a part, while it is sorted.
EACH = 96

#: Parts at most: files that are open at once.
MOST = 512

#: Bits of a vertex that choose its part, at most.
FINEST = 20


class Dealt:
    """Deal pairs of vertices, and what goes with them, to parts by the first; then sort part after part.

    Attributes
    ----------
    stage : int
        Number of the stage in which they are dealt; they are sorted in the next one.
    name, what : str
        How names of their files begin, and how they are called.
    carried : dict of dtypes
        What goes with them.
    used : tuple of str
        How names of files begin that are not needed when they are dealt.
    """

    stage: int
    name: str
    what: str
    carried: dict[str, Any]
    used: tuple[str, ...] = ()

    def __init__(self, work: Unfinished) -> None:
        self.work, self.n = work, int(work.state["vertices"])
        self.ids = id_dtype(self.n)
        self._shift = max((max(self.n, 1) - 1).bit_length() - FINEST, 0)

    def pieces(self) -> int:
        """How many pieces there are."""
        raise NotImplementedError

    def firsts(self, i: int) -> Iterator[Array]:
        """Yield the first vertices of the pairs of a piece, in any order."""
        raise NotImplementedError

    def piece(self, i: int) -> tuple[Array, Array, dict[str, Array]]:
        """Return the pairs of a piece, in their order, and what goes with them."""
        raise NotImplementedError

    def sorted(self, lo: int, hi: int, first: Array, second: Array, carried: dict[str, Array]) -> Array:
        """Append the rows of vertices lo to hi - 1 to the result; return their lengths."""
        raise NotImplementedError

    def make(self) -> None:
        """Do both stages."""
        bounds = self._bounds()
        parts = len(bounds) - 1
        begins = np.arange((max(self.n, 1) - 1 >> self._shift) + 1) << self._shift
        part_of = (np.searchsorted(bounds, begins, side="right") - 1).astype(np.uint16)
        what = f"dealing {self.what}"
        self.work.each(self.stage, self.pieces(), lambda i: self._deal(i, part_of, parts), what, self.used)
        what = f"sorting {self.what}"
        self.work.each(self.stage + 1, parts, lambda i: self._sort(i, int(bounds[i]), int(bounds[i + 1])), what)

    def _bounds(self) -> Array:
        """First vertex of each part; parts are ranges of vertices with about equally many pairs."""
        key = f"{self.name} bounds"
        if key not in self.work.state:
            counts = np.zeros((max(self.n, 1) - 1 >> self._shift) + 1, np.int64)
            with self.work.task(f"counting {self.what}", self.pieces(), "pieces") as task:
                for i in range(self.pieces()):
                    for first in self.firsts(i):
                        counts += np.bincount(first >> self._shift, minlength=len(counts))
                    task.at(i + 1)
            ends = np.cumsum(counts)
            parts = min(max(-(-int(ends[-1]) * EACH // self.work.memory), 1), MOST)
            cuts = np.searchsorted(ends, np.arange(1, parts) * (int(ends[-1]) / parts)) + 1
            bounds = np.unique(np.concatenate(([0], np.minimum(cuts << self._shift, self.n), [self.n])))
            self.work.state[key] = bounds.tolist()
        return np.array(self.work.state[key], np.int64)

    def _deal(self, i: int, part_of: Array, parts: int) -> None:
        first, second, carried = self.piece(i)
        part = part_of[first >> self._shift]
        order = np.argsort(part, kind="stable")  # of numbers of 16 bits in linear time
        ends = np.cumsum(np.bincount(part, minlength=parts)).tolist()
        for name, values in {"first": first, "second": second, **carried}.items():
            dealt = values[order]
            for k, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
                if begin < end:
                    self.work.append(f"{self.name}_part_{k}_{name}", dealt[begin:end])

    def _sort(self, k: int, lo: int, hi: int) -> None:
        dtypes = {"first": self.ids, "second": self.ids, **self.carried}
        found = {name: self.work.array(f"{self.name}_part_{k}_{name}", dtype) for name, dtype in dtypes.items()}
        lengths = self.sorted(lo, hi, found.pop("first"), found.pop("second"), found)
        self.work.append(f"{self.name}_lengths", lengths.astype(np.int64, copy=False))
        self.work.drop(f"{self.name}_part_{k}_")


def offsets_of(work: Unfinished, name: str) -> Array:
    """Return the offsets of all rows that were sorted."""
    lengths = work.array(f"{name}_lengths", np.int64)
    made = np.zeros(int(work.state["vertices"]) + 1, np.int64)
    np.cumsum(lengths, out=made[1:])
    return made.astype(offset_dtype(int(made[-1])), copy=False)


class Rows(Dealt):
    """The rows of the graph."""

    stage, name, what = 1, "out", "edges"
    used = ("src", "dst", "weight.raw")

    def __init__(self, work: Unfinished, directed: bool, duplicates: str, watch: bool = False) -> None:
        super().__init__(work)
        self._directed, self._duplicates, self._watch = directed, duplicates, watch
        weights = work.state["known"]["weights"]
        self.carried = {} if weights is None else {"weight": np.dtype(weights)}
        self._step = max(int(work.memory) // EACH, 1 << 10)

    def pieces(self) -> int:
        return -(-int(self.work.state["known"]["edges"]) // self._step)

    def firsts(self, i: int) -> Iterator[Array]:
        src, dst = self._ends(i)
        yield src
        if not self._directed:
            yield dst[src != dst]

    def piece(self, i: int) -> tuple[Array, Array, dict[str, Array]]:
        src, dst = self._ends(i)
        cut = slice(i * self._step, (i + 1) * self._step)
        carried = {name: self.work.array(f"{name}.raw", dtype)[cut] for name, dtype in self.carried.items()}
        if self._directed:
            return src.astype(self.ids), dst.astype(self.ids), carried
        # Both ends get an edge at the same place in the order, so that both choose alike among duplicates.
        pairs = np.empty((len(src), 2), self.ids)
        pairs[:, 0], pairs[:, 1] = src, dst
        first, second = pairs.ravel(), pairs[:, ::-1].ravel()
        carried = {name: np.repeat(each, 2) for name, each in carried.items()}
        loops = np.flatnonzero(src == dst) * 2 + 1
        if len(loops) == 0:
            return first, second, carried
        kept = np.ones(len(first), bool)
        kept[loops] = False
        return first[kept], second[kept], {name: each[kept] for name, each in carried.items()}

    def sorted(self, lo: int, hi: int, first: Array, second: Array, carried: dict[str, Array]) -> Array:
        weights = carried.get("weight")
        local = first - self.ids.type(lo)
        rows = sorted_rows(
            local, second, self.n, duplicates=self._duplicates, weights=weights, num_sources=hi - lo,
            watch=self._watch,
        )  # fmt: skip
        if rows.differ is not None:
            self._watch = False  # once
            warn_of_duplicates(rows.differ[0] + lo, rows.differ[1], None)
        self.work.append("targets", rows.targets.astype(self.ids, copy=False))
        if rows.weights is not None:
            self.work.append("weights", rows.weights)
        return np.diff(rows.offsets)

    def _ends(self, i: int) -> tuple[Array, Array]:
        cut = slice(i * self._step, (i + 1) * self._step)
        return self.work.array("src", np.int64)[cut], self.work.array("dst", np.int64)[cut]


class InEdges(Dealt):
    """The in-edges: slots of the rows, sorted by their targets."""

    stage, name, what = 3, "in", "in-edges"

    def __init__(self, work: Unfinished) -> None:
        super().__init__(work)
        self._offsets = offsets_of(work, "out")
        self._m = int(self._offsets[-1])
        self._slots = offset_dtype(self._m)
        self.carried = {"slot": self._slots}
        self._step = max(int(work.memory) // EACH, 1 << 10)

    def pieces(self) -> int:
        return -(-self._m // self._step)

    def firsts(self, i: int) -> Iterator[Array]:
        yield self.work.array("targets", self.ids)[i * self._step : (i + 1) * self._step]

    def piece(self, i: int) -> tuple[Array, Array, dict[str, Array]]:
        slots = np.arange(i * self._step, min((i + 1) * self._step, self._m), dtype=self._slots)
        sources = np.searchsorted(self._offsets, slots, side="right") - 1
        return next(self.firsts(i)), sources.astype(self.ids), {"slot": slots}

    def sorted(self, lo: int, hi: int, first: Array, second: Array, carried: dict[str, Array]) -> Array:
        order = np.argsort(first, kind="stable")
        self.work.append("in_sources", second[order])
        self.work.append("in_edges", carried["slot"][order])
        return np.bincount(first - lo, minlength=hi - lo)
