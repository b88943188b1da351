"""Searches from several sources, to a depth or a distance, to a target; and predecessors on all shortest paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import equal, host
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier.graph.graph import Graph

FAR = 10**6  # from where on a level is none


def some_graphs(backend: Backend, seed: int, weights: Any = None) -> Iterator[tuple[Graph, list[int], int]]:
    """Graphs with two sources, which may be the same, and a target, which may be one of them."""
    count, largest = (10, 60) if backend.name != "python" else (8, 15)
    rng = np.random.default_rng(seed)
    for g in random_graphs(count, seed=seed, min_vertices=1, max_vertices=largest, weights=weights, parallel=True):
        *sources, target = rng.integers(g.num_vertices, size=3).tolist()
        yield g, sources, target


def test_levels(backend: Backend) -> None:
    for g, sources, target in some_graphs(backend, 311):
        level = np.min([np.where(each < 0, FAR, each) for each in (oracles.bfs_levels(g, v) for v in sources)], axis=0)
        there = backend(g)
        for depth in (None, 0, 2):
            for end in (None, target):
                result = fr.bfs(there, sources, max_depth=depth, target=end)
                last = FAR - 1 if depth is None else depth
                if end is not None and level[end] <= last:
                    last = int(level[end])
                    assert result.max_depth == last
                    assert (len(result.path), result.path[-1], result.path[0] in sources) == (last + 1, end, True)
                elif end is not None:
                    assert (result.path, result.max_depth) == ([], depth)
                equal(result.level, np.where(level <= last, level, -1).astype(np.int32))
                fr.verify.bfs(there, result).raise_if_failed()


@pytest.mark.parametrize("dtype", ["int32", "float64", "float32"])
def test_distances(backend: Backend, dtype: str) -> None:
    for g, sources, target in some_graphs(backend, 312, dtype):
        distance = np.min([oracles.sssp_distances(g, v) for v in sources], axis=0)
        far, there = np.inf if dtype[0] == "f" else oracles.UNREACHED, backend(g)
        middle = float(np.median(distance[distance < far]))
        for cutoff in (None, 0, middle, np.inf):
            for end in (None, target):
                result = fr.sssp(there, sources, cutoff=cutoff, target=end, delta=None if cutoff else 7)
                last = FAR**2 if cutoff is None else cutoff
                if end is not None and distance[end] <= last and distance[end] < far:
                    last = distance[end]
                    assert result.cutoff == last
                    assert (result.path[-1], result.path[0] in sources) == (end, True)
                elif end is not None:
                    assert result.path == []
                equal(result.distance, np.where(distance <= last, distance, far))
                fr.verify.sssp(there, result, tolerance=0).raise_if_failed()


def test_distances_and_parents_in_one_word() -> None:
    g = fr.grid(4, 4, weights=(1, 9), seed=2)
    g = g.with_weights(g.weights.astype(np.float32)).to("python")
    result = fr.sssp(g, [0, 5], dtype="float32", parents=False)
    assert (result.distance.dtype, result.parent) == (np.float32, None)
    equal(result.distance, fr.sssp(g, [0, 5]).distance)
    result = fr.sssp(g, 0, target=15, dtype="float32")
    assert result.parent.flags.c_contiguous
    fr.verify.sssp(g, result).raise_if_failed()


def test_zero_weights_make_no_cycle(backend: Backend) -> None:
    ring = np.arange(12)
    g = backend(fr.from_edges(ring, (ring + 1) % 12, np.zeros(12)))
    for options in ({"target": 6}, {"cutoff": 0}):
        result = fr.sssp(g, 0, **options)
        assert all(result.path_to(v)[0] == 0 for v in range(12))


def test_predecessors(backend: Backend) -> None:
    for g, (source, _), _ in some_graphs(backend, 313, "int32"):
        there, other = backend(g), oracles.networkx_graph(g)
        expected = {v: sorted(each) for v, each in nx.predecessor(other, source).items()}
        assert fr.predecessors(there, fr.bfs(there, source)).to_dict() == expected
        expected = {v: sorted(each) for v, each in nx.predecessor(other, source, cutoff=2).items()}
        assert fr.predecessors(there, fr.bfs(there, source, max_depth=2)).to_dict() == expected
        before, _ = nx.dijkstra_predecessor_and_distance(other, source)
        found = fr.predecessors(there, fr.sssp(there, source))
        assert found.to_dict() == {v: sorted(each) for v, each in before.items()}
        assert list(found) == sorted(before)
        assert len(found) == len(before)
        assert all((v in found) == (v in before) for v in range(g.num_vertices))


def test_predecessors_by_name() -> None:
    g = fr.from_edges(["a", "a", "b", "c"], ["b", "c", "d", "d"], [1, 2, 3, 2], directed=True).to("python")
    found = fr.predecessors(g, fr.sssp(g, "a"))
    assert found["d"] == ["b", "c"]
    assert found.table()["predecessor"].tolist() == ["a", "a", "b", "c"]
    assert fr.predecessors(g, fr.sssp(g, "d"))["a"] == []
    with pytest.raises(fr.GraphError, match=r"needs the result of fr.bfs, fr.sssp or fr.bellman_ford"):
        fr.predecessors(fr.path(9), fr.bfs(g, "a"))
    with pytest.raises(fr.GraphError, match="the graph has no weights"):
        fr.predecessors(g.with_weights(None), fr.sssp(g, "a"))


def test_names() -> None:
    g = fr.from_edges(["ann", "bob", "cid"], ["bob", "cid", "dan"], [5, 2, 1]).to("python")
    assert fr.bfs(g, "ann", target="cid").path == fr.sssp(g, "ann", target="cid").path == ["ann", "bob", "cid"]
    assert fr.bfs(g, ["ann", "dan"]).source.tolist() == [0, 3]
    assert fr.sssp(g, ("ann", "dan"))["cid"] == 1
    grid = fr.from_networkx(nx.grid_2d_graph(3, 3)).to("python")  # whose labels are tuples
    assert fr.bfs(grid, (0, 0))[2, 2] == 4
    assert fr.bfs(grid, [(0, 0), (2, 2)])[1, 1] == 2
    assert fr.bfs(grid, (0, 0), target=(0, 2)).path == [(0, 0), (0, 1), (0, 2)]


def test_what_is_refused() -> None:
    g = fr.karate(weights=(1, 9)).to("python")
    for search in (fr.bfs, fr.sssp):
        with pytest.raises(fr.GraphError, match="source holds no vertex"):
            search(g, [])
        with pytest.raises(fr.GraphError, match="no vertex 34"):
            search(g, 0, target=34)
        with pytest.raises(fr.GraphError, match="there is no target"):
            _ = search(g, 0).path
    for depth in (-1, 1.5, np.inf, "many"):
        with pytest.raises(fr.GraphError, match="a whole number of levels"):
            fr.bfs(g, 0, max_depth=depth)
    for cutoff in (-1, np.nan, "far"):
        with pytest.raises(fr.GraphError, match="it must not be negative"):
            fr.sssp(g, 0, cutoff=cutoff)
    with pytest.raises(fr.GraphError, match="parents=True"):
        _ = fr.sssp(g, 0, target=3, parents=False).path
    with pytest.raises(fr.GraphError, match="need weights"):
        fr.sssp(fr.path(3), [0, 1])


def test_parts() -> None:
    g = fr.rmat(6, 3, seed=3, weights=(1, 9), directed=True)
    there, here = g.to("ranks:3"), g.to("python")
    for options in ({}, {"max_depth": 2}, {"target": 9}):
        equal(fr.bfs(there, [1, 40], **options).level, fr.bfs(here, [1, 40], **options).level)
    for options in ({}, {"cutoff": 9}, {"target": 9}):
        found, expected = (fr.sssp(place, [1, 40], **options) for place in (there, here))
        equal(found.distance, expected.distance)
        fr.verify.sssp(g, found).raise_if_failed()
        assert fr.predecessors(there, found).to_dict() == fr.predecessors(here, expected).to_dict()


def test_wrong_results_fail() -> None:
    g = fr.path(5, weights=(2, 2)).to("python")
    level, parent = np.array([0, 1, 2, -1, -1]), np.array([0, 0, 1, -1, -1])
    assert fr.verify.bfs(g, fr.primitives.bfs.BFSResult(0, level, parent, None, 2))
    assert not fr.verify.bfs(g, fr.primitives.bfs.BFSResult(0, level, parent))
    assert not fr.verify.bfs(g, fr.primitives.bfs.BFSResult(0, level, parent, None, 3))
    assert "beyond the limit" in str(fr.verify.bfs(g, fr.primitives.bfs.BFSResult(0, level, parent, None, 1)))
    distance = np.where(level < 0, oracles.UNREACHED, 2 * level)
    make = fr.primitives.sssp.SSSPResult
    assert fr.verify.sssp(g, make(0, distance, parent, None, 5))
    assert not fr.verify.sssp(g, make(0, distance, parent, None, 6))
    assert not fr.verify.sssp(g, make(0, distance, parent, None, 3))
    assert not fr.verify.sssp(g, make(np.array([0, 4]), distance, parent, None, 5))


def test_a_plain_search_runs_the_plain_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is new is not compiled, nor tested for, by whoever does not ask for it."""
    for module, names in ((fr.primitives.bfs, ("BFSTo", "BFSWithin")), (fr.primitives._limited_paths, ("search",))):
        for name in names:
            monkeypatch.setattr(module, name, None)
    g = fr.karate(weights=(1, 9)).to("python")
    assert host(fr.bfs(g, 0).level).max() == 3
    assert fr.sssp(g, 0).target is None
