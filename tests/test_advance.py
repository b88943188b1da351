"""Advance: every output, direction of edges, schedule and kind of frontier; push against pull."""

from __future__ import annotations

import numpy as np
import pool
import pytest
from compare import WORKERS, at, equal, host, ids
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontiers, graphs

import frontier as fr
from frontier.operators.advance.holding import Holding
from frontier.program.execution import run

counts = st.sampled_from(WORKERS)

STEPS = {
    "plain": fr.Advance(pool.every),
    "where": fr.Advance(pool.every, where=pool.open_dst),
    "in": fr.Advance(pool.every, edges="in"),
    "in where": fr.Advance(pool.every, edges="in", where=pool.open_src),
    "few names": fr.Advance(pool.ends, where=pool.open_dst),
    "weights": fr.Advance(pool.heavy, edges="in"),
    "edges": fr.Advance(pool.every, output="edge"),
    "edges, where": fr.Advance(pool.every, output="edge", where=pool.open_dst),
    "in-edges": fr.Advance(pool.every, output="edge", edges="in"),
    "in-edges, few names": fr.Advance(pool.ends, output="edge", edges="in"),
    "no output": fr.Advance(pool.every, output=None, where=pool.open_dst),
    "no output, in": fr.Advance(pool.every, output=None, edges="in"),
    "nothing": fr.Advance(pool.nothing),
    "first two": fr.Advance(pool.every, part=slice(0, 2)),
    "after the first": fr.Advance(pool.every, part=slice(1, None), output="edge"),
    "second of in": fr.Advance(pool.every, part=slice(1, 2), edges="in"),
    "no part": fr.Advance(pool.ends, part=slice(2, 1), output=None),
    "cull": fr.Advance(pool.ends, unique="cull"),
    "hold": Holding(pool.every, hold=pool.late, held="total"),
    "hold, not counted": Holding(pool.every, hold=pool.late),
    "hold, where": Holding(pool.every, where=pool.open_dst, hold=pool.late, held="total"),
    "hold, in": Holding(pool.every, edges="in", hold=pool.late, held="total"),
    "hold, cull": Holding(pool.ends, unique="cull", hold=pool.late, held="total"),
    "hold, first two": Holding(pool.every, part=slice(0, 2), hold=pool.late, held="total"),
    "hold, sample": Holding(pool.every, part=fr.sample(2), hold=pool.late, held="total"),
    "hold all": Holding(pool.every, hold=pool.always, held="total"),
}

#: (step, schedule, kind of frontier)
CASES = [
    ("plain", "push", "vertex"),
    ("plain", "push", "edge"),
    ("plain", "thread", "vertex"),
    ("plain", "pull", "vertex"),
    ("plain", "pull", "edge"),
    ("where", "push", "vertex"),
    ("where", "pull", "vertex"),
    ("where", "auto", "vertex"),
    ("where", "auto", "edge"),
    ("in", "push", "vertex"),
    ("in", "push", "edge"),
    ("in", "pull", "vertex"),
    ("in where", "thread", "vertex"),
    ("in where", "pull", "edge"),
    ("in where", "auto", "vertex"),
    ("few names", "push", "vertex"),
    ("few names", "pull", "vertex"),
    ("weights", "push", "vertex"),
    ("weights", "pull", "vertex"),
    ("edges", "push", "vertex"),
    ("edges", "thread", "edge"),
    ("edges, where", "auto", "vertex"),
    ("in-edges", "push", "vertex"),
    ("in-edges", "pull", "edge"),
    ("in-edges, few names", "push", "vertex"),
    ("no output", "push", "vertex"),
    ("no output", "pull", "vertex"),
    ("no output", "auto", "edge"),
    ("no output, in", "push", "edge"),
    ("no output, in", "pull", "vertex"),
    ("nothing", "push", "vertex"),
    ("first two", "push", "vertex"),
    ("first two", "push", "edge"),
    ("after the first", "pull", "vertex"),
    ("second of in", "push", "vertex"),
    ("no part", "push", "vertex"),
    ("cull", "push", "vertex"),
    ("hold", "push", "vertex"),
    ("hold", "push", "edge"),
    ("hold", "thread", "vertex"),
    ("hold", "pull", "vertex"),  # it pushes all the same
    ("hold, not counted", "push", "vertex"),
    ("hold, where", "push", "vertex"),
    ("hold, where", "auto", "vertex"),
    ("hold, in", "push", "vertex"),
    ("hold, in", "push", "edge"),
    ("hold, cull", "push", "vertex"),
    ("hold, first two", "push", "vertex"),
    ("hold, sample", "push", "vertex"),
    ("hold all", "push", "vertex"),
]


@pytest.mark.parametrize(("step", "schedule", "kind"), CASES, ids=map("-".join, CASES))
@given(st.data())
def test_backends_agree(agree, step, schedule, kind, data):
    g = data.draw(graphs(weights="int32"))
    f = data.draw(frontiers(g, kind))

    def once(p):
        start = at(p, f)
        result = run(STEPS[step], p, start, pool.SCHEDULES[schedule])
        if STEPS[step].output is None:
            assert result is start
        return result

    agree(g, pool.problem, once, data.draw(counts))


@given(graphs(weights="int32"), st.data())
def test_what_is_visited_and_accepted(backend, g, data):
    """By the definition, without a backend: which edges, which ends, what comes out."""
    f = data.draw(frontiers(g))
    p = pool.problem(backend(g))
    out = STEPS["where"](p, at(p, f))
    visited = f.mask[g.sources] & host(p).open[g.targets]
    equal(p.hits, visited)
    slot = np.arange(g.num_slots)
    accepts = (3 * g.sources + 5 * g.targets.astype(np.int64) + 7 * slot + g.weights) % 3 != 0
    assert ids(out)[1] == np.unique(g.targets[visited & accepts]).tolist()


