"""Compute, Reduce, Set, Swap: on vertices, edges and counts; every operation; what Swap exchanges."""

from __future__ import annotations

import numpy as np
import pool
import pytest
from compare import WORKERS, at, equal, state, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontiers, graphs

import frontier as fr

counts = st.sampled_from(WORKERS)
OPS = ("sum", "min", "max", "any", "all")

COMPUTE = fr.Compute(pool.touch), fr.Compute(pool.touch_edge)


@pytest.mark.parametrize("kind", ["vertex", "edge"])
@given(st.data())
def test_compute(agree, kind, data):
    g = data.draw(graphs(weights="int32"))
    f = data.draw(frontiers(g, kind))
    step = COMPUTE[kind == "edge"]
    _, result = agree(g, pool.problem, lambda p: step(p, at(p, f)), data.draw(counts))
    assert result == f


REDUCE = {(op, kind): fr.Reduce(getattr(pool, fn), op, into="total") for op in OPS
          for kind, fn in (("vertex", "value"), ("edge", "edge_value"))}  # fmt: skip


@pytest.mark.parametrize("kind", ["vertex", "edge"])
@pytest.mark.parametrize("op", OPS)
@given(st.data())
def test_reduce(agree, op, kind, data):
    g = data.draw(graphs(weights="int32"))
    f = data.draw(frontiers(g, kind))
    step = REDUCE[op, kind]
    p, _ = agree(g, pool.problem, lambda p: step(p, at(p, f)), data.draw(counts))
    if kind == "vertex":
        values = p.value[f.ids].astype(np.int64)
        limits = np.iinfo(np.int64)
        identity = {"min": {"initial": limits.max}, "max": {"initial": limits.min}}.get(op, {})
        assert p.total == getattr(np, op)(values, **identity)


# -- over a count, with scalars of every kind -----------------------------------------------------------


def keep_i(p, i):
    p.marks[i] = i * i + p.base
    return p.marks[i]


def as_float(p, i):
    return p.halves[i] / 2


def as_bool(p, i):
    return p.marks[i] > 3


SCALARS = ("bool", "int8", "uint8", "int32", "uint32", "int64", "float32", "float64")


def scalar_problem(g, length=100):
    fields = {f"s_{dtype}": fr.scalar(dtype, 1) for dtype in SCALARS}
    return fr.Problem(
        g,
        marks=fr.array(np.zeros(length, dtype=np.int64)),
        halves=fr.array(np.arange(length, dtype=np.float32)),
        base=fr.scalar("int32", -7),
        **fields,
    )


OVER_COUNT = [
    fr.Compute(keep_i, over=0),
    fr.Compute(keep_i, over=100),
    fr.Reduce(keep_i, "sum", into="s_int64", over=77),
]


@pytest.mark.parametrize("step", OVER_COUNT, ids=repr)
@pytest.mark.parametrize("count", WORKERS)
def test_over_a_count(agree, step, count):
    p, result = agree(fr.path(2), scalar_problem, lambda p: step(p), count)
    assert result is None
    done = np.arange(100) < step.over
    equal(p.marks, np.where(done, np.arange(100) ** 2 - 7, 0))
    if isinstance(step, fr.Reduce):
        assert p.s_int64 == p.marks.sum()


INTO = [
    (as_float, "sum", "s_float32"), (as_float, "min", "s_float64"), (as_float, "max", "s_float32"),
    (as_float, "any", "s_float64"), (as_float, "all", "s_bool"), (as_bool, "any", "s_bool"),
    (as_bool, "sum", "s_uint8"), (as_bool, "sum", "s_float64"), (as_bool, "max", "s_bool"),
    (as_bool, "all", "s_int8"), (keep_i, "max", "s_uint32"), (keep_i, "min", "s_int32"),
]  # fmt: skip
INTO_STEPS = [fr.Reduce(fn, op, into=into, over=over) for fn, op, into in INTO for over in (0, 50)]


def test_reductions_into_every_kind_of_scalar(agree):
    for step in INTO_STEPS:
        agree(fr.path(2), scalar_problem, lambda p, step=step: step(p), 3)


