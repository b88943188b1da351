"""Fields of several values on graphs in parts: the same as on one part, and what travels. See test_shaped_fields."""

from __future__ import annotations

import numpy as np
import pytest
import strict_cupy
from conftest import COUNT, GPUS

import frontier as fr
from frontier.memory import detection
from frontier.memory.arrays import to_host
from frontier.program.execution import run, start

SMALL = detection.simulated()
unsimulated = pytest.mark.skipif(SMALL, reason="no kernels are in it")


def message(p, src, weight, i):
    return p.x[src, i] * weight


def take(p, v):
    for i in range(p.k):
        p.x[v, i] = p.sum[v, i] % 7 + v
        p.mine[v, i] += p.x[v, i]
    p.x[v, 0] += 1


def spread(p, src, dst, edge):
    p.seen[edge, 1] += 1
    for i in range(p.k):
        fr.atomic_add(p.added, (dst, i), p.x[src, i])
        fr.atomic_min(p.least, (dst, i), p.x[src, i] - p.x[dst, i])
    return (src + dst) % 3 == 0


def before(p, src, dst, edge):
    fr.atomic_max(p.most, (src, 1), dst * p.seen[edge, 1])


def each(p, v, i):
    p.x[v, i] += p.mine[v, i] + p.added[v, i] % 5 + p.most[v, 1] - p.least[v, i] + i


def value(p, v, i):
    return p.x[v, i] * (v + 1)


def gate(p, src, dst, weight, edge, i):
    p.seen[edge, i] = (p.seen[edge, i] * weight + p.x[src, i] - p.mine[dst, i] * i) % 101


def gated(p, edge, src, i):
    return p.seen[edge, i] * p.x[src, 1 - i]


def worth(p, edge, i):
    return p.seen[edge, i] * (i + 1)


PASS = fr.Loop(
    fr.Gather(message, "sum", into="sum", over="vertices"), fr.Compute(take, over="vertices"),
    fr.Gather(message, "max", into="some", edges="in"), fr.Advance(spread, over="vertices"),
    fr.Advance(before, edges="in", over="vertices"), fr.Compute(each, over="x"),
    fr.Reduce(value, "sum", into="total", over="x"), fr.Compute(gate, over="seen"),
    fr.Gather(gated, "max", into="most", over="vertices"), fr.Reduce(worth, "sum", into="worth", over="seen"), times=2,
)  # fmt: skip


def problem(g, width=3):
    n = g.num_vertices
    return fr.Problem(
        g, k=fr.scalar("int64", width), total=fr.scalar("int64"), worth=fr.scalar("int64"),
        x=fr.vertex("int64", np.arange(n * width).reshape(n, width) % 11, shape=width),
        seen=fr.edge("int32", np.arange(2 * g.num_slots).reshape(-1, 2) % 5, shape=2),
        most=fr.vertex("int64", [-1, -2], shape=2),
        **{name: fr.vertex("int64", 5, shape=width) for name in ("sum", "some", "added", "least", "mine")},
    )  # fmt: skip


def ran(g):
    p = problem(g)
    f = run(PASS, p, fr.Frontier(g, [1, 3, 4]))
    names = ("x", "sum", "some", "added", "least", "mine", "seen", "most")
    numbers = int(p.total), int(p.worth), sorted(to_host(f.ids).tolist())
    return {name: to_host(getattr(p, name)) for name in names}, numbers


@pytest.fixture
def there():
    """In the simulator kernels run on a double of CuPy, which has two GPUs."""
    if not SMALL:
        yield
        return
    with strict_cupy.simulated():
        yield


ON_GPUS = [
    *(pytest.param(name, marks=pytest.mark.gpu) for name in ("ranks:2,cuda", GPUS)),
    *(pytest.param(name, marks=[pytest.mark.gpu, unsimulated]) for name in ("cuda:0,0", "cuda:0,0,0")),
]
RANKS = [pytest.param(name, marks=unsimulated) for name in ("ranks:2", "ranks:3,python", "ranks:6,2x3", "ranks:1")]


@pytest.mark.parametrize("place", [*RANKS, *ON_GPUS])
@pytest.mark.parametrize("made", ["whole", "in parts"])
def test_parts_leave_the_same(there, place, made):
    if place == GPUS and not SMALL and len(detection.every()) < COUNT:
        pytest.skip("there is one GPU only")
    if SMALL and (made == "in parts") != (place == "ranks:2,cuda"):
        pytest.skip("in the simulator one graph each, as they take seconds there")
    options = {"seed": 3, "directed": True, "weights": (1, 9)}
    scale = 3 if SMALL else 6
    g = fr.rmat(scale, 4, **options)
    expected, numbers = ran(g.to("python" if SMALL else "cpu"))
    found, others = ran(fr.rmat(scale, 4, placement=place, **options) if made == "in parts" else g.to(place))
    assert others == numbers
    for name, values in expected.items():
        assert found[name].shape == values.shape
        assert np.array_equal(found[name], values), name


