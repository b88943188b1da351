"""What ``Graph.memory_estimate`` says of primitives, beside what they take: array by array, and of a GPU's pool."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import Backend

import frontier as fr
from frontier.backends import workspace
from frontier.problem import Problem

CALLS: dict[str, Callable[[fr.Graph], Any]] = {
    "bfs": lambda g: fr.bfs(g, hub(g)),
    "sssp": lambda g: fr.sssp(g, hub(g)),
    "pagerank": fr.pagerank,
    "cc": fr.connected_components,
    "bc": lambda g: fr.betweenness(g, [hub(g)]),
}

#: Bytes a vertex of arrays that are neither fields nor of the workspace: first labels, and out-degrees.
BESIDE = {"cc": 4, "pagerank": 4}

#: Roles of arrays of a workspace with an entry for each vertex.
OF_VERTICES = ("vertex_queue", "scan", "marks", "vertex_stamps")

KINDS = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
NAMES = pytest.mark.parametrize("name", CALLS)


def hub(g: fr.Graph) -> int:
    return int((g.offsets[1:] - g.offsets[:-1]).argmax())


def rmat(scale: int, directed: bool) -> fr.Graph:
    g = fr.rmat(scale, 16, directed=directed, weights=(1, 64), seed=1)
    return g.with_weights(g.weights.astype(np.float32))


def fresh(g: fr.Graph) -> fr.Graph:
    """The same rows as a graph of which nothing has been derived."""
    return fr.Graph(g.offsets, g.targets, g.weights, directed=g.directed, placement=g.placement)


def built(g: fr.Graph, name: str) -> bool:
    return name in g._topology.built()


@NAMES
@KINDS
def test_arrays_of_a_vertex(compiled: Backend, name: str, directed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problems: list[Problem] = []
    make = Problem.__init__

    def noting(p: Problem, *given: Any, **fields: Any) -> None:
        make(p, *given, **fields)
        problems.append(p)

    monkeypatch.setattr(Problem, "__init__", noting)
    g = fresh(compiled(rmat(6, directed)))
    said = g.memory_estimate(name)
    CALLS[name](g)
    assert built(g, "in_lists") == (said.in_edges > 0)
    fields = sum(p.arrays[of].itemsize for p in problems for of, made in p.fields.items() if made.kind == "vertex")
    work = workspace._pool[g][0].arrays
    taken = sum(array.itemsize for (_, role, _), array in work.items() if role in OF_VERTICES and len(array) > 60)
    bits = sum(role == "bits" for _, role, _ in work) / 8
    there = (fields + taken + bits + BESIDE.get(name, 0)) * g.num_vertices
    assert there <= 1.1 * said.fields
    assert there >= 0.9 * said.fields or compiled.name == "cpu"  # which may do with less


@KINDS
def test_slots_of_64_bits(directed: bool) -> None:
    g = rmat(6, directed)
    wide = fr.Graph(g.offsets.astype(np.int64), g.targets, directed=directed)
    more = {name: wide.memory_estimate(name).fields - g.memory_estimate(name).fields for name in CALLS}
    assert more == {name: 4 * g.num_vertices * count for name, count in zip(CALLS, (2, 2, 1, 4, 2), strict=True)}


def test_in_edges_that_are_there_are_not_made() -> None:
    g = rmat(6, True)
    said = g.memory_estimate("pagerank")
    assert said.making > 0
    assert "for a while" in str(said)
    assert g.in_sources is not None
    assert g.memory_estimate("pagerank").making == 0
    assert g.memory_estimate("pagerank").in_edges == said.in_edges


def test_short_lists_are_never_pulled_on_a_gpu(cuda: Backend) -> None:
    g = fr.from_edges(range(49), range(1, 50), directed=True)
    assert g.memory_estimate("bfs").in_edges > 0
    assert cuda(g).memory_estimate("bfs").in_edges == 0
    assert cuda(g).memory_estimate("cc").in_edges > 0


# -- a GPU's pool ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def large(cuda: Backend, request: pytest.FixtureRequest) -> fr.Graph:
    return cuda(rmat(18, request.param))


def peak(call: Callable[[], Any]) -> float:
    """The most bytes of CuPy's pool that a call had in use beside what was in use before."""
    from benchmarks.devices import Cuda

    gpu = Cuda()
    gc.collect()
    gpu.free()
    return gpu.peak(call)[1]


@NAMES
@pytest.mark.unsimulated("NumPy has no pool")
def test_peak_of_a_call(large: fr.Graph, name: str) -> None:
    first = fresh(large)
    said = first.memory_estimate(name)
    CALLS[name](first)
    assert built(first, "in_lists") == (said.in_edges > 0)
    del first
    g = fresh(large)
    if said.in_edges:  # sorting them takes more than all the rest, for a while: the next test
        assert g.in_offsets.nbytes + g.in_sources.nbytes == said.in_edges
    assert peak(lambda: CALLS[name](g)) == pytest.approx(said.fields, rel=0.1)


@pytest.mark.unsimulated("NumPy has no pool")
def test_peak_of_making_in_edges(large: fr.Graph) -> None:
    g = fresh(large)
    said = g.memory_estimate(in_edges=True)
    assert (said.making > 0) == large.directed
    assert peak(lambda: g.in_sources) == pytest.approx(said.in_edges + said.making, rel=0.1)
    assert g.placement.memory.residence == "device"
