"""Betweenness by weights, towards targets, with endpoints, of edges: NetworkX's numbers, to 1e-9 of each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close
from conftest import Backend
from test_bc import Drawn

import frontier as fr

KINDS = ("ones", "int64", "float64", "float32")


def graph(n: int, m: int, directed: bool, kind: str, seed: int) -> fr.Graph:
    """A random graph without parallel edges, perhaps in pieces, with loops; many paths are equally short."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, max(n, 1), (2, m if n else 0))
    weights: Any = rng.integers(1, 4, len(src))
    if kind.startswith("float"):
        weights = (weights / 10).astype(kind)  # sums are rounded
    weights = None if kind == "ones" else weights
    return fr.from_edges(src, dst, weights, num_vertices=n, directed=directed, duplicates="min")


GRAPHS = [
    graph(n, m, directed, kind, seed)
    for seed, (n, m) in enumerate([(0, 0), (1, 1), (2, 1), (3, 4), (9, 12), (12, 40), (20, 22), (14, 30)])
    for directed in (False, True)
    for kind in KINDS
]


def by_slot(g: fr.Graph, found: dict[tuple[int, int], float]) -> list[float]:
    """What NetworkX says of edges, in the order of slots."""
    both = found if g.directed else {**found, **{(v, u): x for (u, v), x in found.items()}}
    return [both[ends] for ends in zip(g.sources.tolist(), g.targets.tolist(), strict=True)]


def check(g: fr.Graph, k: int | None = None, **options: Any) -> None:
    """Compare vertices and edges with NetworkX, and ask the verifiers."""
    weighted = g.weights is not None
    whole = g.to("cpu")
    nxg = oracles.networkx_graph(whole)
    weight = "weight" if weighted else None
    for ends in (False, True):
        found = fr.betweenness(g, k, weighted=weighted, endpoints=ends, seed=3, **options)
        fr.verify.betweenness(g, found).raise_if_failed()
        drawn: Any = {} if k is None else {"k": k, "seed": Drawn(found.sources.tolist())}
        expected = nx.betweenness_centrality(
            nxg, weight=weight, endpoints=ends, normalized=options.get("normalized", False), **drawn
        )
        close(found.centrality, list(expected.values()), rtol=1e-9)
        assert found.weighted == weighted
        assert found.endpoints == ends
    edges = fr.edge_betweenness(g, k, weighted=weighted, seed=3, **options)
    fr.verify.edge_betweenness(g, edges).raise_if_failed()
    if k is not None:
        drawn["seed"] = Drawn(edges.sources.tolist())
    expected = nx.edge_betweenness_centrality(nxg, weight=weight, normalized=options.get("normalized", False), **drawn)
    close(edges.centrality, by_slot(whole, expected), rtol=1e-9)


def test_networkx_has_the_same() -> None:
    for i, g in enumerate(GRAPHS[:40:3]):
        check(g.to("python"), normalized=bool(i % 2))


@pytest.mark.parametrize("normalized", [False, True])
def test_all_graphs(backend: Backend, normalized: bool) -> None:
    for g in GRAPHS[normalized :: 1 if backend.name == "python" else 5]:
        check(backend(g), normalized=normalized)


def test_edges_without_weights(backend: Backend) -> None:
    """The same by the program for many paths, which is that for edges."""
    for g in GRAPHS[32:48:4]:
        close(fr.edge_betweenness(backend(g)).centrality, fr.edge_betweenness(g.to("python")).centrality, rtol=1e-9)


def test_samples() -> None:
    for g in GRAPHS[37:48:7]:
        check(g.to("python"), 5)
        check(g.to("python"), 3, normalized=True)


def test_sources_and_targets() -> None:
    for g in GRAPHS[33:48:5]:
        weight, some, others = (None if g.weights is None else "weight"), [0, 3, 5], [3, 4, 8, 1]
        there, nxg = g.to("python"), oracles.networkx_graph(g)
        for normalized in (False, True):
            expected = nx.betweenness_centrality_subset(nxg, some, others, normalized, weight)
            found = fr.betweenness(there, some, targets=others, weighted=weight is not None, normalized=normalized)
            close(found.centrality, list(expected.values()), rtol=1e-9)
            fr.verify.betweenness(there, found).raise_if_failed()
            edges = fr.edge_betweenness(there, some, weighted=weight is not None, normalized=normalized)
            expected = nx.edge_betweenness_centrality_subset(nxg, some, list(nxg), normalized, weight)
            close(edges.centrality, by_slot(g, expected), rtol=1e-9)
    assert found.targets is not None
    assert found.targets.tolist() == others
    assert not fr.verify.betweenness(there, replace(found, targets=None))


