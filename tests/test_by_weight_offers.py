"""Searches by weight that end early, and those of widest paths, which take heavy edges first."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compare import host, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graphs

import frontier as fr
from frontier.errors import FrontierError
from frontier.operators.order import by_weight
from frontier.primitives import _weighted_paths
from frontier.primitives._limited_paths import SSSPTo, SSSPWithin
from frontier.primitives._weighted_paths import AStar

if TYPE_CHECKING:
    from collections.abc import Callable

    Backend = Callable[[fr.Graph], fr.Graph]

BY_WEIGHT, NEAR_FAR = fr.Schedule(order="by_weight"), fr.Schedule(order="near_far")


def visited(run: Callable[[], Any]) -> int:
    with fr.trace() as trace:
        run()
    return sum(row.edges for row in trace.rows)


# ---- Advance(descending=True) --------------------------------------------------------------------------------------


def light(p, src, weight):
    return weight < p.least[src]


def note(p, src, dst, edge, weight):
    fr.atomic_add(p.seen, edge, 1)
    return weight % 2 == 0


def heaviest(p, src, dst, weight):
    fr.atomic_max(p.best, dst, weight)
    fr.atomic_add(p.calls, dst, 1)


def no_heavier(p, dst, weight):
    return weight <= p.best[dst]


@pytest.mark.parametrize("output", ["vertex", "edge"])
@given(g=graphs(weights=("int32",)), least=st.integers(-3, 60))
def test_it_visits_heavy_edges_only(backend: Backend, output: str, g: fr.Graph, least: int) -> None:
    limits = (np.arange(g.num_vertices) * 7 + least) % 64
    p = fr.Problem(backend(g), least=fr.vertex("int64", limits), seen=fr.edge("int64"))
    made = fr.advance(p, fr.Frontier.all(p.graph), note, stop=light, descending=True, output=output)
    seen = g.weights >= limits[g.sources]
    assert np.array_equal(host(p.seen), seen.astype(int))
    accepted = seen & (g.weights % 2 == 0)
    expected = np.unique(g.targets[accepted]) if output == "vertex" else np.flatnonzero(accepted)
    assert sorted(host(made.ids).tolist()) == expected.tolist()


def much_lighter(p, dst, weight):
    return weight < p.best[dst] - 40


def keep(p, src, dst, edge, weight):
    fr.atomic_max(p.best, dst, weight)  # which changes nothing, but that is not known
    fr.atomic_add(p.seen, edge, 1)


def test_it_goes_on_from_the_heaviest_in_edge(backend: Backend) -> None:
    graph = fr.rmat(6, 64, seed=1, weights=(1, 99), directed=True)
    best = np.full(graph.num_vertices, -1)
    np.maximum.at(best, graph.targets, graph.weights)
    p = fr.Problem(backend(graph), best=fr.vertex("int64", best), seen=fr.edge("int64"))
    fr.Advance(keep, stop=much_lighter, descending=True, edges="in", output=None, over="vertices")(p)
    assert np.array_equal(host(p.seen), (graph.weights >= best[graph.targets] - 40).astype(int))


def test_the_heaviest_in_edge_comes_first(backend: Backend) -> None:
    graph = fr.rmat(6, 64, seed=1, weights=(1, 99), directed=True)
    p = fr.Problem(backend(graph), best=fr.vertex("int64", -1), calls=fr.vertex("int64"))
    step = fr.Advance(heaviest, stop=no_heavier, descending=True, edges="in", output=None, over="vertices")
    step(p)
    expected = np.full(graph.num_vertices, -1)
    np.maximum.at(expected, graph.targets, graph.weights)
    assert np.array_equal(host(p.best), expected)
    assert host(p.calls).max() <= 8  # lanes of a GPU share a list; of others only the first edge is visited


# ---- limits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weights", ["int64", *(pytest.param(each, marks=pytest.mark.deep) for each in ("float32", "float64"))]
)
def test_limited_distances_are_those_of_other_orders(backend: Backend, weights: str) -> None:
    for seed, g in enumerate(random_graphs(8, seed=6, min_vertices=1, max_vertices=200, weights=(weights,))):
        source, target = np.random.default_rng(seed).integers(g.num_vertices, size=2).tolist()
        known = host(fr.sssp(g, source).distance)
        middle = np.sort(known[known < fr.sssp(g, source).distance.max()])
        cutoff = middle[len(middle) // 2] if len(middle) else 5
        there = backend(g)
        for options in ({"cutoff": cutoff}, {"target": target}, {"target": target, "cutoff": cutoff}):
            for count in (1, 3):
                with workers(count):
                    found = fr.sssp(there, source, schedule=BY_WEIGHT, **options)
                expected = fr.sssp(g, source, schedule=NEAR_FAR, **options)
                assert np.array_equal(host(found.distance), host(expected.distance))
                fr.verify.sssp(there, found).raise_if_failed()


@pytest.mark.parametrize("make", [fr.rmat, fr.urand])
def test_few_edges_of_what_is_near_are_visited(backend: Backend, make: Callable[..., fr.Graph]) -> None:
    graph = make(10, 16, seed=2, weights=(1, 64))
    source = int(graph.out_degree.argmax())
    distance = fr.sssp(graph, source).distance
    cutoff = int(np.median(distance[distance < 10**6]))
    target = int(np.flatnonzero(distance == cutoff)[0])
    near = np.count_nonzero(distance[graph.sources] <= cutoff)
    g = backend(graph)
    for options in ({"cutoff": cutoff}, {"target": target}):
        made = visited(lambda options=options: fr.sssp(g, source, schedule=BY_WEIGHT, **options))
        assert g.placement.backend.interprets or 3 * made < near  # the interpreter has a queue


def test_edges_beyond_the_limit_are_never_visited(backend: Backend) -> None:
    ends = np.arange(1, 1000)
    g = backend(fr.from_edges([0] * 999, ends, ends, directed=True))
    if not g.placement.backend.interprets:
        assert visited(lambda: fr.sssp(g, 0, schedule=BY_WEIGHT, cutoff=10)) == 10
        # A GPU finds the light edges of a list, here of the first window, before it visits any.
        most = 140 if g.placement.massively_parallel else 10
        assert visited(lambda: fr.sssp(g, 0, schedule=BY_WEIGHT, target=10)) <= most


def test_limited_searches_sort_lists_from_the_second_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_weight, "SLOTS", 1)
    monkeypatch.setattr(by_weight, "DIFFER", 0.2)
    g = fr.rmat(8, 16, seed=2, weights=(1, 64))
    fr.sssp(g, 3, cutoff=9)
    assert not g.is_sorted_by_weight
    found = fr.sssp(g, 3, target=5)
    assert g.is_sorted_by_weight
    fr.verify.sssp(g, found).raise_if_failed()


def test_the_limit_may_be_the_least_or_any_number(backend: Backend) -> None:
    g = backend(fr.from_edges([0, 0, 1], [1, 2, 2], [0, 2**58, 2**58], directed=True))
    for cutoff, last in ((0, 0), (2**58 - 1, 0), (2**58, 2**58), (2**63, 2**58)):
        found = host(fr.sssp(g, 0, cutoff=cutoff, schedule=BY_WEIGHT).distance)
        assert found[found < 2**62].max() == last


# ---- widest paths --------------------------------------------------------------------------------------------------


def widen(p, src, dst, weight):
    width = min(weight, p.width[src])
    if width > p.width[dst] and width > fr.atomic_max(p.width, dst, width):
        p.through[dst] = src
        return True
    return False


def widen_and_count(p, src, dst, weight):
    width = min(p.width[src], weight)
    fr.atomic_add(p.through, dst, 1)
    return width > fr.atomic_max(p.width, dst, width)


def widen_otherwise(p, src, dst, weight):
    width = min(p.width[src], weight + 1)
    return width > fr.atomic_max(p.width, dst, width)


def narrowness(p, v):
    return -p.width[v]


def double_narrowness(p, v):
    return -2 * p.width[v]


class Widest(fr.Enactor):
    loop = fr.Loop(fr.Advance(widen), order=fr.by(narrowness))


def problem(g: fr.Graph, source: int, dtype: str, none: Any, first: Any) -> fr.Problem:
    p = fr.Problem(g, width=fr.vertex(dtype, none, combine="max"), through=fr.vertex("int64", -1))
    p.width[source] = first
    return p


def widest(g: fr.Graph, source: int, none: Any, first: Any) -> list[Any]:
    """By Dijkstra's algorithm."""
    width, heap = {source: first}, [(-first, source)]
    while heap:
        known, v = heapq.heappop(heap)
        if -known == width[v]:
            for i in range(g.offsets[v], g.offsets[v + 1]):
                u, new = int(g.targets[i]), min(-known, g.weights[i].item())
                if new > width.get(u, none):
                    width[u] = new
                    heapq.heappush(heap, (-new, u))
    return [width.get(v, none) for v in range(g.num_vertices)]


