"""Programs on several parts: the same as on one, or a clear error."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from compare import primitives_agree
from hypothesis import given, settings
from hypothesis import strategies as st
from mpi import mpirun, processes
from strategies import graphs_with_vertex
from test_fuzz_programs import _fuzz

import frontier as fr
from frontier.backends.ranks import execution, readers, selective
from frontier.backends.ranks.communicators import Threads
from frontier.backends.ranks.exchange import Written, merge
from frontier.backends.ranks.parts import on_all
from frontier.memory import detection
from frontier.program.execution import start
from frontier.program.schedule import ResolvedSchedule

PARTS = (1, 2, 3, 4)

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")


def relax(p, src, dst, weight):
    new = p.distance[src] + weight
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


class Paths(fr.Enactor):
    loop = fr.Loop(fr.Advance(relax), over="source")


class Near(fr.Enactor):
    loop = fr.Loop(fr.Advance(relax), over="source", order=fr.by("distance", delta="auto"))


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("g", [fr.rmat(7, 8, seed=3, weights=(1, 9)), fr.grid(9, 12, weights=(1, 9))], ids=repr)
def test_primitives_are_the_same(parts, g):
    primitives_agree(g, g.to(f"ranks:{parts}"))


@given(graphs_with_vertex(weights="int32"), st.sampled_from(PARTS), st.data())
@settings(max_examples=15)
def test_any_partition_gives_the_same(graph_and_source, parts, data):
    g, source = graph_and_source
    cuts = sorted(data.draw(st.lists(st.integers(0, g.num_vertices), min_size=parts - 1, max_size=parts - 1)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "_starts", lambda g, parts: np.array([0, *cuts, g.num_vertices]))
        there = g.to(f"ranks:{parts},python")
        p = fr.Problem(there, distance=fr.vertex("float64", np.inf), source=fr.scalar("int64", source))
        p.distance[source] = 0
        Paths(p).run()
    expected = fr.sssp(g, source, parents=False).distance.astype(float)
    expected[expected >= np.iinfo(np.int64).max] = np.inf
    assert np.array_equal(p.distance, expected)


def visited(there, enactor, order):
    """Edges that the advances of a search look at, and the distances it finds."""
    p = fr.Problem(there, distance=fr.vertex("float64", np.inf), source=fr.scalar("int64", 5))
    p.distance[5] = 0
    with fr.trace() as seen:
        enactor(p, fr.Schedule(order=order)).run()
    return sum(total.edges for step, total in seen.totals.items() if "relax" in step), p.distance


@pytest.mark.parametrize("order", ["near_far", "buckets"])
@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("g", [fr.rmat(10, 8, seed=4, weights=(1, 64)), fr.grid(60, 60, weights=(1, 64))], ids=repr)
def test_an_order_saves_as_much_work_as_on_one_part(g, parts, order):
    one, several, unordered = (
        visited(g.to(where), enactor, order)
        for where, enactor in (("cpu", Near), (f"ranks:{parts}", Near), (f"ranks:{parts}", Paths))
    )
    assert several[0] < 1.25 * one[0]
    assert several[0] < unordered[0]
    assert np.array_equal(several[1], one[1])


@pytest.mark.parametrize("parts", [2, 3])
def test_random_programs_leave_the_same_on_python_and_several_parts(parts):
    said = _fuzz("--programs", "8", "--graphs", "3", "--seed", "40", "--backend", f"ranks:{parts}")
    assert "8 programs" in said
    assert "0 refused, 0 differences" in said


def test_a_run_stops_at_pass_boundaries_on_all_parts():
    g = fr.path(9).to("ranks:3")
    p = fr.Problem(g, distance=fr.vertex("int64", 99), source=fr.scalar("int64", 0))
    p.distance[0] = 0
    step = fr.Loop(fr.Advance(hop), over="source")
    begun = start(step, p)
    assert begun.proceed(3) == 3
    assert not begun.done
    assert p.distance.tolist() == [0, 1, 2, 3, 99, 99, 99, 99, 99]
    begun.proceed()
    assert begun.done
    assert p.distance.tolist() == list(range(9))


def hop(p, src, dst):
    new = p.distance[src] + 1
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


def corners(p, u, v, w, uv):
    fr.atomic_add(p.first, u, 1)
    fr.atomic_add(p.second, v, 1)
    fr.atomic_add(p.third, w, 1)
    p.of_edge[uv] = u + v


@pytest.mark.parametrize("parts", PARTS)
def test_only_the_first_end_of_an_intersected_edge_is_a_parts_own(parts):
    g = fr.rmat(6, 8, seed=1)
    found = []
    for where in ("cpu", f"ranks:{parts}"):
        names = ("first", "second", "third")
        p = fr.Problem(g.to(where), of_edge=fr.edge("int64"), **{name: fr.vertex("int64") for name in names})
        fr.Intersect(corners, over="edges")(p)
        found.append([p.arrays[name].tolist() for name in (*names, "of_edge")])
    assert found[0] == found[1]


# ---- what cannot be merged is refused ------------------------------------------------------------------------


def overwrite(p, src, dst):
    p.seen[dst] = src
    return True


def chase(p, src, dst):
    return fr.atomic_cas(p.seen, p.seen[dst], dst, src) == dst


def everywhere(p, v):
    p.seen[v // 2] = v


def note(p, src, dst):
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.level[dst] = p.depth
        return True
    return False


def mark_half(p, v):
    if p.level[v] > 1:
        p.half[v // 2] = 7


@pytest.mark.parametrize("parts", PARTS)
def test_what_all_store_alike_needs_no_combine(parts):
    """The search of the tutorial, unchanged."""
    g, levels = fr.rmat(7, 8, seed=3), fr.bfs(fr.rmat(7, 8, seed=3), 5).level
    p = fr.Problem(
        g.to(f"ranks:{parts}"), parent=fr.vertex("int32", -1), level=fr.vertex("int32", -1), depth=fr.scalar("int32"),
        half=fr.vertex("int32"),
    )  # fmt: skip
    p.parent[5], p.level[5] = 5, 0
    fr.Loop(fr.Advance(note), count="depth")(p, [5])
    assert np.array_equal(p.level, levels)
    fr.Compute(mark_half, over="vertices")(p)
    expected = np.zeros(g.num_vertices, int)
    expected[np.flatnonzero(levels > 1) // 2] = 7
    assert np.array_equal(p.half, expected)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (fr.Advance(overwrite, over="vertices"), r"writes p\.seen at dst.*declare the field with combine="),
        (fr.Compute(everywhere, over="vertices"), r"writes p\.seen at an index of its own making"),
        (fr.Advance(chase, over="vertices"), "exchanges p.seen at an index of its own making"),
    ],
)
def test_what_cannot_be_merged_is_refused_before_anything_runs(step, message):
    p = fr.Problem(fr.path(4).to("ranks:2"), seen=fr.vertex("int64", -1))
    with pytest.raises(fr.FunctorError, match=message):
        step(p)
    assert (p.seen == -1).all()
    combined = fr.Problem(fr.path(4).to("ranks:2"), seen=fr.vertex("int64", -1, combine="max"))
    if step.fn is not chase:
        step(combined)
        assert (combined.seen >= 0).any()


def lower(p, src, dst):
    return fr.atomic_min(p.seen, dst, p.seen[src]) > p.seen[src]


def count(p, src, dst):
    fr.atomic_add(p.seen, dst, 1)


@pytest.mark.parametrize("grid", ["", ",2d"])
@pytest.mark.parametrize(
    ("fn", "combine", "right"), [(lower, "sum", "min"), (lower, "max", "min"), (lower, "claim", "min"),
                                 (count, "min", "sum"), (count, "or", "sum")],
)  # fmt: skip
def test_an_atomic_and_a_combine_that_contradict_each_other_are_refused(fn, combine, right, grid):
    def changed(combine):
        p = fr.Problem(fr.grid(5, 5).to(f"ranks:4{grid}"), seen=fr.vertex("int64", np.arange(25), combine=combine))
        fr.Loop(fr.Advance(fn), times=2)(p, range(25))
        return p.seen

    with pytest.raises(fr.FunctorError, match=rf"{fn.__name__} .*combine='{combine}': declare .* combine='{right}'"):
        changed(combine)
    assert (changed(right) == changed(None)).all()


def raises(p, v):
    return (1, 2)[p.seen[v]] > 1


@pytest.mark.parametrize("parts", PARTS)
def test_a_functor_that_raises_on_one_part_ends_all(parts):
    p = fr.Problem(fr.path(8).to(f"ranks:{parts}"), seen=fr.vertex("int64", 0))
    p.seen[7] = 9
    with pytest.raises(fr.FunctorError, match=r"raises \(.*IndexError"):
        fr.Filter(raises, over="vertices")(p)


def weighed(p, v):
    return (1, 2)[p.seen[v]] + v


def apart(p, v):
    return (1, 2)[p.seen[v]] > 5 or v % 2


@pytest.mark.parametrize("step", [
    fr.Reduce(weighed, "sum", into="sum", over="vertices"), fr.Split(apart, rest="rest", over="vertices"),
], ids=repr)  # fmt: skip
def test_after_an_error_all_parts_have_what_they_had_before(step):
    comms = Threads(2).members
    problems = [fr.Problem(fr.path(8).to("ranks:2"), seen=fr.vertex("int64", 0), sum=fr.scalar("int64", 5),
                           rest=fr.pile()) for _ in comms]  # fmt: skip

    def run(comm):
        p = problems[comm.rank]
        p.seen[7] = 9
        with pytest.raises(fr.FunctorError):
            execution.Part.agreed(step, p, None, ResolvedSchedule(), comm, fr.Placement.parse("cpu")).proceed()
        assert (int(p.sum), len(p.rest)) == (5, 0)
        p.seen[7] = 0
        execution.Part.agreed(step, p, None, ResolvedSchedule(), comm, fr.Placement.parse("cpu")).proceed()
        return int(p.sum), sorted(p.rest)

    found = on_all(comms, run)
    assert found[0] == found[1]
    assert found[0] in ((36, []), (5, [0, 2, 4, 6]))


@pytest.mark.parametrize("name", ["ranks:0", "ranks:x", "ranks:2,cpu,cuda", "ranks:2,ranks"])
def test_names(name):
    with pytest.raises(fr.GraphError, match="there is no backend"):
        fr.karate().to(name)
    there = fr.karate().to("ranks:2").placement
    assert str(there) == "ranks:2"
    assert pickle.loads(pickle.dumps(there)) == there


# ---- merging ------------------------------------------------------------------------------------------------


COMBINED = {
    "min": lambda news, old: min(news),
    "max": lambda news, old: max(news),
    "sum": lambda news, old: old + sum(value - old for value in news),
    "or": lambda news, old: np.bitwise_or.reduce(news),
    "and": lambda news, old: np.bitwise_and.reduce(news),
    "claim": lambda news, old: news[0],
}


@given(st.integers(1, 4), st.data())
def test_merging_is_the_combine_of_what_has_changed(parts, data):
    combine = data.draw(st.sampled_from(["min", "max", "sum", "or", "and", "claim"]))
    old = np.array(data.draw(st.lists(st.integers(-5, 9), min_size=6, max_size=6)))
    values = [np.array(data.draw(st.lists(st.integers(0, 9), min_size=6, max_size=6))) for _ in range(parts)]
    changed = [np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=6, max_size=6))) for _ in range(parts)]
    p = fr.Problem(fr.path(6), x=fr.vertex("int64", old), y=fr.vertex("int64", -1))
    fields = [Written("y", "claim", "x"), Written("x", combine)]
    told = [
        {"x": (ids, each[ids]), "y": (ids, np.full(len(ids), rank))}
        for rank, (ids, each) in enumerate(zip(changed, values, strict=True))
    ]
    merge(p, fields, told)
    for v in range(6):
        found = [(rank, each[v]) for rank, (ids, each) in enumerate(zip(changed, values, strict=True)) if v in ids]
        news = [value for _, value in found]
        assert p.x[v] == (COMBINED[combine](news, old[v]) if news else old[v])
        if combine in ("min", "max", "claim"):
            assert p.y[v] == (next(rank for rank, value in found if value == p.x[v]) if news else -1)


def test_fields_that_go_along_with_each_other():
    """The last takes its value from the part that the first was taken from."""
    p = fr.Problem(
        fr.path(3), key=fr.vertex("int64", 9, combine="min"), by=fr.vertex("int64", -1, with_="key"),
        at=fr.vertex("int64", -1, with_="by"),
    )  # fmt: skip
    ids = np.arange(3)
    parts = {"key": [5, 2, 4], "by": 0, "at": 10}, {"key": [3, 4, 4], "by": 1, "at": 11}
    told = [{name: (ids, np.broadcast_to(value, 3)) for name, value in part.items()} for part in parts]
    fields = [Written("at", "claim", "by"), Written("by", "claim", "key"), Written("key", "min")]
    merge(p, fields, told)
    assert (p.key.tolist(), p.by.tolist(), p.at.tolist()) == ([3, 2, 4], [1, 0, 0], [11, 10, 10])
    with pytest.raises(fr.FrontierError, match="goes round: a with b with a"):
        fr.Problem(fr.path(3), a=fr.vertex("int64", with_="b"), b=fr.vertex("int64", with_="a"))


@pytest.mark.parametrize("place", ["cpu", "ranks:3", "divided"])
def test_flags_that_are_taken_back(place):
    """The sum of bools is whether any is true, of those that have changed."""
    def clear(p, src, dst):
        p.flag[dst] = False

    g = fr.path(50)
    there = fr.rmat(5, 4, seed=1, placement="ranks:3") if place == "divided" else g.to(place)
    p = fr.Problem(there, flag=fr.vertex("bool", True, combine="sum"))
    fr.Advance(clear, output=None, over="vertices")(p)
    alone = np.flatnonzero(np.asarray(there.out_degree) == 0)
    assert np.flatnonzero(np.asarray(p.flag)).tolist() == alone.tolist()


TABLE = (3, 1, 2)


def looked_up(x):
    return TABLE[x % 3]


def tabled(p, src, dst):
    fr.atomic_add(p.sum, src, TABLE[dst % 3] + looked_up(src))


@pytest.mark.parametrize("place", ["ranks:3", "divided"])
def test_tables_of_constants(place):
    g = fr.rmat(5, 4, seed=1)
    found = []
    for there in (g, fr.rmat(5, 4, seed=1, placement="ranks:3") if place == "divided" else g.to(place)):
        p = fr.Problem(there, sum=fr.vertex("int64"), other=fr.edge("int64"))
        fr.Advance(tabled, output=None, over="vertices")(p)
        found.append(np.asarray(p.sum).tolist())
    assert found[0] == found[1]
    assert fr.effects(tabled).exact


def sent_by(program, *of):
    """Bytes that all parts send, by exchange."""
    with fr.trace() as seen:
        program(*of)
    return [(row.number, row.sent) for row in seen.rows if row.backend == "ranks"]


@pytest.mark.parametrize("parts", [4, 16])
def test_a_search_sends_as_much_as_is_counted_for_its_partition(parts):
    g = fr.rmat(12, 16, seed=5)
    source = int(np.argmax(g.out_degree))
    counted = fr.partition(g, parts).exchanged(fr.bfs(g, source).level, payload=4).total
    push = fr.Schedule(direction="push")
    sent = sum(number for _, number in sent_by(lambda: fr.bfs(g.to(f"ranks:{parts}"), source, schedule=push)))
    assert counted / 2 < sent < 2 * counted  # besides, all parts get to know all parents, but some are found at home


def test_what_only_owners_touch_is_sent_at_the_end_alone():
    def rise(p, v):
        p.own[v] += p.step

    def spread(p, src, dst):
        fr.atomic_add(p.far, dst, p.own[src])

    g = fr.rmat(9, 8, seed=5)
    p = fr.Problem(g.to("ranks:3"), own=fr.vertex("int64"), far=fr.vertex("int64", combine="sum"),
                   step=fr.scalar("int64", 2))  # fmt: skip
    sent = sent_by(fr.Loop(fr.Compute(rise, over="vertices"), times=5), p)
    assert (p.own == 10).all()
    assert len(sent) == 18
    assert sum(number for _, number in sent[:15]) == 0 < min(number for _, number in sent[15:])
    sent = sent_by(fr.Loop(fr.Advance(spread, output=None, over="vertices"), times=4), p)
    assert (p.far == 40 * g.in_degree).all()
    assert len(sent) == 15  # changes go to owners only, since nobody looks at what is there, and come back at the end


def grow(p, v):
    p.height[v] += 1


def of_length(p, v):
    return p.length[v]


def look(p, src, dst):
    fr.atomic_max(p.highest, dst, p.height[src] + src)


@pytest.mark.parametrize("parts", [2, 4])
@pytest.mark.parametrize("in_parts", [False, True])
def test_what_changes_often_is_told_to_its_readers_alone(parts, in_parts):
    """On a path, only the last vertex of a part and the first of the next are read by another part."""
    there = f"ranks:{parts}"
    ends = np.arange(399), np.arange(1, 400)
    g = fr.from_edges(*ends, placement=there) if in_parts else fr.from_edges(*ends).to(there)
    p = fr.Problem(g, height=fr.vertex("int64"), highest=fr.vertex("int64"))
    body = fr.Compute(grow), fr.Advance(look, output=None, edges="in")
    sent = sent_by(fr.Loop(*body, over="vertices", times=8), p)
    v = np.arange(400)
    assert (p.height == 8).all()
    assert np.array_equal(p.highest, np.where(v < 399, v + 1, 398) + 8)
    for number in (5, 6, 7):  # a value, and what stands before it and before those that have seldom changed
        assert sum(each for at, each in sent if at == number) == 2 * (parts - 1) * (8 + 8 + 8)


def spread_out(p, v):
    p.length[v] = p.length[v] * 3 % 7


def turned(p, v):
    p.height[v] += p.length[v]


@pytest.mark.parametrize("place", ["ranks:3", "ranks:2,python"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("in_parts", [False, True])
def test_readers_have_what_they_read_when_fields_are_exchanged(place, directed, in_parts, monkeypatch):
    monkeypatch.setattr(readers, "FEW", 10)  # whatever the graph
    monkeypatch.setattr(selective, "TIMES", 1)
    found = []
    for where in ("cpu", place):
        options = {"seed": 3, "directed": directed}
        divided = in_parts and where == place
        g = fr.rmat(6, 3, placement=place, **options) if divided else fr.rmat(6, 3, **options).to(where)
        p = fr.Problem(
            g, height=fr.vertex("int64"), length=fr.vertex("int64", np.arange(64) % 7),
            highest=fr.vertex("int64"), other=fr.vertex("int64", np.arange(64) % 5), sum=fr.scalar("int64"),
        )  # fmt: skip
        fr.Loop(
            fr.Compute(turned), fr.Advance(look, output=None), fr.Swap("height", "other"),
            fr.Advance(look, output=None, edges="in"), fr.Compute(spread_out), fr.Scan(of_length, "other", "sum"),
            fr.Swap("length", "height"), fr.Reduce(of_length, "sum", into="sum"), over="vertices", times=4,
        )(p)  # fmt: skip
        found.append([p.height, p.length, p.highest, p.other, p.sum])
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_primitives_tell_readers(in_parts, directed, monkeypatch):
    monkeypatch.setattr(readers, "FEW", 10)
    monkeypatch.setattr(selective, "TIMES", 1)
    options = {"seed": 3, "weights": (1, 9), "directed": directed}
    g = fr.rmat(8, 8, **options)
    there = fr.rmat(8, 8, placement="ranks:4", **options) if in_parts else g.to("ranks:4")
    fr.verify.sssp(g, fr.sssp(there, 5))
    np.testing.assert_allclose(fr.pagerank(there).rank, fr.pagerank(g).rank, rtol=1e-9)
    np.testing.assert_allclose(
        fr.betweenness(there, [5, 9]).centrality, fr.betweenness(g, [5, 9]).centrality, rtol=1e-9, atol=1e-12
    )
    if not directed:
        assert np.array_equal(fr.connected_components(there).label, fr.connected_components(g).label)


@processes
def test_processes_tell_readers(tmp_path):
    made = mpirun(3, tmp_path, """
        import numpy as np, frontier as fr
        whole = fr.grid(20, 30)
        parts = fr.from_edges(whole.sources, whole.targets, directed=True, placement="ranks")
        for g in (whole.to("ranks"), parts):
            with fr.trace() as t:
                found = fr.pagerank(g).rank
            assert np.allclose(found, fr.pagerank(whole).rank)
            late = [row.sent for row in t.rows if row.step == "exchange" and 20 < row.number < 40]
            assert 0 < max(late) < 600, late
        print("right")
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 3


