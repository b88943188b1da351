"""Topological order: levels are NetworkX's generations, and every edge leads forward."""

from __future__ import annotations

import re
from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import equal, host, workers
from conftest import Backend
from hypothesis import given
from strategies import SIMULATED, graphs, random_graphs

import frontier as fr


def acyclic(g: fr.Graph, seed: int = 0) -> fr.Graph:
    """Direct every edge along a random order of the vertices; without self-loops."""
    rank = np.random.default_rng(seed).permutation(g.num_vertices)
    other = g.sources != g.targets
    src, dst = g.sources[other], g.targets[other]
    ahead = rank[src] < rank[dst]
    ends = np.where(ahead, src, dst), np.where(ahead, dst, src)
    return fr.from_edges(*ends, num_vertices=g.num_vertices, directed=True, duplicates="keep")


def line(n: int) -> fr.Graph:
    """Give a path along which ids ascend."""
    return fr.from_edges(np.arange(n - 1), np.arange(1, n), directed=True)


def check(g: fr.Graph) -> fr.primitives.topological_order.TopologicalOrderResult:
    """Compare levels with NetworkX's, and look at every edge."""
    result = fr.topological_order(g)
    n, here = g.num_vertices, g.to("cpu")
    order, level = host(result.order), host(result.level)
    generations = list(nx.topological_generations(oracles.networkx_graph(here)))
    assert [sorted(each) for each in generations] == [np.flatnonzero(level == k).tolist() for k in range(result.depth)]
    assert sorted(order.tolist()) == list(range(n))
    equal(order, np.lexsort((np.arange(n), level)))
    place = np.argsort(order)
    assert (place[here.sources] < place[here.targets]).all()
    assert order.dtype == g.targets.dtype
    assert level.dtype == np.int32
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (100, 200) if backend.name != "python" else (25, 40)
    for k, g in enumerate(random_graphs(count, seed=91, max_vertices=largest, weights=None, parallel=True)):
        check(backend(acyclic(g, k)))


@given(g=graphs(weights=None))
def test_any_graph(backend: Backend, g: fr.Graph) -> None:
    """A graph has an order, or an error names a vertex on a cycle."""
    if not g.directed:
        with pytest.raises(fr.GraphError, match="undirected"):
            fr.topological_order(backend(g))
    elif nx.is_directed_acyclic_graph(oracles.networkx_graph(g)):
        check(backend(g))
    else:
        with pytest.raises(fr.GraphError, match="has a cycle") as raised:
            fr.topological_order(backend(g))
        found = re.search(r"vertex (\d+) lies on one", str(raised.value))
        assert found is not None
        vertex = int(found[1])
        graph = oracles.networkx_graph(g)
        assert any(nx.has_path(graph, each, vertex) for each in graph.successors(vertex))


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for k, g in enumerate(random_graphs(30, seed=92, max_vertices=400, weights=None)):
            check(compiled(acyclic(g, k)))


def test_special_graphs(backend: Backend) -> None:
    nothing = check(backend(fr.from_edges([], [], num_vertices=0, directed=True)))
    assert (nothing.order.tolist(), nothing.depth) == ([], 0)
    apart = check(backend(fr.from_edges([], [], num_vertices=3, directed=True)))
    assert (apart.order.tolist(), apart.depth) == ([0, 1, 2], 1)
    parallel = fr.from_edges([2, 2, 1], [1, 1, 0], directed=True, duplicates="keep")
    assert check(backend(parallel)).order.tolist() == [2, 1, 0]
    assert check(backend(line(30))).depth == 30


def test_cycles_are_named(backend: Backend) -> None:
    """The cycle 2, 3, 4 lies between what comes before and after; vertices after it are on none."""
    src, dst = [0, 1, 2, 3, 4, 4, 5], [1, 2, 3, 4, 2, 5, 6]
    with pytest.raises(fr.GraphError, match=r"has a cycle.*: vertex [234] lies on one"):
        fr.topological_order(backend(fr.from_edges(src, dst, directed=True)))
    looped = fr.from_edges([0, 1, 1], [1, 1, 2], directed=True)
    with pytest.raises(fr.GraphError, match="vertex 1 lies on one"):
        fr.topological_order(backend(looped))
    with pytest.raises(fr.GraphError, match="undirected"):
        fr.topological_order(backend(fr.path(3)))


def test_a_cycle_of_named_vertices() -> None:
    g = fr.from_networkx(nx.DiGraph([("shirt", "tie"), ("tie", "jacket"), ("jacket", "tie")]))
    with pytest.raises(fr.GraphError, match=r"vertex \d \((tie|jacket)\) lies on one"):
        fr.topological_order(g)


def test_parts() -> None:
    g = acyclic(fr.rmat(7, 4, seed=3))
    check(g.to("ranks:2"))
    with pytest.raises(fr.GraphError, match="has a cycle"):
        fr.topological_order(fr.rmat(6, 4, directed=True, seed=3, placement="ranks:2"))


@pytest.mark.skipif(SIMULATED, reason="a path of many passes")
def test_more_levels_than_16_bits_count(compiled: Backend) -> None:
    n = 70_000
    result = fr.topological_order(compiled(line(n)))
    equal(result.order, np.arange(n))
    assert result.depth == n


@pytest.mark.unsimulated("large graphs")
def test_real_graphs(compiled: Backend, real_graph: Any) -> None:
    with workers(2):
        check(compiled(acyclic(real_graph("ego-Twitter"))))
