"""A float does not go where integers are kept: one error on every backend, which names functor and field."""

from __future__ import annotations

import numpy as np
import pytest

import frontier as fr


def half(p, v):
    return p.value[v] * 0.5


def half_of_edge(p, src):
    return p.value[src] * 0.5


def half_of_common(p, u, v, w):
    return 0.5


def half_of_all(p):
    return p.total / 2


def store_half(p, v):
    p.value[v] = 0.5


def add_half(p, v):
    p.value[v] += 0.5


def atomic_add_half(p, v):
    fr.atomic_add(p.value, v, 0.5)


def atomic_min_half(p, v):
    fr.atomic_min(p.value, v, 0.5)


def atomic_max_half(p, v):
    fr.atomic_max(p.value, v, np.float32(0.5))


def atomic_exch_half(p, v):
    fr.atomic_exch(p.value, v, 0.5)


def either(p, v):
    return 0.5 if v > 1 else 1


def problem(g):
    return fr.Problem(
        g, value=fr.vertex("int32", 34), sum=fr.vertex("int64"), total=fr.scalar("int64"), small=fr.scalar("uint8")
    )


STEPS = {
    "reduce sum": (fr.Reduce(half, "sum", into="total", over="vertices"), "half", "total", "int64"),
    "reduce min": (fr.Reduce(half, "min", into="small", over="vertices"), "half", "small", "uint8"),
    "reduce on two paths": (fr.Reduce(either, "max", into="total", over="vertices"), "either", "total", "int64"),
    "gather": (fr.Gather(half_of_edge, "max", into="sum", over="vertices"), "half_of_edge", "sum", "int64"),
    "scan": (fr.Scan(half, into="sum", over="vertices"), "half", "sum", "int64"),
    "intersect": (
        fr.Intersect(half_of_common, "sum", into="total", over="edges"), "half_of_common", "total", "int64"
    ),
    "set": (fr.Set(total=half_of_all), "half_of_all", "total", "int64"),
    "store": (fr.Compute(store_half, over="vertices"), "store_half", "value", "int32"),
    "store of a sum": (fr.Compute(add_half, over="vertices"), "add_half", "value", "int32"),
    "atomic add": (fr.Compute(atomic_add_half, over="vertices"), "atomic_add_half", "value", "int32"),
    "atomic min": (fr.Compute(atomic_min_half, over="vertices"), "atomic_min_half", "value", "int32"),
    "atomic max": (fr.Compute(atomic_max_half, over="vertices"), "atomic_max_half", "value", "int32"),
    "atomic exch": (fr.Compute(atomic_exch_half, over="vertices"), "atomic_exch_half", "value", "int32"),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_a_float_is_refused(backend, name):
    step, functor, field, dtype = STEPS[name]
    with pytest.raises(fr.FunctorError, match=r"a float does not go into \w+; say int\(...\), or use a float") as error:
        step(problem(backend(fr.complete(3))))
    assert functor in str(error.value)
    assert dtype in str(error.value) or field in str(error.value)


def test_a_number_of_set_is_refused(backend):
    p = problem(backend(fr.path(3)))
    for value, what in ((0.5, "a float does not go into int64"), (2**70, "holds -9223372036854775808..")):
        with pytest.raises(fr.FrontierError, match=what):
            fr.set(p, total=value)
    with pytest.raises(fr.FrontierError, match=r"holds 0\.\.255"):
        fr.set(p, small=-1)


def whole(p, v):
    return int(p.value[v] * 0.5)


def test_what_is_said_helps(backend):
    p = problem(backend(fr.path(3)))
    assert fr.reduce(p, fr.Frontier.all(p.graph), whole, "sum", into="total") == 51
    q = fr.Problem(p.graph, value=fr.vertex("int32", 34), total=fr.scalar("float64"))
    assert fr.reduce(q, fr.Frontier.all(q.graph), half, "sum", into="total") == 51


ODD = {
    "inf": np.inf, "-inf": -np.inf, "nan": np.nan, "true": True, "large": 2**62, "float32": np.float32(0.1),
    "int8": np.int8(-3), "bool_": np.True_, "negative zero": -0.0,
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_set_takes_every_number(backend, name):
    value = ODD[name]
    p = fr.Problem(
        backend(fr.path(2)), real=fr.scalar("float64"), narrow=fr.scalar("float32"), whole=fr.scalar("int64"),
        yes=fr.scalar("bool"), huge=fr.scalar("uint64"),
    )  # fmt: skip
    fr.set(p, real=value, narrow=value, yes=value)
    np.testing.assert_equal(np.float64(p.real), np.float64(value))
    np.testing.assert_equal(np.float32(p.narrow), np.float32(value))
    assert p.yes == bool(value)
    if not isinstance(value, (float, np.floating)):
        fr.set(p, whole=value)
        assert p.whole == int(value)
    fr.set(p, huge=2**64 - 1)
    assert int(p.huge) == 2**64 - 1


def infinite(p):
    return np.inf if p.total == 0 else -np.inf


LIMIT = float("inf")


def captured(p):
    return LIMIT


def test_functors_give_infinity(backend):
    p = fr.Problem(backend(fr.path(2)), total=fr.scalar("int64"), best=fr.scalar("float64"), other=fr.scalar("float32"))
    fr.set(p, best=infinite, other=captured)
    assert p.best == p.other == np.inf
