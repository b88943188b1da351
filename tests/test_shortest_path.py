"""Shortest paths between two vertices: paths of the graph whose lengths are SciPy's distances."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import host, workers
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier.errors import GraphError, NegativeWeightError
from frontier.primitives._weighted_paths import from_both_ends

#: Parts: threads of this process, in a row and in a grid.
PLACES = ["ranks:2", "ranks:3,python", "ranks:4,2x2"]


def check(g: fr.Graph, source: int, target: int, weighted: bool, estimate: Any = None) -> Any:
    result = fr.shortest_path(g, source, target, weighted=weighted, estimate=estimate)
    if weighted:
        weights = host(g.weights).astype(float)
        ends = zip(host(g.sources).tolist(), host(g.targets).tolist(), weights.tolist(), strict=True)
        length: dict[tuple[int, int], float] = {}
        for u, v, w in ends:
            length[u, v] = min(w, length.get((u, v), math.inf))
        found = host(fr.sssp(g, source).distance)[target]
        expected = math.inf if found == np.iinfo(np.int64).max else float(found)
    else:
        length = dict.fromkeys(zip(host(g.sources).tolist(), host(g.targets).tolist(), strict=True), 1.0)
        level = int(oracles.bfs_levels(g, source)[target])
        expected = math.inf if level < 0 else level
    assert result.distance == pytest.approx(expected, rel=1e-9)
    if expected == math.inf:
        assert result.path == []
    else:
        assert (result.path[0], result.path[-1]) == (source, target)
        steps = zip(result.path, result.path[1:], strict=False)
        assert sum(length[step] for step in steps) == pytest.approx(expected, rel=1e-9)
    assert result.visited <= g.num_vertices
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (40, 120) if backend.name != "python" else (10, 30)
    rng = np.random.default_rng(1)
    for g in random_graphs(
        count, seed=191, min_vertices=1, max_vertices=largest, weights=("int32", "float64"), parallel=True
    ):
        there = backend(g)
        for weighted in (False, True):
            source, target = rng.integers(g.num_vertices, size=2).tolist()
            check(there, source, target, weighted and g.min_weight is not None and g.min_weight >= 0)


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for weighted in (False, True):
            g = compiled(fr.rmat(6, 3, directed=True, weights=(1, 9), seed=4))
            for target in range(0, 64, 9):
                check(g, 3, target, weighted)


def dense(count: int, seed: int) -> Any:
    """Graphs of such a degree that weighted searches begin at both ends; lengths of 0 among the edges."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        n = int(rng.integers(2, 60))
        src, dst = rng.integers(0, n, (2, 10 * n))
        weights = rng.integers(0, 9, 10 * n).astype("int32") if k % 2 else rng.exponential(5, 10 * n)
        extra = int(rng.integers(0, 3))  # vertices that cannot be reached
        options: dict[str, Any] = {"directed": k % 4 < 2, "duplicates": "keep" if k % 3 == 0 else "min"}
        g = fr.from_edges(src, dst, weights, num_vertices=n + extra, **options)
        if from_both_ends(g):
            yield g


def test_weighted_searches_from_both_ends(backend: Backend) -> None:
    rng, searched = np.random.default_rng(2), 0
    for g in dense(40 if backend.name != "python" else 12, seed=3):
        there = backend(g)
        for source, target in rng.integers(g.num_vertices, size=(4, 2)).tolist():
            check(there, source, target, True)
            searched += 1
    assert searched > 30


def test_several_workers_from_both_ends() -> None:
    g = fr.rmat(9, 16, weights=(1, 64), seed=5).to("cpu")
    assert from_both_ends(g)
    with workers(3):
        visited = [check(g, 3, target, True).visited for target in range(0, 512, 32)]
    assert min(visited) < g.num_vertices / 4, "two small searches"


def test_ends_without_edges() -> None:
    """A target that no edge leaves: its side has edges to follow all the same."""
    n = 24
    src, dst = np.triu_indices(n, 1)
    g = fr.from_edges(src, dst, np.ones(len(src)), directed=True)
    more = fr.from_edges([*src, *dst[: n * 3]], [*dst, *src[: n * 3]], np.ones(len(src) + n * 3), directed=True)
    for each in (g, more):
        assert from_both_ends(each)
        assert check(each, 0, n - 1, True).distance == 1
    assert check(g, n - 1, 0, True).path == []


def test_special_graphs(backend: Backend) -> None:
    for weighted in (False, True):
        g = backend(fr.from_edges([0, 0, 1, 2], [0, 1, 2, 0], [0.0, 2.0, 0.0, 1.0], num_vertices=4, directed=True))
        assert check(g, 0, 0, weighted).path == [0]
        assert check(g, 1, 0, weighted).path == [1, 2, 0]
        assert check(g, 0, 3, weighted).path == []
        assert check(g, 3, 0, weighted).distance == math.inf


