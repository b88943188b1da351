"""Maximum flows: SciPy's value, a flow that is one, and a cut of the same capacity."""

from __future__ import annotations

from typing import Any

import networkx as nx
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


def test_fractions_are_exact(backend: Backend) -> None:
    """As eighths, and as integers that do not fit into 64 bits."""
    for i, g in enumerate(random_graphs(10, seed=95, min_vertices=2, max_vertices=30, **GRAPHS)):
        expected = fr.max_flow(g, 0, 1)
        for factor, dtype in ((0.125, "float32"), (2.0**900, "float64"), (2.0**-1070, "float64")):
            scaled = (g.weights.astype(np.float64) * factor).astype(dtype)
            found = fr.max_flow(backend(g.with_weights(scaled)), 0, 1)
            assert isinstance(found.value, float)
            assert found.value == expected.value * factor
            assert host(found.flow).dtype == np.float64
            np.testing.assert_array_equal(host(found.cut), expected.cut)
            if i == 0:
                assert (host(found.flow) / factor % 1 == 0).all()


def test_any_floats(backend: Backend) -> None:
    """NetworkX's value; flow is kept and within capacities; the cut is as much."""
    for i, g in enumerate(random_graphs(10, seed=96, min_vertices=2, max_vertices=30, directed=True, weights=None)):
        g = g.with_weights(np.random.default_rng(i).lognormal(0, 3, g.num_slots))
        result = fr.max_flow(backend(g), 0, 1)
        flow, cut = host(result.flow), host(result.cut)
        assert g.weights is not None
        assert ((flow >= 0) & (flow <= g.weights)).all()
        gained = np.bincount(g.targets, flow, g.num_vertices) - np.bincount(g.sources, flow, g.num_vertices)
        gained[:2] += result.value, -result.value
        scale = 1e-12 * max(g.weights.max(), 1) if g.num_slots else 1
        np.testing.assert_allclose(gained, 0, atol=scale)
        loops = g.sources == g.targets
        full = g.weights[cut[g.sources] & ~cut[g.targets] & ~loops].sum()
        np.testing.assert_allclose(result.value, full, atol=scale)
        known = nx.DiGraph()
        known.add_nodes_from(range(g.num_vertices))
        known.add_weighted_edges_from(zip(g.sources, g.targets, g.weights, strict=True), weight="capacity")
        np.testing.assert_allclose(result.value, nx.maximum_flow_value(known, 0, 1), atol=scale)


def test_floats_beside_large_ones(backend: Backend) -> None:
    """Large ones may stand for infinity, but not on both sides: what is much smaller counts, and the cut stays."""
    src, dst = [0, 0, 1, 2, 1, 3, 3], [1, 2, 3, 3, 2, 4, 0]
    for less, more in (([0.75, 1.5], 1e300), ([1e300, 1e300], 2.0)):  # from the source; to the sink
        g = fr.from_edges(src, dst, [*less, 1e300, 0.5, 0.25, more, 1e300], directed=True)
        result = fr.max_flow(backend(g), 0, 4)
        assert result.value == min(less[0] + 0.5, more)
        assert host(result.cut).tolist() == ([True, False, True, False, False] if more > 2 else [True] * 4 + [False])
    both = fr.from_edges([0, 1, 2], [1, 2, 3], [1e300, 0.5, 1e300], directed=True)
    with pytest.raises(GraphError, match=r"capacities up to 1e\+300 cannot be added"):
        fr.max_flow(backend(both), 0, 3)
    nothing = fr.from_edges([1, 2, 1], [2, 3, 3], [1e300, 1e300, 1e300], num_vertices=4, directed=True)
    result = fr.max_flow(backend(nothing), 0, 3)
    assert result.value == 0
    assert host(result.cut).tolist() == [True, False, False, False]


def test_labels(backend: Backend) -> None:
    g = fr.from_edges(["a", "b"], ["b", "c"], [2, 3])
    assert fr.max_flow(backend(g), "a", "c").value == 2


def test_what_is_refused(backend: Backend) -> None:
    with pytest.raises(GraphError, match="same"):
        fr.max_flow(backend(fr.path(3, weights=(1, 2))), 1, 1)
    with pytest.raises(GraphError, match="capacities"):
        fr.max_flow(backend(fr.path(3)), 0, 1)
    with pytest.raises(GraphError, match="finite"):
        fr.max_flow(backend(fr.from_edges([0], [1], [np.inf])), 0, 1)
    with pytest.raises(GraphError, match="64 bits"):
        fr.max_flow(backend(fr.from_edges([0], [1], [2**62])), 0, 1)
    with pytest.raises(NegativeWeightError):
        fr.max_flow(backend(fr.from_edges([0], [1], [-1])), 0, 1)


@pytest.mark.parametrize("place", ["ranks:2", "ranks:3,python", "ranks:4,2x2"])
def test_parts(place: str) -> None:
    for i, g in enumerate(random_graphs(10, seed=94, min_vertices=2, max_vertices=30, **GRAPHS)):
        source, sink = np.random.default_rng(i).choice(g.num_vertices, 2, replace=False)
        check(g.to(place), int(source), int(sink))
    g = fr.grid(4, 9, weights=(1, 9), seed=2)
    halves = g.with_weights(g.weights / 2)
    assert fr.max_flow(halves.to(place), 0, 35).value == check(g.to(place), 0, 35).value / 2


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
