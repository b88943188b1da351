"""Verifiers: results that are wrong as a whole, and whatever else may be given to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import oracles
import pytest
from results import (
    Result,
    betweenness_result,
    bfs_result,
    but,
    cc_result,
    communities_result,
    expect_failure,
    pagerank_result,
    sssp_result,
)
from strategies import random_graphs

import frontier as fr
from frontier.verify import centrality

FAR = oracles.UNREACHED


# -- wrong results: wrong as a whole ---------------------------------------------------------------


def wheel() -> fr.Graph:
    """0 - 1 - 2 - 3 - 0 with spokes to 4, and the separate pair 5 - 6; integer weights."""
    src, dst = [0, 1, 2, 3, 0, 1, 2, 3, 5], [1, 2, 3, 0, 4, 4, 4, 4, 6]
    return fr.from_edges(src, dst, np.array([2, 2, 2, 2, 3, 3, 3, 3, 1]))


WHEEL_BFS = bfs_result(wheel(), 0)
WHEEL_SSSP = sssp_result(wheel(), 0)
WHEEL_CC = cc_result(wheel())
WHEEL_PR = pagerank_result(wheel())
WHEEL_BC = betweenness_result(wheel())
WHEEL_COMMUNITIES = communities_result(wheel(), [0, 0, 0, 0, 0, 1, 1])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"level": {0: 1}}, ["level[0] is 1", "source"]),
        ({"level": {2: 3}}, ["level[2] is 3", "gives less", "level[1] is 1"]),
        ({"level": {2: 1}}, ["parent[2] is 1", "does not give"]),
        ({"level": {5: 1, 6: 2}, "parent": {5: 0, 6: 5}}, ["no edge 0 -> 5"]),
        ({"level": {5: 1, 6: 1}, "parent": {5: 6, 6: 5}}, ["parent[5] is 6"]),
        ({"level": {2: -1}, "parent": {2: -1}}, ["level[2] is -1, unreached"]),
        ({"parent": {2: -1}}, ["parent[2] is -1, expected 0 to 6"]),
        ({"parent": {2: 7}}, ["parent[2] is 7, expected 0 to 6"]),
        ({"parent": {0: -1}}, ["parent[0] is -1", "own parent"]),
        ({"parent": {6: 5}}, ["parent[6] is 5, expected -1"]),
        ({"source": 4}, ["level[4] is 1, but it is the source"]),
        ({"level": WHEEL_BFS.level.astype(float)}, ["dtype float64, expected integers"]),
        ({"level": WHEEL_BFS.level[:-1]}, ["shape (6,), expected (7,)"]),
        ({"level": WHEEL_BFS.level.reshape(7, 1)}, ["shape (7, 1)"]),
        ({"level": None}, ["level has shape ()"]),
        ({"parent": WHEEL_BFS.parent[:3]}, ["parent has shape (3,)"]),
        ({"parent": ["a"] * 7}, ["parent has dtype"]),
        ({"source": 7}, ["source is 7, which is not a vertex: vertices are 0 to 6"]),
        ({"source": -1}, ["source is -1"]),
        ({"source": 0.0}, ["source is 0.0, expected one integer"]),
        ({"source": [[0, 1]]}, ["source has shape (1, 2)", "expected a list of vertex ids"]),
        ({"source": []}, ["source holds no vertex"]),
        ({"source": [0, 1]}, ["but it is the source and must have 0"]),
        ({"max_depth": 0}, ["but the search went to 0 only"]),
    ],
)
def test_wrong_bfs_fails(fields: dict[str, Any], words: list[str]) -> None:
    assert fr.verify.bfs(wheel(), WHEEL_BFS)
    expect_failure(fr.verify.bfs(wheel(), but(WHEEL_BFS, **fields)), *words)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"distance": {0: 1}}, ["distance[0] is 1", "source"]),
        ({"distance": {2: 5}}, ["distance[2] is 5", "of weight 2 gives less"]),
        ({"distance": {2: 3}}, ["parent[2] is", "edge weight 2"]),
        ({"distance": {2: -4}}, ["distance[2] is -4, less than 0"]),
        ({"distance": {2: FAR}, "parent": {2: -1}}, ["unreached, but edge"]),
        ({"distance": {5: 4, 6: 5}, "parent": {5: 6, 6: 5}}, ["parent[5] is 6"]),
        ({"parent": {2: 4}}, ["parent[2] is 4, but the edge does not give"]),
        ({"distance": np.full(7, np.nan)}, ["distance[0] is nan"]),
        ({"distance": WHEEL_SSSP.distance.astype("uint64")}, ["dtype uint64"]),
        ({"distance": WHEEL_SSSP.distance.astype(complex)}, ["dtype complex128"]),
        ({"distance": "far"}, ["distance has shape ()"]),
        ({"distance": [[1], [2, 3]]}, ["distance cannot be read"]),
    ],
)
def test_wrong_sssp_fails(fields: dict[str, Any], words: list[str]) -> None:
    assert fr.verify.sssp(wheel(), WHEEL_SSSP)
    expect_failure(fr.verify.sssp(wheel(), but(WHEEL_SSSP, **fields)), *words)


def test_vertices_that_support_each_other_fail() -> None:
    """A circle of weight zero whose distances are too small: every edge of it looks right."""
    src, dst = [0, 1, 2, 3], [1, 2, 3, 1]
    for weights in (np.array([5, 0, 0, 0]), np.array([5.0, 0, 0, 0])):
        g = fr.from_edges(src, dst, weights, directed=True)
        distance = np.array([0, 4, 4, 4], dtype=weights.dtype)
        wrong = Result(source=0, distance=distance, parent=np.array([0, 3, 1, 2]))
        expect_failure(fr.verify.sssp(g, wrong), "cycle")
        expect_failure(fr.verify.sssp(g, but(wrong, parent=None)), "no path")
        selfish = but(wrong, parent={1: 1})
        expect_failure(fr.verify.sssp(g, selfish), "parent[1] is 1")


def test_vertices_that_nearly_support_each_other_fail() -> None:
    """A circle that a tolerance alone would let pass: it rises by less than its roundings."""
    tiny = 2.0**-52
    g = fr.from_edges([0, 1, 2], [1, 2, 1], [5.0, tiny, tiny], directed=True)
    wrong = Result(source=0, distance=np.array([0, 1, 1 + tiny]), parent=np.array([0, 2, 1]))
    expect_failure(fr.verify.sssp(g, wrong), "cycle")
    expect_failure(fr.verify.sssp(g, but(wrong, parent=None)), "no path")


def test_float_distances_have_the_tolerance_that_was_asked_for() -> None:
    g = fr.from_edges([0, 1], [1, 2], [0.1, 0.2])
    near = Result(source=0, distance=np.array([0, 0.1, 0.3 * (1 + 1e-12)]), parent=None)
    expect_failure(fr.verify.sssp(g, near), "distance[2]")
    assert fr.verify.sssp(g, near, tolerance=1e-11)
    low = but(near, distance={2: 0.3 * (1 - 1e-12)})
    expect_failure(fr.verify.sssp(g, low), "distance[2]")
    assert fr.verify.sssp(g, low, tolerance=1e-11)
    with pytest.raises(fr.GraphError, match="tolerance"):
        fr.verify.sssp(g, near, tolerance=-1)


def test_negative_weights_cannot_be_verified() -> None:
    g = fr.from_edges([0, 1], [1, 2], [1, -2], directed=True)
    result = Result(source=0, distance=np.array([0, 1, -1]), parent=np.array([0, 0, 1]))
    with pytest.raises(fr.NegativeWeightError, match=r"edge 1 -> 2 \(slot 1\) has weight -2"):
        fr.verify.sssp(g, result)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"label": {5: 0, 6: 0}, "count": 1}, ["no path joins them"]),
        ({"label": {2: 2}, "count": 3}, ["joins them", "label[2] is 2"]),
        ({"label": {6: 6}, "count": 3}, ["edge 5 -> 6"]),
        ({"label": np.array([5, 5, 5, 5, 5, 0, 0])}, ["label[0] is 5, but label[5] is 0"]),
        ({"label": np.full(7, 7)}, ["label[0] is 7, which is not a vertex"]),
        ({"label": {3: -1}}, ["label[3] is -1"]),
        ({"count": 3}, ["count is 3, but there are 2 components"]),
        ({"count": 2.0}, ["count is 2.0, expected one integer"]),
        ({"label": np.zeros(8, dtype=int)}, ["shape (8,)"]),
        ({"label": np.zeros(7)}, ["dtype float64"]),
    ],
)
def test_wrong_components_fail(fields: dict[str, Any], words: list[str]) -> None:
    assert fr.verify.connected_components(wheel(), WHEEL_CC)
    expect_failure(fr.verify.cc(wheel(), but(WHEEL_CC, **fields)), *words)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"rank": np.full(7, 1 / 7)}, ["one more iteration"]),
        ({"rank": WHEEL_PR.rank * 2}, ["the sum of ranks is"]),
        ({"rank": -WHEEL_PR.rank}, ["rank[0] is", "less than 0"]),
        ({"rank": {3: np.nan}}, ["rank[3] is nan"]),
        ({"rank": {3: np.inf}}, ["sum of ranks is inf"]),
        ({"rank": WHEEL_PR.rank[::-1].copy()}, ["one more iteration"]),
        ({"damping": 0.5}, ["one more iteration"]),
        ({"damping": 1.5}, ["damping is 1.5"]),
        ({"damping": "much"}, ["damping is 'much'"]),
        ({"tolerance": 3.0}, ["tolerance is 3.0"]),
        ({"weighted": True}, ["one more iteration"]),
        ({"weighted": None}, ["weighted is None"]),
        ({"personalization": np.arange(7)}, ["one more iteration"]),
        ({"personalization": np.zeros(7)}, ["sum > 0"]),
        ({"personalization": np.ones(6)}, ["personalization has shape (6,)"]),
        ({"rank": WHEEL_PR.rank[:6]}, ["shape (6,)"]),
    ],
)
def test_wrong_ranks_fail(fields: dict[str, Any], words: list[str]) -> None:
    assert fr.verify.pagerank(wheel(), WHEEL_PR)
    expect_failure(fr.verify.pagerank(wheel(), but(WHEEL_PR, **fields)), *words)


def test_weighted_and_personal_ranks() -> None:
    g = fr.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [1.0, 3.0, 0.0, 2.0], directed=True)
    right = pagerank_result(g, weighted=True, personalization=np.array([2, 0, 0, 1]))
    assert fr.verify.pagerank(g, right)
    expect_failure(fr.verify.pagerank(g, but(right, weighted=False)), "one more iteration")
    expect_failure(fr.verify.pagerank(g, but(right, personalization=None)), "one more iteration")
    expect_failure(fr.verify.pagerank(g.with_weights(None), right), "graph has no weights")
    expect_failure(fr.verify.pagerank(g.with_weights([1, 3, -1, 2]), right), "has weight -1")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"centrality": WHEEL_BC.centrality * 2}, ["centrality[4]"]),
        ({"centrality": {4: -1}}, ["centrality[4] is -1.0"]),
        ({"centrality": {4: np.inf}}, ["centrality[4] is inf"]),
        ({"centrality": {4: np.nan}}, ["centrality[4] is nan"]),
        ({"centrality": {5: 1}}, ["vertex 5 cannot be inside a path"]),
        ({"normalized": True}, ["expected"]),
        ({"normalized": "yes"}, ["normalized is 'yes'"]),
        ({"sources": [0, 1]}, ["expected"]),
        ({"sources": [0, 7]}, ["sources has 7, which is not a vertex"]),
        ({"sources": [0.5]}, ["dtype float64"]),
        ({"centrality": WHEEL_BC.centrality[1:]}, ["shape (6,)"]),
    ],
)
def test_wrong_betweenness_fails(fields: dict[str, Any], words: list[str]) -> None:
    assert fr.verify.betweenness(wheel(), WHEEL_BC)
    expect_failure(fr.verify.betweenness(wheel(), but(WHEEL_BC, **fields)), *words)


def test_betweenness_that_is_too_long_to_recompute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The distances give the sum of all centralities."""
    monkeypatch.setattr(centrality, "RECOMPUTE", 2000)
    for g in random_graphs(20, seed=5, min_vertices=70, max_vertices=90):
        right = betweenness_result(g)
        report = fr.verify.bc(g, right)
        assert report, str(report)
        assert "distances - 1" in report.checks[-1].name
        for v in np.flatnonzero(right.centrality)[:1]:
            more = but(right, centrality={v: right.centrality[v] + 1})
            expect_failure(fr.verify.bc(g, more), "the sum of centralities")


