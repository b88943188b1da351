"""Intersect: every common neighbour of every edge's ends, once; counts, reductions, triangles."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pool
import pytest
from compare import WORKERS, at, equal, state, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontiers, graphs

import frontier as fr
from frontier.backends.run.field_copies import words_of
from frontier.lowering.inputs import FieldCopies

counts = st.sampled_from(WORKERS)


def problem(g):
    return fr.Problem(
        g,
        uv=fr.edge("int64"),
        uw=fr.edge("int64"),
        vw=fr.edge("int64"),
        corner=fr.vertex("int64"),
        real=fr.vertex("float64", np.arange(g.num_vertices) * 0.1),
        total=fr.scalar("int64", -99),
        mean=fr.scalar("float64", -99),
        found=fr.scalar("bool", True),
        times=fr.scalar("int64"),
    )


def visit(p, u, v, w, uv, uw, vw):
    fr.atomic_add(p.uv, uv, 1)
    fr.atomic_add(p.uw, uw, 1 + v)
    fr.atomic_add(p.vw, vw, 1 + u)
    fr.atomic_add(p.corner, w, 1)
    fr.atomic_add(p.corner, u, 1000)
    fr.atomic_add(p.corner, v, 1000000)


def slots(p, uw, vw):
    return 3 * uw - vw


def third(p, w):
    return p.real[w]


def once(p, u, v, w):
    return u < v < w


def nothing(p, w):
    pass


STEPS = {
    "visits": fr.Intersect(visit),
    "sum": fr.Intersect(slots, "sum", into="total"),
    "min": fr.Intersect(slots, "min", into="total"),
    "max": fr.Intersect(slots, op="max", into="total"),
    "float max": fr.Intersect(third, "max", into="mean"),
    "ints into a float": fr.Intersect(slots, "sum", into="mean"),
    "any": fr.Intersect(once, "any", into="found"),
    "all": fr.Intersect(once, "all", into="found"),
    "bools": fr.Intersect(once, "sum", into="total"),
}


@pytest.mark.parametrize("name", STEPS)
@given(st.data())
def test_backends_agree(agree, name, data):
    g = data.draw(graphs())
    f = data.draw(frontiers(g, "edge"))
    _, result = agree(g, problem, lambda p: STEPS[name](p, at(p, f)), data.draw(counts))
    assert result == f


@given(graphs(), st.data(), counts)
def test_every_pair_of_slots_by_the_definition(backend, g, data, count):
    """Parallel edges and self-loops included, from nothing but the arrays."""
    g = backend(g)
    f = data.draw(frontiers(g, "edge"))
    p, q = problem(g), problem(g)
    with workers(count):
        STEPS["visits"](p, f)
    for uv in f:
        u, v = g.sources[uv], g.targets[uv]
        for uw in np.flatnonzero(g.sources == u):
            w = g.targets[uw]
            for vw in np.flatnonzero((g.sources == v) & (g.targets == w)):
                q.uv[uv] += 1
                q.uw[uw] += 1 + v
                q.vw[vw] += 1 + u
                q.corner[w] += 1
                q.corner[u] += 1000
                q.corner[v] += 1000000
    assert state(p) == state(q)


@given(graphs(directed=False, parallel=False), counts)
def test_triangles(backend, g, count):
    p = problem(backend(g))
    with workers(count):
        fr.intersect(p, fr.Frontier.all(p.graph, "edge"), once, "sum", into="total")
    known = nx.Graph([(u, v) for u, v in zip(g.sources.tolist(), g.targets.tolist(), strict=True) if u != v])
    assert p.total == sum(nx.triangles(known).values()) // 3


def test_lists_of_very_different_lengths(backend):
    """The long list is searched, from either side: in it are parallel edges and what the short one lacks."""
    hub = [*range(2, 400, 2), 20, 20]
    edges = [(0, w) for w in hub] + [(1, w) for w in (3, 20, 21, 24, 88, 20)] + [(0, 1), (1, 0)]
    g = backend(fr.from_edges(*zip(*edges, strict=True), num_vertices=405, directed=True, duplicates="keep"))
    p = problem(g)
    between = fr.Frontier(g, np.flatnonzero(g.sources + g.targets == 1), "edge")
    assert len(between) == 2
    assert fr.intersect(p, between, visit) is between
    expected = np.zeros(405)
    expected[20], expected[24], expected[88] = 2 * (3 * 2), 2, 2
    equal(p.corner[2:], expected[2:])
    assert p.uv[between.ids].tolist() == [8, 8]


@pytest.mark.parametrize("count", [1, 3])
def test_runs_of_one_vertex_and_edges_in_any_order(compiled, count):
    """On the CPU, places of lists are noted for the former; what earlier runs have noted does no harm."""
    edges = np.random.default_rng(7).integers(0, 60, (2, 900))
    here = fr.from_edges(*edges, num_vertices=60, directed=True, duplicates="keep")
    there = compiled(here)
    order = np.random.default_rng(8).permutation(900)
    for ids in (np.arange(900), order, order[:50], np.arange(400, 450), np.flatnonzero(here.sources == 7)):
        p, q = problem(here.to("python")), problem(there)
        STEPS["visits"](p, fr.Frontier(p.graph, ids, "edge"))
        with workers(count):
            STEPS["visits"](q, fr.Frontier(there, ids, "edge"))
        assert state(p) == state(q)


@pytest.mark.parametrize("count", WORKERS)
def test_float_sums_have_the_same_bits_in_every_run(count):
    g = fr.rmat(7, 8, seed=5)
    sums = []
    for _ in range(5):
        p = problem(g)
        with workers(count):
            sums.append(fr.intersect(p, fr.Frontier.all(g, "edge"), third, "sum", into="mean"))
    q = problem(g.to("python"))
    fr.intersect(q, fr.Frontier.all(g, "edge"), third, "sum", into="mean")
    assert len(set(sums)) == 1
    assert math.isclose(sums[0], q.mean, rel_tol=1e-12)


def lower(p, src, dst):
    return src < dst


def more(p):
    return p.times + p.total


LOOP = fr.Loop(
    fr.Filter(lower),
    fr.Intersect(once, "sum", into="total"),
    fr.Set(times=more),
    fr.Intersect(visit, over="edges"),
    over="edges",
    times=2,
)


@given(graphs(), counts)
def test_in_a_loop(agree, g, count):
    p, _ = agree(g, problem, LOOP, count)
    assert p.times == 2 * p.total


def test_no_triangle_gives_the_identity(backend):
    g = backend(fr.grid(3, 3))
    p = problem(g)
    every = fr.Frontier.all(g, "edge")
    assert fr.intersect(p, every, slots, "sum", into="total") == 0
    assert fr.intersect(p, every, slots, "min", into="total") == 2**63 - 1
    assert fr.intersect(p, every, third, "max", into="mean") == -np.inf


def test_it_refuses(backend):
    g = backend(fr.path(3))
    p = problem(g)
    with pytest.raises(fr.FrontierError, match="Intersect runs over a frontier of edges"):
        fr.intersect(p, fr.Frontier.all(g), visit)
    with pytest.raises(fr.FrontierError, match=r"op='sum', into=None\): both or neither"):
        fr.Intersect(slots, "sum")
    with pytest.raises(fr.FrontierError, match="both or neither"):
        fr.Intersect(slots, into="total")
    with pytest.raises(fr.FrontierError, match=r"Intersect\(op='mode'\): choose from"):
        fr.Intersect(slots, "mode", into="total")
    with pytest.raises(fr.FrontierError, match="'corner' is of kind vertex, not scalar"):
        fr.Intersect(slots, "sum", into="corner")(p, fr.Frontier.all(g, "edge"))
    with pytest.raises(fr.FunctorError, match="no argument 'src' here; there is u, v, w, uv, uw, vw"):
        fr.Intersect(pool.every)
    q = problem(backend(fr.complete(3)))
    with pytest.raises(fr.FunctorError):
        fr.intersect(q, fr.Frontier.all(q.graph, "edge"), nothing, "sum", into="total")


def adding(g):
    return fr.Problem(
        g,
        low=fr.vertex("int32", 7),
        high=fr.edge("uint64"),
        bits=fr.edge("uint32"),
        real=fr.vertex("float64"),
        seen=fr.vertex("int64"),
        last=fr.vertex("int64"),
        total=fr.scalar("int64"),
    )


def add(p, u, v, w, uv, uw, vw):
    """Fields that are only added to, one that is read, and one of which the old value is used."""
    fr.atomic_add(p.low, w, -3)
    fr.atomic_add(p.low, u, p.seen[v] + 1)
    fr.atomic_add(p.high, uv, 2**40)
    fr.atomic_add(p.high, vw, 1)
    fr.atomic_add(p.bits, uw, 2**16)
    fr.atomic_add(p.real, v, 0.5)
    fr.atomic_add(p.seen, w, 0)
    return fr.atomic_add(p.last, v, 0)


def raises(p, u, v, w, uv):
    fr.atomic_add(p.low, w, 1)
    fr.atomic_add(p.high, uv, 1)
    for i in range(0, 3, min(w % 5, 1)):
        fr.atomic_add(p.last, w, i)


ADD = fr.Intersect(add, "sum", into="total", over="edges")


@pytest.mark.parametrize("edges", [None, 40, 2])
@pytest.mark.parametrize("count", WORKERS)
def test_workers_add_to_copies_of_their_own(count, edges):
    """What a phase only adds to has a copy for each worker, unless its frontier is small."""
    here = fr.rmat(6, 6, seed=3)
    ids = np.random.default_rng(1).permutation(here.num_slots)[:edges]
    p, q = adding(here.to("python")), adding(here)
    with workers(count):
        for _ in range(2):
            fr.intersect(p, fr.Frontier(p.graph, ids, "edge"), add, "sum", into="total")
            fr.intersect(q, fr.Frontier(here, ids, "edge"), add, "sum", into="total")
            assert state(p) == state(q)


def test_which_fields_have_copies(monkeypatch):
    p = adding(fr.karate())
    assert ADD.explain(p).count("add up the threads' copies") == len(("low", "high", "bits"))
    for name in ("low", "high", "bits"):
        assert f"writes p.{name}[" in ADD.explain(p).partition("add up")[2]
    monkeypatch.setenv("FRONTIER_CHECK", "1")
    assert "copies" not in fr.Intersect(add, "sum", into="total", over="edges").explain(p)


@pytest.mark.parametrize("count", WORKERS)
def test_what_a_failed_run_has_left_in_copies_does_no_harm(count):
    here = fr.rmat(6, 6, seed=3)
    every = fr.Frontier.all(here, "edge")
    p, q, expected = adding(here), adding(here), adding(here.to("python"))
    with workers(count):
        with pytest.raises(fr.FunctorError):
            fr.intersect(p, every, raises)
        ADD(q)
    ADD(expected)
    assert state(q) == state(expected)


def test_copies_are_limited():
    """They are not made where there would be many more entries than edges, as on graphs of many vertices."""
    g = fr.rmat(6, 6, seed=3)
    assert words_of(FieldCopies("vertex", 8), g, 3) == 2 * g.num_vertices
    assert words_of(FieldCopies("edge", 4), g, 2) == (g.num_slots + 1) // 2
    assert words_of(FieldCopies("vertex", 8), g, 1) == 0
    assert words_of(FieldCopies("edge", 4), g, 6) == 0
