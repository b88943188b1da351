"""Loops: what feeds a pass, until, count, record and replay, over, nesting, Sequence; python and cpu agree."""

from __future__ import annotations

import numpy as np
import pool
import programs
import pytest
from compare import WORKERS, at, equal, host, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontiers, graphs, graphs_with_vertex

import frontier as fr
from frontier.program.execution import run

counts = st.sampled_from(WORKERS)


def problem(g):
    """Fields called ``count`` and ``index``, as those of every tuple are."""
    n = g.num_vertices
    return fr.Problem(
        g,
        index=fr.vertex("int64", np.arange(n)),
        turns=fr.vertex("int64"),
        age=fr.vertex("int32", np.arange(n) % 5),
        worn=fr.edge("int32"),
        count=fr.scalar("int64"),
        rounds=fr.scalar("int64", 3),
        total=fr.scalar("int64"),
        first=fr.scalar("int32"),
        inner=fr.scalar("int64"),
        far=fr.pile(),
        later=fr.pile("edge"),
    )


def older(p, v):
    p.turns[v] += p.count
    p.age[v] += 1
    return p.age[v] < 6


def wear(p, src, dst, edge):
    p.worn[edge] += 1
    return p.worn[edge] <= (src + dst) % 4


def spread(p, src, dst):
    fr.atomic_add(p.turns, dst, src)
    return p.age[dst] <= p.count


def turns(p, v):
    return p.turns[v] + p.index[v]


def enough(p):
    return p.count >= 4


def tired(p):
    return p.total > 40


def add(p):
    return p.total + p.inner


def early(p, v):
    return p.index[v] % 3 == p.count % 3


def note(p, v):
    p.turns[v] = p.turns[v] * 3 + p.count


def note_inner(p, v):
    p.turns[v] = p.turns[v] * 5 + p.inner


def from_pile(p, v):
    p.turns[v] += p.count
    return p.age[v] + p.count > 3 + p.index[v] % 4


AGE = fr.Filter(older)
LOOPS = {
    "default": fr.Loop(AGE, count="count"),
    "default, edges": fr.Loop(fr.Filter(wear), count="count"),
    "times": fr.Loop(AGE, times=4, count="count"),
    "no times": fr.Loop(AGE, times=0, count="count"),
    "times of a scalar": fr.Loop(fr.Advance(spread), times="rounds", count="count"),
    "until": fr.Loop(fr.Compute(note), until=enough, count="count"),
    "until with times": fr.Loop(AGE, fr.Reduce(turns, "sum", into="total"), until=tired, times=20, count="count"),
    "take": fr.Loop(fr.Split(from_pile, rest="far"), take="far", count="count", until=tired),
    "take of edges": fr.Loop(fr.Split(wear, rest="later"), times=4),
    "over vertices": fr.Loop(AGE, over="vertices", count="count"),
    "over edges": fr.Loop(fr.Filter(wear), over="edges"),
    "over a pile": fr.Loop(AGE, over="far", count="count"),
    "over a scalar": fr.Loop(fr.Advance(spread), over="first", times=3, count="count"),
    "to edges and back": fr.Loop(fr.Advance(spread, output="edge"), fr.Advance(spread), times=3, count="count"),
    "kinds change": fr.Loop(fr.Advance(spread, output="edge"), times=3, count="count"),
    "nested": fr.Loop(
        fr.Compute(note),
        fr.Loop(fr.Compute(note_inner), fr.Set(total=add), times=2, count="inner"),
        fr.Loop(fr.Filter(older), over="vertices", times="rounds"),
        fr.Filter(early),
        times=3,
        count="count",
    ),
    "sequence": fr.Sequence(AGE, fr.Compute(note), fr.Filter(early)),
    "sequence over": fr.Sequence(AGE, fr.Compute(note), over="vertices"),
    "sequence in a loop": fr.Loop(
        fr.Sequence(fr.Filter(early), fr.Compute(note), over="vertices"), AGE, fr.Unique(), count="count"
    ),
}
KINDS = {"default, edges": "edge", "take of edges": "edge"}
OWN = {"take", "over vertices", "over edges", "over a pile", "over a scalar", "sequence over"}