@pytest.mark.parametrize(
    ("op", "dtype", "identity"),
    [
        ("sum", "int64", 0), ("sum", "float64", 0.0), ("min", "float32", np.inf), ("max", "float64", -np.inf),
        ("min", "int8", 127), ("max", "int32", -(2**31)), ("max", "uint32", 0), ("min", "uint32", 2**32 - 1),
        ("min", "int64", 2**63 - 1), ("any", "bool", False), ("all", "bool", True), ("min", "bool", True),
        ("max", "bool", False), ("any", "float32", 0.0), ("all", "int64", 1), ("sum", "bool", False),
    ],
)  # fmt: skip
def test_of_nothing_it_is_the_identity(backend, op, dtype, identity):
    p = scalar_problem(backend(fr.path(2)))
    made = fr.reduce(p, None, as_bool, op, into=f"s_{dtype}", over=0)
    assert made == identity
    assert made.dtype == dtype


def test_sums_do_not_wrap_in_the_dtype_of_what_is_added(agree):
    """Floats accumulate in float64, integers in int64."""
    n = 1000

    def make(g):
        return fr.Problem(
            g,
            whole=fr.vertex("int32", 2**31 - 1),
            real=fr.vertex("float32", 1 + 2**-23),
            wide=fr.scalar("int64"),
            double=fr.scalar("float64"),
        )

    def run(p):
        f = fr.Frontier.all(p.graph)
        return fr.reduce(p, f, whole, "sum", into="wide"), fr.reduce(p, f, real, "sum", into="double")

    _, (wide, double) = agree(fr.path(n), make, run, 2)
    assert wide == n * (2**31 - 1)
    assert double == n * (1 + 2**-23)


def whole(p, v):
    return p.whole[v]


def real(p, v):
    return p.real[v]


def test_a_fixed_number_of_workers_always_adds_alike():
    g = fr.path(5000)
    values = np.random.default_rng(1).random(g.num_vertices)
    with workers(3):
        sums = set()
        for _ in range(5):
            p = fr.Problem(g, whole=fr.vertex("int32"), real=fr.vertex("float32", values), wide=fr.scalar("int64"),
                           double=fr.scalar("float64"))  # fmt: skip
            sums.add(float(fr.reduce(p, fr.Frontier.all(g), real, "sum", into="double")))
    assert len(sums) == 1


# -- Set --------------------------------------------------------------------------------------------------


def other(p):
    return p.s_float64


def from_array(p):
    return p.marks[3] + p.base


def is_big(p):
    return p.s_int64 > 10


def three_halves(p):
    return 1.5


def one(p):
    return 1


SET = fr.Set(
    s_int64=from_array, s_float64=three_halves, s_float32=other, s_bool=is_big, s_uint8=200, s_int8=one
)


def test_set_computes_all_values_before_it_assigns_any(agree):
    def make(g):
        p = scalar_problem(g)
        p.marks[3] = 50
        p.s_float64 = 0.25
        return p

    p, _ = agree(fr.path(2), make, lambda p: SET(p))
    assert (p.s_int64, p.s_float64, p.s_float32, p.s_uint8, p.s_int8) == (43, 1.5, 0.25, 200, 1)
    assert not p.s_bool  # s_int64 was 1 when it was computed


def test_set_leaves_the_frontier_alone(backend):
    p = scalar_problem(backend(fr.path(2)))
    f = fr.Frontier(p.graph, [1])
    assert SET(p, f) is f


def minus_one(p):
    return -1


def test_set_refuses(backend):
    p = scalar_problem(backend(fr.path(2)))
    with pytest.raises(fr.FrontierError, match="no field 's_none'"):
        fr.set(p, s_none=1)
    with pytest.raises(fr.FrontierError, match="'marks' is of kind array, not scalar"):
        fr.set(p, marks=1)
    with pytest.raises(fr.FrontierError, match="at least one scalar"):
        fr.Set()
    with pytest.raises(fr.FrontierError, match="a function of the problem or a number"):
        fr.Set(s_int64="1")
    with pytest.raises(fr.FunctorError, match="there is nothing but the problem"):
        fr.Set(s_int64=pool.value)


