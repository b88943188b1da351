"""What the GPUs of one kernel each get of the fields when a run begins: always what they are now."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import strict_cupy
from conftest import COUNT, GPUS
from test_fused import NAMES, SIMULATED, graphs

import frontier as fr
from frontier.distributed.devices import compaction, fused, loading, part, replicas
from frontier.memory import detection
from frontier.memory.arrays import to_host
from frontier.memory.gpu import gpu
from frontier.program.execution import start

pytestmark = pytest.mark.gpu


#: In the simulator each test takes seconds.
HERE = NAMES[-1:] if SIMULATED else NAMES


@pytest.fixture(params=[(name, short) for name in HERE for short in (0, 1 << 16)], ids=lambda each: f"{each}")
def several(request, monkeypatch):
    """A placement on several GPUs; whether it is looked for what differs from a field's first value."""
    name, short = request.param
    if not SIMULATED and name == GPUS and len(detection.every()) < COUNT:
        pytest.skip("there is one GPU only")
    monkeypatch.setattr(loading, "SHORT", short)
    if SIMULATED:
        with strict_cupy.simulated():
            yield name
    else:
        yield name


def far(p, src, dst):
    """Read at the far end, so that each GPU needs what others own."""
    if p.value[dst] == p.value[dst]:
        fr.atomic_add(p.total, src, p.value[dst])
    else:
        fr.atomic_add(p.strange, src, 1)
    if p.flag[dst]:
        fr.atomic_add(p.flags, src, 1)


def near(p, v):
    p.own[v] += 1
    p.total[v] += p.lookup[v % 5]


def along(p, src, dst, edge):
    fr.atomic_add(p.total, src, p.length[edge] * p.weight2[edge])


STEP = fr.Sequence(
    fr.Advance(far, output=None, over="vertices"),
    fr.Advance(along, output=None, over="vertices"),
    fr.Compute(near, over="vertices"),
)


def problem(g, init):
    return fr.Problem(
        g, value=fr.vertex("float64", init), flag=fr.vertex("bool", True), own=fr.vertex("int16", -3),
        total=fr.vertex("float64"), strange=fr.vertex("int64"), flags=fr.vertex("int64"),
        length=fr.edge("float32", 2), weight2=fr.edge("int8", np.arange(g.num_slots) % 7),
        lookup=fr.array(np.arange(5.0)),
    )  # fmt: skip


