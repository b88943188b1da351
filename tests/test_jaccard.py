"""Jaccard coefficients: NetworkX's; overlap coefficients by sets."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close, equal, workers
from conftest import Backend
from hypothesis import given
from strategies import graphs, random_graphs

import frontier as fr


def check(g: fr.Graph) -> fr.primitives.jaccard.JaccardResult:
    """Compare with NetworkX, and with sets of neighbours."""
    result = fr.jaccard(g)
    graph = nx.Graph(oracles.networkx_graph(g))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    lists = [set(graph[v]) for v in range(g.num_vertices)]
    here = g.to("cpu")
    pairs = list(zip(here.sources.tolist(), here.targets.tolist(), strict=True))
    equal(result.common, [len(lists[u] & lists[v]) for u, v in pairs])
    by_networkx = [1.0 if u == v else next(nx.jaccard_coefficient(graph, [(u, v)]))[2] for u, v in pairs]
    close(result.jaccard, by_networkx, rtol=1e-15)
    overlap = [1.0 if u == v else len(lists[u] & lists[v]) / min(len(lists[u]), len(lists[v])) for u, v in pairs]
    close(result.overlap, overlap, rtol=1e-15)
    assert (result.common.dtype, result.jaccard.dtype, result.overlap.dtype) == (np.int64, np.float64, np.float64)
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (40, 60) if backend.name != "python" else (10, 20)
    for g in random_graphs(count, seed=91, max_vertices=largest, weights=None, parallel=True):
        check(backend(g))


@given(g=graphs())
def test_any_graph(backend: Backend, g: fr.Graph) -> None:
    check(backend(g))


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(10, seed=92, max_vertices=100, weights=None):
            check(compiled(g))


def test_special_graphs(backend: Backend) -> None:
    for n in (0, 1, 3):
        assert len(check(backend(fr.from_edges([], [], num_vertices=n))).jaccard) == 0
    assert check(backend(fr.complete(5))).jaccard.tolist() == [3 / 5] * 20
    assert check(backend(fr.complete(5))).overlap.tolist() == [3 / 4] * 20
    assert check(backend(fr.star(5))).common.tolist() == [0] * 8


def test_self_loops_parallel_edges_and_directions(backend: Backend) -> None:
    src, dst = [0, 1, 2, 0, 1, 1, 3, 4], [1, 2, 0, 1, 0, 1, 3, 3]
    for directed in (False, True):
        g = fr.from_edges(src, dst, num_vertices=5, duplicates="keep", directed=directed)
        check(backend(g))


def test_coefficients_can_be_weights(compiled: Backend) -> None:
    """Both slots of an undirected edge have the same one, else they are refused. 32 and 33 are the most similar."""
    g = compiled(fr.karate())
    assert g.with_weights(fr.jaccard(g).jaccard).max_weight == pytest.approx(10 / 19)


def test_parts() -> None:
    check(fr.rmat(6, 4, seed=3).to("ranks:2"))
    check(fr.rmat(6, 4, seed=3, directed=True).to("ranks:2"))


@pytest.mark.unsimulated("a large graph")
def test_real_graph(compiled: Backend, real_graph: Any) -> None:
    """Common neighbours of all edges: each triangle has six slots."""
    g = compiled(real_graph("email-Enron"))
    with workers(2):
        assert int(fr.jaccard(g).common.sum()) == 6 * 727044
