"""Balances and switch rules: each gives the same answers, and is what the trace says it is."""

from __future__ import annotations

import numpy as np
import oracles
import pool
import programs
import pytest
from compare import equal, host, ids, workers

import frontier as fr
from frontier.operators.advance.ablations import degree_classes, twc
from frontier.operators.advance.hub_inputs import hub_count, hub_degree, hub_ids
from frontier.program.execution import run

BALANCES = ("thread", "block", "twc", "merge_path", "degree_classes")


def hub_graph() -> fr.Graph:
    """A hub whose list is longer than a block of the simulator, some middling lists, short ones, and vertices alone."""
    draw = np.random.default_rng(4)
    sources = np.concatenate([np.zeros(150, int), np.repeat([5, 6, 7], 40), draw.integers(0, 200, 100)])
    targets = np.concatenate([np.arange(1, 151), draw.integers(0, 200, 120), draw.integers(0, 200, 100)])
    weights = draw.integers(1, 9, len(sources))
    return fr.from_edges(sources, targets, weights, num_vertices=210, directed=True, duplicates="first")


G = hub_graph()
SOURCE = 5


def search(g, schedule, kind=programs.BFS):
    """Levels of a search, checked, and its trace."""
    p = programs.bfs_problem(g, SOURCE)
    with workers(2), fr.trace() as t:
        kind(p, schedule).run(fr.Frontier(g, [SOURCE]))
    equal(p.level, oracles.bfs_levels(G, SOURCE))
    programs.check_parents(G, host(p), SOURCE)
    return [row for row in t.rows if row.direction]


class ExactBFS(fr.Enactor):
    loop = fr.Loop(fr.Advance(programs.visit, where=programs.unvisited), count="depth")


@pytest.fixture
def low(monkeypatch):
    """Thresholds low enough that a small graph has lists of every class."""
    monkeypatch.setattr(degree_classes, "WARP", 3)
    monkeypatch.setattr(degree_classes, "BLOCK", 10)
    monkeypatch.setattr(degree_classes, "GRID", 50)
    monkeypatch.setattr(twc, "WARP", 4)


def test_the_graph_has_lists_of_every_class():
    degrees = G.out_degree
    assert degrees.min() == 0
    for low, high in ((1, 3), (3, 10), (10, 50), (50, 1000)):
        assert ((degrees >= low) & (degrees < high)).any()


@pytest.mark.parametrize("direction", ["push", "auto"])
@pytest.mark.parametrize("balance", BALANCES)
def test_searches_agree(cuda, low, balance, direction):
    schedule = fr.Schedule(direction=direction, balance=balance)
    g = cuda(G)
    anew = fr.Loop(*programs.BFS.loop.steps, count="depth")  # compiled with these thresholds
    rows = search(g, schedule, type("Anew", (programs.BFS,), {"loop": anew}))
    pushes = [row for row in rows if row.direction == "push"]
    assert {row.balance for row in pushes} == {balance}
    if direction == "push":
        level = oracles.bfs_levels(G, SOURCE)
        assert [row.edges for row in rows] == [int(G.out_degree[level == k].sum()) for k in range(len(rows))]


@pytest.mark.parametrize("balance", BALANCES)
def test_exact_ends_and_distances_agree(cuda, balance):
    schedule = fr.Schedule(direction="push", balance=balance)
    g = cuda(G)
    rows = search(g, schedule, ExactBFS)
    sizes = np.bincount(oracles.bfs_levels(G, SOURCE) + 1)[1:]
    assert [row.size_in for row in rows] == sizes.tolist()
    p = programs.sssp_problem(g, SOURCE, 3)
    with workers(2):
        programs.SSSP(p, schedule).run()
    equal(p.distance, oracles.sssp_distances(G, SOURCE))


STEPS = {
    "vertices": lambda: fr.Advance(pool.every, where=pool.open_dst),
    "in": lambda: fr.Advance(pool.every, edges="in"),
    "edges": lambda: fr.Advance(pool.every, output="edge"),
    "nothing": lambda: fr.Advance(pool.every, output=None),
}