def test_some_sources_give_a_lower_bound_of_betweenness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(centrality, "RECOMPUTE", 2000)
    g = fr.from_edges(np.arange(89), np.arange(1, 90))
    right = betweenness_result(g)
    both = right.centrality[44] + right.centrality[30]
    moved = but(right, centrality={44: 1.0, 30: both - 1.0})
    expect_failure(fr.verify.bc(g, moved), "none is less than what 7 of the 90", "centrality[44]")


def test_parallel_edges_are_different_paths() -> None:
    g = fr.from_edges([0, 0, 0, 1, 2], [1, 1, 2, 3, 3], directed=True, duplicates="keep")
    right = Result(centrality=np.array([0, 2 / 3, 1 / 3, 0]), sources=None, normalized=False)
    assert fr.verify.bc(g, right)
    expect_failure(fr.verify.bc(g, but(right, centrality={1: 0.5})), "centrality[1] is 0.5")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"label": {2: 1}}, ["modularity is", "expected"]),
        ({"label": {2: 2}}, ["label[2] is 2, but there are 2 communities"]),
        ({"label": {2: -1}}, ["label[2] is -1"]),
        ({"label": np.zeros(7, int)}, ["count is 2, but no vertex has label 1"]),
        ({"label": [1, 1, 1, 1, 1, 2, 2], "count": 3}, ["no vertex has label 0"]),
        ({"label": WHEEL_COMMUNITIES.label.astype(float)}, ["dtype float64, expected integers"]),
        ({"label": WHEEL_COMMUNITIES.label[:-1]}, ["shape (6,)"]),
        ({"label": np.full(7, 10**12 - 1), "count": 10**12}, ["but there are 7 vertices"]),
        ({"modularity": WHEEL_COMMUNITIES.modularity + 1e-10}, ["modularity is", "expected"]),
        ({"modularity": np.nan}, ["modularity is nan"]),
        ({"resolution": 2.0}, ["modularity is", "expected"]),
        ({"resolution": -1.0}, ["resolution is -1.0"]),
    ],
)
def test_wrong_communities_fail(fields: dict[str, Any], words: list[str]) -> None:
    assert fr.verify.communities(wheel(), WHEEL_COMMUNITIES, tolerance=0)
    assert fr.verify.leiden(wheel(), WHEEL_COMMUNITIES)
    expect_failure(fr.verify.louvain(wheel(), but(WHEEL_COMMUNITIES, **fields)), *words)


