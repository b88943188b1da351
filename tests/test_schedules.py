"""No schedule changes an answer: every direction, balance and dedup, fused or not, for whole programs."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import oracles
import programs
import pytest
from compare import WORKERS, equal, host, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs_with_vertex, random_graphs

import frontier as fr
from frontier.program.execution import run

DIRECTIONS = ("auto", "push", "pull")
BALANCES = ("auto", "thread", "block", "twc", "merge_path", "degree_classes")
DEDUPS = ("auto", "claim", "bitmap")

schedules = st.builds(
    fr.Schedule,
    direction=st.sampled_from(DIRECTIONS),
    balance=st.sampled_from(BALANCES),
    dedup=st.sampled_from(DEDUPS),
    fuse=st.booleans(),
)


class ExactBFS(fr.Enactor):
    """Duplicates are the step's to remove."""

    loop = fr.Loop(fr.Advance(programs.visit, where=programs.unvisited), count="depth")


def check(g, backend, schedule, count, source):
    weighted = g.weights is not None
    with workers(count):
        for kind in (programs.BFS, ExactBFS):
            p = programs.bfs_problem(backend(g), source)
            kind(p, schedule).run(fr.Frontier(p.graph, [source]))
            equal(p.level, oracles.bfs_levels(g, source))
            programs.check_parents(g, host(p), source)
        if weighted:
            p = programs.sssp_problem(backend(g), source, 3)
            programs.SSSP(p, schedule).run()
            equal(p.distance, oracles.sssp_distances(g, source))
        p = programs.brandes_problem(backend(g), [source])
        programs.Brandes(p, schedule).run()
        equal(p.level, oracles.bfs_levels(g, source))


@given(graphs_with_vertex(weights="int32"), schedules, st.sampled_from(WORKERS))
def test_drawn_schedules(backend, drawn, schedule, count):
    g, source = drawn
    if backend.name == "cuda":  # every other schedule takes seconds to compile; the next test has them all
        schedule = fr.Schedule(direction=schedule.direction, dedup="bitmap" if schedule.fuse else "claim")
    check(g, backend, schedule, count, source)


@pytest.mark.unsimulated("programs for every schedule")
@pytest.mark.parametrize("balance", BALANCES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_schedule(compiled, direction, balance):
    graphs = list(random_graphs(3, seed=30, min_vertices=2, max_vertices=300, weights="int32"))
    turn = DIRECTIONS.index(direction) + BALANCES.index(balance)
    for i, (g, dedup) in enumerate(zip(graphs, DEDUPS, strict=True)):
        schedule = fr.Schedule(direction=direction, balance=balance, dedup=dedup, fuse=(turn + i) % 2 == 0)
        check(g, compiled, schedule, WORKERS[i % 3], int(np.argmax(g.out_degree)))


@pytest.mark.unsimulated("a large graph")
def test_a_search_changes_direction_and_back(compiled):
    g = compiled(fr.rmat(12, 8, seed=3))
    source = int(g.out_degree.argmax())
    for count in WORKERS:
        p = programs.bfs_problem(g, source)
        with workers(count), fr.trace() as t:
            programs.BFS(p).run(fr.Frontier(g, [source]))
        assert "pull" in {row.direction for row in t.rows}
        equal(p.level, oracles.bfs_levels(g, source))
        programs.check_parents(g.to("cpu"), host(p), source)


def test_a_step_departs_from_the_schedule_around_it(compiled):
    push = fr.Schedule(direction="push")
    loop = fr.Loop(fr.Advance(programs.visit, where=programs.unvisited, unique="claimed", schedule=push), count="depth")
    g = compiled(fr.karate())
    for outer, expected in ((fr.Schedule(direction="pull"), "push"), (push, "push")):
        p = programs.bfs_problem(g, 0)
        with fr.trace() as t:
            run(loop, p, fr.Frontier(g, [0]), outer)
        assert {row.direction for row in t.rows if row.direction} == {expected}
        equal(p.level, oracles.bfs_levels(g, 0))


def test_over():
    outer = fr.Schedule(direction="pull", balance="thread")
    assert fr.Schedule(direction="push").over(outer) == fr.Schedule(direction="push", balance="thread")
    assert fr.Schedule().over(outer) == outer
    assert outer.replace(fuse=False).balance == "thread"


def test_what_is_set_holds_also_where_it_is_the_default():
    outer = fr.Schedule(direction="push", fuse=False, hub_degree=9, alpha=3.0)
    inner = fr.Schedule(direction="auto", fuse=True, hub_degree="auto", alpha=None)
    over = inner.over(outer)
    assert (over.direction, over.fuse, over.alpha) == ("auto", True, 3.0)
    resolved = over.resolved()
    assert (resolved.direction, resolved.fuse, resolved.hub_degree, resolved.alpha) == ("auto", True, "auto", 3.0)
    assert inner.over(outer.resolved()) == resolved


def test_what_is_not_set_is_none_and_resolves_to_the_default():
    mine = fr.Schedule(direction="push")
    assert (mine.direction, mine.balance, mine.fuse) == ("push", None, None)
    assert repr(mine) == "Schedule(direction='push')"
    assert repr(fr.Schedule(direction="auto", fuse=True)) == "Schedule(direction='auto', fuse=True)"
    assert mine.replace(direction=None) == fr.Schedule()
    resolved = mine.resolved()
    assert (resolved.direction, resolved.balance, resolved.switch, resolved.fuse) == ("push", "auto", "beamer", True)
    assert None not in vars(resolved).values()
    assert resolved is mine.resolved() is resolved.resolved() is fr.Schedule(direction="push").resolved(), "one object"
    assert hash(resolved) == hash(fr.Schedule(direction="push", fuse=True).resolved())
    assert resolved == fr.Schedule(direction="push", fuse=True).resolved()


def test_schedules_are_copied_and_pickled():
    for made in (fr.Schedule(direction="pull"), fr.Schedule(direction="pull").resolved()):
        assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made


def test_a_step_may_ask_for_the_default_inside_another_schedule(compiled):
    g = compiled(fr.rmat(9, 16, seed=1))
    source = int(g.out_degree.argmax())
    auto = fr.Schedule(direction="auto", alpha=1e9)
    for own, expected in ((auto, {"push", "pull"}), (fr.Schedule(alpha=1e9), {"push"})):
        step = fr.Advance(programs.visit, where=programs.unvisited, unique="claimed", schedule=own)
        p = programs.bfs_problem(g, source)
        with fr.trace() as t:
            run(fr.Loop(step, count="depth"), p, fr.Frontier(g, [source]), fr.Schedule(direction="push"))
        assert {row.direction for row in t.rows if row.direction} == expected
        equal(p.level, oracles.bfs_levels(g.to("cpu"), source))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"direction": "sideways"}, "direction='sideways'.*choose from auto, push, pull"),
        ({"balance": "edge"}, "balance='edge'"),
        ({"dedup": True}, "dedup=True"),
        ({"switch": "hub"}, "switch='hub'"),
        ({"alpha": 0}, "positive"),
        ({"beta": -1.0}, "positive"),
        ({"alpha": float("nan")}, "positive"),
        ({"fuse": "no"}, "fuse='no'.*True or False"),
        ({"hub_degree": -1}, "hub_degree=-1"),
    ],
)
def test_it_refuses(options, message):
    with pytest.raises(fr.FrontierError, match=message):
        fr.Schedule(**options)


