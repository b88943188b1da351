"""The verifiers pass every right result and fail every wrong one.

Right results are the oracles'; wrong ones are these, spoilt in one place.
"""

from __future__ import annotations

from typing import Any

import ldbc
import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close
from hypothesis import given
from hypothesis import strategies as st
from results import Result, betweenness_result, bfs_result, but, cc_result, expect_failure, pagerank_result, sssp_result
from strategies import WEIGHTS, frontiers, graphs, graphs_with_vertex, random_graphs

import frontier as fr
from frontier.verify import centrality, edges

FAR = oracles.UNREACHED


# -- right results ---------------------------------------------------------------------------------


def test_right_results_of_many_graphs_pass() -> None:
    rng = np.random.default_rng(1)
    for g in random_graphs(150, seed=1, min_vertices=1, max_vertices=60):
        source = int(rng.integers(g.num_vertices))
        assert fr.verify.bfs(g, bfs_result(g, source))
        assert fr.verify.cc(g, cc_result(g))
        assert fr.verify.pagerank(g, pagerank_result(g, weighted=g.weights is not None))
        if g.num_vertices <= 30:
            assert fr.verify.bc(g, betweenness_result(g))
        if g.weights is None or g.weights.dtype.kind == "i" or g.weights.dtype == np.float64:
            assert fr.verify.sssp(g, sssp_result(g, source))


@given(graphs_with_vertex())
def test_right_paths_pass_and_without_parents_too(given_: tuple[fr.Graph, int]) -> None:
    g, source = given_
    levels = bfs_result(g, source)
    fr.verify.bfs(g, levels).raise_if_failed()
    fr.verify.bfs(g, but(levels, parent=None)).raise_if_failed()
    distance = oracles.sssp_distances(g, source)
    fr.verify.sssp(g, Result(source=source, distance=distance, parent=None)).raise_if_failed()


@given(graphs())
def test_right_components_and_ranks_pass(g: fr.Graph) -> None:
    fr.verify.connected_components(g, cc_result(g)).raise_if_failed()
    fr.verify.pagerank(g, pagerank_result(g)).raise_if_failed()


@given(graphs(parallel=False, max_vertices=10), st.data())
def test_right_betweenness_passes(g: fr.Graph, data: st.DataObject) -> None:
    vertices = st.integers(0, max(g.num_vertices - 1, 0))
    some = data.draw(st.none() | st.lists(vertices, unique=True, max_size=g.num_vertices))
    result = betweenness_result(g, some, normalized=data.draw(st.booleans()))
    fr.verify.betweenness(g, result).raise_if_failed()


def test_distances_rounded_to_float32_pass() -> None:
    for g in random_graphs(30, seed=2, min_vertices=1, weights="float32"):
        distance = oracles.sssp_distances(g, 0).astype(np.float32)
        fr.verify.sssp(g, Result(source=0, distance=distance, parent=None)).raise_if_failed()


def test_weights_of_zero_in_a_circle_pass() -> None:
    g = fr.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 1, 4], [5, 0, 0, 0, 1], directed=True)
    result = sssp_result(g, 0)
    assert result.distance.tolist() == [0, 5, 5, 5, 6]
    assert fr.verify.sssp(g, result)
    assert fr.verify.sssp(g, but(result, parent=None))


def test_distances_near_the_end_of_int64_do_not_wrap() -> None:
    big = 2**62
    g = fr.from_edges([0, 1, 0], [1, 2, 2], np.array([big, big, big]), directed=True)
    result = Result(source=0, distance=np.array([0, big, big]), parent=np.array([0, 0, 0]))
    assert fr.verify.sssp(g, result)


def test_edges_are_walked_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edges.edge_blocks, "__defaults__", (5,))
    monkeypatch.setattr(centrality, "BATCH", 50)
    for g in random_graphs(20, seed=3, min_vertices=1, max_vertices=20, weights="int32"):
        assert fr.verify.bfs(g, bfs_result(g, 0))
        assert fr.verify.sssp(g, but(sssp_result(g, 0), parent=None))
        assert fr.verify.cc(g, cc_result(g))
        assert fr.verify.pagerank(g, pagerank_result(g, weighted=True))
        assert fr.verify.bc(g, betweenness_result(g))