def test_additions_are_sums_of_what_parts_have_added():
    def spread(p, src, dst):
        fr.atomic_add(p.low, dst, p.high[src])

    def reset(p, v):
        p.low[v] = 0.5

    g = fr.rmat(7, 8, seed=5)
    made = []
    for where in ("cpu", "ranks:3"):
        fields = {name: fr.vertex("float64", 1, combine="sum") for name in ("high", "low")}
        p = fr.Problem(g.to(where), **fields)
        body = (fr.Advance(spread, output=None), fr.Swap("high", "low"), fr.Compute(reset))
        fr.Loop(*body, over="vertices", times=3)(p)
        made.append((p.high, p.low))
    np.testing.assert_allclose(made[0], made[1], rtol=1e-12)


def add_one(p, src, dst):
    fr.atomic_add(p.sum, dst, 1.0)


def set_to_zero(p, v):
    p.sum[v] = 0.0


@pytest.mark.parametrize("over", ["vertices", "source"])
@pytest.mark.parametrize("where", ["ranks:3", "ranks:4,2x2", "ranks:3,python"])
def test_additions_do_not_depend_on_values_that_others_have_replaced(where, over):
    g = fr.rmat(7, 4, seed=5)
    source = int(np.argmax(g.out_degree == 3))  # so few that its targets are listed
    targets = g.targets if over == "vertices" else g.targets[g.offsets[source] : g.offsets[source + 1]]
    for first in (1e30, np.inf, np.nan):
        fields = {"sum": fr.vertex("float64", first, combine="sum"), "source": fr.scalar("int64", source)}
        p = fr.Problem(g.to(where), **fields)
        fr.Sequence(fr.Compute(set_to_zero, over="vertices"), fr.Advance(add_one, over=over))(p)
        assert np.array_equal(p.sum, np.bincount(targets, minlength=g.num_vertices))


