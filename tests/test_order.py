"""Loops with an order: on every backend the result of the interpreter, and of an oracle."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from compare import host, workers
from conftest import CHOSEN
from hypothesis import given
from hypothesis import strategies as st
from strategies import SIMULATED, graphs

import frontier as fr

HOWS = ("near_far", "sliding", "buckets", "by_weight")
#: Passes are many, and slow on parts and in the simulator.
SMALL = bool(CHOSEN) or SIMULATED
G = fr.rmat(5 if SMALL else 7, 6, seed=3, weights=(1, 9))
ROAD = fr.grid(*((5, 4) if SMALL else (11, 9)), seed=2, weights=(1, 9))


def relax(p, src, dst, weight):
    new = p.distance[src] + weight
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


def search(order, **more):
    class SSSP(fr.Enactor):
        loop = fr.Loop(fr.Advance(relax), order=order, over="source", **more)

    return SSSP


def problem(g, dtype="float64", **fields):
    top = np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max // 2
    p = fr.Problem(g, distance=fr.vertex(dtype, top, combine="min"), source=fr.scalar("int64", 0), **fields)
    p.distance[0] = 0
    return p


def by_distance(p, v):
    return p.distance[v]


ORDERS = (
    fr.by("distance"), fr.by("distance", delta=3), fr.by("distance", delta=0.25), fr.by("distance", delta="width"),
    fr.by(by_distance), fr.by("distance", exact=True), fr.by("distance", exact=True, delta=4),
)  # fmt: skip
#: Each is compiled: of doubles every order in every way; of other types the first in every way, and others in one.
OTHERS = [
    *((ORDERS[0], dtype, how) for dtype in ("float32", "int64") for how in HOWS),
    *((ORDERS[i], "float32", how) for i, how in ((2, "sliding"), (4, "buckets"), (5, "near_far"))),
    *((ORDERS[i], "int64", how) for i, how in ((2, "buckets"), (4, "near_far"), (5, "buckets"), (6, "sliding"))),
]
SLOW = pytest.mark.unsimulated("seconds each; doubles are tested there")
CASES = [(order, "float64", how) for order in ORDERS for how in HOWS]
CASES += [pytest.param(*each, marks=SLOW) for each in OTHERS]


@pytest.mark.parametrize("graph", [G, ROAD], ids=["rmat", "grid"])
@pytest.mark.parametrize(("order", "dtype", "how"), CASES, ids=repr)
def test_shortest_paths_in_any_order(backend, graph, order, dtype, how):
    expected = fr.sssp(graph, 0).distance  # integers, as the weights are
    reached = expected < np.iinfo(np.int64).max
    for count in ((3 if graph is G else 1,) if SIMULATED else (1, 3)):
        p = problem(backend(graph), dtype, width=fr.scalar("float64", 2.0))
        with workers(count):
            search(order)(p, fr.Schedule(order=how)).run()
        assert np.array_equal(host(p.distance)[reached], expected[reached])
        assert (host(p.distance)[~reached] > 10**6).all()


def core_numbers(g):
    """Of a symmetric graph, one vertex of least degree after another."""
    degree, core, k = g.out_degree.astype(int).copy(), np.full(g.num_vertices, -1), 0
    heap = [(d, v) for v, d in enumerate(degree)]
    heapq.heapify(heap)
    while heap:
        d, v = heapq.heappop(heap)
        if core[v] >= 0 or d != degree[v]:
            continue
        k = max(k, d)
        core[v] = k
        for u in g.targets[g.offsets[v] : g.offsets[v + 1]]:
            if core[u] < 0:
                degree[u] -= 1
                heapq.heappush(heap, (degree[u], u))
    return core


def peel(p, v):
    p.core[v] = p.k


def drop(p, dst):
    return p.core[dst] < 0


def lose(p, src, dst):
    fr.atomic_add(p.degree, dst, -1)
    return True


def highest(p):
    return max(p.k, p.least)


class Cores(fr.Enactor):
    loop = fr.Loop(
        fr.Set(k=highest), fr.Compute(peel), fr.Advance(lose, where=drop),
        order=fr.by("degree", exact=True, into="least"), over="vertices", count="rounds",
    )  # fmt: skip


@pytest.mark.parametrize(
    "graph", [fr.karate(), fr.rmat(7, 8, seed=1), fr.star(9), fr.path(1), fr.small_world(40, 4, 0.1, seed=2)]
)
@pytest.mark.parametrize("how", ["near_far", "buckets"])
def test_core_numbers_by_peeling(backend, graph, how):
    g = backend(graph)
    fields = {name: fr.scalar("int64") for name in ("k", "least", "rounds")}
    p = fr.Problem(g, degree=fr.vertex("int64", g.out_degree), core=fr.vertex("int64", -1), **fields)
    Cores(p, fr.Schedule(order=how)).run()
    assert host(p.core).tolist() == core_numbers(graph).tolist()
    assert p.rounds > 0


def wider(p, src, dst, weight):
    new = min(p.width[src], weight)
    return new > p.width[dst] and new > fr.atomic_max(p.width, dst, new)


def narrowness(p, v):
    return -p.width[v]


def test_widest_paths_as_dijkstra(backend):
    class Widest(fr.Enactor):
        loop = fr.Loop(fr.Advance(wider), order=fr.by(narrowness, exact=True, into="least"), over="source")

    p = fr.Problem(
        backend(G), width=fr.vertex("float64", 0.0), source=fr.scalar("int64", 0), least=fr.scalar("float64")
    )
    p.width[0] = np.inf
    Widest(p).run()
    width, done, heap = {0: np.inf}, set(), [(-np.inf, 0)]
    while heap:
        w, v = heapq.heappop(heap)
        if v in done:
            continue
        done.add(v)
        for e in range(G.offsets[v], G.offsets[v + 1]):
            u, new = int(G.targets[e]), min(-w, float(G.weights[e]))
            if new > width.get(u, 0):
                width[u] = new
                heapq.heappush(heap, (-new, u))
    assert host(p.width).tolist() == [width.get(v, 0.0) for v in range(G.num_vertices)]


def note(p, v):
    p.when[v] = p.now
    p.key_then[v] = p.least


@pytest.mark.parametrize("delta", [None, 3, 2.5])
@pytest.mark.parametrize("keys", [[5, 3, 9, 3, 4, 5, 11, 0], [-40, 2**40, -41, 7, 8, 2**40 + 1, -(2**50), 2**50 + 1]])
@pytest.mark.parametrize("how", ["near_far", "buckets"])
def test_exact_passes_take_the_least(backend, delta, keys, how):
    """Who is taken when, against a model with a list."""
    keys = np.array(keys)
    order = fr.by("key", exact=True, delta=delta, into="least")
    p = fr.Problem(
        backend(fr.path(8)), key=fr.vertex("int64", keys), when=fr.vertex("int64", -1), now=fr.scalar("int64"),
        key_then=fr.vertex("int64", -1), least=fr.scalar("int64"),
    )  # fmt: skip
    schedule = fr.Schedule(order=how)
    fr.Loop(fr.Compute(note), fr.Filter(nobody), order=order, over="vertices", count="now", schedule=schedule)(p)
    left, when, now = sorted(keys), {}, 0
    while left:
        now += 1
        end = left[0] + (delta or 0)
        taken = [key for key in left if (key < end if delta else key == end)]
        when.update(dict.fromkeys(taken, (now, left[0])))
        left = [key for key in left if key not in taken]
    assert [(int(a), int(b)) for a, b in zip(host(p.when), host(p.key_then), strict=True)] == [when[k] for k in keys]


def nobody(p, v):
    return False


def put_off(p, v):
    """Each comes back twice, with a larger key and then with a smaller one."""
    p.visits[v] += 1
    p.key[v] += 10 if p.visits[v] == 1 else -15
    return p.visits[v] < 3


def put_off_loop(how="auto"):
    order, schedule = fr.by("key", exact=True), fr.Schedule(order=how)
    return fr.Loop(fr.Filter(put_off), order=order, over="vertices", count="total", schedule=schedule)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("how", ["near_far", "buckets"])
def test_elements_come_back_with_any_key(backend, dtype, how):
    fields = {"key": fr.vertex(dtype, [3, 1, 2, 2, 5]), "visits": fr.vertex("int64"), "total": fr.scalar("int64")}
    p = fr.Problem(backend(fr.path(5)), **fields)
    put_off_loop(how)(p)
    python = fr.Problem(fr.path(5).to("python"), **fields)
    put_off_loop()(python)
    assert host(p.visits).tolist() == [3] * 5
    assert p.total == python.total


def move(p, v):
    """Comes back three times, each time with another key, and says when it was there."""
    p.log[v] = p.log[v] * 64 + p.now
    p.visits[v] += 1
    if p.visits[v] < 4:
        p.key[v] += fr.hash(v * 4 + p.visits[v]) % 25 - 12
        return True
    return False


def later(p, dst):
    """Who waits may get a larger key without being given."""
    if p.visits[dst] < 4:
        fr.atomic_add(p.key, dst, 3)
    return False


def moving(how="auto", delta=None):
    return fr.Loop(
        fr.Compute(keep), fr.Advance(later, output=None), fr.Filter(move),
        order=fr.by("key", exact=True, delta=delta, into="least"), over="vertices", count="now",
        schedule=fr.Schedule(order=how),
    )  # fmt: skip


def keep(p, v):
    p.key_then[v] = p.least


@pytest.mark.parametrize("delta", [None, 4])
@pytest.mark.parametrize("how", ["near_far", "buckets"])
@given(graph=graphs(max_vertices=9 if SMALL else 24), data=st.data())
def test_keys_that_rise_and_fall(backend, graph, data, how, delta):
    """Every pass is that of the interpreter."""
    keys = data.draw(st.lists(st.integers(-20, 40), min_size=graph.num_vertices, max_size=graph.num_vertices))
    fields = {name: fr.vertex("int64") for name in ("log", "visits", "key_then")}
    fields |= {"key": fr.vertex("int64", keys), "now": fr.scalar("int64"), "least": fr.scalar("int64")}
    p, python = fr.Problem(backend(graph), **fields), fr.Problem(graph.to("python"), **fields)
    moving(how, delta)(p)
    moving(delta=delta)(python)
    for name in ("log", "key_then", "key"):
        assert host(getattr(p, name)).tolist() == getattr(python, name).tolist()


@pytest.mark.parametrize("how", HOWS)
def test_infinite_keys_get_their_turn_and_end(backend, how):
    keys, schedule = [np.inf, -np.inf, np.inf, 1e300], fr.Schedule(order=how)
    p = fr.Problem(backend(fr.path(4)), key=fr.vertex("float64", keys), seen=fr.vertex("int64"))
    for order in (fr.by("key"), fr.by("key", delta=1.0), fr.by("key", exact=True), fr.by("key", exact=True, delta=2)):
        fr.Loop(fr.Compute(seen), fr.Filter(nobody), order=order, over="vertices", schedule=schedule)(p)
    assert host(p.seen).tolist() == [4] * 4


def seen(p, v):
    p.seen[v] += 1


def heavier(p, src, dst, edge):
    p.order_of[edge] = p.now
    return False


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize("how", ["near_far", "buckets"])
def test_edges_by_their_weight(backend, dtype, how):
    """As Kruskal's algorithm takes them."""
    g = backend(fr.path(6).with_weights([5, 5, 1, 1, 3, 3, 1, 1, 2, 2]))
    weights = host(g.weights)
    p = fr.Problem(g, w=fr.edge(dtype, weights), order_of=fr.edge("int64"), now=fr.scalar("int64"))
    schedule = fr.Schedule(order=how)
    fr.Loop(fr.Filter(heavier), order=fr.by("w", exact=True), over="edges", count="now", schedule=schedule)(p)
    ranks = {w: i for i, w in enumerate(sorted(set(weights)), 1)}
    assert host(p.order_of).tolist() == [ranks[w] for w in weights]


