"""Scan, Buckets, Intersect and sampled edges on the GPU, where its kernels are unlike the others.

Hubs, bitmaps, records, eight piles. What these operators mean is tested on all backends in their own files.
"""

from __future__ import annotations

import numpy as np
import pytest
from compare import agree, at, host, ids, workers
from conftest import SIMULATED

import frontier as fr
from frontier.graph import topology
from frontier.lowering.kernels import digest
from frontier.operators.intersect import cuda_table
from frontier.program.execution import run

PILES = tuple(f"pile{i}" for i in range(8))


def hubs(many: int = 1100) -> fr.Graph:
    """Two hubs whose lists are both long, with every second entry in common; and one who knows a few of them."""
    u = [(0, w) for w in range(3, 3 + 2 * many, 2)]
    v = [(1, w) for w in range(3, 3 + 2 * many)]
    few = [(2, w) for w in (0, 1, 4, 5, 100)]
    edges = [*u, *v, *few, (0, 1), (1, 0), (0, 5), (1, 5), (1, 5)]
    return fr.from_edges(*zip(*edges, strict=True), num_vertices=4 + 2 * many, directed=True, duplicates="keep")


def some(seed: int) -> fr.Graph:
    """A graph with self-loops and parallel edges."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 90, (2, 400)) >> rng.integers(0, 5, (2, 400))
    return fr.from_edges(*ends, num_vertices=95, directed=True, duplicates="keep")


GRAPHS = {
    "one": lambda: fr.path(1),
    "a word": lambda: fr.path(32),
    "grid": lambda: fr.grid(6, 11),
    "karate": fr.karate,
    "some": lambda: some(1),
}


def problem(g: fr.Graph) -> fr.Problem:
    n, m = g.num_vertices, g.num_slots
    return fr.Problem(
        g,
        value=fr.vertex("int32", np.arange(n) * 7 % 11 - 3),
        seen=fr.vertex("int32", 0),
        place=fr.vertex("int64", -99),
        real=fr.vertex("float64", -99),
        slot=fr.edge("uint32", 99),
        hits=fr.edge("int64"),
        corner=fr.vertex("int64"),
        total=fr.scalar("int64", 5),
        sum=fr.scalar("float64", 5),
        turn=fr.scalar("int32"),
        price=fr.edge("float32", np.arange(m) % 13 / 4),
        **{name: fr.pile("vertex") for name in PILES},
        wide=fr.pile("edge"),
    )


# -- scan ------------------------------------------------------------------------------------------------------


def value(p, v):
    return p.value[v]


def third(p, v):
    return 1 / (3 + v)


def cheap(p, src, dst, edge):
    return int(p.price[edge]) * (1 + (src < dst))


SCANS = {
    "ints": (fr.Scan(value, into="place", total="total"), "vertex"),
    "floats": (fr.Scan(third, into="real", total="sum"), "vertex"),
    "edges": (fr.Scan(cheap, into="slot", total="sum"), "edge"),
}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", SCANS)
def test_scan(cuda, name, graph):
    """Everything, and parts in which whole words of the bitmap are empty."""
    step, kind = SCANS[name]
    g = GRAPHS[graph]()
    size = g.num_vertices if kind == "vertex" else g.num_slots
    numbers = np.arange(size)
    parts = [fr.Frontier.all(g, kind)]
    parts += [fr.Frontier(g, numbers[chosen], kind) for chosen in (numbers % 3 == 1, numbers >= size - 2, numbers < 0)]
    for f in parts:
        agree(cuda.name, g, problem, lambda p, f=f: host(step(p, at(p, f))))


def test_scan_of_floats_has_the_same_bits_in_every_run(cuda):
    g = cuda(fr.path(700))
    made = []
    for _ in range(3):
        p = problem(g)
        fr.scan(p, fr.Frontier.all(g), third, into="real", total="sum")
        made.append([*p.real.tolist(), p.sum])
    assert made[0] == made[1] == made[2]
    np.testing.assert_allclose(made[0], np.cumsum([0, *(1 / (3 + np.arange(700)))]), rtol=1e-12, atol=1e-12)


def reach(p, src, dst):
    return fr.atomic_exch(p.seen, dst, 1) == 0


def bare(p, dst):
    return p.seen[dst] == 0


def always(p, src, dst):
    return True


def count(p, v):
    p.corner[v] += 1


RECORDED = fr.Sequence(
    fr.Loop(
        fr.Advance(reach, where=bare, unique="claimed"),
        fr.Scan(value, into="place", total="total"),
        record="levels",
    ),
    fr.Loop(fr.Compute(count), fr.Scan(value, into="real"), replay="levels"),
)
WALK = fr.Loop(fr.Advance(always), fr.Scan(value, into="place", total="total"), times=3)


@pytest.mark.parametrize("build", [1, 2], ids=["short lists", "long lists"])
def test_scan_keeps_the_frontier_that_a_record_holds(cuda, build):
    """Its memory is that of the next frontier, which is written where the record ends."""
    g = fr.grid(7, 8)
    start = fr.Frontier(g, [3, 4])

    def walk(p: fr.Problem) -> None:
        p.seen[3:5] = 1
        run(RECORDED, p, at(p, start))

    p, _ = agree(cuda.name, g, problem, walk, build)
    assert p.corner.tolist() == [1] * 56


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_scan_after_an_advance(cuda, direction):
    """A pull leaves a bitmap of its own."""
    g = some(2)
    start = fr.Frontier(g, [0, 7])
    agree(cuda.name, g, problem, lambda p: run(WALK, p, at(p, start), fr.Schedule(direction=direction)))


# -- buckets ---------------------------------------------------------------------------------------------------


def due(p, v):
    p.seen[v] += 1
    return (v * 5 % 23 - 4) / 2 + p.turn


def later(p, v):
    return v * 5 % 23 / 2 - p.turn


def of_edge(p, src, dst):
    return src < dst


SORT = {name: fr.Buckets(due, PILES[:many]) for name, many in (("eight", 8), ("three", 3), ("one", 1))}
EDGES = fr.Buckets(of_edge, ["wide"])
AGAIN = fr.Loop(fr.Buckets(later, PILES[:2]), fr.Compute(count), take="pile1", count="turn", max_steps=40)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", SORT)
def test_buckets(cuda, name, graph):
    """The piles hold something before; each element's functor is called once."""
    g = GRAPHS[graph]()
    waiting = np.arange(0, g.num_vertices, 4)

    def sort(p: fr.Problem) -> fr.Frontier:
        for pile in SORT[name].piles:
            setattr(p, pile, fr.Frontier(p.graph, waiting))
        return SORT[name](p, fr.Frontier.all(p.graph))

    p, _ = agree(cuda.name, g, problem, sort)
    assert p.seen.tolist() == [1] * g.num_vertices


