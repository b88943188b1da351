"""Leiden: modularity is what NetworkX says of the labels, and not below Louvain's; communities are connected."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from compare import equal, workers
from conftest import SIMULATED, Backend
from strategies import random_graphs
from test_louvain import modularity

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.primitives._communities import weighted
from frontier.primitives._levels import Level
from frontier.primitives.leiden import connected, once


def pieces(g: fr.Graph, label: Any) -> int:
    """Number of connected pieces of all communities, by edges of positive weight."""
    graph = nx.Graph()
    graph.add_nodes_from(range(g.num_vertices))
    weights = np.ones(g.num_slots) if g.weights is None else g.weights
    inside = (label[g.sources] == label[g.targets]) & (weights > 0)
    graph.add_edges_from(zip(g.sources[inside].tolist(), g.targets[inside].tolist(), strict=True))
    return nx.number_connected_components(graph) if g.num_vertices else 0


def check(g: fr.Graph, there: fr.Graph, **options: Any) -> Any:
    result = fr.leiden(there, **options)
    label = to_host(result.label)
    equal(np.unique(label), np.arange(result.count))
    assert pieces(g, label) == result.count
    resolution = options.get("resolution", 1.0)
    np.testing.assert_allclose(result.modularity, modularity(g, label, resolution), rtol=1e-9, atol=1e-9)
    assert result.modularity >= modularity(g, np.arange(g.num_vertices), resolution) - 1e-9
    return result


def test_communities_are_connected(backend: Backend) -> None:
    count, largest = (3, 12) if SIMULATED else (25, 50)
    for i, g in enumerate(random_graphs(count, seed=93, max_vertices=largest, directed=False, parallel=True)):
        check(g, backend(g), resolution=(1.0, 0.5, 2.0)[i % 3], seed=i)


def test_the_same_on_all_backends_and_workers(compiled: Backend) -> None:
    """Sums of integers are exact, so nothing depends on who is first."""
    count, largest = (1, 12) if SIMULATED else (10, 60)
    for g in random_graphs(count, seed=94, max_vertices=largest, directed=False, weights=(None, "int32")):
        expected = fr.leiden(g.to("python"), seed=3)
        with workers(3):
            found = fr.leiden(compiled(g), seed=3)
        if compiled.name == "cpu":
            equal(found.label, expected.label)
        np.testing.assert_allclose(found.modularity, expected.modularity, atol=0.05)


@pytest.mark.unsimulated("several larger graphs")
@pytest.mark.parametrize(
    "g",
    [
        fr.karate(),
        fr.grid(30, 30),
        fr.small_world(600, 6, 0.1, seed=1),
        fr.rmat(9, 8, seed=1),
        fr.rmat(9, 6, seed=2, weights=(1, 9)),
        fr.urand(9, 4, seed=3),
    ],
    ids=["karate", "grid", "small_world", "rmat", "weighted rmat", "urand"],
)
def test_better_than_louvain(compiled: Backend, g: fr.Graph) -> None:
    """Also than that of NetworkX."""
    there = compiled(g)
    graph = g.to_networkx()
    found = np.mean([check(g, there, seed=seed).modularity for seed in range(3)])
    louvain = np.mean([fr.louvain(there, seed=seed).modularity for seed in range(3)])
    other = [nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=seed)) for seed in range(3)]
    assert found >= max(louvain, np.mean(other)) - 1e-3


@pytest.mark.unsimulated("real graphs")
@pytest.mark.parametrize("name", ["nk-lesmis", "as-caida-20071105"])
def test_real_graphs(compiled: Backend, real_graph: Any, name: str) -> None:
    g = real_graph(name)
    assert check(g, compiled(g)).modularity >= fr.louvain(compiled(g)).modularity - 1e-3


@pytest.mark.unsimulated("a larger graph")
def test_more_iterations_do_no_harm(compiled: Backend) -> None:
    g = compiled(fr.rmat(10, 8, seed=5))
    found = [fr.leiden(g, iterations=count) for count in (1, 2, 5)]
    values = [result.modularity for result in found]
    assert values == sorted(values)
    assert values[-1] > values[0]
    assert found[0].graphs < found[1].graphs


def test_it_begins_with_given_communities_and_divides_them(backend: Backend) -> None:
    """A path of two triangles at its ends: a community of both ends, without the middle, is not connected."""
    g = fr.from_edges([0, 0, 1, 2, 3, 4, 4, 5], [1, 2, 2, 3, 4, 5, 6, 6])
    there = backend(g)
    ends = there.placement.memory.moved(np.array([0, 0, 0, 1, 0, 0, 0], dtype=g.targets.dtype))
    equal(to_host(connected(weighted(there), ends)), [0, 0, 0, 3, 4, 4, 4])
    label, communities, _ = once(Level(weighted(there), 1.0), ends, 7, 0, None)
    assert communities.graph.num_vertices == pieces(g, to_host(label)) == 2


def test_special_graphs(backend: Backend) -> None:
    nothing = fr.leiden(backend(fr.from_edges([], [], num_vertices=0)))
    assert (nothing.count, nothing.modularity, nothing.label.tolist()) == (0, 0.0, [])
    for g, count in (
        (fr.from_edges([], [], num_vertices=3), 3),
        (fr.from_edges([0, 1], [0, 1], num_vertices=2), 2),
        (fr.from_edges([0, 0], [1, 1], duplicates="keep"), 1),
        (fr.from_edges([0, 1], [1, 2], [0, 0]), 3),
        (fr.star(9), 1),
    ):
        assert check(g, backend(g)).count == count
    assert check(fr.path(6), backend(fr.path(6)), resolution=0.0).count == 1


@pytest.mark.skipif(SIMULATED, reason="no kernels are in it")
def test_graphs_in_parts() -> None:
    for weights in (None, (1, 9)):
        g = fr.rmat(7, 8, seed=5, weights=weights)
        expected = fr.leiden(g).label
        equal(np.asarray(fr.leiden(g.to("ranks:3")).label), expected)
        equal(np.asarray(fr.leiden(fr.rmat(7, 8, seed=5, weights=weights, placement="ranks:2")).label), expected)
    real = g.with_weights(g.weights / 7)
    first, second = (np.asarray(fr.leiden(real.to("ranks:2")).label) for _ in range(2))
    equal(first, second)


def test_wrong_arguments() -> None:
    g = fr.karate()
    for call, words in (
        (lambda: fr.leiden(g, iterations=0), "iterations=0"),
        (lambda: fr.leiden(g, resolution=float("nan")), "resolution=nan"),
    ):
        with pytest.raises(fr.GraphError, match=words):
            call()