def test_communities_that_fall_apart_fail() -> None:
    for g in (wheel(), wheel().with_weights(wheel().weights / 7)):
        whole = communities_result(g, [0] * 7)
        assert fr.verify.communities(g, whole, tolerance=np.inf)
        words = "label[0] and label[5] are both 0, but no path"
        expect_failure(fr.verify.communities(g, whole, connected=True, tolerance=np.inf), words)
    src, dst = [0, 1, 2, 3, 1], [1, 0, 3, 2, 2]
    g = fr.from_edges(src, dst, [1, 1, 1, 1, 0])  # an edge of no weight connects nothing
    whole = Result(label=np.zeros(4, int), count=1, modularity=0.0, resolution=1.0)
    expect_failure(fr.verify.communities(g, whole, connected=True, tolerance=np.inf), "label[0] and label[2]")


@pytest.mark.parametrize("scale", [1, 1 / 7, 2**50, 2**58, 1e-310, 1e300])
def test_a_move_that_is_left_fails(scale: float) -> None:
    g = wheel().with_weights(wheel().weights * scale)
    hub = but(communities_result(wheel(), [0, 0, 0, 0, 2, 1, 1]))
    assert fr.verify.communities(g, hub, tolerance=np.inf)
    expect_failure(fr.verify.communities(g, hub), "moving vertex 4 from community 2 to community 0 gains 0.")
    assert fr.verify.communities(g, hub, tolerance=0.5)
    five = communities_result(wheel(), [0, 0, 0, 0, 0, 1, 1], resolution=5.0)
    expect_failure(fr.verify.communities(g, five), "moving vertex 4 from community 0 to a community of its own")


