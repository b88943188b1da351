"""Fields of several values: reads, writes and atomics in functors."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from conftest import SIMULATED

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.operators.gather import cuda_rows
from frontier.program import execution


def placed(backend):
    return backend(fr.rmat(4 if SIMULATED else 6, seed=1))


@pytest.mark.parametrize("width", [1, 3, 16])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "float64"])
def test_an_advance_sums_rows(backend, width, dtype):
    g = placed(backend)
    rows = np.random.default_rng(0).integers(0, 9, (g.num_vertices, width)).astype(dtype)
    p = fr.Problem(
        g, x=fr.vertex(dtype, rows, shape=width), y=fr.vertex(dtype, shape=(width,)), k=fr.scalar("int64", width)
    )

    def add(p, src, dst):
        for i in range(p.k):
            fr.atomic_add(p.y, (dst, i), p.x[src, i])

    fr.advance(p, fr.Frontier.all(g), add)
    expected = np.zeros_like(rows)
    targets, offsets = to_host(g.targets), to_host(g.offsets)
    sources = np.repeat(np.arange(g.num_vertices), np.diff(offsets))
    np.add.at(expected, targets, rows[sources])
    assert p.y.shape == (g.num_vertices, width)
    assert p.y.flags.c_contiguous
    assert (to_host(p.y) == expected).all()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "float32"])
def test_writes_and_updates(backend, dtype):
    g = placed(backend)
    p = fr.Problem(g, x=fr.vertex(dtype, [1, 0, 1], shape=3))

    def turn(p, v):
        first = p.x[v, 0]
        p.x[v, 0] = p.x[v, 1]
        p.x[v, 1] = first

    fr.compute(p, fr.Frontier.all(g), turn)
    assert (to_host(p.x) == np.array([[0, 1, 1]] * g.num_vertices, dtype)).all()


def test_values_assigned_from_the_host(backend):
    p = fr.Problem(placed(backend), x=fr.vertex("int32", shape=2))
    p.x = [4, 5]
    assert (to_host(p.x) == [4, 5]).all()
    with pytest.raises(fr.FrontierError, match="shape"):
        p.x = [1, 2, 3]


def hop(p, src, i):
    return p.x[src, i]


class Hops(fr.Enactor):
    loop = fr.Loop(fr.Gather(hop, "sum", into="y", over="vertices"), fr.Swap("x", "y"), times="hops")


@pytest.mark.parametrize("hops", [1, 4])
def test_fields_are_exchanged(backend, hops):
    """Rows of a power of the adjacency matrix, with and without the last exchange undone."""
    g = placed(backend)
    rows = np.random.default_rng(1).integers(0, 3, (g.num_vertices, 3))
    p = fr.Problem(
        g, x=fr.vertex("int64", rows, shape=3), y=fr.vertex("int64", shape=3), hops=fr.scalar("int64", hops)
    )
    Hops(p).run()
    steps = np.zeros((g.num_vertices, g.num_vertices), int)
    np.add.at(steps, (to_host(g.sources), to_host(g.targets)), 1)
    powers = [np.linalg.matrix_power(steps.T, k) @ rows for k in (hops - 1, hops)]
    assert (to_host(p.x) == powers[1]).all()
    assert (to_host(p.y) == powers[0]).all()
    fr.swap(p, "x", "y")
    assert (to_host(p.x) == powers[0]).all()


def test_an_exchange_of_different_fields_is_refused(backend):
    p = fr.Problem(placed(backend), x=fr.vertex("int64", shape=2), y=fr.vertex("int64", shape=3), z=fr.vertex("int64"))
    with pytest.raises(fr.FrontierError, match="equally many values each, not 2 and 3"):
        fr.swap(p, "x", "y")
    with pytest.raises(fr.FrontierError, match="not 2 and 1"):
        fr.swap(p, "x", "z")


def test_one_index_is_refused(backend):
    g = placed(backend)
    p = fr.Problem(g, x=fr.vertex("int32", shape=2), y=fr.vertex("int32"))

    def one(p, v):
        p.x[v] = 1

    def two(p, v):
        p.y[v, 0] = 1

    with pytest.raises(fr.FunctorError, match=r"p\.x\[v, i\]"):
        fr.compute(p, fr.Frontier.all(g), one)
    with pytest.raises(fr.FunctorError, match=r"one value each, p\.y\[v\]"):
        fr.compute(p, fr.Frontier.all(g), two)


def test_operators_refuse_a_field_of_several_values(backend):
    g = placed(backend)
    p = fr.Problem(g, x=fr.vertex("int64", shape=2))

    def value(p, v):
        return 1

    with pytest.raises(fr.FrontierError, match="'x' has 2 values"):
        fr.scan(p, fr.Frontier.all(g), value, into="x")


@pytest.mark.parametrize("shape", [0, -1, 2.5, (2, 3), True])
def test_wrong_shapes(shape):
    with pytest.raises(fr.FrontierError, match="shape="):
        fr.vertex("int32", shape=shape)


def test_each_atomic(backend):
    g = placed(backend)
    p = fr.Problem(g, x=fr.vertex("int32", 5, shape=6))

    def change(p, v):
        fr.atomic_add(p.x, (v, 0), 2)
        fr.atomic_min(p.x, (v, 1), 3)
        fr.atomic_max(p.x, (v, 2), 9)
        fr.atomic_or(p.x, (v, 3), 2)
        fr.atomic_exch(p.x, (v, 4), 1)
        fr.atomic_cas(p.x, (v, 5), 5, 8)

    fr.compute(p, fr.Frontier.all(g), change)
    assert (to_host(p.x) == [7, 3, 9, 7, 1, 8]).all()


def test_a_loop_spreads_rows_along_edges(backend):
    """Two searches at once, each in a column, from one frontier; and a field of edges that counts."""
    g = placed(backend)
    start = np.full((g.num_vertices, 2), 99, "int32")
    start[[0, 3], [0, 1]] = 0
    p = fr.Problem(g, level=fr.vertex("int32", start, shape=2), seen=fr.edge("uint8", shape=2))

    def hop(p, src, dst, edge):
        changed = False
        for i in range(2):
            new = p.level[src, i] + 1
            p.seen[edge, i] = 1
            if new < p.level[dst, i] and new < fr.atomic_min(p.level, (dst, i), new):
                changed = True
        return changed

    execution.run(fr.Loop(fr.Advance(hop)), p, fr.Frontier(g, [0, 3]))
    found = to_host(p.level)
    for column, source in enumerate((0, 3)):
        level = to_host(fr.bfs(g, source).level)
        assert (found[:, column] == np.where(level < 0, 99, level)).all()
    assert to_host(p.seen).shape == (g.num_slots, 2)
    assert (to_host(p.seen)[:, 0] == to_host(p.seen)[:, 1]).all()


def test_constant_indices_and_helpers(backend):
    g = placed(backend)
    p = fr.Problem(g, x=fr.vertex("float64", np.eye(1, 4)[0], shape=4))

    def total(field, v):
        return field[v, 0] + field[v, 1] + field[v, 2]

    def change(p, v):
        if v == 1:
            p.x[0, 3] = p.x[2, 0] + 4.5
        p.x[v, 1] = 2 * total(p.x, v)

    fr.compute(p, fr.Frontier.all(g), change)
    assert to_host(p.x)[:2].tolist() == [[1, 2, 0, 5.5], [1, 2, 0, 0]]


def outside(p, v):
    p.x[v, v] = 1


def below(p, v):
    fr.atomic_add(p.x, (v - 1, 0), 1)


def read_outside(p, v):
    p.x[v, 0] = p.x[v + 1, 1]


def swapped(p, v):
    fr.atomic_cas(p.x, (v, v + 2), 0, 1)


def too_large(p, v):
    p.small[v, 0] = v * 100


@pytest.mark.parametrize(
    ("fn", "said"),
    [
        (outside, r"p\.x\[\d, \d\]: valid are 0\.\.8 and 0\.\.1"),
        (below, r"p\.x\[-1, 0\]: valid are 0\.\.8 and 0\.\.1"),
        (read_outside, r"p\.x\[9, 1\]: valid are 0\.\.8 and 0\.\.1"),
        (swapped, r"p\.x\[\d, \d+\]: valid are 0\.\.8 and 0\.\.1"),
        (too_large, r"p\.small\[\d\] = \d00: overflow, the field holds int8"),
    ],
)
def test_checks_of_both_indices(compiled, monkeypatch, fn, said):
    monkeypatch.setenv("FRONTIER_CHECK", "1")
    g = compiled(fr.path(9))
    p = fr.Problem(g, x=fr.vertex("int32", shape=2), small=fr.vertex("int8", shape=2))
    with pytest.raises(fr.FunctorError, match=said):
        fr.compute(p, fr.Frontier.all(g), fn)


def halve(p, v, i):
    p.x[v, i] = p.x[v, i] / 2 + i


def of_values(p, v, i):
    return p.x[v, i] * (v + 1)


def test_compute_and_reduce_over_all_values(backend):
    g = placed(backend)
    rows = np.arange(g.num_vertices * 3, dtype="float64").reshape(-1, 3)
    p = fr.Problem(g, x=fr.vertex("float64", rows, shape=3), total=fr.scalar("float64"))
    steps = fr.Compute(halve, over="x"), fr.Reduce(of_values, "sum", into="total", over="x")
    execution.run(fr.Loop(*steps, times=2), p)
    for _ in range(2):
        rows = rows / 2 + np.arange(3)
    assert (to_host(p.x) == rows).all()
    assert p.total == pytest.approx((rows * np.arange(1, g.num_vertices + 1)[:, None]).sum())


def test_what_runs_over_values(backend):
    g = placed(backend)
    p = fr.Problem(
        g,
        x=fr.vertex("float64", shape=3),
        e=fr.edge("int32", shape=2),
        y=fr.vertex("int64"),
        total=fr.scalar("int64", 2),
    )

    def write(p, v, i):
        p.y[v] = i

    for over, said in (
        ("y", "several values"), ("e", "an edge, so write"), ("z", "several values"), ("vertices", "runs over a count"),
        ("total", "no argument 'v' here"), (3, "no argument 'v' here"),
    ):  # fmt: skip
        with pytest.raises(fr.FrontierError, match=said):
            execution.run(fr.Compute(write, over=over), p)
    with pytest.raises(fr.FrontierError, match="over='x'"):
        execution.run(fr.Filter(write, over="x"), p)


def test_updates_of_what_all_values_share(backend):
    g = placed(backend)
    p = fr.Problem(g, x=fr.vertex("float64", shape=3), y=fr.vertex("int64"))

    def count(p, v, i):
        p.y[v] += 1

    with pytest.warns(fr.FrontierWarning, match="changes are lost"):
        execution.run(fr.Compute(count, over="x"), p)


def weighted_message(p, src, weight, i):
    return p.x[src, i] * weight


def of_target(p, dst, i):
    return p.x[dst, i]


def even(p, dst):
    return dst % 2 == 0


@pytest.mark.parametrize(("width", "dtype"), [(1, "float32"), (3, "int16"), (33, "float32")])
def test_gather_into_rows(backend, width, dtype):
    """Weighted sums along in-edges, and the largest and "any" along out-edges: everything, a queue, a condition."""
    g = fr.rmat(4 if SIMULATED else 6, 6, seed=2, directed=True, weights=(1, 9))
    n, src, dst = g.num_vertices, g.sources, g.targets
    x = np.random.default_rng(0).integers(0, 5, (n, width)).astype(dtype)
    p = fr.Problem(
        backend(g),
        x=fr.vertex(dtype, x, shape=width),
        sum=fr.vertex("float64", shape=width),
        most=fr.vertex(dtype, -1, shape=width),
        some=fr.vertex("bool", shape=width),
    )
    fr.gather(p, fr.Frontier.all(p.graph), weighted_message, "sum", into="sum")
    some = [0, 2, n - 1]
    fr.gather(p, fr.Frontier(p.graph, some), of_target, "max", into="most", edges="out", where=even)
    fr.gather(p, fr.Frontier.all(p.graph), of_target, "any", into="some", edges="out")
    sums, any_ = np.zeros((n, width)), np.zeros((n, width), bool)
    np.add.at(sums, dst, x[src] * g.weights[:, None])
    np.logical_or.at(any_, src, x[dst] > 0)
    assert (to_host(p.sum) == sums).all()
    assert (to_host(p.some) == any_).all()
    least = -np.inf if dtype == "float32" else np.iinfo(dtype).min
    for v in range(n):
        ends = dst[(src == v) & (dst % 2 == 0)]
        expected = x[ends].max(axis=0, initial=least) if v in some else -1
        assert (to_host(p.most)[v] == expected).all()


def test_gather_into_rows_of_a_hub(backend):
    """A list that is long enough for a block of a GPU, and one more that is not."""
    n = 40 if SIMULATED else 3000
    with mock.patch.multiple(cuda_rows, BLOCK=8 if SIMULATED else cuda_rows.BLOCK):
        g = backend(fr.star(n))
        p = fr.Problem(g, x=fr.vertex("int64", np.arange(5 * n).reshape(n, 5), shape=5), y=fr.vertex("int64", shape=5))

        def own(p, src, i):
            return p.x[src, i]

        fr.gather(p, fr.Frontier.all(g), own, "sum", into="y")
        found = to_host(p.y)
        assert (found[0] == to_host(p.x)[1:].sum(axis=0)).all()
        assert (found[1:] == to_host(p.x)[0]).all()


def test_gather_into_rows_is_checked(backend):
    g = placed(backend)
    p = fr.Problem(g, x=fr.vertex("int64", shape=2), y=fr.vertex("int64"))

    def message(p, src):
        return 1

    def of_one(p, src, i):
        return 1

    everything = fr.Frontier.all(g)
    with pytest.raises(fr.FrontierError, match="'x' has 2 values each: the functor of a Gather into it takes i"):
        fr.gather(p, everything, message, "sum", into="x")
    with pytest.raises(fr.FunctorError, match="takes i, but field 'y' has one value each"):
        fr.gather(p, everything, of_one, "sum", into="y")
    for op in ("argmin", "mode"):
        with pytest.raises(fr.FrontierError, match=f"'{op}' cannot give"):
            fr.gather(p, everything, of_one, op, into="x")


def test_i_beyond_a_field_is_refused(backend):
    """Where i goes up to the values of another field; what is computed from i is the functor's own affair."""
    p = fr.Problem(placed(backend), x=fr.vertex("int64", 1, shape=2), y=fr.vertex("int64", shape=5))

    def beyond(p, src, i):
        return p.x[src, i]

    def within(p, src, i):
        return p.x[src, i % 2]

    def written(p, v, i):
        p.x[v, i] = 1

    everything = fr.Frontier.all(p.graph)
    with pytest.raises(fr.FunctorError, match=r"p\.x\[\.\.\.\] has 2 values each, and i goes up to 4"):
        fr.gather(p, everything, beyond, "sum", into="y")
    with pytest.raises(fr.FunctorError, match=r"p\.x\[\.\.\.\] has 2 values each, and i goes up to 4"):
        fr.Compute(written, over="y")(p)
    fr.gather(p, everything, within, "sum", into="y")
    assert (to_host(p.y) == np.asarray(to_host(p.graph.in_degree))[:, None]).all()
