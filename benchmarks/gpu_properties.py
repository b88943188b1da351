"""Results of the further primitives checked by their properties on the device, as in :mod:`benchmarks.gpu_verify`.

None of it uses an operator of Frontier. Colourings, independent sets and components are checked edge by edge. Core
numbers are certified by removing vertices in the order that they claim, spanning forests by another one made here,
counts of triangles by those at a sample of vertices, closures by searches from a sample. A method returns what is
wrong, in words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.devices import Array
from benchmarks.gpu_verify import Checker, _flatten
from frontier.memory.arrays import to_host

#: Edges that a search looks at together.
PIECE = 1 << 26


class Properties(Checker):
    """Checks the results of one symmetric graph."""

    def core_numbers(self, r: Any) -> list[str]:
        """Enough neighbours in the core from above, and no more left when a vertex's turn comes from below.

        In the set of vertices with a core number of at least k all have k neighbours; and all vertices with the number
        k can be removed one after the other while they have at most k neighbours left. All k are checked together.
        """
        xp, core = self.xp, r.core.astype(np.int32)
        degree = xp.zeros(self.n, np.int32)
        for src, dst, _ in self.edges():
            degree += xp.bincount(src[core[dst] >= core[src]], minlength=self.n).astype(np.int32)
        few = int((degree < core).sum())
        removed = degree <= core
        front = xp.flatnonzero(removed)
        while len(front):
            touched = []
            for owner, dst in spread(xp, self.g.offsets, self.g.targets, front):
                dst = dst[(core[dst] == core[front[owner]]) & ~removed[dst]]
                xp.add.at(degree, dst, np.int32(-1))
                touched.append(dst[degree[dst] <= core[dst]])
            front = xp.unique(xp.concatenate(touched)) if touched else front[:0]
            removed[front] = True
        return self._counted(
            (few, "vertices have fewer neighbours in their core than its number"),
            (int((~removed).sum()), "vertices have more"),
            (int(int(core.max()) != r.degeneracy), "wrong degeneracy"),
        )

    def triangles(self, r: Any, per_vertex: Array) -> list[str]:
        """The triangles at 64 vertices, half of them drawn by degree; and those at all vertices are three times all."""
        xp = self.xp
        draw = np.random.default_rng(1)
        chosen = draw.integers(0, self.n, 64)
        if self.m:
            chosen[:32] = to_host(self.g.targets[xp.asarray(draw.integers(0, self.m, 32))])
        near = xp.zeros(self.n, np.uint64)
        for i, v in enumerate(chosen.tolist()):
            around = self.g.targets[int(self.g.offsets[v]) : int(self.g.offsets[v + 1])]
            near[around] |= np.uint64(1 << i)
        found = np.zeros(64, np.int64)
        for src, dst, _ in self.edges():
            both = near[src] & near[dst]
            both = both[both != 0]
            found += [int(((both >> np.uint64(i)) & np.uint64(1)).sum()) for i in range(64)]
        told = per_vertex[xp.asarray(chosen)]
        wrong = int((xp.asarray(found // 2) != told).sum())
        rest = int(per_vertex.sum()) - 3 * r.count
        return self._counted((wrong, "of 64 vertices have other counts"), (rest, "triangles at vertices left over"))

    def maximal_independent_set(self, r: Any) -> list[str]:
        """No edge inside, and every vertex in the set or beside it."""
        inside, covered = 0, r.mask.copy()
        for src, dst, _ in self.edges():
            inside += int((r.mask[src] & r.mask[dst]).sum())
            covered[src[r.mask[dst]]] = True
        return self._counted(
            (inside, "edges inside the set"),
            (int((~covered).sum()), "vertices could be added"),
            (abs(int(r.mask.sum()) - r.count), "vertices counted wrongly"),
        )

    def color(self, r: Any) -> list[str]:
        """No edge between vertices of one colour; as many colours as are told."""
        same = sum(int((r.color[src] == r.color[dst]).sum()) for src, dst, _ in self.edges())
        return self._counted(
            (same, "edges join two vertices of one colour"),
            (int((r.color < 0).sum()), "vertices have no colour"),
            (abs(int(r.color.max()) + 1 - r.count), "colours too few or too many"),
        )

    def minimum_spanning_forest(self, r: Any) -> list[str]:
        """As many edges as join all components, no two trees left, and the weight of another forest made here."""
        xp, g = self.xp, self.g
        weights: Array = g.weights
        src = xp.searchsorted(g.offsets, r.edges.astype(g.offsets.dtype), side="right") - 1
        own = _hooked(xp, self.n, src, g.targets[r.edges])
        components = self.components()
        count = int((components == xp.arange(self.n, dtype=components.dtype)).sum())
        told, least = float(weights[r.edges].sum(dtype=np.float64)), self._least_weight()
        return self._counted(
            (int((own != components).sum()), "vertices are in another tree than their component's"),
            (abs(len(r.edges) - (self.n - count)), f"edges too few or too many of {self.n - count:,}"),
            (int(told != least or r.weight != least), f"weight {r.weight:,}, its edges' {told:,}, the least {least:,}"),
        )

    def _least_weight(self) -> float:
        """By the rounds of Borůvka, with edges in order of weight and endpoints; weights are integers below 256."""
        xp, bits = self.xp, max(int(self.n - 1).bit_length(), 1)
        if bits > 28:
            raise ValueError(f"{self.n:,} vertices: weight and endpoints do not fit into one number")
        none, low_bits = np.uint64(2**64 - 1), np.uint64((1 << bits) - 1)
        root, total = xp.arange(self.n, dtype=np.int32), 0.0
        while True:
            best = xp.full(self.n, none, np.uint64)
            for src, dst, weight in self.edges():
                crossing = root[src] != root[dst]
                src, dst = src[crossing].astype(np.uint64), dst[crossing].astype(np.uint64)
                key = (weight[crossing].astype(np.uint64) << np.uint64(2 * bits)) | (
                    (xp.minimum(src, dst) << np.uint64(bits)) | xp.maximum(src, dst)
                )
                xp.minimum.at(best, root[src.astype(np.int64)], key)
            trees = xp.flatnonzero(best != none)
            if not len(trees):
                return total
            key = best[trees]
            a = root[((key >> np.uint64(bits)) & low_bits).astype(np.int64)]
            b = root[(key & low_bits).astype(np.int64)]
            total += float((xp.unique(key) >> np.uint64(2 * bits)).sum())
            above = xp.arange(self.n, dtype=np.int32)
            above[trees] = a + b - trees.astype(np.int32)
            lower = (above[above[trees]] == trees) & (trees < above[trees])  # two that have chosen the same edge
            above[trees[lower]] = trees[lower].astype(np.int32)
            root = _flatten(above)[root]

    def louvain(self, r: Any) -> list[str]:
        """The modularity that is told, of labels that are told."""
        xp, degree = self.xp, self.degrees().astype(np.float64)
        label, inside = r.label.astype(np.int64), 0
        for src, dst, _ in self.edges():
            inside += int((label[src] == label[dst]).sum())
        sums = xp.bincount(label, weights=degree, minlength=1)
        found = inside / self.m - float(((sums / self.m) ** 2).sum()) if self.m else 0.0
        count = int((xp.bincount(label) > 0).sum())
        return self._counted(
            (int(abs(found - r.modularity) > 1e-6), f"modularity: {r.modularity:.6f}, but it is {found:.6f}"),
            (abs(count - r.count), "communities too few or too many"),
        )


def strong(xp: Any, offsets: Array, targets: Array, r: Any) -> list[str]:
    """Components that are strongly connected, labelled by their least vertex, and without cycles between them."""
    n, label = len(offsets) - 1, r.label.astype(np.int64)
    ids = xp.arange(n, dtype=np.int64)
    roots = xp.flatnonzero(label == ids)
    src = xp.searchsorted(offsets, xp.arange(len(targets), dtype=offsets.dtype), side="right") - 1
    inside = label[src] == label[targets]
    a, b = src[inside].astype(np.int64), targets[inside].astype(np.int64)
    missing = [n - _reached(xp, n, *ends, roots) for ends in ((a, b), (b, a))]
    a, b = label[src[~inside]], label[targets[~inside]]
    del src, inside
    starts, targets = _rows(xp, n, a, b)
    entering = xp.bincount(b, minlength=n).astype(np.int32)
    front = roots[entering[roots] == 0]
    done = len(front)
    while len(front):
        freed = []
        for _, dst in spread(xp, starts, targets, front):
            xp.add.at(entering, dst, np.int32(-1))
            freed.append(dst[entering[dst] == 0])
        front = xp.unique(xp.concatenate(freed)) if freed else front[:0]
        done += len(front)
    return Checker._counted(
        (int((label > ids).sum()) + int((label[label] != label).sum()), "labels are not the least of their component"),
        (missing[0] + missing[1], "vertices do not reach the least of their component, or are not reached by it"),
        (len(roots) - done, "components are on cycles of several"),
        (abs(len(roots) - r.count), "components too few or too many"),
    )


def closure(xp: Any, g: Any, r: Any, sample: int = 32) -> list[str]:
    """The rows of a sample of vertices, by searches on the host; and the number of all pairs."""
    from scipy.sparse import csgraph, csr_array

    n, offsets, targets = g.num_vertices, to_host(g.offsets), to_host(g.targets)
    matrix = csr_array((np.ones(len(targets), np.int8), targets, offsets), shape=(n, n))
    back = matrix.T.tocsr()
    wrong = 0
    for v in np.random.default_rng(1).integers(0, n, sample).tolist():
        found = np.zeros(n, np.bool_)
        found[csgraph.breadth_first_order(matrix, v, return_predecessors=False)] = True
        found[v] = found[back.indices[back.indptr[v] : back.indptr[v + 1]]].any()  # on a cycle
        wrong += not np.array_equal(np.flatnonzero(found), r.row(v)) or int(r.counts[v]) != found.sum()
    return Checker._counted(
        (wrong, f"of {sample} rows are wrong"), (abs(int(r.counts.sum()) - r.pairs), "pairs counted wrongly")
    )


def spread(xp: Any, offsets: Array, targets: Array, front: Array) -> Iterator[tuple[Array, Array]]:
    """Edges that leave some vertices, in pieces: the position of the source among them, and the target."""
    low = offsets[front].astype(np.int64)
    ends = xp.cumsum(offsets[front + 1].astype(np.int64) - low)
    total = int(ends[-1]) if len(front) else 0
    shift = low - xp.concatenate([xp.zeros(1, np.int64), ends[:-1]])
    for first in range(0, total, PIECE):
        place = xp.arange(first, min(first + PIECE, total))
        owner = xp.searchsorted(ends, place, side="right")
        yield owner, targets[place + shift[owner]]


def _rows(xp: Any, n: int, src: Array, dst: Array) -> tuple[Array, Array]:
    order = xp.argsort(src)
    return xp.searchsorted(src[order], xp.arange(n + 1)), dst[order]


def _reached(xp: Any, n: int, src: Array, dst: Array, front: Array) -> int:
    """How many vertices can be reached from some."""
    offsets, targets = _rows(xp, n, src, dst)
    reached = xp.zeros(n, np.bool_)
    reached[front] = True
    while len(front):
        found = [dst[~reached[dst]] for _, dst in spread(xp, offsets, targets, front)]
        front = xp.unique(xp.concatenate(found)) if found else front[:0]
        reached[front] = True
    return int(reached.sum())


def _hooked(xp: Any, n: int, src: Array, dst: Array) -> Array:
    """The least vertex of each component of some edges."""
    root = xp.arange(n, dtype=np.int32)
    while True:
        a, b = root[src], root[dst]
        differ = a != b
        if not bool(differ.any()):
            return root
        a, b = a[differ], b[differ]
        xp.minimum.at(root, xp.maximum(a, b), xp.minimum(a, b))
        root = _flatten(root)
