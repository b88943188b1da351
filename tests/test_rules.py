"""What functors must not do is refused on every backend before the first run, by its line, and the docs list it."""

from __future__ import annotations

import inspect
import math
import random
import re
from math import isclose
from pathlib import Path
from random import randint

import numpy as np
import pytest
from numpy import zeros

import frontier as fr
from frontier.functors import rules
from frontier.functors.rules import RULES, offences

# Functors are linted as such: they are wrong on purpose.
# ruff: noqa: C416, E731, F841, SIM, B015, B018, PLC0415, C419, RUF005, PLW0603

outside = 1


def literal_list(p, v):
    x = [v, 1]
    p.x[v] = x[0]


def comprehension(p, v):
    p.x[v] = 1
    y = [i for i in range(3)]


def literal_dict(p, v):
    y = {1: v}


def dict_comprehension(p, v):
    y = {i: i for i in range(v)}


def literal_set(p, v):
    y = {1, v}


def in_set(p, v):
    p.x[v] = v in {1, 2}


def generator_expression(p, v):
    p.x[v] = sum(i for i in range(3))


def starred(p, v):
    a, *b = (v, 2, 3)


def structure(p, v):
    match (v, 1):
        case (1, a):
            p.x[v] = a


def walrus(p, v):
    if (y := v + 1) > 2:
        p.x[v] = y


def walrus_of_a_name(p, v):
    z = (y := v) + 1


def catches(p, v):
    try:
        p.x[v] = 1
    except ValueError:
        p.x[v] = 2


def at_last(p, v):
    try:
        p.x[v] = 1
    finally:
        p.x[v] = 2


def opens(p, v):
    with open("a") as file:
        p.x[v] = 1


def imports(p, v):
    import math  # noqa: F401

    p.x[v] = 1


def sets_global(p, v):
    global outside
    outside = v


def deletes(p, v):
    y = v
    del y


def defines_class(p, v):
    class A:
        pass


def matrix(p, v):
    p.x[v] = v @ v


def identity(p, v):
    p.x[v] = 1 if v is p.x[v] else 2


def asks_type(p, v):
    p.x[v] = 1 if isinstance(v, int) else 2


def asks_any(p, v):
    p.x[v] = any((v > 1, v > 2))


def makes_text(p, v):
    y = str(v)


def hashes(p, v):
    p.x[v] = hash(v)


def draws(p, v):
    p.x[v] = int(random.random() * 3)


def numpy_draws(p, v):
    p.x[v] = int(np.random.random() * 3)  # noqa: NPY002


def array(p, v):
    p.x[v] = np.zeros(3)[0]


def reduces(p, v):
    p.x[v] = np.sum((v, 1))


def array_by_name(p, v):
    p.x[v] = zeros(3)[0]


def draws_by_name(p, v):
    p.x[v] = randint(1, 3)


def close(p, v):
    p.x[v] = math.isclose(v, 1)


def close_by_name(p, v):
    p.x[v] = isclose(v, 1)


def counts_bits(p, v):
    p.x[v] = np.bitwise_count(v)


def wide(p, v):
    p.x[v] = v + 0x1_0000_0000_0000_0000


def wide_in_tuple(p, v):
    p.x[v] = (1, -0x8000_0000_0000_0001)[v % 2]


def helper(x):
    return [x, 1][0]


def by_helper(p, v):
    p.x[v] = helper(v)


def in_lambda(p, v):
    f = lambda z: [z][0]
    p.x[v] = f(v)


def calls_itself(p, v):
    p.x[v] = 1
    return calls_itself(p, v - 1) if v > 0 else 0


def inner_calls_itself(p, v):
    def down(n):
        return down(n - 1) if n else 0

    p.x[v] = down(v)


def lambda_calls_itself(p, v):
    down = lambda n: down(n - 1) if n else 0
    p.x[v] = down(v)


def inner_star(p, v):
    def first(a, b=2, *c):
        return a + b

    p.x[v] = first(v)


