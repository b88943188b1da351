"""Transitive closure: NetworkX's, and powers of the adjacency matrix."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from compare import equal, workers
from conftest import SIMULATED, Backend
from strategies import random_graphs

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.memory.base import Memory
from frontier.primitives import _closure_pairs
from frontier.primitives.transitive_closure import chosen

METHODS = ("condensation", "warshall", "squaring")


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


def check_pairs(found: Any, sources: Any, targets: Any, size: int = 1 << 24) -> list[int]:
    """Compare all pairs, in their order, and where they lie; returns the lengths of the pieces."""
    pieces = list(found.pairs_in_pieces(size))
    for piece in pieces:
        for ends in piece:
            assert type(ends) is type(found.counts)
            assert ends.dtype == np.int32
        assert 0 < len(piece[0]) <= max(size, int(to_host(found.counts).max()))
    here = [np.stack([to_host(ends) for ends in piece]) for piece in pieces]
    equal(np.concatenate([np.zeros((2, 0), int), *here], axis=1), np.stack([sources, targets]))
    return [piece.shape[1] for piece in here]


def check(g: fr.Graph, there: fr.Graph, method: str, reflexive: bool | None = False) -> Any:
    expected = closed(g, reflexive)
    found = fr.transitive_closure(there, method=method, reflexive=reflexive)
    equal(found.to_dense(), expected)
    equal(found.counts, expected.sum(1))
    assert to_host(found.counts).dtype == np.int64
    assert found.pairs == expected.sum()
    every = np.indices(expected.shape)
    equal(found.reaches(*every), expected)
    check_pairs(found, *np.nonzero(expected))
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
        fr.from_edges(np.arange(70), (np.arange(70) + 1) % 70, directed=True),  # words that are full
    ):
        if not SIMULATED or g.num_vertices < 20:
            check(g, backend(g), method)


def check_sources(g: fr.Graph, there: fr.Graph, sources: Any, reflexive: bool | None = False) -> Any:
    expected = closed(g, reflexive)[sources]
    found = fr.transitive_closure(there, sources=sources, reflexive=reflexive)
    equal(found.sources, sources)
    equal(found.to_dense(), expected)
    equal(found.counts, expected.sum(1))
    assert found.pairs == expected.sum()
    assert len(found.rows) == len(np.unique(found.place[found.place >= 0]))
    which, targets = np.nonzero(expected)
    check_pairs(found, np.asarray(sources, int)[which], targets, size=5)
    for i, v in list(enumerate(sources))[:3]:
        equal(found.row(v), np.flatnonzero(expected[i]))
        equal(found.reaches(v, np.arange(g.num_vertices)), expected[i])
    return found


def test_rows_of_some_sources(backend: Backend) -> None:
    rng, (count, largest) = np.random.default_rng(4), (16, 200) if backend.name != "python" else (5, 20)
    for i, g in enumerate(random_graphs(count, seed=97, max_vertices=largest, parallel=True, weights=None)):
        sources = rng.integers(0, g.num_vertices, rng.integers(0, 2 * largest)) if g.num_vertices else []
        check_sources(g, backend(g), sources, (False, True, None)[i % 3])


@pytest.mark.unsimulated("a larger graph")
def test_a_closure_in_blocks_of_rows(compiled: Backend) -> None:
    """Without cycles, so that there are several words of sources and of components."""
    ends = np.random.default_rng(6).integers(0, 500, (2, 1500))
    ends = ends[:, ends[0] != ends[1]]
    g = fr.from_edges(ends.max(0), ends.min(0), num_vertices=500, directed=True)
    with workers(3):
        blocks = [check_sources(g, compiled(g), block) for block in np.array_split(np.arange(500), 3)]
    assert [block.rows.shape for block in blocks] == [(167, 8), (167, 8), (166, 8)]
    assert sum(block.pairs for block in blocks) == fr.transitive_closure(g).pairs


def test_vertices_that_are_no_sources_have_no_row() -> None:
    g = fr.from_edges([0, 1, 2], [1, 2, 1], directed=True, labels=["a", "b", "c"])
    found = fr.transitive_closure(g, sources=["b"])
    assert found.reaches(["b", "c"], ["c", "c"]).tolist() == [True, True]  # of one component
    for call in (lambda: found.reaches(["b", "a"], "b"), lambda: found.row("a")):
        with pytest.raises(IndexError, match="vertex 'a' has no row"):
            call()


def test_pieces_of_pairs(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole sources in each piece, of which some at a time are made; and components of vertices in several words."""
    monkeypatch.setitem(_closure_pairs._WORDS, "host", 6)
    monkeypatch.setitem(_closure_pairs._WORDS, "device", 6)
    ends = np.array([[0, 70, 130, 5, 7, 139], [70, 130, 0, 0, 5, 8]])  # a cycle, and a path to it
    found = fr.transitive_closure(backend(fr.from_edges(*ends, num_vertices=140, directed=True)))
    expected = np.nonzero(closed(fr.from_edges(*ends, num_vertices=140, directed=True)))
    assert check_pairs(found, *expected) == [17]
    assert check_pairs(found, *expected, size=7) == [6, 7, 4]
    assert check_pairs(found, *expected, size=1) == [3, 3, 4, 3, 3, 1]
    for size in (0, 1.5, "many"):
        with pytest.raises(fr.GraphError, match="size="):
            found.pairs_in_pieces(size)


