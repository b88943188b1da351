"""Clustering by weights, of directed graphs, and of squares: NetworkX's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest
from compare import close, workers
from conftest import SIMULATED, Backend
from strategies import random_graphs

import frontier as fr


def merged(g: fr.Graph) -> nx.Graph:
    """With the sum of the weights of parallel edges."""
    graph = nx.DiGraph() if g.directed else nx.Graph()
    graph.add_nodes_from(range(g.num_vertices))
    weights = np.ones(g.num_slots) if g.weights is None else g.weights.astype(np.float64)
    for u, v, w in zip(g.sources.tolist(), g.targets.tolist(), weights.tolist(), strict=True):
        if g.directed or u <= v:
            graph.add_edge(u, v, weight=w + (graph[u][v]["weight"] if graph.has_edge(u, v) else 0))
    return graph


def some(directed: bool, count: int = 15, largest: int = 20) -> Iterator[fr.Graph]:
    if SIMULATED:
        count, largest = 3, 8
    return random_graphs(
        count, seed=64, max_vertices=largest, parallel=True, directed=directed, weights=("int32", "float64")
    )


def check(g: fr.Graph, there: fr.Graph, weighted: bool) -> None:
    graph, result = merged(g), fr.clustering(there, method="fagiolo", weighted=weighted)
    if not g.num_vertices or (weighted and g.num_slots and not g.max_weight):
        return  # NetworkX divides by the greatest weight
    expected = nx.clustering(graph, weight="weight" if weighted else None)
    close(result.coefficient, [float(expected[v]) for v in range(g.num_vertices)], rtol=1e-9, atol=1e-12)
    assert result.average == pytest.approx(nx.average_clustering(graph, weight="weight" if weighted else None))


@pytest.mark.parametrize("directed", [False, True])
def test_by_weights_and_directions(backend: Backend, directed: bool) -> None:
    for g in some(directed):
        for weighted in (True, False):
            check(g, backend(g), weighted)


def check_squares(g: fr.Graph, there: fr.Graph) -> None:
    expected, result = nx.square_clustering(merged(g)), fr.square_clustering(there)
    close(result.coefficient, [expected[v] for v in range(g.num_vertices)], rtol=1e-14)
    assert result.average == pytest.approx(sum(expected.values()) / max(g.num_vertices, 1))


def test_squares(monkeypatch: pytest.MonkeyPatch) -> None:
    for ways in (1 << 22, 5):
        monkeypatch.setattr("frontier.primitives.square_clustering.WAYS", ways)
        for g in some(False, 10):
            check_squares(g, g.to("python"))
    assert fr.square_clustering(fr.complete(5).to("python")).squares.tolist() == [12] * 5


@pytest.mark.unsimulated("larger graphs")
def test_many(compiled: Backend) -> None:
    with workers(3):
        for directed in (False, True):
            for g in some(directed, 40, 80):
                check(g, compiled(g), True)
                if not directed:
                    check_squares(g, compiled(g))


def test_no_weight_is_no_triangle() -> None:
    g = fr.complete(3).to("python")
    assert fr.clustering(g.with_weights(np.zeros(g.num_slots)), weighted=True).average == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [({"weighted": True}, "graph with weights"), ({"method": "watts"}, "method='watts'")],
)
def test_wrong_arguments(options: dict[str, Any], words: str) -> None:
    with pytest.raises(fr.GraphError, match=words):
        fr.clustering(fr.karate(), **options)
    with pytest.raises(fr.GraphError, match="needs method='fagiolo'"):
        fr.clustering(fr.rmat(3, 2, seed=1, directed=True, weights=(1, 9)), weighted=True)


@pytest.mark.skipif(SIMULATED, reason="no kernels are in it")
def test_parts() -> None:
    g = fr.rmat(6, 4, seed=3, directed=True, weights=(1, 9))
    expected = fr.clustering(g, method="fagiolo", weighted=True).coefficient
    close(fr.clustering(g.to("ranks:2"), method="fagiolo", weighted=True).coefficient, expected)
    close(fr.square_clustering(g.to("ranks:2")).coefficient, fr.square_clustering(g).coefficient)


def test_squares_on_a_gpu(cuda: Backend) -> None:
    for g in some(False, 10):
        check_squares(g, cuda(g))
