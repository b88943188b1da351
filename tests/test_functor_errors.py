"""Functors that do what functors may not: one clear line of ours, never a chain of numba's.

Each case says which words must be there: those that tell what is wrong, where, and what to do.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import Backend

import frontier as fr

TABLE = np.arange(5)
NAMES = {1: 2}


def problem(backend: Backend, **more: Any) -> fr.Problem:
    return fr.Problem(
        backend(fr.path(5)),
        x=fr.vertex("int32"),
        level=fr.vertex("int32"),
        share=fr.vertex("float64"),
        byte=fr.vertex("uint8"),
        total=fr.scalar("int32"),
        far=fr.pile(),
        near_edges=fr.pile("edge"),
        **more,
    )


def everything(p: fr.Problem) -> fr.Frontier:
    return fr.Frontier.all(p.graph)


def helper(value):
    return value + TABLE[0]


def own_list(p, v):
    p.x[v] = len([i + 1 for i in range(v)])


def own_array(p, v):
    p.x[v] = np.zeros(3)[0]


def text(p, v):
    p.x[v] = "a"


def no_such_function(p, v):
    p.x[v] = np.floof(v)


def no_such_math(p, v):
    p.x[v] = math.floof(v)


def no_such_attribute(p, v):
    p.x[v] = p.x.size_of


def adds_text(p, v):
    p.x[v] = v + "a"


def two_indices(p, v):
    p.x[v] = 1
    return p.x[v, 0]


def uses_dict(p, v):
    return NAMES[v]


def two_kinds(p, v):
    if v > 1:
        return 1
    return "a"


def gives_text(p, v):
    return "yes"


def gives_pair(p, v):
    return v, v


def catches(p, v):
    try:
        p.x[v] = 1
    except ValueError:
        p.x[v] = 2


def raises(p, v):
    if v > 2:
        raise ValueError(v)
    return True


def opens_file(p, v):
    with open("x") as file:
        return file is not None


def deep_helper(value):
    return value.no_such


def calls_helper(p, v):
    return deep_helper(v)


@pytest.mark.unsimulated("it does not compile functors")
@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (own_list, ["lists", "use a tuple, a loop, fr.scratch, or a field"]),
        (own_array, ["create or take arrays", "use a field of the problem"]),
        (text, ["str", "int32"]),
        (no_such_function, ["numpy", "floof"]),
        (no_such_math, ["math", "floof"]),
        (no_such_attribute, ["size_of"]),
        (adds_text, ["add(int64"]),
        (two_indices, ["several indices"]),
        (uses_dict, ["NAMES", "dict"]),
        (two_kinds, ["same kind of value on every path"]),
        (gives_text, ["returns", "True, False"]),
        (gives_pair, ["returns", "Tuple"]),
        (catches, ["`try`", "test the condition beforehand"]),
        (raises, ["`raise` and `assert`", "write an error code to a field"]),
        (opens_file, ["with"]),
        (calls_helper, ["no_such"]),
    ],
)
def test_what_cannot_be_compiled(compiled: Backend, fn: Callable[..., Any], words: list[str]) -> None:
    """File, line, the one line that matters, a hint; in one line, without a chain of numba's errors."""
    p = problem(compiled)
    with pytest.raises(fr.FunctorError) as caught:
        fr.filter(p, everything(p), fn)
    message = str(caught.value)
    for word in [fn.__name__, *words]:
        assert word in message
    lines, first = inspect.getsourcelines(fn)
    lines_named = {int(line) for line in re.findall(r"test_functor_errors\.py:(\d+)", message)}
    assert lines_named & set(range(first, first + len(lines)))
    assert "\n" not in message
    assert len(message) < 500
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert p.x.tolist() == [0] * 5


@pytest.mark.unsimulated("it does not compile functors")
def test_the_line_within_a_functor(compiled: Backend) -> None:
    p = problem(compiled)
    for fn, line in ((two_indices, 2), (adds_text, 1)):
        with pytest.raises(fr.FunctorError) as caught:
            fr.filter(p, everything(p), fn)
        first = inspect.getsourcelines(fn)[1]
        assert re.search(rf"test_functor_errors\.py:{first + line}\b", str(caught.value))


@pytest.mark.unsimulated("it does not compile functors")
def test_the_line_within_a_helper(compiled: Backend) -> None:
    p = problem(compiled)
    with pytest.raises(
        fr.FunctorError, match=rf"test_functor_errors\.py:{inspect.getsourcelines(deep_helper)[1] + 1}\b"
    ):
        fr.filter(p, everything(p), calls_helper)


def test_the_python_backend_refuses_what_the_others_do() -> None:
    p = problem(Backend("python"))
    with pytest.raises(fr.FunctorError, match="uses lists and comprehensions"):
        fr.filter(p, everything(p), own_list)
    assert p.x.tolist() == [0] * 5


