"""The shrinking queue of pulls, ``queue="scan"``: same answers, taken where it may be, and nowhere else."""

from __future__ import annotations

import numpy as np
import oracles
import pool
import programs
import pytest
from compare import agree, equal, host, workers

import frontier as fr
from frontier.operators.advance.cuda.shrink import _lasting
from frontier.program.execution import run, start
from frontier.program.layout import Layout

SCAN = fr.Schedule(queue="scan", direction="pull")

GRAPHS = {
    "rmat": lambda: fr.rmat(7, 6, seed=5),
    "path": lambda: fr.path(45),
    "star": lambda: fr.from_edges(np.zeros(99, int), np.arange(1, 100), num_vertices=103, directed=False),
    # Two levels behind a hub, whose list is longer than a lane walks alone; edges in one direction only.
    "fan": lambda: fr.from_edges(
        [*np.repeat([0], 90), *range(1, 91), 91], [*range(1, 91), *np.repeat([91], 90), 92], directed=True
    ),
}

SCHEDULES = {
    "pull": SCAN,
    "hub cache": SCAN.replace(hub_cache=True, hub_degree=1),
    "auto": fr.Schedule(queue="scan", alpha=1e9, beta=1e9),
    "hubs": fr.Schedule(queue="scan", switch="hubs", gamma=1e-6, hub_degree=1, hub_cache=True),
    "unfused": SCAN.replace(fuse=False),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("graph", GRAPHS)
def test_searches_agree(cuda, graph, schedule):
    g = GRAPHS[graph]()
    source = 1 if graph == "star" else 0
    found = []
    for options in (SCHEDULES[schedule], SCHEDULES[schedule].replace(queue="append")):
        p = programs.bfs_problem(cuda(g), source)
        with workers(2), fr.trace() as t:
            programs.BFSFromSource(p, options).run()
        equal(p.level, oracles.bfs_levels(g, source))
        programs.check_parents(g, host(p), source)
        found.append([(row.direction, row.size_in, row.size_out, row.edges) for row in t.rows if row.direction])
    if graph == "rmat" or SCHEDULES[schedule].direction == "pull":
        assert sum(direction == "pull" for direction, *_ in found[0]) > 1
    if graph == "path" or schedule == "pull":  # elsewhere parents, or what hubs hide, decide how far is looked
        assert found[0] == found[1]


@pytest.mark.parametrize("schedule", ["pull", "auto"])
def test_counted_paths_agree(cuda, schedule):
    """Its ``where`` names a scalar, and its loop keeps its frontiers: no queue."""
    agree(
        "cuda",
        GRAPHS["rmat"](),
        lambda g: programs.brandes_problem(g, [0, 3]),
        lambda p: programs.Brandes(p, SCHEDULES[schedule]).run() and None,
        2,
    )


def test_a_loop_that_begins_with_everything(cuda):
    """Its first pull is the run's first phase, and sweeps."""
    loop = fr.Loop(fr.Advance(pool.claim_dst, where=pool.free_dst), over="vertices")
    agree("cuda", fr.rmat(6, 4, seed=1, weights=(1, 9)), pool.problem, lambda p: host(run(loop, p, None, SCAN)), 2)


# -- where it is taken ------------------------------------------------------------------------------------


def left(execution, stem):
    """What a variable of the queue holds; None where the program has none."""
    names = [name for name in execution._program.state if name.startswith(f"waiting_{stem}")]
    return execution._get(names[0]) if names else None


def after_passes(g, schedule, many):
    """How many wait, and on which side they are, after so many passes of one launch: a sweep leaves them on side 0."""
    p = programs.bfs_problem(g, 0)
    with workers(2):
        execution = start(programs.BFSFromSource.loop, p, None, schedule)
        execution.proceed(many)
    found = left(execution, "count"), left(execution, "side")
    while not execution.done:
        execution.proceed()
    return found


def test_it_shrinks_from_pull_to_pull(cuda):
    g = cuda(fr.path(45))
    assert [after_passes(g, SCAN, many) for many in range(1, 6)] == [(43, 0), (42, 1), (41, 0), (40, 1), (39, 0)]
    assert after_passes(g, SCAN.replace(queue="append"), 3) == (None, None)


def test_who_has_no_in_edges_does_not_wait(cuda):
    g = fr.from_edges([0, 1, 2, 10, 11], [1, 2, 3, 12, 13], num_vertices=20, directed=True)
    assert [after_passes(cuda(g), SCAN, many) for many in range(1, 4)] == [(4, 0), (3, 1), (2, 0)]


class Alternating(fr.Enactor):
    """A pull, then a push: no two pulls are in a row."""

    push, pull = (fr.Schedule(direction=way) for way in ("push", "pull"))
    loop = fr.Loop(
        fr.Advance(programs.visit, where=programs.unvisited, unique="claimed", schedule=pull),
        fr.Advance(programs.visit, where=programs.unvisited, unique="claimed", schedule=push),
    )


def test_a_push_makes_it_anew(cuda):
    g = GRAPHS["rmat"]()
    p = programs.bfs_problem(cuda(g), 0)
    with workers(2):
        execution = start(Alternating.loop, p, fr.Frontier(p.graph, [0]), fr.Schedule(queue="scan"))
        execution.proceed(2)
        assert left(execution, "side") == 0
        while not execution.done:
            execution.proceed()
    equal(p.parent >= 0, oracles.bfs_levels(g, 0) >= 0)


# -- who may wait again --------------------------------------------------------------------------------------


def fall_ill(p, src, dst):
    return fr.atomic_cas(p.ill, dst, 0, 1) == 0


def healthy(p, dst):
    return p.ill[dst] == 0


def age(p, v):
    if p.ill[v] > 0:
        p.ill[v] = (p.ill[v] + 1) % 3
        p.times[v] += 1


def illness(g):
    n = g.num_vertices
    return fr.Problem(
        g,
        ill=fr.vertex("int32", np.arange(n) == 0),
        times=fr.vertex("int32"),
        place=fr.vertex("int32", np.arange(n) % 3),
        depth=fr.scalar("int32"),
    )


EPIDEMIC = fr.Loop(fr.Advance(fall_ill, where=healthy), fr.Compute(age, over="vertices"), times=9)


def test_another_step_opens_vertices_again(cuda):
    def spread(p):
        return host(run(EPIDEMIC, p, fr.Frontier(p.graph, [0]), SCAN))

    p, _ = agree("cuda", fr.grid(4, 9), illness, spread, 2)
    assert p.times.max() > 2  # each time it lasts so long


def due(p, dst):
    return p.place[dst] == p.depth % 3


def meet(p, src, dst):
    fr.atomic_add(p.times, dst, 1)
    return True


def test_a_scalar_opens_vertices_again(cuda):
    """What ``where`` says changes with the pass, though nothing is written to a vertex that it reads."""
    loop = fr.Loop(fr.Advance(meet, where=due), times=6, count="depth")
    g = fr.rmat(6, 8, seed=1)
    p, _ = agree("cuda", g, illness, lambda p: host(run(loop, p, fr.Frontier.all(p.graph), SCAN)), 2)
    assert all(p.times[p.place == i].any() for i in range(3))


def test_the_host_opens_vertices_again(cuda):
    """Between passes a program's fields are the host's."""

    def forget(enactor):
        p = enactor.problem
        if p.depth == 4:
            p.parent[1:3] = -1
            p.level[1:3] = -1

    def search(p):
        programs.BFS(p, SCAN).run(fr.Frontier(p.graph, [0]), on_step=forget)

    g = fr.from_edges([*range(20), 4], [*range(1, 21), 2], directed=True)
    expected, found = (programs.bfs_problem(g.to(name), 0) for name in ("python", "cuda"))
    search(expected)
    with workers(2):
        search(found)
    equal(found.level, expected.level)
    assert expected.level[2] == 5


def opens_sources(p, src, dst):
    p.claim[src] = -1
    return fr.atomic_cas(p.claim, dst, -1, 7) == -1


def beside(p, dst):
    return p.claim[dst // 2] == -1


def hidden(p, src, dst):
    some = p.seen if src else p.claim
    some[src] = -1
    return True


#: Without fields that go along with others.
ALONE = Layout.of(fr.Problem(fr.path(2)))


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (fr.Advance(programs.visit, where=programs.unvisited), True),
        (fr.Advance(pool.claim_src, where=pool.free_src, edges="in"), True),
        (fr.Advance(pool.every, where=pool.open_dst), True),
        (fr.Advance(programs.visit), False),
        (fr.Advance(programs.discover, where=programs.open_, unique="claimed"), False),
        (fr.Advance(opens_sources, where=pool.free_dst), False),
        (fr.Advance(hidden, where=pool.free_dst), False),
        (fr.Advance(pool.claim_dst, where=beside), False),
    ],
    ids=repr,
)
def test_which_conditions_last(step, expected):
    assert _lasting(step, ALONE) == expected