def test_targets_of_edges_are_by_definition() -> None:
    """NetworkX divides what passes a vertex that is no target evenly among the edges before it, which is not."""
    g = fr.from_edges([0, 0, 0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 4, 5, 6, 6], directed=True).to("python")
    found = fr.edge_betweenness(g, [0], targets=[6])
    assert found.to_dict() == pytest.approx(dict.fromkeys(found, 1 / 3) | {(4, 6): 2 / 3})
    fr.verify.edge_betweenness(g, found).raise_if_failed()
    with_ends = fr.betweenness(g, [0], targets=[6], endpoints=True)
    close(with_ends.centrality, [1, 1 / 3, 1 / 3, 1 / 3, 2 / 3, 1 / 3, 1], rtol=1e-12)
    fr.verify.betweenness(g, with_ends).raise_if_failed()


def test_labels_and_the_table() -> None:
    g = fr.from_edges(["a", "b", "c"], ["b", "c", "d"], [1.0, 2.0, 1.0]).to("python")
    assert fr.edge_betweenness(g, ["a"], targets=["d"], weighted=True).to_dict()["b", "c"] == 0.5
    found = fr.betweenness(g, ["a"], targets=["c"], weighted=True)
    assert found["b"], found["d"] == (0.5, 0.0)


def test_parallel_edges_are_different_paths() -> None:
    """By weights, only the lightest: of the two ways to 1, and on to 2, each has half."""
    ends, weights = ([0, 0, 0, 1], [1, 1, 1, 2]), [1.0, 2.0, 1.0, 5.0]
    for directed in (False, True):
        g = fr.from_edges(*ends, weights, directed=directed, duplicates="keep").to("python")
        found = fr.edge_betweenness(g, [0], weighted=True)
        fr.verify.edge_betweenness(g, found).raise_if_failed()
        by_weight: dict[float, float] = {}
        for w, value in zip(g.weights.tolist(), found.centrality.tolist(), strict=True):
            by_weight[w] = by_weight.get(w, 0) + value
        assert by_weight == {1.0: 2.0, 2.0: 0.0, 5.0: 1.0}


@pytest.mark.parametrize("weighted", [False, True])
def test_paths_on_a_grid(weighted: bool) -> None:
    """One source in the corner, paths to 1e13: beyond 40 bits, numbers of them are rounded."""
    weights = {"weights": (1, 1), "seed": 1} if weighted else {}
    g = fr.grid(23, 24, **weights).to("python")
    found = fr.betweenness(g, [0], targets=range(g.num_vertices), weighted=weighted)
    close(found.centrality, dependencies_on_a_grid(23, 24) / 2, rtol=1e-10)


@pytest.mark.parametrize("apart", [0, 1, 3, 39, 40, 41, 64])
def test_numbers_of_paths_add_up(apart: int) -> None:
    """In any order, to the nearest of 40 bits, with a carry or without."""
    from frontier.primitives._bc_scaled import BITS, FRACTION, ONE, add_paths

    def value(word: int) -> int:
        return (word & FRACTION) << (word >> BITS)

    for fraction in (ONE, ONE + 1, FRACTION - 1, FRACTION):
        for other in (ONE, ONE + 5, FRACTION):
            large, small = (apart + 3) << BITS | fraction, 3 << BITS | other
            found, exact = add_paths(small, large), value(large) + value(small)
            assert found == add_paths(large, small)
            assert found & FRACTION >= ONE
            assert abs(value(found) - exact) <= 2.0**-40 * (1 + 2.0**-20) * exact
            assert add_paths(found, 0) == found == add_paths(0, found)