@pytest.mark.parametrize("balance", ["block", "twc", "degree_classes"])
@pytest.mark.parametrize("step", STEPS)
def test_one_step_agrees(cuda, low, step, balance):
    """Over all vertices, over some edges, unfused: what is visited, how often, and what comes out."""
    schedule = fr.Schedule(direction="push", balance=balance, fuse=step != "in")
    made = STEPS[step]()
    found = []
    for g in (G, cuda(G)):
        p = pool.problem(g)
        some = fr.Frontier(g, [0, 5, 6, 9, 100]) if step == "in" else fr.Frontier.all(g)
        if step == "vertices":
            some = fr.Frontier(g, np.arange(0, g.num_slots, 3), kind="edge")
        with workers(2):
            out = run(made, p, some, schedule)
        found.append((ids(out), host(p).hits.tolist(), host(p).seen.tolist()))
    assert found[0] == found[1]


# -- when to pull ---------------------------------------------------------------------------------------

RMAT = fr.rmat(7, 8, seed=3)
FIRST = int((RMAT.out_degree == 1).argmax())


def directions(g, **options):
    p = programs.bfs_problem(g, FIRST)
    with workers(2), fr.trace() as t:
        programs.BFS(p, fr.Schedule(**options)).run(fr.Frontier(g, [FIRST]))
    equal(p.level, oracles.bfs_levels(RMAT, FIRST))
    return [row.direction for row in t.rows if row.direction]


def estimates() -> list[float]:
    """Gunrock's estimate for a push over that for a pull, level by level."""
    level = oracles.bfs_levels(RMAT, FIRST)
    sizes = np.bincount(level + 1)[1:]
    n, m = RMAT.num_vertices, RMAT.num_slots
    visited = np.cumsum(sizes)
    return (sizes * m / n / ((n - visited) * n / visited)).tolist()


def test_gunrock_pulls_once(compiled):
    ratios = estimates()
    peak = int(np.argmax(ratios))
    assert 0 < peak < len(ratios) - 1
    g = compiled(RMAT)
    before, after = max(ratios[:peak]), max(ratios[peak + 1 :])
    only_the_peak = directions(g, switch="gunrock", do_a=(before + ratios[peak]) / 2, do_b=(after + ratios[peak]) / 2)
    assert only_the_peak == ["push"] * peak + ["pull"] + ["push"] * (len(ratios) - peak - 1)
    assert set(directions(g, switch="gunrock", do_a=2 * ratios[peak])) == {"push"}
    # Below do_b at once, and then never again although do_a would say so.
    first = directions(g, switch="gunrock", do_a=1e-9, do_b=(before + ratios[peak]) / 2)
    assert first == ["pull"] + ["push"] * (len(ratios) - 1)


def shares(least: int) -> list[float]:
    """Hubs of each level over all hubs."""
    level = oracles.bfs_levels(RMAT, FIRST)
    high = RMAT.out_degree > least
    return [float((high & (level == k)).sum() / high.sum()) for k in range(level.max() + 1)]


@pytest.mark.parametrize("least", [None, 4])
def test_hubs_turn_to_pull_for_good(compiled, least):
    told = hub_degree(RMAT, "out") if least is None else least
    found = shares(told)
    top = max(found)
    at = found.index(top)
    g = compiled(RMAT)
    for gamma in (0.99 * top, 1.01 * top):
        expected = ["push"] * at + ["pull"] * (len(found) - at) if gamma < top else ["push"] * len(found)
        assert directions(g, switch="hubs", gamma=gamma, hub_degree=least) == expected


def test_hubs_of_a_graph(compiled):
    for g in (RMAT, G):
        there = compiled(g)
        for edges, degrees in (("out", g.out_degree), ("in", g.in_degree)):
            least = hub_degree(there, edges)
            assert (degrees > least).sum() == hub_count(there, edges) <= g.num_vertices // 16
            assert (degrees >= least).sum() > g.num_vertices // 16
            assert hub_count(there, edges, 3) == (degrees > 3).sum()
    nothing = compiled(fr.from_edges([], [], num_vertices=0))
    assert hub_count(nothing, "out") == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"do_a": 0}, "positive"),
        ({"do_b": -1.0}, "positive"),
        ({"gamma": 0.0}, "positive"),
        ({"hub_degree": -1}, "hub_degree=-1"),
        ({"hub_degree": 2.5}, r"hub_degree=2\.5"),
    ],
)
def test_a_schedule_refuses(options, message):
    with pytest.raises(fr.FrontierError, match=message):
        fr.Schedule(**options)


# -- what is taken once, and how queues are made -------------------------------------------------------------


def meet(p, src, dst):
    """Whoever reaches a vertex in this pass accepts it: harmless, but often twice."""
    if p.level[dst] == -1 or p.level[dst] == p.depth:
        p.level[dst] = p.depth
        return True
    return False


def met(p, v):
    p.times[v] += 1


