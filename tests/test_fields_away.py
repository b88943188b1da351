"""Fields that kernels of ranks leave on the GPUs: whoever looks at them finds what the host would have.

Each rank is a thread that runs the whole program, as a process under mpirun does.
"""

from __future__ import annotations

import copy
import threading
from contextlib import nullcontext

import numpy as np
import pytest
import strict_cupy
from test_fused import SIMULATED
from test_on_rank import Same, on_threads

import frontier as fr
from frontier.distributed.devices import on_rank
from frontier.distributed.partition import cuts
from frontier.distributed.ranks import deferred_fields, field_storage, mapped_memory, step_problem, visible_fields
from frontier.distributed.transport import communicators
from frontier.distributed.transport.threads import Threads
from frontier.errors import DeviceMemoryError, GraphError
from frontier.program.execution import start

pytestmark = pytest.mark.gpu

HERE = threading.local()


@pytest.fixture(params=["0", "1000"], ids=["in parts", "told"])
def ranks(request, monkeypatch):
    """Call a program on two ranks, whose fields of vertices stay in parts or are told to all."""
    monkeypatch.setenv("FRONTIER_RANKS_WHOLE", request.param)
    monkeypatch.setattr(field_storage, "LEAST", 0)
    monkeypatch.setattr(cuts, "WORDS_FROM", 0)
    for module in (communicators, visible_fields):
        monkeypatch.setattr(module, "world", lambda: HERE.member)
    monkeypatch.setattr(mapped_memory, "reach", lambda comm, index: Same(comm))

    def run(program):
        def on_rank_(member):
            HERE.member = member
            program(fr.rmat(7, 4, seed=3, weights=(1, 9)).to("ranks,cuda"), member.rank)

        on_threads(on_rank_, Threads(2).members)

    run.told = request.param != "0"
    with strict_cupy.simulated() if SIMULATED else nullcontext():
        yield run


def whole():
    return fr.rmat(7, 4, seed=3, weights=(1, 9))


def grow(p, v):
    p.value[v] += 1 + p.old[v] % 5


def look(p, src, dst):
    fr.atomic_add(p.sum, src, p.value[dst])


def given(g):
    return fr.Problem(
        g, value=fr.vertex("int64", 3), old=fr.vertex("int64", np.arange(g.num_vertices)), sum=fr.vertex("int64"),
        rest=fr.vertex("float64", np.nan),
    )  # fmt: skip


GROW = fr.Compute(grow, over="vertices")
LOOK = fr.Sequence(fr.Advance(look), fr.Compute(grow), over="vertices")


def expected(*steps):
    p = given(whole())
    for step in steps:
        step(p)
    return p


def away_of(p, name):
    return p._store.field(p.arrays[name]).away


def test_they_stay_there_from_run_to_run(ranks):
    """A run finds them where the last one has left them; the host has none of them until somebody asks."""
    known = expected(GROW, LOOK, GROW)

    def program(g, rank):
        p = given(g)
        seen = []
        for step in (GROW, LOOK, GROW):
            step(p)
            seen.append(away_of(p, "value").array)
            assert not np.any(p.arrays["value"])
        if ranks.told:  # else the look has made the field whole, which went by the host
            assert seen[0] is seen[1]
        assert seen[1] is seen[2]
        assert p._store.field(p.arrays["rest"]).fresh
        assert np.array_equal(np.asarray(p.value), known.value)
        assert away_of(p, "value") is None
        assert np.array_equal(p.sum, known.sum)
        assert np.isnan(p.rest).all()

    if not ranks.told:
        known = expected(GROW, GROW)

        def program(g, rank):
            p = given(g)
            GROW(p)
            first = away_of(p, "value").array
            GROW(p)
            assert away_of(p, "value").array is first
            assert not np.any(p.arrays["value"])
            assert p.value.in_parts
            assert np.array_equal(np.asarray(p.value), known.value)

    ranks(program)


LOOKS = {
    "own": lambda p: p.value.own.tolist() == KNOWN.value[p.value.first :][: len(p.value.own)].tolist(),
    "sum": lambda p: p.value.sum() == KNOWN.value.sum(),
    "arithmetic": lambda p: np.array_equal(np.asarray(p.value * 2 + p.sum), KNOWN.value * 2 + KNOWN.sum),
    "in place": lambda p: doubled(p).tolist() == (KNOWN.value * 2).tolist(),
    "an element": lambda p: [p.value[v] for v in (0, 40, 127)] == KNOWN.value[[0, 40, 127]].tolist(),
    "text": lambda p: np.asarray(p.value).size and str(p.value) == str(KNOWN.value),
    "a copy": lambda p: np.array_equal(copy.deepcopy(p).value, KNOWN.value),
    "on the host": lambda p: host_sum(p) == KNOWN.value.sum(),
    "between steps": lambda p: scanned(p) == (np.cumsum(KNOWN.value) - KNOWN.value).tolist(),
}
KNOWN = expected(LOOK)


