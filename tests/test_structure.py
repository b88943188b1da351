"""Biconnected components, condensations, onion layers, and cores as graphs: those of NetworkX."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import equal, host, workers
from conftest import SIMULATED, Backend
from strategies import random_graphs

import frontier as fr

BLOCKS, ONION, CONDENSED = fr.biconnected_components, fr.onion_layers, fr.condensation


def plain(g: fr.Graph) -> nx.Graph:
    """Without self-loops, which NetworkX refuses, or puts into the components of its neighbours."""
    graph = nx.Graph(oracles.networkx_graph(g))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


def some(directed: bool, seed: int, count: int = 12, largest: int = 25) -> list[fr.Graph]:
    if SIMULATED:
        count, largest = 3, 8
    return list(random_graphs(count, seed=seed, max_vertices=largest, parallel=True, directed=directed))


def check_blocks(g: fr.Graph) -> None:
    result, graph = fr.biconnected_components(g), plain(g)
    assert sorted(map(sorted, result.components)) == sorted(map(sorted, nx.biconnected_components(graph)))
    expected = [{tuple(sorted(edge)) for edge in part} for part in nx.biconnected_component_edges(graph)]
    found = [set(part) for part in result.edge_components]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))
    for vertices, edges in zip(result.components, found, strict=True):
        assert set(vertices) == {v for edge in edges for v in edge}
    src, dst, label = host(g.sources), host(g.targets), host(result.label)
    equal(label == -1, src == dst)
    assert result.count == len(expected) == max(label.max(initial=-1) + 1, 0)


def check_onion(g: fr.Graph) -> None:
    result, graph = fr.onion_layers(g), plain(g)
    expected, cores = nx.onion_layers(graph), nx.core_number(graph)
    equal(result.layer, [expected[v] for v in range(g.num_vertices)])
    equal(result.core, [cores[v] for v in range(g.num_vertices)])
    assert result.count == max(expected.values(), default=0)


def check_condensation(g: fr.Graph) -> None:
    result, expected = fr.condensation(g), nx.condensation(oracles.networkx_graph(g))
    assert sorted(map(sorted, result.members)) == sorted(sorted(expected.nodes[c]["members"]) for c in expected)
    src, dst = host(result.graph.sources), host(result.graph.targets)
    assert (src > dst).all()
    label = host(result.label)
    pairs = {(label[u], label[v]) for u, v in zip(host(g.sources), host(g.targets), strict=True)}
    assert set(zip(src, dst, strict=True)) == {(a, b) for a, b in pairs if a != b}
    assert result.graph.num_vertices == result.count == len(expected)
    equal(result.graph.vertices["size"], list(map(len, result.members)))
    weights = np.ones(g.num_slots) if g.weights is None else host(g.weights)
    crossing = weights[label[host(g.sources)] != label[host(g.targets)]]
    np.testing.assert_allclose(host(result.graph.weights).sum(), crossing.sum(dtype=np.float64), rtol=1e-5)


def test_blocks(backend: Backend) -> None:
    for g in some(False, 11):
        check_blocks(backend(g))


def test_onion(backend: Backend) -> None:
    for g in some(False, 12):
        check_onion(backend(g))


def test_condensations() -> None:
    """Made of programs and arrays that are tested on all backends."""
    for g in some(True, 13):
        check_condensation(g.to("python"))


@pytest.mark.unsimulated("several larger graphs")
def test_many_graphs(compiled: Backend) -> None:
    with workers(3):
        for directed, check in ((False, check_blocks), (False, check_onion), (True, check_condensation)):
            for g in some(directed, 14, 80, 150):
                check(compiled(g))


def test_cores_as_graphs() -> None:
    for g in some(False, 15):
        cores, graph = fr.core_numbers(g.to("python")), plain(g)
        assert cores.degeneracy == max(nx.core_number(graph).values(), default=0)
        for k in (None, 1, 2) if g.num_vertices else ():
            for found, expected in ((cores.subgraph(k), nx.k_core(graph, k)), (cores.shell(k), nx.k_shell(graph, k))):
                equal(found.vertices["original"], sorted(expected))
                assert edges(plain(found)) == edges(nx.convert_node_labels_to_integers(expected, ordering="sorted"))
        truss = nx.convert_node_labels_to_integers(nx.k_truss(graph, 3), ordering="sorted")
        assert edges(plain(fr.k_truss(g.to("python"), 3).subgraph())) == edges(truss)


def edges(graph: nx.Graph) -> set[tuple[int, int]]:
    return {tuple(sorted(edge)) for edge in graph.edges}


def test_names() -> None:
    g = fr.from_edges(list("abcd"), list("bcae")).to("python")
    assert fr.biconnected_components(g).components == [["a", "b", "c"], ["d", "e"]]
    assert fr.biconnected_components(g).edge_components == [[("a", "b"), ("a", "c"), ("b", "c")], [("d", "e")]]
    assert fr.biconnected_components(g)["b", "c"] == fr.biconnected_components(g)["a", "b"]
    ring = fr.from_edges(list("abcx"), list("bcaa"), directed=True).to("python")
    assert fr.condensation(ring).members == [["a", "b", "c"], ["x"]]
    assert fr.condensation(ring)["x"] == 1
    assert fr.core_numbers(g).subgraph().labels.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(("call", "words"), [(BLOCKS, "undirected graphs"), (CONDENSED, "needs a directed graph")])
def test_wrong_graphs(call: Any, words: str) -> None:
    with pytest.raises(fr.GraphError, match=words):
        call(fr.path(3) if call is CONDENSED else fr.from_edges([0], [1], directed=True))


@pytest.mark.skipif(SIMULATED, reason="no kernels are in it")
def test_parts() -> None:
    g = fr.rmat(6, 2, seed=3)
    d = fr.rmat(6, 1, seed=3, directed=True)
    for where in ("ranks:2", "ranks:3,python"):
        equal(BLOCKS(g.to(where)).label, BLOCKS(g).label)
        equal(ONION(g.to(where)).layer, ONION(g).layer)
        equal(CONDENSED(d.to(where)).label, CONDENSED(d).label)


def test_condensations_on_a_gpu(cuda: Backend) -> None:
    for g in some(True, 16):
        check_condensation(cuda(g))
