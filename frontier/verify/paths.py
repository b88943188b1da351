"""Verifying shortest paths: BFS levels, SSSP distances, and the parents of both.

Let d(v) be the length of a shortest path from the source s. Three properties leave one answer:

1. ``length[s] == 0``.
2. No edge is left to relax: for each edge u -> v with u reached, v is reached and
   ``length[v] <= length[u] + w``. By induction along a shortest path ``length[v] <= d(v)``, and
   every vertex that can be reached is.
3. Every other reached vertex is *supported*: it has an edge u -> v with u reached and
   ``length[v] == length[u] + w`` exactly, and following such edges back ends at s. That is a path
   from s of length ``length[v]``; hence ``length[v] >= d(v)``, and nothing is reached that cannot be.

Following back ends at s if the length falls at each step. Where it does not, at weights of zero (or
so small that a float sum absorbs them), there could be a circle of vertices that support each
other: with parents these are followed to their end, without parents support is spread forward from
what is known to be supported.

Float sums are compared exactly. Addition of weights >= 0 is monotone in floating point too, so the
argument holds with d(v) read as the smallest sum, rounded at each step, over all paths; every
algorithm that relaxes edges until none can be relaxed ends with exactly these numbers.

A BFS level is a shortest path's length where each edge has weight 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frontier.errors import NegativeWeightError
from frontier.verify.edges import edge_blocks, edge_name, expand, spread
from frontier.verify.report import (
    Report,
    fail,
    optional_field,
    source_vertex,
    vertex_field,
)

if TYPE_CHECKING:
    from frontier.graph import Graph

__all__ = ["bfs", "sssp"]


def bfs(g: Graph, result: Any) -> Report:
    """Check a breadth-first search: levels, and parents where there are any.

    Parameters
    ----------
    g : Graph
        n vertices, m edges.
    result : BFSResult
        ``source``; ``level`` (n,) integers, -1 for unreached; ``parent`` (n,) integers or None, -1
        for unreached, the source its own.

    Returns
    -------
    Report

    Raises
    ------
    VerificationError
        Naming the property, the vertex or edge, and the values.

    Notes
    -----
    The source has level 0; no edge spans more than one level upwards or leaves the reached part;
    every other reached vertex has an in-neighbour (its parent, where given) one level below. These
    imply that every level is exact: see the head of this module. O(n + m) time, O(n) memory.
    """
    n = g.num_vertices
    level = vertex_field("bfs", result, "level", n, "iu")
    (wrong,) = np.nonzero((level < -1) | (level >= n))
    if wrong.size:
        v = int(wrong[0])
        fail("bfs", f"level[{v}] is {level[v]}, expected -1 (unreached) to {n - 1}")
    far = np.iinfo(np.int64).max
    length = np.where(level < 0, far, level.astype(np.int64))
    return _Lengths("bfs", g, result, "level", level, length, far, weights=None).check()


def sssp(g: Graph, result: Any) -> Report:
    """Check single-source shortest paths: distances, and parents where there are any.

    Parameters
    ----------
    g : Graph
        n vertices, m edges with weights >= 0; without weights each edge counts 1.
    result : SSSPResult
        ``source``; ``distance`` (n,) floats, inf for unreached, or integers, the dtype's maximum for
        unreached; ``parent`` (n,) integers or None, -1 for unreached, the source its own.

    Returns
    -------
    Report

    Raises
    ------
    VerificationError
        Naming the property, the vertex or edge, and the values.
    NegativeWeightError
        If an edge weight is negative: then the properties say nothing.

    Notes
    -----
    The source has distance 0; no edge can be relaxed; every other reached vertex has an in-edge
    (from its parent, where given) that gives exactly its distance; and support, or the parents,
    lead back to the source, past edges of weight zero too. These imply that every distance is
    exact: see the head of this module. O(n + m) time and O(n) memory; without parents, edges of
    weight zero take memory too, and a few array operations for each step of their longest chain.
    """
    n = g.num_vertices
    weights = g.weights
    if weights is not None and weights.size and g.min_weight < 0:
        slot = int(np.argmin(weights))
        raise NegativeWeightError(
            f"sssp: {edge_name(g, slot)[2]} has weight {weights[slot]}; "
            "shortest paths are verified for weights >= 0 only"
        )
    distance = vertex_field("sssp", result, "distance", n)
    if distance.dtype.kind == "u":
        fail("sssp", f"distance has dtype {distance.dtype}, expected floats or signed integers")
    (wrong,) = np.nonzero(distance < 0)
    if wrong.size:
        v = int(wrong[0])
        fail("sssp", f"distance[{v}] is {distance[v]}, less than 0")
    far = np.inf if distance.dtype.kind == "f" else np.iinfo(distance.dtype).max
    return _Lengths("sssp", g, result, "distance", distance, distance, far, weights).check()


class _Lengths:
    """The properties at the head of this module, for one array of lengths.

    ``shown`` is the result's own array, for messages; ``length`` the same with ``far``, its largest
    value, for unreached vertices, so that "unreached" compares as longer than anything.
    """

    def __init__(
        self,
        primitive: str,
        g: Graph,
        result: Any,
        name: str,
        shown: NDArray[Any],
        length: NDArray[Any],
        far: float,
        weights: NDArray[Any] | None,
    ) -> None:
        n = g.num_vertices
        self.primitive = primitive
        self.g = g
        self.source = source_vertex(primitive, result, n)
        self.name = name
        self.shown = shown
        self.length = length
        self.far = far
        self.weights = weights
        self.ids = np.arange(n, dtype=g.targets.dtype)
        self.parent = None
        if optional_field(primitive, result, "parent") is not None:
            self.parent = vertex_field(primitive, result, "parent", n, "iu")
        self.supported = np.zeros(n, dtype=np.bool_)
        self.supported[self.source] = True
        # Edges that could support, but between equal lengths, where there are no parents.
        self.flat: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def check(self) -> Report:
        if self.length[self.source] != 0:
            fail(self.primitive, f"{self.at(self.source)}, but it is the source and must have 0")
        if self.parent is not None:
            self.check_parent_ids(self.parent)
        for vertices, slots in edge_blocks(self.g.offsets):
            self.check_block(vertices, slots)
        checks = [
            f"the source has {self.name} 0",
            f"no edge can lower a {self.name} or leaves the reached part",
        ]
        if self.parent is None:
            self.spread_support()
            self.check_supported()
            checks.append(f"edges that give every other {self.name} lead back to the source")
        else:
            self.check_supported()
            self.check_acyclic(self.parent)
            checks += [
                f"the edge from its parent gives every other reached vertex its {self.name}",
                "the source is its own parent, unreached vertices have none",
                "parents lead back to the source",
            ]
        return Report(self.primitive, tuple(checks))

    def at(self, v: int) -> str:
        return f"{self.name}[{v}] is {self.shown[v]}"

    def past(self, lengths: NDArray[Any], slots: slice) -> NDArray[Any]:
        """Return ``lengths`` plus the weights of ``slots``, rounded as a length is stored."""
        if self.weights is None:
            return lengths + 1
        weights = self.weights[slots]
        if lengths.dtype.kind == "i" and weights.dtype.kind in "iub":
            return lengths + weights.astype(lengths.dtype, copy=False)
        total: NDArray[Any] = lengths + weights
        return total.astype(lengths.dtype, copy=False) if lengths.dtype.kind == "f" else total

    def check_parent_ids(self, parent: NDArray[Any]) -> None:
        n = len(parent)
        if parent[self.source] != self.source:
            fail(
                self.primitive,
                f"parent[{self.source}] is {parent[self.source]}, but the source is its own parent",
            )
        reached = self.length != self.far
        wrong = np.flatnonzero(np.where(reached, (parent < 0) | (parent >= n), parent != -1))
        if wrong.size:
            v = int(wrong[0])
            expected = f"0 to {n - 1}" if reached[v] else "-1, as the vertex is unreached"
            fail(
                self.primitive,
                f"parent[{v}] is {parent[v]}, expected {expected} ({self.at(v)})",
            )

    def check_block(self, vertices: slice, slots: slice) -> None:
        """Look at each edge of a block: can it lower a length, does it support its far end?"""
        offsets = self.g.offsets
        dst = self.g.targets[slots]
        here = spread(self.length, offsets, vertices)
        there = self.length[dst]
        past = self.past(here, slots)
        counts = here != self.far
        (lower,) = np.nonzero((there > past) & counts)
        if lower.size:
            self.fail_edge(slots.start + int(lower[0]))
        (tight,) = np.nonzero((there == past) & counts)
        dst = dst[tight]
        src = spread(self.ids, offsets, vertices)[tight]
        if self.parent is not None:
            self.supported[dst[self.parent[dst] == src]] = True
            return
        falls = here[tight] < there[tight]
        self.supported[dst[falls]] = True
        flat = ~falls
        if flat.any():
            self.flat.append((src[flat], dst[flat]))

    def fail_edge(self, slot: int) -> None:
        u, v, edge = edge_name(self.g, slot)
        weight = "" if self.weights is None else f" of weight {self.weights[slot]}"
        unreached = ", unreached" if self.length[v] == self.far else ""
        fail(
            self.primitive,
            f"{self.at(v)}{unreached}, but {edge}{weight} gives less: {self.at(u)}",
        )

    def spread_support(self) -> None:
        """Pass support on along edges between equal lengths, from where there is some."""
        if not self.flat:
            return
        src, dst = (np.concatenate(ends) for ends in zip(*self.flat, strict=True))
        wanted = ~self.supported[dst]
        src, dst = src[wanted], dst[wanted]  # still ascending by src, as slots are
        offsets = np.searchsorted(src, np.arange(self.g.num_vertices + 1))
        frontier = np.unique(src[self.supported[src]])
        while frontier.size:
            found = [target for _, target in expand(offsets, dst, frontier)]
            frontier = np.unique(np.concatenate(found))
            frontier = frontier[~self.supported[frontier]]
            self.supported[frontier] = True

    def check_supported(self) -> None:
        (missing,) = np.nonzero((self.length != self.far) & ~self.supported)
        if missing.size == 0:
            return
        v = int(missing[0])
        if self.parent is None:
            fail(self.primitive, f"{self.at(v)}, but no path from the source gives it")
        p = int(self.parent[v])
        slots = np.arange(int(self.g.offsets[p]), int(self.g.offsets[p + 1]))
        slots = slots[self.g.targets[slots] == v]
        if slots.size == 0:
            fail(self.primitive, f"parent[{v}] is {p}, but there is no edge {p} -> {v}")
        weight = "" if self.weights is None else f", edge weight {self.weights[slots].min()}"
        fail(
            self.primitive,
            f"parent[{v}] is {p}, but the edge does not give {v} its {self.name}: "
            f"{self.at(v)}, {self.at(p)}{weight}",
        )

    def check_acyclic(self, parent: NDArray[Any]) -> None:
        """Follow parents of equal length until the length falls, all at once by doubling."""
        (open_,) = np.nonzero(self.length != self.far)
        flat = np.zeros(len(parent), dtype=np.bool_)
        flat[open_] = self.length[parent[open_]] == self.length[open_]
        flat[self.source] = False
        hop = self.ids.copy()
        (open_,) = np.nonzero(flat)
        hop[open_] = parent[open_]
        for _ in range(len(open_).bit_length() + 1):
            open_ = open_[flat[hop[open_]]]
            hop[open_] = hop[hop[open_]]
        if open_.size:
            v = int(hop[open_[0]])
            fail(
                self.primitive,
                f"the parents form a cycle through vertex {v} (parent[{v}] is {parent[v]}, "
                f"{self.at(v)}) and never reach the source {self.source}",
            )