def test_its_kernel_compiles(monkeypatch):
    import test_ptx


    runs = {"shrinking": lambda g: fr.bfs(g, 0, schedule=SCAN.replace(hub_cache=True))}
    monkeypatch.setattr(test_ptx, "RUNS", runs)
    program = test_ptx.program_of("shrinking", "full", monkeypatch)
    assert any("pull_again" in function.name for function in program.functions)
    for capability in ((8, 0), (9, 0)):
        test_ptx.test_kernels_compile("shrinking", "full", capability, monkeypatch)


def free(p, dst):
    return p.seen[dst] == 0


def take(p, src, dst):
    return fr.atomic_cas(p.seen, dst, 0, 1) == 0


def test_a_swap_opens_vertices_again(agree):
    loop = fr.Loop(fr.Advance(take, where=free), fr.Swap("seen", "other"), times=6)
    some = np.random.default_rng(0).random((2, 64)) < 0.5

    def problem(g):
        return fr.Problem(g, seen=fr.vertex("int32", some[0]), other=fr.vertex("int32", some[1]))

    agree(fr.rmat(6, 4, seed=1), problem, lambda p: run(loop, p, fr.Frontier(p.graph, [0, 1, 2]), SCAN), 1)


def opens_src(p, src, dst):
    some = p.seen if src != 3 else p.other
    some[src] = 0
    p.other[dst] = 1
    return fr.atomic_cas(p.seen, dst, 0, 1) == 0


def test_what_may_be_either_field_is_not_trusted():
    assert _lasting(fr.Advance(take, where=free), ALONE)
    assert not _lasting(fr.Advance(opens_src, where=free), ALONE)
