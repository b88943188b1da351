"""Fields of vertices of which each of several GPUs has the elements that it owns: the same as on one."""

from __future__ import annotations

import copy
import gc
import pickle
import signal
import threading

import numpy as np
import pytest
import strict_cupy
from conftest import COUNT, GPUS
from test_fused import SIMULATED, given, graphs, grow, outcome, picky, spread

import frontier as fr
from frontier.backends.cuda.launch import address_of
from frontier.distributed.devices import choice, compaction, fused, loading, part, spreading
from frontier.distributed.devices.spread_fields import spread_fields
from frontier.distributed.ranks.group import Group
from frontier.errors import FunctorError, NotConvergedError
from frontier.memory import detection, kept
from frontier.memory import spread as spread_memory
from frontier.memory.arrays import to_host
from frontier.memory.gpu import GpuMemory, gpu
from frontier.program.execution import start

pytestmark = pytest.mark.gpu

NAMES = ("cuda:0,0", GPUS)


@pytest.fixture(params=NAMES)
def several(request, monkeypatch):
    """A placement on several GPUs, over which even small graphs and fields are spread."""
    monkeypatch.setattr(spreading, "LEAST", 0)
    monkeypatch.setattr(spreading, "LEAST_FIELD", 0)
    monkeypatch.setattr(loading, "SHORT", 0)
    if SIMULATED:
        if request.param != GPUS:
            pytest.skip("in the simulator one placement")
        with strict_cupy.simulated():
            yield request.param
    else:
        if request.param == GPUS and len(detection.every()) < COUNT:
            pytest.skip("there is one GPU only")
        yield request.param


def where(array):
    """Where an array lies: its address."""
    found = vars(array).get("_a", array) if SIMULATED else array
    return address_of(found)


def seen(p):
    return {name: to_host(array).tolist() for name, array in p.arrays.items()}


def same_on_both(g, several, make, *programs):
    """Run programs on a problem of one processor and of several GPUs; the latter, and its fields after each."""
    made = []
    for there in (g, g.to(several)):
        p, found = make(there), []
        for program in programs:
            program(p)
            found.append(seen(p))
        made.append(found)
    np.testing.assert_equal(made[1], made[0])
    return p


# ---- which fields ----------------------------------------------------------------------------------------


def fields(g, **more):
    n = g.num_vertices
    return fr.Problem(
        g, own=fr.vertex("int64", 3), number=fr.vertex("float32", np.arange(n) / 4), flag=fr.vertex("bool", True),
        far=fr.vertex("int64", np.arange(n) % 9), sum=fr.vertex("int64", combine="sum"), **more,
    )  # fmt: skip


def near(p, v):
    p.own[v] += p.far[v]
    if p.flag[v]:
        p.number[v] *= 2
    p.flag[v] = not p.flag[v]


def add(p, src, dst):
    fr.atomic_add(p.sum, dst, p.far[src] + p.own[src])


def differ(p, v):
    p.far[v] += p.sum[v] % 3


STEP = fr.Sequence(
    fr.Compute(near, over="vertices"),
    fr.Advance(add, output=None, over="vertices"),
    fr.Compute(differ, over="vertices"),
)


def test_all_gpus_use_the_same_memory_of_what_they_own(several, monkeypatch):
    """It is neither loaded nor brought back."""
    touched, look = set(), loading._seen
    monkeypatch.setattr(loading, "_seen", lambda p, replica, name: touched.add(name) or look(p, replica, name))
    g = graphs()[0]
    p = fields(g.to(several))
    places = {name: where(array) for name, array in p.arrays.items()}
    run = start(STEP, p)
    assert isinstance(run, fused.FusedExecution)
    for replica in run._replicas:
        assert replica.shared == {"own", "number", "flag", "far"}
        assert replica.private == {"sum"}
        for name, array in replica.whole.arrays.items():
            assert (where(array) == places[name]) == (name in replica.shared)
    run.proceed()
    assert touched == {"sum"}
    assert places == {name: where(array) for name, array in p.arrays.items()}
    q = fields(g)
    STEP(q)
    np.testing.assert_equal(seen(p), seen(q))


