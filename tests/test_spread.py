"""Graphs whose edges are spread over the memories of several GPUs: the same as in one."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import strict_cupy
from conftest import COUNT, GPUS

import frontier as fr
from frontier.distributed.devices import choice, deriving, fused, spreading
from frontier.graph.graph import Graph
from frontier.memory import detection, spread
from frontier.memory.arrays import to_host
from frontier.memory.gpu import GpuMemory

pytestmark = pytest.mark.gpu

SIMULATED = detection.simulated()


@pytest.fixture(params=["cuda:0,0,0", GPUS])
def several(request, monkeypatch):
    """A placement on several GPUs, over which even small graphs are spread."""
    monkeypatch.setattr(spreading, "LEAST", 0)
    monkeypatch.setattr(deriving, "CHUNK", 100)
    if SIMULATED:
        with strict_cupy.simulated():
            yield request.param
    else:
        if request.param == GPUS and len(detection.every()) < COUNT:
            pytest.skip("there is one GPU only")
        yield request.param


def graphs():
    made = [
        fr.rmat(7, 4, seed=3, weights=(1, 9)),
        fr.rmat(7, 4, seed=4, directed=True, weights=(1, 9)),
        fr.from_edges([], [], num_vertices=40),
    ]
    return [
        g.with_columns(edges={"time": np.arange(g.num_slots)}, vertices={"name": np.arange(g.num_vertices)})
        for g in made
    ]


def is_same(array, expected):
    made = to_host(array)
    assert made.dtype == expected.dtype
    assert np.array_equal(made, expected)


def whole(there, name):
    """An array of a graph, in which no stretch is missing."""
    array = getattr(there, name)
    if len(array):
        assert spread.is_spread(array) or (SIMULATED and isinstance(array, np.ndarray))
    return array


@pytest.mark.parametrize("number", range(3))
def test_arrays(several, number):
    """Every array of edges is in parts, also those that are made of others; the others are as ever."""
    g = graphs()[number]
    there = g.to(several)
    assert there._topology.spread is not None
    for name in ("targets", "sources", "in_sources", "in_edges"):
        is_same(whole(there, name), getattr(g, name))
    for name in ("offsets", "in_offsets", "out_degree", "in_degree"):
        is_same(getattr(there, name), getattr(g, name))
    is_same(there.edges["time"], g.edges["time"])
    is_same(there.vertices["name"], g.vertices["name"])
    assert there.num_edges == g.num_edges
    if g.weights is not None:
        is_same(whole(there, "weights"), g.weights)
        np.testing.assert_allclose(to_host(there.out_weight), g.out_weight)
        assert (there.min_weight, there.max_weight) == (g.min_weight, g.max_weight)
    is_same(there.to("cuda").targets, g.targets)
    assert there.to("cuda")._topology.spread is None
    assert there.to("cpu")._topology is g._topology
    assert g.to(several)._topology is there._topology
    is_same(pickle.loads(pickle.dumps(there)).in_edges, g.in_edges)


def test_from_a_gpu_and_with_in_lists(several):
    """In-lists are shared out by the vertices to which edges lead; numbers of in-edges may be wanted first."""
    g = graphs()[1]
    is_same(g.in_edges, g.in_edges)
    names = ["cuda", "cuda:1"] if len(detection.every()) > 1 else ["cuda"]
    ones = [g.to(name).to(several) for name in names]
    for there in (*ones, g.to(several), Graph(g.offsets, g.targets, directed=True).to(several)):
        is_same(whole(there, "in_edges"), g.in_edges)
        is_same(whole(there, "in_sources"), g.in_sources)
    other = g.to(several).with_weights(np.ones(g.num_slots, np.float32))
    assert whole(other, "weights").dtype == np.float32
    is_same(other.targets, g.targets)


def test_graphs_made_of_others(several):
    g = graphs()[0]
    there = g.to(several)
    for made, expected in (
        (there.reordered(), g.reordered()),
        (there.induced(np.arange(50)), g.induced(np.arange(50))),
        (there.contracted(np.arange(128) // 2), g.contracted(np.arange(128) // 2)),
    ):
        is_same(whole(made, "targets"), expected.targets)
        is_same(whole(made, "weights"), expected.weights)
    packed = there.compressed()
    assert packed._topology.spread is None
    is_same(packed.targets, g.targets)
    is_same(whole(packed.decompressed().to("cpu").to(several), "targets"), g.targets)


class Cut:
    """A kernel that sees only what its GPU owns of arrays of edges, and no ids elsewhere."""

    def __init__(self):
        self.graphs, self._of = {}, fused.replicas_of

    def __call__(self, p, memories, *touches):
        made = self._of(p, memories, *touches)
        how = p.graph._topology.spread
        for replica in made:
            key = replica.rank, id(p.graph._topology)
            if key not in self.graphs:
                self.graphs[key] = self._cut(p.graph, replica, how)
            vars(replica.whole)["graph"] = self.graphs[key]
        return made

    def _cut(self, g, replica, how):
        whole = replica.whole.graph

        def own(array, bounds):
            low, high = bounds[replica.rank : replica.rank + 2]
            values = to_host(array).copy()
            values[:low] = values[high:] = 1 << 30
            with replica.memory.using():
                return replica.memory.xp.asarray(values)

        inward = to_host(g.in_offsets)[how.starts]
        top = whole._topology.copied(lambda array, kind: array)
        top.ends, top.weights = own(top.ends, how.bounds), own(top.weights, how.bounds)
        top.derived["in_lists"] = whole.in_offsets, own(whole.in_sources, inward)
        return Graph._wrap(top, whole.placement)


@pytest.mark.parametrize("number", [0, 1])
def test_a_kernel_needs_its_own_edges_only(monkeypatch, several, number):
    """So nothing is read over the links between GPUs."""
    monkeypatch.setattr(fused, "replicas_of", Cut())
    g = graphs()[number]
    there = g.to(several)
    is_same(fr.bfs(there, 5).level, fr.bfs(g, 5).level)
    is_same(fr.bfs(there, 5, schedule=fr.Schedule(direction="pull")).level, fr.bfs(g, 5).level)
    if several == GPUS:  # for they take long in the simulator
        is_same(fr.sssp(there, 5).distance, fr.sssp(g, 5).distance)
        found, expected = (fr.pagerank(each, tolerance=0.01).rank for each in (there, g))
        np.testing.assert_allclose(to_host(found), expected, rtol=1e-6)


def along(p, src, dst, edge, weight):
    fr.atomic_add(p.total, dst, p.length[edge] * weight)


def lengthen(p, src, dst, edge):
    p.length[edge] += dst


@pytest.mark.parametrize("changes", [False, True], ids=["", "fields of edges change"])
def test_fields_of_edges(several, changes):
    """Where no step changes them, the kernels read them where they are; else the host divides the program."""
    for g in graphs()[:2]:
        made = []
        for there in (g, g.to(several)):
            p = fr.Problem(
                there, length=fr.edge("int64", np.arange(g.num_slots) % 7), total=fr.vertex("int64", combine="sum"),
                other=fr.edge("int32", 3),
            )  # fmt: skip
            if changes:
                fr.Advance(lengthen, output=None, over="vertices")(p)
            fr.Advance(along, output=None, over="vertices")(p)
            p.length[3] = 9
            p.other = p.other * 2
            fr.Advance(along, output=None, over="vertices", schedule=fr.Schedule(direction="pull"))(p)
            made.append([to_host(each).tolist() for each in (p.length, p.total, p.other)])
        assert made[0] == made[1]


def test_programs_that_the_host_divides(several):
    g = graphs()[0]
    there = g.to(several)
    assert fr.triangles(there).count == fr.triangles(g).count
    schedule = fr.Schedule(fuse=False)
    is_same(fr.bfs(there, 5, schedule=schedule).level, fr.bfs(g, 5).level)


@pytest.fixture
def all_of_two(monkeypatch):
    """``"cuda:all"`` with two GPUs, where any program may be divided."""
    if not SIMULATED and len(detection.every()) < 2:
        pytest.skip("there is one GPU only")
    monkeypatch.setattr(choice, "LEAST", 0)
    if SIMULATED:
        with strict_cupy.simulated():
            yield "cuda:all"
    else:
        yield "cuda:all"


@pytest.mark.parametrize("fits", [True, False], ids=["", "no room"])
def test_a_program_for_one_of_all_gpus(all_of_two, monkeypatch, fits):
    """It gets a copy of all edges where there is room, and otherwise is divided."""
    g = graphs()[0]
    there = g.to(all_of_two)
    assert there._topology.spread is not None
    divided, init = [], fused.FusedExecution.__init__
    monkeypatch.setattr(
        fused.FusedExecution, "__init__", lambda self, *given: (divided.append(given[0]), init(self, *given))[1]
    )
    if not fits:
        monkeypatch.setattr(choice, "BESIDE", 1 << 60)
    is_same(fr.bfs(there, 5).level, fr.bfs(g, 5).level)
    assert bool(divided) != fits


def test_gpus_that_do_not_reach_each_other_have_copies(several, monkeypatch):
    monkeypatch.setattr(spread, "possible", lambda devices: False)
    g = graphs()[0]
    there = g.to(several)
    assert there._topology.spread is None
    is_same(fr.bfs(there, 5).level, fr.bfs(g, 5).level)


def test_memory_of_each_gpu(several):
    """All edges together, and the rest as often as there are parts."""
    g = graphs()[1]
    whole, there = g.memory_estimate("pagerank"), g.to(several).memory_estimate("pagerank")
    parts = several.count(",") + 1
    assert len(there.each) == parts
    assert max(there.each) == int(there)
    edges = g.targets.nbytes * 2 + g.weights.nbytes + g.edges["time"].nbytes
    rest = 2 * g.offsets.nbytes + g.vertices["name"].nbytes + whole.fields
    assert sum(there.each) == pytest.approx(edges + parts * rest, abs=9 * parts)
    assert "GPU 1" in str(there)


@pytest.mark.skipif(not SIMULATED, reason="a GPU has room")
def test_no_room(several, monkeypatch):
    """The message says what a part needs, and what would help."""
    g = graphs()[0]
    monkeypatch.setattr(GpuMemory, "small", 0)
    monkeypatch.setattr(strict_cupy.pool, "limit", 2000)
    with pytest.raises(fr.DeviceMemoryError, match=r"a GPU's part of a graph: .* with more GPUs each has fewer edges"):
        g.to(several)
