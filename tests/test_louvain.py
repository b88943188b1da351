"""Louvain: modularity is what NetworkX says of the labels, and as high as what its own Louvain finds."""

from __future__ import annotations

import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest
from compare import equal, workers
from conftest import SIMULATED, Backend
from strategies import random_graphs

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.primitives._communities import weighted
from frontier.primitives._levels import Level
from frontier.primitives.louvain import descend


def modularity(g: fr.Graph, label: Any, resolution: float) -> float:
    """As NetworkX computes it, with parallel edges as one."""
    if g.num_slots == 0 or (g.weights is not None and g.weights.sum() == 0):
        return 0.0
    graph = nx.Graph()
    graph.add_nodes_from(range(g.num_vertices))
    weights = np.ones(g.num_slots, int) if g.weights is None else g.weights
    for u, v, w in zip(g.sources.tolist(), g.targets.tolist(), weights.tolist(), strict=True):
        if u <= v:
            before = graph.get_edge_data(u, v, {"weight": 0})["weight"]
            graph.add_edge(u, v, weight=before + w)
    parts = [set(np.flatnonzero(label == c).tolist()) for c in range(label.max() + 1)]
    found: float = nx.community.modularity(graph, parts, resolution=resolution)
    return found


def check(g: fr.Graph, there: fr.Graph, **options: Any) -> Any:
    result = fr.louvain(there, **options)
    label = to_host(result.label)
    assert result.count == len(np.unique(label))
    equal(np.unique(label), np.arange(result.count))
    expected = modularity(g, label, options.get("resolution", 1.0))
    np.testing.assert_allclose(result.modularity, expected, rtol=1e-9, atol=1e-9)
    alone = modularity(g, np.arange(g.num_vertices), options.get("resolution", 1.0))
    assert result.modularity >= alone - 1e-9
    return result


def test_modularity_is_that_of_the_labels(backend: Backend) -> None:
    count, largest = (3, 12) if SIMULATED else (25, 50)
    for i, g in enumerate(random_graphs(count, seed=91, max_vertices=largest, directed=False, parallel=True)):
        check(g, backend(g), resolution=(1.0, 0.5, 2.0)[i % 3], seed=i)


def test_the_same_on_all_backends_and_workers(compiled: Backend) -> None:
    """Sums of integers are exact, so nothing depends on who is first."""
    count, largest = (2, 12) if SIMULATED else (10, 60)
    for g in random_graphs(count, seed=92, max_vertices=largest, directed=False, weights=(None, "int32")):
        expected = fr.louvain(g.to("python"), seed=3)
        with workers(3):
            found = fr.louvain(compiled(g), seed=3)
        if compiled.name == "cpu":
            equal(found.label, expected.label)
        np.testing.assert_allclose(found.modularity, expected.modularity, atol=0.05)


@pytest.mark.parametrize("find", [fr.louvain, fr.leiden])
@pytest.mark.parametrize("dtype", ["uint8", "uint32", "uint64"])
def test_unsigned_weights(compiled: Backend, find: Any, dtype: str) -> None:
    g = fr.from_edges([0, 1, 0, 3, 3], [1, 2, 2, 4, 3], np.array([1, 2, 3, 4, 5], dtype))
    expected = find(g.with_weights(g.weights.astype("int64")).to("python"))
    found = find(compiled(g))
    equal(found.label, expected.label)
    assert found.modularity == pytest.approx(expected.modularity)


@pytest.mark.parametrize("find", [fr.louvain, fr.leiden])
def test_integer_weights_with_a_sum_beyond_int64(find: Any) -> None:
    for g in (
        fr.from_edges([0, 1], [1, 2], np.array([1, 2**63], np.uint64)),
        fr.from_edges([0, 1, 0], [1, 2, 2], np.full(3, 2**61)),
    ):
        with pytest.raises(fr.GraphError, match="may not fit into 64 bits"):
            find(g)
        assert find(g.with_weights(g.weights.astype(float))).count <= 2


def networkx_mean(g: fr.Graph, count: int = 3) -> float:
    graph = g.to_networkx()
    found = [nx.community.louvain_communities(graph, seed=seed) for seed in range(count)]
    return float(np.mean([nx.community.modularity(graph, parts) for parts in found]))


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
def test_not_below_networkx(compiled: Backend, g: fr.Graph) -> None:
    there = compiled(g)
    assert np.mean([check(g, there, seed=seed).modularity for seed in range(3)]) >= networkx_mean(g) - 0.002


