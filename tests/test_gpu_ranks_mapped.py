"""Processes of one host with a GPU each, whose kernels exchange in each other's memory."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from mpi import mpirun, processes

from frontier.distributed.partition import cuts
from frontier.distributed.transport import device_arrays
from frontier.errors import FrontierError

#: What each process begins with: ``runs`` are those that have begun, ``whole`` and ``there`` the same graph.
BEGIN = """
import os, signal, sys, threading, time
import numpy as np, frontier as fr
from frontier.distributed.devices import on_rank
from frontier.distributed.transport.communicators import world
from frontier.memory import detection
if len(detection.every()) < 2:
    print("one GPU", flush=True)
    raise SystemExit
runs, agreed = [], on_rank.agreed
def noting(*given):
    runs.append(agreed(*given))
    return runs[-1]
on_rank.agreed = noting
rank = world().rank
whole = fr.rmat(13, 8, seed=5, weights=(1, 9))
there = fr.rmat(13, 8, seed=5, weights=(1, 9), placement="ranks,cuda")

def spread(p, src, dst):
    fr.atomic_add(p.sum, dst, p.value[src])
    fr.atomic_min(p.least, dst, p.value[src])
    return p.value[src] % 3 == 0

def grow(p, v):
    p.value[v] += 1 + p.sum[v] % 5

def picky(p, v):
    for k in range(0, 1, v - 100):  # which may not be 0
        p.value[v] += k

def given(g, **more):
    return fr.Problem(
        g, value=fr.vertex("int64", np.arange(g.num_vertices) % 7), sum=fr.vertex("int64"),
        least=fr.vertex("int64", 99, combine="min"), total=fr.scalar("int64"), **more)
"""

several = [pytest.mark.gpu, processes, pytest.mark.unsimulated("processes have no memory of GPUs in common")]


def on_two(folder, program, **more):
    made = mpirun(2, folder, BEGIN + program, **more)
    if "one GPU" in made.stdout:
        pytest.skip("there is one GPU")
    return made


def passed(made):
    """Both have come to the end."""
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 2


class TestSeveral:
    pytestmark = several

    @pytest.mark.parametrize("long", ["0", ""])
    def test_primitives_are_the_same(self, tmp_path, long):
        """Whether fields stay in parts or all ranks are told them."""
        passed(on_two(tmp_path, """
for g in (whole.to("ranks,cuda"), there):
    for source in (3, 11):
        assert np.array_equal(fr.bfs(g, source).level, fr.bfs(whole, source).level)
        assert np.array_equal(fr.sssp(g, source).distance, fr.sssp(whole, source).distance)
    assert np.array_equal(fr.connected_components(g, method="hooking").label, fr.connected_components(whole).label)
    np.testing.assert_allclose(fr.pagerank(g).rank, fr.pagerank(whole).rank, rtol=1e-5)
    made, expected = (fr.betweenness(each, sources=[3, 5]).centrality for each in (g, whole))
    np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-6)
    assert fr.triangles(g).count == fr.triangles(whole).count  # between steps
assert runs.count(None) < len(runs) / 3, runs
print("right", flush=True)
""", FRONTIER_RANKS_WHOLE=long))  # fmt: skip

    def test_a_directed_graph_in_parts(self, tmp_path):
        """Ranks send each other in-edges before kernels walk them."""
        passed(on_two(tmp_path, """
whole = fr.rmat(13, 8, seed=6, directed=True)
there = fr.rmat(13, 8, seed=6, directed=True, placement="ranks,cuda")
for source in (3, 11):
    for direction in ("auto", "push", "pull"):
        found = fr.bfs(there, source, schedule=fr.Schedule(direction=direction))
        assert np.array_equal(found.level, fr.bfs(whole, source).level)
assert np.array_equal(fr.connected_components(there).label, fr.connected_components(whole).label)
np.testing.assert_allclose(fr.pagerank(there).rank, fr.pagerank(whole).rank, rtol=1e-5)
assert runs and None not in runs
print("right", flush=True)
"""))  # fmt: skip

    def test_own_programs(self, tmp_path):
        """Sums and minima at far ends, frontiers, piles; what is changed between two runs counts."""
        passed(on_two(tmp_path, """
step = fr.Sequence(
    fr.Split(lambda p, v: p.value[v] > 2, rest="late"),
    fr.Loop(fr.Sequence(fr.Advance(spread), over="vertices"), fr.Compute(grow),
            fr.Reduce(lambda p, v: p.value[v], "sum", into="total"), times=3),
    fr.Filter(lambda p, v: p.value[v] % 2 == 0), over="vertices")
for g in (whole.to("ranks,cuda"), there):
    p, q = given(whole, late=fr.pile()), given(g, late=fr.pile())
    for number in range(4):
        p.value[number], q.value[number] = 70, 70
        ids = [sorted(step(each).ids.tolist()) for each in (p, q)]
        assert ids[0] == ids[1]
        assert p.total == q.total
        assert sorted(p.late.ids.tolist()) == sorted(q.late.ids.tolist())
        for name in ("value", "sum", "least"):
            assert np.array_equal(getattr(q, name), getattr(p, name)), name