@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("how", ["near_far", "buckets"])
def test_until_ends_the_loop(backend, dtype, how):
    p = problem(backend(ROAD), dtype, rounds=fr.scalar("int64"))
    program = search(fr.by("distance", exact=True), until=enough, count="rounds")
    program(p, fr.Schedule(order=how)).run()
    assert p.rounds == 3
    assert (host(p.distance) > 10**6).any()


@pytest.mark.parametrize("order", [fr.by("key", delta=1), fr.by("key", exact=True)], ids=repr)
@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("how", ["near_far", "buckets"])
def test_who_waits_when_until_ends_the_loop_waits_no_more(backend, dtype, order, how):
    p = fr.Problem(
        backend(fr.path(20)), key=fr.vertex(dtype, np.arange(20) % 10), seen=fr.vertex("int64"),
        rounds=fr.scalar("int64"),
    )  # fmt: skip
    schedule = fr.Schedule(order=how)
    loop = fr.Loop(fr.Compute(seen), fr.Filter(nobody), order=order, until=enough, count="rounds", schedule=schedule)
    loop(p, fr.Frontier.all(p.graph))
    before = host(p.seen).copy()
    assert not before[[9, 19]].any()
    p.rounds = 0
    loop(p, fr.Frontier(p.graph, [3, 14]))
    assert np.flatnonzero(host(p.seen) - before).tolist() == [3, 14]