def test_fields_that_are_not_spread(several, monkeypatch):
    g = graphs()[0].to(several)
    more = {
        "key": fr.vertex("int32", 9, combine="min"), "along": fr.vertex("float32", with_="key"),
        "wide": fr.vertex("int32", shape=3), "length": fr.edge("int32", 2), "list": fr.array([1, 2]),
    }  # fmt: skip
    assert spread_fields(fields(g, **more)).spread == {"own", "number", "flag", "far", "sum"}
    assert spread_fields(fields(graphs()[0].to("cuda"))).spread == set()
    monkeypatch.setattr(spreading, "LEAST_FIELD", 8 * g.num_vertices)
    p = fields(g)
    assert spread_fields(p).spread == {"own", "far", "sum"}
    if not SIMULATED:
        assert {name for name, array in p.arrays.items() if spread_memory.is_spread(array)} == spread_fields(p).spread


def test_not_with_all_gpus(monkeypatch):
    """There, most programs run on the first GPU alone."""
    if not SIMULATED and len(detection.every()) < 2:
        pytest.skip("there is one GPU only")
    for module, name in ((choice, "LEAST"), (spreading, "LEAST_FIELD")):
        monkeypatch.setattr(module, name, 0)
    with strict_cupy.simulated() if SIMULATED else monkeypatch.context():
        g = graphs()[0].to("cuda:all")
        assert g._topology.spread is not None
        assert spread_fields(fields(g)).spread == set()


@pytest.mark.parametrize("kind", ["list", "host", "device", "one"])
def test_first_values(several, kind):
    g = graphs()[0].to(several)
    values = np.arange(g.num_vertices) * 3
    with gpu(0).using():
        given = {"list": values.tolist(), "host": values, "device": gpu(0).moved(values), "one": np.array(7)}[kind]
        for dtype in ("int64", "float32", "int16"):
            p = fr.Problem(g, value=fr.vertex(dtype, given))
            assert spread_fields(p).spread == {"value"}
            assert p.value.dtype == dtype
            assert np.array_equal(to_host(p.value), np.broadcast_to(to_host(given), values.shape).astype(dtype))
    with pytest.raises(fr.FrontierError, match="are"):
        fr.Problem(g, value=fr.vertex("int64", [1, 2]))


# ---- runs ------------------------------------------------------------------------------------------------


def test_searches_and_ranks(several):
    g = graphs()[0]
    there = g.to(several)
    for source in (5, 7):
        made = fr.bfs(there, source)
        assert np.array_equal(to_host(made.level), fr.bfs(g, source).level)
        fr.verify.bfs(g, made)
    if SIMULATED:
        return
    np.testing.assert_allclose(to_host(fr.pagerank(there).rank), fr.pagerank(g).rank, atol=1e-7)
    assert np.array_equal(to_host(fr.connected_components(there).label), fr.connected_components(g).label)
    assert np.array_equal(to_host(fr.sssp(there, 5).distance), fr.sssp(g, 5).distance)


def test_programs_one_after_another(several):
    """What one shares, another has copies of; and what the user writes between runs counts."""
    far = fr.Advance(lambda p, src, dst: fr.atomic_add(p.sum, src, p.own[dst]), output=None, over="vertices")
    alone = fr.Compute(near, over="vertices", schedule=fr.Schedule(fuse=False))

    def writes(p):
        p.own[5], p.number, p.flag[p.graph.num_vertices - 1] = 40, p.number + 1, False
        p.sum *= 2

    p = same_on_both(graphs()[0], several, fields, STEP, far, writes, STEP, writes, far, alone, STEP)
    assert spread_fields(p).spread == {"own", "number", "flag", "far", "sum"}


