"""What functors may be: helpers, constants, closures, dtypes of fields."""

from __future__ import annotations

import math

import functor_tools
import numba
import numpy as np
import pytest
from compare import WORKERS, close, equal, workers
from functor_problem import DTYPES, G, problem

import frontier as fr

LIMIT = 4
RATIO = 0.25
FLAG = True
TABLE = (5, 7, 11)


def over_vertices(*functors):
    return fr.Sequence(*(fr.Compute(fn) for fn in functors), over="vertices")


# -- what functors call and capture ------------------------------------------------------------------------


def half(x):
    return x // 2


def half_of_next(x):
    return half(x + 1)


def by_helper(p, v):
    p.out[v] = half(p.f_int32[v]) + 10 * half_of_next(v)


def store(p, v, x):
    p.out[v] += x * 100


def by_helper_with_the_problem(p, v):
    store(p, v, half_of_next(v))


def by_globals(p, v):
    if FLAG:
        p.out[v] += LIMIT * 1000 + TABLE[v % 3]
    p.real[v] = RATIO * v


def by_modules(p, v):
    p.real[v] += math.sqrt(p.f_float64[v]) + np.abs(np.float64(-v)) + math.pi
    p.out[v] += functor_tools.clamp(v, 2, functor_tools.STEP) + functor_tools.twice(v)


@numba.njit
def compiled_already(x):
    return x * 7


def by_numba(p, v):
    p.out[v] += compiled_already(v)


def by_builtins(p, v):
    total = 0
    for i in range(v):
        if i == 5:
            break
        total += min(i, 3) + abs(-i) + round(1.6)
    while total > 20:
        total -= 7
    p.out[v] += total if total % 2 == 0 else -total


def by_tuples(p, v):
    low, high = (v, 9) if v < 5 else (9, v)
    p.out[v] += low * 10 + high


CALLS = (by_helper, by_helper_with_the_problem, by_globals, by_modules, by_numba, by_builtins, by_tuples)
ALL_CALLS = over_vertices(*CALLS)


def test_helpers_globals_modules_builtins(agree):
    p, _ = agree(G, problem, lambda p: ALL_CALLS(p), 2)
    v = np.arange(10)
    expected = v // 2 + 10 * ((v + 1) // 2) + 100 * ((v + 1) // 2) + 4000 + np.array(TABLE)[v % 3]
    expected += np.clip(v, 2, 3) + 2 * v + 3 + 7 * v
    expected += np.where(v < 5, v * 10 + 9, 90 + v)
    loop = []
    for x in range(10):
        total = sum(min(i, 3) + i + 2 for i in range(min(x, 5)))
        while total > 20:
            total -= 7
        loop.append(total if total % 2 == 0 else -total)
    equal(p.out, expected + loop)
    close(p.real, 0.25 * v + np.sqrt(v) + v + np.pi)


def adder(number):
    def add(p, v):
        p.out[v] += int(number)

    return add


@pytest.mark.parametrize(
    "numbers", [(1, 2), (np.int64(1), np.int64(2)), (np.float32(1), np.float32(2)), (True, 2), (1.0, 2.0)], ids=repr
)
def test_functors_that_capture_different_numbers_are_different(backend, numbers):
    p = problem(backend(G))
    f = fr.Frontier.all(p.graph)
    for number in numbers:
        fr.compute(p, f, adder(number))
    assert (p.out == 3).all()


def composed(inner):
    def outer(p, v):
        p.out[v] = inner(v) + 1

    return outer


def triple(x):
    return 3 * x


def test_a_captured_helper(backend):
    p = problem(backend(G))
    f = fr.Frontier.all(p.graph)
    fr.compute(p, f, composed(triple))
    assert p.out.tolist() == [3 * v + 1 for v in range(10)]
    fr.compute(p, f, composed(half))
    assert p.out.tolist() == [v // 2 + 1 for v in range(10)]


def test_lambdas(backend):
    p = problem(backend(G))
    f = fr.filter(p, fr.Frontier.all(p.graph), lambda p, v: p.f_int32[v] > 6)
    assert sorted(f.ids.tolist()) == [7, 8, 9]
    f = fr.filter(p, fr.Frontier.all(p.graph), lambda p, v: p.f_int32[v] > 7)
    assert sorted(f.ids.tolist()) == [8, 9]


# -- fields and scalars of every dtype ----------------------------------------------------------------------


def read_all(p, v):
    p.out[v] = (
        p.f_int8[v] + p.f_int16[v] + p.f_int32[v] + p.f_int64[v] + p.f_uint8[v] + p.f_uint16[v] + p.f_uint32[v]
        + np.int64(p.f_uint64[v])
    )  # fmt: skip
    p.real[v] = p.f_float32[v] / 4 + p.f_float64[v] / 8 + p.own[v % 4]
    if p.f_bool[v]:
        p.out[v] += 1000
    if not p.f_bool[v]:
        p.out[v] += 2000


def write_all(p, v):
    p.f_int8[v] = p.f_int8[v] - 100
    p.f_int16[v] += 300
    p.f_int32[v] *= 1000
    p.f_int64[v] <<= 40
    p.f_uint8[v] = 255 - v
    p.f_uint16[v] = v * 7000
    p.f_uint32[v] = 4000000000 + v
    p.f_uint64[v] = v * 10**17
    p.f_float32[v] = v / 4
    p.f_float64[v] /= 3
    p.f_bool[v] = v > 4


def bool_of_number(p, v):
    p.f_bool[v] = v & 4  # a number, of which only the truth is kept


def count_true(p, v):
    p.out[v] = 1 if p.f_bool[v] == True else 0  # noqa: E712
    p.out[v] += int(p.f_bool[v]) + int(p.f_bool[v])


def read_scalars(p, v):
    p.out[v] = p.s_int8 + p.s_int16 + p.s_int32 + p.s_int64 + p.s_uint8 + p.s_uint16 + p.s_uint32 + np.int64(p.s_uint64)
    p.real[v] = p.s_float32 / 2 + p.s_float64 / 4
    if p.s_bool:
        p.out[v] += 100


READ, WRITE = over_vertices(read_all), over_vertices(write_all, read_all)
BOOLS, SCALARS = over_vertices(bool_of_number, count_true), over_vertices(read_scalars)


@pytest.mark.parametrize("step", [READ, WRITE, BOOLS, SCALARS], ids=repr)
@pytest.mark.parametrize("count", WORKERS)
def test_fields_of_every_dtype(agree, step, count):
    p, _ = agree(G, problem, lambda p: step(p), count)
    for name in DTYPES:
        assert getattr(p, f"f_{name}").dtype == name
    if step is BOOLS:
        assert p.f_bool.view(np.uint8).tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 0, 0]