@pytest.mark.unsimulated("it does not compile functors")
def test_a_bad_functor_in_a_loop_is_named(compiled: Backend) -> None:
    class Bad(fr.Enactor):
        loop = fr.Loop(fr.Filter(fine), fr.Compute(text), times=2, over="vertices")

    p = problem(compiled)
    with pytest.raises(fr.FunctorError, match=r"^text \(.*test_functor_errors\.py"):
        Bad(p).run()


def fine(p, v):
    return True


def typo_in_field(p, v):
    return p.levle[v] == 0


def typo_in_name(p, v):
    return levle[v] == 0  # noqa: F821


def sees_table(p, v):
    p.x[v] = TABLE[v]


def sees_table_by_helper(p, v):
    p.x[v] = helper(v)


def sees_pile(p, v):
    return p.far[v]


def sees_graph(p, v):
    return p.graph


def adds_to_scalar(p, v):
    fr.atomic_add(p.total, v, 1)


def swaps_float(p, v):
    fr.atomic_cas(p.share, v, 0, 1)


def adds_to_byte(p, v):
    fr.atomic_add(p.byte, v, 1)


def sets_scalar(p, v):
    p.total = 1


def sets_array(p, v):
    p.x = 1


def wrong_argument(p, vertex):
    return True


def with_default(p, v, k=1):
    return True


def keyword_only(p, *, v):
    return True


def mixed(p, v, src):
    return True


def no_problem():
    return True


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (typo_in_field, ["'levle'", "did you mean 'level'?", "total"]),
        (typo_in_name, ["'levle' is not defined"]),
        (sees_table, ["captures the array 'TABLE'", "pass it in the Problem", "TABLE=fr.array(TABLE)"]),
        (sees_table_by_helper, ["helper", "captures the array 'TABLE'"]),
        (sees_pile, ["p.far is a pile"]),
        (sees_graph, ["no field 'graph'"]),
        (adds_to_scalar, ["p.total", "scalars take no atomics", "use Reduce"]),
        (swaps_float, ["p.share", "integers of 32 or 64 bits", "float64"]),
        (adds_to_byte, ["p.byte", "32 or 64 bits", "uint8"]),
        (wrong_argument, ["no argument 'vertex'", "there is v"]),
        (with_default, ["'k' must be plain"]),
        (keyword_only, ["'v' must be plain"]),
        (mixed, ["v, src mix"]),
        (no_problem, ["takes the problem as its first argument"]),
    ],
)
def test_what_no_backend_runs(backend: Backend, fn: Callable[..., Any], words: list[str]) -> None:
    p = problem(backend)
    with pytest.raises(fr.FunctorError) as caught:
        fr.filter(p, everything(p), fn)
    for word in ["test_functor_errors.py", *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize("fn", [sets_scalar, sets_array])
def test_assignment_to_a_field(backend: Backend, fn: Callable[..., Any]) -> None:
    p = problem(backend)
    with pytest.raises(fr.FunctorError, match=r"p\.(x|total) = \.\.\."):
        fr.filter(p, everything(p), fn)


def test_a_captured_array_by_closure(backend: Backend) -> None:
    mine = np.zeros(5)

    def sees_mine(p, v):
        return mine[v] == 0

    p = problem(backend)
    with pytest.raises(fr.FunctorError, match=r"captures the array 'mine': pass it in the Problem.*fr\.array\(mine\)"):
        fr.filter(p, everything(p), sees_mine)


@pytest.mark.parametrize("fn", [len, max, 7, "visit", None, object()])
def test_what_is_no_functor(backend: Backend, fn: Any) -> None:
    p = problem(backend)
    with pytest.raises(fr.FunctorError, match="a functor is a plain Python function"):
        fr.filter(p, everything(p), fn)


def test_index_out_of_range_on_the_python_backend() -> None:
    def beyond(p, v):
        p.x[v + 1] = 1

    p = problem(Backend("python"))
    with pytest.raises(fr.FunctorError, match=r"p\.x\[5\]: valid are 0\.\.4"):
        fr.compute(p, everything(p), beyond)


@pytest.mark.parametrize("value", ["a", None, float("nan"), 2**40])
def test_a_value_that_a_field_cannot_hold_on_the_python_backend(value: Any) -> None:
    def put(p, v):
        p.x[v] = value

    p = problem(Backend("python"))
    with pytest.raises(fr.FunctorError, match=r"p\.x\[0\] = .*int32"):
        fr.compute(p, everything(p), put)


def beyond(p, v):
    p.x[v] = SHORT[v]


SHORT = (1, 2)


def test_ranks_that_python_runs_say_at_which_line():
    g = fr.karate().to("ranks:3,python")
    p = fr.Problem(g, x=fr.vertex("int64"))
    with pytest.raises(IndexError) as caught:
        fr.compute(p, fr.Frontier.all(g), beyond)
    place, rank = caught.value.__notes__
    assert "p.x[v] = SHORT[v]" in place
    assert "in beyond" in place
    assert rank == "(rank 0 of 3)"
