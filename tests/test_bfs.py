"""Breadth-first search: SciPy's levels, and parents that the verifier accepts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import oracles
import pytest
from compare import equal, workers
from conftest import Backend
from hypothesis import given
from strategies import graphs_with_vertex, random_graphs

import frontier as fr

SCHEDULES = [
    fr.Schedule(),
    fr.Schedule(direction="push"),
    fr.Schedule(direction="pull"),
    fr.Schedule(alpha=1e9, beta=1e9),  # turns to pull as soon as it can
]


def check(g: fr.Graph, source: int, **options: Any) -> fr.primitives.bfs.BFSResult:
    """Search and compare; parents are checked by the verifier."""
    result = fr.bfs(g, source, **options)
    equal(result.level, oracles.bfs_levels(g, source))
    assert result.level.dtype == np.int32
    assert result.parent.dtype == g.targets.dtype
    assert result.source == source
    fr.verify.bfs(g, result).raise_if_failed()
    return result


def test_many_graphs(backend: Backend) -> None:
    rng = np.random.default_rng(2)
    largest = 300 if backend.name != "python" else 60
    for g in random_graphs(150, seed=21, min_vertices=1, max_vertices=largest, weights=None, parallel=True):
        check(backend(g), int(rng.integers(g.num_vertices)))


@given(given_=graphs_with_vertex(weights=None))
def test_any_graph(backend: Backend, given_: tuple[fr.Graph, int]) -> None:
    g, source = given_
    check(backend(g), source)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=["auto", "push", "pull", "eager pull"])
def test_every_direction_gives_the_same_levels(backend: Backend, schedule: fr.Schedule) -> None:
    for g in random_graphs(25, seed=22, min_vertices=1, max_vertices=80, weights=None):
        check(backend(g), 0, schedule=schedule)


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
def test_several_workers(compiled: Backend, direction: str) -> None:
    with workers(3):
        for g in random_graphs(30, seed=23, min_vertices=1, max_vertices=600, weights=None):
            check(compiled(g), 0, schedule=fr.Schedule(direction=direction))


@pytest.mark.unsimulated("large graphs")
def test_several_workers_on_a_larger_graph(compiled: Backend) -> None:
    with workers(2):
        check(compiled(fr.rmat(13, 16, seed=3)), 1)


def test_weights_do_not_matter(backend: Backend) -> None:
    g = backend(fr.from_edges([0, 0, 1], [1, 2, 2], [1.0, 9.0, 0.0], num_vertices=3))
    assert check(g, 0).level.tolist() == [0, 1, 1]


def test_direction_of_edges(backend: Backend) -> None:
    edges = ([0, 1, 3], [1, 2, 2])
    forward = check(backend(fr.from_edges(*edges, directed=True)), 0)
    assert forward.level.tolist() == [0, 1, 2, -1]
    assert forward.parent.tolist() == [0, 0, 1, -1]
    both = check(backend(fr.from_edges(*edges)), 0)
    assert both.level.tolist() == [0, 1, 2, 3]
    assert both.parent.tolist() == [0, 0, 1, 2]


def test_one_vertex_and_no_edges(backend: Backend) -> None:
    alone = check(backend(fr.from_edges([], [], num_vertices=1)), 0)
    assert (alone.level.tolist(), alone.parent.tolist()) == ([0], [0])
    looped = check(backend(fr.from_edges([0], [0], num_vertices=1)), 0)
    assert (looped.level.tolist(), looped.parent.tolist()) == ([0], [0])
    apart = check(backend(fr.from_edges([], [], num_vertices=4)), 2)
    assert apart.level.tolist() == [-1, -1, 0, -1]
    assert apart.parent.tolist() == [-1, -1, 2, -1]


def test_no_vertices(backend: Backend) -> None:
    with pytest.raises(fr.GraphError, match="no vertices"):
        fr.bfs(backend(fr.from_edges([], [], num_vertices=0)), 0)


@pytest.mark.unsimulated("a long path")
def test_a_long_path(backend: Backend) -> None:
    g = backend(fr.path(2000))
    equal(check(g, 0).level, np.arange(2000))


def test_source_by_label(backend: Backend) -> None:
    g = backend(fr.from_edges(["a", "b"], ["b", "c"]))
    result = fr.bfs(g, "c")
    assert result.source == g.vertex_id("c")
    assert result.level[g.vertex_id("a")] == 2


def test_a_graph_can_be_searched_again(backend: Backend) -> None:
    g = backend(fr.karate())
    first = [check(g, source) for source in range(g.num_vertices)]
    kept = [result.level.copy() for result in first]
    check(g, 0)
    for result, level in zip(first, kept, strict=True):  # results are the caller's own
        equal(result.level, level)


@pytest.mark.parametrize(
    ("name", "vertex", "value"),
    [("level", 5, 7), ("level", 5, -1), ("parent", 33, 0), ("parent", 5, -1), ("level", 0, 1)],
)
def test_a_spoilt_result_fails(backend: Backend, name: str, vertex: int, value: int) -> None:
    g = backend(fr.karate())
    result = fr.bfs(g, 0)
    spoilt = getattr(result, name).copy()
    assert spoilt[vertex] != value
    spoilt[vertex] = value
    assert not fr.verify.bfs(g, replace(result, **{name: spoilt}))
