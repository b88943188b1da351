"""Verifying betweenness centrality.

With delta_s(v) the sum over targets t of the fraction of shortest paths from s to t that pass through
v (ends excluded), betweenness is the sum of delta_s over the sources, times a constant. Each delta_s
comes from two sweeps over breadth-first levels (U. Brandes, A faster algorithm for betweenness
centrality, J. Math. Sociology 25(2), 2001), here in numpy, source by source though several side by
side: a second algorithm, independent of the first one's levels, path counts and dependencies.

Where that would take too long, it is done for some sources, which gives a lower bound, and an
identity is checked for all of them. A shortest path of length d has d - 1 inner vertices, so the
sum of delta_s(v) over v is the sum of d(s, t) - 1 over the vertices t that s reaches. It needs
distances only, and these come for 64 sources at a time, one per bit of a word.

By weights, or where numbers of paths exceed float64, the second computation is that of
:mod:`frontier.verify.dependencies`, which is slower; for weights there is no such identity.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontier.graph.graph import Graph
from frontier.verify.dependencies import EXACT, dependencies
from frontier.verify.edges import edge_blocks, expand, spread
from frontier.verify.report import (
    Checks,
    Report,
    examine,
    fail,
    flag_field,
    vertex_field,
    vertex_list,
)

__all__ = [
    "betweenness", "check_distances", "check_values", "flag_or_false", "positive_weights", "scale_of", "targets_of",
    "with_all_edges",
]  # fmt: skip

RECOMPUTE = 200_000_000
"""Vertices and edges, times sources, up to which betweenness is computed a second time."""
BATCH = 1 << 22
"""Vertices and edges, times sources, that are worked on side by side."""
RELATIVE = 1e-9


def betweenness(g: Graph, result: Any) -> Report:
    """Check betweenness centrality.

    Parameters
    ----------
    g : Graph
        n vertices, m edges. Parallel edges are different paths.
    result : BetweennessResult
        ``centrality`` (n,) floats; ``sources`` (k,) integers, or None for all vertices;
        ``normalized``: whether centralities are divided by the number of pairs, (n - 1)(n - 2), half of
        that in undirected graphs; ``sampled`` (False if there is none): whether they are multiplied
        by n - 1 and divided by the number of sources besides the vertex. Undirected graphs count a
        pair once, so what the sources contribute is halved. If there are, also ``targets`` (None:
        all), ``weighted``, and ``endpoints``, as of :func:`frontier.betweenness`.

    Returns
    -------
    Report
        True if the result passed; see its ``raise_if_failed()``. The checks say how many sources
        were computed again.

    Notes
    -----
    Always: centralities are finite and not negative, and zero where a vertex cannot be inside a path
    (without an in- or out-edge; at most one in an undirected graph). For k (n + m) up to 2e8 each
    centrality is computed again, from all k sources, and must agree to 1e-9 of itself. Beyond that
    only some of the sources are taken, spread evenly over the list: what these contribute is a
    lower bound of each centrality. And the sum of all centralities is compared with the distances'
    (see the head of this module), at a tenth to a sixtieth of the cost where vertices are a few
    steps apart. Both are necessary, not sufficient: errors above the bound that cancel are not seen.
    By weights, the limit of k (n + m) is 4e6, and there is no such sum.
    O(k (n + m)) time, O(n + m) memory, also on every rank if the graph is in parts.

    Examples
    --------
    >>> g = fr.karate()
    >>> fr.verify.betweenness(g, fr.betweenness(g)).passed
    True
    """
    return examine("betweenness", _properties, g, result, ("centrality", "sources", "normalized"))


def _properties(g: Graph, result: Any, checks: Checks) -> None:
    n = g.num_vertices
    centrality = vertex_field(result, "centrality", n)
    sources = vertex_list(result, "sources", n)
    end = targets_of(result, n)
    weighted, ends = flag_or_false(result, "weighted"), flag_or_false(result, "endpoints")
    scale = scale_of(g, flag_field(result, "normalized"), ends)
    if flag_or_false(result, "sampled"):  # undone, so that all below is of sums
        others = len(sources) - (0 if ends else np.isin(np.arange(n), sources))
        centrality = centrality * (np.maximum(others, 1) / max(n if ends else n - 1, 1))

    check_values(centrality, "centrality", checks)
    g = with_all_edges(g)
    if not ends:
        checks.begin("vertices that no path can pass through have 0")
        wrong = _outside(g) & (centrality != 0)
        if wrong.any():
            v = int(np.argmax(wrong))
            fail(f"centrality[{v}] is {centrality[v]}, but vertex {v} cannot be inside a path")
    if weighted:
        positive_weights(g, checks)

    k = len(sources)
    again, some = _again(g, sources, end, weighted, ends)
    if again is not None and some == k:
        checks.begin(f"a second computation, from all {k} sources, gives the same")
        _compare(centrality, scale * again)
        return
    if again is not None:
        checks.begin(f"none is less than what {some} of the {k} sources contribute")
        _compare_bound(centrality, scale * again)
    if not weighted:
        checks.begin(f"their sum is that of distances {'+' if ends else '-'} 1, from all {k} sources")
        check_distances(centrality, g, sources, end, 1 if ends else -1, scale)


def with_all_edges(g: Graph) -> Graph:
    """Return a graph in parts with all edges on every rank, as paths go everywhere; others as they are."""
    if g._topology.divided is None:
        return g
    weights = None if g.weights is None else g.weights[:]
    return Graph(g.offsets, g.targets[:], weights, directed=g.directed, check=False)


def flag_or_false(result: Any, name: str) -> bool:
    """Return ``result.name`` as a bool; False if there is none."""
    return hasattr(result, name) and flag_field(result, name)


def targets_of(result: Any, n: int) -> NDArray[np.int8]:
    """Return 1 for each vertex that is among ``result.targets``, and 0 for others; 1 for all if there are none."""
    end = np.zeros(n, dtype=np.int8)
    end[vertex_list(result, "targets", n) if hasattr(result, "targets") else slice(None)] = 1
    return end


def check_values(values: NDArray[Any], name: str, checks: Checks) -> None:
    """Check that values are finite and not negative."""
    checks.begin("centralities are finite and >= 0")
    wrong = ~((values >= 0) & (values < np.inf))
    if wrong.any():
        at = int(np.argmax(wrong))
        fail(f"{name}[{at}] is {values[at]}")


def positive_weights(g: Graph, checks: Checks) -> None:
    """Check that the graph has weights, all of them positive."""
    checks.begin("weights are positive")
    if g.weights is None:
        fail("the graph has no weights")
    if g.num_slots and not g.min_weight > 0:
        fail(f"the least is {g.min_weight}")


def scale_of(g: Graph, normalized: bool, ends: bool) -> float:
    """Return what the sum of dependencies is multiplied by."""
    others = g.num_vertices if ends else g.num_vertices - 1
    if not normalized or others < 2:
        return 1.0 if g.directed else 0.5
    return 1 / (others * (others - 1))


def _again(
    g: Graph, sources: NDArray[np.int64], end: NDArray[np.int8], weighted: bool, ends: bool
) -> tuple[NDArray[np.float64] | None, int]:
    """Compute sums of dependencies again, from all sources or from some, and say of how many; or None."""
    k, size = len(sources), g.num_vertices + g.num_slots + 1
    found = None
    if not weighted:
        some = min(k, max(1, RECOMPUTE // size))
        found = _dependencies(g, sources[np.arange(some) * k // max(some, 1)], end, ends)
    if found is None:
        some = min(k, max(weighted, EXACT // size))
        if some or not k:
            found, _ = dependencies(g, sources[np.arange(some) * k // max(some, 1)], end, weighted, ends)
    return found, some


def _outside(g: Graph) -> NDArray[np.bool_]:
    """Return which vertices cannot be inside a shortest path, self-loops not counting."""
    n = g.num_vertices
    ids = np.arange(n, dtype=g.id_dtype)
    out = np.zeros(n, dtype=np.int64)
    has_in = np.zeros(n, dtype=np.bool_)
    for vertices, slots in edge_blocks(g.offsets):
        src, dst = spread(ids, g.offsets, vertices), g.targets[slots]
        other = src != dst
        out[vertices] = np.bincount(src[other] - vertices.start, minlength=vertices.stop - vertices.start)
        has_in[dst[other]] = True
    outside: NDArray[np.bool_] = (out < (1 if g.directed else 2)) | ~has_in
    return outside


def _compare(centrality: NDArray[Any], expected: NDArray[np.float64]) -> None:
    off = np.abs(centrality - expected)
    wrong = ~(off <= RELATIVE * expected)
    if wrong.any():
        v = int(np.argmax(np.where(wrong, off, -1)))
        fail(f"centrality[{v}] is {float(centrality[v])!r}, expected {float(expected[v])!r}")


def _compare_bound(centrality: NDArray[Any], bound: NDArray[np.float64]) -> None:
    wrong = centrality < bound * (1 - RELATIVE)
    if wrong.any():
        v = int(np.argmax(wrong))
        fail(f"centrality[{v}] is {float(centrality[v])!r}, expected {float(bound[v])!r} or more")


def check_distances(
    values: NDArray[Any], g: Graph, sources: NDArray[np.int64], end: NDArray[np.int8], more: int, scale: float
) -> None:
    """Compare the sum of values with that of distances, each plus ``more``, times ``scale``."""
    expected = scale * sum(_sum_of_distances(g, sources[i : i + 64], end, more) for i in range(0, len(sources), 64))
    total = float(values.sum(dtype=np.float64))
    if not abs(total - expected) <= RELATIVE * expected:
        fail(f"the sum of centralities is {total!r}, but that of distances {more:+d} is {expected!r}")


# -- Brandes' algorithm: the states of a batch of sources are vertices of copies of the graph ------


def _dependencies(
    g: Graph, sources: NDArray[np.int64], end: NDArray[np.int8], ends: bool
) -> NDArray[np.float64] | None:
    """Sum the dependencies of all sources: (n,), or None if path counts exceed float64."""
    n = g.num_vertices
    total = np.zeros(n)
    batch = max(1, BATCH // (n + g.num_slots + 1))
    for first in range(0, len(sources), batch):
        some = sources[first : first + batch]
        start = some + n * np.arange(len(some))
        level, paths, levels = _count_paths(g, start, n * len(some))
        if not np.isfinite(paths).all():
            return None
        delta = np.zeros(len(level))
        for depth in range(len(levels) - 2, -1, -1):
            frontier = levels[depth]
            for position, dst in _walk(g, frontier):
                onward = level[dst] == depth + 1
                position, dst = position[onward], dst[onward]
                part = (end[dst % n] + delta[dst]) / paths[dst]
                delta[frontier] += np.bincount(position, part, minlength=len(frontier))
            delta[frontier] *= paths[frontier]
        if ends:  # a source is one end of its paths to targets, and a target of those to it
            delta += end[np.arange(len(delta)) % n] * (level > 0)
        else:
            delta[start] = 0
        total += delta.reshape(len(some), n).sum(axis=0)
    return total


def _count_paths(
    g: Graph, start: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int32], NDArray[np.float64], list[NDArray[np.int64]]]:
    """Find the level of each state, its number of shortest paths, and the states of each level."""
    level = np.full(size, -1, dtype=np.int32)
    paths = np.zeros(size)
    place = np.zeros(size, dtype=np.int64)
    level[start] = 0
    paths[start] = 1
    levels = [start]
    with np.errstate(over="ignore"):
        while levels[-1].size:
            frontier = levels[-1]
            found = []
            for position, dst in _walk(g, frontier):
                new = dst[level[dst] < 0]
                place[new] = np.arange(len(new))  # the last of equal ones stays
                new = new[place[new] == np.arange(len(new))]
                level[new] = len(levels)
                found.append(new)
                onward = level[dst] == len(levels)
                np.add.at(paths, dst[onward], paths[frontier[position[onward]]])
            levels.append(np.concatenate(found))
    return level, paths, levels[:-1]


def _walk(g: Graph, states: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Walk the out-edges of states, each within its copy of the graph."""
    vertex = states % g.num_vertices
    copy = states - vertex
    for position, target in expand(g.offsets, g.targets, vertex):
        yield position, copy[position] + target


# -- distances only, from 64 sources at a time -----------------------------------------------------


def _sum_of_distances(g: Graph, sources: NDArray[np.int64], end: NDArray[np.int8], more: int) -> int:
    """Sum d(s, t) + more over all sources s, at most 64, and the targets t != s that s reaches."""
    n = g.num_vertices
    bits = np.uint64(1) << np.arange(len(sources), dtype=np.uint64)
    fresh = np.zeros(n, dtype=np.uint64)
    np.bitwise_or.at(fresh, sources, bits)
    seen = fresh.copy()
    frontier = np.unique(sources)
    total, depth = 0, 0
    while frontier.size:
        depth += 1
        found = np.zeros(n, dtype=np.uint64)
        for position, dst in expand(g.offsets, g.targets, frontier):
            np.bitwise_or.at(found, dst, fresh[frontier[position]])
        fresh = found & ~seen
        seen |= fresh
        (frontier,) = np.nonzero(fresh)
        reached = fresh[frontier[end[frontier] > 0]]
        total += int(np.unpackbits(reached.view(np.uint8)).sum(dtype=np.int64)) * (depth + more)
    return total
