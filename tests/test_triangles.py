"""Triangles, in all and at each vertex: NetworkX's."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import equal, workers
from conftest import Backend
from hypothesis import given
from strategies import graphs, random_graphs

import frontier as fr


def expected(g: fr.Graph) -> list[int]:
    """Triangles at each vertex, by NetworkX; it ignores self-loops."""
    found = nx.triangles(nx.Graph(oracles.networkx_graph(g)))
    return [found[v] for v in range(g.num_vertices)]


def check(g: fr.Graph) -> fr.primitives.triangles.TrianglesResult:
    """Compare both ways of counting with NetworkX."""
    result = fr.triangles(g, per_vertex=True)
    assert result.per_vertex is not None
    assert result.per_vertex.dtype == np.int64
    corners = expected(g)
    equal(result.per_vertex, corners)
    assert result.count == sum(corners) // 3
    assert fr.triangles(g) == fr.primitives.triangles.TrianglesResult(result.count)
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (60, 120) if backend.name != "python" else (15, 30)
    for g in random_graphs(count, seed=51, max_vertices=largest, weights=None, parallel=True):
        check(backend(g))


@given(g=graphs(weights=None))
def test_any_graph(backend: Backend, g: fr.Graph) -> None:
    check(backend(g))


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(20, seed=52, max_vertices=200, weights=None):
            check(compiled(g))


def test_special_graphs(backend: Backend) -> None:
    for n in (0, 1, 3):
        result = check(backend(fr.from_edges([], [], num_vertices=n)))
        assert result.count == 0
    assert check(backend(fr.complete(6))).count == 20
    assert check(backend(fr.path(9))).count == check(backend(fr.star(9))).count == 0


def test_short_lists(backend: Backend) -> None:
    """A ring in which every vertex is joined to the four nearest: each begins one triangle."""
    n = 40
    ids = np.arange(n)
    g = backend(fr.from_edges(np.r_[ids, ids], np.r_[(ids + 1) % n, (ids + 2) % n], num_vertices=n))
    assert g.traits.short_lists
    result = check(g)
    assert result.per_vertex is not None
    assert (result.count, result.per_vertex.tolist()) == (n, [3] * n)


def test_loops_parallel_edges_and_directions_do_not_matter(backend: Backend) -> None:
    src, dst = [0, 1, 2, 0, 1, 1, 3], [1, 2, 0, 1, 0, 1, 3]
    for directed in (False, True):
        g = fr.from_edges(src, dst, num_vertices=4, duplicates="keep", directed=directed)
        result = check(backend(g))
        assert result.per_vertex is not None
        assert (result.count, result.per_vertex.tolist()) == (1, [1, 1, 1, 0])


def test_parts() -> None:
    g = fr.rmat(6, 4, seed=3)
    result = fr.triangles(g.to("ranks:2"), per_vertex=True)
    equal(result.per_vertex, expected(g))
    divided = fr.rmat(6, 4, seed=3, placement="ranks:2")
    assert fr.triangles(divided).count == result.count


@pytest.mark.unsimulated("a large graph")
def test_real_graph(compiled: Backend, real_graph: Any) -> None:
    """The number of triangles that SNAP states for this graph."""
    assert fr.triangles(compiled(real_graph("email-Enron"))).count == 727044


@pytest.mark.unsimulated("a large graph")
def test_larger_graph(compiled: Backend) -> None:
    with workers(2):
        check(compiled(fr.rmat(12, 16, seed=7)))  # with lists that are long even in the oriented graph
