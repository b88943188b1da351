"""Searches on several GPUs, of which these tell each other bits, and programs in which other steps touch the same."""

from __future__ import annotations

import numpy as np
import pytest
from test_claims import above, begin, plain, problem, stores_anyway, unclaimed
from test_fused import SIMULATED, graphs, several  # noqa: F401 - a fixture

import frontier as fr
from frontier.distributed.devices import claims, fused
from frontier.distributed.devices.touches import Touches
from frontier.lowering.ir import Phase, inside
from frontier.memory.arrays import to_host
from frontier.program.execution import start


def notes_more(p, src, dst, edge, weight):
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.level[dst] = p.depth
        p.edge[dst] = edge
        p.weight[dst] = weight
        p.twice[dst] = 2 * src
        p.kind[dst] = 3
        p.odd[dst] = src % 2 == 1
        return True
    return False


def search(fn=notes_more, where=unclaimed):
    step = fr.Advance(fn, where=where, unique="claimed")
    return fr.Sequence(fr.Compute(begin, over="source"), fr.Loop(step, over="source", count="depth"))


def fields():
    return {
        "parent": fr.vertex("int64", -1, combine="claim"), "level": fr.vertex("int8", 0, combine="min"),
        "edge": fr.vertex("int64", -1, with_="parent"), "weight": fr.vertex("float32", 0.0, combine="claim"),
        "twice": fr.vertex("int32", -1, combine="min", with_="parent"), "kind": fr.vertex("uint16", 0),
        "odd": fr.vertex("bool", False, combine="claim"),
    }  # fmt: skip


def check(g, p, levels):
    parent, level, edge = (to_host(getattr(p, name)) for name in ("parent", "level", "edge"))
    reached = np.flatnonzero(levels > 0)
    assert np.array_equal(parent >= 0, levels >= 0)
    assert np.array_equal(level[reached], levels[reached])
    assert np.array_equal(levels[parent[reached]], levels[reached] - 1)
    assert np.array_equal(g.targets[edge[reached]], reached)
    assert np.array_equal(g.sources[edge[reached]], parent[reached])
    assert np.array_equal(to_host(p.weight)[reached], g.weights[edge[reached]].astype(np.float32))
    assert np.array_equal(to_host(p.twice)[reached], 2 * parent[reached])
    assert np.array_equal(to_host(p.kind) == 3, levels > 0)
    assert np.array_equal(to_host(p.odd)[reached], parent[reached] % 2 == 1)


#: How many edges a pass may have in which GPUs claim at the owners: no pass, some, all passes of these graphs.
FEW = (0, 60, 1 << 15)


@pytest.fixture(params=FEW)
def few(request, monkeypatch):
    """How many edges a pass may have in which GPUs claim at the owners."""
    monkeypatch.setattr(claims, "FEW", request.param)
    return request.param


@pytest.mark.gpu
@pytest.mark.parametrize("direction", ["push", "auto"])
def test_all_that_goes_along_is_that_of_one_gpu(several, few, direction):  # noqa: F811
    """Of several GPUs that reach a vertex, all fields are those of the same."""
    for g in graphs()[: 1 if SIMULATED else 3]:
        p = problem(g.to(several), **fields())
        run = start(search(), p, schedule=fr.Schedule(direction=direction, alpha=100, beta=2))
        run.proceed()
        check(g, p, np.asarray(fr.bfs(g, 5).level))


@pytest.mark.gpu
@pytest.mark.parametrize("number", [0, 1, 2])
def test_searches(several, few, number):  # noqa: F811
    """One after another on the same graph, so that each finds what the last has left."""
    if SIMULATED and number != FEW.index(few):
        pytest.skip("in the simulator one graph each")
    g = graphs()[number]
    there = g.to(several)
    for source in (5, 60):
        made = fr.bfs(there, source)
        assert np.array_equal(to_host(made.level), fr.bfs(g, source).level)
        fr.verify.bfs(g, made)


