"""Enactors: pausing and going on, on_step, max_steps, Ctrl-C, an overridden step, what is refused."""

from __future__ import annotations

import signal

import numpy as np
import oracles
import programs
import pytest
from compare import WORKERS, equal, ids, state, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import SIMULATED, graphs, graphs_with_vertex

import frontier as fr
from frontier.backends.run import execution
from frontier.program.execution import start

counts = st.sampled_from(WORKERS)
LARGEST, SOURCES = (6, 2) if SIMULATED else (10, 10)


def cases(g):
    """(enactor, problem, frontier, fields to compare) of programs with every construct."""
    source, sources = fr.Frontier(g, [0]), range(min(g.num_vertices, SOURCES))
    yield programs.BFS, programs.bfs_problem(g, 0), source, ("level", "depth")
    yield programs.SSSP, programs.sssp_problem(g, 0, 2), None, ("distance", "far")
    yield programs.Components, programs.components_problem(g), None, ("label",)
    yield programs.Brandes, programs.brandes_problem(g, sources), None, ("level", "centrality", "turn")
    if not g.placement.divides:  # parts refuse what it does with atomic_add's result
        yield programs.KCore, programs.kcore_problem(g), None, ("core", "rest")


#: How often these relax a vertex, or hook an edge, depends on the order of calls.
ORDERED = (programs.SSSP, programs.Components)


def chosen(p, names):
    after = state(p)
    return {name: after[name] for name in names}


@given(graphs(min_vertices=1, max_vertices=LARGEST, weights="int32"), counts, st.booleans())
def test_a_run_stopped_at_every_pass_gives_the_same(backend, g, count, fuse):
    g = backend(g)
    with workers(count):
        for whole, parts in zip(cases(g), cases(g), strict=True):
            kind, p, f, names = whole
            enactor = kind(p, fr.Schedule(fuse=fuse))
            enactor.run(f)
            stopped = kind(parts[1], fr.Schedule(fuse=fuse))
            seen = []
            stopped.run(f, on_step=lambda e, seen=seen: seen.append(e.passes) or True)
            while stopped.paused:
                stopped.resume(on_step=lambda e, seen=seen: seen.append(e.passes) or True)
            np.testing.assert_equal(chosen(stopped.problem, names), chosen(p, names))
            assert seen == list(range(1, stopped.passes + 1))
            if kind not in ORDERED:
                assert stopped.passes == enactor.passes


@given(graphs(min_vertices=1, max_vertices=LARGEST, weights="int32"), counts)
def test_a_run_that_returns_for_time_at_every_pass_gives_the_same(compiled, g, count):
    """The time budget of a call, spent at once."""
    g = compiled(g)
    before = execution.NANOSECONDS
    with workers(count):
        for whole, parts in zip(cases(g), cases(g), strict=True):
            kind, p, f, names = whole
            kind(p).run(f)
            execution.NANOSECONDS = 0
            try:
                kind(parts[1]).run(f)
            finally:
                execution.NANOSECONDS = before
            np.testing.assert_equal(chosen(parts[1], names), chosen(p, names))


@given(graphs(min_vertices=1, max_vertices=12, weights="int32"))
def test_backends_count_the_same_passes(compiled, g):
    moved = compiled(g)
    for on_python, there in zip(cases(g.to("python")), cases(moved), strict=not moved.placement.divides):
        a, b = on_python[0](on_python[1]), there[0](there[1])
        a.run(on_python[2])
        b.run(there[2])
        if there[0] not in ORDERED:
            assert a.passes == b.passes


def test_the_state_lies_in_the_problem_at_a_boundary(backend):
    """What the host sees, and changes, between two passes."""
    g = backend(fr.from_edges(range(9), range(1, 10), np.ones(9)))
    p = programs.sssp_problem(g, 0, 1.0)
    piles = []

    def look(enactor):
        piles.append(ids(p.far)[1])
        if p.distance[3] == 3.0 and p.far:
            p.far = []  # whatever waits is given up

    enactor = programs.SSSP(p)
    enactor.run(on_step=look)
    assert [] in piles
    assert any(piles)
    assert np.isinf(p.distance[5:]).all()
    assert not p.far


