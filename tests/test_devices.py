"""Programs on several GPUs of one process: the same as on one. A GPU that is named twice stands for two."""

from __future__ import annotations

import numpy as np
import pytest
import strict_cupy
from conftest import COUNT, GPUS
from test_fuzz_programs import _fuzz

import frontier as fr
from frontier.distributed.ranks import walk
from frontier.distributed.ranks.access import Access
from frontier.memory import detection
from frontier.memory.arrays import to_host
from frontier.program.execution import start

SMALL = detection.simulated()


#: Placements on several GPUs: parts of one, and two.
NAMES = ("cuda:0,0", "cuda:0,0,0", GPUS)


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.gpu) for name in NAMES])
def several(request):
    """A placement on several GPUs, in the simulator on a double of CuPy that has two."""
    if detection.simulated():
        with strict_cupy.simulated():
            yield request.param
    else:
        if request.param == GPUS and len(detection.every()) < COUNT:
            pytest.skip("there is one GPU only")
        yield request.param


@pytest.fixture
def two():
    """Two GPUs, doubles unless there are two."""
    if detection.available() and not detection.simulated() and len(detection.every()) > 1:
        yield
    else:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("NUMBA_ENABLE_CUDASIM", "1")
            with strict_cupy.simulated():
                yield


def graphs():
    if SMALL:
        return [fr.rmat(4, 6, seed=3, weights=(1, 9)), fr.grid(3, 4, weights=(1, 9))]
    return [fr.rmat(9, 8, seed=3, weights=(1, 9)), fr.grid(19, 22, weights=(1, 9))]


@pytest.mark.parametrize("number", [0, 1])
def test_primitives_are_the_same(several, number):
    if SMALL and number != (several == GPUS):
        pytest.skip("in the simulator one graph each, as they take half a minute there")
    g = graphs()[number]
    there = g.to(several)
    assert there.backend == several
    assert np.array_equal(to_host(fr.bfs(there, 5).level), fr.bfs(g, 5).level)
    fr.verify.bfs(g, fr.bfs(there, 5))
    fr.verify.sssp(g, fr.sssp(there, 5))
    assert np.array_equal(to_host(fr.connected_components(there).label), fr.connected_components(g).label)
    tolerance = 0.01 if SMALL else 1e-9
    ranks = [to_host(fr.pagerank(each, tolerance=tolerance).rank) for each in (there, g)]
    np.testing.assert_allclose(*ranks, rtol=1e-9)
    np.testing.assert_allclose(
        to_host(fr.betweenness(there, [5, 9]).centrality), fr.betweenness(g, [5, 9]).centrality, rtol=1e-9, atol=1e-12
    )


def test_several_programs_are_the_same(several):
    for directed in (True,) if SMALL else (False, True):
        g = fr.rmat(3 if SMALL else 8, 3, seed=3, weights=(1, 9), directed=directed)
        there = g.to(several)
        assert np.array_equal(to_host(fr.bfs_many(there, range(5)).level), fr.bfs_many(g, range(5)).level)
        for weighted in (False, True):
            found = fr.shortest_path(there, 0, 3, weighted=weighted)
            assert found.distance == fr.shortest_path(g, 0, 3, weighted=weighted).distance
        assert fr.max_flow(there, 0, 3).value == fr.max_flow(g, 0, 3).value
        assert fr.transitive_closure(there).pairs == fr.transitive_closure(g).pairs


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["cuda:0,0", "cuda:0,0,0"])
def test_random_programs_leave_the_same_on_python_and_several_gpus(name):
    said = _fuzz("--programs", "3" if SMALL else "8", "--graphs", "2", "--seed", "60", "--backend", name)
    assert "0 refused, 0 differences" in said


@pytest.mark.gpu
def test_random_programs_that_are_one_kernel_on_each_gpu_leave_the_same():
    said = _fuzz("--programs", "12", "--graphs", "2", "--seed", "126", "--backend", "cuda:0,0,0", "--inside")
    assert "0 refused, 0 differences" in said
    assert " 0 runs" not in said  # some are; in two, owners pack values


def gather_bits(p, src, dst):
    fr.atomic_or(p.some, dst, 1 << (src % 30))
    p.common[dst] = p.own[src]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
def test_bits_of_integers_are_merged(several, dtype):
    n = 200
    own = 127 - 2 ** (np.arange(n) % 7)
    g = fr.path(n).to(several)
    some, common = fr.vertex(dtype, 0, combine="or"), fr.vertex(dtype, 127, combine="and")
    p = fr.Problem(g, some=some, common=common, own=fr.vertex(dtype, own))
    fr.Advance(gather_bits, over="vertices", output=None)(p)
    inner = np.arange(1, n - 1)
    assert np.array_equal(to_host(p.some)[inner], 1 << ((inner - 1) % 30) | 1 << ((inner + 1) % 30))
    before, after, found = own[:-2], own[2:], to_host(p.common)[inner]  # what a GPU stores twice is one of both
    both = found == before & after
    assert both.any()
    assert (both | (found == before) | (found == after)).all()


def last(p, src, dst):
    return dst == 99


def mark(p, src, dst):
    p.marked[src] = 1


