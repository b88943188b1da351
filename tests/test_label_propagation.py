"""Label propagation: the reference results of LDBC Graphalytics, and a plain loop over all vertices."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import ldbc
import numpy as np
import pytest
from compare import equal, workers
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier.memory import detection

METHODS = ["synchronous", "alternating", "asynchronous"]


def neighbours(g: fr.Graph, weighted: bool = False) -> list[list[tuple[int, float]]]:
    """Both ends of each edge see each other, with its weight; an undirected edge has a slot for each of them."""
    around: list[list[tuple[int, float]]] = [[] for _ in range(g.num_vertices)]
    weights = g.weights.tolist() if weighted and g.weights is not None else [1] * g.num_slots
    for u, v, weight in zip(g.sources.tolist(), g.targets.tolist(), weights, strict=True):
        around[u].append((v, weight))
        if g.directed:
            around[v].append((u, weight))
    return around


def tallied(around: list[tuple[int, float]], label: list[int]) -> Counter[int]:
    """The weight of each label."""
    found: Counter[int] = Counter()
    for u, weight in around:
        found[label[u]] += weight  # type: ignore[assignment]
    return found


def expected(g: fr.Graph, limit: int, method: str, weighted: bool = False) -> tuple[list[int], int]:
    """Labels and number of rounds."""
    around = neighbours(g, weighted)
    n = g.num_vertices
    label = list(range(n))
    for done in range(limit):
        before = label[:]
        for chosen in classes(n, done, method):
            seen = label[:]
            for v in chosen:
                if counts := tallied(around[v], seen):
                    label[v] = pick(counts, v, seen[v], done, method)
        if label == before:
            return label, done + 1
    return label, limit


def classes(n: int, done: int, method: str) -> list[list[int]]:
    """The vertices that choose at the same time, in this order; seed 0."""
    if method == "synchronous":
        return [list(range(n))]
    count = 2 if method == "alternating" else min(n, 8)
    key = 0 if method == "alternating" else fr.hash(done + 1)
    return [[v for v in range(n) if fr.hash(key + v) % count == k] for k in range(count)]


def pick(counts: Counter[int], v: int, own: int, done: int, method: str) -> int:
    """The label that v chooses of those around it."""
    most = [label for label in counts if counts[label] == max(counts.values())]
    if method != "asynchronous":
        return min(most)
    key = fr.hash(fr.hash(done + 1) + v)
    return own if own in most else max(most, key=lambda label: (fr.hash(key + label) & 0x7FFFFFFF, -label))


def check(
    g: fr.Graph, there: fr.Graph, limit: int = 10, method: str = "synchronous", weighted: bool = False
) -> Any:  # fmt: skip
    label, rounds = expected(g, limit, method, weighted)
    result = fr.label_propagation(there, max_iterations=limit, method=method, weighted=weighted)
    equal(result.label, label)
    assert result.label.dtype == g.targets.dtype
    assert result.count == len(set(label))
    if g.num_vertices:
        assert result.iterations == rounds
        assert result.converged == (
            expected(g, max(rounds - 1, 0), method, weighted)[0] == label and rounds > 0
        )
    return result


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("directed", [False, True])
def test_the_reference_results_of_ldbc(backend: Backend, directed: bool, data_dir: Path) -> None:
    for graph, rounds, labels in ldbc.communities(data_dir, directed):
        found = fr.label_propagation(backend(graph), max_iterations=rounds)
        equal(graph.labels[np.asarray(found.label.tolist())], labels)


@pytest.mark.parametrize("method", METHODS)
def test_many_graphs(backend: Backend, method: str) -> None:
    largest = 60 if backend.name == "python" else 150
    for i, g in enumerate(random_graphs(40, seed=61, max_vertices=largest, parallel=True)):
        check(g, backend(g), (1, 2, 10)[i % 3], method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_edges_by_their_weights(backend: Backend, method: str, dtype: str) -> None:
    """Weights with many ties and zeros; of floats, multiples of 1/8, whose sums are exact."""
    largest = 40 if backend.name == "python" else 120
    for i, g in enumerate(random_graphs(24, seed=63, max_vertices=largest, parallel=True, weights=("int64",))):
        weights = g.weights % 4 if dtype == "int64" else (g.weights % 5) / 8
        h = g.with_weights(weights)
        check(h, backend(h), (1, 2, 10)[i % 3], method, weighted=True)
        check(h, backend(h), 2, method)


def test_weights_that_have_no_sum() -> None:
    g = fr.path(3)
    with pytest.raises(fr.GraphError, match="no weights"):
        fr.label_propagation(g, weighted=True)
    with pytest.raises(fr.NegativeWeightError):
        fr.label_propagation(g.with_weights([-1] * 4), weighted=True)
    with pytest.raises(fr.GraphError, match="64 bits"):
        fr.label_propagation(g.with_weights([2**61] * 4), weighted=True)
    check(g.with_weights([1e300] * 4), g.with_weights([1e300] * 4), weighted=True)


@pytest.mark.parametrize("method", METHODS)
def test_several_workers(compiled: Backend, method: str) -> None:
    with workers(3):
        for g in random_graphs(12, seed=62, max_vertices=300):
            check(g, compiled(g), method=method)


@pytest.mark.unsimulated("a large graph")
def test_hubs(compiled: Backend) -> None:
    """A vertex of high degree whose neighbours keep many different labels."""
    g = fr.rmat(11, 16, seed=3)
    with workers(2):
        check(g, compiled(g))


def test_special_graphs(backend: Backend) -> None:
    nothing = check(fr.from_edges([], [], num_vertices=0), backend(fr.from_edges([], [], num_vertices=0)))
    assert (nothing.count, nothing.iterations, nothing.converged) == (0, 0, True)
    for g in (
        fr.from_edges([], [], num_vertices=3),
        fr.from_edges([0, 1, 1], [0, 1, 1], num_vertices=2, duplicates="keep"),
        fr.from_edges([0, 0, 0, 2], [1, 2, 2, 2], num_vertices=4, duplicates="keep", directed=True),
        fr.path(20),
        fr.complete(5),
    ):
        check(g, backend(g))
    assert check(fr.path(4), backend(fr.path(4)), 0).iterations == 0


def test_a_star_swaps_sides_for_ever_unless_halves_alternate(backend: Backend) -> None:
    g = fr.star(12)
    result = check(g, backend(g), 20)
    assert (result.converged, result.iterations) == (False, 20)
    result = check(g, backend(g), 20, "alternating")
    assert (result.converged, result.count) == (True, 1)


def test_asynchronously_a_star_becomes_one(backend: Backend) -> None:
    g = fr.star(12)
    result = check(g, backend(g), 20, "asynchronous")
    assert (result.converged, result.count) == (True, 1)


@pytest.mark.unsimulated("a larger graph")
def test_labels_are_among_the_most_frequent_in_the_end(compiled: Backend) -> None:
    g = fr.small_world(2000, 6, 0.05, seed=4)
    found = []
    for seed in range(3):
        result = fr.label_propagation(compiled(g), max_iterations=100, method="asynchronous", seed=seed)
        assert result.converged
        label = result.label.tolist()
        for v, others in enumerate(neighbours(g)):
            counts = tallied(others, label)
            assert counts[label[v]] == max(counts.values())
        found.append(label)
    assert found[0] != found[1] != found[2]


@pytest.mark.unsimulated("a real graph")
def test_a_real_graph(compiled: Backend, real_graph: Any) -> None:
    g = real_graph("air-routes")
    check(g, compiled(g), 5)


@pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")
@pytest.mark.parametrize("method", METHODS[:2])
@pytest.mark.parametrize("where", ["ranks:2", "ranks:3,python", "ranks:4,2d"])
def test_ranks(where: str, method: str) -> None:
    for directed in (False, True):
        g = fr.rmat(7, 4, seed=1, directed=directed)
        label, rounds = expected(g, 10, method)
        result = fr.label_propagation(g.to(where), method=method)
        equal(np.asarray(result.label), label)
        assert (result.count, result.iterations) == (len(set(label)), rounds)


@pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")
def test_graphs_that_are_made_whole() -> None:
    g = fr.rmat(5, 4, seed=1, directed=True)
    there = fr.rmat(5, 4, seed=1, directed=True, placement="ranks:2")
    equal(np.asarray(fr.label_propagation(there).label), fr.label_propagation(g).label)
    weighted = fr.rmat(5, 4, seed=1, directed=True, weights=(1, 5))
    assert check(weighted, weighted.to("ranks:2"), weighted=True).count
    for each in (g.to("ranks:2"), there):
        found = fr.label_propagation(each, method="asynchronous", seed=3).label
        equal(np.asarray(found), fr.label_propagation(g, method="asynchronous", seed=3).label)


def test_wrong_arguments() -> None:
    with pytest.raises(fr.GraphError, match="choose from synchronous, alternating, asynchronous"):
        fr.label_propagation(fr.karate(), method="other")
    with pytest.raises(fr.GraphError, match="max_iterations"):
        fr.label_propagation(fr.karate(), max_iterations=-1)
