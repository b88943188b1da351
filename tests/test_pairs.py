"""Fields of which one goes along with the other: ``fr.atomic_min(p.distance, dst, new, src)``."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from compare import WORKERS, host, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, graphs_with_vertex

import frontier as fr

#: In one word, and under a lock.
DTYPES = [("float32", "int32"), ("int32", "uint32"), ("uint32", "float32"), ("float64", "int32"), ("int64", "int64"),
          ("int32", "int64"), ("int64", "float64")]  # fmt: skip

counts = st.sampled_from(WORKERS)


def relax(p, src, dst, weight):
    new = p.distance[src] + weight
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new, src)


def relax_longest(p, src, dst, weight):
    """The same with negative lengths, by the maximum."""
    new = p.distance[src] - weight
    return new > p.distance[dst] and new > fr.atomic_max(p.distance, dst, new, src)


class Paths(fr.Enactor):
    loop = fr.Loop(fr.Advance(relax), over="source")


class Near(fr.Enactor):
    loop = fr.Loop(fr.Advance(relax), order=fr.by("distance"), over="source")


class Longest(fr.Enactor):
    loop = fr.Loop(fr.Advance(relax_longest), over="source")


def problem(g, source=0, dtype="float32", other="int32", combine="min", **fields):
    top = {"f": np.inf, "i": 2**31 - 1, "u": 2**31}[np.dtype(dtype).kind]
    p = fr.Problem(
        g, distance=fr.vertex(dtype, top if combine == "min" else -top, combine=combine),
        parent=fr.vertex(other, -1 if np.dtype(other).kind != "u" else 2**32 - 1, with_="distance"),
        source=fr.scalar("int64", source), **fields,
    )  # fmt: skip
    p.distance[source], p.parent[source] = 0, source
    return p


def check_tree(g, p, source, sign=1):
    """Every parent's distance and the weight of an edge are the child's, and parents lead to the source."""
    distance, parent = host(p.distance), host(p.parent).astype(np.int64)
    expected = fr.sssp(g, source, parents=False).distance
    reached = expected < (np.inf if expected.dtype.kind == "f" else np.iinfo(np.int64).max)
    assert np.array_equal(sign * distance[reached].astype(float), expected[reached])
    edges = {}
    for u, v, w in zip(g.sources.tolist(), g.targets.tolist(), g.weights.tolist(), strict=True):
        edges.setdefault((u, v), set()).add(w)
    for v in np.flatnonzero(reached).tolist():
        u = int(parent[v])
        if v != source:
            assert sign * (distance[v] - distance[u]) in edges[u, v]
        for _ in range(g.num_vertices):
            u = int(parent[u])
        assert u == source  # also where weights are 0
    assert np.isin(parent[~reached], (-1, 2**32 - 1)).all()


#: Every kind of pair, and an order by the distance with one of each.
PAIRS = [*((Paths, *pair) for pair in DTYPES), *((Near, *DTYPES[i]) for i in (0, 2, 4))]


@pytest.mark.parametrize(("program", "dtype", "other"), PAIRS)
@given(drawn=graphs_with_vertex(weights=("int32",)), count=counts)
def test_parents_belong_to_their_distances(backend, program, dtype, other, drawn, count):
    g, source = drawn
    g = g.with_weights((g.weights % 4).astype("float32" if dtype == "float32" else "int32"))
    p = problem(backend(g), source, dtype, other)
    with workers(count):
        program(p).run()
    check_tree(g, p, source)


@given(drawn=graphs_with_vertex(weights=("int32",)), count=counts)
def test_the_greatest_value(backend, drawn, count):
    g, source = drawn
    g = g.with_weights((g.weights % 4).astype("float32"))
    p = problem(backend(g), source, combine="max")
    with workers(count):
        Longest(p).run()
    check_tree(g, p, source, sign=-1)


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("program", [Paths, Near])
def test_four_workers_on_larger_graphs(compiled, program, dtype):
    for g in (fr.rmat(11, 8, seed=2, weights=(0, 3)), fr.grid(50, 40, seed=1, weights=(0, 2))):
        g = g.with_weights(g.weights.astype("float32"))
        p = problem(compiled(g), dtype=dtype)
        with workers(4):
            program(p).run()
        check_tree(g, p, 0)


def offer(p, v):
    p.first[v] = fr.atomic_min(p.distance, 0, p.value[v], v)


def touch(p, v):
    p.distance[v] += 1
    p.parent[v] = p.parent[v] * 2 + v
    fr.atomic_add(p.parent, v, 3)
    fr.atomic_min(p.distance, v, 1.5)  # leaves the other as it is
    p.first[v] = p.distance[v] + p.parent[v]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(g=graphs(min_vertices=1, max_vertices=60), data=st.data())
def test_one_place_and_many_values(backend, dtype, g, data):
    values = data.draw(st.lists(st.sampled_from([-1.5, 0.0, -0.0, 2.5, np.nan, np.inf, -np.inf]),
                                min_size=g.num_vertices, max_size=g.num_vertices))  # fmt: skip
    p = problem(backend(g), dtype=dtype, value=fr.vertex(dtype, values), first=fr.vertex("float64"))
    p.distance[0], p.parent[0] = data.draw(st.sampled_from([np.nan, 1.0, np.inf])), -1
    before = float(p.distance[0])
    with workers(3):
        fr.Compute(offer, over="vertices")(p)
    least = np.fmin.reduce([before, *values])
    assert np.array_equal(float(p.distance[0]), least, equal_nan=True)
    v = int(p.parent[0])
    assert v == -1 if np.array_equal(before, least, equal_nan=True) else values[v] == least


@pytest.mark.parametrize(("dtype", "other"), [("float32", "int32"), ("float64", "int32"), ("float32", "int64")])
def test_each_alone_as_other_fields(backend, dtype, other):
    p = problem(backend(fr.path(9)), dtype=dtype, other=other, first=fr.vertex("float64"))
    p.distance, p.parent = np.arange(9), 7
    fr.Compute(touch, over="vertices")(p)
    assert host(p.distance).tolist() == [1, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5]
    assert host(p.parent).tolist() == [v + 17 for v in range(9)]
    assert host(p.first).tolist() == (host(p.distance) + host(p.parent)).tolist()


def test_edges_have_pairs_too(backend):
    g = backend(fr.path(4))
    p = fr.Problem(g, least=fr.edge("int32", 9, combine="min"), by=fr.edge("uint32", with_="least"))
    fr.Compute(of_edge, over="edges")(p)
    assert host(p.least).tolist() == [min(9, 12 - e) for e in range(6)]
    assert host(p.by).tolist() == [e if 12 - e < 9 else 0 for e in range(6)]


def of_edge(p, edge):
    fr.atomic_min(p.least, edge, 12 - edge, edge)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_copies_of_problems(copied, dtype):
    p = problem(fr.grid(5, 5).with_weights(np.ones(80, np.float32)), dtype=dtype)
    Paths(p).run()
    q = copied(p)
    q.distance, q.parent = np.inf, -1
    q.distance[3], q.parent[3], q.source = 0, 3, 3
    Paths(q).run()
    check_tree(q.graph, q, 3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_access_is_checked(monkeypatch, dtype):
    monkeypatch.setenv("FRONTIER_CHECK", "1")
    g = fr.grid(5, 5).with_weights(np.ones(80, np.float32))
    p = problem(g, dtype=dtype)
    Paths(p).run()
    check_tree(g, p, 0)
    with pytest.raises(fr.FunctorError, match="25"):
        fr.Compute(outside, over="vertices")(p)


def outside(p, v):
    fr.atomic_min(p.distance, v + 1, 0.0, v)


def test_explain_says_what_goes_along():
    text = Paths(problem(fr.path(3, weights=(1, 2)))).explain()
    assert "p.parent[dst] (atomic with p.distance)" in text


def fraction(p, v):
    fr.atomic_min(p.distance, v, 0.0, 0.5)


def the_greatest(p, v):
    fr.atomic_max(p.distance, v, 0.0, v)


def alone(p, v):
    fr.atomic_min(p.more, v, 0, v)


def each(p, v):
    return v


def where_from(p, src):
    return src


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (fr.Compute(fraction, over="vertices"), "int32"),
        (fr.Compute(the_greatest, over="vertices"), "only atomic_min, as p.distance has combine='min'"),
        (fr.Compute(alone, over="vertices"), "no field goes along with p.more: declare one with_='more'"),
        (fr.Swap("parent", "more"), "goes along with p.distance"),
        (fr.Gather(where_from, "max", into="parent", over="vertices"), "goes along with p.distance"),
        (fr.Scan(each, into="parent", over="vertices"), "goes along with p.distance"),
    ],
)
@pytest.mark.unsimulated("it does not compile functors")
def test_what_is_refused(backend, step, message):
    p = problem(backend(fr.path(3)), more=fr.vertex("int32"))
    with pytest.raises(fr.FrontierError, match=message):
        step(p)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"distance": fr.vertex("float32", combine="min"), "parent": fr.vertex("int8", with_="distance")},
         "int8 has neither 32 nor 64 bits"),
        ({"distance": fr.vertex("float32"), "parent": fr.vertex("int32", with_="distance")},
         "without combine='min'"),
        ({"distance": fr.vertex("float32", combine="min"), "parent": fr.edge("int32", with_="distance")},
         "different kinds"),
    ],
)  # fmt: skip
def test_fields_that_are_no_pair(backend, fields, message):
    p = fr.Problem(backend(fr.path(3, weights=(1, 2))), source=fr.scalar("int64"), **fields)
    with pytest.raises(fr.FunctorError, match=message):
        Paths(p).run()


def test_the_command_explains_pairs():
    """It runs programs on cpu, and notes what they become."""
    from frontier.cli.explain import Noting
    from frontier.memory.placement import Placement, backend_named

    g = fr.path(3, weights=(1, 2))
    noting = Noting(backend_named("cpu"))
    p = problem(g.to(Placement(noting, g.placement.memory, g.placement.edges)))
    Paths(p).run()
    assert host(p.parent).tolist() == [0, 0, 1]
    assert "p.parent[dst] (atomic with p.distance)" in noting.programs[0]
