"""Verifying communities of high modularity.

With k(v) the weight of v's edges, where a loop counts twice, T(c) the sum of k over community c, W that over all
vertices, and w(c) the weight of the edges inside c, both ways, modularity at a resolution r is

    Q = sum over c of w(c) / W - r (T(c) / W)²                     (M. Newman and M. Girvan, Phys. Rev. E 69, 2004).

If v moves from its community c to another one d, to which it has edges of weight w(v, d), Q gains

    2 / W (w(v, d) - w(v, c without v) - r k(v) (T(d) - T(c) + k(v)) / W),

and the same with w(v, d) = T(d) = 0 if it begins one of its own, which is at least what any community gains to which v
has no edge. So its neighbours' communities and an empty one are all that must be looked at. (Directed modularity could
gain more by a community to which v has no edge; that is not looked for.)

Directed modularity is that of the edges taken both ways, plus the sum of r (D(c) / W)², where D(c) is the weight that
leaves vertices of c less that which enters them. With node weights n, r n(u) n(v) / W takes the place of
r k(u) k(v) / W².
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frontier.errors import GraphError, NegativeWeightError
from frontier.memory.arrays import to_host
from frontier.verify.components import weak_components
from frontier.verify.edges import edge_blocks, lightest, spread
from frontier.verify.report import Checks, Report, examine, fail, integer_field, number_field, vertex_field

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["communities", "leiden"]

EXACT, ROUNDED = 1e-12, 1e-9
"""How far the modularity of a result may be from that computed of integers, exactly, and of floats."""


def communities(
    g: Graph, result: Any, *, connected: bool = False, tolerance: float = 1e-3, node_weights: Any = None
) -> Report:  # fmt: skip
    """Check communities of high modularity.

    Parameters
    ----------
    g : Graph
        With finite weights >= 0 or without; parallel edges count with the sum of their weights. A directed one is taken
        for undirected, as by :meth:`frontier.Graph.undirected`, unless ``result.directed``.
    result : CommunitiesResult
        ``label`` (n,) integers, the number of each vertex's community; ``count``, the number of communities;
        ``modularity``; ``resolution``.
    connected : bool
        Whether each community must be connected by edges of positive weight, as those of :func:`frontier.leiden` are.
    tolerance : float
        What modularity may gain at most if one vertex moves to a neighbour's community, or begins one; inf for any
        amount. What :func:`frontier.louvain` and :func:`frontier.leiden` find passes with 1e-9 where a graph has less
        than 32,768 vertices and edge slots; in larger ones moves are left, of some millionths each.
    node_weights : array_like, shape (n,), optional
        Those that the communities were found with.

    Returns
    -------
    Report
        True if the result passed; see its ``raise_if_failed()``.

    Raises
    ------
    GraphError
        If a weight is not finite, or the tolerance is negative or no number.
    NegativeWeightError
        If a weight is negative.

    Notes
    -----
    Labels are 0 to count - 1, and all occur; ``levels``, if there are any, are communities inside one another.
    Modularity is computed again: as a fraction of integers, if weights are integers with a sum below 2**62 or there are
    none, and must agree to 1e-12; in float64 otherwise, and to 1e-9. That no modularity is higher is not checked: it is
    hard to find the highest. O(n + m log m) time, O(n + m) memory.

    Examples
    --------
    >>> g = fr.karate()
    >>> fr.verify.communities(g, fr.louvain(g)).passed
    True
    """
    if not tolerance >= 0:
        raise GraphError(f"tolerance={tolerance!r}: it must be a number, and not negative")

    def properties(g: Graph, result: Any, checks: Checks) -> None:
        _properties(g, result, checks, connected, tolerance, node_weights)

    return examine("communities", properties, g, result, ("label", "count", "modularity", "resolution"))


def leiden(g: Graph, result: Any, *, tolerance: float = 1e-3, node_weights: Any = None) -> Report:
    """Check communities that must be connected: ``communities(g, result, connected=True)``.

    Examples
    --------
    >>> g = fr.karate()
    >>> fr.verify.leiden(g, fr.leiden(g)).passed
    True
    """
    return communities(g, result, connected=True, tolerance=tolerance, node_weights=node_weights)


def _properties(
    given: Graph, result: Any, checks: Checks, connected: bool, tolerance: float, node_weights: Any
) -> None:  # fmt: skip
    g = given.undirected()  # as those that find communities take it
    label = vertex_field(result, "label", g.num_vertices, "iu")
    count = integer_field(result, "count")
    modularity = number_field(result, "modularity")
    resolution = number_field(result, "resolution")
    if not 0 <= resolution < np.inf:
        fail(f"resolution is {resolution}, expected a finite number >= 0")
    _check_graph(g)

    checks.begin("labels are 0 to count - 1, and all of these occur")
    if count > g.num_vertices:
        fail(f"count is {count}, but there are {g.num_vertices} vertices")
    wrong = (label < 0) | (label >= count)
    if wrong.any():
        v = int(np.argmax(wrong))
        fail(f"label[{v}] is {label[v]}, but there are {count} communities")
    label = label.astype(np.int64)
    size = np.bincount(label)
    if count != np.count_nonzero(size):
        missing = np.flatnonzero(size == 0)
        fail(f"count is {count}, but no vertex has label {int(missing[0]) if len(missing) else len(size)}")

    sums = _Sums(g, label, count)
    if getattr(result, "directed", False) and not given.symmetric:
        sums.direct(given)
    if node_weights is not None:
        sums.weigh(np.asarray(to_host(node_weights), np.float64))
    checks.begin("modularity is that of the labels")
    expected = sums.modularity(resolution)
    slack = (EXACT if sums.exact else ROUNDED) * (1 + resolution)
    if not abs(modularity - expected) <= slack:
        fail(f"modularity is {modularity!r}, expected {float(expected)!r}")

    if isinstance(levels := getattr(result, "levels", None), list):
        checks.begin("communities of a level are unions of those of the level before, and the last are the labels")
        _check_levels([to_host(level) for level in levels], label)
    if connected:
        checks.begin("communities are connected by edges of positive weight")
        _check_connected(g, label, count)
    if tolerance < np.inf:
        checks.begin(f"modularity gains no more than {tolerance:.3g} if one vertex moves")
        _check_moves(g, label, sums, resolution, tolerance)


def _check_graph(g: Graph) -> None:
    if g.weights is None or not g.num_slots:
        return
    if g.min_weight < 0:
        raise NegativeWeightError(f"{lightest(g)}: modularity needs weights >= 0")
    if not np.isfinite(g.max_weight):
        raise GraphError("modularity needs finite weights")


class _Sums:
    """Weights of vertices and communities: exact in int64, or in float64, where the greatest weight is 1."""

    def __init__(self, g: Graph, label: NDArray[np.int64], count: int) -> None:
        self._g = g
        integers = g.weights is None or g.weights.dtype.kind in "iu"
        self.exact = integers and (g.weights is None or self._about() < 2**62)
        dtype = self.vertex_dtype = np.dtype(np.int64 if self.exact else np.float64)
        self.vertex = np.zeros(g.num_vertices, dtype)
        self.inside = np.zeros(count, dtype)
        for vertices, slots in edge_blocks(g.offsets):
            src = spread(np.arange(g.num_vertices), g.offsets, vertices)
            dst, weight = g.targets[slots], self.weights(slots)
            weight = np.where(src == dst, 2 * weight, weight)
            np.add.at(self.vertex, src, weight)
            within = label[src] == label[dst]
            np.add.at(self.inside, label[src[within]], weight[within])
        self.community = np.zeros(count, dtype)
        np.add.at(self.community, label, self.vertex)
        self.all = self.community.sum().item()
        self._label = label
        self._skewed: NDArray[Any] | None = None
        # What is to be expected between v and c, as a share of all weights, is the sum of products of a factor of v and
        # one of c, which is the sum of those, in third place, of its vertices.
        share = self.vertex / float(self.all or 1)
        self.terms: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = [
            (share, self.community / float(self.all or 1), share)
        ]

    def direct(self, given: Graph) -> None:
        """Make it directed modularity, of the graph with directions."""
        skew = np.zeros(given.num_vertices, self.vertex.dtype)
        for vertices, slots in edge_blocks(given.offsets):
            weight = self._in_unit(given, slots)
            np.add.at(skew, spread(np.arange(given.num_vertices), given.offsets, vertices), weight)
            np.subtract.at(skew, given.targets[slots], weight)
        skewed = np.zeros(len(self.community), skew.dtype)
        np.add.at(skewed, self._label, skew)
        self._skewed, share = skewed, skew / float(self.all or 1)
        self.terms.append((-share, skewed / float(self.all or 1), share))

    def weigh(self, node_weights: NDArray[np.float64]) -> None:
        """Let products of node weights be expected."""
        self.exact = False
        unit = 1.0 if self.vertex.dtype == np.int64 else 1 / float(self._g.max_weight or 1)
        masses = np.bincount(self._label, node_weights, len(self.community))
        self.terms = [(node_weights * unit / float(self.all or 1), masses, node_weights)]

    def _about(self) -> float:
        assert self._g.weights is not None
        return sum(float(self._g.weights[slots].sum(dtype=np.float64)) for _, slots in edge_blocks(self._g.offsets))

    def weights(self, slots: slice) -> NDArray[Any]:
        """The weights of some edge slots, in the unit of the sums."""
        return self._in_unit(self._g, slots)

    def _in_unit(self, g: Graph, slots: slice) -> NDArray[Any]:
        if g.weights is None:
            return np.ones(slots.stop - slots.start, np.int64)
        if self.vertex_dtype == np.int64:
            return g.weights[slots].astype(np.int64)
        scaled: NDArray[Any] = g.weights[slots].astype(np.float64) / float(self._g.max_weight or 1)
        return scaled

    def modularity(self, resolution: float) -> Fraction | float:
        """The modularity, 0 if there is no edge of positive weight."""
        if self.all == 0:
            return 0.0
        if not self.exact:
            size = len(self.community)
            expected = sum(float((np.bincount(self._label, v, size) * c).sum()) for v, c, _ in self.terms)
            return float(self.inside.sum() / self.all) - resolution * expected
        parts = sum(int(total) ** 2 for total in self.community.tolist())
        if self._skewed is not None:
            parts -= sum(int(total) ** 2 for total in self._skewed.tolist())
        return Fraction(int(self.inside.sum()), self.all) - Fraction(resolution) * Fraction(parts, self.all**2)


def _check_levels(levels: list[NDArray[Any]], label: NDArray[np.int64]) -> None:
    if not levels or not np.array_equal(levels[-1], label):
        fail("the last of levels is not label")
    for i, (small, large) in enumerate(pairwise(levels)):
        first = np.unique(small, return_index=True)[1]
        inside = np.zeros(int(small.max(initial=-1)) + 1, np.int64)
        inside[small[first]] = large[first]
        apart = large != inside[small]
        if apart.any():
            v = int(np.argmax(apart))
            fail(f"levels[{i}] puts {v} into community {small[v]}, which levels[{i + 1}] divides")


def _check_connected(g: Graph, label: NDArray[np.int64], count: int) -> None:
    degree, targets = np.zeros(g.num_vertices + 1, np.int64), []
    for vertices, slots in edge_blocks(g.offsets):
        src = spread(np.arange(g.num_vertices), g.offsets, vertices)
        dst = g.targets[slots]
        kept = label[src] == label[dst]
        if g.weights is not None:
            kept &= g.weights[slots] > 0
        np.add.at(degree, src[kept] + 1, 1)
        targets.append(dst[kept])
    ends = np.concatenate(targets) if targets else np.zeros(0, g.id_dtype)
    part = weak_components(type(g)(np.cumsum(degree), ends, directed=False))
    first = np.zeros(count, np.int64)
    first[label[::-1]] = np.arange(g.num_vertices)[::-1]  # of equal labels the last one stays
    apart = part != part[first[label]]
    if apart.any():
        v = int(np.argmax(apart))
        u = int(first[label[v]])
        fail(f"label[{u}] and label[{v}] are both {label[v]}, but no path of positive weight inside joins them")


def _check_moves(g: Graph, label: NDArray[np.int64], sums: _Sums, resolution: float, tolerance: float) -> None:
    """Check that no vertex had better be elsewhere."""
    if sums.all == 0:
        return
    whole, count = float(sums.all), len(sums.community)
    at_home = resolution * np.sum([v * (c[label] - own) for v, c, own in sums.terms], axis=0)
    best = (0.0, 0, 0)
    for vertices, slots in edge_blocks(g.offsets):
        n = vertices.stop - vertices.start
        src = spread(np.arange(g.num_vertices), g.offsets, vertices)
        dst = g.targets[slots]
        other = src != dst
        where, weight = _grouped((src[other] - vertices.start) * count + label[dst[other]], sums.weights(slots)[other])
        at, to = where // count, where % count
        here = to == label[vertices][at]
        stay = np.zeros(n)
        stay[at[here]] = weight[here] / whole
        stay -= at_home[vertices]
        elsewhere = resolution * sum(v[vertices][at] * c[to] for v, c, _ in sums.terms)
        gain = weight / whole - elsewhere - stay[at]
        gain[here] = -np.inf
        for worth, v, d in ((gain, at, to), (-stay, np.arange(n), np.full(n, count))):  # the last: one of its own
            if len(worth) and 2 * worth.max() > best[0]:
                i = int(worth.argmax())
                best = (2 * float(worth[i]), vertices.start + int(v[i]), int(d[i]))
    if best[0] > tolerance:
        gained, mover, to_label = best
        place = f"community {to_label}" if to_label < count else "a community of its own"
        fail(f"moving vertex {mover} from community {label[mover]} to {place} gains {gained:.3g}")


def _grouped(keys: NDArray[np.int64], values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the keys that occur, ascending, and the sum of the values of each."""
    if not len(keys):
        return keys, values
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    heads = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return keys[heads], np.add.reduceat(values, heads)
