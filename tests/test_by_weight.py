"""Lists sorted by weight: how they are made, advances that stop in them, and searches that go by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compare import host, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graphs

import frontier as fr
from frontier.distributed.partition.own_rows import own_rows
from frontier.errors import FrontierError, GraphError
from frontier.graph.by_weight import lists_by_weight, slots_by_weight
from frontier.memory.host import HostMemory
from frontier.operators.order import by_weight
from frontier.primitives._limited_paths import with_delta
from frontier.primitives._packed import PackedSSSP
from frontier.primitives.sssp import SSSP, sssp_problem

if TYPE_CHECKING:
    from collections.abc import Callable

    Backend = Callable[[fr.Graph], fr.Graph]

BY_WEIGHT, NEAR_FAR = fr.Schedule(order="by_weight"), fr.Schedule(order="near_far")


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small graphs count as large ones, in which a sample is a small share."""
    monkeypatch.setattr(by_weight, "SLOTS", 1)
    monkeypatch.setattr(by_weight, "DIFFER", 0.2)


# ---- lists ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("directed", [True, False])
def test_lists_are_sorted_and_equals_stay_in_order(backend: Backend, dtype: str, directed: bool) -> None:
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 60, 3000), rng.integers(0, 60, 3000)
    src[:900] = 0  # a list that is sorted by bytes
    g = fr.from_edges(src, dst, directed=directed, duplicates="first", num_vertices=60)
    ends = np.minimum(g.sources, g.targets) * 61 + (1 if directed else 0) * g.sources + np.maximum(g.sources, g.targets)
    values = rng.integers(0 if dtype[0] == "u" else -100, 100, 10**5)[ends]
    g = backend(g.with_weights((values * (1.25 if dtype[0] == "f" else 1)).astype(dtype)))
    for edges in ("out", "in"):
        offsets = host(g.offsets if edges == "out" else g.in_offsets)
        far, slots = host(g.targets if edges == "out" else g.in_sources), np.arange(g.num_slots)
        slots = slots if edges == "out" else host(g.in_edges)
        weights, near = host(g.weights)[slots], np.repeat(np.arange(60), np.diff(offsets))
        order = np.lexsort((weights, near))
        made = lists_by_weight(g, edges)
        assert np.array_equal(host(made.ends), far[order])
        assert np.array_equal(host(made.weights), weights[order])
        assert np.array_equal(host(slots_by_weight(g, edges)), slots[order])
        assert made.weights.dtype == g.weights.dtype


def test_zeros_of_both_signs_are_equal() -> None:
    g = fr.from_edges([0] * 5, [1, 2, 3, 4, 5], [np.inf, 0.0, -0.0, -1.5, -np.inf], directed=True)
    assert lists_by_weight(g, "out").ends.tolist() == [5, 4, 2, 3, 1]


def test_graphs_keep_them() -> None:
    g = fr.rmat(5, 4, seed=1, weights=(1, 9))
    before = int(g.memory_estimate())
    assert not g.is_sorted_by_weight
    assert g.sorted_by_weight() is g
    assert g.is_sorted_by_weight
    assert lists_by_weight(g, "out") is lists_by_weight(g, "in")
    assert int(g.memory_estimate()) == before + g.targets.nbytes + g.weights.nbytes


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (lambda: fr.karate(), "it has no weights"),
        (lambda: fr.grid(9, 9, weights=(1, 9)).compressed(), "its lists are compressed"),
        (lambda: fr.grid(9, 9, weights=(1, 9)).to("cpu", edges="disk"), "its edges lie on the disk"),
    ],
)
def test_graphs_that_cannot_have_them(graph: Callable[[], fr.Graph], reason: str) -> None:
    with pytest.raises(GraphError, match=reason):
        graph().sorted_by_weight()


@pytest.mark.parametrize("edges", ["out", "in"])
def test_lists_of_some_vertices(edges: str) -> None:
    """One of several GPUs has the slots of all edges, but only its own lists."""
    g = fr.rmat(11, 16, seed=1, weights=(1, 99), directed=True)
    part = own_rows(g, 500, 1500)
    first, end = (g.offsets if edges == "out" else g.in_offsets)[[500, 1500]]
    whole, some = lists_by_weight(g, edges), lists_by_weight(part, edges)
    assert np.array_equal(some.ends[first:end], whole.ends[first:end])
    assert np.array_equal(some.weights[first:end], whole.weights[first:end])
    assert np.array_equal(np.sort(slots_by_weight(part, edges)), np.arange(g.num_slots))


