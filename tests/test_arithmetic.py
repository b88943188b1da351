"""Arithmetic of functors: NumPy's, and the same on every backend; see docs/arithmetic.md.

Every operator meets every pair of types and all values that are special. Few functors are compiled: values come from
arrays, and the results of all operators of a pair go into one array each of floats and of integers.
"""

from __future__ import annotations

import linecache
import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from compare import equal

import frontier as fr
from frontier.memory.arrays import to_host

BIG = 2**63 - 1
VALUES = {
    "int64": [0, 1, -1, 2, -3, 7, 63, 64, 70, -70, 2**31, 2**53 + 1, BIG, -BIG - 1],
    "uint64": [0, 1, 3, 64, 2**53 + 1, 2**63, 2**64 - 1],
    "float64": [0.0, -0.0, 0.1, -0.1, 1.0, -2.5, 0.3, 7.0, 1e30, 1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan],
    "float32": [0.0, -0.0, 0.1, -0.1, 1.0, -2.5, 0.3, 7.0, 1e30, -3e38, 1e-45, np.inf, -np.inf, np.nan],
    "bool": [True, False],
}
ARITHMETIC = ("+", "-", "*", "/", "//", "%")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
BITS = ("&", "|", "^", "<<", ">>")

#: How an operand of some name is written: an entry of an array, perhaps in a narrower type, or a number of the code.
OPERANDS = {
    **{name: f"p.{{}}_{name}[{{}}]" for name in VALUES},
    **{name: f"np.{name}(p.{{}}_int64[{{}}])" for name in ("int32", "int8", "uint8")},
    "half": "0.1", "three": "3", "less": "(-2)", "zero": "0", "captured": "TENTH",
}  # fmt: skip
WHOLE = ("int64", "int32", "int8", "uint8", "uint64", "three", "less", "zero")

PAIRS = [
    ("int64", "int64"), ("float64", "float64"), ("float32", "float32"), ("uint64", "uint64"), ("int32", "int32"),
    ("int8", "int8"), ("uint8", "uint8"), ("int8", "int64"), ("int32", "int8"), ("int64", "float64"),
    ("float64", "int64"), ("int64", "float32"), ("float32", "int64"), ("float32", "float64"), ("uint64", "int64"),
    ("uint64", "float32"), ("bool", "int64"), ("bool", "float32"), ("float64", "bool"), ("float32", "half"),
    ("half", "float32"), ("float32", "three"), ("zero", "float32"), ("float32", "zero"), ("int64", "three"),
    ("less", "int64"), ("int64", "less"), ("int64", "zero"), ("int64", "half"), ("uint64", "three"), ("int32", "three"),
    ("int8", "half"), ("float32", "captured"), ("bool", "half"), ("int32", "float32"),
]  # fmt: skip


def operators(first: str, second: str) -> list[str]:
    """Those that NumPy has for two types."""
    whole = first in WHOLE and second in WHOLE
    mixed = {first, second} >= {"uint64"} and len({first, second} & {"int64", "int32", "int8", "less"}) > 0
    narrow = all(name in ("int8", "uint8", "bool") for name in (first, second))  # whose quotient is a float16
    some = [one for one in ARITHMETIC if not (one == "/" and narrow)]
    return [*some, *COMPARISONS, *(BITS if whole and not mixed else ())]


def is_whole(first: str, second: str, operator: str) -> bool:
    if operator in COMPARISONS:
        return True
    uneven = {first, second} >= {"uint64", "int64"}
    return operator != "/" and all(name in (*WHOLE, "bool") for name in (first, second)) and not uneven


def function(body: list[str]) -> Any:
    """A functor of ``i`` with these lines."""
    text = "\n".join(["def fn(p, i):", *("    " + line for line in body)])
    name = f"<arithmetic {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"np": np, "fr": fr, "TENTH": 0.1}
    exec(compile(text, name, "exec"), names)
    return names["fn"]


