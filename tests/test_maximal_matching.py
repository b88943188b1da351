"""Maximal matchings: their definition, the greedy algorithm, and half of the greatest weight."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from compare import equal, host, workers
from conftest import Backend
from hypothesis import given
from strategies import SIMULATED, WEIGHTS, graphs, random_graphs

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives.maximal_matching import number


def check(g: fr.Graph, **options: Any) -> fr.primitives.maximal_matching.MatchingResult:
    """Partners are neighbours and each other's, and no edge has two ends without a partner."""
    result = fr.maximal_matching(g, **options)
    partner, here = host(result.partner), g.to("cpu")
    assert (partner.dtype, partner.shape) == (g.targets.dtype, (g.num_vertices,))
    matched = np.flatnonzero(partner >= 0)
    assert result.count * 2 == len(matched)
    equal(partner[partner[matched]], matched)
    pairs = set(zip(here.sources.tolist(), here.targets.tolist(), strict=True))
    for v in matched.tolist():
        assert (v, partner[v]) in pairs or (partner[v], v) in pairs
    proper = here.sources != here.targets
    assert not ((partner[here.sources] < 0) & (partner[here.targets] < 0))[proper].any()
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (80, 200) if backend.name != "python" and not SIMULATED else (20, 30)
    for i, g in enumerate(random_graphs(count, seed=90, max_vertices=largest, weights=None, parallel=True)):
        check(backend(g), seed=i)


@given(g=graphs(weights=None))
def test_any_graph(backend: Backend, g: fr.Graph) -> None:
    check(backend(g))


@given(g=graphs(weights=WEIGHTS[1:], directed=False))
def test_any_weights(backend: Backend, g: fr.Graph) -> None:
    """At least half of the greatest weight, by the same greedy algorithm as one edge after another."""
    partner = host(check(backend(g), weighted=True).partner)
    graph = nx.Graph()
    for u, v, w in zip(g.sources.tolist(), g.targets.tolist(), g.weights.tolist(), strict=True):
        if u != v and not (graph.has_edge(u, v) and graph[u][v]["weight"] >= w):  # of parallel edges the heaviest
            graph.add_edge(u, v, weight=w)
    best = sum(graph[u][v]["weight"] for u, v in nx.max_weight_matching(graph))
    found = sum(graph[v][u]["weight"] for v, u in enumerate(partner.tolist()) if u > v)
    assert 2 * found >= best * (1 - 1e-9)


def test_heavier_edges_come_first(backend: Backend) -> None:
    """The greedy algorithm with different weights, one edge after another."""
    g = fr.rmat(5, 4, seed=2)
    weights = np.random.default_rng(3).permutation(g.num_slots)
    more = {"self_loops": "drop", "duplicates": "first"}
    g = fr.from_edges(g.sources, g.targets, weights, num_vertices=g.num_vertices, **more)
    partner = np.full(g.num_vertices, -1)
    for slot in np.argsort(-g.weights).tolist():
        u, v = g.sources[slot], g.targets[slot]
        if partner[u] == partner[v] == -1:
            partner[u], partner[v] = v, u
    with workers(3):
        equal(check(backend(g), weighted=True).partner, partner)


def test_the_same_on_all_backends(backend: Backend) -> None:
    g = fr.grid(6, 6)
    expected = fr.maximal_matching(g, seed=5)
    with workers(3):
        equal(fr.maximal_matching(backend(g), seed=5).partner, expected.partner)
    assert (host(fr.maximal_matching(backend(g), seed=6).partner) != expected.partner).any()


@pytest.mark.parametrize("n", [1, 2, 3, 64, 100, 4097])
def test_numbers_are_different(n: int) -> None:
    """Else vertices in a circle of edges of the same rank could point to each other for ever."""
    bits = max(1, (n - 1).bit_length())
    for seed in range(3):
        p = SimpleNamespace(salt=fr.hash(seed), mask=2**bits - 1, half=(bits + 1) // 2)
        numbers = {number(p, v) for v in range(n)}
        assert len(numbers) == n
        assert numbers <= set(range(2**bits))


def test_one_edge_after_another(backend: Backend) -> None:
    """The greedy algorithm, by the numbers of bits of both degrees, the lower first, and the exclusive or."""
    g = fr.rmat(6, 4, seed=4)
    bits = [int(d).bit_length() for d in g.out_degree]
    p = SimpleNamespace(salt=fr.hash(0), mask=63, half=3)

    def place(edge: tuple[int, int]) -> tuple[int, int, int]:
        u, v = edge
        return min(bits[u], bits[v]), max(bits[u], bits[v]), number(p, u) ^ number(p, v)

    partner = np.full(g.num_vertices, -1)
    for u, v in sorted(zip(g.sources.tolist(), g.targets.tolist(), strict=True), key=place):
        if partner[u] == partner[v] == -1 and u != v:
            partner[u], partner[v] = v, u
    with workers(3):
        equal(check(backend(g)).partner, partner)


def test_low_degrees_come_first(backend: Backend) -> None:
    """Leaves of stars whose centres are connected: every centre takes one of its leaves."""
    for centres, leaves in ((2, 1), (5, 3), (4, 9)):
        src, dst = [], []
        for v in range(centres):
            src += [v] * leaves
            dst += range(centres + v * leaves, centres + (v + 1) * leaves)
            src += [v] * (centres - 1 - v)
            dst += range(v + 1, centres)
        result = check(backend(fr.from_edges(src, dst)))
        assert result.count == centres
        assert (host(result.partner)[:centres] >= centres).all()


def test_special_graphs(backend: Backend) -> None:
    assert check(backend(fr.from_edges([], [], num_vertices=0))).partner.tolist() == []
    assert check(backend(fr.from_edges([], [], num_vertices=2))).partner.tolist() == [-1, -1]
    looped = fr.from_edges([0, 0, 0, 2], [0, 0, 1, 2], [9, 9, 1, 1], duplicates="keep")
    for weighted in (False, True):
        assert check(backend(looped), weighted=weighted).partner.tolist() == [1, 0, -1]
    assert check(backend(fr.complete(7))).count == 3
    assert check(backend(fr.from_edges([0, 1], [1, 2], directed=True))).count == 1


def test_what_is_refused(backend: Backend) -> None:
    for g in (fr.path(3), fr.from_edges([0], [1], [1], directed=True)):
        with pytest.raises(GraphError, match="undirected graph with weights"):
            fr.maximal_matching(backend(g), weighted=True)
    with pytest.raises(GraphError, match="float64"):
        fr.maximal_matching(backend(fr.from_edges([0], [1], np.array([2**63], np.uint64))), weighted=True)


def test_parts() -> None:
    g = fr.rmat(7, 4, seed=3, weights=(1, 5))
    for weighted in (False, True):
        equal(check(g.to("ranks:2"), weighted=weighted).partner, check(g, weighted=weighted).partner)