def test_the_method_is_chosen_by_work() -> None:
    dense = np.triu_indices(100, 1)
    assert fr.transitive_closure(fr.from_edges(*dense, directed=True)).method == "squaring"
    assert fr.transitive_closure(fr.path(1000)).method == "condensation"
    for n in (1 << 10, 1 << 12, 1 << 16, 1 << 20):
        assert chosen(n, n) == chosen(n, 16 * n) == "condensation"
    assert chosen(1 << 10, 1 << 19) == chosen(1 << 11, 1 << 21) == "squaring"
    assert chosen(1 << 12, 1 << 23) == chosen(1 << 13, 1 << 26) == "warshall"
    assert chosen(1 << 16, 1 << 31) == "condensation"  # which is not even cubic
    assert chosen(0, 0) == "condensation"
    assert chosen(1 << 10, 1 << 11) == "condensation"


def test_rows_are_stored_once_for_a_component() -> None:
    g = fr.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=True)
    found = check(g, g, "condensation")
    assert found.rows.shape == (2, 1)
    assert found.size.tolist() == [3, 1]
    assert found.cyclic.tolist() == [True, False]
    assert len(set(found.component[:3].tolist())) == 1


def test_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(fr.karate().placement.memory), "left", lambda *_: (1 << 30, ""))
    g = fr.from_edges([0], [1], num_vertices=1 << 17, directed=True)
    for method in METHODS:
        with pytest.raises(fr.FrontierMemoryError, match=r"as bits: at least [0-9,]+ bytes are needed.*with sources="):
            fr.transitive_closure(g, method=method)
    with pytest.raises(fr.FrontierMemoryError, match="fewer sources would help"):
        fr.transitive_closure(g, sources=range(1 << 16))
    assert fr.transitive_closure(g, sources=range(64)).pairs == 1
    assert issubclass(type(fr.karate().placement.memory), Memory)


def test_wrong_arguments() -> None:
    g = fr.karate()
    for call, words in (
        (lambda: fr.transitive_closure(g, method="magic"), "method='magic'"),
        (lambda: fr.transitive_closure(g, reflexive=2), "reflexive=2"),  # type: ignore[arg-type]
        (lambda: fr.transitive_closure(g, sources=[34]), "34"),
        (lambda: fr.transitive_closure(g, sources=3), "sources=3: a list"),
        (lambda: fr.transitive_closure(g, sources=[3], method="warshall"), "method='warshall' makes all rows"),
    ):
        with pytest.raises(fr.GraphError, match=words):
            call()
    for u in (-1, 34, [0, 34]):
        with pytest.raises(IndexError, match="from 0 to 33"):
            fr.transitive_closure(g).reaches(u, 0)
    for v in (-1, 34):
        with pytest.raises(IndexError, match="from 0 to 33"):
            fr.transitive_closure(g).row(v)


def test_labels() -> None:
    named = fr.transitive_closure(fr.from_edges(["a", "b"], ["b", "c"], directed=True))
    assert named.reaches("a", "c") is True
    assert named.reaches([["a"], ["c"]], ["b", "c"]).tolist() == [[True, True], [False, False]]
    assert named.row("b").tolist() == [2]
    numbered = fr.transitive_closure(fr.from_edges([2, 1], [1, 0], directed=True, labels=True))
    assert (numbered.reaches(2, 0), numbered.reaches(0, 2)) == (True, False)  # not the ids 2 and 0
    for closure, wrong in ((named, "z"), (named, 0), (numbered, 3)):
        with pytest.raises(IndexError, match="the labels are"):
            closure.reaches(wrong, wrong)
    large = fr.transitive_closure(fr.from_edges([2**63], [-1], directed=True, labels=True))
    assert large.reaches([2**63, -1], [-1, 2**63]).tolist() == [True, False]
    with pytest.raises(IndexError, match="from 0 to 33"):
        fr.transitive_closure(fr.karate()).row("a")  # type: ignore[arg-type]


def test_repr() -> None:
    g = fr.path(70)
    found = fr.transitive_closure(g, method="condensation")
    assert repr(found) == "ClosureResult(70 vertices, pairs=4900, method='condensation')"
    assert "rows of 2 sources" in repr(fr.transitive_closure(g, sources=[1, 2]))


@pytest.mark.parametrize("method", METHODS)
def test_parts(method: str) -> None:
    for g in random_graphs(3, seed=98, max_vertices=60, weights=None, parallel=True):
        check(g, g.to("ranks:2"), method)
        if method == "condensation":
            check_sources(g, g.to("ranks:2"), list(range(0, g.num_vertices, 2)))
