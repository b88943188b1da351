"""Breadth-first searches from many sources: SciPy's levels from each."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import equal, workers
from conftest import SIMULATED, Backend
from strategies import random_graphs

import frontier as fr
from frontier.errors import GraphError

#: Parts: threads of this process, in a row and in a grid.
PLACES = ["ranks:2", "ranks:3,python", "ranks:4,2x2"]


def check(g: fr.Graph, sources: Any) -> None:
    result = fr.bfs_many(g, sources)
    assert result.level.dtype == np.int32
    assert result.level.shape == (len(sources), g.num_vertices)
    equal(result.source, np.asarray(sources, np.int64))
    for level, source in zip(result.level, sources, strict=True):
        equal(level, oracles.bfs_levels(g, int(source)))


def test_many_graphs(backend: Backend) -> None:
    count, largest = (30, 150) if backend.name != "python" else (8, 30)
    for g in random_graphs(count, seed=161, max_vertices=largest, weights=None, parallel=True):
        check(backend(g), np.arange(g.num_vertices))


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in random_graphs(8, seed=162, min_vertices=1, max_vertices=200, weights=None):
            check(compiled(g), np.arange(g.num_vertices))


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_directions(backend: Backend, direction: str) -> None:
    g = backend(fr.rmat(4, 3, directed=True, seed=1))
    found = fr.bfs_many(g, [3, 5], schedule=fr.Schedule(direction=direction))
    equal(found.level, [oracles.bfs_levels(g, v) for v in (3, 5)])


@pytest.mark.parametrize("count", [63, 64, 65, 128])
def test_words(backend: Backend, count: int) -> None:
    """The last bit of a word is its sign."""
    check(backend(fr.star(count + 1) if SIMULATED else fr.path(count + 1)), np.arange(count)[::-1])


def test_special_graphs(backend: Backend) -> None:
    check(backend(fr.from_edges([], [], num_vertices=0)), [])
    check(backend(fr.path(3)), [])
    check(backend(fr.from_edges([], [], num_vertices=3)), [2, 0])
    check(backend(fr.from_edges([0, 0, 0], [0, 1, 1], duplicates="keep", directed=True)), [1, 0, 1])


def test_labels() -> None:
    result = fr.bfs_many(fr.from_networkx(nx.path_graph(["anna", "ben", "carl"])), ["carl", "anna"])
    equal(result.level, [[2, 1, 0], [0, 1, 2]])


def test_refused() -> None:
    with pytest.raises(GraphError, match="9"):
        fr.bfs_many(fr.path(3), [0, 9])


@pytest.mark.parametrize("place", PLACES)
def test_parts(place: str) -> None:
    """More searches than a word has bits, one of them in its sign."""
    for g in random_graphs(6, seed=184, min_vertices=1, max_vertices=90, weights=None, parallel=True):
        check(g.to(place), np.arange(g.num_vertices)[::-1])


@pytest.mark.unsimulated("large graphs")
def test_a_real_graph(compiled: Backend, real_graph: Any) -> None:
    check(compiled(real_graph("email-Enron")), np.arange(0, 1000, 10))