@pytest.mark.parametrize(
    ("weights", "dtype", "none", "first"),
    [
        ("float64", "float64", -np.inf, np.inf),
        ("float32", "float32", 0.0, np.inf),
        ("int64", "int64", -(2**62), 2**62),
        ("uint16", "int32", -1, 2**30),
        ("uint16", "uint32", 0, 2**32 - 1),
        ("int32", "int64", -(2**63), 2**63 - 1),
    ],
)
def test_widths_are_those_of_dijkstra(backend: Backend, weights: str, dtype: str, none: Any, first: Any) -> None:
    rng = np.random.default_rng(7)
    for g in random_graphs(10, seed=8, min_vertices=1, max_vertices=200, parallel=True):
        values = rng.integers(0 if weights[0] == "u" else -60, 60, g.num_slots) * (1.25 if weights[0] == "f" else 1)
        if not g.directed:
            pair = np.minimum(g.sources, g.targets) * g.num_vertices + np.maximum(g.sources, g.targets)
            values = values[np.unique(pair, return_inverse=True)[1].ravel()]
        g = g.with_weights(values.astype(weights))
        source = g.num_vertices // 2
        for count in (1, 3):
            p = problem(backend(g), source, dtype, none, first)
            with workers(count):
                Widest(p, BY_WEIGHT).run([source])
            width, through = host(p.width), host(p.through)
            assert width.tolist() == widest(g, source, none, first)
            assert ((through >= 0) == (width > none))[np.arange(len(width)) != source].all()