def least(p, src, dst):
    fr.atomic_min(p.least, src, p.value[dst] + p.other[dst])


def test_what_nobody_has_seen_is_not_looked_at(several, monkeypatch):
    looked, look = [], compaction.differing

    def differing(memory, array, *given):
        looked.append(array.dtype.name)
        return look(memory, array, *given)

    def make(g):
        return fr.Problem(g, value=fr.vertex("int64", 4), other=fr.vertex("int32", -1), least=fr.vertex("int64", 99))

    monkeypatch.setattr(compaction, "differing", differing)
    g = graphs()[0]
    p, q = make(g.to(several)), make(g)
    step = fr.Advance(least, output=None, over="vertices")
    n = g.num_vertices

    def change(number):
        for each in (p, q):
            if number == 1:
                each.value[17] = -9
            elif number == 2:
                each.other = np.arange(n) - 70  # all differ
            elif number == 3:
                each.value[n - 1] = -300

    for number, expected in enumerate(([], ["int64"], ["int32", "int64"], ["int32", "int64"])):
        change(number)
        looked.clear()
        step(p), step(q)
        assert sorted(looked) == sorted(len(several.split(",")) * expected)
        if number == 0:
            assert spread_fields(p).fresh == spread_fields(p).unfilled == {"value", "other"}
        found, right = seen(p), seen(q)
        for name in found.keys() - spread_fields(p).fresh:
            np.testing.assert_equal(found[name], right[name])
    p = make(g.to(several))
    step(p)
    assert to_host(p.value).tolist() == [4] * n  # filled when somebody looks
    assert spread_fields(p).fresh == spread_fields(p).unfilled == {"other"}
    p = make(g.to(several))
    fr.Advance(least, output=None, over="vertices", schedule=fr.Schedule(fuse=False))(p)
    assert spread_fields(p).fresh == set()


def test_gpus_are_waited_for_before_fields_are_filled(several, monkeypatch):
    """What an array before, of the same memory, was used for may still be under way."""
    events, fill, wait = [], GpuMemory.fill, GpuMemory.synchronize
    monkeypatch.setattr(GpuMemory, "fill", lambda *given: events.append("fill") or fill(*given))
    monkeypatch.setattr(GpuMemory, "synchronize", lambda memory: events.append("wait") or wait(memory))
    gpus = ["wait"] * len(set(several[5:].split(",")))
    there = graphs()[0].to(several)
    events.clear()
    p = fr.Problem(there, own=fr.vertex("int64", 3), sum=fr.vertex("int64"))
    assert events == []
    assert to_host(p.own)[0] == 3
    assert events == [*gpus, *["fill"] * len(several.split(",")), *gpus]
    p = fields(there)
    events.clear()
    start(STEP, p)
    first = events.index("fill")
    assert events[first - len(gpus) : first] == gpus


def test_fields_of_a_run_that_does_not_begin(several, monkeypatch):
    """They have their values, also if GPUs had not filled them."""

    def load(self, p):
        raise MemoryError("no room for what the program needs besides")

    monkeypatch.setattr(part.Part, "load", load)
    g = graphs()[0].to(several)
    p = fields(g)
    with pytest.raises(MemoryError):
        STEP(p)
    assert to_host(p.own).tolist() == [3] * g.num_vertices
    assert to_host(p.flag).all()
    assert not to_host(p.sum).any()


def reader(p, src, dst):
    fr.atomic_add(p.sum, src, p.own[dst])


def test_fields_of_a_run_that_is_interrupted_at_its_end(several, monkeypatch):
    """What all GPUs share has changed by then, and is loaded by the next program."""

    def stopped(self):
        raise KeyboardInterrupt

    g = graphs()[0]
    p, q = (fr.Problem(there, own=fr.vertex("int64", 3), sum=fr.vertex("int64")) for there in (g.to(several), g))
    add_four = fr.Compute(more, over="vertices")
    add_four(q)
    with monkeypatch.context() as patch:
        patch.setattr(part.Part, "give", stopped)
        with pytest.raises(KeyboardInterrupt):
            add_four(p)
    assert "own" not in spread_fields(p).fresh
    for each in (p, q):
        fr.Advance(reader, output=None, over="vertices")(each)
    np.testing.assert_equal(seen(p), seen(q))


