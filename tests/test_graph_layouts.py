"""Layouts: near in the graph is near in the plane, components lie apart, and every run gives the same."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from compare import workers
from conftest import Backend
from scipy.stats import spearmanr

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.primitives._packing import apart

#: 3 triangles in a row, a pair, and two vertices alone.
SEVERAL = fr.from_edges([0, 1, 2, 2, 3, 4, 4, 5, 6, 9], [1, 2, 0, 3, 4, 5, 3, 6, 7, 10], num_vertices=13)


def agreement(g: fr.Graph, position: Any, sources: int = 20) -> float:
    """The rank correlation of distances in a layout and distances in the graph, from some vertices."""
    chosen = np.random.default_rng(0).choice(g.num_vertices, sources, replace=False)
    hops = fr.bfs_many(g, chosen).level
    distance = np.linalg.norm(position[chosen][:, None] - position, axis=2)
    return float(spearmanr(hops[hops > 0], distance[hops > 0]).statistic)


@pytest.mark.parametrize(
    "g", [fr.grid(10, 10), fr.grid(30, 30), fr.grid(60, 25), fr.path(300)], ids=["square", "large", "long", "path"]
)
def test_distances_are_those_of_the_graph(g: fr.Graph) -> None:
    assert agreement(g, fr.layout(g).position) > 0.9
    assert agreement(g, np.random.default_rng(1).random((g.num_vertices, 2))) < 0.1


def test_space_has_room_for_a_cube() -> None:
    x, y, z = np.indices((7, 7, 7)).reshape(3, -1)
    cell = np.arange(343)
    edges = [(cell[k < 6], cell[k < 6] + step) for k, step in ((x, 49), (y, 7), (z, 1))]
    cube = fr.from_edges(*(np.concatenate(ends) for ends in zip(*edges, strict=True)))
    assert agreement(cube, fr.layout(cube, dimensions=3).position) > 0.93
    assert agreement(cube, fr.layout(cube).position) < 0.9


@pytest.mark.parametrize("seed", range(5))
def test_cliques_are_apart(seed: int) -> None:
    first, second = np.triu_indices(12, 1)
    g = fr.from_edges([*first, *(first + 12), 0], [*second, *(second + 12), 12])
    position = fr.layout(g, seed=seed).position
    a, b = position[:12], position[12:]
    spread = max(np.linalg.norm(half - half.mean(axis=0), axis=1).max() for half in (a, b))
    assert np.linalg.norm(a.mean(axis=0) - b.mean(axis=0)) > 1.5 * spread


@pytest.mark.parametrize("dimensions", [2, 3])
def test_what_is_no_grid(dimensions: int) -> None:
    for g in (SEVERAL, fr.karate(), fr.star(300), fr.complete(20), fr.rmat(9, 2, seed=1), fr.urand(9, 1, seed=1)):
        found = fr.layout(g, dimensions=dimensions, iterations=10)
        assert found.position.shape == (g.num_vertices, dimensions)
        fr.verify.layout(g, found).raise_if_failed()


@pytest.mark.parametrize("n", range(4))
def test_few_vertices(backend: Backend, n: int) -> None:
    for g in (fr.from_edges([], [], num_vertices=n), fr.path(n) if n else fr.from_edges([], [])):
        found = fr.layout(backend(g))
        assert found.position.dtype == np.float64
        fr.verify.layout(g, found).raise_if_failed()


def test_backends_and_threads_agree_bit_by_bit(backend: Backend) -> None:
    expected = fr.layout(SEVERAL, iterations=2).position
    np.testing.assert_array_equal(to_host(fr.layout(backend(SEVERAL), iterations=2).position), expected)


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("g", [fr.grid(40, 50), fr.rmat(11, 8, seed=1)], ids=["grid", "rmat"])
def test_numbers_of_threads_do_not_matter(g: fr.Graph, dimensions: int) -> None:
    with workers(1):
        one = fr.layout(g, dimensions=dimensions).position
    with workers(3):
        np.testing.assert_array_equal(fr.layout(g, dimensions=dimensions).position, one)
    assert not np.array_equal(fr.layout(g, dimensions=dimensions, seed=1).position, one)


def test_kinds_of_graphs() -> None:
    g = fr.karate()
    expected = fr.layout(g).position
    once = g.sources < g.targets
    doubled = np.r_[g.sources[once], g.sources[once], 0, 5], np.r_[g.targets[once], g.targets[once], 0, 5]
    same = {
        "directed": fr.from_edges(g.sources[once], g.targets[once], directed=True),
        "parallel and loops": fr.from_edges(*doubled),
        "compressed": g.compressed(),
        "on a disk": g.to("cpu", edges="disk"),
    }
    for name, other in same.items():
        np.testing.assert_array_equal(fr.layout(other).position, expected, err_msg=name)


def test_labels_name_rows() -> None:
    found = fr.layout(fr.from_edges(["ann", "bob"], ["bob", "cid"]))
    assert found.table().keys() == {"vertex", "x", "y"}
    assert found["bob"] == found.position[1, 0] == found.x[1]
    assert found.z is None
    assert fr.layout(fr.path(3), dimensions=3).table().keys() == {"vertex", "x", "y", "z"}


def test_heavy_edges_are_shorter() -> None:
    square = fr.from_edges([0, 1, 2, 3], [1, 2, 3, 0], [9.0, 1.0, 9.0, 1.0])
    x = fr.layout(square, weighted=True).position
    length = np.linalg.norm(x - np.roll(x, -1, axis=0), axis=1)
    assert length[[0, 2]].max() < 0.8 * length[[1, 3]].min()
    equal = fr.layout(square.with_weights(np.zeros(8)), weighted=True).position
    np.testing.assert_array_equal(equal, fr.layout(square).position)
    extreme = fr.layout(fr.from_edges([0, 1], [1, 2], [1e300, 1e-300]), weighted=True).position
    assert np.isfinite(extreme).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dimensions": 4}, "dimensions=4: must be 2 or 3"),
        ({"iterations": 0}, "iterations=0: must be a whole number from 1"),
        ({"weighted": True}, "the graph has no weights"),
    ],
)
def test_wrong_arguments(given: dict[str, Any], words: str) -> None:
    with pytest.raises(fr.GraphError, match=words):
        fr.layout(fr.path(3), **given)


def test_negative_weights_are_refused() -> None:
    with pytest.raises(fr.NegativeWeightError):
        fr.layout(fr.path(3).with_weights([1.0, 1.0, -1.0, -1.0]), weighted=True)


def test_components_in_rings() -> None:
    component = np.repeat(np.arange(200), 4)
    position = np.random.default_rng(1).random((800, 2)) * (1 + component % 7)[:, None]
    found = apart(position, component, 200)
    for c in range(200):
        moved = found[component == c] - position[component == c]
        np.testing.assert_allclose(moved, moved[:1].repeat(4, axis=0), atol=1e-12)
    g = fr.from_edges(np.arange(800), np.arange(800) // 4 * 4)
    assert fr.verify.layout(g, SimpleNamespace(position=found))
    assert not fr.verify.layout(g, SimpleNamespace(position=position))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: x[:, :1], "position has shape (13, 1), expected (13, 2) or (13, 3)"),
        (lambda x: x.astype(int), "position has dtype int64, expected floats"),
        (lambda x: np.where(np.arange(13)[:, None] == 4, np.nan, x), "position[4] is [nan, nan]"),
        (lambda x: x[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 5]], "position[5] and position[12] are both"),
        (lambda x: np.r_[x[:12], x[:1] + 0.01], "the components of"),
    ],
    ids=["shape", "integers", "nan", "twice", "on each other"],
)
def test_wrong_layouts_are_seen(change: Any, words: str) -> None:
    found = fr.layout(SEVERAL)
    assert fr.verify.layout(SEVERAL, found)
    report = fr.verify.layout(SEVERAL, SimpleNamespace(position=change(found.position)))
    assert not report
    assert words in str(report)
