"""Passes that put far vertices aside while they walk along edges: where all lists are short, on processors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pool
import pytest
from compare import agree, at, equal, host, ids, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontiers, graphs, random_graphs

import frontier as fr
from frontier.errors import FrontierError
from frontier.graph.traits import SHORT
from frontier.operators.advance.holding import Holding
from frontier.operators.advance.parting import Parting
from frontier.primitives._limited_paths import with_delta
from frontier.primitives.sssp import SSSP, sssp_problem


def relax(p, src, dst, weight):
    new = p.cost[src] + weight
    return new < fr.atomic_min(p.cost, dst, new)


def hop(p, src, dst):
    """Relaxes edges of a length that is no weight: then no edge may be relaxed twice."""
    new = p.cost[src] + 3
    return new < p.cost[dst] and new < fr.atomic_min(p.cost, dst, new)


def noted(p, src, dst, weight):
    """Does more than relax: its calls are counted."""
    fr.atomic_add(p.calls, dst, 1)
    return relax(p, src, dst, weight)


def once(p, src, dst, weight):
    """Accepts the first call of a pass that lowers a vertex's cost, and lets others lower it further."""
    new = p.cost[src] + weight
    if new < fr.atomic_min(p.cost, dst, new):
        return fr.atomic_exch(p.accepted, dst, p.number) != p.number
    return False


def open_(p, dst):
    return p.cost[dst] > 0


def reached(p, v):
    return p.cost[v] >= 0


def late(p, v):
    return p.cost[v] + v % 3


def problem(g: fr.Graph, source: int, dtype: str = "int64") -> fr.Problem:
    top = np.inf if dtype.startswith("f") else 2**40
    own = {"accepted": fr.vertex("int64"), "number": fr.scalar("int64"), "calls": fr.vertex("int64")}
    p = fr.Problem(g, cost=fr.vertex(dtype, top), source=fr.scalar("int64", source), **own)
    p.cost[source] = 0
    return p


def loop(fn: Any, key: Any = "cost", delta: float | None = 2, **options: Any) -> fr.Loop:
    return fr.Loop(fr.Advance(fn, **options), order=fr.by(key, delta=delta), over="source")


def against(p, src, dst, weight):
    return relax(p, dst, src, weight)


#: Loops, and whether their passes put vertices aside.
LOOPS = {
    "automatic": (loop(relax, delta=None), True),
    "narrow": (loop(relax, delta=1), True),
    "wide": (loop(relax, delta=1e9), True),
    "hops": (loop(hop), True),
    "where": (loop(relax, where=open_), True),
    "thread": (loop(relax, schedule=fr.Schedule(balance="thread")), True),
    "key of a functor": (loop(relax, late), True),
    "more than relaxing": (loop(noted), False),
    "lowered after it is accepted": (
        fr.Loop(fr.Advance(once), order=fr.by("cost", delta=2), over="source", count="number"),
        False,
    ),
    "against edges": (loop(against, edges="in"), False),
    "merge_path": (loop(relax, schedule=fr.Schedule(balance="merge_path")), False),
    "pull": (loop(relax, schedule=fr.Schedule(direction="pull")), False),
    "exact": (fr.Loop(fr.Advance(relax), order=fr.by("cost", exact=True), over="source"), False),
    "two steps": (fr.Loop(fr.Advance(relax), fr.Filter(reached), order=fr.by("cost", delta=2), over="source"), False),
}


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", LOOPS)
@given(st.data())
def test_costs_are_those_of_the_python_backend(name: str, count: int, data: st.DataObject) -> None:
    """Weights of 0, ties, loops and duplicates: to the last bit, also of floats."""
    g = data.draw(graphs(min_vertices=1, weights=data.draw(st.sampled_from(["int32", "float32"]))))
    dtype = "float32" if g.weights is not None and g.weights.dtype.kind == "f" else "int64"
    source = data.draw(st.integers(0, g.num_vertices - 1))
    expected = problem(g.to("python"), source, dtype)
    LOOPS[name][0](expected)
    p = problem(g, source, dtype)
    with workers(count):
        LOOPS[name][0](p)
    equal(p.cost, host(expected).cost)


@pytest.mark.parametrize("count", [1, 2])
def test_the_verifier_agrees(count: int) -> None:
    rng = np.random.default_rng(4)
    for g in random_graphs(60, seed=41, min_vertices=1, max_vertices=200, weights=["int32", "float32"], parallel=True):
        source, delta = int(rng.integers(g.num_vertices)), float(rng.choice([0.5, 3, 40, 1000]))
        with workers(count):
            fr.verify.sssp(g, fr.sssp(g, source, delta=delta), tolerance=0).raise_if_failed()