def test_what_no_communities_are_of() -> None:
    with pytest.raises(fr.GraphError, match="finite"):
        fr.verify.communities(wheel().with_weights(np.full(18, np.inf)), WHEEL_COMMUNITIES)
    with pytest.raises(fr.NegativeWeightError, match="has weight -1"):
        fr.verify.communities(wheel().with_weights(np.full(18, -1)), WHEEL_COMMUNITIES)
    with pytest.raises(fr.GraphError, match="tolerance"):
        fr.verify.communities(wheel(), WHEEL_COMMUNITIES, tolerance=-1)


# -- whatever is given -----------------------------------------------------------------------------

ALL: list[tuple[Callable[..., fr.verify.Report], Result]] = [
    (fr.verify.bfs, WHEEL_BFS),
    (fr.verify.sssp, WHEEL_SSSP),
    (fr.verify.connected_components, WHEEL_CC),
    (fr.verify.pagerank, WHEEL_PR),
    (fr.verify.betweenness, WHEEL_BC),
    (fr.verify.communities, WHEEL_COMMUNITIES),
]
GARBAGE = [None, "x", b"x", {}, {1: 2}, [], [None] * 7, [[1]], np.nan, -1, 2**70, object(), 1j,
           np.zeros((7, 0)), np.zeros(7, dtype="M8[s]"), np.arange(7, dtype="uint64") << 61,
           np.full(7, -128, dtype="int8"), np.ones(7, dtype=bool), np.full(7, np.inf),
           np.full(7, 9, dtype=object)]  # fmt: skip