# ---- Advance(stop=...) -----------------------------------------------------------------------------------------------


def heavy(p, src, weight):
    return weight > p.most[src]


def heavy_in(p, dst, weight):
    return weight > p.most[dst]


def note(p, src, dst, edge, weight):
    fr.atomic_add(p.seen, edge, 1)
    return weight % 2 == 0


def even(p, dst):
    return dst % 3 != 0


def even_in(p, src):
    return src % 3 != 0


@pytest.mark.parametrize("edges", ["out", "in"])
@pytest.mark.parametrize("output", ["vertex", "edge", None])
@given(g=graphs(weights=("int32",)), most=st.integers(-3, 60))
def test_it_visits_light_edges_only(backend: Backend, edges: str, output: str | None, g: fr.Graph, most: int) -> None:
    limits = (np.arange(g.num_vertices) * 7 + most) % 64
    p = fr.Problem(backend(g), most=fr.vertex("int64", limits), seen=fr.edge("int64"))
    stop, where = (heavy, even) if edges == "out" else (heavy_in, even_in)
    standing = np.flatnonzero(np.arange(g.num_vertices) % 4 != 1)
    made = fr.advance(p, standing, note, where=where, stop=stop, output=output, edges=edges)
    near, far = (g.sources, g.targets) if edges == "out" else (g.targets, g.sources)
    visited = np.isin(near, standing) & (g.weights <= limits[near]) & (far % 3 != 0)
    assert np.array_equal(host(p.seen), visited.astype(int))
    accepted = visited & (g.weights % 2 == 0)
    expected = {"vertex": np.unique(far[accepted]), "edge": np.flatnonzero(accepted), None: standing}[output]
    assert sorted(host(made.ids).tolist()) == expected.tolist()


def test_it_refuses_what_does_not_go_together() -> None:
    with pytest.raises(FrontierError, match="choose one of them"):
        fr.Advance(note, part=slice(2), stop=heavy)
    with pytest.raises(FrontierError, match="dst"):
        fr.Advance(note, stop=heavy_in)
    p = fr.Problem(fr.karate(), most=fr.vertex("int64"), seen=fr.edge("int64"))
    with pytest.raises(FrontierError):
        fr.Advance(note, stop=heavy)(p).run([0])


# ---- searches ------------------------------------------------------------------------------------------------------


def equal(g: fr.Graph, source: int, **options: Any) -> None:
    expected = fr.sssp(g.to("cpu"), source, schedule=NEAR_FAR, **options)
    found = fr.sssp(g, source, schedule=BY_WEIGHT, **options)
    assert np.array_equal(host(found.distance), host(expected.distance))
    fr.verify.sssp(g, found, **({} if options else {"tolerance": 0})).raise_if_failed()


