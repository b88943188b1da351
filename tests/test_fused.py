"""Programs that are one kernel on each of several GPUs, which exchange inside: the same as on one GPU.

Without a GPU, kernels run in the simulator. A GPU owns whole words of bitmaps, so graphs have a hundred vertices or so.
"""

from __future__ import annotations

import importlib
import os
import signal
import threading
from collections import Counter

import numpy as np
import pytest
import strict_cupy
from conftest import COUNT, GPUS

import frontier as fr
from frontier.backends.cuda import launch
from frontier.backends.cuda.simulator import operations
from frontier.backends.cuda.simulator.threads import me
from frontier.backends.run import workspace
from frontier.distributed.devices import fused, part, spreading
from frontier.errors import DeviceLostError, DeviceMemoryError, FunctorError, NotConvergedError
from frontier.memory import detection
from frontier.memory.arrays import to_host
from frontier.primitives import cc
from frontier.program.execution import start

pytestmark = pytest.mark.gpu

SIMULATED = detection.simulated()

#: Placements on several GPUs: parts of one, and two.
NAMES = ("cuda:0,0", "cuda:0,0,0", GPUS)
#: What the simulator, where a test takes seconds for each part, runs on three parts; all else on two GPUs.
ON_THREE = (
    "test_any_partition", "test_pagerank", "test_fields_that_are_exchanged", "test_piles",
    "test_a_step_on_own_elements_between_two_pushes",
)  # fmt: skip


@pytest.fixture(params=NAMES)
def several(request, monkeypatch):
    """A placement on several GPUs; at the end, every run must have been one kernel on each."""
    if SIMULATED and request.param != ("cuda:0,0,0" if request.node.originalname in ON_THREE else GPUS):
        pytest.skip("in the simulator one placement each")
    if not SIMULATED and request.param == GPUS and len(detection.every()) < COUNT:
        pytest.skip("there is one GPU only")
    begun, init = [], fused.FusedExecution.__init__

    def noting(self, step, *given):
        begun.append(step)
        init(self, step, *given)
        begun.pop()

    monkeypatch.setattr(fused.FusedExecution, "__init__", noting)
    if SIMULATED:
        with strict_cupy.simulated():
            yield request.param
    else:
        yield request.param
    assert not begun, f"left to the host: {begun}"


def graphs():
    return [
        fr.rmat(7, 4, seed=3, weights=(1, 9)),
        fr.grid(9, 15, weights=(1, 9)),
        fr.rmat(7, 4, seed=4, directed=True, weights=(1, 9)),
    ]


SCHEDULES = {"": fr.Schedule(), "pull": fr.Schedule(direction="pull"), "both": fr.Schedule(alpha=100, beta=2)}


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_search(several, number, schedule):
    if SIMULATED and number != list(SCHEDULES).index(schedule):
        pytest.skip("in the simulator one graph each")
    g = graphs()[number]
    made = fr.bfs(g.to(several), 5, schedule=SCHEDULES[schedule])
    assert np.array_equal(to_host(made.level), fr.bfs(g, 5).level)
    fr.verify.bfs(g, made)


def test_a_rule_goes_by_whole_frontiers(several):
    """Several GPUs pull in the same passes as one, although each has a part of the frontier."""
    g, ways = graphs()[0], []
    for there in ("cuda", several):
        with fr.trace() as t:
            fr.bfs(g.to(there), 5, schedule=fr.Schedule(switch="gunrock"))
        ways.append([row.direction for row in t.rows if row.step.startswith("Advance")])
    assert ways[0] == ways[1]
    assert {*ways[0]} == {"push", "pull"}


def test_components(several):
    for g in graphs():
        there, expected = g.to(several), fr.connected_components(g).label
        for method in cc.METHODS:
            assert np.array_equal(to_host(fr.connected_components(there, method=method).label), expected)


def test_pagerank(several):
    g = graphs()[2]
    options = {"tolerance": 0.01} if SIMULATED else {}
    made, expected = (fr.pagerank(there, **options).rank for there in (g.to(several), g))
    np.testing.assert_allclose(to_host(made), expected, atol=1e-7)


@pytest.mark.parametrize("number", [0, 2])
def test_shortest_paths(several, number):
    g = graphs()[number]
    made = fr.sssp(g.to(several), 5)
    assert np.array_equal(to_host(made.distance), fr.sssp(g, 5).distance)
    fr.verify.sssp(g, made)