def test_what_cannot_be_the_same_in_every_run_is_refused(cuda):
    p = programs.bfs_problem(cuda(fr.path(4)), 0)
    with pytest.raises(fr.FrontierError, match=r"deterministic=True.*g\.to\('cpu'\)"):
        programs.BFS(p, fr.Schedule(deterministic=True)).run(fr.Frontier(p.graph, [0]))


@pytest.mark.parametrize(
    "asked",
    [
        {"balance": "block"}, {"switch": "hubs"}, {"queue": "scan"}, {"dedup": "bitmap"}, {"hub_cache": True},
        {"alpha": 14.0}, {"beta": 24.0},
    ],
    ids=lambda asked: next(iter(asked)),
)  # fmt: skip
def test_what_only_the_full_build_has_is_not_ignored_on_a_road(asked):
    from frontier.backends.cuda.execution import build_of

    g, step = fr.grid(4, 4), programs.BFS.program()
    assert build_of(g, step, fr.Schedule()).low_degree
    assert not build_of(g, step, fr.Schedule(**asked)).low_degree
    assert not build_of(g, fr.Sequence(fr.Unique(schedule=fr.Schedule(**asked))), fr.Schedule()).low_degree


def test_constants_of_the_rule_count_on_a_road(compiled):
    g = compiled(fr.grid(5, 5))
    p = programs.bfs_problem(g, 0)
    with fr.trace() as t:
        programs.BFS(p, fr.Schedule(alpha=1e9)).run(fr.Frontier(g, [0]))
    assert {row.direction for row in t.rows if row.direction} == {"push", "pull"}
    equal(p.level, oracles.bfs_levels(fr.grid(5, 5), 0))


def chain_of_blocks(blocks: int = 12, size: int = 3000) -> fr.Graph:
    """Random graphs in a row, with few edges from each to the next: a search is in one of them at a time."""
    rng = np.random.default_rng(1)
    inside = rng.integers(0, size, (2, blocks, 10 * size)) + size * np.arange(blocks)[:, None]
    between = rng.integers(0, size, (2, blocks - 1, size // 2)) + size * np.arange(blocks - 1)[:, None]
    between[1] += size
    src, dst = (np.concatenate([x.ravel(), y.ravel()]) for x, y in zip(inside, between, strict=True))
    return fr.from_edges(src, dst, num_vertices=blocks * size, self_loops="drop")


def test_a_pull_in_vain_is_not_repeated() -> None:
    g = chain_of_blocks()
    edges = {}
    for alpha in (None, 14.999):  # an unusual one takes Beamer's rule as it is
        with fr.trace() as trace:
            level = fr.bfs(g, 0, schedule=fr.Schedule(alpha=alpha)).level
        fr.verify.bfs(g, fr.bfs(g, 0)).raise_if_failed()
        assert level.min() >= 0
        edges[alpha] = sum(row.edges for row in trace.rows)
    assert edges[14.999] > 4 * g.num_slots
    assert edges[None] < 2 * g.num_slots