@pytest.mark.gpu
@pytest.mark.parametrize("afar", [True, False])
def test_gpus_without_atomics_over_their_link(several, afar, monkeypatch):  # noqa: F811
    """They claim in their own copies, however few edges a pass has."""
    monkeypatch.setattr(fused, "_atomics", lambda memories: afar)
    g = graphs()[1]
    p = problem(g.to(several), **fields())
    run = start(search(), p)
    assert any("claimed at owners" in title for title in _titles(run)) == afar
    run.proceed()
    check(g, p, np.asarray(fr.bfs(g, 5).level))


def _titles(run):
    """Of all phases of a run."""
    return [node.title for node in inside(run.parts[0]._program.nodes) if isinstance(node, Phase)]


@pytest.mark.gpu
def test_a_vertex_that_is_freed_at_a_pause(several, few):  # noqa: F811
    """Others have not been told that it was claimed, or they have: after a pause it counts what it is then."""
    g = graphs()[1]
    levels = np.asarray(fr.bfs(g, 5).level)
    p = problem(g.to(several), **fields())
    run = start(search(), p, schedule=fr.Schedule(direction="push"))
    run.proceed(3)
    freed = np.flatnonzero(levels == 2)
    for v in freed.tolist():
        p.parent[v] = -1
    run.proceed()
    parent, level = to_host(p.parent), to_host(p.level)
    assert (parent >= 0).all()
    assert np.isin(levels[parent[freed]], [1, 3]).all()
    later = levels == 5
    assert np.array_equal(level[later], levels[later])


@pytest.mark.gpu
def test_a_search_that_pauses(several, few):  # noqa: F811
    """At a pause fields are right, and what is written to them then counts."""
    g = graphs()[1]
    levels = np.asarray(fr.bfs(g, 5).level)
    p = problem(g.to(several), **fields())
    run = start(search(), p)
    run.proceed(3)
    parent = to_host(p.parent)
    assert np.array_equal(parent >= 0, (levels >= 0) & (levels <= 3))
    wall = np.flatnonzero(levels == 6)
    for v in wall.tolist():
        p.parent[v] = 5
    run.proceed()
    parent, level = to_host(p.parent), to_host(p.level)
    assert (parent[wall] == 5).all()
    assert np.array_equal(parent >= 0, levels <= 6)
    before = (levels > 0) & (levels < 6)
    assert np.array_equal(level[before], levels[before])


@pytest.mark.gpu
def test_values_that_others_read_are_told(several):  # noqa: F811
    """Where a step asks for more than whether a vertex is claimed, GPUs tell each other values."""
    g = graphs()[0]
    p = problem(g.to(several), **fields())
    start(search(where=above), p).proceed()
    check(g, p, np.asarray(fr.bfs(g, 5).level))


def take_the_rest(p, src, dst):
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.level[dst] = 77


@pytest.mark.gpu
def test_a_step_that_claims_without_accepting(several, few):  # noqa: F811
    """It is told what others have claimed before, in their own memory or elsewhere."""
    g = graphs()[1]
    levels = np.asarray(fr.bfs(g, 5).level)
    p = problem(g.to(several))
    first = fr.Loop(fr.Advance(plain, where=unclaimed), over="source", count="depth", times=2)
    rest = fr.Advance(take_the_rest, over="vertices", output=None)
    start(fr.Sequence(fr.Compute(begin, over="source"), first, rest), p).proceed()
    parent, level = to_host(p.parent), to_host(p.level)
    assert np.array_equal(level[(levels > 0) & (levels <= 2)], levels[(levels > 0) & (levels <= 2)])
    assert (level[levels > 2] == 77).all()
    edges = set(zip(g.sources.tolist(), g.targets.tolist(), strict=True))
    assert all(v == 5 or (parent[v], v) in edges for v in range(g.num_vertices))


def count(p, v):
    p.number[v] += 1


@pytest.mark.gpu
def test_another_program_between_two_searches(several, monkeypatch):  # noqa: F811
    """What the first has marked at owners is forgotten, though the one between does not know of it."""
    g = graphs()[1]
    there = g.to(several)
    for source, edges in ((5, 1 << 15), (130, 0)):
        monkeypatch.setattr(claims, "FEW", edges)
        p = problem(there)
        p.parent[source] = source
        start(fr.Loop(fr.Advance(plain, where=unclaimed), count="depth"), p, [source]).proceed()
        levels = fr.bfs(g, source).level
        assert np.array_equal(to_host(p.level)[levels > 0], levels[levels > 0])
        p = fr.Problem(there, number=fr.vertex("int32", 0))
        start(fr.Compute(count, over="vertices"), p).proceed()
        assert (to_host(p.number) == 1).all()


