"""What parts have changed is merged, and told to those who need it."""

from __future__ import annotations

import numpy as np
import pytest
from mpi import mpirun, processes

import frontier as fr
from frontier.distributed.ranks import readers, selective_mirrors
from frontier.distributed.transport.threads import Threads
from frontier.memory import detection

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")


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


@pytest.mark.parametrize("place", ["python", "cpu", "ranks:2,python", "ranks:3"])
def test_additions_to_in_edges(place):
    """The owner of a target adds to an edge of which the owner of the source has the value."""
    def add(p, src, dst, edge):
        fr.atomic_add(p.sum, edge, dst)

    g = fr.rmat(5, 4, seed=1, directed=True)
    p = fr.Problem(g.to(place), sum=fr.edge("int64", 1000))
    fr.Advance(add, edges="in", output=None, over="vertices")(p)
    assert np.asarray(p.sum).tolist() == (1000 + g.targets.astype(int)).tolist()


@pytest.mark.parametrize("place", ["python", "cpu", "ranks:2,python", "ranks:3"])
def test_companions_that_owners_have_changed(place):
    """One that gets back the value that others know is a change, too."""
    def own(p, v):
        fr.atomic_max(p.most, v, 1, 1)

    def spread(p, src, dst):
        fr.atomic_max(p.most, dst, 7, 3)

    fields = {"most": fr.vertex("int64", combine="max"), "by": fr.vertex("int64", 3, with_="most")}
    p = fr.Problem(fr.path(50).to(place), **fields)
    fr.Sequence(fr.Compute(own), fr.Advance(spread, output=None), over="vertices")(p)
    assert np.asarray(p.most).tolist() == [7] * 50
    assert np.asarray(p.by).tolist() == [3] * 50


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
    monkeypatch.setattr(selective_mirrors, "TIMES", 1)
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
    monkeypatch.setattr(selective_mirrors, "TIMES", 1)
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
        first.allgather(1)
