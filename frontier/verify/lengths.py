"""What makes lengths the lengths of shortest paths, and parents a tree of such paths.

Let d(v) be the length of a shortest path from the source s. Three properties leave one answer:

1. ``length[s] == 0``.
2. No edge is left to relax: for each edge u -> v with u reached, v is reached and
   ``length[v] <= length[u] + w``. By induction along a shortest path ``length[v] <= d(v)``, and
   every vertex that can be reached is.
3. Every other reached vertex is *supported*: it has an edge u -> v with u reached and
   ``length[v] == length[u] + w``, and following such edges back ends at s. That is a path
   from s of length ``length[v]``; hence ``length[v] >= d(v)``, and nothing is reached that cannot be.

Integers are compared exactly, floats with a relative tolerance t at each edge. (A search that
relaxes edges until none can be relaxed needs none: float addition of weights >= 0 is monotone, so its
distances are the smallest sums, rounded at each step. Another library may add up otherwise.)

An edge that supports its far end *rises* if ``length[u] < length[v] * (1 - 2 n t)``. No circle of
such edges has one that rises, because an edge falls by a factor of 1 - t at most, and n of them by
1 - n t (the 2 is for the rounding in these tests). So following back ends at s where edges rise.
Where they do not, at weights of zero or nearly so, vertices could support each other in a circle:
with parents these are followed to their end, without parents support is spread forward from what is
known to be supported.

With several sources, d(v) is the length from the nearest; each has 0 and is its own parent. With a limit, properties 1
to 3 hold for what is no farther, and all else is unreached: an edge is left to relax only if it ends within the limit.

With negative weights, edges of a circle may fall and rise by turns, so that none counts as rising; and a circle of
negative length always has an edge that can be relaxed.

A BFS level is a shortest path's length where each edge has weight 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frontier.verify.edges import edge_blocks, edge_name, expand, one, spread
from frontier.verify.report import Checks, fail, field, source_vertices, vertex_field

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["Lengths"]


class Lengths:
    """The properties at the head of this module, for one array of lengths.

    ``shown`` is the result's own array, for messages; ``length`` the same with ``far``, int64's
    maximum or inf, for unreached vertices, so that "unreached" compares as longer than anything.
    """

    def __init__(
        self,
        g: Graph,
        result: Any,
        name: str,
        shown: NDArray[Any],
        length: NDArray[Any],
        weights: NDArray[Any] | None,
        tolerance: float,
        limit: float | None = None,
        signed: bool = False,
    ) -> None:
        n = g.num_vertices
        self.g = g
        self.sources = source_vertices(result, n)
        self.limit = limit
        self.signed = signed  # weights may be negative
        self.scale = _scale(g) if signed else 0.0
        self.name = name
        self.shown = shown
        self.length = length
        self.far = np.inf if length.dtype.kind == "f" else np.iinfo(length.dtype).max
        self.weights = weights
        self.tolerance = tolerance
        self.ids = np.arange(n, dtype=g.id_dtype)
        self.parent: NDArray[Any] | None = None
        if field(result, "parent") is not None:
            self.parent = vertex_field(result, "parent", n, "iu")
        self.supported = np.zeros(n, dtype=np.bool_)
        self.supported[self.sources] = True
        # Edges that could support but do not rise, where there are no parents.
        self.flat: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def check(self, checks: Checks) -> None:
        """Check all properties."""
        checks.begin(f"the source has {self.name} 0")
        wrong = self.sources[self.length[self.sources] != 0]
        if len(wrong):
            fail(f"{self._at(int(wrong[0]))}, but it is the source and must have 0")
        if self.limit is not None:
            checks.begin("nothing is reached beyond the limit")
            self._check_limit(self.limit)
        if self.parent is not None:
            checks.begin("the source is its own parent, unreached vertices have none")
            self._check_parent_ids(self.parent)
        checks.begin(f"no edge can lower a {self.name} or leaves the reached part")
        for vertices, slots in edge_blocks(self.g.offsets):
            self._check_block(vertices, slots)
        if self.parent is None:
            checks.begin(f"edges that give every other {self.name} lead back to the source")
            self._spread_support()
            self._check_supported()
        else:
            checks.begin(f"the edge from its parent gives every other vertex its {self.name}")
            self._check_supported()
            checks.begin("parents lead back to the source")
            self._check_acyclic(self.parent)

    def _check_limit(self, limit: float) -> None:
        slack = len(self.ids) * self.tolerance * limit  # of all edges of a path
        (beyond,) = np.nonzero((self.length != self.far) & (self.length > limit + slack))
        if len(beyond):
            fail(f"{self._at(int(beyond[0]))}, but the search went to {limit} only")

    def _at(self, v: int) -> str:
        return f"{self.name}[{v}] is {self.shown[v]}"

    def _past(self, lengths: NDArray[Any], slots: slice) -> NDArray[Any]:
        """Return ``lengths`` plus the weights of ``slots``, rounded as a length is stored."""
        if self.weights is None:
            return lengths + 1
        weights = self.weights[slots]
        total: NDArray[Any]
        if lengths.dtype.kind == "i" and weights.dtype.kind in "iu":
            total = lengths + weights.astype(np.int64, copy=False)
            if not self.signed:
                total[total < lengths] = self.far  # past int64: longer than anything
            return total
        with np.errstate(over="ignore"):  # infinitely long, then
            total = lengths + weights
            return total.astype(lengths.dtype, copy=False) if lengths.dtype.kind == "f" else total

    def _rises(self, here: NDArray[Any], there: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which edges that support their far end rise: see the head of this module."""
        if self.signed:
            return np.zeros(len(there), np.bool_)
        if self.tolerance:
            there = there * (1 - 2 * len(self.ids) * self.tolerance)
        rising: NDArray[np.bool_] = here < there
        return rising

    def _check_parent_ids(self, parent: NDArray[Any]) -> None:
        n = len(parent)
        others = self.sources[parent[self.sources] != self.sources]
        if len(others):
            s = int(others[0])
            fail(f"parent[{s}] is {parent[s]}, but the source is its own parent")
        reached = self.length != self.far
        wrong = np.where(reached, (parent < 0) | (parent >= n), parent != -1)
        if wrong.any():
            v = int(np.argmax(wrong))
            expected = f"0 to {n - 1}" if reached[v] else "-1, as the vertex is unreached"
            fail(f"parent[{v}] is {parent[v]}, expected {expected} ({self._at(v)})")

    def _check_block(self, vertices: slice, slots: slice) -> None:
        """Check that no edge of a block lowers a length, and note which support their far end."""
        offsets = self.g.offsets
        dst = self.g.targets[slots]
        here = spread(self.length, offsets, vertices)
        there = self.length[dst]
        past = self._past(here, slots)
        counts = here != self.far
        with np.errstate(invalid="ignore"):  # inf - inf, where nothing is reached
            size = abs(past) + abs(here) + self.scale if self.signed else past
            slack = self.tolerance * size if self.tolerance else 0
            lower = (there > past + slack) & counts
            if self.limit is not None:
                lower &= past + slack * len(self.ids) <= self.limit
            tight_mask = (there >= past - slack) & counts
        if lower.any():
            self._fail_edge(slots.start + int(np.argmax(lower)))
        (tight,) = np.nonzero(tight_mask)
        dst = dst[tight]
        src = spread(self.ids, offsets, vertices)[tight]
        if self.parent is not None:
            self.supported[dst[self.parent[dst] == src]] = True
            return
        rises = self._rises(here[tight], there[tight])
        self.supported[dst[rises]] = True
        if not rises.all():
            self.flat.append((src[~rises], dst[~rises]))

    def _fail_edge(self, slot: int) -> None:
        u, v, edge = edge_name(self.g, slot)
        weight = "" if self.weights is None else f" of weight {one(self.weights, slot)}"
        unreached = ", unreached" if self.length[v] == self.far else ""
        fail(f"{self._at(v)}{unreached}, but {edge}{weight} gives less: {self._at(u)}")

    def _spread_support(self) -> None:
        """Pass support on along edges that do not rise, from where there is some."""
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

    def _check_supported(self) -> None:
        (missing,) = np.nonzero((self.length != self.far) & ~self.supported)
        if missing.size == 0:
            return
        v = int(missing[0])
        if self.parent is None:
            fail(f"{self._at(v)}, but no path from the source gives it")
        p = int(self.parent[v])
        slots = slice(int(self.g.offsets[p]), int(self.g.offsets[p + 1]))
        joins = self.g.targets[slots] == v
        if not joins.any():
            fail(f"parent[{v}] is {p}, but there is no edge {p} -> {v}")
        weight = "" if self.weights is None else f", edge weight {self.weights[slots][joins].min()}"
        fail(
            f"parent[{v}] is {p}, but the edge does not give {v} its {self.name}: {self._at(v)}, {self._at(p)}{weight}",
        )

    def _check_acyclic(self, parent: NDArray[Any]) -> None:
        """Follow parents up to an edge that rises, all at once by doubling."""
        (open_,) = np.nonzero(self.length != self.far)
        flat = np.zeros(len(parent), dtype=np.bool_)
        flat[open_] = ~self._rises(self.length[parent[open_]], self.length[open_])
        flat[self.sources] = False
        hop = self.ids.copy()
        (open_,) = np.nonzero(flat)
        hop[open_] = parent[open_]
        for _ in range(len(open_).bit_length() + 1):
            open_ = open_[flat[hop[open_]]]
            hop[open_] = hop[hop[open_]]
        if open_.size:
            v = int(hop[open_[0]])
            fail(
                f"the parents form a cycle through vertex {v} (parent[{v}] is {parent[v]}, "
                f"{self._at(v)}) and never reach the source {', '.join(map(str, self.sources[:3].tolist()))}",
            )


def _scale(g: Graph) -> float:
    """The greatest weight, whatever its sign; 0 if it is infinite."""
    greatest = max(abs(float(g.min_weight)), abs(float(g.max_weight))) if g.num_slots and g.weights is not None else 0.0
    return greatest if np.isfinite(greatest) else 0.0