def problem(g: fr.Graph, first: list[Any], second: list[Any], rows: int) -> fr.Problem:
    """Arrays of all pairs of values, and for results."""
    count = len(first) * len(second)
    pairs = list(product(first, second))
    fields: dict[str, fr.Field] = {}
    for side in (0, 1):
        kind = "uint64" if any(type(pair[side]) is int and pair[side] > BIG for pair in pairs) else None
        values = [pair[side] for pair in pairs]
        for name in VALUES:
            with np.errstate(all="ignore"):
                made = np.array(values, kind).astype(name)
            fields[f"{'xy'[side]}_{name}"] = fr.array(made)
    fields["real"] = fr.array(np.zeros(rows * count))
    fields["whole"] = fr.array(np.zeros(rows * count, np.int64))
    return fr.Problem(g, **fields)


def values_of(name: str) -> list[Any]:
    return VALUES["int64"] if name in ("int32", "int8", "uint8") else VALUES.get(name, [0])


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_operators(agree, pair):
    first, second = (OPERANDS[name].format(side, "i") for name, side in zip(pair, "xy", strict=True))
    given = [values_of(name) for name in pair]
    count = len(given[0]) * len(given[1])
    body = [f"a, b = {first}, {second}"] if not {"half", "three", "less", "zero", "captured"} & {*pair} else []
    x, y = ("a", "b") if body else (first, second)
    made = operators(*pair)
    for row, operator in enumerate(made):
        at = f"i + {row * count}"
        if is_whole(*pair, operator):
            body.append(f"p.whole[{at}] = np.int64({x} {operator} {y})")
        else:
            body.append(f"p.real[{at}] = {x} {operator} {y}")
    step = fr.Compute(function(body), over=count)
    agree(fr.path(1), lambda g: problem(g, *given, len(made)), lambda p: step(p))


UNARY = {
    "int64": ["-x", "abs(x)", "~x", "int(x)", "float(x)", "round(x)", "x ** 3", "2 ** (x & 7)", "x ** (x & 15)",
              "pow(x, 3)", "pow(2, x & 7)", "divmod(x, 7)[0]", "divmod(x, -1)[1]"],
    "uint64": ["abs(x)", "~x", "float(x)"],
    "float64": ["-x", "abs(x)", "int(x)", "round(x)", "math.floor(x)", "math.ceil(x)", "math.trunc(x)", "np.floor(x)",
                "math.sqrt(x)", "x * 0.5 + 1", "min(x, 0.5)", "max(0.5, x)", "max(x, 1, 0.25)", "np.int64(x)",
                "math.fabs(x)", "math.copysign(x, -1.0)", "math.isnan(x)", "math.isinf(x)", "pow(x, 2)",
                "divmod(x, 3)[0]", "divmod(x, 3)[1]", "(x * 0.5, 2.5)[0] * 0.1"],
    "bool": ["~x", "not x", "x & True", "x ^ True", "x + 1", "x * 0.5", "int(x) + int(x)", "x and 3"],
}  # fmt: skip
UNARY["float32"] = [*UNARY["float64"], "(x + 1) / 3", "(1 - x) * 0.1 - 0.3", "x == 0.1", "x < 0.1", "x * math.pi",
                    "np.minimum(x, 0.1)", "float(x) * 0.1", "divided(x, 3)"]  # fmt: skip


ROUNDED = ("math.floor(x)", "math.ceil(x) % 7", "math.trunc(x)", "math.floor(0.5) + math.ceil(v / 2)")


@pytest.mark.parametrize("text", ROUNDED)
def test_what_floor_gives_goes_where_integers_go(agree, text):
    """As a functor's value, an index, an operand of atomics and hashes: numba-cuda's own gives floats."""
    fn = function([
        "v = i", "x = p.real[i]", f"k = {text}", "fr.atomic_add(p.whole, i, k)", f"p.whole[({text}) & 1] += 0",
        f"fr.atomic_max(p.whole, i, fr.hash({text}) % 9)", f"return {text}",
    ])  # fmt: skip
    fn.__globals__.update(math=math, fr=fr)

    def made(g):
        return fr.Problem(
            g, real=fr.array([-2.5, 1.5, 7.0, 0.25]), whole=fr.array(np.zeros(4, np.int64)), found=fr.scalar("int64")
        )

    agree(fr.path(1), made, lambda p: fr.Reduce(fn, "max", "found", over=4)(p))