def test_more_paths_than_there_are_numbers_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 2**8388603 paths led to the source: of a chain of diamonds the third has one too many."""
    from frontier.primitives import _bc_scaled as scaled

    monkeypatch.setattr(scaled, "ONE", scaled.MOST - (4 << scaled.BITS) & ~scaled.FRACTION | scaled.ONE)
    for diamonds in (3, 4):
        joints = 3 * np.arange(diamonds)
        src = np.concatenate([joints, joints, joints + 1, joints + 2])
        dst = np.concatenate([joints + 1, joints + 2, joints + 3, joints + 3])
        g = fr.from_edges(src, dst, directed=True).to("python")
        if diamonds == 3:
            assert fr.betweenness(g, [0], targets=[9]).centrality.tolist() == [0, 0.5, 0.5, 1, 0.5, 0.5, 1, 0.5, 0.5, 0]
        else:
            with pytest.raises(fr.GraphError, match="more than 2"):
                fr.betweenness(g, [0], targets=[12])


def dependencies_on_a_grid(rows: int, columns: int) -> Any:
    """The dependencies of the corner, by exact numbers of paths."""
    paths = [[1] * columns for _ in range(rows)]
    for i in range(1, rows):
        for j in range(1, columns):
            paths[i][j] = paths[i - 1][j] + paths[i][j - 1]
    delta = np.zeros((rows + 1, columns + 1))
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            down = paths[i][j] / paths[i + 1][j] * (1 + delta[i + 1, j]) if i + 1 < rows else 0
            right = paths[i][j] / paths[i][j + 1] * (1 + delta[i, j + 1]) if j + 1 < columns else 0
            delta[i, j] = down + right
    delta[0, 0] = 0
    return delta[:rows, :columns].ravel()


@pytest.mark.unsimulated("a large graph")
def test_a_large_grid(compiled: Backend) -> None:
    """As in the corner of a grid of 600 x 600, where up to 1e359 paths lead to a vertex."""
    expected = dependencies_on_a_grid(600, 600) / 2
    for weights in ({}, {"weights": (3, 3), "seed": 1}):
        g = compiled(fr.grid(600, 600, **weights))
        found = fr.betweenness(g, [0], weighted=bool(weights))
        close(found.centrality, expected, rtol=1e-10)  # numbers of paths have 40 bits


def test_wrong_weights() -> None:
    edges = [0, 1, 0], [1, 2, 2]
    for weights, error, words in (
        (None, fr.GraphError, "no weights"),
        ([1, 0, 1], fr.GraphError, "positive weights"),
        ([1, -1, 1], fr.NegativeWeightError, "not negative"),
        ([1e20, 1.0, 2e20], fr.GraphError, "rounded"),
    ):
        g = fr.from_edges(*edges, weights, directed=True).to("python")
        for function in (fr.betweenness, fr.edge_betweenness):
            with pytest.raises(error, match=words):
                function(g, weighted=True)
    with pytest.raises(fr.GraphError, match="no vertex 7"):
        fr.betweenness(g, targets=[7])


def test_spoilt_results_fail() -> None:
    g = GRAPHS[33].to("python")
    right, edges = fr.betweenness(g, weighted=True), fr.edge_betweenness(g)
    assert not fr.verify.betweenness(g, replace(right, weighted=False))
    assert not fr.verify.betweenness(g, replace(right, endpoints=True))
    assert not fr.verify.betweenness(g.with_weights(None), right)
    assert not fr.verify.edge_betweenness(g, replace(edges, weighted=True))
    assert not fr.verify.edge_betweenness(g, replace(edges, centrality=edges.centrality[:-1]))
    for spoil in (lambda x: x * (1 + 1e-6), lambda x: -x, lambda x: x + np.eye(len(x))[0]):
        assert not fr.verify.edge_betweenness(g, replace(edges, centrality=spoil(edges.centrality)))


def test_large_results_are_verified_by_some_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    from frontier.verify import centrality, edge_centrality

    for module in (centrality, edge_centrality):
        monkeypatch.setattr(module, "EXACT", 200)
    monkeypatch.setattr(centrality, "RECOMPUTE", 200)
    g = GRAPHS[37].to("python")
    for result in (
        fr.betweenness(g, weighted=True), fr.betweenness(g, endpoints=True), fr.betweenness(g, targets=[1, 2, 3]),
    ):  # fmt: skip
        fr.verify.betweenness(g, result).raise_if_failed()
        assert not fr.verify.betweenness(g, replace(result, centrality=result.centrality / 9))
    edges = fr.edge_betweenness(g, normalized=True)
    fr.verify.edge_betweenness(g, edges).raise_if_failed()
    assert not fr.verify.edge_betweenness(g, replace(edges, centrality=edges.centrality * 1.001))
