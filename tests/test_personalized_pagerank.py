"""Personalized PageRank: NetworkX's and SciPy's, for one set of seeds and for several."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close, workers
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier.errors import GraphError, NotConvergedError
from frontier.memory.arrays import to_host

TIGHT = 1e-11


def check(g: fr.Graph, sets: list[Any], weighted: bool = False) -> None:
    """Compare each set with the oracle."""
    result = fr.personalized_pagerank(g, sets, tolerance=TIGHT, weighted=weighted)
    found = to_host(result.rank)
    assert found.shape == (len(sets), g.num_vertices)
    for row, seeds in zip(found, sets, strict=True):
        jumps = np.zeros(g.num_vertices)
        for v in seeds:
            jumps[v] = seeds[v] if isinstance(seeds, dict) else 1.0
        close(row, oracles.pagerank(g, 0.85, jumps, weighted), rtol=0, atol=1e-9)
        assert abs(row.sum() - 1) < 1e-12
    assert result.error < TIGHT


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_many_graphs(backend: Backend) -> None:
    count, largest = (40, 150) if backend.name != "python" else (6, 12)
    rng = np.random.default_rng(1)
    for g in random_graphs(
        count, seed=151, min_vertices=1, max_vertices=largest, weights=("int32", "float64"), parallel=True
    ):
        sets = [rng.integers(g.num_vertices, size=size).tolist() for size in (1, 3)]
        check(backend(g), [*sets, {0: 0.5, g.num_vertices - 1: 2.0}], weighted=bool(rng.integers(2)))


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_networkx_agrees(backend: Backend) -> None:
    g = fr.from_edges([0, 1, 1, 3, 4], [1, 2, 3, 0, 5], directed=True, num_vertices=7)
    found = fr.personalized_pagerank(backend(g), {0: 1, 4: 3}, tolerance=TIGHT).rank
    expected = nx.pagerank(oracles.networkx_graph(g), personalization={0: 1, 4: 3}, weight=None, tol=1e-14)
    close(found, [expected[v] for v in range(7)], rtol=0, atol=1e-9)


def test_forms_of_seeds(backend: Backend) -> None:
    g = backend(fr.complete(4))
    one = fr.personalized_pagerank(g, 2, tolerance=1e-3).rank
    assert one.shape == (4,)
    close(fr.personalized_pagerank(g, {2: 7.0}, tolerance=1e-3).rank, one)
    close(fr.personalized_pagerank(g, np.array([[2]]), tolerance=1e-3).rank, [one.tolist()])
    assert fr.personalized_pagerank(g, [3, 2], tolerance=1e-3).top(1)[0][0] in (2, 3)


def test_labels(backend: Backend) -> None:
    g = backend(fr.from_networkx(nx.path_graph(["anna", "ben", "carl"])))
    result = fr.personalized_pagerank(g, "carl", tolerance=1e-3)
    close(fr.personalized_pagerank(g, [["carl"], {"anna": 1}], tolerance=1e-3).rank[0], result.rank.tolist())


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        check(compiled(fr.rmat(5, 4, seed=5)), [[1], [2, 3]])


def test_parts() -> None:
    g = fr.rmat(6, 4, seed=3)
    found = fr.personalized_pagerank(g.to("ranks:2"), [[1], [2, 5]], tolerance=TIGHT)
    close(np.asarray(found.rank), fr.personalized_pagerank(g, [[1], [2, 5]], tolerance=TIGHT).rank, atol=1e-12)


@pytest.mark.parametrize("seeds", [[], [[]], 9, [0, [1]], {0: 0.0}, {0: -1.0}, {0: float("nan")}, [[0], [12]]])
def test_wrong_seeds(seeds: Any) -> None:
    with pytest.raises(GraphError):
        fr.personalized_pagerank(fr.path(3), seeds)


def test_too_few_iterations(backend: Backend) -> None:
    with pytest.raises(NotConvergedError) as caught:
        fr.personalized_pagerank(backend(fr.path(5)), [[0], [2]], max_iterations=3)
    assert caught.value.result.iterations == 6
    assert fr.personalized_pagerank(backend(fr.path(5)), 0, max_iterations=3, tolerance=0).iterations == 3
