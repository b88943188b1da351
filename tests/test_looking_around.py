"""What functors look at beside their arguments: in-edges, the sizes of the graph; and scratch of their own."""

from __future__ import annotations

import numpy as np
import pytest
from compare import equal
from hypothesis import given
from strategies import graphs

import frontier as fr

SMALL = fr.from_edges([0, 0, 1, 3, 4, 2], [1, 2, 2, 2, 0, 4], directed=True).with_weights([5, 6, 7, 8, 9, 10])


def problem(g):
    return fr.Problem(
        g,
        sources=fr.vertex("int64"),
        weights=fr.vertex("int64"),
        order=fr.vertex("bool", True),
        many=fr.vertex("int64"),
        ranks=fr.vertex("float64"),
        mark=fr.edge("int64"),
    )


def look_in(p, v):
    last = -1
    for e in fr.neighbours(p, v, "in"):
        u = fr.source(p, e)
        p.sources[v] += u + 1
        p.weights[v] += fr.weight(p, e)
        p.order[v] = p.order[v] and last <= u
        p.mark[e] += v + 1
        last = u
    p.many[v] = fr.degree(p, v, "in")


def look_out(p, v):
    for e in fr.neighbours(p, v, edges="out"):
        p.sources[v] += fr.target(p, e) + 1
    p.many[v] = fr.degree(p, v, "out")


def triangles(p, v):
    """Closed walks of three edges, by loops of in-edges in each other."""
    for a in fr.neighbours(p, v, "in"):
        for b in fr.neighbours(p, fr.source(p, a), "in"):
            for c in fr.neighbours(p, fr.source(p, b), "in"):
                if fr.source(p, c) == v:
                    p.many[v] += 1


def share(p, v):
    p.ranks[v] = 1.0 / p.num_vertices + p.num_edges


LOOK_IN, LOOK_OUT, TRIANGLES, SHARE = (fr.Compute(fn, over="vertices") for fn in (look_in, look_out, triangles, share))


def test_in_edges_of_a_small_graph(backend):
    p = problem(backend(SMALL))
    LOOK_IN(p)
    equal(p.sources, [5, 1, 1 + 2 + 4, 0, 3])
    equal(p.weights, [10, 5, 6 + 7 + 9, 0, 8])
    equal(p.many, [1, 1, 3, 0, 1])
    equal(p.order, [True] * 5)
    equal(p.mark, SMALL.targets + 1)
    p = problem(backend(SMALL))
    TRIANGLES(p)
    equal(p.many, [1, 0, 1, 0, 1])  # 0 to 2 to 4 to 0


@given(graphs(weights="int32"))
def test_in_edges(agree, g):
    p, _ = agree(g, problem, LOOK_IN)
    equal(p.mark, g.targets + 1)
    equal(p.many, g.in_degree)


@pytest.mark.parametrize("directed", [False, True])
def test_in_edges_of_compressed_and_of_checked(backend, directed, monkeypatch):
    monkeypatch.setenv("FRONTIER_CHECK", "1")
    g = fr.urand(5, 4, seed=1, directed=directed, weights=(1, 9))
    for made in (g, g.compressed()):
        p = problem(backend(made))
        LOOK_IN(p)
        equal(p.mark, g.targets + 1)
        LOOK_OUT(p)
        equal(p.many, g.out_degree)


def sideways(p, v):
    for e in fr.neighbours(p, v, "sideways"):
        p.many[v] += e


def by_field(p, v):
    p.many[v] = fr.degree(p, v, p.many[v])


@pytest.mark.parametrize("fn", [sideways, by_field])
def test_another_direction_is_refused(backend, fn):
    with pytest.raises(fr.FunctorError, match=r'takes a third argument that is written as "out" or "in"'):
        fr.Compute(fn, over="vertices")(problem(backend(SMALL)))


def count_in(p, v):
    p.many[v] = fr.degree(p, v, "in")


COUNT_IN = fr.Compute(count_in, over="vertices")


def test_in_edges_of_graphs_in_parts_are_refused():
    with pytest.raises(fr.FunctorError, match=r'fr.neighbours\(p, v, "in"\): the graph is in parts'):
        COUNT_IN(fr.Problem(fr.rmat(5, 4, seed=1, directed=True, placement="ranks:2"), many=fr.vertex("int64")))


