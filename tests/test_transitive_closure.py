"""Transitive closure: NetworkX's, and powers of the adjacency matrix."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from compare import equal, workers
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier.memory import detection
from frontier.memory.arrays import to_host
from frontier.memory.base import Memory

METHODS = ("auto", "warshall", "squaring")


def closed(g: fr.Graph, reflexive: bool | None = False) -> np.ndarray:
    """By squaring a dense matrix."""
    n = g.num_vertices
    made = np.zeros((n, n), bool)
    made[to_host(g.sources), to_host(g.targets)] = True
    for _ in range(n.bit_length() + 1):
        made |= (made.astype(np.float32) @ made) > 0
    if reflexive:
        np.fill_diagonal(made, True)
    elif reflexive is None:  # the self-loops that there are
        np.fill_diagonal(made, np.bincount(to_host(g.sources[g.sources == g.targets]), minlength=n) > 0)
    return made


def check(g: fr.Graph, there: fr.Graph, method: str, reflexive: bool | None = False) -> Any:
    expected = closed(g, reflexive)
    found = fr.transitive_closure(there, method=method, reflexive=reflexive)
    equal(found.to_dense(), expected)
    equal(found.counts, expected.sum(1))
    assert to_host(found.counts).dtype == np.int64
    assert found.pairs == expected.sum()
    every = np.indices(expected.shape)
    equal(found.reaches(*every), expected)
    pairs = [np.stack(piece) for piece in found.pairs_in_pieces()]
    equal(np.concatenate([np.zeros((2, 0), int), *pairs], axis=1), np.array(np.nonzero(expected)))
    for v in range(0, g.num_vertices, 7):
        equal(found.row(v), np.flatnonzero(expected[v]))
        assert found.reaches(v, 0) is bool(expected[v, 0])
    return found


@pytest.mark.parametrize("method", METHODS)
def test_many_graphs(backend: Backend, method: str) -> None:
    count, largest = (20, 150) if backend.name != "python" else (6, 20)
    for i, g in enumerate(random_graphs(count, seed=95, max_vertices=largest, parallel=True, weights=None)):
        check(g, backend(g), method, (False, True, None)[i % 3])


@pytest.mark.unsimulated("a larger graph")
@pytest.mark.parametrize("method", METHODS)
def test_a_larger_graph_and_several_workers(compiled: Backend, method: str) -> None:
    g = fr.urand(9, 1.5, directed=True, seed=2)
    with workers(3):
        check(g, compiled(g), method)


@pytest.mark.unsimulated("a larger graph")
def test_rows_without_cycles(compiled: Backend) -> None:
    """Many successors that others reach, and rows of several words."""
    ends = np.random.default_rng(3).integers(0, 300, (2, 4000))
    ends = ends[:, ends[0] != ends[1]]
    g = fr.from_edges(ends.max(0), ends.min(0), num_vertices=300, directed=True)
    with workers(3):
        found = check(g, compiled(g), "condensation")
    assert found.rows.shape == (300, 5)


@pytest.mark.parametrize("reflexive", [False, True, None])
def test_networkx_agrees(reflexive: bool | None) -> None:
    plain = fr.urand(5, 1.2, directed=True, seed=7)
    ends = [np.append(plain.sources, [3, 31, 0, 1]), np.append(plain.targets, [3, 31, 1, 0])]  # self-loops and a cycle
    g = fr.from_edges(*ends, num_vertices=32, directed=True, duplicates="first")
    assert (np.diag(closed(g, None)) != np.diag(closed(g))).any()
    expected = nx.transitive_closure(nx.DiGraph(g.to_networkx()), reflexive=reflexive)
    found = fr.transitive_closure(g, reflexive=reflexive)
    equal(found.to_dense(), nx.to_numpy_array(expected, nodelist=range(32)) > 0)


@pytest.mark.parametrize("method", METHODS)
def test_special_graphs(backend: Backend, method: str) -> None:
    for g in (
        fr.from_edges([], [], num_vertices=0),
        fr.from_edges([], [], num_vertices=3),
        fr.from_edges([0, 1], [0, 0], num_vertices=3, directed=True),
        fr.path(5),
        fr.from_edges(np.arange(69), np.arange(1, 70), directed=True),  # more than a word, as many levels as vertices
    ):
        if not detection.simulated() or g.num_vertices < 20:
            check(g, backend(g), method)


def test_rows_are_stored_once_for_a_component() -> None:
    g = fr.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=True)
    found = check(g, g, "condensation")
    assert found.rows.shape == (2, 1)
    assert found.size.tolist() == [3, 1]
    assert found.cyclic.tolist() == [True, False]
    assert len(set(found.component[:3].tolist())) == 1


def test_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(fr.karate().placement.memory), "left", lambda *_: (1 << 30, ""))
    for method in METHODS:
        with pytest.raises(fr.FrontierMemoryError, match=r"as bits: at least [0-9,]+ bytes are needed"):
            fr.transitive_closure(fr.from_edges([0], [1], num_vertices=1 << 17, directed=True), method=method)
    assert issubclass(type(fr.karate().placement.memory), Memory)


def test_wrong_arguments() -> None:
    g = fr.karate()
    for call, words in (
        (lambda: fr.transitive_closure(g, method="magic"), "method='magic'"),
        (lambda: fr.transitive_closure(g, reflexive=2), "reflexive=2"),  # type: ignore[arg-type]
    ):
        with pytest.raises(fr.GraphError, match=words):
            call()
    for u in (-1, 34, [0, 34]):
        with pytest.raises(IndexError, match="from 0 to 33"):
            fr.transitive_closure(g).reaches(u, 0)
    for v in (-1, 34):
        with pytest.raises(IndexError, match="from 0 to 33"):
            fr.transitive_closure(g).row(v)


@pytest.mark.parametrize("method", METHODS)
def test_parts(method: str) -> None:
    for g in random_graphs(3, seed=98, max_vertices=60, weights=None, parallel=True):
        check(g, g.to("ranks:2"), method)