@pytest.mark.parametrize("count", [1, 2])
def test_all_vertices_at_once(count: int) -> None:
    """So many edges that not every far end would find room twice."""
    g = fr.grid(40, 50).with_weights(np.ones(4 * 40 * 50 - 2 * 90, np.int32))
    p = fr.Problem(g, cost=fr.vertex("int64", np.arange(2000) % 97 * 3))
    loop = fr.Loop(fr.Advance(relax), order=fr.by("cost", delta=5))
    expected = fr.Problem(g.to("python"), cost=fr.vertex("int64", np.arange(2000) % 97 * 3))
    loop(expected, fr.Frontier.all(expected.graph))
    with workers(count):
        loop(p, fr.Frontier.all(g))
    equal(p.cost, host(expected).cost)


@pytest.mark.parametrize("delta", [1, 4, 1e9])
def test_many_sources(delta: float) -> None:
    """Far vertices come to the pile from many sides at once, and it has room for all others later."""
    g, starts = fr.grid(60, 60, weights=(1, 9), seed=3), np.arange(0, 3600, 7)
    p = fr.Problem(g, cost=fr.vertex("int64", 2**40))
    p.cost[starts] = 0
    with workers(3):
        fr.Loop(fr.Advance(relax), order=fr.by("cost", delta=delta))(p, fr.Frontier(g, starts))
    equal(p.cost, fr.sssp(g, starts, parents=False).distance)


# ---- where it is done ---------------------------------------------------------------------------------------


def explained(g: fr.Graph) -> str:
    return with_delta(SSSP, None)(sssp_problem(g, 0)).explain()


@pytest.mark.parametrize("name", LOOPS)
def test_which_passes_put_vertices_aside(name: str) -> None:
    """Those of functors that accept a vertex wherever they lower its key."""
    step, parts = LOOPS[name]
    g = fr.path(60).with_weights(np.ones(118, np.int32))
    p = problem(g, 1)
    with fr.trace() as trace:
        step(p)
    assert any(row.step.endswith(", near)") for row in trace.rows) == parts


def test_short_lists_are_parted_and_long_ones_split() -> None:
    short = fr.path(SHORT + 2)
    assert "Advance(relax, near)" in explained(short.with_weights(np.ones(short.num_slots, np.int32)))
    long = fr.star(SHORT + 2)
    text = explained(long.with_weights(np.ones(long.num_slots, np.int32)))
    assert "Advance(relax)" in text
    assert "Advance(relax, near)" not in text


def test_programs_know_which_graph_they_are_for() -> None:
    """The same step runs on a graph of short lists, then on one of long lists."""
    for g in (fr.path(60), fr.star(60), fr.path(60)):
        weighted = g.with_weights(np.ones(g.num_slots, np.int32))
        p = problem(weighted, 1)
        with fr.trace() as trace:
            LOOPS["narrow"][0](p)
        assert any(row.step == "Advance(relax, near)" for row in trace.rows) == (g.max_degree <= SHORT)
        equal(p.cost, fr.bfs(g, 1).level)


# ---- the step -------------------------------------------------------------------------------------------------


def parting(fn: Any = pool.every, **options: Any) -> Parting:
    return Parting(fr.Advance(fn, **options), fr.Split(pool.late, rest="far"), "exact")


@pytest.mark.parametrize("count", [1, 2, 3])
@given(st.data())
def test_it_is_an_advance_and_a_split(count: int, data: st.DataObject) -> None:
    g = data.draw(graphs(weights="int32"))
    f = data.draw(frontiers(g))
    _, parted = agree("cpu", g, pool.problem, lambda p: parting()(p, at(p, f)), count)
    both = fr.Sequence(fr.Advance(pool.every), fr.Split(pool.late, rest="far"))
    p = pool.problem(g.to("python"))
    assert ids(both(p, at(p, f))) == ids(parted)


def test_what_it_cannot_part() -> None:
    split = fr.Split(pool.late, rest="far")
    held = Holding(pool.every, hold=pool.late)
    for step in (fr.Advance(pool.every, part=slice(0, 1)), held):
        with pytest.raises(FrontierError, match="a plain Advance"):
            Parting(step, split, "exact")
    for step in (fr.Advance(pool.ends, output=None), fr.Advance(pool.every, edges="in")):
        with pytest.raises(FrontierError, match="an Advance to vertices"):
            Parting(step, split, "exact")
    with pytest.raises(FrontierError, match="which it makes unique"):
        Parting(fr.Advance(pool.every), split, "claimed")