def test_on_step_is_called_after_every_pass(backend):
    g = backend(fr.path(5))
    for kind in (programs.BFS, programs.FreeBFS):
        p = programs.bfs_problem(g, 0)
        depths = []
        kind(p).run(fr.Frontier(g, [0]), on_step=lambda e, depths=depths: depths.append(int(e.problem.depth)))
        assert depths == [1, 2, 3, 4, 5]


def test_max_steps_raises_with_what_there_is_and_the_run_goes_on(backend):
    g = backend(fr.path(10))
    p = programs.bfs_problem(g, 0)
    enactor = programs.BFS(p)
    with pytest.raises(fr.NotConvergedError, match="BFS is not done after 4 passes") as caught:
        enactor.run(fr.Frontier(g, [0]), max_steps=4)
    assert caught.value.result is p
    assert p.level.tolist() == [0, 1, 2, 3, 4, -1, -1, -1, -1, -1]
    assert enactor.paused
    with pytest.raises(fr.NotConvergedError, match="after 6 passes"):
        enactor.resume(max_steps=6)
    assert p.level.max() == 6
    enactor.resume()
    assert p.level.tolist() == list(range(10))
    assert not enactor.paused
    enactor.run(fr.Frontier(g, [9]), max_steps=1)  # everything has been found already


def test_just_enough_steps_are_enough(backend):
    g = backend(fr.path(4))
    for enough in (4, 5):
        p = programs.bfs_problem(g, 0)
        programs.BFS(p).run(fr.Frontier(g, [0]), max_steps=enough)
        assert p.level[3] == 3


class Impatient(fr.Enactor):
    loop = fr.Loop(*programs.BFS.loop.steps, count="depth", max_steps=3)


def test_max_steps_of_a_loop(backend):
    g = backend(fr.path(10))
    p = programs.bfs_problem(g, 0)
    enactor = Impatient(p)
    for _ in range(2):  # going on does not help
        with pytest.raises(fr.NotConvergedError, match="is not done after 3 passes") as caught:
            enactor.resume() if enactor.passes else enactor.run(fr.Frontier(g, [0]))
    assert caught.value.result is p
    assert p.level.max() == 3
    p = programs.bfs_problem(backend(fr.path(3)), 0)
    Impatient(p).run(fr.Frontier(p.graph, [0]))


class FreeLoop(programs.FreeBFS):
    pass


def test_free_python(backend):
    g = backend(fr.path(6))
    p = programs.bfs_problem(g, 0)
    enactor = FreeLoop(p)
    with pytest.raises(fr.NotConvergedError, match="FreeLoop is not done after 2 passes"):
        enactor.run(fr.Frontier(g, [0]), max_steps=2)
    assert p.level.max() == 2
    with pytest.raises(fr.FrontierError, match=r"FreeLoop\.run needs a frontier"):
        enactor.run()
    p = programs.bfs_problem(g, 0)
    enactor = FreeLoop(p)
    enactor.run(fr.Frontier(g, [0]), on_step=lambda e: e.passes == 3)
    assert enactor.passes == 3
    assert p.level.max() == 3


# -- Ctrl-C ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [programs.BFS, programs.FreeBFS])
def test_ctrl_c_in_on_step(backend, kind):
    g = backend(fr.path(8))
    p = programs.bfs_problem(g, 0)

    def press(enactor):
        if enactor.passes == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        kind(p).run(fr.Frontier(g, [0]), on_step=press)
    assert p.level.max() == 3


def slow(p, src, dst):
    """On python: press Ctrl-C at the third level, in the middle of a step."""
    if p.depth == 3:
        pressing()
    return programs.visit(p, src, dst)


class Pressing:
    """Called as it stands: the python backend lets through what looks at a program."""

    armed = False

    def __call__(self):
        if self.armed:
            self.armed = False
            signal.raise_signal(signal.SIGINT)


pressing = Pressing()


class Slow(fr.Enactor):
    loop = fr.Loop(fr.Advance(slow, where=programs.unvisited), count="depth")


def test_ctrl_c_within_a_step_stops_at_the_next_boundary_and_the_run_goes_on():
    g = fr.path(8).to("python")
    p = programs.bfs_problem(g, 0)
    pressing.armed = True
    enactor = Slow(p)
    with pytest.raises(KeyboardInterrupt):
        enactor.run(fr.Frontier(g, [0]))
    assert p.level.tolist() == [0, 1, 2, 3, -1, -1, -1, -1]
    assert enactor.passes == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    enactor.resume()
    assert p.level.tolist() == list(range(8))
    assert enactor.passes == 8