def enough(p):
    return p.rounds >= 3


@pytest.mark.parametrize("how", ["near_far", "buckets"])
def test_runs_stop_and_go_on(backend, how):
    p, passes = problem(backend(G)), []
    search(fr.by("distance", delta=2))(p, fr.Schedule(order=how)).run(on_step=lambda e: passes.append(e.passes))
    assert passes == sorted(passes)
    assert len(passes) > 3
    assert np.isfinite(host(p.distance)).tolist() == (fr.sssp(G, 0).parent >= 0).tolist()


def test_the_loops_own_fields_are_not_shown(backend):
    p = problem(backend(G))
    search(fr.by("distance"))(p).run()
    assert "__" not in repr(p).replace("__main__", "")
    assert not any(name.endswith("__") and not name.startswith("__") for name in dir(p))
    with pytest.raises(AttributeError, match=r"it has distance, source$"):
        p.distances  # noqa: B018

    def misspelt(p, v):
        p.distanse[v] = 0

    with pytest.raises(fr.FunctorError, match=r"did you mean 'distance'\? it has distance, source$"):
        fr.compute(p, fr.Frontier.all(p.graph), misspelt)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fr.Loop(fr.Advance(relax), order="distance"), "made by fr.by"),
        (lambda: fr.Loop(fr.Advance(relax), order=fr.by("distance"), take="far"), "takes no take="),
        (lambda: fr.Loop(fr.Advance(relax), order=fr.by("distance"), times=3), "takes no times="),
        (lambda: fr.by(3), "name of a field, or a function"),
        (lambda: fr.by(relax), "of p and v"),
        (lambda: fr.by("distance", delta=0), "a positive number"),
        (lambda: fr.by("distance", delta=True), "a positive number"),
        (lambda: fr.by("distance", delta="auto", exact=True), "exact window"),
        (lambda: fr.by("distance", into="least"), "only with exact=True"),
        (lambda: search(fr.by("distances"))(problem(G)).run(), "distances"),
        (lambda: search(fr.by("source"))(problem(G)).run(), "source"),
        (lambda: search(fr.by("distance", delta="width"))(problem(G)).run(), "width"),
        (lambda: search(fr.by("flag"))(problem(G, flag=fr.vertex("bool"))).run(), "bools"),
        (
            lambda: search(fr.by("distance", exact=True, into="k"))(problem(G, k=fr.scalar("int64"))).run(),
            "keys are floats",
        ),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(fr.FrontierError, match=message):
        make()