def count_down(p, src, dst):
    return fr.atomic_add(p.waits, dst, -1) == 1


def helped(p, dst):
    return fr.atomic_add(p.waits, dst, -1)


def count_with_help(p, src, dst):
    return helped(p, dst) == 1


def only_add(p, src, dst):
    fr.atomic_add(p.waits, dst, -1)
    return True


def add_and_return(p, v):
    return fr.atomic_add(p.waits, v // 2, -1)


def test_what_an_addition_returns_is_not_known_before_the_end_of_the_step():
    p = fr.Problem(fr.path(4).to("ranks:2"), waits=fr.vertex("int64", 2), sum=fr.scalar("int64"))
    refused = (
        fr.Advance(count_down, over="vertices"), fr.Advance(count_with_help, over="vertices"),
        fr.Reduce(add_and_return, "sum", into="sum", over="vertices"),
    )  # fmt: skip
    for step in refused:
        with pytest.raises(fr.FunctorError, match=r"uses what atomic_add\(p\.waits, \.\.\.\) returns"):
            step(p)
    assert (p.waits == 2).all()
    fr.Advance(only_add, over="vertices")(p)
    fr.Advance(count_down, over="vertices", output=None)
    fr.Compute(add_and_return, over="vertices")(p)
    assert p.waits.tolist() == [-1, -2, 0, 1]


def test_members_that_leave_let_the_others_go():
    first, second = Threads(2).members
    second.leave()
    with pytest.raises(fr.FrontierError, match="another part of the run has ended"):
        first.gather(1)


# ---- where the time goes ---------------------------------------------------------------------------------


def test_a_trace_says_what_each_rank_did():
    g = fr.rmat(8, 8, seed=2).to("ranks:3")
    with fr.trace() as t:
        result = fr.bfs(g, 3)
        fr.bfs(g, 3)
    assert sorted(t.ranks) == [0, 1, 2]
    exchanges = [row for row in t.rows if row.step == "exchange"]
    for rank, total in t.ranks.items():
        own = [row for row in exchanges if row.rank == rank]
        assert total.exchanges == len(own) == len(exchanges) / 3
        assert total.sent == sum(row.sent for row in own) > 0
        assert total.waiting == pytest.approx(sum(row.waited for row in own))
        assert min(total.preparing, total.computing, total.merging) > 0
    visits = [row for row in t.rows if row.step.startswith("Advance")]
    assert {row.rank for row in visits} == {0, 1, 2}
    assert {row.number for row in visits} == set(range(1, result.level.max() + 2))
    *_, head, _, first, _, _, last = str(t).splitlines()
    assert head.split()[:3] == ["rank", "exchanges", "preparing"]
    assert (first.split()[0], last.split()[0]) == ("0", "all")
    assert last.split()[-1] == f"{sum(total.sent for total in t.ranks.values()):,}"
    assert [each["rank"] for each in json.loads(t.to_json())["ranks"]] == [0, 1, 2]
    assert {event["tid"] for event in json.loads(t.to_chrome())["traceEvents"]} == {0, 1, 2}


@processes
def test_one_rank_may_trace_alone(tmp_path):
    made = mpirun(3, tmp_path, """
        import frontier as fr
        from mpi4py import MPI
        g = fr.karate().to("ranks")
        if MPI.COMM_WORLD.rank == 1:
            with fr.trace() as t:
                fr.bfs(g, 0)
            assert sorted(t.ranks) == [0, 1, 2]
            assert len({total.exchanges for total in t.ranks.values()}) == 1
            print("right")
        else:
            fr.bfs(g, 0)
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout == "right\n"


# ---- processes ----------------------------------------------------------------------------------------------


@processes
@pytest.mark.parametrize("count", [2, 3])
def test_processes_have_the_same_results(count, tmp_path):
    program = """
        import numpy as np, frontier as fr
        g = fr.rmat(9, 8, seed=5, weights=(1, 9))
        there = g.to("ranks")
        assert np.array_equal(np.asarray(fr.bfs(there, 3).level), fr.bfs(g, 3).level)
        fr.verify.sssp(g, fr.sssp(there, 3))
        assert np.allclose(fr.pagerank(there).rank, fr.pagerank(g).rank)

        def smallest(p, src, dst):
            return p.label[src] < fr.atomic_min(p.label, dst, p.label[src])

        p = fr.Problem(there, label=fr.vertex("int64", np.arange(g.num_vertices), combine="min"))
        fr.Loop(fr.Advance(smallest), over="vertices")(p)
        assert np.array_equal(p.label, fr.connected_components(g).label)
        print("right")
    """
    made = mpirun(count, tmp_path, program)
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == count


@processes
def test_one_process_prints_what_all_have(tmp_path):
    for arguments, wanted in (
        (["bfs", "karate", "--backend", "ranks", "--verify"], "2 processes"),
        (["bfs", "karate", "--backend", "ranks", "--trace"], "preparing ms  computing ms  merging ms  waiting ms"),
        (["graph500", "--scale", "6", "--roots", "2", "--backend", "ranks"], "num_mpi_processes:              2"),
    ):
        made = mpirun(2, tmp_path, ["-m", "frontier", *arguments])
        assert made.returncode == 0, made.stdout + made.stderr
        assert made.stdout.count(wanted) == 1, made.stdout


@processes
def test_doctor_reports_once_for_a_host(tmp_path):
    made = mpirun(3, tmp_path, ["-m", "frontier", "doctor"])
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("backend ranks ") == made.stdout.count(" by 3 processes") == 1, made.stdout


@processes
@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("pagerank karate --backend ranks --max-iterations 2", 1, "in iteration 2, not below 1e-09"),  # on all together
        ("bfs karate --backend ranks --source 99", 2, "there is no vertex 99"),  # on each for itself
    ],
)
def test_one_process_says_what_is_wrong_on_all(words, status, said, tmp_path):
    made = mpirun(2, tmp_path, f"""
        import sys
        from frontier.backends.ranks import communicators
        from frontier.cli import main
        communicators.PAUSE = 20  # however slow rank 0 is
        sys.exit(main({words.split()}))
    """)  # fmt: skip
    assert made.returncode == status
    assert made.stderr.count(said) == made.stderr.count("frontier: ") == 1, made.stderr


@processes
@pytest.mark.parametrize("words", ["bfs karate --backend rank", "bfss karate", "cc karate --threads 0 --backend ranks"])
def test_one_process_says_how_the_command_is_used(words, tmp_path):
    made = mpirun(3, tmp_path, ["-m", "frontier", *words.split()])
    assert made.returncode == 2
    assert made.stderr.count("frontier: ") == 1, made.stderr
    made = mpirun(3, tmp_path, ["-m", "frontier", "bfs", "nowhere", "--backend", "ranks"])
    assert made.returncode == 2
    assert "neither a file nor a kind" in made.stderr


@processes
def test_one_process_says_that_weights_are_drawn(tmp_path):
    made = mpirun(3, tmp_path, ["-m", "frontier", "sssp", "karate", "--backend", "ranks"])
    assert made.returncode == 0
    assert made.stderr.count("they are drawn, integers from 1 to 64") == 1, made.stderr


def rank_of(p, src):
    return p.rank[src]


def halve(p, v):
    p.rank[v] = p.sum[v] / 2


def test_lists_of_readers_that_are_not_used_are_dropped():
    """Where every rank reads nearly all; and with them the memory of which they are a part."""
    p = fr.Problem(fr.complete(40).to("ranks:2"), rank=fr.vertex("float64", 1.0), sum=fr.vertex("float64"))
    steps = fr.Gather(rank_of, "sum", into="sum"), fr.Compute(halve)
    fr.Loop(*steps, times=2, over="vertices")(p)
    made = [value for name, value in p.graph._topology.derived.items() if name.startswith("readers")]
    assert len(made) == 2
    for each in made:
        assert not each.few
        assert (each.given, each.taken) == ([], [])
        assert each.by.size == 0
        assert each.by.base is None