def test_buckets_of_edges_and_in_a_loop(cuda):
    g = some(3)
    agree(cuda.name, g, problem, lambda p: EDGES(p, fr.Frontier.all(p.graph, "edge")))

    def again(p: fr.Problem) -> None:
        p.pile1 = fr.Frontier(p.graph, np.arange(50))
        run(AGAIN, p, None)

    p, _ = agree(cuda.name, g, problem, again)
    assert ids(p.pile0) == ("vertex", [v for v in range(50) if v * 5 % 23 >= 4])
    assert p.turn > 5


# -- intersect -------------------------------------------------------------------------------------------------


def visit(p, u, v, w, uv, uw, vw):
    fr.atomic_add(p.hits, uv, 1)
    fr.atomic_add(p.hits, uw, 1000 + v)
    fr.atomic_add(p.hits, vw, 1000000 + u)
    fr.atomic_add(p.corner, w, 1 + u * v)


def slots(p, uw, vw):
    return 3 * uw - vw


def once(p, u, v, w):
    return u < v < w


def one(p):
    return 1


def far(p, w):
    return 1 / (3 + w)


INTERSECTIONS = {
    "visits": fr.Intersect(visit),
    "sum": fr.Intersect(once, "sum", into="total"),
    "min": fr.Intersect(slots, "min", into="total"),
    "number": fr.Intersect(one, "sum", into="total"),
    "floats": fr.Intersect(far, "sum", into="sum"),
}


@pytest.mark.parametrize("graph", ["one", "grid", "karate", "some"])
@pytest.mark.parametrize("name", ["visits", "sum", "min", "floats"])
def test_intersect(cuda, name, graph):
    g = GRAPHS[graph]()
    agree(cuda.name, g, problem, lambda p: host(INTERSECTIONS[name](p, fr.Frontier.all(p.graph, "edge"))))


@pytest.mark.parametrize("name", ["visits", "number", "floats"])
def test_intersect_of_hubs(cuda, name):
    """Where both lists are long a block walks the shorter; beside them are edges that a warp does."""
    g = hubs()
    f = fr.Frontier(g, np.flatnonzero((g.targets < 3) | (g.sources == 2)), "edge")
    p, _ = agree(cuda.name, g, problem, lambda p: host(INTERSECTIONS[name](p, at(p, f))))
    if name == "number":
        # Between the hubs 1,100 and, since edges to 5 are parallel, two times three for one; few of the third's.
        assert p.total == 2 * (1100 + 2 * 3 - 1) + 3 + 6


