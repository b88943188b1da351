"""Clustering coefficients: NetworkX's; of directed graphs by counting pairs of neighbours one by one."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close, workers
from conftest import SIMULATED, Backend
from hypothesis import given
from strategies import graphs, random_graphs

import frontier as fr


def by_pairs(g: fr.Graph) -> tuple[list[float], float]:
    """Coefficients and transitivity from the definition of LDBC Graphalytics."""
    g = g.to("cpu")
    arcs = {(u, v) for u, v in zip(g.sources.tolist(), g.targets.tolist(), strict=True) if u != v}
    lists: list[set[int]] = [set() for _ in range(g.num_vertices)]
    for u, v in arcs:
        lists[u].add(v)
        lists[v].add(u)
    closed = [sum(pair in arcs for pair in permutations(neighbours, 2)) for neighbours in lists]
    pairs = [len(neighbours) * (len(neighbours) - 1) for neighbours in lists]
    return [c / max(p, 1) for c, p in zip(closed, pairs, strict=True)], sum(closed) / max(sum(pairs), 1)


def check(g: fr.Graph) -> fr.primitives.clustering.ClusteringResult:
    """Compare with the definition and, if the graph is undirected, with NetworkX."""
    result = fr.clustering(g)
    coefficient, transitivity = by_pairs(g)
    close(result.coefficient, coefficient, rtol=1e-15)
    assert result.coefficient.dtype == np.float64
    assert result.transitivity == transitivity
    assert result.average == pytest.approx(np.mean(coefficient) if coefficient else 0.0)
    if not g.directed and g.num_vertices:
        other = oracles.networkx_graph(g)
        other.remove_edges_from(list(nx.selfloop_edges(other)))
        close(result.coefficient, [nx.clustering(other)[v] for v in range(g.num_vertices)], rtol=1e-14)
        assert result.transitivity == pytest.approx(nx.transitivity(other))
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (40, 60) if backend.name != "python" else (15, 20)
    for g in random_graphs(count, seed=61, max_vertices=largest, weights=None, parallel=True):
        check(backend(g))


@given(g=graphs())
def test_any_graph(backend: Backend, g: fr.Graph) -> None:
    check(backend(g))


@pytest.mark.parametrize("directed", [True, False])
def test_several_workers(compiled: Backend, directed: bool) -> None:
    with workers(3):
        for g in random_graphs(10, seed=62, max_vertices=80, weights=None, directed=directed):
            check(compiled(g))


def test_special_graphs(backend: Backend) -> None:
    for directed in (False, True):
        for n in (0, 1, 3):
            result = check(backend(fr.from_edges([], [], num_vertices=n, directed=directed)))
            assert (result.average, result.transitivity) == (0, 0)
    assert check(backend(fr.complete(5))).average == 1
    assert check(backend(fr.star(6))).transitivity == 0


@pytest.mark.parametrize("directed", [True, False])
def test_parts(directed: bool) -> None:
    g = fr.rmat(6, 4, seed=3, directed=directed)
    found = check(g.to("ranks:2"))
    close(fr.clustering(fr.rmat(6, 4, seed=3, directed=directed, placement="ranks:2")).coefficient, found.coefficient)


@pytest.mark.unsimulated("a large graph")
def test_real_graph(compiled: Backend, real_graph: Any) -> None:
    """The average clustering coefficient that SNAP states for this graph."""
    assert fr.clustering(compiled(real_graph("email-Enron"))).average == pytest.approx(0.4970, abs=5e-5)


def test_larger_graph(compiled: Backend) -> None:
    with workers(2):
        check(compiled(fr.rmat(4 if SIMULATED else 9, 6, seed=7, directed=True)))
