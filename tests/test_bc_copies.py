"""Betweenness from many sources at once, in copies of a small graph: the same numbers as one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import oracles
import pytest
from compare import close, equal, workers
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier.graph.copies import copies
from frontier.memory.gpu import GpuMemory
from frontier.primitives import _copies
from frontier.primitives._copies import number_of_copies


@contextmanager
def slots(count: int) -> Iterator[None]:
    """So many vertices and edge slots may all copies have; 0: one source after another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_copies, "SLOTS", count)
        patch.setattr(_copies, "SLOTS_WIDE", count)
        yield


def at_most(g: fr.Graph, count: int) -> int:
    """Slots for so many copies."""
    return count * (g.num_vertices + g.num_slots)


def steps(g: fr.Graph, sources: list[int]) -> list[str]:
    """The steps of a run, as a trace tells them."""
    with fr.trace() as t:
        fr.betweenness(g, sources)
    return [row.step for row in t.rows if not row.step.startswith("compile")]


# -- copies ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_edges", [False, True])
def test_copies_of_a_graph(backend: Backend, in_edges: bool) -> None:
    for g in random_graphs(20, seed=71, max_vertices=9, weights=None):
        there = backend(g)
        found = copies(there, 3, in_edges)
        assert (found.backend, found.directed, found.max_degree) == (there.backend, g.directed, g.max_degree)
        assert ("in_lists" in found._topology.built()) == (in_edges and g.directed)
        shift = np.repeat(np.arange(3), g.num_slots) * g.num_vertices
        src, dst = np.tile(g.sources, 3) + shift, np.tile(g.targets, 3) + shift
        expected = fr.from_edges(src, dst, num_vertices=3 * g.num_vertices, directed=True, duplicates="keep")
        for name in ("offsets", "targets", "in_offsets", "in_sources"):
            equal(getattr(found, name), getattr(expected, name))
            assert getattr(found, name).dtype == np.int32


@pytest.mark.parametrize(
    ("room", "sources", "expected"),
    [
        (100, [0, 1, 2, 3], 4),  # not more than sources
        (39, [4, 0, 1, 2, 3], 3),
        (52, [4, 0, 1, 2, 3], 3),  # four would need two turns as well
        (26, [4, 0, 1, 2, 3], 2),
        (25, [4, 0, 1, 2, 3], 1),
        (0, [0, 1], 1),
        (100, [2], 1),
        (100, [], 1),
        (100, [1, 2, 3, 2], 1),  # a vertex has one turn in a copy
    ],
)
def test_number_of_copies(backend: Backend, room: int, sources: list[int], expected: int) -> None:
    g = backend(fr.star(5))  # 5 vertices, 8 slots
    with slots(room):
        assert number_of_copies(g, np.array(sources, np.int64), 60) == expected


def test_no_copies_of_nothing_and_of_large_graphs(backend: Backend) -> None:
    assert number_of_copies(backend(fr.from_edges([], [])), np.zeros(0, np.int64), 60) == 1
    g = backend(fr.path(1 << 13))
    assert number_of_copies(g, np.arange(4), 60) == (4 if g.placement.massively_parallel else 1)


def test_few_copies_where_a_gpu_is_nearly_full(cuda: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of what is free may be taken; a copy takes 68 bytes for a vertex and 8 for a slot."""
    g = cuda(fr.star(5))
    asked = []
    monkeypatch.setattr(GpuMemory, "free", lambda memory, enough: asked.append((memory, enough)) or 4000)
    sources = np.arange(5)
    assert number_of_copies(g, sources, 60) == 3  # 4 have room: two turns
    assert asked == [(g.placement.memory, 2 * 5 * (5 * 68 + 8 * 8))]
    monkeypatch.setattr(GpuMemory, "free", lambda memory, enough: 0)
    assert number_of_copies(g, sources, 60) == 1


# -- betweenness ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 1000])
def test_the_same_as_one_by_one(backend: Backend, count: int) -> None:
    """In turns of two or three sources, mostly with copies to spare in the last, and in one turn."""
    for g in random_graphs(25, seed=72 + count, max_vertices=20 if backend.name != "python" else 9, weights=None):
        there = backend(g)
        with slots(at_most(g, count)):
            found = fr.betweenness(there)
        with slots(0):
            expected = fr.betweenness(there)
        close(found.centrality, expected.centrality, rtol=1e-9)
        close(found.centrality, oracles.betweenness(g), rtol=1e-9)
        equal(found.sources, expected.sources)
        assert type(found.centrality) is type(expected.centrality) is type(found.sources)


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_directions(compiled: Backend, direction: str) -> None:
    for g in random_graphs(15, seed=73, max_vertices=20, weights=None):
        with slots(at_most(g, 4)):
            found = fr.betweenness(compiled(g), schedule=fr.Schedule(direction=direction))
        close(found.centrality, oracles.betweenness(g), rtol=1e-9)


@pytest.mark.unsimulated("many searches")
def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for directed in (False, True):
            g = fr.rmat(9, 8, seed=4, directed=directed)
            with slots(at_most(g, 7)):
                found = fr.betweenness(compiled(g), 100, seed=2, normalized=True)
            expected = oracles.betweenness(g, found.sources.tolist(), True)
            close(found.centrality, expected, rtol=1e-9)


def test_some_sources(backend: Backend) -> None:
    """Their order is kept, and one that is given twice counts twice."""
    g = backend(fr.karate())
    with slots(at_most(g, 2)):
        found = fr.betweenness(g, [33, 5, 0])
        twice = fr.betweenness(g, [33, 5, 0, 5])
    assert found.sources.tolist() == [33, 5, 0]
    close(found.centrality, oracles.betweenness(g, [33, 5, 0]), rtol=1e-9)
    with slots(0):
        close(twice.centrality, found.centrality + fr.betweenness(g, [5]).centrality, rtol=1e-9)


def test_turns(backend: Backend) -> None:
    """Five sources take two turns of three copies, or five turns."""
    g = backend(fr.path(6))
    with slots(at_most(g, 3)):
        together = steps(g, [0, 1, 2, 3, 4])
    with slots(0):
        alone = steps(g, [0, 1, 2, 3, 4])
    assert (together.count("Filter(begin)"), together.count("Compute(seed)")) == (2, 0)
    assert (alone.count("Filter(begin)"), alone.count("Compute(seed)")) == (0, 5)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_no_edges(backend: Backend, n: int) -> None:
    with slots(3 * n):
        found = fr.betweenness(backend(fr.from_edges([], [], num_vertices=n)), normalized=True)
    assert found.centrality.tolist() == [0.0] * n


@pytest.mark.unsimulated("hundreds of levels")
def test_more_paths_than_a_float_counts(compiled: Backend) -> None:
    """A chain of 215 bundles of 30 edges each has 30**215 ways through; from the middle there are fewer."""
    joint = np.repeat(np.arange(215), 30)
    g = compiled(fr.from_edges(joint, joint + 1, directed=True, duplicates="keep"))
    with slots(at_most(g, 2)):
        assert np.isfinite(fr.betweenness(g, [107, 150]).centrality).all()
        with pytest.raises(fr.FrontierError, match="more shortest paths"):
            fr.betweenness(g, [107, 0])
