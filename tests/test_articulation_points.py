"""Articulation points: those of NetworkX."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import equal, host, workers
from conftest import Backend
from hypothesis import given
from strategies import graphs, random_graphs

import frontier as fr


def check(g: fr.Graph) -> list[int]:
    """Compare the articulation points, and return them."""
    result = fr.articulation_points(g)
    found = np.flatnonzero(host(result.is_articulation)).tolist()
    assert found == sorted(nx.articulation_points(oracles.networkx_graph(g)))
    assert result.count == len(found)
    assert result.is_articulation.shape == (g.num_vertices,)
    assert result.is_articulation.dtype == bool
    return found


def test_many_graphs(backend: Backend) -> None:
    count, largest = (140, 200) if backend.name != "python" else (30, 40)
    for g in random_graphs(count, seed=111, max_vertices=largest, weights=None, parallel=True, directed=False):
        check(backend(g))


@given(g=graphs(weights=None, directed=False))
def test_any_graph(backend: Backend, g: fr.Graph) -> None:
    check(backend(g))


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(60, seed=112, max_vertices=600, weights=None, parallel=True, directed=False):
            check(compiled(g))


@pytest.mark.unsimulated("large graphs")
def test_several_workers_on_larger_graphs(compiled: Backend) -> None:
    with workers(2):
        for g in (
            fr.rmat(12, 1, seed=4),
            fr.rmat(13, 8, seed=4),
            fr.grid(60, 80),
            fr.small_world(3000, 2, 0.01, seed=1),
        ):
            check(compiled(g))


def test_special_graphs(backend: Backend) -> None:
    assert check(backend(fr.from_edges([], [], num_vertices=0))) == []
    assert check(backend(fr.from_edges([], [], num_vertices=3))) == []
    assert check(backend(fr.from_edges([0, 0], [0, 1]))) == []
    assert check(backend(fr.complete(5))) == []
    assert check(backend(fr.star(9))) == [0]
    assert check(backend(fr.path(40))) == list(range(1, 39))


def test_roots(backend: Backend) -> None:
    """Vertex 0, the root, is an articulation point between two circles, but not on one circle."""
    assert check(backend(fr.from_edges([0, 1, 2, 0, 3, 4], [1, 2, 0, 3, 4, 0]))) == [0]
    assert check(backend(fr.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0]))) == []


def test_parallel_edges_do_not_matter(backend: Backend) -> None:
    """Two copies of an edge are a cycle, but removing one of its ends divides the graph all the same."""
    assert check(backend(fr.from_edges([0, 1, 2, 1, 3, 3], [1, 2, 1, 2, 2, 3], duplicates="keep"))) == [1, 2]


def test_a_chain_of_circles(backend: Backend) -> None:
    """Each circle shares a vertex with the next one, and it is a cycle that passes many levels."""
    size = 8
    src = np.arange(5 * size)
    dst = np.where(src % size == size - 1, src - size + 1, src + 1)
    renamed = np.arange(5 * size)
    renamed[size::size] = (
        np.arange(size, 5 * size, size) - 1
    )  # the first one of a circle is the last one of that before
    assert check(backend(fr.from_edges(renamed[src], renamed[dst]))) == [7, 15, 23, 31]


def test_directed_graphs_are_refused(backend: Backend) -> None:
    with pytest.raises(
        fr.GraphError, match="articulation points are those of undirected graphs, but this one is directed"
    ):
        fr.articulation_points(backend(fr.from_edges([0, 1], [1, 2], directed=True)))


def test_parts() -> None:
    g = fr.rmat(7, 1, seed=3)
    assert len(check(g.to("ranks:2"))) > 0
    there = fr.articulation_points(fr.rmat(7, 1, seed=3, placement="ranks:2"))
    equal(there.is_articulation, fr.articulation_points(g).is_articulation)


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("name", ["email-Enron", "as-caida-20071105"])
def test_real_graphs(compiled: Backend, real_graph: Any, name: str) -> None:
    g = real_graph(name)
    with workers(2):
        check(compiled(fr.from_edges(g.sources, g.targets, num_vertices=g.num_vertices)))