@pytest.mark.parametrize("weights", ["int64", "float32", "float64"])
def test_distances_are_those_of_other_orders(backend: Backend, weights: str) -> None:
    for g in random_graphs(12, seed=5, min_vertices=1, max_vertices=300, weights=(weights,)):
        for count in (1, 3):
            with workers(count):
                equal(backend(g), g.num_vertices // 2)
    options = {"dtype": "float32"} if weights == "float32" else {}
    dense = fr.rmat(9, 16, seed=2, weights=(1, 64))
    equal(backend(dense.with_weights(dense.weights.astype(weights))), 3, **options)


@pytest.mark.parametrize("graph", [fr.rmat(10, 16, seed=2, weights=(1, 64)), fr.urand(10, 16, seed=2, weights=(1, 64))])
def test_most_edges_are_never_visited(backend: Backend, graph: fr.Graph) -> None:
    g, visited = backend(graph), {}
    for schedule in (NEAR_FAR, BY_WEIGHT):
        with fr.trace() as trace:
            fr.sssp(g, int(graph.out_degree.argmax()), parents=False, schedule=schedule)
        visited[schedule.order] = sum(row.edges for row in trace.rows)
    if not g.placement.backend.interprets:  # the interpreter has a queue
        assert 2 * visited["by_weight"] < min(visited["near_far"], g.num_slots)


def test_from_the_second_search_on(eager: None) -> None:
    g = fr.rmat(8, 16, seed=2, weights=(1, 64))
    assert g.memory_estimate("sssp").fields > 0
    first = fr.sssp(g, 3)
    assert not g.is_sorted_by_weight
    assert "order.far" in SSSP(sssp_problem(g, 3)).explain()
    assert not g.is_sorted_by_weight  # nothing has run
    second = fr.sssp(g, 3)
    assert g.is_sorted_by_weight
    assert np.array_equal(first.distance, second.distance)


def test_lists_that_would_fill_the_memory_are_not_made(eager: None, monkeypatch: pytest.MonkeyPatch) -> None:
    g = fr.rmat(8, 16, seed=2, weights=(1, 64))
    wanted = g.targets.nbytes + g.weights.nbytes
    for free, sorts in ((4 * wanted - 1, False), (4 * wanted, True)):
        monkeypatch.setattr(HostMemory, "left", lambda self, enough=None, free=free: (free, ""))
        for _ in range(3):
            fr.sssp(g, 3)
        assert g.is_sorted_by_weight == sorts


def test_prepared_searches_sort_at_once(eager: None) -> None:
    g = fr.rmat(8, 16, seed=2, weights=(1, 64))
    search = fr.sssp.prepare(g)
    for source in (3, 5, 3):
        found = search(source)
        assert g.is_sorted_by_weight
        assert np.array_equal(found.distance, fr.sssp(g, source, schedule=NEAR_FAR).distance)


@pytest.mark.parametrize(
    ("graph", "sorts"),
    [
        (lambda: fr.rmat(14, 16, seed=2, weights=(1, 64)), True),
        (lambda: fr.urand(12, 16, seed=2, weights=(1, 64)), True),
        (lambda: fr.grid(40, 40, weights=(1, 64), seed=1), False),
        (lambda: fr.small_world(2000, 16, 0.0, seed=1).with_weights(np.ones(32000)), False),
        (lambda: fr.karate(), False),
    ],
)
def test_where_they_are_worth_while(
    monkeypatch: pytest.MonkeyPatch, graph: Callable[[], fr.Graph], sorts: bool
) -> None:
    monkeypatch.setattr(by_weight, "SLOTS", 1)
    g = graph()
    assert by_weight.worthwhile(g) == sorts


def test_few_edges_are_not_sorted() -> None:
    g = fr.rmat(8, 16, seed=2, weights=(1, 64))
    for _ in range(3):
        fr.sssp(g, 3)
    assert not g.is_sorted_by_weight


def test_negative_weights_go_another_way() -> None:
    g = fr.from_edges([0, 0, 1, 2], [1, 2, 3, 1], [5.0, 4.0, 1.0, -2.0], directed=True)
    p = sssp_problem(g, 0)
    SSSP(p, BY_WEIGHT).run()
    assert p.distance.tolist() == [0.0, 2.0, 4.0, 3.0]


def test_negative_weights_of_another_graph() -> None:
    """A program is kept for graphs of the same dtypes, whatever their weights."""
    rng = np.random.default_rng(0)
    src, dst = np.sort(rng.integers(0, 40, (2, 400)), axis=0)
    lengths, height = rng.integers(1, 64, 400), rng.integers(0, 500, 40)
    for weights in (lengths, lengths - height[src] + height[dst]):
        g = fr.from_edges(src, dst, weights.astype(float), directed=True, num_vertices=40, duplicates="keep")
        p = sssp_problem(g, 0)
        SSSP(p, BY_WEIGHT).run()
        assert np.array_equal(p.distance, fr.bellman_ford(g, 0).distance)


def test_vertices_that_were_reached_before_are_not_expanded(backend: Backend) -> None:
    """Only those of the frontier are: vertex 2 has a distance, but does not wait."""
    g = backend(fr.from_edges([0, 2, 1], [1, 3, 4], [9.0, 1.0, 1.0], directed=True, num_vertices=5))
    p = sssp_problem(g, 0)
    p.distance[2] = 1.0
    SSSP(p, BY_WEIGHT).run()
    assert host(p.distance).tolist() == [0.0, 9.0, 1.0, np.inf, 10.0]


def test_the_nearest_of_several_sources(backend: Backend) -> None:
    g = backend(fr.rmat(8, 16, seed=2, weights=(1, 64)))
    found = [fr.sssp(g, [3, 5, 200], schedule=schedule) for schedule in (NEAR_FAR, BY_WEIGHT)]
    assert np.array_equal(*(host(each.distance) for each in found))
    fr.verify.sssp(g, found[1], tolerance=0).raise_if_failed()


def test_another_run_on_the_same_problem(backend: Backend) -> None:
    g = backend(fr.rmat(7, 8, seed=1, weights=(1, 9)))
    p = sssp_problem(g, 3)
    SSSP(p, BY_WEIGHT).run()
    before = host(p.distance).copy()
    SSSP(p, BY_WEIGHT).run()
    assert np.array_equal(host(p.distance), before)


# ---- programs of users ---------------------------------------------------------------------------------------------


def relax(p, src, dst, weight):
    new = weight + p.cost[src]
    if new < p.cost[dst] and new < fr.atomic_min(p.cost, dst, new):
        p.through[dst] = src
        return True
    return False


def count_calls(p, src, dst, weight):
    new = p.cost[src] + weight
    fr.atomic_add(p.calls, dst, 1)
    return new < fr.atomic_min(p.cost, dst, new)


def twice(p, src, dst, weight):
    new = p.cost[src] + 2 * weight
    return new < fr.atomic_min(p.cost, dst, new)


@pytest.mark.parametrize(
    ("fn", "sorts"),
    [(relax, True), (count_calls, False), (twice, False)],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_which_functors_are_seen_to_relax(fn: Callable[..., Any], sorts: bool) -> None:
    p = fr.Problem(fr.karate(weights=(1, 9)), cost=fr.vertex("int64"))
    loops = [fr.Loop(fr.Advance(fn), order=fr.by("cost", **said)) for said in ({}, {"adds": "weight"})]
    assert [not by_weight.why_not(loop, p) for loop in loops] == [sorts, True]
    with pytest.raises(FrontierError, match="adds='length'"):
        fr.by("cost", adds="length")


def test_a_program_of_a_user(backend: Backend, eager: None) -> None:
    graph = fr.rmat(8, 16, seed=2, weights=(1, 64))
    g = backend(graph)
    loop = fr.Loop(fr.Advance(relax), order=fr.by("cost"), count="passes")
    costs = fr.sssp(graph, 3).distance
    for _ in range(3):
        p = fr.Problem(g, cost=fr.vertex("int64", 2**62), through=fr.vertex("int64", -1), passes=fr.scalar("int64"))
        p.cost[3] = 0
        type("Costs", (fr.Enactor,), {"loop": loop})(p).run([3])
        reached = costs < 2**62
        assert np.array_equal(host(p.cost)[reached], costs[reached])
        assert (host(p.through)[reached & (costs > 0)] >= 0).all()
        assert p.passes > 0


@pytest.mark.parametrize("order", ["near_far", "sliding", "buckets", "by_weight"])
def test_orders_keep_what_stops_a_pass(backend: Backend, order: str) -> None:
    g = backend(fr.from_edges([0, 0, 1, 1], [1, 2, 2, 3], [1, 9, 2, 9], directed=True))
    p = fr.Problem(g, cost=fr.vertex("int64", 99), through=fr.vertex("int64", -1), most=fr.vertex("int64", 5))
    p.cost[0] = 0
    loop = fr.Loop(fr.Advance(relax, stop=heavy), order=fr.by("cost"))
    type("Light", (fr.Enactor,), {"loop": loop})(p, fr.Schedule(order=order)).run([0])
    assert host(p.cost).tolist() == [0, 1, 3, 99]


def search(g: fr.Graph, unreached: Any, dtype: str, **order: Any) -> Any:
    """The costs from vertex 0."""
    p = fr.Problem(g, cost=fr.vertex(dtype, unreached), through=fr.vertex("int64", -1))
    p.cost[0] = 0
    loop = fr.Loop(fr.Advance(relax), order=fr.by("cost", **order))
    type("Costs", (fr.Enactor,), {"loop": loop})(p, BY_WEIGHT).run([0])
    return host(p.cost)


def test_keys_that_round_sums(backend: Backend) -> None:
    """The cost of vertex 1 is beyond the first window, and as a float32 within."""
    g = fr.from_edges([0, 1], [1, 2], [1 + 2**-25, 5.0], directed=True)
    assert search(backend(g), np.inf, "float32", delta=1 + 2**-26).tolist() == [0, 1, 6]


@pytest.mark.parametrize("most", [2**62 - 1, 2**63 - 1])
def test_costs_just_below_that_of_vertices_not_reached(backend: Backend, most: int) -> None:
    """As floats, which limits are, both are the same."""
    src, dst = [0] * 40 + [1, 41, 42], [*range(1, 44)]
    g = fr.from_edges(src, dst, [1] * 40 + [2**60, most - 2**60 - 21, 0], directed=True)
    assert search(backend(g), most, "int64")[-3:].tolist() == [2**60 + 1, most - 20, most - 20]


def test_a_width_leaves_the_promise() -> None:
    loop = with_delta(PackedSSSP, 3.0).loop[0]
    assert (loop.order.delta, loop.order.adds) == (3.0, "weight")