#: Sizes of tables by which few entries, or many in few cells and short rows, do what otherwise thousands do.
SIZES = {"long": {"SHORTEST": 3}, "full": {"SHORTEST": 3, "CELLS": 16, "MUCH": 2, "LISTS": 8, "PIECE": 32}}
TABLES = [("long", "visits", "int32"), ("long", "number", "int64")]
TABLES += [("full", "visits", "int64"), ("full", "number", "int32"), ("full", "floats", "int32")]


@pytest.mark.parametrize(("sizes", "name", "ids"), TABLES)
def test_intersect_by_tables(cuda, sizes, name, ids, monkeypatch):
    """All edges, with parallel ones and self-loops; some lists are too long or too short for a table."""
    for constant, number in SIZES[sizes].items():
        monkeypatch.setattr(cuda_table, constant, number)
    monkeypatch.setattr(topology, "_INT32_LIMIT", 0 if ids == "int64" else topology._INT32_LIMIT)
    rng = np.random.default_rng(4)
    ends = rng.integers(0, 60, (2, 240)) >> rng.integers(0, 3, (2, 240))
    g = fr.from_edges(*ends, num_vertices=62, directed=True, duplicates="keep")
    assert g.targets.dtype == ids
    known = INTERSECTIONS[name]
    step = fr.Intersect(known.fn, known.op, known.into)  # compiled with these sizes, which digests contain
    digest.cache_clear()
    try:
        agree(cuda.name, g, problem, lambda p: host(step(p, fr.Frontier.all(p.graph, "edge"))), 2)
    finally:
        digest.cache_clear()


def test_intersect_of_floats_has_the_same_bits_in_every_run(cuda):
    g = cuda(hubs())
    f = fr.Frontier(g, np.flatnonzero(host(g.targets) < 3), "edge")
    made = set()
    for _ in range(3):
        p = problem(g)
        made.add(fr.intersect(p, f, far, "sum", into="sum"))
    assert len(made) == 1


# -- sampled edges ---------------------------------------------------------------------------------------------

SAMPLES = {
    "vertices": fr.Advance(always, part=fr.sample(3, seed="turn")),
    "one": fr.Advance(always, part=fr.sample(1), output="edge"),
    "many": fr.Advance(always, part=fr.sample(11, seed=-(2**63)), output="edge"),
    "in": fr.Advance(always, part=fr.sample(2, seed="turn"), edges="in", output="edge"),
}
LAYERS = fr.Loop(fr.Advance(always, part=fr.sample(2, seed="turn")), times=3, count="turn")


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", SAMPLES)
def test_samples(cuda, name, graph):
    g = GRAPHS[graph]()
    agree(cuda.name, g, problem, lambda p: SAMPLES[name](p, fr.Frontier.all(p.graph)))


@pytest.mark.parametrize("build", [1, 2], ids=["short lists", "long lists"])
def test_samples_in_a_loop(cuda, build):
    """The frontier carries what the next pass needs: the first slots of its lists, or the scan of their lengths."""
    for g in (fr.grid(7, 8), some(5)):
        start = fr.Frontier(g, [0, 9, 20])
        agree(cuda.name, g, problem, lambda p, start=start: run(LAYERS, p, at(p, start)), build)


def test_traced_samples_count_their_edges(cuda):
    g = cuda(fr.grid(7, 8))
    p = problem(g)
    with workers(1), fr.trace() as trace:
        fr.advance(p, fr.Frontier.all(g), always, part=fr.sample(2), output=None)
    assert sum(row.edges for row in trace.rows) == 2 * 56


# ---- filters ---------------------------------------------------------------------------------------------


def no_third(p, v):
    return v % 3 != 0


@pytest.mark.gpu
def test_elements_that_are_kept_stay_side_by_side():
    """A warp appends up to 1,024 elements in ascending order, so the next step reads memory in order."""
    n = 5000 if SIMULATED else 2**22  # more than there are threads
    p = fr.Problem(fr.path(n).to("cuda"), rest=fr.pile())
    kept = fr.Filter(no_third, over="vertices")(p)
    fr.Split(no_third, rest="rest", over="vertices")(p)
    for f, expected in ((kept, n - -(-n // 3)), (p.rest, -(-n // 3))):
        found = host(f.ids if f._ids is None else f._ids)
        assert len(found) == expected
        assert np.median(np.abs(np.diff(found))) <= 3  # not 32
