"""Fields of several values: reads, writes and atomics in functors."""

from __future__ import annotations

import numpy as np
import pytest

import frontier as fr


def placed(backend):
    if backend.name == "cuda":
        pytest.skip("fields of several values are on python and cpu so far")
    return fr.rmat(6, seed=1).to(backend.name)


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
    targets = np.asarray(g.targets)
    sources = np.repeat(np.arange(g.num_vertices), np.diff(np.asarray(g.offsets)))
    np.add.at(expected, targets, rows[sources])
    assert p.y.shape == (g.num_vertices, width)
    assert p.y.flags.c_contiguous
    assert (p.y == expected).all()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "float32"])
def test_writes_and_updates(backend, dtype):
    g = placed(backend)
    p = fr.Problem(g, x=fr.vertex(dtype, [1, 0, 1], shape=3))

    def turn(p, v):
        first = p.x[v, 0]
        p.x[v, 0] = p.x[v, 1]
        p.x[v, 1] = first

    fr.compute(p, fr.Frontier.all(g), turn)
    assert (p.x == np.array([[0, 1, 1]] * g.num_vertices, dtype)).all()


def test_values_assigned_from_the_host(backend):
    p = fr.Problem(placed(backend), x=fr.vertex("int32", shape=2))
    p.x = [4, 5]
    assert (p.x == [4, 5]).all()
    with pytest.raises(fr.FrontierError, match="shape"):
        p.x = [1, 2, 3]


def test_one_index_is_refused(backend):
    g = placed(backend)
    p = fr.Problem(g, x=fr.vertex("int32", shape=2), y=fr.vertex("int32"))

    def one(p, v):
        p.x[v] = 1

    def two(p, v):
        p.y[v, 0] = 1

    with pytest.raises(fr.FunctorError, match=r"p\.x\[v, i\]"):
        fr.compute(p, fr.Frontier.all(g), one)
    with pytest.raises(fr.FunctorError, match="one value"):
        fr.compute(p, fr.Frontier.all(g), two)


def test_operators_refuse_a_field_of_several_values(backend):
    g = placed(backend)
    p = fr.Problem(g, x=fr.vertex("int64", shape=2))

    def message(p, src):
        return 1

    with pytest.raises(fr.FrontierError, match="'x' has 2 values"):
        fr.gather(p, fr.Frontier.all(g), message, "sum", into="x")


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
    assert (p.x == [7, 3, 9, 7, 1, 8]).all()