@pytest.mark.parametrize("name", LOOPS)
@given(st.data())
def test_backends_agree(agree, name, data):
    g = data.draw(graphs(min_vertices=1, weights=None))
    f = data.draw(frontiers(g, KINDS.get(name, "vertex")))
    waiting = data.draw(frontiers(g))
    first = data.draw(st.integers(0, g.num_vertices - 1))
    rounds = data.draw(st.sampled_from([-1, 0, 1, 3]))
    schedule = fr.Schedule(fuse=data.draw(st.booleans()))

    def make(graph):
        p = problem(graph)
        p.far, p.first, p.rounds = at(p, waiting), first, rounds
        return p

    given_ = None if name in OWN else f

    def once(p):
        # "until" alone would go on for ever: the frontier stays as it is, and count stops it.
        return run(LOOPS[name], p, at(p, given_), schedule)

    agree(g, make, once, data.draw(counts))


@given(graphs(min_vertices=1, weights=None), st.data())
def test_a_loop_over_its_own_frontier_leaves_the_current_one_alone(backend, g, data):
    g = backend(g)
    f = data.draw(frontiers(g))
    p = problem(g)
    p.far = data.draw(frontiers(g))
    for name in sorted(OWN):
        assert LOOPS[name](p, f) is f


def test_default_is_tested_before_the_pass(backend):
    g = backend(fr.path(4))
    p = problem(g)
    left = LOOPS["default"](p, fr.Frontier(g))
    assert not left
    assert p.count == 0
    LOOPS["times"](p, fr.Frontier(g))
    assert p.count == 4  # empty or not


def test_until_is_tested_after_the_pass(backend):
    g = backend(fr.path(4))
    p = problem(g)
    p.count = 10
    LOOPS["until"](p, fr.Frontier.all(g))
    assert p.count == 11


# -- record and replay ------------------------------------------------------------------------------------

RECORDED = fr.Loop(fr.Advance(programs.visit, where=programs.unvisited, unique="claimed"), over="source",
                   count="depth", record="levels")  # fmt: skip


def stamp(p, v):
    """The number of the replayed pass, and how many came before it."""
    p.at[v] = p.depth * 1000 + p.order


def next_one(p):
    return p.order + 1


def stamp_edge(p, edge):
    p.old[edge] = p.depth


def oldest(p, edge):
    return p.old[edge] > p.depth


WAY_BACK = (
    RECORDED,
    fr.Loop(fr.Set(order=next_one), fr.Compute(stamp), replay="levels", count="depth"),
)
BACK = fr.Sequence(*WAY_BACK)
TWICE = fr.Loop(fr.Set(depth=0), fr.Compute(programs.clear_bfs, over="vertices"), *WAY_BACK, times=2)
EDGES = fr.Sequence(
    fr.Loop(fr.Filter(oldest), over="edges", count="depth", record="shells", times=1),
    fr.Loop(fr.Compute(stamp_edge), replay="shells", count="depth"),
)


def record_problem(g, source):
    p = fr.Problem(
        g,
        parent=fr.vertex("int32", -1, combine="claim"),
        level=fr.vertex("int32", -1, combine="min"),
        at=fr.vertex("int64", -1),
        old=fr.edge("int32", 9),
        depth=fr.scalar("int32"),
        order=fr.scalar("int32"),
        source=fr.scalar("int32", source),
    )
    p.parent[source] = source
    p.level[source] = 0
    return p


@pytest.mark.parametrize("direction", ["push", "pull", "auto"])
@given(graphs_with_vertex(weights=None), counts)
def test_replay_is_last_first_with_the_recorded_number(backend, direction, drawn, count):
    g, source = drawn
    p = record_problem(backend(g), source)
    with workers(count):
        run(BACK, p, schedule=fr.Schedule(direction=direction))
    p = host(p)
    reached = p.level >= 0
    deepest = p.level.max()
    # Level k is what pass k + 1 starts with; it is replayed as number deepest - k + 1 of all.
    equal(p.at[reached], (p.level[reached] + 1) * 1000 + deepest - p.level[reached] + 1)
    assert (p.at[~reached] == -1).all()
    assert p.depth == 1  # as of the recorded pass replayed last


@given(graphs_with_vertex(weights=None), counts)
def test_a_record_begins_anew_each_time(compiled, drawn, count):
    g, source = drawn

    def once(p):
        TWICE(p)
        return p.level.tolist(), p.at.tolist(), int(p.depth), int(p.order)

    p, q = record_problem(g.to("python"), source), record_problem(compiled(g), source)
    with workers(count):
        assert once(q) == once(p)
    assert q.order == 2 * (q.level.max() + 1)


@given(graphs(weights=None), counts)
def test_edges_and_everything_can_be_recorded(agree, g, count):
    agree(g, lambda graph: record_problem_at_nothing(graph), lambda p: EDGES(p), count)


