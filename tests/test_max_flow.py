"""Maximum flows: SciPy's value, a flow that is one, and a cut of the same capacity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import host, workers
from conftest import Backend
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from strategies import SIMULATED, graphs, random_graphs

import frontier as fr
from frontier.errors import GraphError, NegativeWeightError

GRAPHS: dict[str, Any] = {"weights": "int32", "parallel": True}


def check(g: fr.Graph, source: int, sink: int) -> fr.primitives.max_flow.MaxFlowResult:
    """Flow is kept at all other vertices and within capacities; the cut has the capacity of the value."""
    result = fr.max_flow(g, source, sink)
    n, here = g.num_vertices, g.to("cpu")
    src, dst, capacity = here.sources, here.targets, here.weights
    matrix = csr_array((capacity.astype(np.int32), (src, dst)), shape=(n, n))  # adds up parallel edges
    matrix.setdiag(0)
    assert result.value == maximum_flow(csr_array(matrix), source, sink).flow_value
    flow, cut = host(result.flow), host(result.cut)
    assert ((flow >= 0) & (flow <= capacity)).all()
    gained = np.bincount(dst, flow, n) - np.bincount(src, flow, n)
    expected = np.zeros(n)
    expected[source], expected[sink] = -result.value, result.value
    np.testing.assert_array_equal(gained, expected)
    assert cut[source]
    assert not cut[sink]
    assert capacity[cut[src] & ~cut[dst]].sum() == result.value
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (60, 100) if backend.name != "python" and not SIMULATED else (10, 20)
    for i, g in enumerate(random_graphs(count, seed=91, max_vertices=largest, **GRAPHS)):
        if g.num_vertices > 1:
            source, sink = np.random.default_rng(i).choice(g.num_vertices, 2, replace=False)
            check(backend(g), int(source), int(sink))


@given(g=graphs(min_vertices=2, **GRAPHS), data=st.data())
def test_any_graph(backend: Backend, g: fr.Graph, data: st.DataObject) -> None:
    source, sink = data.draw(st.permutations(range(g.num_vertices)))[:2]
    check(backend(g), source, sink)


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(3 if SIMULATED else 30, seed=92, max_vertices=200, **GRAPHS):
            if g.num_vertices > 1:
                check(compiled(g), 0, g.num_vertices - 1)


def test_special_graphs(backend: Backend) -> None:
    assert check(backend(fr.from_edges([], [], np.zeros(0, np.int64), num_vertices=2)), 0, 1).value == 0
    assert check(backend(fr.path(6, weights=(3, 3))), 0, 5).value == 3
    one_way = fr.from_edges([1, 1, 0, 0], [0, 1, 0, 0], [5, 1, 2, 3], directed=True, duplicates="keep")
    assert check(backend(one_way), 0, 1).value == 0
    assert check(backend(one_way), 1, 0).flow.tolist() == [0, 0, 5, 0]
    parallel = fr.from_edges([0, 0, 0, 1], [1, 1, 1, 2], [1, 2, 4, 5], directed=True, duplicates="keep")
    assert check(backend(parallel), 0, 2).value == 5


def test_a_dead_end(backend: Backend) -> None:
    """What flows into a dead end comes back."""
    g = fr.from_edges([0, 1, 2, 3, 1], [1, 2, 3, 4, 5], [9, 9, 9, 9, 1], directed=True)
    assert check(backend(g), 0, 5).value == 1


def test_large_capacities(backend: Backend) -> None:
    g = fr.from_edges([0, 1, 0], [1, 2, 2], [2**50, 2**49, 7], directed=True)
    assert fr.max_flow(backend(g), 0, 2).value == 2**49 + 7


def test_labels(backend: Backend) -> None:
    g = fr.from_edges(["a", "b"], ["b", "c"], [2, 3])
    assert fr.max_flow(backend(g), "a", "c").value == 2


def test_what_is_refused(backend: Backend) -> None:
    with pytest.raises(GraphError, match="same"):
        fr.max_flow(backend(fr.path(3, weights=(1, 2))), 1, 1)
    with pytest.raises(GraphError, match="capacities"):
        fr.max_flow(backend(fr.path(3)), 0, 1)
    with pytest.raises(GraphError, match="integers"):
        fr.max_flow(backend(fr.from_edges([0], [1], [0.5])), 0, 1)
    with pytest.raises(GraphError, match="64 bits"):
        fr.max_flow(backend(fr.from_edges([0], [1], [2**62])), 0, 1)
    with pytest.raises(NegativeWeightError):
        fr.max_flow(backend(fr.from_edges([0], [1], [-1])), 0, 1)


@pytest.mark.parametrize("place", ["ranks:2", "ranks:3,python", "ranks:4,2x2"])
def test_parts(place: str) -> None:
    for i, g in enumerate(random_graphs(10, seed=94, min_vertices=2, max_vertices=30, **GRAPHS)):
        source, sink = np.random.default_rng(i).choice(g.num_vertices, 2, replace=False)
        check(g.to(place), int(source), int(sink))
    check(fr.grid(4, 9, weights=(1, 9), seed=2).to(place), 0, 35)


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("name", ["grid", "rmat", "small world"])
def test_larger_graphs(compiled: Backend, name: str) -> None:
    g = {
        "grid": lambda: fr.grid(30, 30, weights=(1, 99), seed=1),
        "rmat": lambda: fr.rmat(11, 8, weights=(1, 99), seed=1, directed=True),
        "small world": lambda: fr.small_world(1000, 6, 0.1, weights=(1, 99), seed=1),
    }[name]()
    with workers(2):
        check(compiled(g), int(g.out_degree.argmax()), g.num_vertices // 2)