def test_ctrl_c_while_fields_are_brought_back(several, monkeypatch):
    """It is raised when they are there."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread only")
    bring_back = loading.bring_back

    def pressed(*given):
        signal.raise_signal(signal.SIGINT)
        bring_back(*given)

    monkeypatch.setattr(loading, "bring_back", pressed)
    g = graphs()[0]
    p = fields(g.to(several))
    with pytest.raises(KeyboardInterrupt):
        STEP(p)
    q = fields(g)
    STEP(q)
    np.testing.assert_equal({name: to_host(getattr(p, name)).tolist() for name in p.arrays}, seen(q))


def more(p, v):
    p.own[v] += 4


def mean(p, src, dst):
    return p.old[src]


def exchanging(g):
    n = g.num_vertices
    return fr.Problem(
        g, old=fr.vertex("int64", np.arange(n)), new=fr.vertex("int64"), mine=fr.vertex("int32", np.arange(n)),
        next=fr.vertex("int32", 7), last=fr.vertex("int32", -1),
    )  # fmt: skip


def test_fields_that_are_exchanged(several):
    """An odd number of times: of one sort with copies, and of one that all share."""

    def step_on(p, v):
        p.next[v] = p.mine[v] + 1

    copied = fr.Loop(fr.Gather(mean, "sum", into="new"), fr.Swap("old", "new"), times=3, over="vertices")
    owned = fr.Loop(fr.Compute(step_on), fr.Swap("mine", "next"), fr.Swap("next", "last"), times=4, over="vertices")
    p = same_on_both(graphs()[0], several, exchanging, copied, owned, owned, fr.Sequence(copied, owned))
    run = start(fr.Sequence(copied, owned), p)
    assert run._replicas[0].private == {"old", "new"}
    assert run._replicas[1].shared == {"mine", "next", "last"}
    run.proceed()


def test_pauses(several):
    """Fields are whole at every pause, and what is written to them then counts."""
    g = graphs()[1]
    made = []
    for there in (g, g.to(several)):
        p = fields(there)
        run, found = start(fr.Loop(STEP, times=4, over="vertices"), p), []
        while not run.done:
            run.proceed(1)
            found.append(seen(p))
            p.far[3], p.own, p.sum[7] = 5, p.own * 2, 1
        made.append((found, seen(p)))
    np.testing.assert_equal(made[1], made[0])


def test_errors(several):
    g = graphs()[0]
    p, q = (given(there) for there in (g.to(several), g))
    with pytest.raises(FunctorError, match="picky"):
        fr.Compute(picky, over="vertices")(p)
    assert seen(p)["sum"] == seen(q)["sum"]
    before = seen(p)["value"]
    fr.Compute(grow, over="vertices")(p)  # the next run is as good as ever
    assert seen(p)["value"] == [each + 1 for each in before]
    p = given(g.to(several))
    loop = fr.Loop(fr.Sequence(fr.Advance(spread), over="vertices"), fr.Compute(grow), over="vertices", max_steps=3)
    for each in (p, q):
        with pytest.raises(NotConvergedError) as caught:
            loop(each)
        assert caught.value.result is each
    np.testing.assert_equal(seen(p), seen(q))


def test_programs_that_the_host_divides(several):
    g = graphs()[0]
    there = g.to(several)
    step = fr.Sequence(fr.Advance(spread), fr.Compute(grow), fr.Swap("value", "sum"), over="vertices")
    one = fr.Loop(step, times=3, over="vertices", schedule=fr.Schedule(fuse=False))
    p, q = given(there), given(g)
    run = start(one, p)
    assert isinstance(run, Group)
    run.proceed()
    assert outcome(p, run.frontier) == outcome(q, one(q))
    assert fr.triangles(there).count == fr.triangles(g).count


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_of_problems(several, copied):
    g = graphs()[0]
    p, q = fields(g.to(several)), fields(g)
    other = copied(p)
    if copied is copy.copy:  # which has the same arrays
        assert spread_fields(other).spread == spread_fields(p).spread
    else:
        if not SIMULATED:  # there an array is spread as the one is of which it is a copy
            assert spread_fields(other).spread == set()
        np.testing.assert_equal(seen(p), seen(q))
    STEP(other)
    STEP(q)
    np.testing.assert_equal(seen(other), seen(q))


# ---- memory ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not SIMULATED, reason="a GPU has room")
def test_no_room(several, monkeypatch):
    g = graphs()[0].to(several)
    monkeypatch.setattr(GpuMemory, "small", 0)
    monkeypatch.setattr(strict_cupy.pool, "limit", 500)
    with pytest.raises(fr.DeviceMemoryError, match=r"a field of a problem: .* with more GPUs each has fewer vertices"):
        fields(g)


def test_estimates(several, monkeypatch):
    """Each GPU has the part of the fields that it owns, and copies while a program runs."""
    g = graphs()[0].to(several)
    spread = g.memory_estimate("bfs")
    monkeypatch.setattr(spreading, "LEAST_FIELD", 1 << 40)
    whole = g.memory_estimate("bfs")
    owned = np.diff(g._topology.spread.starts) * (4 + g.id_dtype.itemsize)
    assert np.array_equal(np.array(spread.each) - np.array(whole.each), owned)
    assert int(spread) == max(spread.each)


@pytest.mark.skipif(SIMULATED, reason="the double of CuPy has no memory of several GPUs")
def test_memory_is_used_again(several):
    g = graphs()[0].to(several)
    last = int(several[-1])  # where fields lie that are shorter than what is mapped at a time
    kept.release()

    def places():
        made = fr.bfs(g, 5)
        return {where(made.level), where(made.parent)}

    assert places() == places() == places()
    assert kept.bytes_on(last) > 0
    held = [fr.bfs(g, 5) for _ in range(2)]
    assert len({where(array) for made in held for array in (made.level, made.parent)}) == 4
    del held
    assert kept.bytes_on(last) > 0
    gpu(last).free()
    assert kept.bytes_on(last) == 0


def pooled(index):
    """Bytes that arrays of this process use in CuPy's pool on a GPU, on which other processes may be, too."""
    with gpu(index).using():
        return detection.cupy().get_default_memory_pool().used_bytes()


@pytest.mark.skipif(SIMULATED, reason="the double of CuPy has no memory of several GPUs")
def test_memory_of_each_gpu(several):
    """Fields of which GPUs touch their own elements only are nowhere whole."""
    indices = sorted({int(each) for each in several[5:].split(",")})
    g = fr.grid(1, 1 << 23).to(several)
    own = fr.Compute(near, over="vertices")
    own(fields(g))  # which compiles it, and makes what is kept with the graph
    gc.collect()
    for index in indices:
        while kept.bytes_on(index):  # and not the queues of that run, which the next one takes
            kept._kept.pop()
    before = [pooled(index) for index in indices]
    p = fields(g)
    run = start(own, p)
    run.proceed()
    assert run.done
    more = [pooled(index) - count for index, count in zip(indices, before, strict=True)]
    size, number = sum(array.nbytes for array in p.arrays.values()), len(p.arrays)
    assert sum(more) < p.own.nbytes  # queues and the like; a copy on each GPU takes twice that
    del run, p
    gc.collect()
    parts = np.array([kept.bytes_on(index) for index in indices])
    assert size <= parts.sum() < size + (8 << 20) * number
    assert np.all(parts > size / len(indices) * 0.9)