def record_problem_at_nothing(g):
    return fr.Problem(g, old=fr.edge("int32", np.arange(g.num_slots) % 3), depth=fr.scalar("int32"))


KEPT = fr.Loop(fr.Filter(early), times=3, record="kept")


def test_an_element_that_occurs_in_two_passes_is_refused(backend):
    g = backend(fr.path(9))
    p = problem(g)
    with pytest.raises(fr.FrontierError, match="occurs in two passes"):
        KEPT(p, fr.Frontier.all(g))


def test_replay_without_a_record(backend):
    g = backend(fr.path(3))
    with pytest.raises(fr.FrontierError, match="replay='nothing': no loop before this one records it"):
        fr.Loop(fr.Compute(note), replay="nothing")(problem(g))


# -- what is refused when a loop is made or begun ------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"take": "far", "times": 3}, "fed by one thing: take and times"),
        ({"take": "far", "over": "vertices"}, "take and over"),
        ({"replay": "a", "over": "vertices"}, "replay and over"),
        ({"times": -1}, "not negative"),
        ({"max_steps": 0}, "at least one"),
        ({"until": early}, "there is nothing but the problem"),
        ({"over": 5}, "only Compute and Reduce"),
        ({"over": 1.5}, "over=1.5"),
        ({"record": "two words"}, "record='two words'"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(fr.FrontierError, match=message):
        fr.Loop(AGE, **options)


def test_loops_are_made_of_steps():
    with pytest.raises(fr.FrontierError, match="at least one step"):
        fr.Loop()
    with pytest.raises(fr.FrontierError, match="a Loop is made of steps"):
        fr.Loop(older)
    with pytest.raises(fr.FrontierError, match="a Sequence is made of steps"):
        fr.Sequence(AGE, "filter")


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        (fr.Loop(fr.Compute(note), take="fat"), "no field 'fat'"),
        (fr.Loop(fr.Compute(note), take="count"), "'count' is of kind scalar, not pile"),
        (fr.Loop(AGE, count="age"), "'age' is of kind vertex, not scalar"),
        (fr.Loop(AGE, times="never"), "no field 'never'"),
        (fr.Loop(AGE, over="age"), "over='age'"),
    ],
)
def test_fields_that_do_not_suit(backend, loop, message):
    p = problem(backend(fr.path(3)))
    with pytest.raises(fr.FrontierError, match=message):
        loop(p, fr.Frontier.all(p.graph) if not loop.own else None)


def test_a_loop_with_nothing_to_start_with(backend):
    p = problem(backend(fr.path(3)))
    with pytest.raises(fr.FrontierError, match="needs a frontier"):
        LOOPS["default"](p)
    with pytest.raises(fr.FrontierError, match="needs a frontier"):
        fr.Sequence(LOOPS["default"], over=None)(p)


def test_count_that_does_not_fit_is_noticed_by_python():
    g = fr.path(3).to("python")
    p = fr.Problem(g, steps=fr.scalar("int8"))
    with pytest.raises(fr.FunctorError, match="steps = 128: overflow"):
        fr.Loop(fr.Compute(idle, over="vertices"), times=200, count="steps")(p, fr.Frontier(g))


def idle(p, v):
    return None


def test_a_record_that_is_full_is_refused_after_a_pull(compiled):
    def every(p, src, dst):
        return True

    recorded = fr.Loop(fr.Advance(every), record="r", schedule=fr.Schedule(direction="pull"))
    program = fr.Sequence(recorded, fr.Loop(fr.Compute(pool.touch), replay="r"))
    p = pool.problem(compiled(fr.rmat(5, 8, seed=3)))
    with pytest.raises(fr.FrontierError, match="occurs in two passes"):
        run(program, p, fr.Frontier(p.graph, [0]))


def test_many_loops_are_one_program(backend):
    """Twenty-four loops have some 240 variables."""
    p = pool.problem(backend(fr.path(5)))
    before = host(p.seen).copy()
    run(fr.Sequence(*(fr.Loop(fr.Compute(pool.touch), over="vertices", times=2) for _ in range(24))), p)
    equal(host(p.seen), before + 48 * (10 + host(p.value)))


def test_a_loop_that_is_too_large_is_refused(cuda, monkeypatch):
    monkeypatch.setattr("frontier.backends.cuda.printers.MOST", 20)
    with workers(2), pytest.raises(fr.FrontierError, match=r"a loop of so many steps .* is too large for one kernel"):
        run(fr.Sequence(fr.Compute(pool.touch), over="vertices"), pool.problem(cuda(fr.star(40))))