@pytest.mark.parametrize("algorithm", ["bfs", "sssp", "wcc"])
def test_answers_of_ldbc_pass(data_dir: Any, algorithm: str) -> None:
    for case in ldbc.cases(data_dir, algorithm):
        g, expected = case.graph, case.expected
        assert len(expected) == g.num_vertices > 0
        if algorithm == "wcc":
            label = np.array([g.vertex_id(x) for x in expected])
            report = fr.verify.cc(g, Result(label=label, count=len(set(label.tolist()))))
        elif algorithm == "bfs":
            source = g.vertex_id(case.source)
            report = fr.verify.bfs(g, Result(source=source, level=expected, parent=None))
        else:
            source = g.vertex_id(case.source)
            report = fr.verify.sssp(g, Result(source=source, distance=expected, parent=None))
        report.raise_if_failed()


def test_oracle_of_pagerank_agrees_with_ldbc(data_dir: Any) -> None:
    for case in ldbc.cases(data_dir, "pr"):
        rank = oracles.pagerank(case.graph, iterations=case.iterations)
        close(rank, case.expected, rtol=ldbc.RELATIVE)


# -- the oracles against each other ----------------------------------------------------------------


def test_scipy_and_networkx_agree() -> None:
    for g in random_graphs(40, seed=4, min_vertices=1, max_vertices=25):
        graph = oracles.networkx_graph(g)
        level = nx.single_source_shortest_path_length(graph, 0)
        assert [level.get(v, -1) for v in graph] == oracles.bfs_levels(g, 0).tolist()
        distance = nx.single_source_dijkstra_path_length(graph, 0)
        far = np.inf if g.weights is not None and g.weights.dtype.kind == "f" else FAR
        found = oracles.sssp_distances(g, 0)
        close(found, [distance.get(v, far) for v in graph], rtol=1e-6)
        pieces = list(nx.connected_components(graph.to_undirected()))
        assert sorted(min(piece) for piece in pieces) == np.unique(oracles.components(g)).tolist()
        ranks = nx.pagerank(graph, tol=1e-12, max_iter=1000, weight=None)
        close(oracles.pagerank(g), [ranks[v] for v in graph], atol=1e-10)


def test_random_graphs_are_of_all_kinds_and_come_again() -> None:
    seen: set[str] = set()
    for g, again in zip(*(random_graphs(100, seed=6, parallel=True) for _ in "ab"), strict=True):
        assert g.targets.tolist() == again.targets.tolist()
        slots = list(zip(g.sources.tolist(), g.targets.tolist(), strict=True))
        kinds = {
            "no vertex": g.num_vertices == 0,
            "one vertex": g.num_vertices == 1,
            "no edge": g.num_slots == 0 < g.num_vertices,
            "directed": g.directed,
            "undirected": not g.directed,
            "self-loop": any(u == v for u, v in slots),
            "parallel": len(set(slots)) < len(slots),
            "pieces": len(np.unique(oracles.components(g))) > 1,
            "one piece": len(np.unique(oracles.components(g))) == 1,
            "star": g.num_slots > 20 and max(g.out_degree) >= g.num_vertices // 2,
            "long": g.num_vertices > 40 and max(oracles.bfs_levels(g, 0)) > 10,
            "weight 0": g.min_weight == 0,
            f"weights {None if g.weights is None else g.weights.dtype}": True,
        }
        seen |= {kind for kind, there in kinds.items() if there}
    assert seen == set(list(kinds)[:-1]) | {f"weights {dtype}" for dtype in WEIGHTS}


@given(graphs(), st.sampled_from(["vertex", "edge"]), st.data())
def test_frontiers_are_of_the_graph(g: fr.Graph, kind: str, data: st.DataObject) -> None:
    frontier = data.draw(frontiers(g, kind))
    size = g.num_vertices if kind == "vertex" else g.num_slots
    assert frontier.kind == kind
    assert set(frontier.ids.tolist()) <= set(range(size))


