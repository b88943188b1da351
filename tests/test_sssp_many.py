"""Shortest paths from many sources: SciPy's distances from each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import oracles
import pytest
from compare import equal, workers
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.primitives import _nearest_each, sssp_many
from frontier.primitives._nearest_each import distances_from_each


def check(g: fr.Graph, sources: Any = None) -> None:
    result = fr.sssp_many(g, sources)
    ids = np.arange(g.num_vertices) if sources is None else np.asarray(sources, np.int64)
    equal(result.source, ids)
    assert result.distance.shape == (len(ids), g.num_vertices)
    for distance, source in zip(to_host(result.distance), ids, strict=True):
        equal(distance, oracles.sssp_distances(g, int(source)))


def test_all_pairs(backend: Backend) -> None:
    count, largest = (16, 40) if backend.name != "python" else (6, 12)
    with mock.patch.object(sssp_many, "SIZES", (8,)):  # the last group is smaller
        for g in random_graphs(count, seed=171, max_vertices=largest, weights=("int32", "float64"), parallel=True):
            check(backend(g))


def test_searches_one_by_one(backend: Backend) -> None:
    """What takes over on deep graphs, here from the second round on, in groups of few sources."""
    if backend.name not in ("python", "cpu"):
        pytest.skip("for processors")
    count, largest = (16, 40) if backend.name != "python" else (6, 12)
    few = mock.patch.object(sssp_many, "SIZES", (8,))
    with few, mock.patch.object(sssp_many, "AGAIN", 0), mock.patch.object(_nearest_each, "ROOM", 1000):
        for g in random_graphs(count, seed=172, max_vertices=largest, weights=("int32", "float64"), parallel=True):
            check(backend(g))
        with workers(3):
            check(backend(fr.grid(3, 3, weights=(0, 9), seed=3)), [4, 0, 4, 7])


def test_deep_graphs_take_searches_one_by_one() -> None:
    """On a path each of 128 sources arrives at another time; rounds would compute all of their distances each time."""
    g = fr.path(400, weights=(1, 9), seed=1)
    at = fr.sssp(g, 0).distance
    with mock.patch.object(sssp_many, "distances_from_each", wraps=distances_from_each) as took_over:
        equal(fr.sssp_many(g).distance, abs(at[:, None] - at))
        assert took_over.called
        took_over.reset_mock()
        fr.sssp_many(fr.rmat(8, 8, weights=(1, 9), seed=1))
        assert not took_over.called


@pytest.mark.parametrize("find", [fr.sssp_many, fr.bfs_many])
def test_more_memory_than_there_is(find: Callable[[fr.Graph], Any]) -> None:
    with pytest.raises(fr.FrontierMemoryError, match="from 1,000,000 sources"):
        find(fr.path(1_000_000, weights=(1, 1)))


def test_sources_more_than_once(backend: Backend) -> None:
    g = backend(fr.path(4, weights=(1, 9), seed=1))
    check(g, [2, 0, 2])
    check(g, [])


def test_labels_and_integers_that_are_not_reached(backend: Backend) -> None:
    g = backend(fr.from_edges(["a", "c"], ["b", "c"], [3, 0], directed=True))
    found = fr.sssp_many(g, ["a"])
    assert to_host(found.distance).tolist() == [[0, 3, oracles.UNREACHED]]


def test_parts() -> None:
    g = fr.rmat(5, 4, seed=1, weights=(1, 9))
    equal(np.asarray(fr.sssp_many(g.to("ranks:3"), [4]).distance), fr.sssp_many(g, [4]).distance)


def test_what_is_refused() -> None:
    with pytest.raises(fr.GraphError, match="need weights"):
        fr.sssp_many(fr.path(3))
    with pytest.raises(fr.NegativeWeightError):
        fr.sssp_many(fr.from_edges([0], [1], [-1.0]))
    with pytest.raises(fr.GraphError, match="64 bits"):
        fr.sssp_many(fr.from_edges([0], [1], [2**62]))
    with pytest.raises(fr.GraphError, match="vertex"):
        fr.sssp_many(fr.path(3, weights=(1, 2)), [3])


def test_all_pairs_without_weights(backend: Backend) -> None:
    g = backend(fr.rmat(4, 3, directed=True, seed=1))
    equal(fr.bfs_many(g).level, [oracles.bfs_levels(g, v) for v in range(16)])