@given(graphs(weights="int32"), st.data())
def test_over_in_edges_src_and_dst_stay_the_ends_of_the_edge(backend, g, data):
    f = data.draw(frontiers(g))
    p = pool.problem(backend(g))
    out = STEPS["in-edges"](p, at(p, f))
    visited = f.mask[g.targets]
    equal(p.hits, visited)
    equal(p.seen % 1000, np.bincount(g.sources[visited], minlength=g.num_vertices))
    slot = np.arange(g.num_slots)
    accepts = (3 * g.sources + 5 * g.targets.astype(np.int64) + 7 * slot + g.weights) % 3 != 0
    assert ids(out) == ("edge", slot[visited & accepts].tolist())


@given(graphs(weights="int32"), st.data())
def test_an_edge_frontier_stands_on_the_set_of_its_far_ends(backend, g, data):
    f = data.draw(frontiers(g, "edge"))
    for name, far in (("plain", g.targets), ("in", g.sources)):
        p, q = pool.problem(backend(g)), pool.problem(backend(g))
        out = STEPS[name](p, at(p, f))
        expected = STEPS[name](q, fr.Frontier(q.graph, np.unique(far[f.ids])))
        assert ids(out) == ids(expected)
        equal(p.hits, q.hits)


@given(graphs(weights="int32"), st.data())
def test_part_is_of_each_vertex(backend, g, data):
    f = data.draw(frontiers(g))
    p = pool.problem(backend(g))
    STEPS["first two"](p, at(p, f))
    expected = np.zeros(g.num_slots, dtype=np.int64)
    for v in f.ids.tolist():
        expected[g.offsets[v] : g.offsets[v + 1]][:2] = 1
    equal(p.hits, expected)


# -- a functor that claims, which gives pull its early exit --------------------------------------------

CLAIMS = {
    "out": fr.Advance(pool.claim_dst, where=pool.free_dst, unique="claimed"),
    "in": fr.Advance(pool.claim_src, where=pool.free_src, unique="claimed", edges="in"),
}


@pytest.mark.parametrize("direction", ["push", "pull", "auto"])
@pytest.mark.parametrize("edges", ["out", "in"])
@given(st.data())
def test_claimed(agree, edges, direction, data):
    g = data.draw(graphs(weights="int32"))
    f = data.draw(frontiers(g))
    schedule = pool.SCHEDULES[direction]
    agree(g, pool.problem, lambda p: run(CLAIMS[edges], p, at(p, f), schedule), data.draw(counts))


def always(p, dst):
    return True


def test_the_python_backend_checks_the_promise_of_claimed():
    g = fr.star(4).to("python")
    p = pool.problem(g)
    with pytest.raises(fr.FunctorError, match="accepted vertex 0 twice in one step"):
        fr.advance(p, fr.Frontier.all(g), always, unique="claimed")


def test_a_broken_promise_is_noticed_before_memory_is_overrun():
    g = fr.complete(30)
    p = pool.problem(g)
    with pytest.raises(fr.FunctorError, match="accepted an element more than once"):
        fr.advance(p, fr.Frontier.all(g), always, unique="claimed")


# -- options that are not there, and functors that do not fit --------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"output": "v"}, "output='v'"),
        ({"unique": True}, "unique=True"),
        ({"edges": "both"}, "edges='both'"),
        ({"part": 2}, "part=2: a slice"),
        ({"part": slice(0, 4, 2)}, "no stride"),
        ({"part": slice(-1, None)}, "non-negative"),
        ({"over": 10}, "only Compute and Reduce run over a count"),
        ({"where": pool.open_src}, "no argument 'src' here; there is dst"),
        ({"where": pool.open_dst, "edges": "in"}, "no argument 'dst' here; there is src"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(fr.FrontierError, match=message):
        fr.Advance(pool.ends, **options)


def test_a_functor_of_vertices_is_refused():
    with pytest.raises(fr.FunctorError, match="no argument 'v' here; there is src, dst, edge, weight"):
        fr.Advance(pool.small)


def test_weights_that_are_not_there(backend):
    g = backend(fr.path(3))
    with pytest.raises(fr.GraphError, match=r"every .*takes the weight of an edge, but the graph has no weights"):
        fr.advance(pool.problem(g), fr.Frontier(g, [0]), pool.every)


@pytest.mark.parametrize("greatest", [2**63 - 1, 2**63])
def test_weights_that_int64_does_not_hold(backend, greatest):
    g = backend(fr.from_edges([0, 1], [1, 2], np.array([1, greatest], np.uint64)))
    if greatest < 2**63:
        fr.advance(pool.problem(g), fr.Frontier(g, [0]), pool.every)
        return
    with pytest.raises(fr.GraphError, match=r"every .*reads weights of edges as int64, and the greatest is 92.*808"):
        fr.advance(pool.problem(g), fr.Frontier(g, [0]), pool.every)


def test_without_a_frontier(backend):
    with pytest.raises(fr.FrontierError, match="needs a frontier to start with"):
        fr.Advance(pool.ends)(pool.problem(backend(fr.path(3))))


def test_a_frontier_of_another_graph(backend):
    g = backend(fr.path(3))
    with pytest.raises(fr.FrontierError, match="different graphs"):
        fr.advance(pool.problem(g), fr.Frontier(fr.path(3), [0]), pool.ends)
