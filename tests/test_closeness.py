"""Closeness and harmonic centrality: NetworkX's; from some sources, sums of SciPy's levels."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close, equal, host, workers
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier.errors import GraphError


def check(g: fr.Graph) -> None:
    other = oracles.networkx_graph(g)
    near, inverse = nx.closeness_centrality(other), nx.harmonic_centrality(other)
    close(fr.closeness(g).centrality, [near[v] for v in range(g.num_vertices)], rtol=1e-12)
    close(fr.harmonic(g).centrality, [inverse[v] for v in range(g.num_vertices)], rtol=1e-12)


def test_many_graphs(backend: Backend) -> None:
    count, largest = (25, 150) if backend.name != "python" else (6, 30)
    for g in random_graphs(count, seed=171, max_vertices=largest, weights=None, parallel=True):
        check(backend(g))


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_by_weights(backend: Backend, dtype: str) -> None:
    count, largest = (12, 60) if backend.name != "python" else (4, 12)
    for g in random_graphs(count, seed=173, min_vertices=3, max_vertices=largest, weights=dtype, parallel=True):
        other, n = oracles.networkx_graph(g), range(g.num_vertices)
        near, inverse = (f(other, distance="weight") for f in (nx.closeness_centrality, nx.harmonic_centrality))
        found = fr.closeness(backend(g), weighted=True)
        close(found.centrality, [near[v] for v in n], rtol=1e-12)
        close(fr.harmonic(backend(g), weighted=True).centrality, [inverse[v] for v in n], rtol=1e-12)
        some = nx.harmonic_centrality(other, distance="weight", sources=[2, 0])
        close(fr.harmonic(backend(g), weighted=True, sources=[2, 0]).centrality, [some[v] for v in n], rtol=1e-12)


def test_weights_of_zero_and_none() -> None:
    g = fr.from_edges([0, 1], [1, 2], [0, 0], num_vertices=5).to("python")
    for function in (fr.closeness, fr.harmonic):
        assert function(g, weighted=True).centrality.tolist() == [0] * 5
        assert len(function(fr.from_edges([], [], np.zeros(0), num_vertices=0), weighted=True).centrality) == 0
        with pytest.raises(GraphError, match="weighted=True, but the graph has no weights"):
            function(fr.path(3), weighted=True)
        with pytest.raises(fr.NegativeWeightError):
            function(fr.from_edges([0], [1], [-1]), weighted=True)


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(6, seed=172, max_vertices=200, weights=None):
            check(compiled(g))


def test_special_graphs(backend: Backend) -> None:
    for n in (0, 1, 3):
        check(backend(fr.from_edges([], [], num_vertices=n)))
    check(backend(fr.from_edges([0, 0, 0, 2], [0, 1, 1, 1], duplicates="keep", directed=True)))
    check(backend(fr.star(66)))


def test_some_sources(backend: Backend) -> None:
    g = backend(fr.rmat(4, 2, directed=True, seed=2))
    sources = [3, 7, 3, 11]
    level = np.array([oracles.bfs_levels(g, v) for v in (3, 7, 11)])
    result = fr.closeness(g, sources=sources)
    equal(result.reached, (level > 0).sum(axis=0))
    equal(result.total, np.maximum(level, 0).sum(axis=0))
    expected = nx.harmonic_centrality(oracles.networkx_graph(g), sources=sources)
    close(fr.harmonic(g, sources=sources).centrality, [expected[v] for v in range(16)])


def test_sums_of_a_sample_are_scaled_up_and_those_of_given_sources_are_not() -> None:
    g = fr.rmat(4, 4, seed=2).to("python")
    drawn = np.random.default_rng(1).permutation(16)[:5]
    others = 5 - np.isin(np.arange(16), drawn)
    close(fr.harmonic(g, sources=5, seed=1).centrality, fr.harmonic(g, sources=drawn).centrality * 15 / others)
    equal(fr.closeness(g, sources=5, seed=1).centrality, fr.closeness(g, sources=drawn).centrality)


def test_a_sample(backend: Backend) -> None:
    g = backend(fr.rmat(4, 4, seed=2))
    close(fr.closeness(g, sources=16).centrality, host(fr.closeness(g).centrality))
    assert host(fr.closeness(g, sources=5, seed=1).reached).max() == 5
    equal(fr.closeness(g, sources=5, seed=1).total, host(fr.closeness(g, sources=5, seed=1).total))


@pytest.mark.unsimulated("a large graph")
def test_samples_estimate(compiled: Backend) -> None:
    g = compiled(fr.rmat(10, 8, seed=3))
    for function in (fr.closeness, fr.harmonic):
        exact, rough = host(function(g).centrality), host(function(g, sources=256).centrality)
        assert abs(rough - exact).max() < 0.1 * exact.max()


def test_parts() -> None:
    g = fr.rmat(6, 4, directed=True, seed=3)
    for function in (fr.closeness, fr.harmonic):
        close(np.asarray(function(g.to("ranks:2")).centrality), function(g).centrality, rtol=1e-12)


@pytest.mark.parametrize("sources", [0, -1, 2.5, 4, [], [9]])
def test_refused(sources: Any) -> None:
    with pytest.raises(GraphError):
        fr.closeness(fr.path(3), sources=sources)
