"""What names compiled code on disk: text that is equal only for functors that compile to the same code."""

from __future__ import annotations

import enum
from types import ModuleType
from typing import Any

import functor_tools
import pytest

import frontier as fr
from frontier.backends.copies import identity
from frontier.functors import helpers

holder = ModuleType("holder")
holder.tools = functor_tools  # type: ignore[attr-defined]


class Colour(enum.IntEnum):
    """Numbers by name."""

    RED = 1


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
