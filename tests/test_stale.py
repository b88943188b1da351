"""What functors take from outside is compared at every run: compiled code is never older than it."""

from __future__ import annotations

import enum
import math
import types
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import functor_tools
import numpy as np
import pytest
from numba import njit

import frontier as fr

K = 1
PAIR = (1, (2, 3))
LATE = types.ModuleType("late")
LATE.K = 1  # type: ignore[attr-defined]
Point = namedtuple("Point", "x y")
POINT = Point(1, 2)


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 2


class Shade(enum.Enum):
    DARK = 1


CHOSEN = Colour.RED


def doubled(x, factor=2):
    return x * factor + K


def twice_doubled(x):
    return doubled(x) + doubled(x)


jitted = njit(lambda x: x + K)


def by_global(p, v):
    p.out[v] = v + K


def by_nested(p, v):
    add = lambda x: x + K  # noqa: E731
    p.out[v] = add(v)


def by_helper(p, v):
    p.out[v] = twice_doubled(v)


def by_module(p, v):
    p.out[v] = v + functor_tools.STEP + functor_tools.twice(v)


def by_late_module(p, v):
    p.out[v] = v + LATE.K


def by_tuple(p, v):
    p.out[v] = v + PAIR[1][0] + POINT.x


def by_member(p, v):
    p.out[v] = v + CHOSEN + Colour.BLUE + Shade.DARK.value


def by_builtin(p, v):
    p.out[v] = abs(v - 2)


def by_njit(p, v):
    p.out[v] = jitted(v)


def by_dtype(p, v):
    p.out[v] = WIDTH(v * 3)


WIDTH: Any = np.int64


def out_of(step: fr.Step, g: fr.Graph) -> list[int]:
    p = fr.Problem(g, out=fr.vertex("int64"))
    step(p)
    return p.out.tolist()


#: Functor -> what is changed, one change after another: (where, name, value).
CHANGES: dict[Callable[..., Any], list[tuple[Any, str, Any]]] = {
    by_global: [(globals(), "K", 2), (globals(), "K", 10**12), (globals(), "K", 1)],
    by_nested: [(globals(), "K", 7)],
    by_helper: [
        (globals(), "K", 5),
        (doubled, "__defaults__", (3,)),
        (doubled, "__code__", (lambda x, factor=2: x - factor).__code__),
        (globals(), "doubled", lambda x: x + 40),
    ],
    by_module: [
        (functor_tools, "STEP", 30),
        (functor_tools, "twice", lambda x: 5 * x),
    ],
    by_late_module: [(LATE, "K", 4)],
    by_tuple: [(globals(), "PAIR", (1, (9, 3))), (globals(), "POINT", Point(4, 2))],
    by_member: [
        (globals(), "CHOSEN", Colour.BLUE),
        (globals(), "Colour", enum.IntEnum("Colour", {"RED": 1, "BLUE": 50})),
        (vars(Shade.DARK), "_value_", 3),
        (globals(), "Shade", enum.Enum("Shade", {"DARK": 8})),
    ],
    by_builtin: [(globals(), "abs", lambda x: 100 + x)],
    by_njit: [(globals(), "jitted", njit(lambda x: x - 1))],
    by_dtype: [(globals(), "WIDTH", np.int8)],
}


def change(patch: pytest.MonkeyPatch, where: Any, name: str, value: Any) -> None:
    if isinstance(where, dict):
        patch.setitem(where, name, value)
    else:
        patch.setattr(where, name, value)


