"""Several GPUs whose edges lie in the host's memory, in part, or on a disk: the same results as in their memories."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import strict_cupy
from compare import equal
from conftest import COUNT, GPUS
from test_far_edges import PROGRAM, RESULTS, nearest
from test_spread import Cut

import frontier as fr
from frontier.backends.cuda import disk_windows
from frontier.backends.run import file_windows, windows
from frontier.distributed.devices import choice, fused
from frontier.memory import detection, spread
from frontier.memory.arrays import to_host
from frontier.memory.mixed import MixedMemory, owners_of
from frontier.operators.advance.heads import heads
from frontier.operators.shared import cuda_far
from frontier.program import execution

pytestmark = pytest.mark.gpu

SIMULATED = detection.simulated()
SLOW = pytest.mark.unsimulated("takes a minute there")
RESIDENCES = ("host", "auto", "disk")


@pytest.fixture(params=["cuda:0,0", pytest.param(GPUS, marks=pytest.mark.unsimulated("one placement is enough"))])
def several(request, monkeypatch):
    """A placement on several GPUs; windows are small, so that each has several."""
    monkeypatch.setattr(windows, "SLOTS", 64 if SIMULATED else 256)
    monkeypatch.setattr(disk_windows, "SINGLE", 0)
    for name, value in (("PAGE", 32), ("GAP", 0), ("PIECE", 64), ("TOGETHER", 2)):
        monkeypatch.setattr(file_windows, name, value)
    if SIMULATED:
        with strict_cupy.simulated():
            yield GPUS  # of the double
    else:
        if request.param == GPUS and len(detection.every()) < COUNT:
            pytest.skip("there is one GPU only")
        yield request.param


def far(g, several, residence):
    """A graph on several GPUs whose edges are elsewhere; with ``"auto"`` about half of them."""
    if residence != "auto":
        return g.to(several, edges=residence)
    size = g.num_slots * (g.targets.itemsize * (1 if g.symmetric else 2) + (0 if g.weights is None else 8))
    return g.to(several, edges="auto", memory=size // (2 * len(set(several[5:].split(",")))))


def small(**options):
    return fr.rmat(7, 4, seed=3, weights=(1, 9), **options)


QUICK = {("bfs", "disk"), ("bfs, pull", "disk"), ("sssp", "auto")}
CASES = [
    pytest.param(name, residence, marks=[] if (name, residence) in QUICK else SLOW)
    for name in RESULTS
    for residence in RESIDENCES
]


@pytest.mark.parametrize(("name", "residence"), CASES)
def test_primitives(several, name, residence):
    for g in (small(),) if SIMULATED else (small(), fr.star(3000).with_weights(np.ones(5998, np.int32))):
        there = far(g, several, residence)
        assert there.placement.residence["edges"] == ("disk" if residence == "disk" else "host")
        found, expected = (to_host(RESULTS[name](each)) for each in (there, g))
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
        else:
            equal(found, expected)


def given(g):
    names = ("total", "most", "least", "best", "some")
    return fr.Problem(g, **{name: fr.vertex("int64", 7) for name in names}, any=fr.vertex("bool"))


@pytest.mark.parametrize("fuse", [True, False], ids=["one kernel", "the host divides"])
@pytest.mark.parametrize("residence", RESIDENCES)
@pytest.mark.parametrize("directed", [False, True], ids=["", "directed"])
def test_gathers(several, monkeypatch, residence, directed, fuse):
    """All vertices, whose lists come in windows, and some: all of the first GPU, and some of the others."""
    if not fuse:  # then each has a list of its own vertices
        monkeypatch.setattr(cuda_far, "MANY", 2)
        monkeypatch.setattr(cuda_far, "STREAMED", 2**30)
    parts = len(several.split(","))
    if SIMULATED and (not directed or residence == "auto" or fuse == (residence == "disk")):
        pytest.skip("in the simulator the three that differ")
    g = small(directed=directed)
    there = far(g, several, residence)
    schedule = fr.Schedule(fuse=fuse).resolved()
    program = fr.Sequence(*PROGRAM.steps[: 3 if SIMULATED else None], over="vertices")
    first = int(there._topology.spread.starts[1])
    for some in (None, [*range(first), *range(first, 128, 3)]):
        found = []
        for each in (there, g):
            p = given(each)
            with fr.trace() as t:
                if some is None:
                    execution.run(program, p, None, schedule)
                else:
                    for step in program.steps:
                        execution.run(step, p, fr.Frontier(each, some), schedule)
            found.append({name: to_host(array).tolist() for name, array in p.arrays.items()})
            if each is there and some is None:
                rows = [row for row in t.rows if "stream" in (row.direction, row.balance)]
                assert {row.rank for row in rows} == ({0} if fuse and residence != "disk" else {*range(parts)})
                assert len(rows) == len(program.steps) * len({row.rank for row in rows})
                read = [total.read for total in t.ranks.values()]
                assert len(read) == parts
                assert all(read)
                if residence == "host":  # ids, and the weights of two gathers
                    assert sum(read) >= len(program.steps) * g.num_slots * 4
        assert found[0] == found[1]


def test_gathers_of_parts(several, monkeypatch):
    """Each GPU brings the windows in which its part of the frontier has elements."""
    monkeypatch.setattr(windows, "SLOTS", 64)  # so that each has several
    monkeypatch.setattr(cuda_far, "MANY", 2)
    monkeypatch.setattr(cuda_far, "STREAMED", 2**30)
    g = small(directed=True)
    there = far(g, several, "host")
    step = fr.Gather(nearest, "sum", into="total")
    first = int(there._topology.spread.starts[1])
    schedule = fr.Schedule(fuse=True).resolved()
    read = []
    for some in ([*range(first)][::-1] + [*range(first, 128, 3)], range(0, 128, 3), range(first), range(9)):
        found = []
        for each in (there, g):
            p = given(each)
            with fr.trace() as t:
                execution.run(step, p, fr.Frontier(each, some), schedule)
            found.append(to_host(p.total))
            if each is there:
                assert next(row.balance for row in t.rows if not row.step.startswith("compile")) == "stream"
                read.append([total.read for total in t.ranks.values()])
        equal(*found)
    assert read[2][1] == read[3][1] == 0
    assert 0 < read[3][0] < read[2][0] == read[0][0]


def far_end(p, src):
    return src


def largest(p, src, dst):
    """Never less than the value that it replaces."""
    return max(p.value[src], p.value[dst])


@pytest.mark.parametrize("whole", [True, False])
def test_gathers_in_place(several, whole):
    """What others own stays as it is while a GPU gathers, so no value is less than that before."""
    g = small()
    p = fr.Problem(far(g, several, "host"), value=fr.vertex("int64", np.arange(128)))
    step, some = fr.Gather(largest, "max", into="value", inplace=True), np.flatnonzero(g.out_degree)
    f = fr.Frontier.all(p.graph) if whole else fr.Frontier(p.graph, some)
    execution.run(step, p, f, fr.Schedule(fuse=False).resolved())
    once = np.array([max(v, *g.targets[g.offsets[v] : g.offsets[v + 1]]) for v in some])
    assert (to_host(p.value)[some] >= once).all()


@pytest.mark.parametrize("residence", ["host", pytest.param("auto", marks=SLOW)])
def test_a_gpu_reads_its_own_edges_only(monkeypatch, several, residence):
    """In windows, by pushes and pulls, and for heads."""
    monkeypatch.setattr(fused, "replicas_of", Cut())
    for g in (small(), small(directed=True))[: 1 if SIMULATED else 2]:
        there = far(g, several, residence)
        pull = fr.Schedule(direction="pull")
        equal(to_host(fr.bfs(there, 0, schedule=pull).level), fr.bfs(g, 0).level)
        found, expected = (fr.pagerank(each, tolerance=0.1).rank for each in (there, g))
        np.testing.assert_allclose(to_host(found), expected, rtol=1e-6)


def test_heads(several, monkeypatch):
    """Each GPU has those of its own vertices, by the degrees of all."""
    kept, of = [], fused.replicas_of

    def keeping(*given, **more):
        kept[:] = of(*given, **more)
        return kept

    monkeypatch.setattr(fused, "replicas_of", keeping)
    g = small()
    fr.bfs(far(g, several, "host"), 0, schedule=fr.Schedule(direction="pull"))
    assert len(kept) == len(several.split(","))
    for replica in kept:
        with replica.memory.using():
            found = to_host(heads(replica.rows, "out")).reshape(-1, 2).tolist()
        for v in range(*replica.own["vertex"]):
            near = set(g.targets[g.offsets[v] : g.offsets[v + 1]].tolist())
            assert found[v] == [*sorted(near, key=lambda u: (-g.out_degree[u], u)), -1, -1][:2]


@pytest.mark.parametrize("residence", ["host", pytest.param("auto", marks=SLOW), pytest.param("disk", marks=SLOW)])
def test_compressed(several, residence):
    """Each GPU reads the words of its own lists."""
    g = small(directed=True)
    there = far(g, several, residence).compressed()
    assert there._topology.packed
    p, q = given(there), given(g)
    for each in (p, q):
        fr.Gather(far_end, "sum", into="total", over="vertices")(each)
        fr.Gather(far_end, "max", into="most", over="vertices")(each)
    equal(to_host(p.total), q.total)
    equal(to_host(p.most), q.most)


@pytest.mark.parametrize("residence", RESIDENCES)
def test_arrays(several, residence):
    g = small(directed=True)
    g = g.with_columns(edges={"time": np.arange(g.num_slots)})
    there = far(g, several, residence)
    kind = there.placement.edges
    assert isinstance(kind, MixedMemory) == (residence == "auto")
    assert ("edges in disk memory" if residence == "disk" else "edges in host") in repr(there)
    for name in ("targets", "sources", "in_sources", "in_edges", "weights"):
        equal(to_host(getattr(there, name)), getattr(g, name))
    for name in ("offsets", "in_offsets", "in_degree"):
        equal(to_host(getattr(there, name)), getattr(g, name))
    equal(to_host(there.edges["time"]), g.edges["time"])
    assert (there.num_edges, there.max_weight) == (g.num_edges, g.max_weight)
    np.testing.assert_allclose(to_host(there.out_weight), g.out_weight)
    assert there.to(several, edges="device")._topology.spread is not there._topology.spread
    equal(to_host(there.to("cuda").targets), g.targets)
    assert there.to("cpu")._topology is g._topology
    assert g.to(there.placement)._topology is there._topology
    equal(to_host(pickle.loads(pickle.dumps(there)).in_edges), g.in_edges)
    for made, expected in (
        (there.reordered(), g.reordered()),
        (there.induced(np.arange(50)), g.induced(np.arange(50))),
        (there.with_weights(None), g.with_weights(None)),
    ):
        assert made.placement == there.placement
        assert made._topology.spread is not None
        equal(to_host(made.targets), expected.targets)
    equal(to_host(there.compressed().targets), g.targets)


def test_made_there(several):
    """A graph that is to lie elsewhere is made on the host."""
    place = small().to(several, edges="host").placement
    made, expected = fr.rmat(7, 4, seed=3, placement=place), fr.rmat(7, 4, seed=3)
    assert made.placement == place
    equal(to_host(made.targets), expected.targets)


@pytest.mark.parametrize("residence", RESIDENCES)
def test_memory_of_each_gpu(several, residence):
    g = small()
    whole, there = g.memory_estimate("pagerank"), far(g, several, residence)
    found, share = there.memory_estimate("pagerank"), getattr(there.placement.edges, "share", 0)
    edges, rest = g.targets.nbytes + g.weights.nbytes, g.offsets.nbytes + whole.fields
    assert sum(found.each) == pytest.approx(share * edges + len(several.split(",")) * rest, abs=128)
    assert found.elsewhere == pytest.approx((1 - share) * edges, abs=9)
    assert found.making == 0
    assert "elsewhere" in str(found)


def test_fields_of_edges(several):
    """They lie on the GPUs, wherever edges do."""
    g = small()
    found = []
    for each in (far(g, several, "host"), g):
        p = fr.Problem(each, length=fr.edge("int64", np.arange(g.num_slots) % 7), total=fr.vertex("int64"))
        fr.Gather(lambda p, edge: p.length[edge], "sum", into="total", edges="out", over="vertices")(p)
        found.append(to_host(p.total).tolist())
    assert found[0] == found[1]


def test_programs_for_one_of_all_gpus(several, monkeypatch):
    """It reads the same edges; gathers over a large graph are divided, except from a disk."""
    if several == "cuda:0,0":
        pytest.skip("there is one GPU only")
    g, divided, of = small(), [], choice.alone
    monkeypatch.setattr("frontier.distributed.devices.alone", lambda *given: divided.append(False) or of(*given))
    cases = ("host", 1 << 26, False), ("host", 0, True), ("disk", 0, False)
    for residence, least, expected in cases[: 2 if SIMULATED else 3]:
        monkeypatch.setattr(choice, "FAR_LEAST", least)
        there = g.to("cuda:all", edges=residence)
        divided[:] = [True]
        p, q = given(there), given(g)
        for each in (p, q):
            fr.Loop(PROGRAM.steps[0], times=2, over="vertices")(each)
        equal(to_host(p.total), q.total)
        assert divided[-1] == expected


def test_what_is_not_possible(several, monkeypatch):
    g = fr.karate()
    for options, words in (
        ({"edges": "moon"}, "choose 'device', 'host', 'disk' or 'auto'"),
        ({"edges": "host", "memory": 7}, "memory= is for edges='auto'"),
        ({"memory": "much"}, "expected a number of bytes"),
    ):
        with pytest.raises(fr.GraphError, match=words):
            g.to(several, **options)
    monkeypatch.setattr(spread, "possible", lambda devices: False)
    with pytest.raises(fr.GraphError, match=r"edges='auto' is not possible .* edges='host' is"):
        g.to(several, memory=100)
    assert to_host(fr.bfs(g.to(several, edges="host"), 0, schedule=fr.Schedule(fuse=False)).level).max() == 3
    assert g.to(several, memory="1GiB").placement == g.to(several).placement


def test_owners_of_pieces(monkeypatch):
    """Every stretch has its share on its GPU, evenly."""
    monkeypatch.setattr("frontier.memory.mixed.PIECE", 10)
    halves = owners_of(200, 0.5, [0, 1], [0, 101, 200])
    assert [halves[:10].count(0), halves[10:].count(1), halves.count(None)] == [5, 5, 10]
    assert set(halves[:10]) == {0, None}
    assert owners_of(40, 1.0, [0, 1, 1], [0, 12, 13, 40]) == [0, 1, 1, 1]
    assert owners_of(35, 0.0, [0], [0, 35]) == [None] * 4