REFUSED = {
    literal_list: ("list", 1), comprehension: ("list", 2), literal_dict: ("dict", 1), dict_comprehension: ("dict", 1),
    literal_set: ("set", 1), in_set: ("set", 1), generator_expression: ("generator", 1), starred: ("star", 1),
    structure: ("match", 2), walrus: ("walrus", 1), walrus_of_a_name: ("walrus", 1), catches: ("try", 3),
    at_last: ("try", 4), opens: ("with", 1), imports: ("import", 1), sets_global: ("global", 2),
    deletes: ("del", 2), defines_class: ("class", 1), matrix: ("matmul", 1), identity: ("is", 1),
    asks_type: ("type", 1), asks_any: ("any", 1), makes_text: ("builtin", 1), hashes: ("hash", 1),
    draws: ("random", 1), numpy_draws: ("random", 1), array: ("arrays", 1), reduces: ("arrays", 1),
    in_lambda: ("list", 1), array_by_name: ("arrays", 1), draws_by_name: ("random", 1), close: ("math", 1),
    close_by_name: ("math", 1), counts_bits: ("math", 1), wide: ("wide", 1), wide_in_tuple: ("wide", 1),
    calls_itself: ("recursion", 2), inner_calls_itself: ("recursion", 1), lambda_calls_itself: ("recursion", 1),
    inner_star: ("inner", 1),
}  # fmt: skip


def problem(g):
    return fr.Problem(g, x=fr.vertex("int64"), total=fr.scalar("int64"), real=fr.vertex("float64"))


def sole_line(message):
    assert len(message.splitlines()) == 1
    return message


@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_what_is_refused_on_every_backend(backend, fn):
    rule, line = REFUSED[fn]
    p = problem(backend(fr.path(5)))
    with pytest.raises(fr.FunctorError) as caught:
        fr.compute(p, fr.Frontier.all(p.graph), fn)
    message = sole_line(str(caught.value))
    assert f"{fn.__name__} ({__file__}:{inspect.getsourcelines(fn)[1] + line}) uses {RULES[rule].what}" in message
    assert RULES[rule].instead in message
    assert (p.x == 0).all()