def powers(p, v):
    p.real[v] = math.pow(v - 2, -1)


def test_math_pow_computes_with_floats(agree):
    agree(
        fr.path(5), lambda g: fr.Problem(g, real=fr.vertex("float64")),
        lambda p: fr.compute(p, fr.Frontier.all(p.graph), powers),
    )  # fmt: skip


def hashes_half(p, v):
    p.whole[v] = fr.hash(v / 2)


def draws_by_half(p, v):
    p.whole[v] = int(fr.random(v / 2, 1))


@pytest.mark.parametrize("fn", [hashes_half, draws_by_half])
def test_hashes_and_random_numbers_are_of_integers(backend, fn):
    p = fr.Problem(backend(fr.path(3)), whole=fr.vertex("int64"))
    with pytest.raises(fr.FunctorError, match=r"takes (an integer|two integers)"):
        fr.compute(p, fr.Frontier.all(p.graph), fn)


def divided(x, y):
    return x / y


@pytest.mark.parametrize("name", UNARY)
def test_functions(agree, name):
    given = VALUES[name]
    body = [f"x = p.x_{name}[i]"]
    for row, text in enumerate(UNARY[name]):
        whole = name == "bool" or (name == "int64" and "float" not in text) or (name == "uint64" and "~" in text)
        array = "whole" if text.startswith(("int", "round", "math.is", "np.int")) or whole else "real"
        whole_made = f"int({text})" if array == "whole" and "0.5" not in text else text
        if "0.5" in text and name == "bool":
            array = "real"
        body.append(f"p.{array}[i + {row * len(given)}] = {whole_made}")
    fn = function(body)
    fn.__globals__.update(math=math, divided=divided)
    step = fr.Compute(fn, over=len(given))
    agree(fr.path(1), lambda g: problem(g, given, [0], len(UNARY[name])), lambda p: step(p))


# -- what the types of variables are ------------------------------------------------------------------------


def accumulate_edges(p, v):
    total = 0.0
    for j in range(v):
        total += p.w[j] * 0.1
    p.d[v] = total


def relaxed(p, src, dst):
    new = p.w[src] + 0.1
    if new < p.w[dst]:
        fr.atomic_min(p.w, dst, new)
        return True
    return False


def weighted(p, v):
    parts = (0.1, 0.2)
    for part in parts:
        p.w[v] += p.w[v] * part


def factorials(p, v):
    made = 1
    for j in range(1, 60 + v):
        made *= j
    p.x[v] = made


def narrow(p, v):
    p.x[v] = np.int32(2**31 - 1) + np.int32(v) + (p.n[v] << 40) + abs(p.n[v]) * 3


def problem_of_numbers(g):
    return fr.Problem(
        g, w=fr.vertex("float32", np.arange(g.num_vertices) * 0.7), d=fr.vertex("float64"), x=fr.vertex("int64"),
        n=fr.vertex("int32", np.arange(g.num_vertices) - 3),
    )  # fmt: skip


RELAX = fr.Loop(fr.Advance(relaxed), over="vertices", max_steps=50)


@pytest.mark.parametrize("fn", [accumulate_edges, weighted, factorials, narrow], ids=lambda fn: fn.__name__)
def test_variables(agree, fn):
    step = fr.Compute(fn, over="vertices")
    agree(fr.path(12), problem_of_numbers, lambda p: step(p))


def test_a_comparison_of_float32_ends(agree):
    """In float64 the sum is less than what has been stored of it, again and again."""
    agree(fr.complete(9), problem_of_numbers, lambda p: RELAX(p))


# -- reductions --------------------------------------------------------------------------------------------