def all_ends(p, src, dst, edge, weight):
    p.along[edge] += weight + p.f_int32[src] * 16 + p.f_int32[dst]
    return p.along[edge] > 100


ENDS = fr.Filter(all_ends, over="edges")


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32", "float32", "float64"])
def test_weights_of_every_dtype(agree, dtype):
    g = fr.from_edges(range(9), range(1, 10), np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], dtype=dtype), directed=True)
    assert g.weights.dtype == dtype
    p, f = agree(g, problem, lambda p: ENDS(p))
    v = np.arange(9)
    equal(p.along, 0.5 + g.weights + 16 * v + v + 1)
    assert len(f) == (p.along > 100).sum()


# -- hashes and random numbers ---------------------------------------------------------------------------------


def draw(p, v):
    p.out[v] = fr.hash(v * 1000 - 3) % 1000
    p.real[v] = fr.random(p.s_int64, v)


DRAW = over_vertices(draw)


def test_hash_and_random_are_the_same_everywhere(agree):
    p, _ = agree(fr.path(2000), problem_of_numbers, lambda p: DRAW(p), 3)
    assert p.out.tolist() == [fr.hash(v * 1000 - 3) % 1000 for v in range(2000)]
    assert p.real.tolist() == [fr.random(1, v) for v in range(2000)]
    assert 0 <= p.real.min() < 0.01
    assert 0.99 < p.real.max() < 1
    assert abs(p.real.mean() - 0.5) < 0.05
    assert len(set(p.out.tolist())) > 800


def problem_of_numbers(g):
    return fr.Problem(g, out=fr.vertex("int64"), real=fr.vertex("float64"), s_int64=fr.scalar("int64", 1))


def divide(p, v):
    p.real[v] = (v - 5) / p.s_int64
    p.out[v] = int((v - 5) // p.s_float64)


@pytest.mark.unsimulated("Python divides otherwise")
def test_division_by_zero_follows_numpy(agree):
    def make(g):
        p = problem(g)
        p.s_int64, p.s_float64 = 0, 2.0
        return p

    p, _ = agree(G, make, lambda p: fr.compute(p, fr.Frontier.all(p.graph), divide))
    equal(p.real, [-np.inf] * 5 + [np.nan] + [np.inf] * 4)
    assert p.out.tolist() == [(v - 5) // 2 for v in range(10)]


def test_code_is_shared_by_problems_with_the_same_fields():
    step = fr.Compute(by_helper)
    with workers(1):
        for g in (G, fr.path(4)):
            p = problem(g)
            step(p, fr.Frontier.all(g))
    assert len(step._code) == 2  # the graphs differ in weights; one of each
    q = fr.path(7)
    step(problem(q), fr.Frontier.all(q))
    assert len(step._code) == 2


def _knows_itself():
    def call():
        return call

    return call


marked = _knows_itself()  # called as the field below


def mark(p, v):
    p.marked[v] = 1


def test_a_field_that_is_called_like_a_function(backend):
    p = fr.Problem(backend(fr.path(2)), marked=fr.vertex("int64"))
    fr.compute(p, fr.Frontier.all(p.graph), mark)
    assert p.marked.tolist() == [1, 1]


def test_helpers_that_know_each_other(backend):
    def even(n):
        return n % 2 == 0

    def odd(n):
        return not even(n)

    def fn(p, v):
        p.odd[v] = odd(v)

    p = fr.Problem(backend(fr.path(3)), odd=fr.vertex("bool"))
    fr.compute(p, fr.Frontier.all(p.graph), fn)
    assert p.odd.tolist() == [False, True, False]
