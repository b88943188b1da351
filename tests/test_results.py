"""What results offer, and shipped primitives as building blocks: subclassed, called within a loop, chained."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close, equal
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.primitives.bfs import BFS, bfs_problem
from frontier.primitives.sssp import SSSP, sssp_problem

# -- what results offer ----------------------------------------------------------------------------------


def is_path(g: fr.Graph, path: list[int]) -> bool:
    edges = set(zip(g.sources.tolist(), g.targets.tolist(), strict=True))
    return all(edge in edges for edge in itertools.pairwise(path))


def test_path_to(backend: Backend) -> None:
    for g in random_graphs(8, seed=71, min_vertices=2, max_vertices=30, weights="int32"):
        g = backend(g)
        hops, lengths = fr.bfs(g, 1), fr.sssp(g, 1)
        for v in range(g.num_vertices):
            path = hops.path_to(v)
            if hops.level[v] < 0:
                assert path == lengths.path_to(v) == []
                continue
            assert (path[0], path[-1], len(path)) == (1, v, hops.level[v] + 1)
            assert is_path(g, path)
            assert is_path(g, lengths.path_to(v))
            assert length(g, lengths.path_to(v)) == lengths.distance[v]


def length(g: fr.Graph, path: list[int]) -> int:
    assert g.weights is not None
    return sum(int(g.weights[(g.sources == u) & (g.targets == v)].min()) for u, v in itertools.pairwise(path))


def test_path_to_special_vertices(backend: Backend) -> None:
    result = fr.bfs(backend(fr.path(3)), 1)
    assert result.path_to(1) == [1]
    assert all(type(v) is int for v in result.path_to(2))
    for wrong in (-1, 3):
        with pytest.raises(fr.GraphError, match=rf"no vertex {wrong}: vertices are 0 to 2"):
            result.path_to(wrong)


def test_path_to_by_label(backend: Backend) -> None:
    g = backend(fr.from_edges(["a", "b", "x"], ["b", "c", "x"], [1, 2, 3]))
    for result in (fr.bfs(g, "a"), fr.sssp(g, "a")):
        assert result.path_to("c") == ["a", "b", "c"]
        assert result.path_to("x") == []
        assert result.path_to("a") == ["a"]
        assert result.source == 0
        with pytest.raises(fr.GraphError, match=r"there is no vertex 'y': the labels are strings, 'a', 'b'"):
            result.path_to("y")
        assert "names" not in repr(result)
    numbered = fr.bfs(backend(fr.from_edges([70, 80], [80, 90], labels=True)), 70)
    assert numbered.path_to(90) == [70, 80, 90]
    assert all(type(v) is int for v in numbered.path_to(90))
    with pytest.raises(fr.GraphError, match="there is no vertex 1"):
        numbered.path_to(1)


def test_sizes(backend: Backend) -> None:
    g = backend(fr.from_edges([0, 2, 3, 4], [1, 3, 4, 2], num_vertices=7))
    sizes = fr.connected_components(g).sizes()
    assert list(sizes.items()) == [(2, 3), (0, 2), (5, 1), (6, 1)]
    assert fr.connected_components(backend(fr.from_edges([], [], num_vertices=0))).sizes() == {}


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_top(backend: Backend) -> None:
    g = backend(fr.star(6))
    result = fr.pagerank(g)
    top = result.top(3)
    assert [v for v, _ in top] == [0, 1, 2]  # equal ranks by vertex
    assert top[0] == (0, float(result.rank[0]))
    assert len(result.top()) == 6
    assert result.top(0) == []


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_results_are_frozen(backend: Backend) -> None:
    g = backend(fr.from_edges([0, 1], [1, 2], [1.0, 2.0]))
    results: list[tuple[Any, str]] = [
        (fr.bfs(g, 0), "level"),
        (fr.sssp(g, 0), "distance"),
        (fr.connected_components(g), "label"),
        (fr.pagerank(g), "rank"),
        (fr.betweenness(g), "centrality"),
    ]
    for result, name in results:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(result, name, None)
        assert isinstance(getattr(result, name), fr.Placement.parse(backend.name).memory.xp.ndarray)


# -- a shipped enactor with another functor ----------------------------------------------------------------


def visit_cheap(p, src, dst, weight):
    """As BFS does, but over light edges only."""
    if weight <= p.limit and fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.level[dst] = p.depth
        return True
    return False


def unvisited(p, dst):
    return p.parent[dst] == -1


class CheapBFS(BFS):
    """Breadth-first search over edges that weigh at most ``limit``."""

    loop = fr.Loop(fr.Advance(visit_cheap, where=unvisited, unique="claimed"), over="source", count="depth")


def test_a_subclass_with_another_functor(backend: Backend) -> None:
    for g in random_graphs(20, seed=72, min_vertices=1, max_vertices=60, weights="int32", directed=True):
        p = fr.Problem(
            backend(g),
            parent=fr.vertex("int32", -1),
            level=fr.vertex("int32", -1),
            depth=fr.scalar("int32"),
            source=fr.scalar("int32", 0),
            limit=fr.scalar("int32", 2),
        )
        p.parent[0] = p.level[0] = 0
        assert CheapBFS(p).run() is p
        light = g.weights <= 2
        lighter = fr.from_edges(g.sources[light], g.targets[light], num_vertices=g.num_vertices, directed=True)
        equal(p.level, oracles.bfs_levels(lighter, 0))


def relax_bottleneck(p, src, dst, weight):
    """The heaviest edge of the way counts, not their sum."""
    new = max(p.distance[src], weight)
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


def with_relax(step: fr.Loop | Any, fn: Any) -> Any:
    """The same loop with another functor in its Advance."""
    if isinstance(step, fr.Advance):
        return fr.Advance(fn)
    if isinstance(step, fr.Loop):
        inner = [with_relax(part, fn) for part in step.steps]
        return fr.Loop(*inner, over=step.over, take=step.take, times=step.times, count=step.count,
                       order=step.order)  # fmt: skip
    return step


def test_bottleneck_paths_from_sssp(backend: Backend) -> None:
    """Minimax paths: as shortest paths, but for one functor. Kruskal's spanning tree has them too."""

    class Bottleneck(SSSP):
        loop = with_relax(SSSP.loop, relax_bottleneck)

    for g in random_graphs(12, seed=73, min_vertices=2, max_vertices=40, weights="float64", directed=False):
        p = sssp_problem(backend(g), 0)
        Bottleneck(p).run()
        tree = nx.minimum_spanning_tree(oracles.networkx_graph(g))
        expected = np.full(g.num_vertices, np.inf)
        for v, path in nx.single_source_shortest_path(tree, 0).items():
            expected[v] = max((tree[a][b]["weight"] for a, b in itertools.pairwise(path)), default=0)
        equal(p.distance, expected)