def test_what_is_known_of_math_and_of_numpys_functions():
    from numba.core import types
    from numba.core.registry import cpu_target
    from numba.np import ufunc_db

    fr.compute(problem(g := fr.path(3)), fr.Frontier.all(g), much)  # numba has registered what it knows
    known, module = cpu_target.typing_context, types.Module(math)
    names = [name for name in dir(math) if name[0] != "_"]
    assert {name for name in names if known.resolve_getattr(module, name) is None} == {
        name for name in names if rules._of_module(math, name)
    }
    ufuncs = {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
    unknown = {name for name in ufuncs if getattr(np, name) not in ufunc_db.get_ufuncs()}
    assert unknown == {name for name in ufuncs if rules._of_module(np, name)}


WIDE = 2**64


def test_numbers_that_64_bits_do_not_hold(backend):
    def captured(p, v):
        p.x[v] = v + WIDE

    def too_large(p, v):
        p.x[v] = v + 0x8000_0000_0000_0000

    def made(p, v):
        p.x[v] = v + 2**70

    p = problem(backend(fr.path(5)))
    late = "too large|raised"  # as the simulator of kernels says it
    for fn, message in [(captured, "integers have 64 bits at most"), (too_large, late), (made, late)]:
        with pytest.raises(fr.FunctorError, match=message):
            fr.compute(p, fr.Frontier.all(p.graph), fn)


def test_a_helper_is_named_with_who_calls_it(backend):
    p = problem(backend(fr.path(5)))
    line = inspect.getsourcelines(helper)[1] + 1
    with pytest.raises(fr.FunctorError, match=rf"helper \(.*test_rules.py:{line}\), called by by_helper, uses lists"):
        fr.compute(p, fr.Frontier.all(p.graph), by_helper)


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


RULE_OF_TWO = (factorial, helper)


def by_factorial(p, v):
    p.x[v] = factorial(v)


def by_tuple(p, v):
    p.x[v] = RULE_OF_TWO[0](v)


@pytest.mark.parametrize("fn", [by_factorial, by_tuple], ids=lambda fn: fn.__name__)
def test_a_helper_that_calls_itself(backend, fn):
    p = problem(backend(fr.path(5)))
    line = inspect.getsourcelines(factorial)[1] + 1
    with pytest.raises(fr.FunctorError, match=rf"factorial \(.*:{line}\), called by {fn.__name__}, uses recursion"):
        fr.compute(p, fr.Frontier.all(p.graph), fn)


def test_helpers_that_call_each_other(backend):
    """On cpu this was an error of LLVM's: symbols that it could not find."""

    def up(p, n):
        return down(p, n - 1) if n > 0 else p.x[0]

    def down(p, n):
        return up(p, n - 1) if n > 0 else 2

    def fn(p, v):
        p.x[v] = up(p, v)

    p = problem(backend(fr.path(5)))
    line = inspect.getsourcelines(up)[1] + 1
    with pytest.raises(fr.FunctorError, match=rf"up \(.*:{line}\), called by fn, uses recursion"):
        fr.compute(p, fr.Frontier.all(p.graph), fn)


# -- what is not refused ------------------------------------------------------------------------------------


def much(p, v):
    """All that functors may do."""
    a = b = v
    low, high = (v, 9) if v < 5 else (9, v)
    t = (*(low, high), a)
    f = lambda z: z + b
    for i, w in enumerate((1, 2)):
        if w in [1, 2] and v in (0, 1, 2) and 0 <= i < 3:
            p.x[v] += f(w) + max(*t) + min(1, *t) + t[1:][0]
    nothing = None
    match v:
        case 0:
            p.x[v] += 1
        case 1 | 2:
            p.x[v] += 2
        case _:
            p.x[v] += 3 if nothing is None else 4
    while p.x[v] > 100:
        p.x[v] -= 50
    p.real[v] = np.sqrt(v) + np.float64(3) / 2 + np.pi + abs(-1) + round(1.5) + pow(2, 2) + divmod(7, 2)[0] + len(t)
    p.x[v] += np.iinfo(np.int32).max - np.iinfo(np.int32).max + int(np.round(1.2))


def test_what_functors_may_do(agree):
    assert offences(much.__code__) == ()
    agree(fr.path(5), problem, lambda p: fr.compute(p, fr.Frontier.all(p.graph), much))


def looks(p, v):
    print(f"{v}", v, end="")
    if v > 100:
        raise ValueError(v)
    p.x[v] = v


def test_the_python_backend_lets_programs_be_looked_at(capsys):
    p = problem(fr.path(3).to("python"))
    fr.compute(p, fr.Frontier.all(p.graph), looks)
    assert p.x.tolist() == [0, 1, 2]
    assert "0 0" in capsys.readouterr().out
    q = problem(fr.path(3))
    with pytest.raises(fr.FunctorError, match=r"looks .*uses f-strings, which no functor can: `print` takes several"):
        fr.compute(q, fr.Frontier.all(q.graph), looks)


# -- values ------------------------------------------------------------------------------------------------


def forgotten(p, src):
    p.x[src] + 1


def sometimes(p, v):
    if v > 2:
        return v


def bare(p):
    if p.total > 2:
        return
    return 1


def never(p):
    p.total + 1


VALUES = {
    "gather": (lambda: fr.Gather(forgotten, "sum", into="x"), forgotten, 1, "Gather"),
    "reduce": (lambda: fr.Reduce(sometimes, "sum", into="total"), sometimes, 1, "Reduce"),
    "scan": (lambda: fr.Scan(sometimes, into="real"), sometimes, 1, "Scan"),
    "set": (lambda: fr.Set(total=bare), bare, 2, r"Set\(total=...\)"),
    "until": (lambda: fr.Loop(fr.Compute(much), until=never), never, 1, "until"),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_on_every_path(backend, name):
    step, fn, line, who = VALUES[name]
    p = problem(backend(fr.path(5)))
    line = rf"{fn.__name__} \(.*test_rules.py:{inspect.getsourcelines(fn)[1] + line}\) returns nothing on some path"
    with pytest.raises(fr.FunctorError, match=rf"{line}: {who} needs a number from every call"):
        step()(p, fr.Frontier.all(p.graph))


# -- names, by their own line -------------------------------------------------------------------------------


NAMES = [1, 2]
GRAPH = fr.path(3)


def misspelt(p, v):
    p.x[v] = 1
    p.y[v] = 2


def captured_list(p, v):
    p.x[v] = 1
    p.x[v] = NAMES[v]


def captured_graph(p, v):
    p.x[v] = 1
    p.x[v] = GRAPH.num_vertices


def unknown(p, v):
    p.x[v] = 1
    p.x[v] = nowhere  # noqa: F821


def sets_scalar(p, v):
    p.x[v] = 1
    p.total = v


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (misspelt, "no field 'y'; it has x, total, real"),
        (captured_list, "captures 'NAMES', of list, .*make it a tuple, or pass it in the Problem"),
        (captured_graph, "captures 'GRAPH', of Graph, .*: pass what it holds in the Problem"),
        (unknown, "name 'nowhere' is not defined"),
        (sets_scalar, "return the value and use Reduce"),
    ],
)
def test_mistakes_by_their_own_line(backend, fn, message):
    p = problem(backend(fr.path(5)))
    with pytest.raises(fr.FunctorError, match=message) as caught:
        fr.compute(p, fr.Frontier.all(p.graph), fn)
    assert f"test_rules.py:{inspect.getsourcelines(fn)[1] + 2})" in sole_line(str(caught.value))