@pytest.mark.unsimulated("many runs")
def test_tiny_graphs_are_not_below_networkx(compiled: Backend) -> None:
    """On average over graphs and seeds."""
    gains = []
    for n in range(20, 60, 4):
        g = fr.from_edges(*np.array(nx.gnm_random_graph(n, 2 * n + 10, seed=n).edges()).T, num_vertices=n)
        there = compiled(g)
        gains.append(np.mean([fr.louvain(there, seed=seed).modularity for seed in range(5)]) - networkx_mean(g, 10))
    assert np.mean(gains) > 0


def test_the_second_time_begins_with_what_was_found(compiled: Backend) -> None:
    """Vertices leave the communities that are given if there are better ones, and others are kept."""
    g = fr.karate()
    h = weighted(compiled(g))
    xp = h.placement.memory.xp
    best = fr.louvain(g, seed=1)
    level, label = Level(h, 1.0), xp.asarray(best.label)
    begun = level.contracted(label, best.count)
    kept, communities, _, levels = descend(level, label, begun, 100, (1e-7, 34), 0, None)
    equal(fr.Graph.contracted(h, kept).vertices["size"], np.bincount(best.label))
    assert (communities.graph.num_vertices, levels) == (best.count, 1)
    halves = (np.arange(34) % 2).astype(g.id_dtype)
    found, *_ = descend(level, xp.asarray(halves), level.contracted(halves, 2), 100, (1e-7, 34), 0, None)
    assert modularity(g, to_host(found), 1.0) > modularity(g, halves, 1.0) + 0.1


def directed_graph(seed: int, weights: Any = None) -> fr.Graph:
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, 24, (2, 80))
    given = {"int": rng.integers(0, 9, 80), "float": rng.random(80)}.get(weights)
    return fr.from_edges(src, dst, weights=given, num_vertices=26, directed=True, duplicates="keep")


@pytest.mark.unsimulated("several graphs")
@pytest.mark.parametrize("weights", [None, "int", "float"])
@pytest.mark.parametrize("find", [fr.louvain, fr.leiden])
def test_directed_modularity(backend: Backend, find: Any, weights: Any) -> None:
    verify, gains = {fr.louvain: fr.verify.communities, fr.leiden: fr.verify.leiden}[find], []
    for seed in range(4 if backend.name == "python" else 12):
        g = directed_graph(seed, weights)
        result = find(backend(g), directed=True, seed=seed, resolution=(1.0, 0.7)[seed % 2])
        verify(g, result, tolerance=1e-9).raise_if_failed()
        label = to_host(result.label)
        graph = nx.DiGraph()
        graph.add_nodes_from(range(26))
        for u, v, w in zip(g.sources, g.targets, np.ones(80) if g.weights is None else g.weights, strict=True):
            before = graph.get_edge_data(u, v, {"weight": 0})["weight"]
            graph.add_edge(u, v, weight=before + w)
        parts = [set(np.flatnonzero(label == c).tolist()) for c in range(result.count)]
        found = nx.community.modularity(graph, parts, resolution=result.resolution)
        assert result.modularity == pytest.approx(found, abs=1e-9)
        theirs = nx.community.louvain_communities(graph, seed=seed, resolution=result.resolution)
        gains.append(found - nx.community.modularity(graph, theirs, resolution=result.resolution))
    assert np.mean(gains) > -0.01
    both = fr.karate()
    assert find(both, directed=True, seed=1) == find(both, seed=1)


@pytest.mark.parametrize("find", [fr.louvain, fr.leiden])
@pytest.mark.parametrize("weights", [None, "int", "float"])
def test_node_weights(backend: Backend, find: Any, weights: Any) -> None:
    """Quality as igraph defines it; node weights in proportion to those of edges are modularity."""
    for seed in range(2 if SIMULATED else 5):
        g = directed_graph(seed, weights).undirected()
        rng = np.random.default_rng(seed)
        for masses in (np.ones(26, int), rng.random(26), rng.integers(0, 4, 26)):
            result = find(backend(g), node_weights=masses, resolution=0.3, seed=seed)
            label, quality, whole = to_host(result.label), 0.0, 0.0
            given = np.ones(g.num_slots) if g.weights is None else g.weights
            for u, v, w in zip(g.sources, g.targets, given, strict=True):
                whole += w * (1 + (u == v))
                quality += w * (1 + (u == v)) * (label[u] == label[v])
            quality -= 0.3 * (np.bincount(label, masses) ** 2).sum()
            assert result.modularity == pytest.approx(quality / whole, rel=1e-9)
            fr.verify.communities(g, result, tolerance=1e-9, node_weights=masses).raise_if_failed()
    g = fr.karate()
    by_weight = find(backend(g), node_weights=g.out_degree, resolution=1 / g.num_slots, seed=2)
    assert by_weight.modularity == pytest.approx(find(backend(g), seed=2).modularity)