# -- one inside a loop of one's own, and one after another -------------------------------------------------


@pytest.mark.unsimulated("many searches")
def test_a_primitive_inside_an_own_loop(backend: Backend) -> None:
    """The eccentricity of every vertex by as many searches."""
    g = backend(fr.karate())
    found = [int(fr.bfs(g, source).level.max()) for source in range(g.num_vertices)]
    assert found == list(nx.eccentricity(nx.karate_club_graph()).values())


def test_an_enactor_reused_inside_an_own_loop(backend: Backend) -> None:
    """One problem, cleared for every source: the multi-source search that ends where all are reached."""
    g = backend(fr.karate())
    p = bfs_problem(g, 0)
    enactor = BFS(p)
    for source in (0, 33, 16, 0):
        p.parent, p.level, p.depth, p.source = -1, -1, 0, source
        p.parent[source], p.level[source] = source, 0
        enactor.run()
        equal(p.level, oracles.bfs_levels(g, source))


def test_a_shipped_loop_as_a_step(backend: Backend) -> None:
    """BFS's loop is a step like any other: here it runs from one unvisited vertex after another."""

    def pick(p, v):
        return v if p.parent[v] == -1 else p.n

    def plant(p, v):
        p.parent[v] = v
        p.level[v] = 0
        return 1

    def zero(p):
        return 0

    def missing(p, v):
        return 1 if p.parent[v] == -1 else 0

    def none_left(p):
        return p.left == 0

    class Forest(fr.Enactor):
        loop = fr.Loop(
            fr.Reduce(pick, "min", into="source", over="vertices"),
            fr.Set(depth=zero),
            fr.Compute(plant, over="source"),
            BFS.loop,
            fr.Reduce(missing, "sum", into="left", over="vertices"),
            until=none_left,
            times="n",
            count="trees",
        )

    for g in random_graphs(10, seed=74, min_vertices=1, max_vertices=30, weights=None, directed=False):
        p = fr.Problem(
            backend(g),
            parent=fr.vertex("int32", -1),
            level=fr.vertex("int32", -1),
            depth=fr.scalar("int32"),
            source=fr.scalar("int32"),
            n=fr.scalar("int32", g.num_vertices),
            left=fr.scalar("int64"),
            trees=fr.scalar("int32"),
        )
        Forest(p).run()
        part = oracles.components(g)
        assert p.trees == len(np.unique(part))
        for root in np.unique(part).tolist():
            inside = part == root
            equal(to_host(p.level)[inside], oracles.bfs_levels(g, root)[inside])


@pytest.mark.unsimulated("a hundred passes for a graph")
def test_chaining(backend: Backend) -> None:
    """Components, then a search in the largest, from its vertex of highest rank, then ranks towards the far end."""
    g = backend(fr.from_edges([0, 1, 2, 3, 5, 7], [1, 2, 3, 4, 6, 8], num_vertices=10))
    largest = next(iter(fr.connected_components(g).sizes()))
    rank = to_host(fr.pagerank(g).rank)
    inside = np.flatnonzero(to_host(fr.connected_components(g).label) == largest)
    best = inside[np.argmax(rank[inside])]
    level = to_host(fr.bfs(g, best).level)
    assert set(np.flatnonzero(level >= 0)) == set(inside)
    towards = (level == level.max()).astype(float)
    again = fr.pagerank(g, personalization=towards)
    close(again.rank, oracles.pagerank(g, personalization=towards), atol=1e-8)
    assert again.rank[5:].sum() < 1e-8


def test_a_result_starts_the_next_problem(backend: Backend) -> None:
    """Fields may begin as another primitive's result: here levels bound what a filter keeps."""

    def near(p, v):
        return p.level[v] >= 0 and p.level[v] <= 1

    g = backend(fr.karate())
    p = fr.Problem(g, level=fr.vertex("int32", fr.bfs(g, 0).level))
    kept = fr.filter(p, fr.Frontier.all(g), near)
    assert set(kept) == {0, *g.targets[: int(g.offsets[1])].tolist()}