def counts_unclaimed(p, src, dst):
    fr.atomic_add(p.number, src, 1)


def asking():
    """A search of two passes, after which another step counts the neighbors that are not claimed."""
    first = fr.Loop(fr.Advance(plain, where=unclaimed), over="source", count="depth", times=2)
    push = fr.Schedule(direction="push")
    rest = fr.Advance(counts_unclaimed, where=unclaimed, over="vertices", output=None, schedule=push)
    return fr.Sequence(fr.Compute(begin, over="source"), first, rest)


@pytest.mark.gpu
def test_a_step_that_asks_what_others_have_claimed(several, few):  # noqa: F811
    """The field itself says it, and not only the bits at which a search looks."""
    g = graphs()[1]
    middle = g.num_vertices // 2  # so that it claims what several GPUs own
    levels = np.asarray(fr.bfs(g, middle).level)
    p = problem(g.to(several), number=fr.vertex("int32", 0), source=fr.scalar("int32", middle))
    start(asking(), p).proceed()
    unclaimed_ends = ~np.isin(levels[np.asarray(g.targets)], [0, 1, 2])
    assert np.array_equal(to_host(p.number), np.bincount(g.sources, unclaimed_ends, g.num_vertices))


@pytest.mark.gpu
def test_a_store_to_what_is_claimed(several, few):  # noqa: F811
    """It counts, also at elements that the same GPU has claimed before."""
    draw = np.random.default_rng(1)
    sources = np.repeat(np.arange(128), 4)
    targets = draw.integers(0, 64, len(sources)) + np.where(sources < 64, 64, 0)  # of the other half
    g = fr.from_edges(sources, targets, num_vertices=128, directed=True)
    p = problem(g.to(several))
    over = fr.Advance(stores_anyway, over="vertices", output=None, schedule=fr.Schedule(direction="push"))
    start(fr.Sequence(search(plain), over), p).proceed()
    expected = np.where(g.in_degree > 0, 77, np.where(np.arange(g.num_vertices) == 5, 5, -1))
    assert np.array_equal(to_host(p.parent), expected)


def counts_passes(p, v):
    if p.parent[v] == -1:
        p.number[v] += 1


@pytest.mark.gpu
def test_a_step_on_own_elements_between_two_pushes(several, few):  # noqa: F811
    """No GPU claims in another one's memory before that has looked at it."""
    both = fr.Sequence(fr.Advance(plain, where=unclaimed, unique="claimed"), fr.Compute(counts_passes, over="vertices"))
    for seed in range(3):
        ends = np.random.default_rng(seed).integers(0, 128, (2, 256))
        g = fr.from_edges(*ends, num_vertices=128)
        levels = np.asarray(fr.bfs(g, 5).level)
        levels = np.where((levels < 0) | (levels > 4), 5, levels)
        p = problem(g.to(several), number=fr.vertex("int32", 0))
        start(
            fr.Sequence(fr.Compute(begin, over="source"), fr.Loop(both, over="source", count="depth", times=4)), p,
            schedule=fr.Schedule(direction="push"),
        ).proceed()  # fmt: skip
        assert np.array_equal(to_host(p.number), np.maximum(levels - 1, 0))


def test_who_asks_what_is_claimed():
    def asked(program, schedule=None, **more):
        resolved = (schedule or fr.Schedule()).resolved()
        return Touches(program, problem(fr.grid(3, 3), **more), resolved).asked("parent")

    assert not asked(search(plain))
    assert asked(asking(), number=fr.vertex("int32", 0))
    assert asked(search(plain), fr.Schedule(balance="of_a_user", direction="push"))


fr.register_balance("of_a_user", "cuda", lambda step, builder, source, target, next_scan: None)
