"""Random walks: they follow edges, end where they must, and take each step as often as it is likely."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from compare import equal, workers
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier.memory import detection
from frontier.memory.arrays import to_host

WALKS = {
    "uniform": lambda g, **more: fr.random_walks(g, **more),
    "weighted": lambda g, **more: fr.random_walks(g, weighted=True, **more),
    "temporal": lambda g, **more: fr.random_walks(g, times="time", **more),
    "temporal, weighted": lambda g, **more: fr.random_walks(g, times="time", weighted=True, **more),
    "node2vec": lambda g, **more: fr.node2vec_walks(g, p=0.3, q=2.0, **more),
    "node2vec, weighted": lambda g, **more: fr.node2vec_walks(g, p=3.0, q=0.4, weighted=True, **more),
}


def timed(g: fr.Graph, seed: int) -> fr.Graph:
    """The graph with a time for each edge, the same in both directions."""
    return g.with_columns(edges={"time": np.random.default_rng(seed).integers(0, 9, g.num_edges)})


def check(g: fr.Graph, result: Any, kind: str) -> None:
    """Each step is one that may be taken, and a walk ends only where there is none; no parallel edges."""
    path = to_host(result.path)
    edges: dict[int, dict[int, tuple[float, int]]] = defaultdict(dict)
    weights = np.ones(g.num_slots) if "weighted" not in kind else g.weights
    for u, v, w, t in zip(*(x.tolist() for x in (g.sources, g.targets, weights, g.edges["time"])), strict=True):
        if w > 0:
            edges[u][v] = (w, t)
    for i, walk in enumerate(path.tolist()):
        taken = [v for v in walk if v >= 0]
        assert walk == taken + [-1] * (len(walk) - len(taken))
        assert to_host(result.end)[i] == taken[-1]
        last = -1
        for u, v in pairwise(taken):
            time = edges[u][v][1]
            assert "temporal" not in kind or time >= last
            last = time
        if len(taken) < len(walk):
            may = [v for v, (_, time) in edges[taken[-1]].items() if "temporal" not in kind or time >= last]
            assert not may


@pytest.mark.parametrize("kind", WALKS)
def test_walks_follow_edges_and_are_those_of_python(backend: Backend, kind: str) -> None:
    for i, g in enumerate(random_graphs(12, seed=71, max_vertices=60, weights=("int32", "float32", "float64"))):
        g = timed(g, i)
        starts = np.random.default_rng(i).integers(0, g.num_vertices, 20) if g.num_vertices else []
        found = WALKS[kind](backend(g), starts=starts, length=i % 8, seed=i)
        assert found.path.shape == (len(starts), i % 8 + 1)
        assert found.path.dtype == g.targets.dtype
        equal(found.path[:, 0], np.asarray(starts, int))
        check(g, found, kind)
        if backend.name != "python":
            equal(found.path, WALKS[kind](g.to("python"), starts=starts, length=i % 8, seed=i).path)


@pytest.mark.parametrize("kind", WALKS)
def test_several_workers(compiled: Backend, kind: str) -> None:
    g = timed(fr.karate(weights=(1, 9), seed=1), 1)
    one = WALKS[kind](compiled(g), length=9).path
    with workers(3):
        equal(WALKS[kind](compiled(g), length=9).path, one)


def likely(found: Counter[Any], expected: dict[Any, float], draws: int) -> None:
    """Frequencies are within five standard deviations of what is expected; seeds are fixed."""
    assert set(found) <= {x for x, share in expected.items() if share > 0}
    for x, share in expected.items():
        assert abs(found[x] - draws * share) < 5 * np.sqrt(draws * share * (1 - share)) + 1e-9, (x, found[x], share)


#: Edges of different weights, parallel ones and a loop among them.
FEW = fr.from_edges(
    [0, 0, 0, 0, 0, 1, 2], [0, 1, 2, 2, 3, 2, 4], [1.0, 2.0, 3.0, 0.5, 0.0, 4.0, 1.5],
    directed=True, duplicates="keep", edges={"time": [5, 1, 2, 7, 3, 0, 6]},
)  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.unsimulated("many walks")
def test_steps_are_as_frequent_as_they_are_likely(compiled: Backend, weighted: bool) -> None:
    draws = 20_000
    path = to_host(fr.random_walks(compiled(FEW), np.zeros(draws, int), 1, weighted=weighted, seed=3).path)
    expected = {0: 1 / 6.5, 1: 2 / 6.5, 2: 3.5 / 6.5, 3: 0.0} if weighted else {0: 0.2, 1: 0.2, 2: 0.4, 3: 0.2}
    likely(Counter(path[:, 1].tolist()), expected, draws)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.unsimulated("many walks")
def test_steps_of_temporal_walks_are_as_frequent_as_they_are_likely(compiled: Backend, weighted: bool) -> None:
    """From 0 by its loop, at time 5: then only that, and the second edge to 2, at time 7, may follow."""
    draws = 20_000
    path = fr.random_walks(compiled(FEW), np.zeros(draws, int), 2, weighted=weighted, times="time", seed=4).path
    looped = [b for _, a, b in to_host(path).tolist() if a == 0]
    assert len(looped) > 1000
    expected = {0: 1 / 1.5, 2: 0.5 / 1.5} if weighted else {0: 0.5, 2: 0.5}
    likely(Counter(looped), expected, len(looped))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.1, 3.0), (5.0, 0.2), (0.2, 0.5), (4.0, 2.0)])
@pytest.mark.unsimulated("many walks")
def test_node2vec_steps_are_as_frequent_as_they_are_likely(
    compiled: Backend, p: float, q: float, weighted: bool
) -> None:
    g = fr.from_edges(
        [0, 0, 1, 1, 2, 3, 1], [1, 2, 2, 3, 4, 4, 1], [1.0, 2.0, 1.5, 0.5, 3.0, 1.0, 0.7], duplicates="keep"
    )
    path = fr.node2vec_walks(compiled(g), np.zeros(40_000, int), 6, p=p, q=q, weighted=weighted, seed=5).path
    near = {(u, v) for u, v in zip(g.sources.tolist(), g.targets.tolist(), strict=True)}
    weights = g.weights.tolist() if weighted else [1.0] * g.num_slots
    found: dict[Any, Counter[int]] = defaultdict(Counter)
    for walk in to_host(path).tolist():
        for before, here, after in zip(walk[1:], walk[2:], walk[3:], strict=False):
            found[before, here][after] += 1
    assert len(found) == g.num_slots
    for (before, here), counts in found.items():
        expected: dict[int, float] = defaultdict(float)
        for slot in range(g.offsets[here], g.offsets[here + 1]):
            x = int(g.targets[slot])
            expected[x] += weights[slot] * (1 / p if x == before else 1.0 if (before, x) in near else 1 / q)
        total = sum(expected.values())
        likely(counts, {x: share / total for x, share in expected.items()}, counts.total())


def test_special_graphs(backend: Backend) -> None:
    nothing = backend(fr.from_edges([], [], num_vertices=0))
    assert fr.random_walks(nothing, length=3).path.shape == (0, 4)
    apart = backend(fr.from_edges([], [], num_vertices=2))
    assert fr.random_walks(apart, length=2).path.tolist() == [[0, -1, -1], [1, -1, -1]]
    assert fr.node2vec_walks(apart, [1], length=2).path.tolist() == [[1, -1, -1]]
    looped = backend(fr.from_edges([0], [0]))
    assert fr.node2vec_walks(looped, length=2, q=9.0).path.tolist() == [[0, 0, 0]]
    pair = backend(fr.path(2))  # there is only one way, however large p is
    assert fr.node2vec_walks(pair, [0], length=3, p=1e6).path.tolist() == [[0, 1, 0, 1]]
    assert fr.random_walks(pair, 0, length=0).path.tolist() == [[0]]


def test_the_seed_matters_and_labels_are_starts(backend: Backend) -> None:
    g = backend(fr.karate())
    paths = [fr.random_walks(g, length=9, seed=seed).path.tolist() for seed in (1, 1, 2)]
    assert paths[0] == paths[1] != paths[2]
    named = backend(fr.from_edges(["a", "b"], ["b", "c"], directed=True))
    assert fr.random_walks(named, ["b", "a"], 2).path.tolist() == [[1, 2, -1], [0, 1, 2]]


@pytest.mark.parametrize("kind", WALKS)
@pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")
def test_on_parts(kind: str) -> None:
    g = timed(fr.karate(weights=(1, 9), seed=1), 1)
    equal(np.asarray(WALKS[kind](g.to("ranks:2"), length=9).path), WALKS[kind](g, length=9).path)


@pytest.mark.unsimulated("a real graph")
def test_a_real_graph(compiled: Backend, real_graph: Any) -> None:
    """In the long run, a walk is at a vertex in proportion to its degree."""
    g = real_graph("nk-karate")
    path = to_host(fr.random_walks(compiled(g), np.tile(np.arange(34), 500), 40, seed=7).path)
    visits = np.bincount(path[:, 30:].ravel(), minlength=34) / path[:, 30:].size
    assert np.abs(visits - g.out_degree / g.num_slots).max() < 0.004


def test_wrong_arguments() -> None:
    g = fr.karate()
    for call, words in (
        (lambda: fr.random_walks(g, [34]), "34"),
        (lambda: fr.random_walks(g, [[1, 2]]), r"no vertex \[1, 2\]"),
        (lambda: fr.random_walks(g, length=-1), "length=-1"),
        (lambda: fr.random_walks(g, weighted=True), "no weights"),
        (lambda: fr.random_walks(g.with_weights(np.full(156, np.inf)), weighted=True), "finite"),
        (lambda: fr.random_walks(g, length=2**31), "below 2"),
        (lambda: fr.random_walks(g, times="when"), "no edge column 'when': the graph has no edge columns"),
        (lambda: fr.random_walks(g.with_columns(edges={"t": np.full(78, 2**63, np.uint64)}), times="t"), "too large"),
        (lambda: fr.node2vec_walks(g, p=0.0), "p=0.0"),
    ):
        with pytest.raises(fr.GraphError, match=words):
            call()
    with pytest.raises(fr.NegativeWeightError):
        fr.random_walks(g.with_weights(np.full(156, -1)), weighted=True)
