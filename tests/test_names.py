"""Names of functors may be anything: none of their text gets into code that is made."""

from __future__ import annotations

import ast
import enum
import re
import types
from typing import Any

import numpy as np
import pool
import pytest

import frontier as fr

NAMES = [
    'x"""\nraise SystemExit(3)\n"""',
    "x'''\nraise SystemExit(3)\n'''",
    "x'; raise SystemExit(3); '",
    "a\nraise SystemExit(3)",
    "class",
    "naïve",
    "ﬁ",
    "x" * 5000,
    "{steps}",
    "{",
    "P()",
    "\\",
    "\udc80",
    "\x00",
    "",
    "<lambda>",
    "}; call void @abort(); {",
]


def renamed(fn: Any, name: str) -> Any:
    """The function under another name, in its code too, and with a helper and a variable of that name."""
    code = fn.__code__.replace(co_name=name, co_qualname=name)
    made = types.FunctionType(code, fn.__globals__, name, fn.__defaults__, fn.__closure__)
    made.__qualname__ = made.__module__ = name
    return made


def visit(p, src, dst):
    fr.atomic_add(p.seen, dst, 1)
    return True


def inner(p, v):
    local = v + 1
    return local


def calls(p, v):
    p.seen[v] += inner(p, v)


def done(p):
    return p.total > 100


def total(p):
    return p.total + 7


def small_step(name: str) -> fr.Step:
    """A step whose functor, and a helper and its variable, have this name."""
    helper = renamed(inner, name)
    helper.__code__ = helper.__code__.replace(co_varnames=("p", "v", name or "_"))
    user = renamed(calls, name)
    user = types.FunctionType(user.__code__, {**calls.__globals__, "inner": helper}, name)
    return fr.Compute(user)


def step_of(name: str) -> fr.Step:
    """A program whose functors have this name."""
    return fr.Loop(
        fr.Advance(renamed(visit, name), where=renamed(pool.free_dst, name)),
        small_step(name),
        fr.Gather(renamed(lambda p, src, dst: 1, name), "sum", into="sum", over="vertices"),
        fr.Reduce(renamed(pool.value, name), "sum", into="total"),
        fr.Set(total=renamed(total, name)),
        fr.Filter(renamed(lambda p, v: v > 0, name)),
        times=2,
        until=renamed(done, name),
    )


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_any_name_runs(backend: Any, name: str) -> None:
    found = []
    for step in (small_step("plain"), small_step(name)):
        p = pool.problem(backend(fr.grid(3, 3, weights=(1, 9), seed=1)))
        with fr.trace() as t:
            step(p, fr.Frontier(p.graph, [0, 4]))
        assert str(t)
        found.append([*p.seen.tolist(), *p.sum.tolist(), p.total])
    assert found[0] == found[1]


class Word(enum.IntEnum):
    SEVEN = 7


class Number(float):
    def __repr__(self) -> str:
        return "exit(3)"

    __str__ = __repr__


def test_numbers_that_write_themselves_otherwise(backend: Any) -> None:
    p = fr.Problem(backend(fr.path(2)), a=fr.scalar("int64"), b=fr.scalar("float64"), c=fr.scalar("float64"))
    fr.Set(a=Word.SEVEN, b=Number(1.5), c=np.float64(2.5))(p)
    assert [p.a, p.b, p.c] == [7, 1.5, 2.5]


@pytest.mark.parametrize("name", [name for name in NAMES if name], ids=range(len(NAMES) - 1))
def test_nothing_of_a_name_is_in_the_text(name: str) -> None:
    """On both targets the text is that of a plain name, but for the line that says what it was made from."""
    from frontier.backends.cpu.printer import TeamPrinter
    from frontier.backends.cuda.program import Build, CudaProgram, text
    from frontier.lowering.loops import lower
    from frontier.lowering.module import module_text
    from frontier.program.layout import Layout

    p = pool.problem(fr.grid(3, 3, weights=(1, 9), seed=1))
    for make in (None, lambda a, b: CudaProgram(a, b, Build())):
        made = []
        for step in (step_of("functor"), step_of(name)):
            program = lower(step, Layout.of(p), fr.Schedule(), "vertex", *([make] if make else []))
            if isinstance(program, CudaProgram):
                whole = text(program)
            else:
                whole = module_text(program, "", TeamPrinter(program).function())
            assert whole.isascii()
            body = "\n".join(map(ast.dump, ast.parse(whole).body[1:]))
            made.append(re.sub(r"\b\w*(functor|class)\w*\b", "", body))
        assert made[0] == made[1]


def test_names_in_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """NVVM reads names as they come out of numba."""
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    import test_ptx

    for name in (NAMES[0], NAMES[5], NAMES[16]):
        monkeypatch.setitem(
            test_ptx.RUNS,
            "names",
            lambda g, name=name: small_step(name)(pool.problem(g), fr.Frontier(g, [0, 4])),
        )
        test_ptx.test_kernels_compile("names", "full", (8, 0), monkeypatch)
