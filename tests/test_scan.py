"""Scan: running sums in ascending order of ids, over any form of frontier; what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from compare import WORKERS, at, close, equal, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontiers, graphs

import frontier as fr
from frontier.program.execution import run

counts = st.sampled_from(WORKERS)


def problem(g):
    n, m = g.num_vertices, g.num_slots
    return fr.Problem(
        g,
        value=fr.vertex("int32", np.arange(n) * 7 % 11 - 3),
        price=fr.edge("float32", np.arange(m) % 13 / 4),
        seen=fr.vertex("int32", np.arange(n) % 3 - 1),
        place=fr.vertex("int64", -99),
        small=fr.vertex("int16", -99),
        real=fr.vertex("float64", -99),
        slot=fr.edge("uint32", 99),
        cost=fr.edge("float32", -99),
        total=fr.scalar("int64", 5),
        sum=fr.scalar("float64", 5),
        flag=fr.scalar("bool"),
        mark=fr.vertex("bool"),
    )


def value(p, v):
    return p.value[v]


def with_total(p, v):
    return p.value[v] * p.total


def half(p, v):
    return p.value[v] / 2


def truth(p, v):
    return p.value[v] > 0


def cheap(p, src, dst, edge):
    return p.price[edge] * (1 + (src < dst))


def up(p, src, dst):
    return src < dst


STEPS = {
    "ints": (fr.Scan(value, into="place", total="total"), "vertex"),
    "total is read": (fr.Scan(with_total, into="place", total="total"), "vertex"),
    "narrow": (fr.Scan(value, into="small"), "vertex"),
    "floats": (fr.Scan(half, into="real", total="sum"), "vertex"),
    "ints into floats": (fr.Scan(value, into="real", total="sum"), "vertex"),
    "bools": (fr.Scan(truth, into="place", total="sum"), "vertex"),
    "edges": (fr.Scan(up, into="slot", total="total"), "edge"),
    "edges, floats": (fr.Scan(cheap, into="cost", total="sum"), "edge"),
}


@pytest.mark.parametrize("name", STEPS)
@given(st.data())
def test_backends_agree(agree, name, data):
    """All values are sums of quarters, so no order of additions changes a bit."""
    step, kind = STEPS[name]
    g = data.draw(graphs(max_vertices=150))
    f = data.draw(frontiers(g, kind))
    p, result = agree(g, problem, lambda p: step(p, at(p, f)), data.draw(counts))
    assert result == f
    field = getattr(p, step.into)
    beside = np.setdiff1d(np.arange(len(field)), f.ids)
    equal(field[beside], getattr(problem(g), step.into)[beside])


@given(graphs(max_vertices=150), st.data(), counts)
def test_by_the_definition(backend, g, data, count):
    g = backend(g)
    f = data.draw(frontiers(g))
    p = problem(g)
    with workers(count):
        assert fr.scan(p, f, value, into="place", total="total") is f
    order = np.sort(f.ids)
    ends = np.cumsum(p.value[order])
    equal(p.place[order], ends - p.value[order])
    assert p.total == (ends[-1] if len(order) else 0)


def third(p, v):
    return 1 / (3 + v)


@pytest.mark.parametrize("count", WORKERS)
def test_float_sums_have_the_same_bits_in_every_run(count):
    g = fr.path(5000)
    made = []
    for _ in range(3):
        p = problem(g)
        with workers(count):
            fr.scan(p, fr.Frontier.all(g), third, into="real")
        made.append(p.real)
    equal(made[0], made[1])
    equal(made[0], made[2])
    values = 1 / (3 + np.arange(5000))
    close(made[0], np.cumsum(values) - values, rtol=1e-12, atol=1e-12)


# -- in loops --------------------------------------------------------------------------------------------------


def positive(p, v):
    p.seen[v] += 1
    return p.value[v] > p.seen[v]


def reach(p, src, dst):
    return True


def bare(p, dst):
    return p.seen[dst] < 2


PUSH, PULL = fr.Schedule(direction="push"), fr.Schedule(direction="pull")
LOOPS = {
    "filter": fr.Loop(fr.Filter(positive), fr.Scan(value, into="place", total="total"), over="vertices"),
    "its own": fr.Loop(fr.Scan(up, into="slot", over="edges"), fr.Filter(positive), times=2, over="vertices"),
    "after an advance": fr.Loop(
        fr.Advance(reach, where=bare),
        fr.Filter(positive),
        fr.Scan(value, into="place"),
        fr.Advance(reach),
        fr.Scan(half, into="real", total="sum"),
        times=2,
    ),
    "edges": fr.Loop(
        fr.Advance(reach, output="edge"), fr.Scan(up, into="slot", total="total"), fr.Advance(reach), times=2
    ),
}


UNFUSED = pytest.mark.unsimulated("other loops run step by step there")


@pytest.mark.parametrize(
    "schedule", [PUSH, PULL, pytest.param(fr.Schedule(fuse=False), marks=UNFUSED)], ids=["push", "pull", "not fused"]
)
@pytest.mark.parametrize("name", LOOPS)
@given(st.data())
def test_in_a_loop(agree, name, schedule, data):
    """The frontier may be a queue, everything, or the bitmap that a pull leaves."""
    g = data.draw(graphs(max_vertices=80))
    f = data.draw(frontiers(g))
    agree(g, problem, lambda p: run(LOOPS[name], p, at(p, f), schedule), data.draw(counts))


def test_places_for_a_list(backend):
    """What it is for: the kept elements get places 0, 1, ... in an array."""
    g = backend(fr.path(10))
    p = problem(g)
    fr.scan(p, fr.Frontier.all(g), truth, into="place", total="total")
    kept = np.flatnonzero(p.value > 0)
    assert p.place[kept].tolist() == list(range(len(kept)))
    assert p.total == len(kept)


# -- what is refused -------------------------------------------------------------------------------------------


def from_place(p, v):
    return p.place[v]


def writing(p, v):
    p.seen[v] = 1
    return 1


def nothing(p, v):
    pass


def test_it_refuses(backend):
    g = backend(fr.path(3))
    p = problem(g)
    every, edges = fr.Frontier.all(g), fr.Frontier.all(g, "edge")
    with pytest.raises(fr.FunctorError, match=r"from_place .*reads field 'place', which this Scan writes"):
        fr.scan(p, every, from_place, into="place")
    with pytest.raises(fr.FunctorError, match=r"writing .*writes field 'seen'.*no side effects"):
        fr.scan(p, every, writing, into="place")
    with pytest.raises(fr.FrontierError, match="Scan into the vertex field 'place' runs over a frontier of that kind"):
        fr.scan(p, edges, up, into="place")
    with pytest.raises(fr.FrontierError, match="Scan into the edge field 'slot' runs over a frontier of that kind"):
        fr.scan(p, every, value, into="slot")
    with pytest.raises(fr.FrontierError, match="field 'mark' holds bool"):
        fr.scan(p, every, value, into="mark")
    with pytest.raises(fr.FrontierError, match="field 'flag' holds bool"):
        fr.scan(p, every, value, into="place", total="flag")
    with pytest.raises(fr.FrontierError, match="'total' is of kind scalar, not vertex or edge"):
        fr.scan(p, every, value, into="total")
    with pytest.raises(fr.FrontierError, match="'place' is of kind vertex, not scalar"):
        fr.scan(p, every, value, into="place", total="place")
    with pytest.raises(fr.FunctorError):
        fr.scan(p, every, nothing, into="place")
    with pytest.raises(fr.FrontierError, match="only Compute and Reduce run over a count"):
        fr.Scan(value, into="place", over=10)
