"""Shortest paths: SciPy's distances to the last bit, and parents that the verifier accepts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import oracles
import pytest
from compare import close, equal, workers
from conftest import Backend
from hypothesis import given
from strategies import graphs_with_vertex, random_graphs

import frontier as fr
from frontier.primitives import sssp

DTYPES = ["int32", "int64", "float32", "float64"]
TWO = ("int32", "float64")  # where dtypes are not the point


def check(g: fr.Graph, source: int, **options: Any) -> fr.primitives.sssp.SSSPResult:
    """Search and compare; parents are checked by the verifier."""
    result = fr.sssp(g, source, **options)
    expected = oracles.sssp_distances(g, source)
    equal(result.distance, expected)
    assert result.distance.dtype == expected.dtype
    assert result.source == source
    # Exact: distances are sums in float64 along the path, and every parent gives its child's.
    fr.verify.sssp(g, result, tolerance=0).raise_if_failed()
    return result


def test_many_graphs(backend: Backend) -> None:
    rng = np.random.default_rng(3)
    largest = 200 if backend.name != "python" else 40
    for g in random_graphs(140, seed=31, min_vertices=1, max_vertices=largest, weights=TWO, parallel=True):
        check(backend(g), int(rng.integers(g.num_vertices)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_of_weights(backend: Backend, dtype: str) -> None:
    for g in random_graphs(15, seed=32, min_vertices=1, max_vertices=50, weights=dtype, directed=True):
        check(backend(g), 0)


@given(given_=graphs_with_vertex(weights=TWO))
def test_any_graph(backend: Backend, given_: tuple[fr.Graph, int]) -> None:
    g, source = given_
    check(backend(g), source)


@pytest.mark.parametrize("delta", [1e-20, 0.3, 1, 50, 1e30, np.inf])
def test_delta_changes_no_distance(backend: Backend, delta: float) -> None:
    for g in random_graphs(12, seed=33, min_vertices=1, max_vertices=30, weights=TWO):
        check(backend(g), 0, delta=delta)


def test_delta_below_the_rounding_of_distances(backend: Backend) -> None:
    """The limit must move on although lowest + delta == lowest."""
    g = backend(fr.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [1e6, 1e-3, 0.0, 1e6], directed=True))
    check(g, 0, delta=1e-12)


def test_a_default_delta_far_too_small(backend: Backend) -> None:
    g = backend(fr.from_edges([0, 1, 2], [1, 2, 3], [1e-30, 1e9, 1e9]))
    check(g, 0)


def test_distances_in_float32(backend: Backend) -> None:
    for g in random_graphs(15, seed=36, min_vertices=2, max_vertices=50, weights="float32", directed=True):
        result = fr.sssp(backend(g), 0, dtype="float32")
        assert result.distance.dtype == np.float32
        close(result.distance, oracles.sssp_distances(g, 0), rtol=1e-5)
        fr.verify.sssp(g, result, tolerance=0).raise_if_failed()  # float32 sums, by which every parent is tight


@pytest.mark.unsimulated("sums are not rounded to float32 there")
@pytest.mark.parametrize("directed", [False, True])
def test_weights_that_vanish_in_float32(backend: Backend, directed: bool) -> None:
    far = np.float32(2**26)
    weights = np.array([far, 1, 1, 1], np.float32)
    g = backend(fr.from_edges([0, 1, 2, 3], [1, 2, 3, 1], weights, directed=directed))
    result = fr.sssp(g, 0, dtype="float32")
    equal(result.distance, np.array([0, far, far, far], np.float32))
    fr.verify.sssp(g, result, tolerance=0).raise_if_failed()


def test_a_dtype_that_does_not_exist() -> None:
    with pytest.raises(fr.GraphError, match="dtype='flaot32': there is no such dtype"):
        fr.sssp(fr.karate(weights=(1, 9)), 0, dtype="flaot32")


@pytest.mark.parametrize(("weights", "dtype"), [("float64", "float32"), ("int32", "float32"), ("float32", "int64")])
def test_dtypes_that_do_not_suit_the_weights(weights: str, dtype: str) -> None:
    g = fr.from_edges([0], [1], np.array([2], weights))
    with pytest.raises(fr.GraphError, match=f"dtype={dtype}: distances by weights of {weights}"):
        fr.sssp(g, 0, dtype=dtype)


SLIDING, BY_WEIGHT = fr.Schedule(order="sliding"), fr.Schedule(order="by_weight")


@pytest.mark.parametrize("delta", [1e-20, 0.3, 50, 1e30])
@pytest.mark.parametrize("schedule", [SLIDING, BY_WEIGHT], ids=repr)
@given(given_=graphs_with_vertex(weights=("int32", "float64")))
def test_orders_that_are_chosen_by_the_graph(
    backend: Backend, schedule: fr.Schedule, delta: float, given_: tuple[fr.Graph, int]
) -> None:
    """What runs where lists are short, or sorted by weight, on any graph and backend."""
    g, source = given_
    check(backend(g), source, delta=delta, schedule=schedule)


def test_limits_that_follow_the_wave_stop_anywhere(backend: Backend) -> None:
    g = fr.grid(4, 5, weights=(1, 30), seed=3)
    p = sssp.sssp_problem(backend(g), 7)
    search = sssp.SSSP(p, SLIDING)
    search.run(on_step=lambda e: True)
    pauses = 1
    while search.paused:
        search.resume(on_step=lambda e: True)
        pauses += 1
    assert pauses > 4
    equal(p.distance, oracles.sssp_distances(g, 7))


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(30, seed=34, min_vertices=1, max_vertices=400, weights=TWO):
            check(compiled(g), 0)


@pytest.mark.unsimulated("large graphs")
def test_several_workers_on_a_larger_graph(compiled: Backend) -> None:
    g = fr.grid(60, 80)
    weights = np.random.default_rng(5).random(g.num_slots)
    same = np.minimum(g.sources, g.targets) * g.num_vertices + np.maximum(g.sources, g.targets)
    _, pair = np.unique(same, return_inverse=True)
    with workers(2):
        check(compiled(g).with_weights(weights[pair]), 7)


def test_without_parents(backend: Backend) -> None:
    g = backend(fr.from_edges([0, 1], [1, 2], [2, 3]))
    result = check(g, 0, parents=False)
    assert result.parent is None
    assert result.distance.tolist() == [0, 2, 5]
    with pytest.raises(fr.GraphError, match="parents=True"):
        result.path_to(2)


def test_unreached(backend: Backend) -> None:
    floats = check(backend(fr.from_edges([0], [1], [0.5], num_vertices=3)), 0)
    assert floats.distance.tolist() == [0, 0.5, np.inf]
    assert floats.parent.tolist() == [0, 0, -1]
    whole = check(backend(fr.from_edges([0], [1], np.array([5], np.int32), num_vertices=3)), 0)
    assert whole.distance.tolist() == [0, 5, np.iinfo(np.int64).max]
    assert whole.parent.tolist() == [0, 0, -1]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", TWO)
def test_weights_of_zero_only(backend: Backend, dtype: str, directed: bool) -> None:
    """Every parent is as near as its child, and still they must form a tree."""
    ring = np.arange(30)
    src, dst = np.concatenate([ring, ring]), np.concatenate([(ring + 1) % 30, (ring + 7) % 30])
    g = backend(fr.from_edges(src, dst, np.zeros(60, dtype), directed=directed))
    result = check(g, 4)
    assert not result.distance.any()
    assert all(result.path_to(v)[0] == 4 for v in range(30))


def test_weights_that_vanish_in_rounding(backend: Backend) -> None:
    """1e16 + 1 == 1e16: edges that lead no farther though their weights are positive."""
    g = backend(fr.from_edges([0, 1, 2, 3], [1, 2, 3, 1], [1e16, 1.0, 1.0, 1.0]))
    assert check(g, 0).path_to(2) in ([0, 1, 2], [0, 1, 3, 2])


def test_the_lightest_of_parallel_edges(backend: Backend) -> None:
    g = backend(fr.from_edges([0, 0, 0, 1, 1], [1, 1, 1, 1, 2], [5.0, 2.0, 9.0, 0.0, 1.0], duplicates="keep"))
    assert check(g, 0).distance.tolist() == [0, 2, 3]


def test_integer_distances_beyond_floats(backend: Backend) -> None:
    """2**53 + 1 is no float64: integer distances never pass through one."""
    g = backend(fr.from_edges([0, 1, 0], [1, 2, 2], np.array([2**53, 1, 2**53 + 2]), directed=True))
    assert fr.sssp(g, 0).distance.tolist() == [0, 2**53, 2**53 + 1]


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_integer_distances_do_not_wrap(backend: Backend, dtype: str) -> None:
    g = backend(fr.from_edges([0, 1, 2], [1, 2, 3], np.array([2**62] * 3, dtype)))
    with pytest.raises(fr.GraphError, match="64 bits"):
        fr.sssp(g, 0)


def test_unsigned_weights(backend: Backend) -> None:
    for dtype in ("uint8", "uint64"):
        g = backend(fr.from_edges([0, 1, 0], [1, 2, 2], np.array([200, 100, 255], dtype)))
        assert check(g, 0, parents=dtype == "uint8").distance.tolist() == [0, 200, 255]


def test_small_graphs(backend: Backend) -> None:
    assert check(backend(fr.from_edges([], [], np.zeros(0), num_vertices=1)), 0).parent.tolist() == [0]
    assert check(backend(fr.from_edges([0], [0], [3.0], num_vertices=1)), 0).distance.tolist() == [0]
    apart = check(backend(fr.from_edges([], [], np.zeros(0), num_vertices=3)), 1)
    assert apart.parent.tolist() == [-1, 1, -1]
    with pytest.raises(fr.GraphError, match="no vertices"):
        fr.sssp(backend(fr.from_edges([], [], np.zeros(0), num_vertices=0)), 0)


def test_source_by_label(backend: Backend) -> None:
    g = backend(fr.from_edges(["a", "b"], ["b", "c"], [1.5, 2.0]))
    assert fr.sssp(g, "c").distance[g.vertex_id("a")] == 3.5


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_schedules(backend: Backend, direction: str) -> None:
    for g in random_graphs(10, seed=35, min_vertices=1, max_vertices=30, weights="float64", directed=True):
        check(backend(g), 0, schedule=fr.Schedule(direction=direction))


@pytest.mark.parametrize(
    ("name", "vertex", "value"),
    [("distance", 3, 5), ("distance", 3, 7), ("distance", 0, 1), ("parent", 3, 0), ("parent", 2, -1), ("parent", 2, 2)],
)
def test_a_spoilt_result_fails(backend: Backend, name: str, vertex: int, value: int) -> None:
    g = backend(fr.from_edges([0, 1, 2], [1, 2, 3], np.array([1, 2, 3], np.int32)))
    result = check(g, 0)
    spoilt = getattr(result, name).copy()
    assert spoilt[vertex] != value
    spoilt[vertex] = value
    assert not fr.verify.sssp(g, replace(result, **{name: spoilt}))