def real(p, v):
    return p.d[v]


def of_neighbour(p, src):
    return p.d[src]


def large(p, v):
    return BIG


ODD = [np.nan, 1.0, -np.inf, np.nan, 0.5, np.inf, np.nan]


def problem_of_odd(g):
    return fr.Problem(
        g, d=fr.vertex("float64", np.resize(ODD, g.num_vertices)), low=fr.vertex("float64", 3.0),
        high=fr.vertex("float32", -3.0), least=fr.vertex("float32"), greatest=fr.vertex("float64"),
        bottom=fr.scalar("float64"), top=fr.scalar("float32"), total=fr.scalar("int64"),
    )  # fmt: skip


def extremes(p, src, dst):
    fr.atomic_min(p.low, dst, p.d[src])
    fr.atomic_max(p.high, dst, p.d[src])


EXTREMES = fr.Sequence(
    fr.Reduce(real, "min", into="bottom"), fr.Reduce(real, "max", into="top"), fr.Reduce(large, "sum", into="total"),
    fr.Gather(of_neighbour, "min", into="least"), fr.Gather(of_neighbour, "max", into="greatest"),
    fr.Advance(extremes, output=None), over="vertices",
)  # fmt: skip


@pytest.mark.parametrize("count", [1, 3])
def test_nan_is_no_value_and_sums_wrap(agree, count):
    p, _ = agree(fr.complete(7), problem_of_odd, lambda p: EXTREMES(p), count)
    assert p.bottom == -np.inf
    assert p.top == np.inf
    assert p.total == 7 * BIG - 2**64 * 3
    equal(p.low, [-np.inf] * 2 + [0.5] + [-np.inf] * 4)


def overflows(p, v):
    x = p.x[v]
    y = np.int32(x)
    p.more[v] = x + 1 > x
    p.less[v] = x - 10 < x
    p.square[v] = x * x % 200000
    p.power[v] = x**2 % 200000
    p.size[v] = abs(x * x)
    p.half[v] = x * 2 // 2
    p.narrow[v] = y + np.int32(1) > y
    p.product[v] = y * y % np.int32(1000)
    total = 0
    for _ in range(3):
        total += x
    p.third[v] = total // 3


def test_integers_that_overflow_wrap(backend):
    """Nothing is concluded from sums, differences and products having no overflow."""
    x = np.array([BIG, -BIG - 1, 2**62 + 1, 3037000500, 2**40, 2**31 - 1, -7])
    fields = ("more", "less", "square", "power", "size", "half", "narrow", "product", "third")
    p = fr.Problem(backend(fr.path(len(x))), x=fr.vertex("int64"), **dict.fromkeys(fields, fr.vertex("int64")))
    p.x[:] = p.graph.placement.memory.moved(x)
    with np.errstate(over="ignore"):
        fr.Compute(overflows, over="vertices")(p)
        y, one = x.astype(np.int32), np.int32(1)
        expected = {
            "more": x + 1 > x, "less": x - 10 < x, "square": x * x % 200000, "power": x * x % 200000,
            "size": abs(x * x), "half": x * 2 // 2, "narrow": y + one > y, "product": y * y % np.int32(1000),
            "third": (x + x + x) // 3,
        }  # fmt: skip
    for field, values in expected.items():
        np.testing.assert_array_equal(to_host(p.arrays[field]), values, err_msg=field)


def summed(p, v):
    return p.x[v] + (p.flag[v] + p.flag[v])


def negative(p, v):
    return -p.flag[v]


@pytest.mark.parametrize("fn", [summed, negative], ids=lambda fn: fn.__name__)

def test_bools_do_not_add_up(backend, fn):
    p = fr.Problem(backend(fr.path(3)), x=fr.vertex("int64"), flag=fr.vertex("bool", True), total=fr.scalar("int64"))
    with pytest.raises(fr.FunctorError, match=fn.__name__):
        fr.reduce(p, fr.Frontier.all(p.graph), fn, "sum", into="total")