def change(p, number):
    """What a user does between runs: few elements, all, none, and those of edges."""
    n, m = len(p.value), len(p.length)
    if number == 0:
        p.value[3], p.value[n - 2], p.own[n - 1], p.flag[n // 2] = 7, -5, 30, False
    elif number == 1:
        p.value, p.flag, p.own = np.arange(n) / 4, np.arange(n) % 3 == 0, np.arange(n) - 50
    elif number == 2:
        p.length, p.weight2[m - 1], p.lookup[4] = np.arange(m) % 9, 100, -8
    elif number == 3:
        p.value, p.length[m // 2] = np.nan, 11


def seen(p):
    return {name: to_host(array).tolist() for name, array in p.arrays.items()}


@pytest.mark.parametrize("init", [2.5, float("nan")] if SIMULATED else [0, 2.5, float("nan"), float("inf")])
def test_fields_change_between_runs(several, init, monkeypatch):
    begun = []
    monkeypatch.setattr(loading, "load", lambda *given, load=loading.load: begun.append(1) or load(*given))
    g = graphs()[0]
    p, q = problem(g, init), problem(g.to(several), init)
    for number in range(5):
        for each in (p, q):
            change(each, number)
            STEP(each)
        np.testing.assert_equal(seen(q), seen(p))
    assert len(begun) == 5


def test_fields_change_in_a_pause(several):
    g = graphs()[1]
    made = []
    step = fr.Loop(STEP, times=5, over="vertices")
    for there in (g, g.to(several)):
        p = problem(there, 1.5)
        run, found = start(step, p), []
        while not run.done:
            run.proceed(1)
            found.append(seen(p))
            change(p, len(found) - 1)
        made.append(found)
    np.testing.assert_equal(made[1], made[0])


def relax(p, src, dst):
    return p.level[src] < p.limit[src] and p.level[dst] > 3


def test_pairs_that_are_only_read(several):
    """Two arrays in each other's gaps."""
    g = graphs()[0]
    made = []
    for there in (g, g.to(several)):
        p = fr.Problem(there, level=fr.vertex("int32", 4, combine="min"), limit=fr.vertex("int32", 9, with_="level"))
        p.level[5], p.limit[7], p.level[90] = 2, 1, 3
        step = fr.Sequence(fr.Filter(lambda p, v: p.limit[v] > 2), fr.Advance(relax), over="vertices")
        made.append([sorted(to_host(step(p).ids).tolist())])
        p.level, p.limit = np.arange(g.num_vertices), np.arange(g.num_vertices) % 11
        made[-1].append(sorted(to_host(step(p).ids).tolist()))
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("usual", "dtype"), [(-1, "int32"), (True, "bool"), (float("nan"), "float32"), (0.0, "float64")]
)
def test_what_differs(usual, dtype):
    """By bits: NaN is itself, and -0 is not 0."""
    memory = gpu(0)
    with memory.using():
        array = memory.full(5000, usual, np.dtype(dtype))
        other = memory.full(5000, usual, np.dtype(dtype))
        array[17] = array[4000] = 0 if usual else -0.0 if dtype == "float64" else 5
        found = compaction.differing(memory, array, usual, 3)
        into = memory.full(5000, 1, np.dtype(dtype))
        compaction.fill(memory, into, found)
        compaction.adopt(memory, into, array, (0, 4000), found)
        other[17] = array[17]
        assert to_host(into).tobytes() == to_host(other).tobytes()
        many = compaction.differing(memory, memory.moved((np.arange(5000) % 2).astype(dtype)), usual, 3)
        if many is not None:  # the GPU itself decides
            assert int(many.count[0]) > 3


def test_what_nobody_needs_of_others(several):
    g = graphs()[0].to(several)
    p = problem(g, 1)
    run = start(STEP, p)
    assert isinstance(run, fused.FusedExecution)
    assert run._touches.apart == {"own", "total", "strange", "flags"}
    run.proceed()


def test_placements_that_share_gpus_and_graphs(monkeypatch):
    """What a run leaves for later ones says which part of a graph it was, and of how many."""
    if not SIMULATED and len(detection.every()) < 2:
        pytest.skip("there is one GPU only")
    monkeypatch.setattr(loading, "SHORT", 0)
    with strict_cupy.simulated() if SIMULATED else nullcontext():
        g = graphs()[0]
        for source in (5,) if SIMULATED else (5, 7):
            for name in ("cuda:0,1", "cuda:0,1,1", "cuda:1,0", "cuda:0,1"):
                assert np.array_equal(to_host(fr.bfs(g.to(name), source).level), fr.bfs(g, source).level)


def lower(p, src, dst):
    return fr.atomic_min(p.label, dst, p.label[src]) > p.label[src]


def test_addresses_are_written_when_they_are_not_known(several, monkeypatch):
    written, made = [], {}

    def lasting(p, g, first, shared, make=replicas._problem):
        """The other GPUs' arrays lie where they lay before."""
        if (p, g) not in made:
            made[p, g] = make(p, g, first, shared)
        return made[p, g]

    monkeypatch.setattr(part, "_write", lambda *given, write=part._write: written.append(given) or write(*given))
    monkeypatch.setattr(replicas, "_problem", lasting)
    g = graphs()[0].to(several)
    monkeypatch.setattr(part, "KNOWN", 2)
    p, q, r = (fr.Problem(g, label=fr.vertex("int64", np.arange(g.num_vertices), combine="min")) for _ in range(3))
    step = fr.Loop(fr.Advance(lower), over="vertices")
    counts = []
    for each in (p, p, q, p, r, p):
        step(each)
        counts.append(len(written))
    assert counts[0] == counts[1] < counts[2] == counts[3] < counts[4] < counts[5]  # r is written in the place of p
    assert np.array_equal(to_host(p.label), to_host(q.label))
    assert np.array_equal(to_host(p.label), to_host(r.label))