@unsimulated
def test_each_rank_computes_the_values_of_its_own_elements():
    g = fr.rmat(6, 4, seed=2, weights=(1, 9))
    with fr.trace() as seen:
        run(fr.Sequence(fr.Compute(each, over="x"), fr.Compute(gate, over="seen")), problem(g.to("ranks:3")))
    sizes = [[row.size_in for row in seen.rows if row.step == f"Compute({name})"] for name in ("each", "gate")]
    assert [sum(each) for each in sizes] == [g.num_vertices, g.num_slots]
    assert all(len(each) == 3 and max(each) < sum(each) for each in sizes)


@unsimulated
@pytest.mark.parametrize("place", ["ranks:3", "ranks:3,python"])
def test_a_run_goes_on_from_what_is_changed_between_passes(place):
    g = fr.rmat(5, 4, seed=1, directed=True, weights=(1, 9))
    found = []
    for here in (g, g.to(place)):
        p = problem(here)
        execution = start(PASS, p, fr.Frontier(here, [1, 3]))
        execution.proceed(1)
        p.x[4] = [1, 2, 3]
        p.least = 7
        execution.proceed()
        found.append(np.concatenate([getattr(p, name).ravel() for name in ("x", "least", "seen")]))
    assert np.array_equal(*found)


def hop(p, src, dst):
    changed = False
    for i in range(2):
        new = p.level[src, i] + 1
        if new < p.level[dst, i] and new < fr.atomic_min(p.level, (dst, i), new):
            changed = True
    return changed


@unsimulated
@pytest.mark.parametrize("direction", ["push", "pull"])
def test_searches_in_columns_push_and_pull(direction):
    g = fr.rmat(6, 4, seed=1, directed=True)
    levels = np.full((g.num_vertices, 2), 99)
    levels[[0, 3], [0, 1]] = 0
    found = []
    divided = fr.rmat(6, 4, seed=1, directed=True, placement="ranks:3")
    for here in (g, g.to("ranks:3"), divided, g.to("ranks:4,2x2")):
        p = fr.Problem(here, level=fr.vertex("int32", levels, shape=2))
        run(fr.Loop(fr.Advance(hop)), p, fr.Frontier(here, [0, 3]), fr.Schedule(direction=direction))
        found.append(p.level)
    assert (found[0] < 99).sum() > 10
    assert all(np.array_equal(each, found[0]) for each in found)


# ---- what is refused ---------------------------------------------------------------------------------------


def store(p, src, dst):
    p.x[dst, 0] = 1


def exchange(p, src, dst):
    fr.atomic_cas(p.x, (dst, 0), 0, 1)


def several(p, src, dst):
    fr.atomic_add(p.x, (dst, 0), 1)
    fr.atomic_max(p.x, (dst, 1), 1)


def both(p, src, dst):
    p.x[src, 0] = 1
    fr.atomic_min(p.x, (dst, 1), 1)


@pytest.mark.parametrize("fn", [store, exchange, several, both])
@pytest.mark.parametrize(
    "place", ["ranks:2", "ranks:2,python", pytest.param("cuda:0,0", marks=pytest.mark.gpu)]
)
def test_what_rows_cannot_merge_is_refused(there, place, fn):
    p = fr.Problem(fr.path(5).to(place), x=fr.vertex("int64", shape=2))
    with pytest.raises(fr.FunctorError, match=r"writes p\.x at dst.* of a field of several values, changes are merged"):
        run(fr.Advance(fn, over="vertices"), p)
    assert (to_host(p.x) == 0).all()


# ---- what travels ------------------------------------------------------------------------------------------


def half(p, v):
    for i in range(p.k):
        p.x[v, i] = p.sum[v, i] / 2


def own(p, src, i):
    return p.x[src, i]


SPREAD = fr.Loop(fr.Gather(own, "sum", into="sum"), fr.Compute(half), over="vertices", times="times")


def spreading(g, width, times):
    """The problem after a few passes, and the bytes that all ranks have sent."""
    start_with = np.random.default_rng(2).random((g.num_vertices, width))
    p = fr.Problem(
        g, x=fr.vertex("float64", start_with, shape=width), sum=fr.vertex("float64", shape=width),
        k=fr.scalar("int64", width), times=fr.scalar("int64", times),
    )  # fmt: skip
    with fr.trace() as seen:
        run(SPREAD, p)
    return p, sum(row.sent for row in seen.rows if row.backend == "ranks")


@unsimulated
def test_traces_count_the_bytes_of_rows():
    """All rows change in each pass, and every rank tells those of its vertices to the two others, without ids."""
    g = fr.complete(90).to("ranks:3")
    sent = [spreading(g, width, 3)[1] for width in (30, 50)]
    assert sent[1] - sent[0] == 3 * 90 * 2 * 20 * 8 + 90 * 2 * 20 * 8  # and at the end, the sums


@unsimulated
def test_rows_are_told_to_their_readers_alone():
    g = fr.grid(20, 20)
    there = g.to("ranks:4")
    (p, _), (q, sent) = spreading(g, 4, 12), spreading(there, 4, 12)
    assert np.allclose(q.x, p.x, rtol=1e-12)
    assert sent < 12 * 400 * 3 * 32 / 2  # of what all would be told