def test_in_edges_of_whole_graphs_on_every_rank():
    p = fr.Problem(SMALL.to("ranks:2"), many=fr.vertex("int64"))
    COUNT_IN(p)
    equal(p.many, SMALL.in_degree)


# -- sizes ---------------------------------------------------------------------------------------------------


def test_sizes(backend):
    p = problem(backend(SMALL))
    assert (p.num_vertices, p.num_edges) == (5, 6)
    SHARE(p)
    np.testing.assert_allclose(np.asarray(p.ranks.tolist()), 0.2 + 6)
    for _ in range(2):  # a problem like one that was checked before
        p = problem(backend(fr.path(4)))
        SHARE(p)
    np.testing.assert_allclose(np.asarray(p.ranks.tolist()), 0.25 + 3)


def misspelled(p, v):
    p.ranks[v] = p.num_vertice


def test_a_misspelled_size_is_found(backend):
    with pytest.raises(fr.FunctorError, match="no field 'num_vertice'; did you mean 'num_vertices'"):
        fr.Compute(misspelled, over="vertices")(problem(backend(SMALL)))


def test_a_field_of_that_name_goes_first(backend):
    p = fr.Problem(
        backend(SMALL), num_vertices=fr.scalar("float64", 0.5), ranks=fr.vertex("float64"), num_edges=fr.scalar("int64")
    )
    SHARE(p)
    equal(p.ranks, [2.0] * 5)


# -- scratch -------------------------------------------------------------------------------------------------

SIZE = 4


def histogram(p, v):
    """How many neighbours leave each rest, as a number of base 10."""
    found = fr.scratch(SIZE)
    for e in fr.neighbours(p, v):
        found[fr.target(p, e) % len(found)] += 1
    for i in range(SIZE):
        p.many[v] = 10 * p.many[v] + found[i]


def insert(best, value):
    """A helper to which a scratch is passed."""
    for i in range(3):
        if value > best[i]:
            other = best[i]
            best[i] = value
            value = other


def third_largest(p, v):
    best = fr.scratch(3, -1.5)
    for e in fr.neighbours(p, v):
        insert(best, fr.weight(p, e))
    p.ranks[v] = best[2]


def at_edges(p, src, dst):
    seen = fr.scratch(2, src)
    seen[1] = seen[1] * 2 + dst
    fr.atomic_add(p.many, dst, seen[0] + seen[1])


def outside(p, v):
    found = fr.scratch(SIZE)
    found[v] = 1
    p.many[v] = found[v]


def of_floats(p, v):
    found = fr.scratch(SIZE)
    found[0] = 0.5


def of_a_field(p, v):
    p.many[v] = fr.scratch(p.many[v])[0]


def too_large(p, v):
    p.many[v] = fr.scratch(257)[0]


def test_scratch(agree):
    g = fr.urand(5, 8, seed=3, directed=True, weights=(1, 50))
    p, _ = agree(g, problem, fr.Compute(histogram, over="vertices"))
    rests = [np.bincount(g.targets[g.offsets[v] : g.offsets[v + 1]] % SIZE, minlength=SIZE) for v in range(32)]
    equal(p.many, [sum(c * 10 ** (SIZE - 1 - i) for i, c in enumerate(each)) for each in rests])
    p, _ = agree(g, problem, fr.Compute(third_largest, over="vertices"))
    weights = [sorted([*g.weights[g.offsets[v] : g.offsets[v + 1]], -1.5, -1.5, -1.5])[-3] for v in range(32)]
    equal(p.ranks, weights)
    p, _ = agree(g, problem, fr.Advance(at_edges, over="vertices"))
    expected = np.zeros(32, np.int64)
    np.add.at(expected, g.targets, 3 * g.sources + g.targets)
    equal(p.many, expected)


def test_scratch_says_what_is_wrong(backend):
    p = problem(backend(SMALL))
    with pytest.raises((fr.FunctorError, IndexError), match=r"a scratch|raised an exception"):
        fr.Compute(outside, over="vertices")(p)
    with pytest.raises(fr.FunctorError, match="float"):
        fr.Compute(of_floats, over="vertices")(p)
    for fn in (of_a_field, too_large):
        with pytest.raises(fr.FunctorError, match=r"its size is a constant from 1 to 256"):
            fr.Compute(fn, over="vertices")(p)


def test_words_outside_of_functors():
    with pytest.raises(fr.FunctorError, match=r"fr.scratch\(0\): its size is a constant"):
        fr.scratch(0)
    assert len(fr.scratch(3)) == 3