# -- wrong results: one spoilt entry ---------------------------------------------------------------


@given(graphs_with_vertex(min_vertices=2), st.data())
def test_any_other_level_fails(given_: tuple[fr.Graph, int], data: st.DataObject) -> None:
    g, source = given_
    right = bfs_result(g, source)
    v = data.draw(st.integers(0, g.num_vertices - 1))
    wrong = data.draw(st.integers(-3, g.num_vertices + 1).filter(lambda x: x != right.level[v]))
    spoilt = but(right, level={v: wrong})
    expect_failure(fr.verify.bfs(g, spoilt))
    expect_failure(fr.verify.bfs(g, but(spoilt, parent=None)))


@given(graphs_with_vertex(min_vertices=2, weights=(None, "int64")), st.data())
def test_any_other_distance_fails(given_: tuple[fr.Graph, int], data: st.DataObject) -> None:
    g, source = given_
    right = sssp_result(g, source)
    v = data.draw(st.integers(0, g.num_vertices - 1))
    off = data.draw(st.sampled_from([-5, -1, 1, 7]))
    wrong = 3 if right.distance[v] == FAR else right.distance[v] + off
    spoilt = but(right, distance={v: wrong})
    expect_failure(fr.verify.sssp(g, spoilt))
    expect_failure(fr.verify.sssp(g, but(spoilt, parent=None)))


@given(graphs_with_vertex(min_vertices=2), st.data())
def test_any_parent_that_is_none_fails(given_: tuple[fr.Graph, int], data: st.DataObject) -> None:
    g, source = given_
    right = bfs_result(g, source)
    v = data.draw(st.integers(0, g.num_vertices - 1))
    in_level = {int(u) for u in g.in_sources[g.in_offsets[v] : g.in_offsets[v + 1]]}
    allowed = {u for u in in_level if right.level[u] == right.level[v] - 1 and right.level[u] >= 0}
    allowed = {source} if v == source else allowed or {-1}
    wrong = data.draw(st.integers(-2, g.num_vertices).filter(lambda u: u not in allowed))
    expect_failure(fr.verify.bfs(g, but(right, parent={v: wrong})))


@given(graphs(min_vertices=2), st.data())
def test_any_other_component_fails(g: fr.Graph, data: st.DataObject) -> None:
    right = cc_result(g)
    v = data.draw(st.integers(0, g.num_vertices - 1))
    spoilt = but(right, label={v: data.draw(st.integers(-1, g.num_vertices))})
    if (spoilt.label != right.label).any():
        count = len(np.unique(spoilt.label))
        expect_failure(fr.verify.cc(g, but(spoilt, count=count)))
    expect_failure(fr.verify.cc(g, but(right, count=right.count + 1)), "count is")


@given(graphs(min_vertices=2, max_vertices=10), st.data())
def test_any_other_rank_fails(g: fr.Graph, data: st.DataObject) -> None:
    right = pagerank_result(g)
    u, v = data.draw(st.permutations(range(g.num_vertices)))[:2]
    expect_failure(fr.verify.pagerank(g, but(right, rank={v: right.rank[v] + 1e-6})), "sum")
    moved = {u: right.rank[u] + 1e-6, v: right.rank[v] - 1e-6}
    expect_failure(fr.verify.pagerank(g, but(right, rank=moved)), "one more iteration")


@given(graphs(min_vertices=2, max_vertices=10, parallel=False), st.data())
def test_any_other_centrality_fails(g: fr.Graph, data: st.DataObject) -> None:
    right = betweenness_result(g)
    v = data.draw(st.integers(0, g.num_vertices - 1))
    wrong = right.centrality[v] * (1 + 1e-6) if right.centrality[v] else 1e-6
    expect_failure(fr.verify.bc(g, but(right, centrality={v: wrong})))