@pytest.mark.unsimulated("many passes")
def test_an_estimate_saves_work(backend: Backend) -> None:
    side = 8
    g = fr.grid(side, side)
    g = g.with_weights(np.ones(g.num_slots))
    row, column = np.divmod(np.arange(side * side), side)
    left = np.abs(row - 4) + np.abs(column - 6)
    plain = check(backend(g), 4 * side + 1, 4 * side + 6, True)
    guided = check(backend(g), 4 * side + 1, 4 * side + 6, True, left)
    assert guided.distance == 5
    if backend.name == "cuda":  # whose passes go so far ahead that they reach all of such a grid
        assert guided.visited <= plain.visited
    else:
        assert guided.visited < plain.visited


def distances_to(g: fr.Graph, target: int) -> np.ndarray:
    """The best estimate there is; infinite where no path leads to the target."""
    back = fr.from_edges(g.targets, g.sources, g.weights, num_vertices=g.num_vertices, directed=True, duplicates="keep")
    return oracles.sssp_distances(back, target).astype(float)


def test_consistent_estimates(backend: Backend) -> None:
    """Shares of the distance, its integral part, one that is too large or small by a constant: never a wrong number."""
    count, largest = (12, 60) if backend.name != "python" else (5, 20)
    rng = np.random.default_rng(6)
    for g in random_graphs(
        count, seed=193, min_vertices=2, max_vertices=largest, weights=("int32", "float64", "float32"), parallel=True
    ):
        if g.min_weight is None or g.min_weight < 0:
            continue
        there = backend(g)
        source, target = rng.integers(g.num_vertices, size=2).tolist()
        best = distances_to(g, target)
        best[best >= np.iinfo(np.int64).max] = np.inf
        for estimate in (best, best / 2, best - 1, best + 7):
            check(there, source, target, True, estimate)
        check(there, source, target, True, np.where(np.arange(g.num_vertices) == target, 0, -np.inf))


@pytest.mark.parametrize("dtype", ["int32", "uint64", "float32", "float64"])
def test_estimates_that_may_mislead(backend: Backend, dtype: str) -> None:
    """The path 0, 1, 2, 4 has length 6, that by 3 length 11; a wrong estimate at 1 hides the first."""
    weights = np.array([1, 2, 3, 9, 2], dtype)
    g = backend(fr.from_edges([0, 1, 2, 0, 3], [1, 2, 4, 3, 4], weights, num_vertices=6, directed=True))
    assert check(g, 0, 4, True, [6, 5, 3, 2, 0, np.inf]).path == [0, 1, 2, 4]
    assert check(g, 5, 4, True, [6, 5, 3, 2, 0, np.inf]).path == []
    for wrong in (99, np.inf):
        with pytest.raises(GraphError, match="estimate: that of vertex 1 is greater than the weight of an edge"):
            fr.shortest_path(g, 0, 4, weighted=True, estimate=[6, wrong, 3, 2, 0, 0])
    with pytest.raises(GraphError, match="that of the target, 4, is inf"):
        fr.shortest_path(g, 0, 4, weighted=True, estimate=[np.inf] * 6)


@pytest.mark.unsimulated("a large graph")
def test_two_searches_visit_little(compiled: Backend) -> None:
    g = compiled(fr.small_world(4000, 6, 0.1, seed=1))
    assert check(g, 0, 2000, False).visited < 2000


def test_labels() -> None:
    g = fr.from_networkx(nx.path_graph(["anna", "ben", "carl"]))
    assert fr.shortest_path(g, "carl", "anna").path == ["carl", "ben", "anna"]


def test_refused() -> None:
    g = fr.path(3)
    with pytest.raises(GraphError, match="no weights"):
        fr.shortest_path(g, 0, 1, weighted=True)
    with pytest.raises(GraphError, match="estimate"):
        fr.shortest_path(g, 0, 1, estimate=np.zeros(3))
    with pytest.raises(GraphError, match="9"):
        fr.shortest_path(g, 0, 9)
    with pytest.raises(NegativeWeightError):
        fr.shortest_path(fr.from_edges([0], [1], [-1.0]), 0, 1, weighted=True)


@pytest.mark.parametrize("place", PLACES)
def test_parts(place: str) -> None:
    """Edges of length 0 among them: parts may find ways of equal length, which must not make a circle."""
    rng = np.random.default_rng(2)
    for g in random_graphs(10, seed=192, min_vertices=1, max_vertices=40, weights="int32", parallel=True):
        light = fr.from_csr(g.offsets, g.targets, g.weights % 2, directed=g.directed) if g.num_slots else g
        for weighted, there in ((False, g.to(place)), (True, g.to(place)), (True, light.to(place))):
            source, target = rng.integers(g.num_vertices, size=2).tolist()
            check(there, source, target, weighted)
