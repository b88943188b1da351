"""Betweenness: NetworkX's numbers, to 1e-9 of each."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close, equal, workers
from conftest import Backend
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graphs

import frontier as fr
from frontier import batched_sources
from frontier.memory.arrays import to_host
from frontier.primitives import _bc_variants as variants
from frontier.primitives import bc


def check(g: fr.Graph, sources: Any = None, **options: Any) -> fr.primitives.bc.BetweennessResult:
    """Compare with the oracle and ask the verifier."""
    result = fr.betweenness(g, sources, **options)
    some = None if sources is None else np.asarray(to_host(result.sources))
    expected = oracles.betweenness(g, some, options.get("normalized", False))
    assert result.sampled == isinstance(sources, int)
    if result.sampled:
        others = len(some) - np.isin(np.arange(g.num_vertices), some)
        expected *= (g.num_vertices - 1) / np.maximum(others, 1)
    close(result.centrality, expected, rtol=1e-9, atol=0)
    assert result.centrality.dtype == np.float64
    fr.verify.betweenness(g, result).raise_if_failed()
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (120, 60) if backend.name != "python" else (50, 14)
    for g in random_graphs(count, seed=61, max_vertices=largest, weights=None):
        check(backend(g))


@given(g=graphs(parallel=False, max_vertices=9, weights=None), normalized=st.booleans())
def test_any_graph(backend: Backend, g: fr.Graph, normalized: bool) -> None:
    check(backend(g), normalized=normalized)


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_schedules(backend: Backend, direction: str) -> None:
    for g in random_graphs(15, seed=62, max_vertices=20, weights=None):
        check(backend(g), schedule=fr.Schedule(direction=direction))


@pytest.mark.parametrize("program", [bc.Betweenness, variants.GatheredBetweenness, variants.FoldedBetweenness])
def test_every_program(backend: Backend, program: type[fr.Enactor], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "variant", lambda *_: program)
    monkeypatch.setattr(batched_sources, "SLOTS", 0)
    monkeypatch.setattr(batched_sources, "SLOTS_WIDE", 0)
    for g in random_graphs(15, seed=64, max_vertices=20, weights=None):
        if g.num_vertices:
            check(backend(g), sorted({0, g.num_vertices - 1}))


def test_the_program_of_a_large_graph(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "HUB", 100)
    for g, expected in (
        (fr.grid(9, 9), variants.FoldedBetweenness),
        (fr.rmat(8, 16, seed=1), variants.GatheredBetweenness),
        (fr.rmat(8, 16, seed=1, directed=True), bc.Betweenness),
        (fr.complete(30), bc.Betweenness),
    ):
        there = backend(g)
        parallel = there.placement.massively_parallel
        assert variants.variant(there) is (expected if parallel else bc.Betweenness)


@pytest.mark.unsimulated("large graphs")
def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(20, seed=63, max_vertices=60, weights=None):
            check(compiled(g))
        check(compiled(fr.rmat(10, 8, seed=6)), range(0, 1024, 100))


@pytest.mark.unsimulated("a large graph")
def test_many_shortest_paths(backend: Backend) -> None:
    """Path counts grow like binomials on a grid: 184756 from corner to corner."""
    g = backend(fr.grid(11, 11))
    check(g, [0, 60])


@pytest.mark.unsimulated("many searches")
def test_some_sources(backend: Backend) -> None:
    g = backend(fr.karate())
    result = check(g, [5, 33, 0])
    assert result.sources.tolist() == [5, 33, 0]
    assert not check(g, []).centrality.any()
    close(check(g, range(34)).centrality, check(g).centrality, rtol=1e-9)
    assert check(g, np.array([7])).sources.tolist() == [7]
    by_name = backend(fr.from_edges(["a", "b"], ["b", "c"]))
    assert check(by_name, ["c", "a"]).sources.tolist() == [by_name.vertex_id("c"), by_name.vertex_id("a")]


@pytest.mark.unsimulated("many searches")
def test_a_number_of_sources(backend: Backend) -> None:
    g = backend(fr.karate())
    first, again = check(g, 7, seed=3), check(g, 7, seed=3)
    equal(first.sources, again.sources)
    assert len(set(first.sources.tolist())) == 7
    draws = {tuple(fr.betweenness(g, 7, seed=seed).sources.tolist()) for seed in range(5)}
    assert len(draws) == 5
    assert sorted(check(g, 34, seed=0).sources.tolist()) == list(range(34))
    assert len(check(g, 0).sources) == 0


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_samples_are_estimates_as_networkx_has_them(directed: bool, normalized: bool) -> None:
    """Also if all vertices are drawn; sums over some sources are not scaled."""
    g = fr.rmat(4, 3, directed=directed, seed=1).to("python")
    graph = oracles.networkx_graph(g)
    for k in (2, 5, 16):
        drawn = fr.betweenness(g, k, normalized=normalized, seed=k)
        order = Drawn(drawn.sources.tolist())
        expected = nx.betweenness_centrality(graph, k=k, normalized=normalized, seed=order)
        close(drawn.centrality, [expected[v] for v in range(16)], rtol=1e-9)
        fr.verify.betweenness(g, drawn).raise_if_failed()
        assert not fr.verify.betweenness(g, replace(drawn, sampled=False)) or k == 16
        given = fr.betweenness(g, drawn.sources, normalized=normalized)
        expected = nx.betweenness_centrality_subset(graph, order.sources, list(graph), normalized=normalized)
        close(given.centrality, [expected[v] for v in range(16)], rtol=1e-9)
    assert not fr.betweenness(g, 1, seed=1).centrality[fr.betweenness(g, 1, seed=1).sources].any()


class Drawn(random.Random):
    """What NetworkX draws: these vertices."""

    def __init__(self, sources: list[int]) -> None:
        super().__init__()
        self.sources = sources

    def sample(self, population: Any, k: int, **more: Any) -> list[int]:
        assert k == len(self.sources)
        return self.sources


@pytest.mark.parametrize("directed", [False, True])
def test_normalized(backend: Backend, directed: bool) -> None:
    """A star's middle is inside every path; of the directed one there are four, of twelve pairs."""
    g = backend(fr.from_edges([1, 2, 0, 0], [0, 0, 3, 4], directed=directed))
    result = check(g, normalized=True)
    assert result.normalized
    assert result.centrality.tolist() == pytest.approx([4 / 12 if directed else 1.0, 0, 0, 0, 0])
    expected = nx.betweenness_centrality(oracles.networkx_graph(g), normalized=True)
    close(result.centrality, list(expected.values()), rtol=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_graphs_too_small_for_pairs(backend: Backend, n: int) -> None:
    g = backend(fr.from_edges(range(n - 1), range(1, n), num_vertices=n))
    for normalized in (False, True):
        assert check(g, normalized=normalized).centrality.tolist() == [0] * n


def test_no_edges_and_self_loops(backend: Backend) -> None:
    assert not check(backend(fr.from_edges([], [], num_vertices=5))).centrality.any()
    path = fr.from_edges([0, 1, 1, 0], [1, 2, 1, 0])
    assert check(backend(path)).centrality.tolist() == [0, 1, 0]


def test_parallel_edges_are_different_paths(backend: Backend) -> None:
    """0 to 3: two ways past 1, one past 2."""
    g = backend(fr.from_edges([0, 0, 0, 1, 2], [1, 1, 2, 3, 3], directed=True, duplicates="keep"))
    result = fr.betweenness(g)
    close(result.centrality, [0, 2 / 3, 1 / 3, 0], rtol=1e-12)
    fr.verify.betweenness(g, result).raise_if_failed()


@pytest.mark.unsimulated("a large graph")
def test_more_paths_than_a_float_counts(backend: Backend) -> None:
    """A chain of 215 bundles of 30 ways each has 30**215 ways through, about 1e317."""
    joint = np.repeat(31 * np.arange(215), 30)
    middle = joint + np.tile(np.arange(1, 31), 215)
    g = backend(fr.from_edges(np.concatenate([joint, middle]), np.concatenate([middle, joint + 31])))
    found = fr.betweenness(g, [0])
    beyond = 31 * (215 - np.arange(216))  # how many vertices are farther than each joint
    close(found.centrality[::31][1:], beyond[1:] / 2, rtol=1e-10)
    close(found.centrality[1::31], (beyond[:-1] - 30) / 60, rtol=1e-10)
    fr.verify.betweenness(g, found).raise_if_failed()


@pytest.mark.unsimulated("many searches")
def test_a_spoilt_result_fails(backend: Backend) -> None:
    g = backend(fr.karate())
    result = check(g)
    centrality = result.centrality.copy()
    centrality[33] *= 1 + 1e-6
    assert not fr.verify.betweenness(g, replace(result, centrality=centrality))
    assert not fr.verify.betweenness(g, replace(result, centrality=result.centrality * 2))
    assert not fr.verify.betweenness(g, replace(result, normalized=True))
