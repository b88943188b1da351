"""The k-truss: NetworkX's."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import equal, host, workers
from conftest import Backend
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graphs

import frontier as fr
from frontier.primitives import _oriented


def check(g: fr.Graph, k: int) -> fr.primitives.k_truss.KTrussResult:
    """Compare edges with NetworkX, which refuses self-loops, and the parts of the result with each other."""
    result = fr.k_truss(g, k)
    graph = nx.Graph(oracles.networkx_graph(g))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    expected = {frozenset(edge) for edge in nx.k_truss(graph, k).edges}
    here, mask = g.to("cpu"), host(result.mask)
    equal(mask, [frozenset(e) in expected for e in zip(here.sources.tolist(), here.targets.tolist(), strict=True)])
    assert result.count == len(expected)
    truss = result.graph.to("cpu")
    assert (truss.num_vertices, truss.directed, result.graph.backend) == (g.num_vertices, g.directed, g.backend)
    equal(truss.targets, here.targets[mask])
    equal(truss.sources, here.sources[mask])
    if here.weights is not None:
        equal(truss.weights, here.weights[mask])
    equal(result.degree, truss.out_degree)
    assert result.degree.dtype == np.int64
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (40, 60) if backend.name != "python" else (10, 20)
    for i, g in enumerate(random_graphs(count, seed=81, max_vertices=largest, parallel=True)):
        check(backend(g), 3 + i % 4)


@given(g=graphs(), k=st.integers(2, 6))
def test_any_graph(backend: Backend, g: fr.Graph, k: int) -> None:
    check(backend(g), k)


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for i, g in enumerate(random_graphs(15, seed=82, max_vertices=120, weights=None)):
            check(compiled(g), 3 + i % 5)


@pytest.mark.unsimulated("a larger graph")
def test_edges_removed_one_after_another(compiled: Backend) -> None:
    """Trusses of a graph with many levels, each of which takes several passes."""
    g = compiled(fr.rmat(8, 8, seed=5))
    with workers(3):
        counts = [check(g, k).count for k in (4, 5, 6, 8)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] > 0


def test_a_chain_of_triangles_falls_edge_by_edge(backend: Backend) -> None:
    """In a strip of triangles, inner edges have two: the ends fall first, and one pass after another the rest."""
    n = 12
    g = fr.from_edges([*range(n - 1), *range(n - 2)], [*range(1, n), *range(2, n)])
    assert check(backend(g), 3).count == 2 * n - 3
    assert check(backend(g), 4).count == 0


def test_special_graphs(backend: Backend) -> None:
    for n in (0, 1, 3):
        assert check(backend(fr.from_edges([], [], num_vertices=n)), 3).count == 0
    assert check(backend(fr.from_edges([0, 1], [0, 1], num_vertices=2)), 2).count == 0
    assert check(backend(fr.complete(6)), 6).count == 15
    assert check(backend(fr.complete(6)), 7).count == 0
    assert check(backend(fr.path(5)), 2).count == 4


def test_parallel_edges_and_directions_do_not_matter(backend: Backend) -> None:
    src, dst = [0, 1, 2, 0, 1, 1, 2], [1, 2, 0, 1, 0, 1, 3]
    for directed in (False, True):
        g = fr.from_edges(src, dst, num_vertices=4, duplicates="keep", directed=directed)
        assert check(backend(g), 3).count == 3


def test_triangles_at_edges(backend: Backend) -> None:
    g = backend(fr.karate())
    slots, own, support = map(host, _oriented.supports(g))
    graph = fr.karate().to_networkx()
    ends = zip(host(g.sources)[slots].tolist(), host(g.targets)[slots].tolist(), strict=True)
    assert support[slots].tolist() == [len(list(nx.common_neighbors(graph, u, v))) for u, v in ends]
    assert len(slots) == graph.number_of_edges()
    assert set(own.tolist()) == set(slots.tolist())


@pytest.mark.parametrize("k", [1, 2.5, "many", 10**30])
def test_wrong_k(k: Any) -> None:
    with pytest.raises(fr.GraphError, match=r"k=.*an integer, from 2 to 2\*\*63 - 1"):
        fr.k_truss(fr.karate(), k)


def test_parts() -> None:
    for g in random_graphs(10, seed=83, min_vertices=10, max_vertices=40, weights=None):
        for k in (3, 4):
            check(g.to("ranks:2"), k)
    g = fr.rmat(6, 4, seed=3)
    assert fr.k_truss(fr.rmat(6, 4, seed=3, placement="ranks:2"), 4).count == fr.k_truss(g, 4).count


@pytest.mark.unsimulated("a large graph")
def test_real_graph(compiled: Backend, real_graph: Any) -> None:
    check(compiled(real_graph("as-caida-20071105")), 6)