def test_node_weights_that_are_none() -> None:
    g = fr.karate()
    for wrong in (np.ones(3), -np.ones(34), np.full(34, np.nan), ["a"] * 34):
        with pytest.raises(fr.GraphError, match="node_weights"):
            fr.louvain(g, node_weights=wrong)
    with pytest.raises(fr.GraphError, match="directed=True does not go with it"):
        fr.leiden(directed_graph(1), node_weights=np.ones(26), directed=True)


@pytest.mark.unsimulated("a real graph")
def test_a_real_graph(compiled: Backend, real_graph: Any) -> None:
    g = real_graph("nk-lesmis")
    assert check(g, compiled(g)).modularity >= networkx_mean(g, 5) - 0.01


@pytest.mark.unsimulated("a larger graph")
def test_cliques_that_are_linked_are_found(backend: Backend) -> None:
    src, dst = np.triu_indices(5, 1)
    cliques = [(u + 5 * k, v + 5 * k) for k in range(4) for u, v in zip(src.tolist(), dst.tolist(), strict=True)]
    g = fr.from_edges([*cliques, *((5 * k, (5 * k + 6) % 20) for k in range(4))])
    result = check(g, backend(g))
    assert result.count == 4
    assert all(len(set(to_host(result.label)[5 * k : 5 * k + 5].tolist())) == 1 for k in range(4))


def test_special_graphs(backend: Backend) -> None:
    nothing = fr.louvain(backend(fr.from_edges([], [], num_vertices=0)))
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
        expected = fr.louvain(g).label
        equal(np.asarray(fr.louvain(g.to("ranks:3")).label), expected)
        equal(np.asarray(fr.louvain(fr.rmat(7, 8, seed=5, weights=weights, placement="ranks:2")).label), expected)
    real = g.with_weights(g.weights / 7)
    first, second = (np.asarray(fr.louvain(real.to("ranks:2")).label) for _ in range(2))
    equal(first, second)


def test_a_directed_graph_is_taken_for_undirected(backend: Backend) -> None:
    g = backend(fr.rmat(5, 4, directed=True, seed=1, weights=(1, 9)))
    for find, verify in ((fr.louvain, fr.verify.louvain), (fr.leiden, fr.verify.leiden)):
        with pytest.warns(fr.FrontierWarning, match=r"takes edges for undirected, .*: g.undirected\(\) says"):
            found = find(g)
        equal(found.label, find(g.undirected()).label)
        verify(g, found, tolerance=1e-9).raise_if_failed()


def test_wrong_arguments() -> None:
    g = fr.karate()
    for call, words in (
        (lambda: fr.louvain(g, resolution=-1.0), "resolution=-1.0"),
        (lambda: fr.louvain(g.with_weights(np.full(156, np.inf))), "finite weights"),
    ):
        with pytest.raises(fr.GraphError, match=words):
            call()
    with pytest.raises(fr.NegativeWeightError):
        fr.louvain(g.with_weights(np.full(156, -1)))


def test_tables_that_several_lanes_fill(compiled: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """On every backend they give the same communities as those that one thread fills."""
    g = fr.rmat(5, 8, seed=2, weights=(1, 9)) if SIMULATED else fr.rmat(9, 12, seed=2, weights=(1, 9))
    expected = to_host(fr.louvain(g).label), to_host(fr.leiden(g).label)
    modules = [sys.modules[f"frontier.primitives.{name}"] for name in ("_communities", "_tallies", "louvain", "leiden")]
    for module in modules:
        monkeypatch.setattr(module, "tallies", lambda g: True, raising=False)
        monkeypatch.setattr(module, "LARGE", 3, raising=False)
    there = compiled(g)
    assert "most" in modules[0].fields(there, 1.0, 0, 20)
    equal(to_host(fr.louvain(there).label), expected[0])
    if not SIMULATED:
        equal(to_host(fr.leiden(there).label), expected[1])