assert runs and None not in runs
print("right", flush=True)
"""))  # fmt: skip

    def test_memory_is_used_again(self, tmp_path):
        passed(on_two(tmp_path, """
sizes = []
for number in range(12):
    fr.bfs(there, 3 + number)
    sizes.append(sum(runs[-1]._reach._exports.sizes().values()))
    runs.clear()
assert sizes[3:] == sizes[2:-1], sizes
print("right", flush=True)
"""))  # fmt: skip

    def test_results_make_room(self, tmp_path):
        """They go to the host where a GPU has no room for a run, and others let go of its memory."""
        passed(on_two(tmp_path, """
import cupy
g = fr.path(1 << 22).to("ranks,cuda")
def rise(p, v):
    p.value[v] += 1 + v % 3
step = fr.Compute(rise, over="vertices")
def made():
    p = fr.Problem(g, value=fr.vertex("int64", 5))
    step(p)
    assert runs.pop() is not None  # and its arrays go with it
    return p
def away(p):
    return p._store.field(p.arrays["value"]).away is not None
assert away(made())
with cupy.cuda.Device(world().local):
    taken = cupy.empty(cupy.cuda.runtime.memGetInfo()[0] - (500 << 20), np.uint8)
    results = [made() for _ in range(40)]
assert away(results[-1]) and not away(results[0])
expected = (6 + np.arange(1 << 22) % 3).sum()
assert all(p.value.sum() == expected for p in results)
print("right", flush=True)
""", FRONTIER_RANKS_WHOLE="0"))  # fmt: skip

    def test_a_functor_that_raises_on_one_rank(self, tmp_path):
        """All raise its error, and go on."""
        made = on_two(tmp_path, """
p = given(there)
try:
    fr.Compute(picky, over="vertices")(p)
except fr.FrontierError as error:
    print(" ".join([str(error), *error.__notes__, "."]), flush=True)
before = np.asarray(p.value).tolist()
fr.Compute(grow, over="vertices")(p)
assert np.asarray(p.value).tolist() != before
assert np.array_equal(fr.bfs(there, 3).level, fr.bfs(whole, 3).level)
assert None not in runs
print("right", flush=True)
""")  # fmt: skip
        passed(made)
        assert len(re.findall(r"\(rank \d of 2\)", made.stdout)) == 2

    def test_different_programs(self, tmp_path):
        made = on_two(tmp_path, """
fr.bfs(there, 3 + rank)
""")  # fmt: skip
        assert made.returncode != 0
        assert "rank 1 has not the same p.source as rank 0" in made.stderr

    @pytest.mark.parametrize("signal", ["SIGINT", "SIGKILL"])
    def test_a_rank_that_is_stopped(self, tmp_path, signal):
        """By Ctrl-C on one rank all stop, and go on; if it is killed, all end soon."""
        begun = time.perf_counter()
        made = on_two(tmp_path, f"""
p = given(there, turns=fr.scalar("int64", 3))
loop = fr.Loop(fr.Compute(grow), over="vertices", times="turns")
loop(p)
p.turns = 1 << 60
world().allgather(None)
if rank == 1:
    threading.Timer(3, os.kill, (os.getpid(), signal.{signal})).start()
try:
    loop(p)
except KeyboardInterrupt:
    print("stopped", flush=True)
assert np.array_equal(fr.bfs(there, 3).level, fr.bfs(whole, 3).level)
print("right", flush=True)
""")  # fmt: skip
        if signal == "SIGINT":
            passed(made)
            assert made.stdout.count("stopped") == 2
        else:
            assert made.returncode != 0
            assert "right" not in made.stdout
            assert time.perf_counter() - begun < 60

    def test_not_if_not_wanted(self, tmp_path):
        passed(on_two(tmp_path, """
assert np.array_equal(fr.bfs(there, 3).level, fr.bfs(whole, 3).level)
assert not runs
print("right", flush=True)
""", FRONTIER_RANKS_IN_KERNELS="0"))  # fmt: skip


def test_it_is_wanted_or_not(monkeypatch):
    for text, wanted in (("", True), ("1", True), (" 0 ", False)):
        monkeypatch.setenv("FRONTIER_RANKS_IN_KERNELS", text)
        assert device_arrays.in_kernels() is wanted
    monkeypatch.setenv("FRONTIER_RANKS_IN_KERNELS", "yes")
    with pytest.raises(FrontierError, match="FRONTIER_RANKS_IN_KERNELS='yes': 1 to let"):
        device_arrays.in_kernels()


def test_ranks_own_whole_words_of_bitmaps():
    """Unless the graph is small."""
    many = 3 * cuts.WORDS_FROM
    assert cuts.of_ranks(np.array([0, 4000, 9007, many])).tolist() == [0, 4000, 8992, many]
    assert cuts.of_ranks(np.array([0, 4001, 9017, many])).tolist() == [0, 4000, 9024, many]
    assert cuts.of_ranks(np.array([0, 4001, 9017, many - 1])).tolist() == [0, 4001, 9017, many - 1]