@pytest.mark.parametrize("fn", CHANGES, ids=lambda fn: fn.__name__)
def test_changes_between_runs_are_seen(backend: Any, fn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same process, by the same step, the same functor and an equal new step."""
    there, g = backend(fr.path(4)), fr.path(4).to("python")
    kept = fr.Compute(fn, over="vertices")
    before = out_of(kept, there)
    for where, name, value in CHANGES[fn]:
        change(monkeypatch, where, name, value)
        right = out_of(fr.Compute(fn, over="vertices"), g)
        assert out_of(kept, there) == right
        assert out_of(fr.Compute(fn, over="vertices"), there) == right
    monkeypatch.undo()
    assert out_of(kept, there) == before


def test_functions_of_numba_are_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what their own constants are now, though numba's code of them is frozen; only cpu does."""
    step, g = fr.Compute(by_njit, over="vertices"), fr.path(2)
    assert out_of(step, g) == [1, 2]
    monkeypatch.setitem(globals(), "K", 3)
    assert out_of(step, g) == [3, 4]


def test_the_same_problem_too(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    p = fr.Problem(backend(fr.path(4)), out=fr.vertex("int64"))
    for number in (1, 2, 3, 2, 1):
        monkeypatch.setitem(globals(), "K", number)
        fr.compute(p, fr.Frontier.all(p.graph), by_global)
        assert p.out.tolist() == [number, number + 1, number + 2, number + 3]


def test_nested_functions_are_told_apart(backend: Any) -> None:
    """They differ in constants, names or operations of code within code only."""

    def made(inner: str) -> fr.Step:
        namespace: dict[str, Any] = {"A": 5, "B": 6}
        exec(f"def fn(p, v):\n    h = {inner}\n    p.out[v] = h(v)", namespace)
        return fr.Compute(namespace["fn"], over="vertices")

    g = backend(fr.path(2))
    inners = ["lambda x: x + 1", "lambda x: x + 2", "lambda x: x * 2", "lambda x: x + A", "lambda x: x + B",
              "lambda x: (lambda y: y + 1)(x)", "lambda x: (lambda y: y + 2)(x)"]  # fmt: skip
    assert [out_of(made(inner), g)[1] for inner in inners] == [2, 3, 2, 6, 7, 2, 3]


def test_a_captured_variable_that_changes(backend: Any) -> None:
    def made() -> Any:
        number = 1

        def fn(p, v):
            p.out[v] = v + number

        def change() -> None:
            nonlocal number
            number += 1

        return fn, change

    fn, change_it = made()
    step, g = fr.Compute(fn, over="vertices"), backend(fr.path(2))
    assert out_of(step, g) == [1, 2]
    change_it()
    assert out_of(step, g) == [2, 3]


def test_equal_numbers_of_other_types(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fn(p, v):
        p.real[v] = K / 2 * 3 if K == 1 else math.copysign(1.0, K)

    step, found = fr.Compute(fn, over="vertices"), []
    for value in (1, True, 1.0, np.float32(1), 0.0, -0.0, float("nan"), 0):
        monkeypatch.setitem(globals(), "K", value)
        p = fr.Problem(backend(fr.path(1)), real=fr.vertex("float64"))
        step(p)
        found.append(p.real[0].item())
    assert found == [1.5, 1.5, 1.5, 1.5, 1.0, -1.0, 1.0, 1.0]


def test_loops_and_conditions_too(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every place of a step where a functor may stand."""

    def visit(p, src, dst):
        return p.depth[dst] < 0

    def claim(p, v):
        p.depth[v] = K
        return True

    def done(p):
        return K > 3

    loop = fr.Loop(fr.Advance(visit, where=lambda p, dst: dst < K), fr.Filter(claim), until=done)
    for number in (2, 3, 10):
        monkeypatch.setitem(globals(), "K", number)
        found = []
        for there in (fr.path(6).to("python"), backend(fr.path(6))):
            p = fr.Problem(there, depth=fr.vertex("int64", -1))
            loop(p, fr.Frontier(there, [0]))
            found.append(p.depth.tolist())
        assert found[0] == found[1]


def test_names_that_come_and_go(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    step, g = fr.Compute(by_global, over="vertices"), backend(fr.path(2))
    assert out_of(step, g) == [1, 2]
    with monkeypatch.context() as patch:
        patch.delitem(globals(), "K")
        with pytest.raises(fr.FunctorError, match="name 'K' is not defined"):
            out_of(step, g)
    assert out_of(step, g) == [1, 2]


def test_fields_that_a_helper_reads_now(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found of a functor is found anew, on the python backend too."""

    def fn(p, v):
        p.out[v] = chosen(p, v)  # noqa: F821 - defined below

    step, g = fr.Compute(fn, over="vertices"), backend(fr.path(2))
    monkeypatch.setitem(globals(), "chosen", lambda p, v: p.out[v] + 1)
    assert out_of(step, g) == [1, 1]
    assert fr.effects(fn).reads == {"out": {"v"}}
    monkeypatch.setitem(globals(), "chosen", lambda p, v: p.missing[v])
    with pytest.raises(fr.FunctorError, match="missing"):
        out_of(step, g)
    assert fr.effects(fn).reads == {"missing": {"v"}}


def test_a_functor_with_another_body(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fn(p, v):
        p.out[v] = v

    def other(p, i):
        p.out[i] = 7

    step, g = fr.Compute(fn, over="vertices"), backend(fr.path(2))
    assert out_of(step, g) == [0, 1]
    fn.__code__ = by_nine.__code__
    assert out_of(step, g) == [9, 9]
    fn.__code__ = other.__code__
    with pytest.raises(fr.FunctorError, match="no argument 'i' here"):
        fr.Advance(fn)


def by_nine(p, v):
    p.out[v] = 9
