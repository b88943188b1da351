"""What names compiled code on disk: text that is equal only for functors that compile to the same code."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import itertools
import math
import operator
import time
from types import ModuleType
from typing import Any

import functor_tools
import numba
import numpy as np
import pytest

import frontier as fr
from frontier.functors.captures import capture
from frontier.functors.functor import helpers

holder = ModuleType("holder")
holder.tools = functor_tools  # type: ignore[attr-defined]


class Colour(enum.IntEnum):
    """Numbers by name."""

    RED = 1


def identity(fn: Any) -> str:
    return capture(fn).fingerprint


def module_constant(p: Any, v: Any) -> None:
    p.out[v] += functor_tools.STEP


def module_helper(p: Any, v: Any) -> None:
    p.out[v] += functor_tools.twice(v)


def nested_constant(p: Any, v: Any) -> None:
    p.out[v] += holder.tools.STEP


def nested_helper(p: Any, v: Any) -> None:
    p.out[v] += holder.tools.twice(v)


def member(p: Any, v: Any) -> None:
    p.out[v] += Colour.RED


def by_default(x: Any, factor: int = 2) -> Any:
    return x * factor


def default(p: Any, v: Any) -> None:
    p.out[v] += by_default(v)


def alias(p: Any, v: Any) -> None:
    tools = functor_tools
    p.out[v] += tools.STEP


def captured(tools: Any) -> Any:
    def fn(p: Any, v: Any) -> None:
        p.out[v] += tools.STEP

    return fn


def field_of_that_name(p: Any, v: Any) -> None:
    p.EXTRA[v] = functor_tools.twice(v)


def of_a_lazy_module(p: Any, v: Any) -> None:
    fr.atomic_or(p.out, v, 1)


@pytest.mark.parametrize(
    ("fn", "where", "name", "value"),
    [
        (module_constant, functor_tools, "STEP", 4),
        (module_constant, functor_tools, "STEP", 3.0),
        (module_helper, functor_tools, "twice", lambda x: x),
        (nested_constant, functor_tools, "STEP", 4),
        (nested_helper, functor_tools, "twice", lambda x: x),
        (nested_helper, functor_tools, "STEP", 4),  # which the helper reads
        (alias, functor_tools, "STEP", 4),
        (captured(functor_tools), functor_tools, "STEP", 4),
        (default, by_default, "__defaults__", (3,)),
        (member, globals(), "Colour", enum.IntEnum("Colour", {"RED": 2})),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_whatever_compiled_code_holds_is_in_its_name(
    fn: Any, where: Any, name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = identity(fn)
    assert identity(fn) == before
    if isinstance(where, dict):
        monkeypatch.setitem(where, name, value)
    else:
        monkeypatch.setattr(where, name, value)
    assert identity(fn) != before


def test_names_of_fields_are_not_looked_for_in_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity(field_of_that_name)
    monkeypatch.setattr(functor_tools, "EXTRA", lambda x: undefined, raising=False)  # noqa: F821
    assert identity(field_of_that_name) == before
    assert helpers(field_of_that_name) == [functor_tools.twice]


def test_what_a_module_loads_late_is_in_the_name_from_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(vars(fr), "atomic_or", raising=False)
    before = identity(of_a_lazy_module)
    assert fr.atomic_or
    assert identity(of_a_lazy_module) == before


def test_attributes_of_modules_in_modules(backend: Any) -> None:
    p = fr.Problem(backend(fr.path(3)), out=fr.vertex("int64"))
    fr.Sequence(fr.Compute(nested_constant), fr.Compute(nested_helper), over="vertices")(p)
    assert p.out.tolist() == [6, 8, 10]


def captures_value(value: Any) -> Any:
    def fn(p: Any, v: Any) -> None:
        p.out[v] = value

    return fn


Pair = collections.namedtuple("Pair", "x y")
Other = collections.namedtuple("Other", "x z")
Fruit = enum.Enum("Fruit", {"APPLE": 1, "PEAR": 2})
Flags = enum.Flag("Flags", ["A", "B"])

#: Values of which no two make the same code.
VALUES = [
    0, 1, 2, True, False, 1.0, 0.0, -0.0, math.nan, math.inf, 1j, None, ..., "1", b"1", "\udc80", 2**64 - 1,
    np.int32(1), np.int64(1), np.uint64(1), np.float32(1), np.float64(1), np.bool_(True), np.datetime64(1, "s"),
    np.datetime64(1, "D"), np.dtype("int32"), np.dtype("int64"), np.dtype(">i8"), np.int32, np.int64, int, float, bool,
    (), (1,), (1.0,), ((1,),), (1, 1), Pair(1, 1), Pair(1, 2), Other(1, 1), Pair, Other, slice(1, 2), slice(1, 3),
    Fruit, Fruit.APPLE, Fruit.PEAR, Flags.A, Flags.B, Flags.A | Flags.B, enum.IntEnum("Fruit", {"APPLE": 1}).APPLE,
    enum.Enum("Fruit", {"APPLE": 1, "PEAR": 3}), len, abs, math.sqrt, math.exp, np.sqrt, np.add, np.exp, operator.add,
    fr.atomic_min, fr.atomic_max, numba.int32, numba.int64, math, np, lambda x: x, lambda x: x + 1, lambda x: (x + 1,),
    lambda x=1: x + 1, lambda x=2: x + 1, lambda x: x + 1.0, lambda x: lambda: x, lambda x: lambda: 1, lambda x: -0.0,
    lambda x: 0.0, lambda x: x in {1, 2}, lambda x: x in {1, 3}, numba.njit(lambda x: x * 3), (functor_tools.twice, 1),
    (functor_tools.twice, 2), captures_value(1), captures_value(2), captures_value(captures_value(1)),
]  # fmt: skip


def test_no_two_values_are_taken_for_one_another() -> None:
    """Numbers of other types too, which are equal in Python."""
    found = [identity(captures_value(value)) for value in VALUES]
    assert len(set(found)) == len(VALUES)
    assert [identity(captures_value(value)) for value in VALUES] == found


def test_equal_values_are_one() -> None:
    """Where they were made, and under which name, does not matter."""
    for make in (lambda: (1.5, "a"), lambda: enum.Enum("E", {"A": 1}), lambda: collections.namedtuple("N", "x")(1)):
        assert identity(captures_value(make())) == identity(captures_value(make()))
    assert identity(captures_value(numba.njit(doubled))) == identity(captures_value(doubled))


def doubled(x: Any) -> Any:
    return x * 2


class Mutable(enum.Enum):
    """A member that may change."""

    LIST = [1]  # noqa: RUF012


@dataclasses.dataclass(frozen=True)
class Frozen:
    """A class whose objects numba does not know."""

    x: int = 1


class Number(int):
    """A number with more to it."""


@pytest.mark.parametrize(
    "value",
    [
        [1], {1: 2}, {1}, frozenset([1]), range(3), Frozen(), Frozen, Number(1), object(), functools.partial(doubled),
        "a".startswith, Frozen().__init__, Mutable, Mutable.LIST, np.zeros(1, "i4,f4")[0], np.zeros(2),
        numba.njit("int64(int64)")(doubled), numba.vectorize(doubled), (1, [2]), (1, (2, Frozen())), Pair(1, [2]),
        time.time, itertools.count(), 10**5000,
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_cannot_be_described_is_refused(value: Any, backend: Any) -> None:
    """By name, never taken for another of its type."""
    if backend.name == "python":
        pytest.skip("the python backend makes no code")
    p = fr.Problem(backend(fr.path(2)), out=fr.vertex("int64"))
    with pytest.raises(fr.FunctorError, match=r"captures .*'value'"):
        fr.Compute(captures_value(value), over="vertices")(p)


def test_functors_that_call_each_other() -> None:
    """Their fingerprints end, and say what each does."""

    def made(step: int) -> Any:
        def even(x: Any) -> Any:
            return True if x == 0 else odd(x - step)

        def odd(x: Any) -> Any:
            return False if x == 0 else even(x - 1)

        return captures_value(even)

    assert identity(made(1)) == identity(made(1)) != identity(made(2))
    assert len(capture(made(1)).reached()) == 3


def test_what_is_compiled_is_what_was_described(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change after a functor was looked at is not in it."""
    part = capture(module_helper)
    monkeypatch.setattr(functor_tools, "STEP", 1000)
    p = fr.Problem(fr.path(2).to("python"), out=fr.vertex("int64"))
    part.frozen()(p, 1)
    assert p.out.tolist() == [0, 5]


def test_functions_in_tuples(backend: Any) -> None:
    rules = (functor_tools.twice, doubled)

    def fn(p: Any, v: Any) -> None:
        p.out[v] = rules[0](v) + rules[1](v)

    p = fr.Problem(backend(fr.path(3)), out=fr.vertex("int64"))
    fr.Compute(fn, over="vertices")(p)
    assert p.out.tolist() == [3, 7, 11]


def test_modules_whose_names_begin_like_numpys(agree: Any) -> None:
    """Theirs are helpers like any other."""
    for name in ("numpy_tools", "numbatools", "numpyish.numba"):
        exec("def one_more(x):\n    return x + 1", names := {"__name__": name})
        one_more = names["one_more"]

        def fn(p: Any, v: Any) -> None:
            p.out[v] = one_more(v)  # noqa: B023

        agree(
            fr.path(3),
            lambda g: fr.Problem(g, out=fr.vertex("int64")),
            lambda p: fr.compute(p, fr.Frontier.all(p.graph), fn),
        )
