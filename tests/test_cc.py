"""Connected components: SciPy's, each labelled by its smallest vertex, whatever the method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracles
import pytest
from compare import equal, workers
from conftest import Backend
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graphs

import frontier as fr
from frontier.primitives import cc

METHODS = ["afforest", "hooking"]


def check(g: fr.Graph, method: str = "afforest") -> fr.primitives.cc.ComponentsResult:
    """Compare labels and their number, and ask the verifier."""
    result = fr.connected_components(g, method=method)
    expected = oracles.components(g)
    equal(result.label, expected)
    assert result.count == len(np.unique(expected))
    assert result.label.dtype == g.targets.dtype
    fr.verify.connected_components(g, result).raise_if_failed()
    return result


@pytest.mark.parametrize("method", METHODS)
def test_many_graphs(backend: Backend, method: str) -> None:
    # The python backend takes 1024 samples of the largest component, so fewer graphs are enough for it.
    count, largest = (140, 300) if backend.name != "python" else (40, 40)
    for g in random_graphs(count, seed=41, max_vertices=largest, weights=None, parallel=True):
        check(backend(g), method)


@given(g=graphs(weights=None), method=st.sampled_from(METHODS))
def test_any_graph(backend: Backend, g: fr.Graph, method: str) -> None:
    check(backend(g), method)


@pytest.mark.parametrize("method", METHODS)
def test_several_workers(compiled: Backend, method: str) -> None:
    with workers(3):
        for g in random_graphs(40, seed=42, max_vertices=600, weights=None):
            check(compiled(g), method)


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("method", METHODS)
def test_several_workers_on_a_larger_graph(compiled: Backend, method: str) -> None:
    with workers(2):
        check(compiled(fr.rmat(13, 2, seed=4)), method)


def test_large_graphs_of_short_lists(compiled: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cc, "LARGE", 0)
    used = set()
    with workers(3):
        for g in (fr.grid(40, 30), fr.path(50), *random_graphs(40, seed=43, max_vertices=600, weights=None)):
            used.add(cc._program(compiled(g)))
            check(compiled(g))
    assert cc.AfforestOfShortLists in used or compiled.name != "cpu"


def test_weak_components_of_a_directed_graph(backend: Backend) -> None:
    """Two edges into 3 join it to both: direction does not matter."""
    g = backend(fr.from_edges([0, 1, 4], [3, 3, 5], directed=True, num_vertices=7))
    for method in METHODS:
        result = check(g, method)
        assert result.label.tolist() == [0, 0, 2, 0, 4, 4, 6]
        assert result.count == 4


def test_an_edge_only_seen_from_outside(backend: Backend) -> None:
    """A large component, and a vertex whose only edge comes from that, beyond its sampled edges."""
    n = 40
    src = np.concatenate([np.arange(n - 2), [5]])
    dst = np.concatenate([np.arange(1, n - 1), [n - 1]])
    assert check(backend(fr.from_edges(src, dst, directed=True))).count == 1


@pytest.mark.parametrize("method", METHODS)
def test_special_graphs(backend: Backend, method: str) -> None:
    nothing = check(backend(fr.from_edges([], [], num_vertices=0)), method)
    assert (nothing.label.tolist(), nothing.count) == ([], 0)
    apart = check(backend(fr.from_edges([], [], num_vertices=3)), method)
    assert (apart.label.tolist(), apart.count) == ([0, 1, 2], 3)
    looped = check(backend(fr.from_edges([0, 1, 1], [0, 1, 1], num_vertices=2, duplicates="keep")), method)
    assert looped.count == 2
    assert check(backend(fr.path(300)), method).count == 1
    assert check(backend(fr.star(50)), method).count == 1


def test_weights_do_not_matter(backend: Backend) -> None:
    assert check(backend(fr.from_edges([0, 1], [1, 2], [0.0, -1.0]))).count == 1


@pytest.mark.parametrize("vertex", [0, 2, 4])
def test_a_spoilt_result_fails(backend: Backend, vertex: int) -> None:
    g = backend(fr.from_edges([0, 1, 3], [1, 2, 4]))
    result = check(g)
    label = result.label.copy()
    label[vertex] = {0: 1, 2: 2, 4: 0}[vertex]
    assert not fr.verify.connected_components(g, replace(result, label=label))
    assert not fr.verify.connected_components(g, replace(result, count=3))
