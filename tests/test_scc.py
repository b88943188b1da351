"""Strongly connected components: SciPy's, each labelled by its smallest vertex."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracles
import pytest
from compare import equal, workers
from conftest import Backend
from hypothesis import given
from scipy.sparse import csgraph
from strategies import SIMULATED, graphs, random_graphs

import frontier as fr


def check(g: fr.Graph) -> fr.primitives.scc.StrongComponentsResult:
    """Compare labels and their number."""
    result = fr.strongly_connected_components(g)
    expected = np.zeros(0, np.int64)
    if g.num_vertices:
        matrix = oracles.matrix(g)
        matrix.sum_duplicates()  # with parallel edges SciPy's labels are wrong
        _, kind = csgraph.connected_components(matrix, connection="strong")
        _, first = np.unique(kind, return_index=True)
        expected = first[kind]
    equal(result.label, expected)
    assert result.label.dtype == g.targets.dtype
    assert result.count == len(np.unique(expected))
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (100, 200) if backend.name != "python" and not SIMULATED else (20, 30)
    for g in random_graphs(count, seed=81, max_vertices=largest, weights=None, parallel=True):
        check(backend(g))


@given(g=graphs(weights=None))
def test_any_graph(backend: Backend, g: fr.Graph) -> None:
    check(backend(g))


def chain(components: int, size: int, order: Any) -> fr.Graph:
    """Circles, each with an edge to the next one; vertices are numbered by ``order``."""
    v = np.arange(components * size)
    src = np.concatenate([v, v[:-size:size]])
    dst = np.concatenate([v // size * size + (v + 1) % size, v[size::size]])
    return fr.from_edges(order[src], order[dst], directed=True)


@pytest.mark.parametrize("turned", [False, True])
def test_a_chain_of_components(backend: Backend, turned: bool) -> None:
    """No vertex is trimmed, and every component reaches all that follow."""
    count = 12 if backend.name == "python" or SIMULATED else 500
    order = np.arange(count * 3)
    assert check(backend(chain(count, 3, order[::-1] if turned else order))).count == count


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(5 if SIMULATED else 40, seed=82, max_vertices=300, weights=None):
            check(compiled(g))


def test_special_graphs(backend: Backend) -> None:
    assert check(backend(fr.from_edges([], [], num_vertices=0, directed=True))).label.tolist() == []
    assert check(backend(fr.from_edges([], [], num_vertices=2, directed=True))).label.tolist() == [0, 1]
    loops = fr.from_edges([0, 1, 1], [0, 1, 1], num_vertices=2, duplicates="keep", directed=True)
    assert check(backend(loops)).count == 2
    ring = check(backend(fr.from_edges([3, 2, 1, 0], [2, 1, 0, 3], num_vertices=5, directed=True)))
    assert (ring.label.tolist(), ring.sizes()) == ([0, 0, 0, 0, 4], {0: 4, 4: 1})
    path = check(backend(fr.from_edges(np.arange(30), np.arange(1, 31), directed=True)))
    assert path.count == 31
    assert check(backend(fr.path(5))).count == 1  # undirected


def test_parts() -> None:
    for g in (fr.rmat(7, 2, seed=3, directed=True), chain(20, 3, np.arange(60))):
        check(g.to("ranks:2"))


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("name", ["road-rome99", "ego-Twitter"])
def test_real_graphs(compiled: Backend, real_graph: Any, name: str) -> None:
    with workers(2):
        check(compiled(real_graph(name)))


@pytest.mark.unsimulated("large graphs")
def test_a_larger_graph(compiled: Backend) -> None:
    with workers(2):
        check(compiled(fr.rmat(13, 4, seed=5, directed=True)))
