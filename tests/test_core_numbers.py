"""Core numbers: NetworkX's."""

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


def check(g: fr.Graph) -> fr.primitives.core_numbers.CoreNumbersResult:
    """Compare with NetworkX, which refuses self-loops."""
    for reciprocal in ("once", "twice"):
        result = fr.core_numbers(g, reciprocal=reciprocal)
        graph = (nx.DiGraph if g.directed and reciprocal == "twice" else nx.Graph)(oracles.networkx_graph(g))
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
        expected = nx.core_number(graph)
        equal(result.core, [expected[v] for v in range(g.num_vertices)])
    assert result.core.dtype == g.targets.dtype
    assert result.degeneracy == max(expected.values(), default=0)
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (70, 150) if backend.name != "python" else (15, 30)
    for g in random_graphs(count, seed=71, max_vertices=largest, weights=None, parallel=True):
        check(backend(g))


@given(g=graphs(weights=None))
def test_any_graph(backend: Backend, g: fr.Graph) -> None:
    check(backend(g))


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(20, seed=72, max_vertices=300, weights=None):
            check(compiled(g))


def test_special_graphs(backend: Backend) -> None:
    assert check(backend(fr.from_edges([], [], num_vertices=0))).core.tolist() == []
    assert check(backend(fr.from_edges([], [], num_vertices=3))).core.tolist() == [0, 0, 0]
    assert check(backend(fr.from_edges([0], [0], num_vertices=1))).core.tolist() == [0]
    assert check(backend(fr.complete(6))).core.tolist() == [5] * 6
    assert check(backend(fr.path(9))).degeneracy == check(backend(fr.star(9))).degeneracy == 1


def test_parallel_edges_do_not_matter_but_opposite_ones_do(backend: Backend) -> None:
    for directed in (False, True):
        g = backend(fr.from_edges([0, 1, 0, 1, 1], [1, 0, 1, 2, 1], duplicates="keep", directed=directed))
        assert check(g).core.tolist() == ([2, 2, 1] if directed else [1, 1, 1])
        assert host(fr.core_numbers(g, reciprocal="once").core).tolist() == [1, 1, 1]
    with pytest.raises(fr.GraphError, match="choose from twice, once"):
        fr.core_numbers(fr.karate(), reciprocal="never")


def test_every_vertex_of_a_core_has_neighbours_in_it(compiled: Backend) -> None:
    """The definition itself, of each k-core of a small world."""
    g = fr.small_world(12, 4, 0.3, seed=2)
    core = host(fr.core_numbers(compiled(g)).core)
    for k in range(1, int(core.max()) + 1):
        inside = (core >= k)[g.sources] & (core >= k)[g.targets]
        assert (np.bincount(g.sources[inside], minlength=12)[core >= k] >= k).all()


def test_parts() -> None:
    g = fr.rmat(6, 4, seed=3)
    found = check(g.to("ranks:2"))
    equal(fr.core_numbers(fr.rmat(6, 4, seed=3, placement="ranks:2")).core, found.core)
    check(fr.rmat(6, 4, seed=3, directed=True).to("ranks:2"))


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("name", ["email-Enron", "road-rome99", "ego-Twitter"])
def test_real_graphs(compiled: Backend, real_graph: Any, name: str) -> None:
    g = real_graph(name)
    igraph = pytest.importorskip("igraph")
    ends = np.stack([g.sources, g.targets], axis=1)
    other = igraph.Graph(n=g.num_vertices, edges=ends[g.sources != g.targets], directed=False).simplify()
    with workers(2):
        equal(fr.core_numbers(compiled(g), reciprocal="once").core, other.coreness())
