"""PageRank: ranks of a plain power iteration with SciPy, to 1e-9, and NetworkX's on some graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close, workers
from conftest import Backend
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graphs

import frontier as fr
from frontier.memory.arrays import to_host

CLOSE = 1e-9
TIGHT = 1e-11
"""A tolerance for which no rank is farther than 1e-9 from the exact one."""


def check(g: fr.Graph, personalization: Any = None, **options: Any) -> fr.primitives.pagerank.PageRankResult:
    """Compare with the oracle and ask the verifier."""
    result = fr.pagerank(g, tolerance=TIGHT, personalization=personalization, **options)
    damping, weighted = options.get("damping", 0.85), options.get("weighted", False)
    expected = oracles.pagerank(g, damping, personalization, weighted)
    close(result.rank, expected, rtol=0, atol=CLOSE)
    assert result.rank.dtype == np.float64
    assert g.num_vertices == 0 or abs(result.rank.sum() - 1) < 1e-12
    assert g.num_vertices == 0 or result.error < TIGHT
    fr.verify.pagerank(g, result).raise_if_failed()
    return result


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_many_graphs(backend: Backend) -> None:
    count, largest = (140, 300) if backend.name != "python" else (30, 12)
    for g in random_graphs(count, seed=51, max_vertices=largest, weights=None, parallel=True):
        check(backend(g))


def test_shares_are_rounded_where_the_tolerance_allows(backend: Backend) -> None:
    g = backend(fr.karate())
    rough, exact = fr.pagerank(g, tolerance=1e-6), oracles.pagerank(g, 0.85, None, False)
    close(rough.rank, exact, rtol=0, atol=1e-5)
    fr.verify.pagerank(g, rough).raise_if_failed()
    assert abs(rough.rank.sum() - 1) < 1e-6


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_many_weighted_graphs(backend: Backend) -> None:
    count, largest = (40, 200) if backend.name != "python" else (12, 10)
    for g in random_graphs(count, seed=52, max_vertices=largest, weights=("int32", "float64"), parallel=True):
        check(backend(g), weighted=True)
        check(backend(g))  # weights matter only where they are asked for


@pytest.mark.unsimulated("a hundred passes for a graph")
@given(g=graphs(max_vertices=8, weights=("int32", "float64")), damping=st.sampled_from([0.0, 0.3, 0.85]))
def test_any_graph(backend: Backend, g: fr.Graph, damping: float) -> None:
    check(backend(g), damping=damping)
    check(backend(g), damping=damping, weighted=True)


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_networkx_agrees(backend: Backend) -> None:
    rng = np.random.default_rng(6)
    for directed in (True, False):
        edges = *rng.integers(0, 30, (2, 80)), rng.random(80)
        g = fr.from_edges(*edges, num_vertices=31, directed=directed, duplicates="first")
        other = oracles.networkx_graph(g)
        towards = rng.random(31)
        for weighted in (False, True):
            result = fr.pagerank(backend(g), tolerance=TIGHT, personalization=towards, weighted=weighted)
            expected = nx.pagerank(
                other, personalization=dict(enumerate(towards)), weight="weight" if weighted else None,
                tol=1e-14, max_iter=1000,
            )  # fmt: skip
            close(result.rank, [expected[v] for v in range(31)], rtol=0, atol=CLOSE)


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(25, seed=53, max_vertices=600, weights=None):
            check(compiled(g))
        check(compiled(fr.rmat(12, 8, seed=5)))


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_dangling_vertices(backend: Backend) -> None:
    """All rank of vertices without out-edges goes to all alike."""
    g = backend(fr.from_edges([0, 1], [2, 2], num_vertices=4, directed=True))
    rank = to_host(check(g).rank)
    assert rank[0] == rank[1] == rank[3]
    assert rank[2] == pytest.approx(rank[0] * (1 + 2 * 0.85))
    close(check(backend(fr.from_edges([], [], num_vertices=5))).rank, 0.2, rtol=1e-15)


@pytest.mark.parametrize("weights", [None, [2.0] * 6])
def test_vertices_without_edges_begin_with_less(backend: Backend, weights: list[float] | None) -> None:
    """On a ring nothing else is left to find; not in directed graphs, nor where iterations are counted."""
    ring = np.arange(6), (np.arange(6) + 1) % 6
    g = fr.from_edges(*ring, weights, num_vertices=9)
    result = check(backend(g), weighted=weights is not None)
    assert result.iterations == 1
    close(to_host(result.rank)[6:], 0.15 * to_host(result.rank)[:3], rtol=1e-12)
    assert check(backend(g), start=np.ones(9)).iterations > 5
    assert check(backend(fr.from_edges(*ring, num_vertices=9, directed=True))).iterations > 5
    counted = fr.pagerank(backend(g), tolerance=0, max_iterations=2)
    close(counted.rank, oracles.pagerank(g, iterations=2), rtol=1e-13)


def test_out_weights_of_zero(backend: Backend) -> None:
    """A vertex whose edges all weigh nothing gives nothing along them: it is as good as dangling."""
    g = backend(fr.from_edges([0, 1, 1], [1, 0, 2], [0.0, 1.0, 3.0], directed=True))
    check(g, weighted=True)


@pytest.mark.unsimulated("a hundred passes for a graph")
@pytest.mark.parametrize("weighted", [False, True])
def test_what_dangling_vertices_give(backend: Backend, weighted: bool) -> None:
    """Distributed in a way of its own, and from given ranks on, as NetworkX does both."""
    rng = np.random.default_rng(8)
    g = fr.from_edges(*rng.integers(0, 12, (2, 15)), rng.random(15), num_vertices=12, directed=True, duplicates="min")
    other = oracles.networkx_graph(g)
    falls, towards, start = rng.random((3, 12))
    for personalization in (None, towards):
        result = fr.pagerank(
            backend(g), tolerance=TIGHT, personalization=personalization, dangling=falls, start=start, weighted=weighted
        )
        expected = nx.pagerank(
            other, dangling=dict(enumerate(falls)), weight="weight" if weighted else None, tol=1e-14, max_iter=1000,
            personalization=None if personalization is None else dict(enumerate(towards)),
        )  # fmt: skip
        close(result.rank, [expected[v] for v in range(12)], rtol=0, atol=CLOSE)
        fr.verify.pagerank(g, result).raise_if_failed()
        assert not fr.verify.pagerank(g, replace(result, dangling=None))
        again = fr.pagerank(
            backend(g), personalization=personalization, dangling=falls, start=result.rank, weighted=weighted
        )
        assert again.iterations == 1


def test_wrong_distributions() -> None:
    g = fr.karate().to("python")
    for name in ("dangling", "start", "personalization"):
        for values in (np.zeros(34), -np.ones(34), {0: np.inf}):
            with pytest.raises(fr.GraphError, match=name):
                fr.pagerank(g, **{name: values})
        with pytest.raises(fr.GraphError, match="shape"):
            fr.pagerank(g, **{name: [1.0]})


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_personalization(backend: Backend) -> None:
    g = backend(fr.from_edges([0, 1, 2], [1, 2, 3], num_vertices=5, directed=True))
    towards = np.array([2.0, 0, 0, 0, 6.0])
    result = check(g, towards)
    close(result.personalization, towards / 8)
    same = fr.pagerank(g, tolerance=TIGHT, personalization={4: 3, 0: 1})
    close(same.rank, result.rank, rtol=1e-12)
    fr.verify.pagerank(g, same).raise_if_failed()


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_personalization_by_label(backend: Backend) -> None:
    g = backend(fr.from_edges(["a", "b"], ["b", "c"], directed=True))
    result = fr.pagerank(g, personalization={"b": 1})
    assert result.rank[g.vertex_id("a")] == 0
    assert [v for v, _ in result.top(3)] == ["b", "c", "a"]


def test_number_of_iterations(backend: Backend) -> None:
    """Tolerance 0 runs so many iterations, from 1/n each."""
    g = backend(fr.karate())
    for count in (1, 2, 7):
        result = fr.pagerank(g, tolerance=0, max_iterations=count)
        close(result.rank, oracles.pagerank(g, iterations=count), rtol=1e-13)
        assert result.iterations == count
        assert result.error > 0


def test_what_the_result_remembers(backend: Backend) -> None:
    g = backend(fr.from_edges([0, 1], [1, 2], [1.0, 2.0]))
    result = fr.pagerank(g, damping=0.5, tolerance=1e-4, weighted=True)
    assert (result.damping, result.tolerance, result.weighted, result.personalization) == (0.5, 1e-4, True, None)
    assert 1 < result.iterations < 20
    assert result.error < 1e-4


def test_no_vertices(backend: Backend) -> None:
    assert check(backend(fr.from_edges([], [], num_vertices=0))).rank.shape == (0,)


def test_one_vertex(backend: Backend) -> None:
    assert check(backend(fr.from_edges([], [], num_vertices=1))).rank.tolist() == [1]
    assert check(backend(fr.from_edges([0], [0], num_vertices=1))).rank.tolist() == [1]


@pytest.mark.parametrize(("a", "b", "damping"), [(1, 3, 0.95), (12, 162, 0.9)])
def test_rounded_shares_do_not_swing_for_ever(a: int, b: int, damping: float) -> None:
    """Of these graphs, whose ranks turn to and fro, more than the tolerance would be left."""
    src, dst = np.repeat(np.arange(a), b), a + np.tile(np.arange(b), a)
    result = fr.pagerank(fr.from_edges(src, dst), damping=damping, tolerance=1e-6)
    assert result.error < 1e-6


def test_not_converged(backend: Backend) -> None:
    g = backend(fr.star(8))
    with pytest.raises(fr.NotConvergedError, match="iteration 3, not below 1e-09") as caught:
        fr.pagerank(g, max_iterations=3)
    so_far = caught.value.result
    assert so_far.iterations == 3
    close(so_far.rank, oracles.pagerank(g, iterations=3), rtol=1e-13)


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_a_spoilt_result_fails(backend: Backend) -> None:
    g = backend(fr.karate())
    result = check(g)
    rank = result.rank.copy()
    rank[[0, 33]] = rank[[33, 0]]
    assert not fr.verify.pagerank(g, replace(result, rank=rank))
    assert not fr.verify.pagerank(g, replace(result, rank=result.rank * (1 + 1e-6)))
    assert not fr.verify.pagerank(g, replace(result, damping=0.86))


def test_weights_of_any_size(backend: Backend) -> None:
    g = fr.rmat(5, 4, seed=1)
    weights = np.random.default_rng(0).integers(1, 9, g.num_slots)
    ranks = []
    for factor in (1.0, 1e42):
        scaled = backend(fr.from_csr(g.offsets, g.targets, weights * factor, directed=True))
        ranks.append(fr.pagerank(scaled, weighted=True, tolerance=1e-6).rank)
    close(ranks[1], ranks[0], rtol=1e-9)
