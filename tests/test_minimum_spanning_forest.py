"""Minimum spanning forests: a forest that spans every component, of the weight that NetworkX and SciPy find."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import equal, host, workers
from conftest import Backend
from hypothesis import given
from scipy.sparse import csgraph
from strategies import SIMULATED, WEIGHTS, graphs, random_graphs

import frontier as fr
from frontier.errors import GraphError


def kruskal(g: fr.Graph) -> list[int]:
    """Slots of the forest that the algorithm of Kruskal finds, which takes edges by weight and then by slot."""
    tree = list(range(g.num_vertices))
    weights = np.zeros(g.num_slots) if g.weights is None else g.weights
    chosen = []
    for slot in np.argsort(weights, kind="stable").tolist():
        ends = int(g.sources[slot]), int(g.targets[slot])
        a, b = (tree[v] for v in ends)
        if ends[0] < ends[1] and a != b:
            tree = [a if each == b else each for each in tree]
            chosen.append(slot)
    return sorted(chosen)


def check(g: fr.Graph) -> fr.primitives.minimum_spanning_forest.SpanningForestResult:
    """The edges are a forest of as many trees as there are components, of the least weight and the lowest slots."""
    result = fr.minimum_spanning_forest(g)
    edges, here = host(result.edges), g.to("cpu")
    labels = oracles.components(g)
    assert result.count == len(np.unique(labels))
    assert len(edges) == len(np.unique(edges)) == g.num_vertices - result.count
    assert (here.sources[edges] < here.targets[edges]).all()
    assert edges.tolist() == kruskal(here)
    forest = fr.from_edges(here.sources[edges], here.targets[edges], num_vertices=g.num_vertices)
    equal(oracles.components(forest), labels)
    equal(host(result.tree)[labels], host(result.tree))
    assert len(np.unique(host(result.tree))) == result.count
    weight = nx.minimum_spanning_tree(oracles.networkx_graph(g)).size("weight") if g.num_vertices else 0
    assert result.weight == pytest.approx(weight)
    chosen = np.ones(len(edges)) if here.weights is None else here.weights[edges]
    assert result.weight == pytest.approx(chosen.sum(dtype=np.float64))
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (80, 150) if backend.name != "python" and not SIMULATED else (15, 30)
    for dtype in WEIGHTS:
        options = {"max_vertices": largest, "weights": dtype, "directed": False, "parallel": True}
        for g in random_graphs(count // 4, seed=85, **options):
            check(backend(g))


@given(g=graphs(weights=WEIGHTS, directed=False))
def test_any_graph(backend: Backend, g: fr.Graph) -> None:
    check(backend(g))


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        options = {"max_vertices": 300, "weights": "int32", "directed": False}
        for g in random_graphs(5 if SIMULATED else 30, seed=86, **options):
            check(compiled(g))


def test_special_graphs(backend: Backend) -> None:
    assert check(backend(fr.from_edges([], [], [], num_vertices=0))).count == 0
    apart = check(backend(fr.from_edges([], [], [], num_vertices=3)))
    assert (apart.count, apart.weight, apart.edges.tolist()) == (3, 0, [])
    looped = fr.from_edges([0, 0, 0, 1], [0, 1, 1, 2], [-9, 4, 3, -2], duplicates="keep")
    assert check(backend(looped)).weight == 1
    infinite = check(backend(fr.from_edges([0, 1], [1, 2], [np.inf, 1.0])))
    assert (infinite.count, infinite.weight) == (1, np.inf)
    with warnings.catch_warnings(action="error"):
        assert fr.minimum_spanning_forest(backend(fr.path(3).with_weights(np.full(4, 1e308)))).weight == np.inf


def test_equal_weights(backend: Backend) -> None:
    """No cycle arises, and large integers are exact."""
    assert check(backend(fr.complete(9, weights=(3, 3)))).weight == 24
    large = fr.from_edges([0, 1, 2], [1, 2, 0], [2**60 + 1, 2**60, 2**60 + 2])
    assert fr.minimum_spanning_forest(backend(large)).weight == 2**61 + 1
    largest = fr.from_edges([0, 1, 0], [1, 2, 2], [2**63 - 1, 2**63 - 1, 2**63 - 2])
    assert fr.minimum_spanning_forest(backend(largest)).weight == 2**64 - 3


#: Weights that are words with the slot, and those that are not: a word must have the order of the weights.
ORDERS = {
    "signs": np.array([-np.inf, -1e30, -1.5, -1e-45, -0.0, 0.0, 1e-45, 2.0, 3e30, np.inf], np.float32),
    "integers": np.array([-(2**24), -3, 0, 7, 2**24]),
    "doubles": np.array([1.0, 1.0 + 2**-40, -1e-300, 0.0, 1e300]),
    "large": np.array([-(2**63), -(2**40), 2**24 + 1, 2**24, 2**63 - 1]),
    "uint64": np.array([0, 2**24, 2**40, 2**63 - 1], np.uint64),
    "equal": np.array([7.5]),
}


@pytest.mark.parametrize("name", ORDERS)
def test_orders_of_weights(backend: Backend, name: str) -> None:
    """With so many edges that light ones come first, and with few; many have equal weights."""
    rng = np.random.default_rng(len(name))
    for n, m in ((12, 150), (12, 20)):
        weights = rng.choice(ORDERS[name], m)
        g = fr.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), weights, num_vertices=n, duplicates="keep")
        found = fr.minimum_spanning_forest(backend(g))
        assert host(found.edges).tolist() == kruskal(g)
        assert g.weights is not None
        with np.errstate(invalid="ignore"):
            np.testing.assert_equal(found.weight, sum(g.weights[host(found.edges)].tolist()))


def test_without_weights(backend: Backend) -> None:
    """Any spanning forest, whose weight is the number of its edges."""
    found = check(backend(fr.from_edges([0, 0, 1, 1, 3], [0, 1, 2, 2, 4], num_vertices=6, duplicates="keep")))
    assert (found.weight, found.count) == (3, 3)
    assert check(backend(fr.complete(9))).weight == 8
    assert check(backend(fr.from_edges([], [], num_vertices=0))).edges.tolist() == []


def test_what_is_refused(backend: Backend) -> None:
    with pytest.raises(GraphError, match="undirected"):
        fr.minimum_spanning_forest(backend(fr.from_edges([0], [1], [1], directed=True)))
    with pytest.raises(GraphError, match="float64"):
        fr.minimum_spanning_forest(backend(fr.from_edges([0], [1], np.array([2**63], np.uint64))))


def test_parts() -> None:
    g = fr.rmat(7, 4, seed=3, weights=(1, 9))
    many = fr.rmat(6, 20, seed=3, weights=(1, 99))
    for graph in (g, g.with_weights(None), many, fr.rmat(6, 20, seed=4, weights=(0.5, 9.5))):
        equal(check(graph.to("ranks:2")).edges, check(graph).edges)


@pytest.mark.unsimulated("large graphs")
def test_a_larger_graph(compiled: Backend) -> None:
    g = fr.rmat(12, 8, seed=5, weights=(1, 1000))
    expected = int(csgraph.minimum_spanning_tree(oracles.matrix(g, g.weights)).sum())
    with workers(2):
        assert fr.minimum_spanning_forest(compiled(g)).weight == expected
