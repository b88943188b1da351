"""Maximal independent sets: their definition, and the greedy algorithm by the same ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import equal, host, workers
from conftest import Backend
from hypothesis import given
from strategies import SIMULATED, graphs, random_graphs

import frontier as fr


def check(g: fr.Graph, seed: int = 0) -> fr.primitives.maximal_independent_set.IndependentSetResult:
    """No edge is inside the set, and every other vertex has a neighbour in it."""
    result = fr.maximal_independent_set(g, seed=seed)
    mask, here = host(result.mask), g.to("cpu")
    assert (mask.dtype, mask.shape, int(mask.sum())) == (np.bool_, (g.num_vertices,), result.count)
    proper = here.sources != here.targets
    src, dst = here.sources[proper], here.targets[proper]
    assert not (mask[src] & mask[dst]).any()
    beside = mask.copy()
    beside[dst[mask[src]]] = True
    beside[src[mask[dst]]] = True  # of directed graphs
    assert beside.all()
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (100, 200) if backend.name != "python" and not SIMULATED else (20, 40)
    for i, g in enumerate(random_graphs(count, seed=83, max_vertices=largest, weights=None, parallel=True)):
        check(backend(g), seed=i)


@given(g=graphs(weights=None))
def test_any_graph(backend: Backend, g: fr.Graph) -> None:
    check(backend(g))


def test_the_same_set_on_all_backends(backend: Backend) -> None:
    g = fr.grid(6, 6)
    expected = fr.maximal_independent_set(g, seed=5)
    with workers(3):
        equal(fr.maximal_independent_set(backend(g), seed=5).mask, expected.mask)
    assert (host(fr.maximal_independent_set(backend(g), seed=6).mask) != expected.mask).any()


def test_special_graphs(backend: Backend) -> None:
    assert check(backend(fr.from_edges([], [], num_vertices=0))).count == 0
    assert check(backend(fr.from_edges([], [], num_vertices=3))).count == 3
    assert check(backend(fr.from_edges([0, 0, 0], [0, 0, 1], duplicates="keep"))).count == 1
    assert check(backend(fr.complete(7))).count == 1
    assert check(backend(fr.star(9))).mask.tolist().count(True) == 8  # low degrees come first
    directed = check(backend(fr.from_edges([0, 1], [1, 2], directed=True)))
    assert directed.count in (1, 2)


def test_parts() -> None:
    g = fr.rmat(7, 4, seed=3)
    equal(check(g.to("ranks:2")).mask, check(g).mask)


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("name", ["email-Enron", "ego-Twitter"])
def test_real_graphs(compiled: Backend, real_graph: Any, name: str) -> None:
    with workers(2):
        check(compiled(real_graph(name)))


def test_graphs_made_in_parts() -> None:
    expected = fr.maximal_independent_set(fr.rmat(7, 8, seed=5)).mask
    equal(np.asarray(fr.maximal_independent_set(fr.rmat(7, 8, seed=5, placement="ranks:3")).mask), expected)