def press_late(p, v):
    if p.depth == 3:
        signal.raise_signal(signal.SIGINT)


class Late(fr.Enactor):
    loop = fr.Loop(fr.Compute(press_late, over="source"), times=3, count="depth")


@pytest.mark.parametrize("on_step", [None, lambda e: None])
def test_ctrl_c_in_the_last_pass_is_not_lost(on_step):
    p = programs.bfs_problem(fr.path(4).to("python"), 0)
    enactor = Late(p)
    with pytest.raises(KeyboardInterrupt):
        enactor.run(on_step=on_step)
    assert p.depth == 3
    assert not enactor.paused


def spin(p, i):
    x = i
    for _ in range(20000):
        x = fr.hash(x)
    p.waste[i] = x % 1000


class Forever(fr.Enactor):
    loop = fr.Loop(fr.Compute(spin, over=100), times=10**9, count="turn")


@pytest.mark.unsimulated("it would take too long for a pass")
def test_ctrl_c_stops_a_fused_loop_and_it_goes_on(compiled):
    g = compiled(fr.path(2))
    p = fr.Problem(g, waste=fr.array(np.zeros(100, np.int64)), turn=fr.scalar("int64"))
    enactor = Forever(p)
    enactor.run(fr.Frontier.all(g), on_step=lambda e: True)  # compiled from here on
    alarm = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            enactor.resume()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
    assert enactor.paused
    assert p.turn == enactor.passes > 1
    before = int(p.turn)
    enactor.resume(on_step=lambda e: True)
    assert p.turn == before + 1


# -- what is refused ---------------------------------------------------------------------------------------------


class Empty(fr.Enactor):
    pass


def test_refusals(backend):
    g = backend(fr.path(3))
    p = programs.bfs_problem(g, 0)
    with pytest.raises(fr.FrontierError, match="Empty declares no loop and overrides no step"):
        Empty(p).run(fr.Frontier(g, [0]))
    with pytest.raises(fr.FrontierError, match="no run to go on with"):
        programs.BFS(p).resume()
    with pytest.raises(fr.FrontierError, match="needs a frontier to start with"):
        programs.BFS(p).run()
    with pytest.raises(fr.FrontierError, match="different graphs"):
        programs.BFS(p).run(fr.Frontier(fr.path(3), [0]))
    with pytest.raises(fr.FrontierError, match="no field"):
        programs.SSSP(p).run()


def test_after_an_error_there_is_nothing_to_go_on_with():
    g = fr.star(4).to("python")
    p = programs.bfs_problem(g, 0)

    enactor = Greedy(p)
    with pytest.raises(fr.FunctorError, match="twice in one step"):
        enactor.run(fr.Frontier.all(g))
    assert not enactor.paused
    with pytest.raises(fr.FrontierError, match="no run to go on with"):
        enactor.resume()


def always(p, dst):
    return True


class Greedy(fr.Enactor):
    loop = fr.Loop(fr.Advance(always, unique="claimed"))


class OfSteps(fr.Enactor):
    """A loop of several steps is run one after another."""

    loop = (fr.Set(depth=5), fr.Compute(programs.clear_bfs, over="vertices"))


@given(graphs_with_vertex(weights=None))
def test_several_steps_instead_of_a_loop(backend, drawn):
    g, source = drawn
    p = programs.bfs_problem(backend(g), source)
    p.level = 77
    assert OfSteps(p).run() is p
    assert p.depth == 5
    assert p.level.tolist() == [0 if v == source else -1 for v in range(g.num_vertices)]
    assert OfSteps.program() is OfSteps.program()


def test_an_execution_can_be_driven_by_hand(backend):
    g = backend(fr.path(5))
    p = programs.bfs_problem(g, 0)
    execution_ = start(programs.BFS.loop, p, fr.Frontier(g, [0]))
    assert execution_.proceed(2) == 2
    assert not execution_.done
    assert p.level.tolist() == [0, 1, 2, -1, -1]
    assert execution_.proceed() == 3
    assert execution_.done
    assert not execution_.frontier
    equal(p.level, oracles.bfs_levels(g, 0))