def doubled(p):
    p.value *= 2
    return np.asarray(p.value)


def host_sum(p):
    return int(np.asarray(p.value).sum())


def scanned(p):
    fr.Scan(lambda p, v: p.value[v], into="old", over="vertices")(p)
    return np.asarray(p.old).tolist()


@pytest.mark.parametrize("how", LOOKS)
def test_whoever_looks_at_them(ranks, how):
    def program(g, rank):
        p = given(g)
        LOOK(p)
        assert away_of(p, "value") is not None
        assert LOOKS[how](p)

    ranks(program)


def test_pairs(ranks):
    """Two fields in each other's gaps, in the host's memory and on the GPU."""
    known = fr.sssp(whole(), 5)

    def program(g, rank):
        for _ in range(2):
            found = fr.sssp(g, 5)
            assert np.array_equal(np.asarray(found.distance), known.distance)
            fr.verify.sssp(whole(), found).raise_if_failed()

    ranks(program)


def test_arrays_that_the_program_holds_follow(ranks):
    """A view of own elements, and a whole array, have what later runs make of them."""
    known = expected(GROW, GROW)

    def program(g, rank):
        p = given(g)
        GROW(p)
        own, held = p.value.own, np.asarray(p.value)
        GROW(p)
        assert own.tolist() == known.value[p.value.first :][: len(own)].tolist()
        assert held.tolist() == known.value.tolist()

    ranks(program)


def test_what_the_host_writes_counts(ranks):
    p = expected(GROW)
    p.value, p.sum = np.arange(128) % 7, 2
    p.value[5] = 40
    LOOK(p)

    def program(g, rank):
        q = given(g)
        GROW(q)
        q.value, q.sum = np.arange(128) % 7, 2
        q.value[5] = 40
        LOOK(q)
        for name in ("value", "sum"):
            assert np.array_equal(np.asarray(getattr(q, name)), getattr(p, name))

    ranks(program)


def test_a_pause_with_another_run_that_swaps(ranks):
    """Arrays have changed their names meanwhile; on ranks, a run goes on with fields of the same names."""
    loop = fr.Loop(GROW, times=4, over="vertices")
    swap = fr.Loop(GROW, fr.Swap("value", "old"), times=1, over="vertices")

    def go(g):
        p = given(g)
        run = start(loop, p)
        run.proceed(2)
        swap(p)
        while not run.done:
            run.proceed()
        return {name: np.asarray(getattr(p, name)).tolist() for name in ("value", "old")}

    known = go(whole().to("ranks:2"))
    ranks(lambda g, rank: go(g) == known or pytest.fail(f"rank {rank} has something else"))


def test_ranks_compare_what_one_has_changed(ranks):
    """Where a rank has looked alone, all compare; where it has written, all raise."""

    def program(g, rank):
        p = given(g)
        if rank:
            print(p.rest)
        GROW(p)
        p.rest = 1.5
        GROW(p)
        if rank:
            p.rest = 2.5
        with pytest.raises(GraphError, match=r"rank 1 has not the same p\.rest as rank 0"):
            GROW(p)

    ranks(program)


def test_fields_of_another_value(ranks):
    def program(g, rank):
        p = fr.Problem(g, value=fr.vertex("int64", rank), old=fr.vertex("int64"))
        with pytest.raises(GraphError, match=r"rank 1 has not the same p\.value as rank 0"):
            GROW(p)

    ranks(program)


def scan(p):
    fr.Scan(lambda p, v: p.old[v], into="sum", over="vertices")(p)