def test_edges_that_the_owners_of_their_targets_find(several):
    """They belong to the owners of their sources."""
    ends = [*range(64), 0], [*range(1, 65), 99]
    there = fr.from_edges(*ends, num_vertices=100, directed=True).to(several)
    find = fr.Advance(last, output="edge", edges="in")
    for step in (find, fr.Sequence(find, fr.Compute(mark))):
        p = fr.Problem(there, marked=fr.vertex("int64"))
        made = step(p, fr.Frontier.all(there))
        assert to_host(made.ids).tolist() == [1]
    assert np.flatnonzero(to_host(p.marked)).tolist() == [0]


def hop(p, src, dst):
    new = p.distance[src] + 1
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


def test_a_run_stops_at_pass_boundaries_and_sees_what_is_changed_there(several):
    if SMALL and several != "cuda:0,0,0":
        pytest.skip("in the simulator one placement, as each pass takes half a second there")
    g = fr.path(9).to(several)
    p = fr.Problem(g, distance=fr.vertex("int64", 99), source=fr.scalar("int64", 0))
    p.distance[0] = 0
    begun = start(fr.Loop(fr.Advance(hop), over="source"), p)
    assert begun.proceed(3) == 3
    assert to_host(p.distance).tolist() == [0, 1, 2, 3, 99, 99, 99, 99, 99]
    p.distance[3] = -10
    begun.proceed()
    assert begun.done
    assert to_host(p.distance).tolist() == [-7, -8, -9, -10, -9, -8, -7, -6, -5]


def heaviest(p, src, dst, weight):
    fr.atomic_max(p.heaviest, dst, weight, src)
    return True


def test_a_companion_comes_from_the_gpu_whose_key_was_chosen(several):
    g = graphs()[0]
    found = []
    for each in (g.to("python"), g.to(several)):
        p = fr.Problem(
            each, heaviest=fr.vertex("int32", -1, combine="max"), by=fr.vertex("int32", -1, with_="heaviest")
        )
        fr.Advance(heaviest, over="vertices")(p)
        found.append(to_host(p.heaviest))
        by = to_host(p.by)
        assert all(
            max(w for u, v, w in zip(g.sources, g.targets, g.weights, strict=True) if v == x and u == by[x])
            == found[-1][x]
            for x in np.flatnonzero(by >= 0)
        )
    assert np.array_equal(*found)


def corner(p, u, v, w):
    fr.atomic_add(p.corners, v, 1)
    return 1


def test_an_intersection_writes_at_far_ends(several):
    g = graphs()[0]
    made = []
    for each in (g.to("python"), g.to(several)):
        p = fr.Problem(each, corners=fr.vertex("int64"), total=fr.scalar("int64"))
        fr.Intersect(corner, "sum", "total", over="edges")(p)
        made.append([*to_host(p.corners).tolist(), int(p.total)])
    assert made[0] == made[1]
    assert made[0][-1] > 0


def overwrite(p, src, dst):
    p.seen[dst] = src
    return True


def test_what_cannot_be_merged_is_refused_or_left_to_one(two):
    g = fr.path(5)
    for name in ("cuda:0,1", "cuda:all"):
        p = fr.Problem(g.to(name), seen=fr.vertex("int64", -1))
        if name == "cuda:all":  # which divides what can be divided
            fr.Advance(overwrite, over="vertices")(p)
            assert to_host(p.seen)[0] == 1
        else:
            with pytest.raises(fr.FunctorError, match="declare the field with combine="):
                fr.Advance(overwrite, over="vertices")(p)


def test_names(two):
    g = fr.karate()
    assert g.to("cuda:0,1").backend == "cuda:0,1"
    assert g.to("cuda:all").backend == "cuda:all"
    assert g.to("cuda:0,1").to("cpu").backend == "cpu"
    with pytest.raises(fr.GraphError, match="there is no backend 'cuda:0,x'"):
        g.to("cuda:0,x")
    with pytest.raises(fr.BackendUnavailableError, match="cuda:7"):
        g.to("cuda:0,7")


def count_up(p, i):
    fr.atomic_add(p.value, i, 1)


def take_up(p, v):
    p.copy[v] = p.value[v]


def test_what_all_gpus_compute_as_a_whole_is_that_of_the_first(several, monkeypatch):
    """They may add up in orders of their own, as here by one for each GPU."""
    run = walk.Walk._run_inner

    def differently(self, step, f, *given):
        after = run(self, step, f, *given)
        if f is None:
            self.problem.arrays["value"][...] += self._comm.rank
        return after

    monkeypatch.setattr(walk.Walk, "_run_inner", differently)
    p = fr.Problem(fr.path(40).to(several), value=fr.vertex("int64", 5), copy=fr.vertex("int64"))
    fr.Sequence(fr.Compute(count_up, over=40), fr.Compute(take_up), over="vertices")(p)
    assert to_host(p.copy).tolist() == [6] * 40


def test_owners_keep_what_nobody_else_reads():
    g = fr.karate()
    p = fr.Problem(g, mine=fr.vertex("float64"), seen=fr.vertex("float64"), next=fr.vertex("float64"))

    def add(p, src):
        return p.seen[src]

    def keep(p, v):
        p.mine[v] += p.next[v]
        p.seen[v] = p.mine[v]

    step = fr.Loop(fr.Gather(add, "sum", into="next"), fr.Compute(keep), over="vertices", times=3)
    needed = Access(step, p, (), lambda each: False).needed
    assert [name for name, audiences in needed.items() if audiences] == ["seen"]
