"""Bridges: those of NetworkX on a graph with parallel edges."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from compare import equal, workers
from conftest import Backend
from hypothesis import given
from strategies import graphs, random_graphs

import frontier as fr


def check(g: fr.Graph) -> fr.primitives.bridges.BridgesResult:
    """Compare the list of bridges."""
    result = fr.bridges(g)
    here = g.to("cpu")
    once = here.sources < here.targets
    graph = nx.MultiGraph(list(zip(here.sources[once].tolist(), here.targets[once].tolist(), strict=True)))
    expected = sorted([min(edge), max(edge)] for edge in nx.bridges(graph))
    assert result.edges.tolist() == expected
    assert result.count == len(expected)
    assert result.edges.shape == (result.count, 2)
    assert result.edges.dtype == g.targets.dtype
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (140, 200) if backend.name != "python" else (30, 40)
    for g in random_graphs(count, seed=101, max_vertices=largest, weights=None, parallel=True, directed=False):
        check(backend(g))


@given(g=graphs(weights=None, directed=False))
def test_any_graph(backend: Backend, g: fr.Graph) -> None:
    check(backend(g))


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(40, seed=102, max_vertices=600, weights=None, parallel=True, directed=False):
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
    assert check(backend(fr.from_edges([], [], num_vertices=0))).count == 0
    assert check(backend(fr.from_edges([], [], num_vertices=3))).count == 0
    assert check(backend(fr.from_edges([0, 0], [0, 1]))).edges.tolist() == [[0, 1]]
    assert check(backend(fr.complete(5))).count == 0
    assert check(backend(fr.star(9))).count == 8
    assert check(backend(fr.path(40))).count == 39


def test_parallel_edges_are_no_bridges(backend: Backend) -> None:
    """Two copies of an edge make a cycle; it is the only one between two bridges."""
    g = fr.from_edges([0, 1, 2, 1, 3], [1, 2, 1, 2, 2], duplicates="keep")
    assert check(backend(g)).edges.tolist() == [[0, 1], [2, 3]]


def test_two_circles_and_a_bridge(backend: Backend) -> None:
    """A long circle is climbed from both ends of the edge that closes it; removing the bridge divides the graph."""
    ring = np.arange(30)
    src = np.concatenate([ring, 30 + ring, [29]])
    dst = np.concatenate([(ring + 1) % 30, 30 + (ring + 1) % 30, [30]])
    assert check(backend(fr.from_edges(src, dst))).edges.tolist() == [[29, 30]]


def test_directed_graphs_are_refused(backend: Backend) -> None:
    with pytest.raises(fr.GraphError, match="bridges are those of undirected graphs, but this one is directed"):
        fr.bridges(backend(fr.from_edges([0, 1], [1, 2], directed=True)))


def test_parts() -> None:
    found = check(fr.rmat(7, 1, seed=3).to("ranks:2"))
    assert found.count > 0
    equal(fr.bridges(fr.rmat(7, 1, seed=3, placement="ranks:2")).edges, found.edges)


@pytest.mark.unsimulated("large graphs")
def test_a_real_graph(compiled: Backend, real_graph: Any) -> None:
    g = real_graph("as-caida-20071105")
    with workers(2):
        check(compiled(fr.from_edges(g.sources, g.targets, num_vertices=g.num_vertices)))
