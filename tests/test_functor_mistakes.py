"""What is said of functors that are wrong before anything is compiled, and while the python backend runs them."""

from __future__ import annotations

import numpy as np
import pytest
from functor_problem import G, problem

import frontier as fr

VALUES = np.arange(10)


def field_typo(p, v):
    return p.f_int23[v] > 1


def global_typo(p, v):
    return p.f_int32[v] > LIMMIT  # noqa: F821


def helper_typo(x):
    return x + NOTHING  # noqa: F821


def typo_in_a_helper(p, v):
    return helper_typo(v) > 1


def captured_array(p, v):
    return VALUES[v] > 1


def array_in_a_helper(p, v):
    return look_up(v) > 1


def look_up(v):
    return VALUES[v]


def writes_a_scalar(p, v):
    p.s_int64 = v


def adds_to_a_scalar(p, v):
    p.s_int64 += v


def atomic_on_a_scalar(p, v):
    fr.atomic_add(p.s_int64, 0, v)


def atomic_on_a_small_field(p, v):
    fr.atomic_add(p.f_int8, v, 1)


def cas_on_a_float(p, v):
    fr.atomic_cas(p.f_float64, v, 0.0, 1.0)


MISTAKES = [
    (field_typo, "field_typo .*no field 'f_int23'.*did you mean 'f_int32'"),
    (global_typo, "global_typo .*'LIMMIT' is not defined"),
    (typo_in_a_helper, "helper_typo .*'NOTHING' is not defined"),
    (captured_array, r"captured_array .*captures the array 'VALUES'.*Problem\(g, VALUES=fr.array\(VALUES\)\)"),
    (array_in_a_helper, "look_up .*captures the array 'VALUES'"),
    (writes_a_scalar, "s_int64.*return the value and use Reduce"),
    (adds_to_a_scalar, "s_int64.*return the value and use Reduce"),
    (atomic_on_a_scalar, "s_int64.*scalars take no atomics: return the value and use Reduce"),
    (atomic_on_a_small_field, "atomic_add works on numbers of 32 or 64 bits, not on int8"),
    (cas_on_a_float, "atomic_cas works on integers of 32 or 64 bits, not on float64"),
]


@pytest.mark.parametrize(("fn", "message"), MISTAKES, ids=lambda x: getattr(x, "__name__", ""))
def test_mistakes_have_one_message_of_ours(backend, fn, message):
    p = problem(backend(G))
    with pytest.raises(fr.FunctorError, match=message) as caught:
        fr.filter(p, fr.Frontier.all(p.graph), fn)
    assert len(str(caught.value).splitlines()) == 1


def joins(p, v):
    if v > 3:
        return p
    return v


def adds_text(p, v):
    return p.f_int32[v] + "1"


def test_what_numba_cannot_type_is_blamed_on_the_functor():
    p = problem(G)
    for fn in (joins, adds_text):
        with pytest.raises(fr.FunctorError, match=rf"{fn.__name__} \(.*test_functor_mistakes.py:\d+\)") as caught:
            fr.compute(p, fr.Frontier.all(G), fn)
        assert len(str(caught.value).splitlines()) <= 2
        assert caught.value.__cause__ is None


def out_of_bounds(p, v):
    return p.f_int32[v + 5] > 0


def too_big(p, v):
    p.f_int8[v] = 100 + v * 10


def by_a_float(p, v):
    return p.f_int32[v / 2] > 0


def from_the_end(p, v):
    return p.f_int32[v - 1] > 0


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (out_of_bounds, r"p\.f_int32\[10\]: valid are 0\.\.9"),
        (from_the_end, r"p\.f_int32\[-1\]"),
        (too_big, r"p\.f_int8\[3\] = 130: overflow"),
        (by_a_float, "an index is an integer"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_the_python_backend_checks_every_access(fn, message):
    p = problem(G.to("python"))
    with pytest.raises(fr.FunctorError, match=message):
        fr.compute(p, fr.Frontier.all(p.graph), fn)


class Callable_:
    def __call__(self, p, v):
        return True


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (Callable_(), "a plain Python function"),
        (len, "a plain Python function"),
        (lambda: True, "takes the problem as its first argument"),
        (lambda p, v=1: True, "must be plain"),
        (lambda p, *v: True, "must be plain"),
        (lambda p, *, v: True, "must be plain"),
        (lambda p, u: True, "no argument 'u' here; there is v, src, dst, edge, weight, i"),
    ],
)
def test_what_is_no_functor(fn, message):
    with pytest.raises(fr.FunctorError, match=message):
        fr.Filter(fn)


def test_a_captured_variable_without_a_value():
    def make():
        def fn(p, v):
            return v < number

        step = fn
        if G.num_vertices < 0:
            number = 1
        return step

    with pytest.raises(fr.FunctorError, match="'number' has no value yet"):
        fr.Filter(make())
