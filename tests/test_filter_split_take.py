"""Filter, Split, Take, Unique: which elements stay, and what goes to a pile."""

from __future__ import annotations

import pool
import pytest
from compare import WORKERS, at, equal, ids, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontier_ids, frontiers, graphs

import frontier as fr

counts = st.sampled_from(WORKERS)
PILES = {"vertex": "far", "edge": "later"}
FUNCTORS = {"vertex": pool.small, "edge": pool.level_edge}
FILTER = fr.Filter(pool.small), fr.Filter(pool.level_edge)
SPLIT = fr.Split(pool.small, rest="far"), fr.Split(pool.level_edge, rest="later")
PUT = {"vertex": fr.Put("far"), "edge": fr.Put("later")}
OVER = {
    "vertices": fr.Filter(pool.small, over="vertices"),
    "edges": fr.Filter(pool.level_edge, over="edges"),
    "far": fr.Filter(pool.small, over="far"),
    "later": fr.Filter(pool.level_edge, over="later"),
    "limit": fr.Filter(pool.small, over="limit"),
}


@pytest.mark.parametrize("kind", ["vertex", "edge"])
@given(st.data())
def test_filter(agree, kind, data):
    g = data.draw(graphs(weights="int32"))
    f = data.draw(frontiers(g, kind))
    step = FILTER[kind == "edge"]
    p, result = agree(g, pool.problem, lambda p: step(p, at(p, f)), data.draw(counts))
    assert ids(f - result) == ids(f - (f & result))
    calls = p.hits if kind == "edge" else p.seen
    equal(calls, f.mask)  # exactly once for each element


@pytest.mark.parametrize("kind", ["vertex", "edge"])
@given(st.data())
def test_split(agree, kind, data):
    """The true ones; the others join the pile, which stays a set."""
    g = data.draw(graphs(weights="int32"))
    f = data.draw(frontiers(g, kind))
    waiting = fr.Frontier(g, data.draw(frontier_ids(g, kind)), kind)
    step, pile = SPLIT[kind == "edge"], PILES[kind]

    def make(graph):
        p = pool.problem(graph)
        setattr(p, pile, at(p, waiting))
        return p

    p, result = agree(g, make, lambda p: step(p, at(p, f)), data.draw(counts))
    assert ids(result | (getattr(p, pile) & f)) == ids(f)
    assert ids(getattr(p, pile)) == ids(waiting | (f - result))


@pytest.mark.parametrize("kind", ["vertex", "edge"])
@given(st.data())
def test_put(agree, kind, data):
    """All join the pile, which stays a set, and all stay."""
    g = data.draw(graphs(weights="int32"))
    f, waiting = data.draw(frontiers(g, kind)), fr.Frontier(g, data.draw(frontier_ids(g, kind)), kind)
    step, pile = PUT[kind], PILES[kind]

    def make(graph):
        p = pool.problem(graph)
        setattr(p, pile, at(p, waiting))
        return p

    p, result = agree(g, make, lambda p: step(p, at(p, f)), data.draw(counts))
    assert ids(result) == ids(f)
    assert ids(getattr(p, pile)) == ids(waiting | f)


def still_ill(p, v):
    return p.day - p.since[v] < 4


def infect(p, src, dst):
    return (src + 2 * dst + p.day) % 3 == 0 and fr.atomic_cas(p.since, dst, -1, p.day) == -1


#: An epidemic without chance: whoever is ill infects some neighbours, for three days.
EPIDEMIC = fr.Loop(
    fr.Filter(still_ill), fr.Put("ill"), fr.Advance(infect, unique="claimed"), fr.Put("ill"), take="ill", count="day"
)
UNION = fr.Sequence(fr.Put("far"), fr.Advance(pool.ends), fr.Put("far"), fr.Take("far"))


@given(graphs(min_vertices=1), counts)
def test_old_and_new_together(agree, g, count):
    def make(graph):
        p = fr.Problem(graph, since=fr.vertex("int32", -1, combine="claim"), day=fr.scalar("int32"), ill=fr.pile())
        p.since[0] = 0
        p.ill = [0]
        return p

    p, _ = agree(g, make, EPIDEMIC, count)
    assert not p.ill
    since = {0: 0}
    for day in range(1, p.day + 1):
        ill = [v for v in since if day - since[v] < 4]
        since |= {d: day for s in ill for d in g.neighbors(s) if (s + 2 * d + day) % 3 == 0 and d not in since}
    assert {v: day for v, day in enumerate(p.since.tolist()) if day >= 0} == since
    start = fr.Frontier(g, [0])
    _, both = agree(g, pool.problem, lambda p: UNION(p, at(p, start)), count)
    assert ids(both) == ("vertex", sorted({0, *(d for d in g.neighbors(0) if 2 * d % 3 != 0)}))
    q = pool.problem(g)
    assert fr.put(q, start, "far") is start
    assert ids(q.far) == ("vertex", [0])


