"""Eccentricities and diameters: the largest of SciPy's levels from every vertex."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close, equal, workers
from conftest import Backend
from strategies import random_graphs

import frontier as fr


def check(g: fr.Graph) -> fr.primitives.eccentricity.DiameterResult:
    expected = [int(oracles.bfs_levels(g, v).max()) for v in range(g.num_vertices)]
    result = fr.eccentricity(g)
    equal(result.eccentricity, np.array(expected, np.int64))
    assert (result.diameter, result.radius) == (max(expected, default=0), min(expected, default=0))
    assert result.searches <= g.num_vertices
    ends = fr.diameter(g)
    assert ends.diameter == result.diameter
    assert ends.searches <= g.num_vertices + 1
    if g.num_vertices:
        assert oracles.bfs_levels(g, ends.source)[ends.target] == ends.diameter
    return ends


def test_many_graphs(backend: Backend) -> None:
    count, largest = (25, 150) if backend.name != "python" else (6, 30)
    for g in random_graphs(count, seed=181, max_vertices=largest, weights=None, parallel=True):
        check(backend(g))


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_by_weights(backend: Backend, dtype: str) -> None:
    count, largest = (12, 60) if backend.name != "python" else (4, 12)
    for g in random_graphs(count, seed=183, min_vertices=1, max_vertices=largest, weights=dtype, parallel=True):
        other = oracles.networkx_graph(g)
        lengths = [nx.single_source_dijkstra_path_length(other, v) for v in range(g.num_vertices)]
        result, ends = fr.eccentricity(backend(g), weighted=True), fr.diameter(backend(g), weighted=True)
        close(result.eccentricity, [max(each.values()) for each in lengths], rtol=1e-12)
        assert result.diameter == pytest.approx(ends.diameter, rel=1e-12)
        assert lengths[ends.source][ends.target] == pytest.approx(ends.diameter, rel=1e-12)
        assert isinstance(ends.diameter, int if dtype == "int32" else float)
        assert type(result.radius) is type(ends.diameter)


def test_weights_that_are_refused() -> None:
    for function in (fr.eccentricity, fr.diameter):
        with pytest.raises(fr.GraphError, match="weighted=True, but the graph has no weights"):
            function(fr.path(3), weighted=True)
        with pytest.raises(fr.NegativeWeightError):
            function(fr.from_edges([0], [1], [-1]), weighted=True)


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(5, seed=182, max_vertices=150, weights=None):
            check(compiled(g))


def test_special_graphs(backend: Backend) -> None:
    for n in (0, 1, 3):
        assert check(backend(fr.from_edges([], [], num_vertices=n))).diameter == 0
    assert check(backend(fr.from_edges([0, 1, 1], [0, 2, 2], duplicates="keep"))).diameter == 1
    assert check(backend(fr.path(9))).diameter == 8
    assert check(backend(fr.star(9))).diameter == 2
    ring = np.arange(7)
    assert check(backend(fr.from_edges(ring, (ring + 1) % 7))).diameter == 3
    assert check(backend(fr.from_edges(ring, (ring + 1) % 7, directed=True))).diameter == 6


@pytest.mark.unsimulated("large graphs")
def test_few_searches_are_enough(compiled: Backend) -> None:
    g = compiled(fr.rmat(11, 4, seed=1))
    assert check(g).searches < 40
    assert fr.eccentricity(g).searches < g.num_vertices / 2


def test_networkx_agrees() -> None:
    g = fr.karate()
    other = nx.karate_club_graph()
    expected = nx.eccentricity(other)
    equal(fr.eccentricity(g).eccentricity, [expected[v] for v in range(34)])
    assert fr.diameter(g).diameter == nx.diameter(other)
    assert fr.eccentricity(g).radius == nx.radius(other)


def test_labels() -> None:
    g = fr.from_networkx(nx.path_graph(["anna", "ben", "carl"]))
    equal(fr.eccentricity(g).eccentricity, [2, 1, 2])
    assert fr.diameter(g).diameter == 2


def test_parts() -> None:
    g = fr.rmat(6, 2, seed=3)
    assert fr.diameter(g.to("ranks:2")).diameter == fr.diameter(g).diameter
    equal(fr.eccentricity(g.to("ranks:2")).eccentricity, fr.eccentricity(g).eccentricity)
    one_way = fr.rmat(5, 3, seed=3, directed=True)
    equal(fr.eccentricity(one_way.to("ranks:3")).eccentricity, fr.eccentricity(one_way).eccentricity)
    assert fr.diameter(one_way.to("ranks:2,python")).diameter == fr.diameter(one_way).diameter


@pytest.mark.unsimulated("a large graph")
def test_a_real_graph(compiled: Backend, real_graph: Any) -> None:
    g = real_graph("road-rome99")
    igraph = pytest.importorskip("igraph")
    ends = np.stack([g.sources, g.targets], axis=1)
    other = igraph.Graph(n=g.num_vertices, edges=ends, directed=True)
    assert fr.diameter(compiled(g)).diameter == other.diameter()
    equal(fr.eccentricity(compiled(g)).eccentricity, np.array(other.eccentricity(mode="out"), np.int64))
