"""Primitives beyond the classics on real graphs of the data folder, against SciPy, NetworkX and what must hold."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close, equal
from conftest import Backend
from scipy.sparse import csgraph
from scipy.sparse.linalg import svds

import frontier as fr
from frontier.memory.arrays import to_host

pytestmark = pytest.mark.unsimulated("real graphs")


@pytest.mark.parametrize("name", ["email-Enron", "road-rome99", "cit-HepPh"])
def test_closeness_of_samples(compiled: Backend, real_graph: Any, name: str) -> None:
    g = real_graph(name)
    sources = np.random.default_rng(1).choice(g.num_vertices, 20, replace=False)
    result = fr.closeness(compiled(g), sources=sources)
    distance = csgraph.shortest_path(oracles.matrix(g), unweighted=True, method="D", indices=sources)
    there = np.isfinite(distance) & (distance > 0)
    total, reached = np.where(there, distance, 0).sum(0), there.sum(0)
    equal(to_host(result.total), total.astype(np.int64))
    equal(to_host(result.reached), reached)
    others = 20 - np.isin(np.arange(g.num_vertices), sources)
    close(result.centrality, reached / np.maximum(total, 1) * (reached / others), rtol=1e-12)


@pytest.mark.parametrize("name", ["road-rome99", "air-routes", "nk-lesmis"])
def test_max_flow(compiled: Backend, real_graph: Any, name: str) -> None:
    g = real_graph(name)
    source, sink = np.argsort(g.out_degree)[[-1, -2]].tolist()
    result = fr.max_flow(compiled(g), source, sink)
    capacities = oracles.matrix(g, g.weights).astype(np.int32).tocsr()
    assert result.value == csgraph.maximum_flow(capacities, source, sink).flow_value
    flow, cut = to_host(result.flow), to_host(result.cut)
    assert (flow >= 0).all()
    assert (flow <= g.weights).all()
    passing = np.bincount(g.sources, flow, g.num_vertices) - np.bincount(g.targets, flow, g.num_vertices)
    assert passing[source] == result.value == -passing[sink]
    assert np.count_nonzero(passing) == 2
    assert g.weights[cut[g.sources] & ~cut[g.targets]].sum() == result.value


@pytest.mark.parametrize("name", ["as-caida-20071105", "email-Enron", "cit-HepPh", "road-NY-d"])
def test_maximal_matching(compiled: Backend, real_graph: Any, name: str) -> None:
    g = real_graph(name)
    result = fr.maximal_matching(compiled(g))
    partner = to_host(result.partner)
    matched = np.flatnonzero(partner >= 0)
    assert result.count == len(matched) // 2
    equal(partner[partner[matched]], matched.astype(partner.dtype))
    assert ((partner[g.sources] >= 0) | (partner[g.targets] >= 0) | (g.sources == g.targets)).all()
    joined = set(g.sources[partner[g.sources] == g.targets].tolist())
    joined |= set(g.targets[partner[g.targets] == g.sources].tolist())
    assert joined == set(matched.tolist()), "partners are neighbours"


@pytest.mark.parametrize("name", ["road-NY-d", "mesh-igea", "nk-lesmis", "as-caida-20071105"])
def test_minimum_spanning_forest(compiled: Backend, real_graph: Any, name: str) -> None:
    g = real_graph(name)
    result = fr.minimum_spanning_forest(compiled(g))
    weights = np.ones(g.num_slots) if g.weights is None else g.weights.astype(np.float64)
    expected = csgraph.minimum_spanning_tree(oracles.matrix(g, weights))
    assert result.weight == pytest.approx(expected.sum(), rel=1e-6)
    edges = to_host(result.edges)
    assert len(edges) == expected.nnz
    forest = fr.from_edges(g.sources[edges], g.targets[edges], num_vertices=g.num_vertices)
    equal(oracles.components(forest), oracles.components(g))
    assert weights[edges].sum() == pytest.approx(expected.sum(), rel=1e-6)


@pytest.mark.parametrize("name", ["email-Enron", "air-routes"])
def test_personalized_pagerank(compiled: Backend, real_graph: Any, name: str) -> None:
    g = real_graph(name)
    seeds = {5: 1.0, 99: 3.0, int(g.out_degree.argmax()): 0.5}
    expected = nx.pagerank(oracles.networkx_graph(g), personalization=seeds, weight=None, tol=1e-15, max_iter=500)
    found = fr.personalized_pagerank(compiled(g), seeds, tolerance=1e-11).rank
    close(found, [expected[v] for v in range(g.num_vertices)], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["email-Enron", "cit-HepPh", "web-cnr-2000"])
def test_hits_are_singular_vectors(compiled: Backend, real_graph: Any, name: str) -> None:
    g = real_graph(name)
    result = fr.hits(compiled(g), tolerance=1e-10)
    left, _, right = svds(oracles.matrix(g), k=1, v0=np.ones(g.num_vertices), random_state=1)
    for found, vector in ((result.hub, left[:, 0]), (result.authority, right[0])):
        close(found, vector / vector.sum(), rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["road-NY-d", "road-rome99", "air-routes", "nk-lesmis"])
def test_shortest_paths(compiled: Backend, real_graph: Any, name: str) -> None:
    """By edges, by weights, and with estimates that are as good as can be, and half as good."""
    g = real_graph(name)
    there = compiled(g)
    source, target = np.random.default_rng(3).choice(g.num_vertices, 2, replace=False).tolist()
    level, distance = oracles.bfs_levels(g, source)[target], oracles.sssp_distances(g, source)[target]
    if level < 0:
        pytest.skip(f"no path from {source} to {target}")
    assert fr.shortest_path(there, source, target).distance == level
    back = fr.from_edges(g.targets, g.sources, g.weights, num_vertices=g.num_vertices, directed=True, duplicates="keep")
    left = oracles.sssp_distances(back, target)
    steps = set(zip(g.sources.tolist(), g.targets.tolist(), strict=True))
    for estimate in (None, left, np.where(left == oracles.UNREACHED, np.inf, left / 2)):
        result = fr.shortest_path(there, source, target, weighted=True, estimate=estimate)
        assert result.distance == distance
        assert all(step in steps for step in zip(result.path, result.path[1:], strict=False))


@pytest.mark.parametrize("name", ["road-rome99", "air-routes"])
def test_transitive_closure(compiled: Backend, real_graph: Any, name: str) -> None:
    g = real_graph(name)
    result = fr.transitive_closure(compiled(g))
    count, label = csgraph.connected_components(oracles.matrix(g), connection="strong")
    cyclic = np.bincount(label, minlength=count)[label] > 1
    cyclic[g.sources[g.sources == g.targets]] = True
    for v in np.random.default_rng(2).choice(g.num_vertices, 20, replace=False).tolist():
        reached = oracles.bfs_levels(g, v) >= 0
        reached[v] = cyclic[v]
        equal(to_host(result.row(v)), np.flatnonzero(reached))
        assert to_host(result.counts)[v] == reached.sum()