def test_the_python_backend_notices_an_overflow_of_a_scalar():
    p = scalar_problem(fr.path(2).to("python"))
    with pytest.raises(fr.FunctorError, match=r"s_uint8.*-1"):
        fr.set(p, s_uint8=minus_one)


# -- Swap ---------------------------------------------------------------------------------------------------


def swap_problem(g):
    n, m = g.num_vertices, g.num_slots
    p = fr.Problem(
        g,
        a=fr.vertex("int32", np.arange(n)), b=fr.vertex("int32", 7),
        c=fr.edge("float64", np.arange(m)), d=fr.edge("float64", -1),
        e=fr.array([1, 2, 3]), f=fr.array([4, 5, 6]),
        x=fr.scalar("int64", 1), y=fr.scalar("int64", 2),
        near=fr.pile(), far=fr.pile(), left=fr.pile("edge"), right=fr.pile("edge"),
    )  # fmt: skip
    p.near, p.left = fr.Frontier.all(g), fr.Frontier.all(g, "edge")
    return p


def use(p, v):
    """Reads and writes by the names, so that a swap that only renames on the host would show."""
    p.a[v] += 10 * p.x + p.e[0]
    return p.b[v] % 2 == 0


SWAPS = fr.Loop(
    fr.Swap("a", "b"), fr.Swap("c", "d"), fr.Swap("e", "f"), fr.Swap("x", "y"), fr.Swap("near", "far"),
    fr.Swap("left", "right"), fr.Split(use, rest="near", over="vertices"), fr.Take("near"),
    times=3, over="vertices",
)  # fmt: skip


@given(graphs(weights=None), counts)
def test_swap_of_fields_of_every_kind(agree, g, count):
    p, _ = agree(g, swap_problem, lambda p: SWAPS(p), count)
    q = swap_problem(g)
    for _ in range(2):
        for first, second in (("a", "b"), ("c", "d"), ("e", "f"), ("x", "y"), ("near", "far"), ("left", "right")):
            fr.swap(q, first, second)
    assert state(q) == state(swap_problem(g))
    fr.swap(q, "a", "b")
    assert (q.a == 7).all()
    q.a[:] = 3  # the host writes to the field that has this name now
    fr.swap(q, "a", "b")
    assert (q.b == 3).all()
    assert p.x == 2


@pytest.mark.parametrize(("first", "second"), [("a", "c"), ("a", "x"), ("near", "left"), ("e", "a"), ("a", "none")])
def test_swap_refuses(backend, first, second):
    p = swap_problem(backend(fr.path(3)))
    with pytest.raises(fr.FrontierError, match="Swap"):
        fr.swap(p, first, second)


def halved(p, v):
    return p.value[v] * 0.5


MINIMA = fr.Sequence(
    fr.Reduce(pool.value, "max", into="total"), fr.Reduce(halved, "min", into="half"),
    fr.Reduce(pool.value, "min", into="least"), over="vertices",
)  # fmt: skip


def test_reductions_of_integers_and_of_floats_in_one_loop(agree):
    def make(g):
        return fr.Problem(
            g, value=fr.vertex("int32", np.arange(g.num_vertices) - 2), total=fr.scalar("int32"),
            least=fr.scalar("int64"), half=fr.scalar("float32"),
        )  # fmt: skip

    p, _ = agree(fr.path(9), make, lambda p: MINIMA(p), 2)
    assert (p.total, p.least, p.half) == (6, -2, -1.0)


def silent(p, v):
    p.a[v] += 1


@pytest.mark.unsimulated("it does not compile functors")
def test_a_reduction_of_nothing_returned(backend):
    p = swap_problem(backend(fr.path(3)))
    with pytest.raises(fr.FunctorError):
        fr.reduce(p, fr.Frontier.all(p.graph), silent, "sum", into="x")


def test_an_operation_that_is_not_there():
    for make in (lambda: fr.Reduce(pool.value, "mean", into="total"), lambda: fr.Gather(pool.heavy, "xor", into="sum")):
        with pytest.raises(fr.FrontierError, match="choose from sum, min, max, any, all"):
            make()