@given(graphs(weights="int32"), st.data(), counts)
def test_eager_split_gives_both(backend, g, data, count):
    g = backend(g)
    f = data.draw(frontiers(g))
    p = pool.problem(g)
    with workers(count):
        near, far = fr.split(p, f, pool.small)
        assert not p.far
        again, rest = fr.split(p, f, pool.small, rest="far")
    assert ids(near) == ids(again)
    assert ids(far) == ids(rest) == ids(p.far)
    assert ids(near | far) == ids(f)
    assert not near & far


@pytest.mark.parametrize("kind", ["vertex", "edge"])
@given(st.data())
def test_take_empties_the_pile(backend, kind, data):
    g = backend(data.draw(graphs(weights="int32")))
    waiting = data.draw(frontiers(g, kind))
    p = pool.problem(g)
    setattr(p, PILES[kind], waiting)
    assert ids(fr.take(p, PILES[kind])) == ids(waiting)
    assert not getattr(p, PILES[kind])
    assert not fr.take(p, PILES[kind])


@pytest.mark.parametrize("over", OVER)
@given(st.data())
def test_over_gives_its_own_frontier_and_leaves_the_current_one_alone(agree, over, data):
    g = data.draw(graphs(weights="int32", min_vertices=1))
    far, later = data.draw(frontiers(g)), data.draw(frontiers(g, "edge"))
    vertex = data.draw(st.integers(0, g.num_vertices - 1))

    def make(graph):
        p = pool.problem(graph)
        p.far, p.later, p.limit = at(p, far), at(p, later), vertex
        return p

    count = data.draw(counts)
    p, _ = agree(g, make, lambda p: OVER[over](p), count)
    assert ids(p.far), ids(p.later) == (ids(far), ids(later))  # read, not taken
    current = fr.Frontier(g, [0])
    with workers(count):
        assert OVER[over](make(g), current) is current


def test_a_vertex_that_does_not_exist(backend):
    g = backend(fr.path(3))
    p = pool.problem(g)
    for p.limit in (3, -1):
        with pytest.raises(fr.GraphError, match=rf"vertex {p.limit} does not exist: valid are 0\.\.2"):
            OVER["limit"](p)


@given(graphs(weights="int32"), st.data())
def test_unique_gives_the_same_set(backend, g, data):
    g = backend(g)
    f = data.draw(frontiers(g))
    assert ids(fr.unique(pool.problem(g), f)) == ids(f)


def test_edges_into_a_pile_of_vertices(backend):
    g = backend(fr.from_edges([0, 1], [1, 2], [1, 1]))
    p = pool.problem(g)
    with pytest.raises(fr.FrontierError):
        fr.Split(pool.level_edge, rest="far")(p, fr.Frontier.all(g, "edge"))


def test_no_such_pile(backend):
    p = pool.problem(backend(fr.path(3)))
    with pytest.raises(fr.FrontierError, match="no field 'fat'"):
        fr.take(p, "fat")
    with pytest.raises(fr.FrontierError, match="'limit' is of kind scalar, not pile"):
        fr.Split(pool.small, rest="limit")(p, fr.Frontier.all(p.graph))
    with pytest.raises(fr.FrontierError, match="over='everything'"):
        fr.Filter(pool.small, over="everything")(p)


def mixed(p, v, src):
    return True


def test_a_functor_is_of_one_kind():
    with pytest.raises(fr.FunctorError, match="mix arguments"):
        fr.Filter(mixed)


def test_a_functor_of_edges_on_vertices(backend):
    p = pool.problem(backend(fr.from_edges([0, 1], [1, 2], [1, 1])))
    with pytest.raises(fr.FunctorError, match="level_edge"):
        fr.filter(p, fr.Frontier.all(p.graph), pool.level_edge)


def test_a_choice_that_nothing_uses_is_said():
    """With ``over=`` a step leaves the current frontier alone, so what a filter keeps is lost."""
    dropped = fr.Filter(pool.small, over="vertices")
    for make in (fr.Sequence, fr.Loop):
        with pytest.warns(fr.FrontierWarning, match=r"Filter\(small\) over 'vertices': nothing uses what it"):
            make(dropped, fr.Compute(pool.touch))
    ends = fr.Sequence(fr.Compute(pool.touch), fr.Sequence(fr.Filter(pool.small)), over="vertices")
    with pytest.warns(fr.FrontierWarning, match=r"Filter\(small\), the last of Sequence.* over 'vertices': nothing"):
        fr.Sequence(ends, fr.Compute(pool.touch))
    for fed in ({"take": "far"}, {"replay": "levels"}):
        with pytest.warns(fr.FrontierWarning, match=r"Filter\(small\) ends a Loop with (take='far'|replay='levels')"):
            fr.Loop(fr.Compute(pool.touch), fr.Filter(pool.small), **fed)
    fr.Loop(fr.Filter(pool.small), fr.Put("far"), take="far")
    fr.Sequence(fr.Filter(pool.small), fr.Compute(pool.touch), over="vertices")
    fr.Sequence(fr.Split(pool.small, rest="far", over="vertices"), fr.Advance(pool.every, over="vertices"))