def widen_enough(p, src, dst, weight):
    width = min(p.width[src], weight)
    return width >= p.enough and width > p.width[dst] and width > fr.atomic_max(p.width, dst, width)


def enough(p):
    return -p.enough


@pytest.mark.parametrize("least", [8, 40, 64, 65])
def test_paths_that_are_wide_enough(backend: Backend, least: int) -> None:
    graph = fr.rmat(8, 8, seed=2, weights=(1, 64))
    source = int(graph.out_degree.argmax())
    p = fr.Problem(backend(graph), width=fr.vertex("int64"), enough=fr.scalar("int64", least))
    p.width[source] = 99
    loop = fr.Loop(fr.Advance(widen_enough), order=fr.by(narrowness, most=enough))
    made = visited(lambda: type("WideEnough", (fr.Enactor,), {"loop": loop})(p, BY_WEIGHT).run([source]))
    expected = np.array(widest(graph, source, 0, 99))
    assert np.array_equal(host(p.width), np.where(expected >= least, expected, 0))
    if not p.graph.placement.backend.interprets:
        assert made <= 2 * np.count_nonzero(graph.weights >= least)


@pytest.mark.parametrize("make", [fr.rmat, fr.urand])
def test_most_edges_are_never_visited(backend: Backend, make: Callable[..., fr.Graph]) -> None:
    graph = make(10, 16, seed=2, weights=(1, 64))
    source, widths, edges = int(graph.out_degree.argmax()), [], []
    for schedule in (NEAR_FAR, BY_WEIGHT):
        p = problem(backend(graph), source, "int64", 0, 2**40)
        edges.append(visited(lambda p=p, schedule=schedule: Widest(p, schedule).run([source])))
        widths.append(host(p.width))
    assert np.array_equal(*widths)
    if not backend(graph).placement.backend.interprets:
        assert 3 * edges[1] < graph.num_slots <= edges[0]


class OneByOne(fr.Enactor):
    loop = fr.Loop(fr.Advance(widen), order=fr.by(narrowness, delta=1))