class CulledBFS(fr.Enactor):
    """Its frontier is a set after every pass, if only by Unique: ``met`` counts."""

    loop = fr.Loop(fr.Advance(meet, unique="cull"), fr.Unique(), fr.Compute(met), over="source", count="depth")


class EndsBFS(CulledBFS):
    loop = fr.Loop(fr.Advance(meet), fr.Compute(met), over="source", count="depth")


def check_levels(g, schedule, kind):
    source = SOURCE
    p = fr.Problem(
        g,
        level=fr.vertex("int32", -1),
        times=fr.vertex("int32"),
        depth=fr.scalar("int32", 0),
        source=fr.scalar("int32", source),
    )
    p.level[source] = 0
    with workers(2), fr.trace() as t:
        kind(p, schedule).run()
    level = oracles.bfs_levels(G, source)
    equal(p.level, level)
    equal(p.times, level > 0)
    return [row for row in t.rows if row.direction]


ONCE = [
    {},
    {"dedup": "claim", "balance": "block"},
    {"dedup": "bitmap", "balance": "merge_path"},
    {"dedup": "bitmap", "balance": "thread"},
    {"queue": "scan", "balance": "merge_path"},
    {"queue": "scan", "balance": "degree_classes"},
    {"queue": "scan", "balance": "thread", "fuse": False},
]


@pytest.mark.parametrize("options", ONCE, ids=str)
def test_each_vertex_is_taken_once(cuda, options):
    check_levels(cuda(G), fr.Schedule(direction="push", **options), EndsBFS)


@pytest.mark.parametrize("balance", BALANCES)
def test_culling(cuda, balance):
    check_levels(cuda(G), fr.Schedule(balance=balance), CulledBFS)


def test_a_cull_with_more_duplicates_than_room(cuda, monkeypatch):
    """Without its tests a cull takes what every edge accepts; the queue is then made of the stamps."""
    from frontier.backends.cuda.device import collectives, machine
    from frontier.operators.advance.cuda import cull

    if not machine.SIMULATED:
        pytest.skip("duplicates can be had at will only in the simulator")

    def careless(taken, history, stamps, epoch, item):
        stamps[item] = epoch
        return False

    monkeypatch.setattr(cull, "culled", careless)
    monkeypatch.setattr(collectives, "first_in_warp", lambda ok, item: ok)
    few, many = np.arange(1, 9), np.arange(9, 50)
    g = fr.from_edges(
        np.concatenate([np.zeros(8, int), np.repeat(few, 41)]), np.concatenate([few, np.tile(many, 8)]), directed=True
    )
    p = fr.Problem(cuda(g), level=fr.vertex("int32", -1), depth=fr.scalar("int32", 0))
    loop = fr.Loop(fr.Advance(meet, unique="cull"), count="depth")
    p.level[0] = 0
    with workers(2), fr.trace() as t:
        run(loop, p, fr.Frontier(p.graph, [0]))
    equal(p.level, oracles.bfs_levels(g, 0))
    assert [row.size_out for row in t.rows if row.direction] == [8, 41, 0]


@pytest.mark.parametrize("balance", ["auto", "twc"])
def test_searches_by_scans_pull_too(cuda, balance):
    rows = search(cuda(G), fr.Schedule(queue="scan", balance=balance, alpha=4.0))
    assert {row.direction for row in rows} == {"push", "pull"}


# -- hubs in shared memory -------------------------------------------------------------------------------


@pytest.mark.parametrize("least", [None, 0, 1000])
def test_the_hub_cache_only_changes_the_order(cuda, least):
    """A functor that goes on after a hit sees every edge once, of hubs and of others."""
    found = []
    schedule = fr.Schedule(direction="pull", hub_cache=True, hub_degree=least)
    for g in (G, cuda(G)):
        p = pool.problem(g)
        some = fr.Frontier(g, np.arange(0, g.num_vertices, 2))
        with workers(2):
            out = run(fr.Advance(pool.every, where=pool.open_dst), p, some, schedule)
        found.append((ids(out), host(p).hits.tolist(), host(p).seen.tolist()))
    assert found[0] == found[1]
    rows = search(cuda(G), schedule)
    assert {row.direction for row in rows} == {"pull"}


def test_ids_of_hubs(cuda):
    g = cuda(G)
    assert (host(hub_ids(g, "out", 30)) == np.flatnonzero(G.out_degree > 30)).all()
    assert (host(hub_ids(g, "in")) == np.flatnonzero(G.in_degree > hub_degree(G, "in"))).all()