# -- the docs -----------------------------------------------------------------------------------------------


def test_the_docs_list_the_rules():
    text = (Path(__file__).parents[1] / "docs" / "api" / "functors.md").read_text("utf-8")
    table = re.findall(r"^\| (.+?) \| (.+?) \|$", text.split("## What is refused")[1], re.M)
    assert [row for row in table if row in [(rule.what, rule.instead) for rule in RULES.values()]] == [
        (rule.what, rule.instead) for rule in RULES.values()
    ]


# -- whole fields, by one message on every backend -----------------------------------------------------------


def attribute(p, v):
    p.x[v] = p.x.sum()


def sliced(p, v):
    p.x[1:3] = 4


def two_indices(p, v):
    p.x[v, 0] = 4


def of_the_problem(p, v):
    p[v] = 4


def called(p, v):
    p.x(v)


def length(p, v):
    p.x[v] = len(p.x)


def walked(p, v):
    for u in p.x:
        p.x[v] += u


def indexed_scalar(p, v):
    p.x[v] = p.total[0]


def of_the_graph(p, v):
    p.x[v] = p.graph.num_vertices


def on_the_host(p, v):
    fr.bfs(p, v)


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (attribute, r"p\.x\.sum: functors use a field one element at a time"),
        (sliced, r"p\.x\[...\] with a slice or several indices: functors use a field"),
        (two_indices, r"p\.x\[...\] with several indices: it has one value each, p\.x\[v\]"),
        (of_the_problem, r"p\[...\]: functors use a field one element at a time, p\.name\[index\]"),
        (called, r"p\.x\(...\): functors use a field"),
        (length, r"len\(p\.x\): functors use a field"),
        (walked, r"for ... in p\.x: functors use a field"),
        (indexed_scalar, r"p\.total\[...\]: p\.total is a scalar, without an index"),
        (of_the_graph, r"no field 'graph'; functors read the graph by fr\.neighbours"),
        (on_the_host, "calls bfs, which no functor can: it runs on the host"),
    ],
)
def test_whole_fields(backend, fn, message):
    p = problem(backend(fr.path(5)))
    first = inspect.getsourcelines(fn)[1]
    with pytest.raises(fr.FunctorError, match=message) as caught:
        fr.compute(p, fr.Frontier.all(p.graph), fn)
    assert re.search(rf"{fn.__name__} \(.*test_rules\.py:({first + 1}|{first + 2})\)", sole_line(str(caught.value)))