@pytest.mark.parametrize("where", ["in kernels", "between steps"])
def test_results_make_room_for_a_run(ranks, monkeypatch, where):
    """They go to the host on all ranks where one GPU has too little memory."""
    kind, name = (on_rank.RankExecution, "make") if where == "in kernels" else (step_problem.StepProblem, "of")
    step, field = (GROW, "value") if where == "in kernels" else (scan, "sum")
    left, made = threading.local(), getattr(kind, name)

    def scarce(*given):
        left.times = getattr(left, "times", 0) - 1
        if left.times >= 0:
            raise DeviceMemoryError("no room")
        return made(*given)

    monkeypatch.setattr(kind, name, scarce)
    known = expected(step), expected(GROW, GROW)

    def program(g, rank):
        p, q = given(g), given(g)
        GROW(p)
        left.times = 2
        with pytest.raises(DeviceMemoryError) as caught:
            step(q)
        assert caught.value.__notes__ == ["(rank 0 of 2)"]
        q = given(g)
        assert away_of(p, "value") is None
        GROW(p)
        assert away_of(p, "value") is not None
        left.times = rank
        step(q)
        assert away_of(p, "value") is None
        assert np.array_equal(np.asarray(getattr(q, field)), getattr(known[0], field))
        assert np.array_equal(np.asarray(p.value), known[1].value)

    monkeypatch.setattr(deferred_fields, "_living", Own())
    ranks(program)


class Own:
    """What lies on the GPU of this thread, as each process has its own."""

    def __init__(self):
        self._here = threading.local()

    def add(self, each):
        self._here.__dict__.setdefault("all", []).append(each)

    def __iter__(self):
        return iter(list(self._here.__dict__.get("all", ())))


def first(p, src):
    return p.old[src]


def test_elements_given_one_by_one(ranks):
    """They are written as late as the field itself, in the host's memory and on the GPU."""

    def go(g):
        p = fr.Problem(g, value=fr.vertex("int64", 7), old=fr.vertex("int64", 1), sum=fr.vertex("int64"))
        p.old[3], p.old[-1], p.old[100], p.old[3] = 5, 6, 7, np.int8(8)
        p.value[90] = 2
        GROW(p)
        fr.Gather(first, "sum", into="sum", over="vertices")(p)
        p.old = 2
        p.old[64] = 9
        GROW(p)
        p.sum[:] = 4
        p.sum[5] = 1
        fr.Gather(first, "sum", into="sum", over="vertices")(p)
        fr.Scan(lambda p, v: p.old[v], into="value", over="vertices")(p)
        with pytest.raises(IndexError, match="128"):
            p.old[128] = 0
        return p

    known = go(whole())

    def program(g, rank):
        p = go(g)
        for name in ("value", "old", "sum"):
            assert np.array_equal(np.asarray(getattr(p, name)), getattr(known, name)), name

    ranks(program)


def test_nothing_is_written_on_the_host(ranks):
    def program(g, rank):
        p = fr.Problem(g, value=fr.vertex("int64", 7), old=fr.vertex("int64", 1))
        p.old[3] = p.old[100] = 5
        p.value = 2
        GROW(p)
        for name in ("value", "old"):
            assert not np.any(p.arrays[name]), name
        assert (np.asarray(p.value) == 2 + 1 + np.asarray(p.old) % 5).all()
        assert np.flatnonzero(p.old == 5).tolist() == [3, 100]

    ranks(program)


def test_many_elements_given_one_by_one(ranks):
    def program(g, rank):
        p = fr.Problem(g, value=fr.vertex("int64", 7), old=fr.vertex("int64", 1))
        for v in range(100):
            p.old[v] = v
        assert len(p._store.field(p.arrays["old"])._given) <= field_storage.FEW
        GROW(p)
        assert np.asarray(p.value).tolist() == [8 + v % 5 for v in range(100)] + [9] * 28

    ranks(program)


def test_an_element_given_by_one_rank(ranks):
    def program(g, rank):
        p = fr.Problem(g, value=fr.vertex("int64", 7), old=fr.vertex("int64", 1))
        if rank:
            p.old[5] = 3
        with pytest.raises(GraphError, match=r"rank 1 has not the same p\.old as rank 0"):
            GROW(p)

    ranks(program)


def test_text_of_one_rank(ranks):
    """It writes there what is not written elsewhere; ranks still have the same."""

    def program(g, rank):
        p = fr.Problem(g, value=fr.vertex("int64", 7), old=fr.vertex("int64", 1))
        p.old[5] = p.old[90] = 3
        if rank:
            assert str(p.old) == str(np.where(np.isin(np.arange(128), (5, 90)), 3, 1))
        GROW(p)
        assert np.flatnonzero(np.asarray(p.value) != 9).tolist() == [5, 90]
        assert np.flatnonzero(np.asarray(p.old) == 3).tolist() == [5, 90]

    ranks(program)
