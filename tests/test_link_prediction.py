"""Scores of pairs, and degree assortativity: NetworkX's."""

from __future__ import annotations

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close, equal
from conftest import Backend
from strategies import random_graphs

import frontier as fr

NAMES = {
    "jaccard": nx.jaccard_coefficient, "adamic_adar": nx.adamic_adar_index,
    "resource_allocation": nx.resource_allocation_index, "preferential_attachment": nx.preferential_attachment,
}  # fmt: skip


def test_scores(backend: Backend) -> None:
    """Of neighbours and others, of vertices without edges and with loops; parallel edges count as one."""
    rng = np.random.default_rng(3)
    for g in random_graphs(8, seed=93, min_vertices=2, max_vertices=24, weights=None, parallel=True):
        pairs = rng.integers(0, g.num_vertices, (40, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        graph = nx.Graph(oracles.networkx_graph(g))
        found = fr.link_prediction(backend(g), pairs)
        equal(found.source, pairs[:, 0])
        equal(found.common, [len(set(nx.common_neighbors(graph, u, v))) for u, v in pairs.tolist()])
        for name, function in NAMES.items():
            close(getattr(found, name), [x for _, _, x in function(graph, pairs.tolist())], rtol=1e-12)


def test_labels_and_one_vertex_twice() -> None:
    g = fr.from_edges(["a", "b", "c"], ["b", "c", "d"]).to("python")
    found = fr.link_prediction(g, [("a", "c"), ("d", "d")])
    assert found.common.tolist() == [1, 1]
    assert found.table()["source"].tolist() == ["a", "d"]
    assert len(fr.link_prediction(g, []).common) == 0
    for pairs, words in (([1, 2], "pairs"), (np.zeros(3, int), "shape"), ([("a", "x")], "x")):
        with pytest.raises(fr.GraphError, match=words):
            fr.link_prediction(g, pairs)


def assortativity_agrees(backend: Backend, count: int) -> None:
    rng = np.random.default_rng(4)
    for i in range(count):
        n, directed = int(rng.integers(2, 20)), bool(i % 2)
        src, dst = rng.integers(0, n, (2, 3 * n))
        made = fr.from_edges(src, dst, rng.integers(1, 5, 3 * n), num_vertices=n, directed=directed, duplicates="min")
        graph = oracles.networkx_graph(made)
        for x, y in [("out", "in"), ("in", "out"), ("out", "out")] if directed else [("out", "in")]:
            for weighted in (False, True):
                weight = "weight" if weighted else None
                found = fr.degree_assortativity(backend(made), x=x, y=y, weighted=weighted)
                expected = nx.degree_pearson_correlation_coefficient(graph, x=x, y=y, weight=weight)
                assert found.coefficient == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


def test_assortativity() -> None:
    assortativity_agrees(lambda g: g.to("python"), 5)  # type: ignore[arg-type]


def test_assortativity_everywhere(backend: Backend) -> None:
    assortativity_agrees(backend, 4)


def test_no_assortativity() -> None:
    """Of regular graphs, and without edges."""
    for g in (fr.from_edges([], [], num_vertices=3), fr.complete(4)):
        assert np.isnan(fr.degree_assortativity(g.to("python")).coefficient)
    with pytest.raises(fr.GraphError, match="out"):
        fr.degree_assortativity(fr.karate(), x="source")
    with pytest.raises(fr.GraphError, match="no weights"):
        fr.degree_assortativity(fr.karate(), weighted=True)
