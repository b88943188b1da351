"""Negative weights: NetworkX's distances and cycles, from one vertex and between all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import close, host, workers
from conftest import Backend
from strategies import random_graphs

import frontier as fr


def signed_graphs(count: int, largest: int, dtype: str = "int64", lower: int = 0) -> Iterator[fr.Graph]:
    """Graphs with weights shifted by potentials, so that cycles keep theirs, and all of them lowered."""
    graphs = random_graphs(count, seed=321, max_vertices=largest, weights=dtype, directed=True, parallel=True)
    for i, g in enumerate(graphs):
        height = np.random.default_rng(i).integers(0, 1000, g.num_vertices)
        assert g.weights is not None
        yield g.with_weights(g.weights + (height[g.targets] - height[g.sources]) - lower)


def expected(g: fr.Graph, source: int) -> list[float]:
    found = nx.single_source_bellman_ford_path_length(oracles.networkx_graph(g), source)
    far = oracles.UNREACHED if g.weights is not None and g.weights.dtype.kind == "i" else np.inf
    return [found.get(v, far) for v in range(g.num_vertices)]


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_distances(backend: Backend, dtype: str) -> None:
    for g in signed_graphs(*((12, 40) if backend.name != "python" else (6, 12)), dtype=dtype):
        there = backend(g)
        for source in range(0, g.num_vertices, 7):
            result = fr.bellman_ford(there, source)
            close(result.distance, expected(g, source))
            fr.verify.bellman_ford(there, result).raise_if_failed()
        every = fr.johnson(there)
        fr.verify.johnson(there, every).raise_if_failed()
        for source in range(0, g.num_vertices, 7):
            close(every.distance[source], expected(g, source))


def test_cycles(backend: Backend) -> None:
    count = 0
    for g in signed_graphs(*((12, 40) if backend.name != "python" else (30, 12)), lower=300):
        there = backend(g)
        for source in range(0, g.num_vertices, 5):
            try:
                distance = expected(g, source)
            except nx.NetworkXUnbounded:
                with pytest.raises(fr.NegativeCycleError, match="cycle of negative weight") as error:
                    fr.bellman_ford(there, source)
                check_cycle(g, error.value.cycle)
                with pytest.raises(fr.NegativeCycleError) as error:
                    fr.johnson(there, [source])
                check_cycle(g, error.value.cycle)
                count += 1
            else:
                close(fr.bellman_ford(there, source).distance, distance)
    assert count > 2 or backend.name not in ("python", "cpu")


def check_cycle(g: fr.Graph, cycle: list[int]) -> None:
    other = oracles.networkx_graph(g)
    assert cycle[0] == cycle[-1]
    assert len(set(cycle)) == len(cycle) - 1
    assert sum(other[u][v]["weight"] for u, v in pairwise(cycle)) < 0


def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for g in signed_graphs(8, 200):
            if g.num_vertices:
                fr.verify.bellman_ford(g, fr.bellman_ford(compiled(g), 0)).raise_if_failed()


def test_a_long_cycle() -> None:
    """Longer than the passes after which one is looked for."""
    ring = np.arange(60)
    weights = np.ones(60, int)
    weights[17] = -60
    g = fr.from_edges(ring, (ring + 1) % 60, weights, directed=True).to("python")
    with pytest.raises(fr.NegativeCycleError, match=r"\.\.\.") as error:
        fr.bellman_ford(g, 5)
    assert len(error.value.cycle) == 61
    weights[17] = -59  # of weight 0: no error
    assert fr.bellman_ford(g.with_weights(weights), 5)[17] == 12


def test_small_cycles() -> None:
    loop = fr.from_edges(["a", "b"], ["b", "b"], [1, -1], directed=True).to("python")
    with pytest.raises(fr.NegativeCycleError, match=r"'b' -> 'b' \(-1\)") as error:
        fr.bellman_ford(loop, "a")
    assert error.value.cycle == ["b", "b"]
    assert isinstance(error.value, fr.GraphError)
    with pytest.raises(fr.NegativeCycleError):
        fr.bellman_ford(loop, "b")
    both_ways = fr.from_edges([0, 1], [1, 2], [1, -2]).to("python")
    for call in (lambda: fr.bellman_ford(both_ways, 0), lambda: fr.johnson(both_ways)):
        with pytest.raises(fr.NegativeCycleError) as error:
            call()
        assert sorted(error.value.cycle[1:]) == [1, 2]
    apart = fr.from_edges([0, 2], [1, 2], [1, -1], directed=True).to("python")
    assert fr.bellman_ford(apart, 0).distance.tolist() == [0, 1, oracles.UNREACHED]
    with pytest.raises(fr.NegativeCycleError):
        fr.johnson(apart, [0])


def test_special_graphs(backend: Backend) -> None:
    alone = backend(fr.from_edges([], [], np.zeros(0), num_vertices=2))
    result = fr.bellman_ford(alone, 1)
    assert (host(result.distance).tolist(), host(result.parent).tolist()) == ([np.inf, 0], [-1, 1])
    assert host(fr.johnson(alone).distance).tolist() == [[0, np.inf], [np.inf, 0]]
    assert fr.johnson(backend(fr.from_edges([], [], np.zeros(0), num_vertices=0))).distance.shape == (0, 0)
    names = backend(fr.from_edges(["a", "a", "b"], ["b", "c", "c"], [4.0, 2.0, -3.0], directed=True))
    assert fr.bellman_ford(names, "a").path_to("c") == ["a", "b", "c"]
    assert fr.johnson(names, ["b", "a", "b"])["a", "c"] == 1
    assert fr.predecessors(names, fr.bellman_ford(names, "a"))["c"] == ["b"]


def test_parts() -> None:
    g = next(each for each in signed_graphs(20, 40) if each.num_vertices > 20)
    there = g.to("ranks:3")
    close(fr.bellman_ford(there, 3).distance, expected(g, 3))
    close(np.asarray(fr.johnson(there, [3, 5]).distance)[0], expected(g, 3))


def test_what_is_refused() -> None:
    with pytest.raises(fr.GraphError, match="need weights"):
        fr.bellman_ford(fr.path(3), 0)
    with pytest.raises(fr.GraphError, match="above -inf"):
        fr.johnson(fr.from_edges([0], [1], [-np.inf], directed=True))
    with pytest.raises(fr.GraphError, match="64 bits"):
        fr.bellman_ford(fr.from_edges([0], [1], [-(2**62)], directed=True), 0)
    with pytest.raises(fr.GraphError, match="no vertex 3"):
        fr.johnson(fr.path(3, weights=(1, 2)), [3])


def test_wrong_results_fail() -> None:
    g = fr.from_edges([0, 1, 2, 0], [1, 2, 0, 3], [5, -3, -2, 1], directed=True).to("python")
    right = fr.bellman_ford(g, 0)
    make = type(right)
    assert fr.verify.bellman_ford(g, right)
    lower = right.distance + [0, 0, 0, -1]
    assert not fr.verify.bellman_ford(g, make(0, lower, right.parent))
    assert not fr.verify.bellman_ford(g, make(0, right.distance + [0, 0, 1, 0], right.parent))
    assert not fr.verify.bellman_ford(g, make(0, right.distance, np.array([0, 0, 1, 1])))
    # a cycle of weight 0 supports itself, but does not lead back to the source
    cycle = fr.from_edges([0, 1, 2], [0, 2, 1], [1, 4, -4], directed=True).to("python")
    assert not fr.verify.bellman_ford(cycle, make(0, np.array([0, 3, 7]), np.array([0, 2, 1])))
    every = fr.johnson(g)
    assert fr.verify.johnson(g, every)
    wrong = every.distance.copy()
    wrong[2, 1] += 1
    assert "from vertex 2" in str(fr.verify.johnson(g, type(every)(every.source, wrong)))
    assert not fr.verify.johnson(g, type(every)(every.source, wrong[:2]))
