"""Modularity of given communities is NetworkX's; levels, limits and starts of Louvain and Leiden."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from compare import close, equal, host
from conftest import SIMULATED, Backend
from strategies import random_graphs

import frontier as fr

BOTH = pytest.mark.parametrize("find", [fr.louvain, fr.leiden])


def expected(g: fr.Graph, label: Any, weight: str | None, resolution: float) -> float:
    """NetworkX's, of all parallel edges."""
    graph = nx.MultiDiGraph() if g.directed else nx.MultiGraph()
    graph.add_nodes_from(range(g.num_vertices))
    weights = np.ones(g.num_slots) if g.weights is None else g.weights.astype(np.float64)
    for u, v, w in zip(g.sources.tolist(), g.targets.tolist(), weights.tolist(), strict=True):
        if g.directed or u <= v:
            graph.add_edge(u, v, weight=w)
    parts = [set(np.flatnonzero(label == each).tolist()) for each in np.unique(label)]
    try:
        return float(nx.community.modularity(graph, parts, weight=weight, resolution=resolution))
    except ZeroDivisionError:
        return 0.0


@pytest.mark.parametrize("directed", [False, True])
def test_modularity(backend: Backend, directed: bool) -> None:
    rng = np.random.default_rng(1)
    for i, g in enumerate(random_graphs(25, seed=51, max_vertices=25, parallel=True, directed=directed)):
        label, resolution = rng.integers(-3, 3, g.num_vertices), (1.0, 0.5, 2.0)[i % 3]
        for weight in ("weight", None):
            found = fr.modularity(backend(g), label, resolution=resolution, weighted=weight is not None)
            assert found == pytest.approx(expected(g, label, weight, resolution), abs=1e-9)


def test_wrong_arguments() -> None:
    g = fr.karate()
    for call, words in (
        (lambda: fr.modularity(g, [0]), "1 labels, but there are 34"),
        (lambda: fr.modularity(g, np.zeros(34)), "must be integers"),
        (lambda: fr.modularity(g, np.zeros(34, int), resolution=-1), "resolution=-1"),
        (lambda: fr.louvain(g, max_level=0), "max_level=0"),
        (lambda: fr.louvain(g, threshold=-1), "threshold=-1"),
        (lambda: fr.leiden(g, start=[0, 1]), "2 labels, but there are 34"),
        (lambda: fr.modularity(g.with_weights(np.full(g.num_slots, -1)), np.zeros(34, int)), "not negative"),
    ):
        with pytest.raises(fr.GraphError, match=words):
            call()


@BOTH
def test_levels(find: Any) -> None:
    sizes = [0]
    for g in (fr.karate(), *random_graphs(3, seed=52, max_vertices=16, directed=False, parallel=True)):
        result = find(g.to("python"), seed=1)
        assert fr.verify.communities(g, result, connected=find is fr.leiden)
        counts = [len(np.unique(level)) for level in result.levels]
        assert counts == sorted(set(counts), reverse=True)
        assert counts[-1] == result.count
        sizes.append(len(counts))
        if find is fr.leiden:
            for level in result.levels:
                made = SimpleNamespace(label=level, count=len(np.unique(level)), resolution=1.0)
                made.modularity = fr.modularity(g, level)
                assert fr.verify.communities(g, made, connected=True, tolerance=np.inf)
    assert max(sizes) > 1


@BOTH
def test_limits(find: Any) -> None:
    g = fr.karate().to("python")
    best = find(g)
    first = find(g, max_level=1)
    assert len(first.levels) == 1 < len(best.levels)
    assert first.modularity < best.modularity
    assert len(find(g, max_level=2).levels) <= 2


@BOTH
def test_a_start(find: Any) -> None:
    """Also of names that are no numbers from 0 on, and of communities that Leiden has to divide."""
    g = fr.karate().to("python")
    best = find(g, seed=2)
    again = find(g, start=best.label * 7 - 3, threshold=0.5)
    assert again.modularity >= best.modularity
    bad = np.arange(34) % 2
    assert fr.modularity(g, bad) < (found := find(g, start=bad, max_level=1)).modularity
    assert fr.verify.communities(g, found, connected=find is fr.leiden)
    apart = fr.from_edges([0, 2], [1, 3]).to("python")
    assert find(apart, start=[0, 0, 0, 0], resolution=0.0).count == (2 if find is fr.leiden else 1)


def test_levels_that_are_wrong_are_found() -> None:
    g = fr.karate()
    found = fr.louvain(g.to("python"), max_level=1)
    made = SimpleNamespace(**{each: getattr(found, each) for each in ("label", "count", "modularity", "resolution")})
    made.levels = [np.arange(34) // 20, found.label]
    assert "divides" in str(fr.verify.communities(g, made))
    made.levels = [np.zeros(34, int)]
    assert "the last of levels" in str(fr.verify.communities(g, made))


@pytest.mark.skipif(SIMULATED, reason="no kernels are in it")
def test_parts() -> None:
    g = fr.rmat(6, 4, seed=1, directed=True, weights=(1, 9))
    label = np.arange(64) % 5
    close(fr.modularity(g.to("ranks:2"), label), fr.modularity(g, label))
    h = g.undirected()
    for one, two in zip(fr.louvain(h).levels, fr.louvain(h.to("ranks:2")).levels, strict=True):
        equal(host(two), one)
