"""Colourings in a given order are those of NetworkX; independent sets have the members that they must have."""

from __future__ import annotations

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import equal, host
from conftest import SIMULATED, Backend
from strategies import random_graphs

import frontier as fr


def plain(g: fr.Graph) -> nx.Graph:
    graph = nx.Graph(oracles.networkx_graph(g))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


def some(seed: int) -> list[fr.Graph]:
    count, largest = (3, 8) if SIMULATED else (14, 25)
    return list(random_graphs(count, seed=seed, max_vertices=largest, weights=None, parallel=True))


def test_orders(backend: Backend) -> None:
    rng = np.random.default_rng(1)
    for g in some(31):
        graph, there, order = plain(g), backend(g), rng.integers(0, 9, g.num_vertices)
        vertices = range(g.num_vertices)
        expected = nx.greedy_color(graph, "largest_first")
        equal(fr.color(there, strategy="largest_first").color, [expected[v] for v in vertices])
        by_order = np.argsort(order, kind="stable").tolist()
        expected = nx.greedy_color(graph, lambda _graph, _colors, by_order=by_order: by_order)
        equal(fr.color(there, order=order).color, [expected[v] for v in vertices])
        found = fr.color(there, strategy="smallest_last")
        color = host(found.color)
        assert all(color[u] != color[v] for u, v in graph.edges)
        assert found.count <= max(nx.core_number(graph).values(), default=-1) + 1


def test_given_members(backend: Backend) -> None:
    for g in some(32):
        graph = plain(g)
        members = nx.maximal_independent_set(graph, seed=1) if len(graph) else []
        for count in {0, 1, 3, len(members)}:
            result = fr.maximal_independent_set(backend(g), members[:count], seed=2)
            mask = host(result.mask)
            assert all(mask[v] for v in members[:count])
            assert not any(mask[u] and mask[v] for u, v in graph.edges)
            assert all(mask[v] or any(mask[u] for u in graph[v]) for v in graph)
            assert result.count == mask.sum()


def test_wrong_arguments() -> None:
    g = fr.from_edges(["a", "b"], ["b", "c"])
    for call, words in (
        (lambda: fr.color(g, strategy="any"), "strategy='any'"),
        (lambda: fr.color(g, order=[1]), "an integer for each of the 3"),
        (lambda: fr.color(g, order=[0.5, 1, 2]), "an integer for each of the 3"),
        (lambda: fr.maximal_independent_set(g, ["a", "b"]), "is a neighbour of another one"),
        (lambda: fr.maximal_independent_set(g, ["z"]), "'z'"),
    ):
        with pytest.raises(fr.GraphError, match=words):
            call()
    assert fr.maximal_independent_set(g.to("python"), ["b"]).members == ["b"]


@pytest.mark.skipif(SIMULATED, reason="no kernels are in it")
def test_parts() -> None:
    g = fr.rmat(6, 4, seed=1)
    for where in ("ranks:2", "ranks:3,python"):
        there = g.to(where)
        for strategy in ("largest_first", "smallest_last"):
            equal(fr.color(there, strategy=strategy).color, fr.color(g, strategy=strategy).color)
        equal(fr.maximal_independent_set(there, [3]).mask, fr.maximal_independent_set(g, [3]).mask)
