"""part=fr.sample(k): which edges are drawn, that they are the same everywhere, and that all are equally likely."""

from __future__ import annotations

import itertools

import numpy as np
import pool
import pytest
from compare import WORKERS, at, equal, host, ids
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontiers, graphs

import frontier as fr

counts = st.sampled_from(WORKERS)

STEPS = {
    "one": fr.Advance(pool.every, part=fr.sample(1)),
    "two": fr.Advance(pool.every, part=fr.sample(2, seed=-7)),
    "named": fr.Advance(pool.every, part=fr.sample(3, seed="limit")),
    "edges": fr.Advance(pool.every, part=fr.sample(2, seed="limit"), output="edge"),
    "in": fr.Advance(pool.every, part=fr.sample(2, seed="limit"), edges="in", output="edge"),
    "where": fr.Advance(pool.every, part=fr.sample(2), where=pool.open_dst),
    "no output": fr.Advance(pool.every, part=fr.sample(4), output=None),
}


@pytest.mark.parametrize("kind", ["vertex", "edge"])
@pytest.mark.parametrize("name", STEPS)
@given(st.data())
def test_backends_agree(agree, name, kind, data):
    g = data.draw(graphs(weights="int32"))
    f = data.draw(frontiers(g, kind))
    seed = data.draw(st.integers(-(2**63), 2**63 - 1))

    def once(p):
        p.limit = seed
        return STEPS[name](p, at(p, f))

    agree(g, pool.problem, once, data.draw(counts))


def drawn(p):
    return np.flatnonzero(host(p).hits).tolist()


@given(graphs(weights="int32"), st.data())
def test_so_many_of_each_vertex(backend, g, data):
    f = data.draw(frontiers(g))
    for name, k, ends in (("two", 2, g.sources), ("in", 2, g.targets), ("named", 3, g.sources)):
        p = pool.problem(backend(g))
        STEPS[name](p, at(p, f))
        assert host(p).hits.max(initial=0) <= 1
        degrees = np.bincount(ends, minlength=g.num_vertices)
        expected = np.where(f.mask, np.minimum(degrees, k), 0)
        equal(np.bincount(ends[drawn(p)], minlength=g.num_vertices), expected)


@given(graphs(weights="int32"), st.data())
def test_the_definition(backend, g, data):
    """A shuffle of each list, as the documentation says it."""
    f = data.draw(frontiers(g))
    p = pool.problem(backend(g))
    p.limit = seed = data.draw(st.integers(0, 100))
    STEPS["named"](p, at(p, f))
    expected = []
    for v in f.ids.tolist():
        slots = list(range(g.offsets[v], g.offsets[v + 1]))
        key = fr.hash(fr.hash(seed) + v)
        for t in range(min(3, len(slots))):
            other = t + fr.hash(key + t) % (len(slots) - t)
            slots[t], slots[other] = slots[other], slots[t]
        expected += slots[:3]
    assert drawn(p) == sorted(expected)


def mark(p, src, edge):
    p.hits[edge] = 1
    return True


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize(("degree", "k"), [(2, 1), (5, 2), (6, 5), (7, 3)])
def test_all_sets_of_edges_are_equally_likely(backend, degree, k):
    n = 7000
    vertices = np.repeat(np.arange(n), degree)
    g = backend(fr.from_edges(vertices, np.tile(np.arange(degree), n), num_vertices=n, directed=True))
    p = pool.problem(g)
    fr.advance(p, fr.Frontier.all(g), mark, part=fr.sample(k), output=None)
    sets = host(p).hits.reshape(n, degree) @ (1 << np.arange(degree))
    every = [sum(1 << i for i in some) for some in itertools.combinations(range(degree), k)]
    found = np.array([np.count_nonzero(sets == one) for one in every])
    assert found.sum() == n
    expected = n / len(every)
    squares = ((found - expected) ** 2 / expected).sum()
    assert squares < len(every) - 1 + 4 * np.sqrt(2 * len(every))  # chi-square, four deviations above its mean


@pytest.mark.unsimulated("large graphs")
def test_another_seed_draws_other_edges(backend):
    g = backend(fr.complete(40))
    made = set()
    for seed in range(20):
        p = pool.problem(g)
        p.limit = seed
        fr.advance(p, fr.Frontier.all(g), mark, part=fr.sample(3, seed="limit"), output=None)
        made.add(tuple(drawn(p)))
    assert len(made) == 20


# -- in a loop ----------------------------------------------------------------------------------------------


def layer(p, src, dst, edge):
    p.layer[edge] += 10**p.turn
    return True


def layered(g):
    return fr.Problem(g, layer=fr.edge("int64"), turn=fr.scalar("int32", -1), first=fr.scalar("int32"))


LAYERS = fr.Loop(fr.Advance(layer, part=fr.sample(2, seed="turn")), over="first", times=3, count="turn")
SAME = fr.Loop(fr.Advance(layer, part=fr.sample(2), output=None), over="vertices", times=2, count="turn")

OTHER = fr.Loop(
    fr.Advance(layer, part=fr.sample(2, seed="turn"), output=None), over="vertices", times=2, count="turn"
)


@given(graphs(min_vertices=1), counts)
def test_neighbour_sampling_in_layers(agree, g, count):
    """A scalar that is counted draws anew in every pass, and as eager steps with these seeds do."""
    p, _ = agree(g, layered, LAYERS, count)
    q = layered(p.graph)
    f = fr.Frontier(p.graph, [0])
    for q.turn in range(3):
        f = fr.advance(q, f, layer, part=fr.sample(2, seed="turn"))
    equal(p.layer, q.layer)


def test_passes_differ_only_if_the_seed_does(backend):
    g = backend(fr.complete(30))
    p = layered(g)
    SAME(p)
    assert set(p.layer.tolist()) == {0, 11}
    p = layered(g)
    OTHER(p)
    assert {1, 10} <= set(p.layer.tolist())


# -- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, -1, 2.0, True, "k"])
def test_wrong_sizes(k):
    with pytest.raises(fr.FrontierError, match="a number of edges, at least 1"):
        fr.sample(k)


@pytest.mark.parametrize(("seed", "message"), [(0.5, "or the name"), (None, "an integer"), (2**63, "64 bits")])
def test_wrong_seeds(seed, message):
    with pytest.raises(fr.FrontierError, match=message):
        fr.sample(2, seed=seed)


def test_wrong_fields(backend):
    p = fr.Problem(backend(fr.path(3)), ratio=fr.scalar("float64"), mark=fr.vertex("int32"))
    f = fr.Frontier.all(p.graph)
    for seed, message in (("ratio", "must hold an integer"), ("mark", "not scalar"), ("tour", "no field 'tour'")):
        with pytest.raises(fr.FrontierError, match=message):
            fr.advance(p, f, always, part=fr.sample(2, seed=seed))


def always(p, dst):
    return True


def test_equal_samples_are_one_step():
    assert fr.Advance(always, part=fr.sample(2)).key() == fr.Advance(always, part=fr.sample(2)).key()
    assert fr.Advance(always, part=fr.sample(2)).key() != fr.Advance(always, part=fr.sample(2, seed=1)).key()
    assert fr.sample(2, seed="turn").seed == "turn"
    g = fr.path(4)
    every = fr.advance(pool.problem(g), fr.Frontier.all(g), always, part=fr.sample(100))
    assert ids(every) == ("vertex", [0, 1, 2, 3])