@pytest.mark.parametrize(("verify", "right"), ALL)
def test_missing_fields_fail(verify: Callable[..., fr.verify.Report], right: Result) -> None:
    for name in vars(right):
        rest = {key: value for key, value in vars(right).items() if key != name}
        expect_failure(verify(wheel(), Result(**rest)), f"no attribute {name!r}")
    expect_failure(verify(wheel(), None), "NoneType")


@pytest.mark.parametrize(("verify", "right"), ALL)
def test_garbage_fails(verify: Callable[..., fr.verify.Report], right: Result) -> None:
    optional = {"parent", "personalization", "sources"}
    for name in vars(right):
        for garbage in GARBAGE:
            if garbage is None and name in optional:
                continue
            expect_failure(verify(wheel(), but(right, **{name: Result(x=garbage)})))
            report = verify(wheel(), Result(**{**vars(right), name: garbage}))
            assert not report, (name, garbage)


@pytest.mark.parametrize("directed", [False, True])
def test_graphs_without_edges_or_vertices(directed: bool) -> None:
    none = fr.from_edges([], [], directed=directed)
    assert fr.verify.cc(none, cc_result(none))
    assert fr.verify.pagerank(none, pagerank_result(none))
    assert fr.verify.bc(none, Result(centrality=[], sources=None, normalized=False))
    nothing = Result(label=np.zeros(0, int), count=0, modularity=0.0, resolution=1.0)
    assert fr.verify.leiden(none, nothing)
    empty = Result(source=0, level=np.zeros(0, dtype=int), parent=None)
    expect_failure(fr.verify.bfs(none, empty), "the graph has no vertices")
    lone = fr.from_edges([], [], num_vertices=3, directed=directed)
    assert fr.verify.bfs(lone, bfs_result(lone, 1))
    assert fr.verify.sssp(lone, sssp_result(lone, 1))
    assert fr.verify.cc(lone, cc_result(lone))
    assert fr.verify.pagerank(lone, pagerank_result(lone))
    assert fr.verify.bc(lone, Result(centrality=np.zeros(3), sources=None, normalized=False))
    assert directed or fr.verify.leiden(lone, Result(label=np.arange(3), count=3, modularity=0.0, resolution=1.0))


def test_a_report_prints() -> None:
    good = fr.verify.bfs(wheel(), WHEEL_BFS)
    assert str(good).startswith("bfs: passed\n  ok ")
    assert good.raise_if_failed() is None
    bad = fr.verify.bfs(wheel(), but(WHEEL_BFS, level={2: 3}))
    assert str(bad).startswith("bfs: FAILED\n")
    with pytest.raises(AssertionError, match=r"bfs: level\[2\] is 3, but edge 1 -> 2 .*level\[1\]"):
        bad.raise_if_failed()
