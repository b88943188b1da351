"""Results checked by their properties on the device, in chunks of edges: half a billion edges take a second.

None of it uses an operator of Frontier. Levels, distances and parents are checked edge by edge; components are found
again by hooking; ranks go through one more power iteration; betweenness is computed again, level by level
(:mod:`benchmarks.gpu_brandes`). A method returns what is wrong, in words; an empty list if nothing is. The graph is
symmetric, with positive weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.devices import Array
from benchmarks.gpu_brandes import dependencies
from benchmarks.gpu_graphs import chunks

CHUNK = 1 << 25


class Checker:
    """Checks the results of one graph; what does not depend on a source is computed once."""

    def __init__(self, xp: Any, g: fr.Graph, chunk: int = CHUNK) -> None:
        self.xp, self.g, self.chunk = xp, g, chunk
        self.n, self.m = g.num_vertices, g.num_slots
        self._components: Array | None = None

    def edges(self) -> Iterator[tuple[Array, Array, Array]]:
        """Chunks of edges: sources, targets, weights."""
        xp, g = self.xp, self.g
        for lo, hi in chunks(self.m, self.chunk):
            slots = xp.arange(lo, hi, dtype=g.offsets.dtype)
            src = xp.searchsorted(g.offsets, slots, side="right") - 1
            yield src, g.targets[lo:hi], None if g.weights is None else g.weights[lo:hi]

    def degrees(self) -> Array:
        """Number of edges of every vertex, int64."""
        return self.xp.diff(self.g.offsets).astype(np.int64)

    def check(self, primitive: str, result: Any, source: int) -> list[str]:
        """What is wrong with a result."""
        wrong: list[str] = getattr(self, primitive)(result, source)
        return wrong

    # -- one source ------------------------------------------------------------------------

    def bfs(self, r: Any, source: int) -> list[str]:
        """Levels that differ by at most one over every edge, and parents one level up.

        The first bounds a level by the distance from above, the chain of parents from below.
        """
        level, parent = r.level, r.parent
        wrong = self._root(level, parent, source, level >= 0)
        if wrong:
            return wrong
        steep = open_ends = 0
        found = self.xp.zeros(self.n, dtype=bool)
        for src, dst, _ in self.edges():
            here, there = level[src], level[dst]
            open_ends += int(((here >= 0) != (there >= 0)).sum())
            steep += int(((here >= 0) & (there > here + 1)).sum())
            own = parent[dst] == src
            found[dst[own & (there == here + 1)]] = True
        return self._counted(
            (open_ends, "edges lead from a reached vertex to one that is not"),
            (steep, "edges lead down more than one level"),
            (self._orphans(found, level >= 0, source), "parents are no neighbours one level up"),
        )

    def sssp(self, r: Any, source: int) -> list[str]:
        """No edge offers a shorter way, and that from the parent (without parents: one edge at least) is tight."""
        distance, parent = r.distance, r.parent
        reached = distance < np.inf
        if parent is None:
            wrong = [] if len(distance) == self.n and distance[source] == 0 else ["the source is not at 0"]
        else:
            wrong = self._root(distance, parent, source, reached)
        if wrong:
            return wrong
        shorter = 0
        found = self.xp.zeros(self.n, dtype=bool)
        for src, dst, weight in self.edges():
            offer, there = distance[src] + weight, distance[dst]
            shorter += int((offer < there).sum())
            tight = offer == there if parent is None else (offer == there) & (parent[dst] == src)
            found[dst[tight]] = True
        return self._counted(
            (shorter, "edges offer a shorter way"),
            (self._orphans(found, reached, source), "vertices are not reached over a tight edge"),
        )

    def _root(self, value: Array, parent: Array, source: int, reached: Array) -> list[str]:
        """The source is at 0 and its own parent, nobody else is at 0, and the reached have a parent."""
        if len(value) != self.n or len(parent) != self.n:
            return [f"{len(value)} values and {len(parent)} parents of {self.n} vertices"]
        zeros = int((value == 0).sum())
        return self._counted(
            (int(value[source] != 0), "source that is not at 0"),
            (int(parent[source] != source), "source that is not its own parent"),
            (zeros - 1, "other vertices at 0"),
            (int((reached != (parent >= 0)).sum()), "vertices are reached without a parent, or the reverse"),
        )

    def _orphans(self, found: Array, reached: Array, source: int) -> int:
        missing = reached & ~found
        missing[source] = False
        return int(missing.sum())

    @staticmethod
    def _counted(*counts: tuple[int, str]) -> list[str]:
        return [f"{count:,} {what}" for count, what in counts if count]

    def bc(self, r: Any, source: int) -> list[str]:
        """The same numbers as of a plain computation; none is negative or NaN where float64 cannot count the paths."""
        expected = dependencies(self.xp, self.g, source, self.chunk)
        if expected is None:
            return self._counted((int((~(r.centrality >= 0)).sum()), "centralities are negative or NaN"))
        expected /= 2  # each pair once
        top = float(expected.max())
        off = self.xp.abs(r.centrality - expected)
        count = int((~(off <= 1e-9 * top + 1e-6 * expected)).sum())  # negated: NaN is wrong
        return self._counted((count, f"centralities differ, by {float(off.max()):.3g} of {top:.3g} at most"))

    # -- no source -------------------------------------------------------------------------

    def cc(self, r: Any, source: int) -> list[str]:
        """Labels equal over every edge, the smallest id of each component, and as many as there are."""
        label, expected = r.label, self.components()
        if len(label) != self.n:
            return [f"{len(label)} labels of {self.n} vertices"]
        unequal = sum(int((label[src] != label[dst]).sum()) for src, dst, _ in self.edges())
        ids = self.xp.arange(self.n, dtype=label.dtype)
        count = int((expected == ids).sum())
        return self._counted(
            (unequal, "edges join two labels"),
            (int((label != expected).sum()), "labels are not the smallest id of their component"),
            (abs(int(r.count) - count), f"components too few or too many of {count:,}"),
        )

    def components(self) -> Array:
        """The smallest vertex id of every vertex's component, by hooking roots and jumping pointers."""
        if self._components is not None:
            return self._components
        xp = self.xp
        root = xp.arange(self.n, dtype=np.int32)
        hooked = 1
        while hooked:
            hooked = 0
            for src, dst, _ in self.edges():
                a, b = root[src], root[dst]
                differ = a > b  # of both directions of the edge it is one
                count = int(differ.sum())
                hooked += count
                if count:
                    xp.minimum.at(root, a[differ], b[differ])
                    root = _flatten(root)
        self._components = root
        return root

    def pagerank(self, r: Any, source: int) -> list[str]:
        """One more iteration changes the ranks by less than the last one was allowed to."""
        xp, rank, degree = self.xp, r.rank, self.degrees()
        if len(rank) != self.n:
            return [f"{len(rank)} ranks of {self.n} vertices"]
        share = xp.where(degree > 0, rank / xp.maximum(degree, 1), 0.0)
        loose = float(rank[degree == 0].sum())
        new = xp.zeros(self.n, dtype=np.float64)
        for src, dst, _ in self.edges():  # to dst, not from src: the same numbers here, and atomics that meet less
            new += xp.bincount(dst, weights=share[src], minlength=self.n)
        new = (1.0 - r.damping + r.damping * loose) / self.n + r.damping * new
        residual, total = float(xp.abs(new - rank).sum()), float(rank.sum())
        wrong = [] if residual <= r.tolerance * 1.01 + 1e-12 else [f"one more iteration changes {residual:.3g}"]
        return wrong if abs(total - 1) < 1e-9 else [*wrong, f"the ranks sum to {total:.12f}"]

    # -- for the table ---------------------------------------------------------------------

    def reached(self, source: int, count: Array | None = None) -> int:
        """Directed edges with a source that can be reached, or the sum of ``count`` over these vertices."""
        inside = self.components() == self.components()[source]
        return int((self.degrees() if count is None else count)[inside].sum())


def _flatten(root: Array) -> Array:
    """Let every vertex point straight to its root."""
    above = root[root]
    while bool((above != root).any()):
        root, above = above, above[above]
    return root