@pytest.mark.parametrize("program", [Widest, OneByOne])
def test_widths_that_floats_cannot_tell_apart(backend: Backend, program: type[fr.Enactor]) -> None:
    """Keys and limits are floats; a weight is compared with the width of a vertex as an integer."""
    top = 2**60
    src, dst = [0, 0, 0, 1, 2, 3, 4], [1, 2, 3, 4, 4, 4, 5]
    g = fr.from_edges(src, dst, [top + 3, top + 1, top + 2, top, top + 1, top + 2, 7], directed=True)
    p = problem(backend(g), 0, "int64", 0, 2**62)
    program(p, BY_WEIGHT).run([0])
    assert host(p.width)[1:].tolist() == [top + 3, top + 1, top + 2, top + 2, 7]


@pytest.mark.parametrize(
    ("fn", "key", "sorts"),
    [
        (widen, narrowness, True),
        (widen, double_narrowness, False),
        (widen_and_count, narrowness, False),
        (widen_otherwise, narrowness, False),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_which_functors_are_seen_to_widen(fn: Callable[..., Any], key: Callable[..., Any], sorts: bool) -> None:
    p = problem(fr.karate(weights=(1, 9)), 0, "int64", 0, 99)
    loops = [fr.Loop(fr.Advance(fn), order=fr.by(key, **said)) for said in ({}, {"caps": "weight"})]
    assert [not by_weight.why_not(loop, p) for loop in loops] == [sorts, True]


def test_promises_are_checked() -> None:
    with pytest.raises(FrontierError, match="caps='length'"):
        fr.by(narrowness, caps="length")
    with pytest.raises(FrontierError, match="not with adds="):
        fr.by("cost", caps="weight", adds="weight")
    with pytest.raises(FrontierError, match="no argument 'v'"):
        fr.by("cost", most=narrowness)
    with pytest.raises(FrontierError, match="most=9"):
        fr.by("cost", most=9)
    loop = fr.Loop(fr.Advance(widen), order=fr.by("width", most="nosuch"))
    with pytest.raises(FrontierError, match="nosuch"):
        type("Most", (fr.Enactor,), {"loop": loop})(problem(fr.karate(weights=(1, 9)), 0, "int64", 0, 99)).run([0])


# ---- why not -------------------------------------------------------------------------------------------------------


def test_a_pair_of_fields_is_seen_to_relax() -> None:
    g = fr.karate(weights=(1, 9))
    fields = {
        "distance": fr.vertex("int64", combine="min"), "parent": fr.vertex("int64", with_="distance"),
        "limit": fr.scalar("int64"), "target": fr.scalar("int64"), "starts": fr.pile(),
    }  # fmt: skip
    p = fr.Problem(g, **fields)
    assert [by_weight.why_not(program.loop[1], p) for program in (SSSPWithin, SSSPTo)] == ["", ""]


@pytest.mark.parametrize(
    ("graph", "dtype", "reason"),
    [
        (lambda g: g, "float64", ""),
        (lambda g: g.compressed(), "float64", "lists are compressed"),
        (lambda g: g.to("cpu", edges="disk"), "float64", "lie on the disk"),
        (lambda g: g, "float32", "p.width would round what is offered"),
        (lambda g: g.with_weights(g.weights * 1.5), "int64", "p.width would round what is offered"),
    ],
)
def test_explain_says_why_a_loop_does_not_go_by_weight(
    graph: Callable[[fr.Graph], fr.Graph], dtype: str, reason: str
) -> None:
    p = problem(graph(fr.grid(9, 9, weights=(1, 9))), 0, dtype, 0, 99)
    text = Widest(p, BY_WEIGHT).explain([0])
    assert ("is kept by near_far, not by_weight: " in text) == bool(reason)
    assert reason in text
    assert "not by_weight" not in Widest(p).explain([0])  # which nobody has asked for


def test_a_star_does_not_go_by_weight() -> None:
    """Of what its estimates add, the weight says nothing; and they are checked at all edges first."""
    g = fr.grid(5, 5, weights=(1, 9))
    assert fr.shortest_path(g, 0, 24, weighted=True, estimate=np.zeros(25), schedule=BY_WEIGHT).path
    p = fr.Problem(
        g, distance=fr.vertex("int64", combine="min"), parent=fr.vertex("int64", with_="distance"),
        left=fr.vertex("int64"), room=fr.scalar("float64"), wrong=fr.scalar("int64"), source=fr.scalar("int64"),
        target=fr.scalar("int64"),
    )  # fmt: skip
    assert "its key may be anything" in AStar(p, BY_WEIGHT).explain()
    assert not by_weight.why_not(_weighted_paths.Nearest.loop, p)