def test_betweenness(several):
    """Frontiers that are recorded, and taken again."""
    for g in graphs()[: 1 if SIMULATED else 3]:
        made, expected = (fr.betweenness(there, sources=[1, 5]).centrality for there in (g.to(several), g))
        np.testing.assert_allclose(to_host(made), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(1 if SIMULATED else 4))
def test_any_partition(several, seed, monkeypatch):
    """GPUs own any ranges of whole words, even none."""
    rng = np.random.default_rng(seed)

    def starts(given):
        middle = np.sort(rng.integers(0, given[-1] // 32 + 2, len(given) - 2) * 32)
        return np.concatenate([[0], np.minimum(middle, given[-1]), given[-1:]])

    monkeypatch.setattr(spreading, "whole_words", starts)
    g = graphs()[seed % 2]
    there = g.to(several)
    assert np.array_equal(to_host(fr.bfs(there, 5).level), fr.bfs(g, 5).level)
    assert np.array_equal(to_host(fr.connected_components(there).label), fr.connected_components(g).label)
    if seed % 2 == 0:  # on a grid, vertices are held back
        assert np.array_equal(to_host(fr.sssp(there, 5).distance), fr.sssp(g, 5).distance)


def best(p, src, dst):
    fr.atomic_max(p.best, dst, p.value[src])
    return True


def up(p, v):
    p.value[v] = p.best[v] + v


def test_schedules_around_a_step(several):
    """They hold for what it reads of others, too."""
    made = []
    step = fr.Sequence(fr.Advance(best), fr.Compute(up), over="vertices", schedule=fr.Schedule(direction="pull"))
    g = graphs()[0]
    for each in (g, g.to(several)):
        best_yet = fr.vertex("int64", 0, combine="max")
        p = fr.Problem(each, value=fr.vertex("int64", np.arange(g.num_vertices)), best=best_yet)
        fr.Loop(step, times=3, over="vertices")(p)
        made.append(to_host(p.best).tolist())
    assert made[0] == made[1]


def test_no_room_for_in_lists(several, monkeypatch):
    """A GPU that has a part of them only does not take them for all."""
    p = fr.Problem(graphs()[2].to(several), value=fr.vertex("int64", 1), best=fr.vertex("int64", 0, combine="max"))
    run = start(fr.Loop(fr.Advance(best), times=2, over="vertices"), p, None, fr.Schedule(direction="pull"))
    find = workspace.Workspace.graph_address

    def full(self, graph, role):
        if self is run.parts[1]._workspace and role.startswith("in_"):
            raise DeviceMemoryError("no room")
        return find(self, graph, role)

    with monkeypatch.context() as patch:
        patch.setattr(workspace.Workspace, "graph_address", full)
        with pytest.raises(DeviceMemoryError):
            run.proceed()
    assert run.parts[1].in_lists == [0]
    run.proceed()
    q = fr.Problem(graphs()[2], value=fr.vertex("int64", 1), best=fr.vertex("int64", 0, combine="max"))
    fr.Loop(fr.Advance(best), times=2, over="vertices")(q)
    assert to_host(p.best).tolist() == q.best.tolist()


def test_in_lists_that_one_gpu_lacks(several, monkeypatch):
    """All make theirs again, for kernels leave together."""
    load = fused.FusedExecution._load

    def forgetful(self):
        kept = load(self)
        self.parts[-1].forget_in_lists()
        return kept

    g = graphs()[2]
    there = g.to(several)
    for source in (5, 7):
        found = fr.bfs(there, source, schedule=SCHEDULES["pull"])
        assert np.array_equal(to_host(found.level), fr.bfs(g, source).level)
        monkeypatch.setattr(fused.FusedExecution, "_load", forgetful)


# ---- own programs ----------------------------------------------------------------------------------------


def spread(p, src, dst):
    """Add to the far end, and offer it the least."""
    fr.atomic_add(p.sum, dst, p.value[src])
    fr.atomic_min(p.least, dst, p.value[src])
    return p.value[src] % 3 == 0


def grow(p, v):
    p.value[v] += 1 + p.sum[v] % 5


def given(g, **more):
    ids = np.arange(g.num_vertices)
    return fr.Problem(
        g, value=fr.vertex("int64", ids % 7), sum=fr.vertex("int64"), least=fr.vertex("int64", 99, combine="min"),
        total=fr.scalar("int64"), real=fr.scalar("float64"), turns=fr.scalar("int64", 3), **more,
    )  # fmt: skip


def outcome(p, f):
    fields = {name: to_host(array).tolist() for name, array in p.arrays.items()}
    return fields, {name: value[0].item() for name, value in p.scalars.items()}, sorted(to_host(f.ids).tolist())


def test_sums_and_minima_at_far_ends(several):
    """Sums are read, and added to again, in later passes."""
    step = fr.Sequence(
        fr.Loop(
            fr.Sequence(fr.Advance(spread), over="vertices"), fr.Compute(grow),
            fr.Reduce(lambda p, v: p.value[v], "sum", into="total"),
            fr.Reduce(lambda p, v: 1 / (1 + p.value[v]), "max", into="real"),
            times="turns",
        ),
        fr.Filter(lambda p, v: p.value[v] % 2 == 0),
        over="vertices",
    )  # fmt: skip
    for g in graphs():
        p, q = given(g), given(g.to(several))
        assert outcome(p, step(p)) == outcome(q, step(q))


def claim(p, src, dst):
    if p.owner[dst] == -1 and src % 3 > 0:
        p.owner[dst] = src
        p.twice[dst] = 2 * src


def test_a_field_that_follows_another(several):
    """It has the value of the GPU whose claim counts."""
    if not SIMULATED:
        pytest.skip("threads of a GPU would store the two fields in any order")
    g = graphs()[0]
    p = fr.Problem(
        g.to(several), owner=fr.vertex("int32", -1, combine="claim"), twice=fr.vertex("int64", -2, with_="owner")
    )
    fr.Advance(claim, output=None, over="vertices")(p)
    owner, twice = to_host(p.owner), to_host(p.twice)
    src, dst = np.asarray(g.sources), np.asarray(g.targets)
    assert set(np.flatnonzero(owner >= 0)) == set(dst[src % 3 > 0])
    assert np.array_equal(twice, 2 * owner)


def mean(p, src, dst):
    return p.old[src]


def test_fields_that_are_exchanged(several):
    """Swap exchanges what the other GPUs read, too."""
    step = fr.Loop(fr.Gather(mean, "sum", into="new"), fr.Swap("old", "new"), times=3, over="vertices")
    for g in graphs()[::2]:
        made = []
        for there in (g, g.to(several)):
            p = fr.Problem(there, old=fr.vertex("int64", np.arange(g.num_vertices)), new=fr.vertex("int64"))
            step(p)
            made.append(to_host(p.old).tolist())
        assert made[0] == made[1]


def number(p, v):
    return v


def note(p, v):
    p.seen[v] += v


def third(p, v):
    return v % 3 == 0


def number_of_edge(p, src, dst, edge):
    return src + 3 * dst + edge


def upward(p, src, dst):
    return src < dst


def test_everything_and_parts_of_it(several):
    """A frontier that is everything is a range on each GPU, and one that is filtered a list."""
    step = fr.Sequence(
        fr.Sequence(
            fr.Reduce(number, "sum", into="all"), fr.Compute(note), fr.Filter(third), fr.Compute(note),
            fr.Reduce(number, "sum", into="some"), over="vertices",
        ),
        fr.Sequence(
            fr.Reduce(number_of_edge, "sum", into="edges"), fr.Filter(upward),
            fr.Reduce(number_of_edge, "sum", into="up"), over="edges",
        ),
        fr.Loop(fr.Split(third, rest="late"), fr.Compute(note), times=1, over="vertices"),
        fr.Loop(fr.Filter(third), fr.Compute(note), take="late", max_steps=9),
    )  # fmt: skip
    for g in graphs()[::2]:
        made = []
        for there in (g, g.to(several)):
            scalars = {name: fr.scalar("int64") for name in ("all", "some", "edges", "up")}
            p = fr.Problem(there, seen=fr.vertex("int64"), late=fr.pile(), **scalars)
            step(p)
            made.append((to_host(p.seen).tolist(), *(int(getattr(p, name)) for name in scalars)))
        assert made[0] == made[1]


def turn(p, v):
    p.real[v] = -p.real[v]


def take(p, src, dst):
    fr.atomic_add(p.sum, dst, p.real[src])


def test_what_is_stored_over_an_equal_number(several):
    """0 becomes -0, which is equal; a number that is none is never equal."""
    values = np.array([0.0, -0.0, 1.0, np.nan, -np.inf])
    step = fr.Sequence(fr.Advance(take, output=None), fr.Compute(turn), fr.Advance(take, output=None), over="vertices")
    g = graphs()[0]
    made = []
    for there in (g, g.to(several)):
        real = np.resize(values, g.num_vertices)
        p = fr.Problem(there, real=fr.vertex("float64", real), sum=fr.vertex("float64", combine="sum"))
        step(p)
        made.append((to_host(p.real), to_host(p.sum)))
    (real, total), (there_real, there_total) = made
    np.testing.assert_array_equal(there_real, real)
    numbers = ~np.isnan(real)
    assert np.array_equal(np.signbit(there_real[numbers]), np.signbit(real[numbers]))
    np.testing.assert_array_equal(there_total, total)


def test_piles(several):
    """Each GPU has the elements of a pile that it owns."""
    step = fr.Sequence(
        fr.Split(lambda p, v: p.value[v] > 2, rest="late"),
        fr.Advance(spread),
        fr.Loop(fr.Compute(grow), fr.Split(lambda p, v: p.value[v] > 6, rest="late"), take="late", max_steps=50),
        over="vertices",
    )
    g = graphs()[0]
    p, q = given(g, late=fr.pile()), given(g.to(several), late=fr.pile())
    assert outcome(p, step(p)) == outcome(q, step(q))


def test_part_of_a_frontier(several):
    g = graphs()[0]
    ids = np.arange(0, g.num_vertices, 5)
    made = []
    for there in (g, g.to(several)):
        p = given(there)
        made.append(outcome(p, fr.Advance(spread)(p, fr.Frontier(there, ids))))
    assert made[0] == made[1]


# ---- pauses and errors -----------------------------------------------------------------------------------


def test_runs_that_pause(several):
    """Fields are whole at every pause, and what is written to them then counts."""
    g = graphs()[1]
    made = []
    for there in (g, g.to(several)):
        p = given(there)
        step = fr.Loop(fr.Sequence(fr.Advance(spread), over="vertices"), fr.Compute(grow), times=4, over="vertices")
        run, seen = start(step, p), []
        while not run.done:
            run.proceed(1)
            seen.append(to_host(p.sum).tolist())
            p.value[3] = 5
        made.append((seen, run.passes, outcome(p, run.frontier)))
    assert made[0] == made[1]


def picky(p, v):
    for k in range(0, 1, v - 100):  # which may not be 0
        p.value[v] += k


def test_trace(several):
    """Rows are those of the first GPU: its part of each frontier. Sums are of each."""
    g = graphs()[0].to(several)
    with fr.trace() as t:
        found = fr.bfs(g, 5)
    rows = [row for row in t.rows if row.step.startswith("Advance")]
    assert len(rows) == int(to_host(found.level).max()) + 1
    assert all(row.direction in ("push", "pull") for row in rows)
    assert list(t.ranks) == list(range(several.count(",") + 1))
    for total in t.ranks.values():
        assert total.exchanges >= len(rows)
        assert total.sent > 0
        assert min(total.computing, total.merging, total.waiting) > 0


def test_a_functor_that_raises_on_one_gpu(several):
    p = given(graphs()[0].to(several))
    with pytest.raises(FunctorError, match="picky"):
        fr.Compute(picky, over="vertices")(p)
    fr.Compute(grow, over="vertices")(p)  # the next run is as good as ever


def picky_later(p, v):
    p.value[v] += 1
    if v == 3 and p.value[v] == 2:
        for i in range(0, 3, v - 3):  # a step of 0
            p.value[v] += i


def test_an_error_in_a_loop_that_has_nothing_to_tell(several):
    """Its passes do not meet, and it ends, or pauses, before all have heard of the error."""
    loop = fr.Loop(fr.Compute(picky_later), over="vertices", max_steps=5)

    class Later(fr.Enactor):
        pass

    Later.loop = loop
    for options in ({}, {"max_steps": 4}, {"on_step": None}):
        seen = []
        if "on_step" in options:
            options = {"on_step": seen.append}
        p = fr.Problem(fr.path(200).to(several), value=fr.vertex("int64"))
        with pytest.raises(FunctorError, match="picky_later"):
            Later(p).run(**options)
        assert len(seen) < 2  # the second pass has failed
        p.value = 10
        with pytest.raises(NotConvergedError):  # the next run is as good as ever
            Later(p).run()


def test_zeros_of_both_signs(several):
    """A change from 0 to -0 concerns whoever divides by it."""
    def negate(p, v):
        p.x[v] = -0.0 * p.one

    def add(p, v):
        fr.atomic_add(p.x, v, 0.0)  # -0 + 0 is 0

    def invert(p, src, dst):
        p.y[src] = 1 / p.x[dst]

    far = [[0, *range(1, 100)], [*range(100, 200)]]
    g = fr.from_edges(far[0] + far[1], far[1] + far[0], num_vertices=200, directed=True).to(several)
    for step, given_, expected in ((negate, 0.0, -np.inf), (add, -0.0, np.inf)):
        for dtype in ("float32", "float64"):
            p = fr.Problem(g, x=fr.vertex(dtype, given_), y=fr.vertex("float64"), one=fr.scalar("float64", 1.0))
            fr.Sequence(fr.Compute(step), fr.Advance(invert, output=None), over="vertices")(p)
            assert set(to_host(p.y).tolist()) == {expected}


def test_a_run_that_does_not_end(several):
    p = given(graphs()[0].to(several))
    with pytest.raises(NotConvergedError):
        fr.Loop(fr.Compute(grow), over="vertices", max_steps=3)(p)


@pytest.mark.parametrize("inner", [False, True])
def test_ctrl_c_where_gpus_have_nothing_to_tell(several, inner):
    """They meet once in a while all the same."""
    p = given(graphs()[0].to(several), many=fr.scalar("int64", 3))
    body = fr.Loop(fr.Compute(grow), times=3) if inner else fr.Compute(grow)
    loop = fr.Loop(body, times="many", over="vertices")
    loop(p)  # which compiles it
    p.many = 1 << 40
    pressed = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
    pressed.start()
    with pytest.raises(KeyboardInterrupt):
        loop(p)
    pressed.join()
    values = to_host(p.value).tolist()
    fr.Compute(grow, over="vertices")(p)  # the next run is as good as ever
    assert to_host(p.value).tolist() == [value + 1 for value in values]


def test_a_gpu_that_does_not_come(several, monkeypatch):
    """The others wait for some time, and say so."""
    if not SIMULATED:
        pytest.skip("a kernel that is not launched would take ten seconds")
    monkeypatch.setattr("frontier.distributed.devices.meeting.PATIENCE", 10**9)
    monkeypatch.setattr(part.Part, "simulate", _all_but_the_last(part.Part.simulate))
    p = given(graphs()[0].to(several))
    with pytest.raises(DeviceLostError, match="wait"):
        fr.Sequence(fr.Filter(lambda p, v: v > 3), over="vertices")(p)


def test_patience_is_for_other_gpus(several, monkeypatch):
    """It begins when all blocks of a GPU have ended the phase: one of them may take as long as it likes."""
    if not SIMULATED:
        pytest.skip("the simulator says which block is where")
    meeting = importlib.import_module("frontier.distributed.devices.meeting")
    arrived, asked, arrive = Counter(), [], meeting.release_add

    def late(C, at, value):
        if operations.block_index() > 0:
            for _ in range(50):  # others go on
                operations.load_acquire(C, at)
        arrived[me().block.grid] += 1
        arrive(C, at, value)

    def clock():
        asked.append(arrived[me().block.grid])  # of this GPU: where others are is not said
        return 0

    monkeypatch.setattr(meeting, "release_add", late)
    monkeypatch.setattr(meeting, "clock", clock)
    fr.Sequence(fr.Filter(lambda p, v: v > 3), over="vertices")(given(graphs()[0].to(several)))
    blocks = launch.SimulatedKernel.blocks
    assert asked
    assert all(number % blocks == 0 for number in asked)


def _all_but_the_last(simulate):
    def some(self, budget):
        if self._replica.rank < self._count - 1:
            simulate(self, budget)

    return some
