"""Buckets: who stays and which pile takes whom; shortest paths by four buckets."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from compare import WORKERS, at, equal, ids, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontier_ids, frontiers, graphs, graphs_with_vertex

import frontier as fr

counts = st.sampled_from(WORKERS)
NAMES = {"vertex": ("soon", "later", "last"), "edge": ("e_soon", "e_later", "e_last")}


def problem(g):
    n = g.num_vertices
    value = (np.arange(n) * 7 % 13 - 4) / 3
    value[3:4], value[5:6], value[6:7] = np.nan, np.inf, -np.inf
    return fr.Problem(
        g,
        value=fr.vertex("float64", value),
        seen=fr.vertex("int64"),
        hits=fr.edge("int64"),
        shift=fr.scalar("int64", 1),
        limit=fr.scalar("int64", 5),
        **{name: fr.pile(kind) for kind, names in NAMES.items() for name in names},
    )


def real(p, v):
    p.seen[v] += 1
    return p.value[v]


def whole(p, v):
    p.seen[v] += 1
    return v % 6 - p.shift


def of_edge(p, src, dst, edge):
    p.hits[edge] += 1
    return (src + 2 * dst + edge) % 5


def one(p, v):
    p.seen[v] += 1
    return v % 3 == 1


STEPS = {
    "real": fr.Buckets(real, NAMES["vertex"]),
    "whole": fr.Buckets(whole, NAMES["vertex"]),
    "two": fr.Buckets(whole, list(NAMES["vertex"][:2])),
    "a bool, one pile": fr.Buckets(one, ["last"]),
    "edges": fr.Buckets(of_edge, NAMES["edge"]),
    "over": fr.Buckets(whole, NAMES["vertex"], over="vertices"),
}


@pytest.mark.parametrize("name", STEPS)
@given(st.data())
def test_backends_agree(agree, name, data):
    step = STEPS[name]
    kind = "edge" if name == "edges" else "vertex"
    g = data.draw(graphs(max_vertices=80))
    f = None if name == "over" else data.draw(frontiers(g, kind))
    waiting = {pile: fr.Frontier(g, data.draw(frontier_ids(g, kind)), kind) for pile in step.piles}

    def make(graph):
        p = problem(graph)
        for pile, content in waiting.items():
            setattr(p, pile, at(p, content))
        return p

    p, _ = agree(g, make, lambda p: step(p, at(p, f)), data.draw(counts))
    calls = p.hits if kind == "edge" else p.seen
    equal(calls, 1 if f is None else f.mask)  # exactly once for each element


@given(graphs(max_vertices=80), st.data(), counts)
def test_by_the_definition(backend, g, data, count):
    g = backend(g)
    f = data.draw(frontiers(g))
    p = problem(g)
    with workers(count):
        stays = fr.buckets(p, f, real, NAMES["vertex"])
    with np.errstate(invalid="ignore"):
        number = np.clip(np.nan_to_num(np.floor(p.value), nan=0.0), 0, 3)
    parts = [stays, p.soon, p.later, p.last]
    for i, part in enumerate(parts):
        assert ids(part) == ("vertex", np.flatnonzero(f.mask & (number == i)).tolist())


@pytest.mark.parametrize("count", WORKERS)
def test_more_than_a_worker_collects_at_a_time(count):
    g = fr.path(20000)
    p = problem(g)
    with workers(count):
        stays = fr.buckets(p, fr.Frontier.all(g), whole, NAMES["vertex"])
    sizes = [len(part) for part in (stays, p.soon, p.later, p.last)]
    assert sizes == [np.count_nonzero(np.clip(np.arange(20000) % 6 - 1, 0, 3) == i) for i in range(4)]
    for part in (stays, p.soon, p.later, p.last):
        ids(part)


@given(graphs(), st.data())
def test_one_pile_is_a_split(backend, g, data):
    g = backend(g)
    f = data.draw(frontiers(g))
    p, q = problem(g), problem(g)
    stays = fr.buckets(p, f, one, ["last"])
    near, far = fr.split(q, f, other, rest="last")
    assert ids(stays) == ids(near)
    assert ids(p.last) == ids(q.last) == ids(far)


def other(p, v):
    return v % 3 != 1


# -- shortest paths ---------------------------------------------------------------------------------------------


def relax(p, src, dst, weight):
    new = p.distance[src] + weight
    return new < fr.atomic_min(p.distance, dst, new)


def bucket(p, v):
    return (p.distance[v] - p.base) // p.delta


def fresh(p, v):
    return p.distance[v] >= p.base


def due(p, v):
    return p.distance[v]


def lowest(p):
    return p.lowest


def on(p):
    return p.base + p.delta


def settle(*piles):
    """All of bucket 0, and what falls into it meanwhile; the others wait in these piles."""
    return fr.Buckets(bucket, piles), fr.Loop(fr.Advance(relax), fr.Buckets(bucket, piles))


class FourBuckets(fr.Enactor):
    """Three buckets of width delta, one after another, and a pile for everything beyond."""

    loop = fr.Loop(
        fr.Filter(fresh),
        fr.Reduce(due, "min", into="lowest"),
        fr.Set(base=lowest),
        *settle("b1", "b2", "far"),
        fr.Set(base=on),
        fr.Loop(fr.Filter(fresh), *settle("b2", "far"), take="b1"),
        fr.Set(base=on),
        fr.Loop(fr.Filter(fresh), *settle("far"), take="b2"),
        fr.Set(base=on),
        take="far",
    )


class Rotating(fr.Enactor):
    """Three piles that change places while the base moves: bucket i becomes bucket i - 1."""

    loop = fr.Loop(
        fr.Take("b1"),
        fr.Swap("b1", "b2"),
        fr.Swap("b2", "far"),
        fr.Filter(fresh),
        *settle("b1", "b2", "far"),
        fr.Set(base=on),
        times="rounds",
    )


def paths_problem(g, source, delta):
    dtype = "float64" if g.weights.dtype.kind == "f" else "int64"
    p = fr.Problem(
        g,
        distance=fr.vertex(dtype, np.inf if dtype == "float64" else 2**62, combine="min"),
        lowest=fr.scalar(dtype),
        base=fr.scalar(dtype),
        delta=fr.scalar(dtype, delta),
        rounds=fr.scalar("int64", 0),
        b1=fr.pile(),
        b2=fr.pile(),
        far=fr.pile(),
    )
    p.distance[source] = 0
    return p


def dijkstra(g, source):
    net = nx.DiGraph()
    net.add_nodes_from(range(g.num_vertices))
    for u, v, weight in zip(g.sources.tolist(), g.targets.tolist(), g.weights.tolist(), strict=True):
        if not net.has_edge(u, v) or weight < net[u][v]["weight"]:
            net.add_edge(u, v, weight=weight)
    return nx.single_source_dijkstra_path_length(net, source)


@given(graphs_with_vertex(weights=("int32", "float64")), st.sampled_from([1, 3, 50]), counts)
def test_four_buckets_give_the_distances_of_dijkstra(backend, drawn, delta, count):
    g, source = drawn
    p = paths_problem(backend(g), source, delta)
    p.far = [source]
    with workers(count):
        FourBuckets(p).run()
    known = dijkstra(g, source)
    for v, distance in enumerate(p.distance.tolist()):
        assert distance == known.get(v, distance)
        assert (v in known) == (distance < 2**62)
    assert not p.b1
    assert not p.b2
    assert not p.far


def test_piles_that_change_places(backend):
    """With no distance beyond the piles, bucket after bucket comes to the front by swaps."""
    g = backend(fr.grid(9, 9, weights=(1, 9), seed=2))
    known = dijkstra(g, 0)
    p = paths_problem(g, 0, 10)
    p.b1, p.rounds = [0], max(known.values()) // 10 + 1
    Rotating(p).run()
    assert p.distance.tolist() == [known[v] for v in range(g.num_vertices)]
    assert not p.b1 | p.b2 | p.far


# -- what is refused --------------------------------------------------------------------------------------------


def nothing(p, v):
    pass


def test_it_refuses(backend):
    g = backend(fr.path(3))
    p = problem(g)
    every = fr.Frontier.all(g)
    for piles in ("soon", [], ["soon", "soon"], [f"b{i}" for i in range(9)]):
        with pytest.raises(fr.FrontierError, match="names of 1 to 8 different piles"):
            fr.Buckets(whole, piles)
    with pytest.raises(fr.FrontierError, match="no field 'sooner'"):
        fr.buckets(p, every, whole, ["sooner"])
    with pytest.raises(fr.FrontierError, match="'limit' is of kind scalar, not pile"):
        fr.buckets(p, every, whole, ["limit"])
    with pytest.raises(fr.FrontierError, match="piles of vertices and of edges do not go together"):
        fr.buckets(p, every, whole, ["soon", "e_soon"])
    with pytest.raises(fr.FrontierError):
        fr.buckets(p, every, whole, ["e_soon"])
    with pytest.raises(fr.FunctorError, match="mix arguments"):
        fr.Buckets(mixed, ["soon"])


@pytest.mark.unsimulated("it does not compile functors")
def test_a_bucket_of_nothing_returned(backend):
    g = backend(fr.path(3))
    with pytest.raises(fr.FunctorError):
        fr.buckets(problem(g), fr.Frontier.all(g), nothing, ["soon"])


def mixed(p, v, src):
    return 1


def test_eight_piles(backend):
    g = backend(fr.path(100))
    names = [f"b{i}" for i in range(1, 9)]
    p = fr.Problem(g, limit=fr.scalar("int64"), **{name: fr.pile() for name in names})
    stays = fr.buckets(p, fr.Frontier.all(g), ninth, names)
    assert len(stays) == 11
    assert [min(getattr(p, name)) for name in names] == [0, 1, 2, 3, 4, 5, 6, 7]


def ninth(p, v):
    return (v + 1) % 9
