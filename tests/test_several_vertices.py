"""Several vertices given to a primitive: as frontiers, masks, sets and labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import Backend

import frontier as fr
from frontier.graph.several import vertex_ids
from frontier.memory.arrays import to_host

WEIGHTED = fr.karate(weights=(1, 9), seed=1)

TAKERS: list[Callable[[fr.Graph, Any], Any]] = [
    lambda g, given: fr.bfs_many(g, given).source,
    lambda g, given: fr.sssp_many(g, given).source,
    lambda g, given: fr.bfs(g.to("python"), given).source,
    lambda g, given: fr.sssp(g.to("python"), given).source,
    lambda g, given: fr.transitive_closure(g, sources=given).sources,
    lambda g, given: fr.betweenness(g, given).sources,
    lambda g, given: fr.random_walks(g, given, length=0).path[:, 0],
]


@pytest.mark.parametrize("take", TAKERS)
def test_sources(take: Callable[[fr.Graph, Any], Any]) -> None:
    mask = np.zeros(34, bool)
    mask[[2, 30]] = True
    for given in ([2, 30], (2, 30), {2, 30}, range(2, 31, 28), iter([2, 30]), mask, fr.Frontier(WEIGHTED, mask)):
        assert to_host(take(WEIGHTED, given)).tolist() == [2, 30]
    assert to_host(take(WEIGHTED, np.array([30, 2]))).tolist() == [30, 2]
    for given, words in (
        (mask[:5], "a mask of 5 bools, but there are 34"),
        (fr.Frontier.all(WEIGHTED, kind="edge"), "one of edges"),
        ([2, 34], "no vertex 34: vertices are 0 to 33"),
        (np.array([2, -1]), "no vertex -1"),
        ([2, True], "no vertex True"),
        (np.eye(2, dtype=int), "one dimension"),
    ):
        with pytest.raises(fr.GraphError, match=words):
            take(WEIGHTED, given)


def test_a_frontier_of_another_graph() -> None:
    with pytest.raises(fr.FrontierError, match="different graphs"):
        fr.bfs_many(fr.karate(), fr.Frontier(fr.karate(), [1]))


def test_seeds() -> None:
    g = fr.karate()
    expected = fr.personalized_pagerank(g, [2, 30]).rank
    mask = np.isin(np.arange(34), [2, 30])
    for seeds in ({2, 30}, mask, fr.Frontier(g, mask)):
        np.testing.assert_allclose(fr.personalized_pagerank(g, seeds).rank, expected)
        np.testing.assert_allclose(fr.personalized_pagerank(g, [seeds, [5]]).rank[0], expected)
    for centrality in (fr.closeness, fr.harmonic):
        found = centrality(g, sources=fr.Frontier(g, mask)).centrality
        np.testing.assert_allclose(found, centrality(g, sources=[2, 30]).centrality)


def test_labels() -> None:
    g = fr.from_edges(["a", "b", ("c", 1)], ["b", ("c", 1), "a"])
    assert vertex_ids(g, ["b", ("c", 1)], "sources").tolist() == [1, 2]
    assert vertex_ids(g, np.array(["b", "a"]), "sources").tolist() == [1, 0]
    assert vertex_ids(g, np.array([True, False, True]), "sources").tolist() == [0, 2]
    numbers = fr.from_edges([7, 0], [0, 1], labels=True)
    assert vertex_ids(numbers, np.array([0, 7]), "sources").tolist() == [1, 0]
    with pytest.raises(fr.GraphError, match=r"sources='b': a list of vertices, as \['b'\]"):
        fr.bfs_many(g, "b")


def test_a_bool_is_no_vertex() -> None:
    for wrong in (True, np.True_):
        with pytest.raises(fr.GraphError, match="no vertex True"):
            fr.bfs(fr.karate(), wrong)


def test_arrays_where_the_graph_lies(backend: Backend) -> None:
    g = backend(fr.karate())
    moved = g.placement.memory.moved
    assert vertex_ids(g, moved(np.array([3, 1])), "sources").tolist() == [3, 1]
    assert vertex_ids(g, fr.Frontier(g, [1, 3]), "sources").tolist() == [1, 3]
    assert vertex_ids(g, moved(np.arange(34) == 4), "sources").tolist() == [4]
