"""Reductions from outside the package: products, gcds, bits and sums of exponentials, registered by their users."""

from __future__ import annotations

import functools
import math
import subprocess
import sys

import numpy as np
import pytest
from compare import at, host, workers
from hypothesis import given
from hypothesis import strategies as st
from processes import environment
from strategies import frontiers, graphs

import frontier as fr
from frontier.operators.shared.reductions import REDUCTIONS, Reduction
from frontier.program.execution import run

TABLE = (1, 2, 3)
LIMIT = 5
COUNTS = (1, 2, 4)


def gcd(total, value):
    while value != 0:
        total, value = value, total % value
    return abs(total)


def larger(total, value):
    """Of which the magnitude is: a helper is compiled with what calls it."""
    return max(abs(total), abs(value))


def log_sum_exp(total, value):
    most = max(total, value)
    if most == -np.inf:
        return most
    return most + math.log(math.exp(total - most) + math.exp(value - most))


def all_bits(dtype):
    return 1 if dtype.kind == "b" else -1 if dtype.kind == "i" else np.iinfo(dtype).max


@pytest.fixture(autouse=True)
def outside():
    """Registered as users do; gone after the test."""
    fr.register_reduction("prod", lambda total, value: total * value, identity=1)
    fr.register_reduction("xor", lambda total, value: total ^ value, identity=0, truth=True, exact="biuf")
    fr.register_reduction("and_bits", lambda total, value: total & value, identity=all_bits, kinds="biu")
    fr.register_reduction("gcd", gcd, identity=0, kinds="iu")
    fr.register_reduction("magnitude", lambda t, v: larger(t, v), identity=0, exact="biuf")
    fr.register_reduction("log_sum_exp", log_sum_exp, identity=-np.inf, kinds="f")
    fr.register_reduction("capped", lambda total, value: min(max(total, value), LIMIT), identity=0)
    fr.register_reduction("raising", lambda t, v: max(t, v) + 0 * TABLE[int(max(t, v)) // 1000], identity=0)


#: Reduction -> dtypes of fields into which it is made, and what NumPy makes of the values.
OPS = {
    "prod": (("int64", "uint64", "float64"), np.multiply.reduce),
    "xor": (("bool", "int8", "float32"), lambda values: np.count_nonzero(values) % 2),
    "and_bits": (("int32", "uint64", "bool"), np.bitwise_and.reduce),
    "gcd": (("int64", "uint8"), np.gcd.reduce),
    "magnitude": (("int32", "float32", "float64"), lambda values: np.abs(values).max(initial=0)),
}


def problem(g):
    n = g.num_vertices
    scalars = {f"s_{op}_{dtype}": fr.scalar(dtype) for op, (dtypes, _) in OPS.items() for dtype in dtypes}
    fields = {f"o_{op}_{dtype}": fr.vertex(dtype, 1) for op, (dtypes, _) in OPS.items() for dtype in dtypes}
    return fr.Problem(
        g, value=fr.vertex("int32", np.arange(n) * 5 % 17 - 3), flag=fr.vertex("bool", np.arange(n) % 3 > 0),
        real=fr.vertex("float64", np.arange(n) * 0.37 % 3 - 1), total=fr.scalar("float64"), each=fr.vertex("float64"),
        small=fr.scalar("uint8"), **scalars, **fields,
    )  # fmt: skip


def even(p, v):
    return p.value[v] * 2


def far_value(p, src, dst):
    return p.value[src] * 3 + p.value[dst] % 5


def positive(p, v):
    return p.value[v] * 6 % 31


def far_positive(p, src, dst):
    return (p.value[src] * 6 + p.value[dst]) % 31


def flag(p, v):
    return p.flag[v]


def far_flag(p, dst):
    return p.flag[dst]


def open_end(p, src):
    return p.flag[src]


def corner(p, u, v, w):
    return p.value[w] + p.value[u] % 3


#: Values that fields hold: of unsigned ones and of bools not all.
KINDS = {"b": (flag, far_flag), "u": (positive, far_positive), "i": (even, far_value), "f": (even, far_value)}


@functools.cache
def steps(op: str) -> fr.Sequence:
    """All that reduces, into every dtype; sums of floats would differ in their last bits."""
    made = []
    for dtype in OPS[op][0]:
        near, far = KINDS[np.dtype(dtype).kind]
        edges, where = ("out", None) if far is far_flag else ("in", open_end if dtype == "int64" else None)
        made.append(fr.Reduce(near, op, into=f"s_{op}_{dtype}"))
        made.append(fr.Gather(far, op, into=f"o_{op}_{dtype}", edges=edges, where=where))
    return fr.Sequence(*made)


@pytest.mark.parametrize("op", OPS)
@given(st.data())
def test_backends_agree(agree, op, data):
    g = data.draw(graphs(weights=None))
    f = data.draw(frontiers(g))
    p, result = agree(g, problem, lambda p: steps(op)(p, at(p, f)), data.draw(st.sampled_from(COUNTS)))
    assert result == f
    for dtype in OPS[op][0]:
        functor, made = KINDS[np.dtype(dtype).kind][0], getattr(p, f"s_{op}_{dtype}")
        values = np.array([functor(p, v) for v in f.ids], np.float64 if "float" in dtype else dtype)
        with np.errstate(over="ignore"):
            assert made == OPS[op][1](values)
        assert made.dtype == dtype
        beside = np.setdiff1d(np.arange(g.num_vertices), f.ids)
        assert (getattr(p, f"o_{op}_{dtype}")[beside] == 1).all()


@functools.cache
def corners(op: str, dtype: str) -> fr.Step:
    return fr.Intersect(corner, op, into=f"s_{op}_{dtype}")


@pytest.mark.parametrize(("op", "dtype"), [("prod", "int64"), ("gcd", "int64"), ("magnitude", "float64")])
@given(st.data())
def test_common_neighbours(agree, op, dtype, data):
    g = data.draw(graphs(weights=None))
    f = data.draw(frontiers(g, "edge"))
    agree(g, problem, lambda p: corners(op, dtype)(p, at(p, f)), data.draw(st.sampled_from(COUNTS)))


def real_value(p, v):
    return p.real[v]


def real_far(p, src):
    return p.real[src]


@pytest.mark.parametrize("count", COUNTS)
def test_sums_of_exponentials(compiled, count):
    """Whose bits depend on the order: with one number of threads it is the same in every run."""
    g = fr.rmat(7, 4, seed=1)
    found = []
    for where in (g.to("python"), compiled(g), compiled(g)):
        p = problem(where)
        with workers(count):
            fr.Reduce(real_value, "log_sum_exp", into="total", over="vertices")(p)
            fr.Gather(real_far, "log_sum_exp", into="each", over="vertices")(p)
        found.append((float(p.total), host(p).each))
    np.testing.assert_allclose(found[0][0], np.log(np.exp(host(p).real).sum()), rtol=1e-12)
    for total, each in found[1:]:
        np.testing.assert_allclose(total, found[0][0], rtol=1e-12)
        np.testing.assert_allclose(each, found[0][1], rtol=1e-12)
        if compiled.name == "cpu":
            assert np.array_equal(each, found[0][1]), "a vertex's edges come in their order"
    assert found[1][0] == found[2][0]
    assert np.array_equal(found[1][1], found[2][1])
    assert (found[0][1] == -np.inf).any(), "no edges give the identity"


@pytest.mark.parametrize("count", COUNTS)
def test_it_runs_in_a_loop_beside_others(agree, count):
    """A product of what the passes before have left, and where it is read."""

    def grow(p, v):
        p.value[v] = p.value[v] + 1

    loop = fr.Loop(
        fr.Compute(grow), fr.Reduce(positive, "gcd", into="s_gcd_int64"), fr.Reduce(even, "sum", into="total"),
        until=lambda p: p.s_gcd_int64 > 1, times=30, over="vertices",
    )  # fmt: skip
    agree(fr.path(1), problem, lambda p: loop(p), count)
    agree(fr.grid(5, 5), problem, lambda p: loop(p), count)


@pytest.mark.parametrize("count", COUNTS[:2])
def test_it_goes_on_after_every_phase(compiled, count):
    """Where the loop function leaves between the phases of a reduction."""
    p = problem(compiled(fr.grid(6, 6)))
    program = fr.Sequence(
        fr.Reduce(even, "prod", into="s_prod_float64"), fr.Reduce(even, "gcd", into="s_gcd_int64"), over="vertices"
    )
    with workers(count):
        run(program, p, schedule=fr.Schedule(fuse=False))
    values = np.arange(36) * 5 % 17 - 3
    assert p.s_gcd_int64 == 2
    assert p.s_prod_float64 == np.multiply.reduce(values * 2.0)


@pytest.mark.parametrize("op", ["prod", "gcd", "magnitude"])
@pytest.mark.parametrize("count", COUNTS[:2])
def test_lists_of_all_lengths(agree, op, count):
    """Which a GPU gives to lanes, to warps, two at once, and to blocks."""
    sizes = (0, 1, 5, 17, 30, 31, 40, 60, 70, 150, 1100)
    far = np.concatenate([np.arange(size) for size in sizes])
    near = np.repeat(np.arange(len(sizes)), sizes)
    g = fr.from_edges(far + len(sizes), near, num_vertices=len(sizes) + max(sizes), directed=True)
    for fn in (far_value, far_positive):
        step = fr.Gather(fn, op, into=f"o_{op}_int64" if op != "magnitude" else "o_magnitude_float64", over="vertices")
        agree(g, problem, lambda p, step=step: step(p) and None, count)


# ---- what is compiled is what it is now -----------------------------------------------------------------------


def test_a_changed_combination_never_runs_old_code(backend, monkeypatch):
    p = problem(backend(fr.path(100)))
    step = fr.Reduce(positive, "capped", into="s_gcd_int64", over="vertices")
    found = []
    for limit in (5, 7, 5):
        monkeypatch.setitem(globals(), "LIMIT", limit)
        step(p)
        found.append(int(p.s_gcd_int64))
    assert found == [5, 7, 5]


def test_a_name_means_what_it_meant_when_the_step_was_made(backend):
    p = problem(backend(fr.path(5)))
    found = []
    for factor in (1, 2):
        fr.register_reduction("scaled", scaled(factor), identity=0)
        found.append(fr.Reduce(positive, "scaled", into="s_gcd_int64", over="vertices"))
    made = []
    for step in (*found, found[0]):
        step(p)
        made.append(int(p.s_gcd_int64))
    assert made[0] == made[2] != made[1]
    assert found[0].key() != found[1].key()


def scaled(factor):
    """What captures a constant."""

    def combine(total, value):
        return factor * total + factor * value if total and value else total + value

    return combine


def test_another_process_finds_the_code(tmp_path):
    """By what the combination is: another one is compiled."""
    text = """if True:
        import sys
        import frontier as fr
        fr.register_reduction("made", lambda total, value: total {} value, identity=1)
        p = fr.Problem(fr.path(4), total=fr.scalar("int64"))
        with fr.trace() as trace:
            fr.Reduce(lambda p, v: v + 1, "made", into="total", over="vertices")(p)
        print(int(p.total), "numba" in sys.modules)
    """
    said = []
    for sign in ("*", "*", "|"):
        command = [sys.executable, "-c", text.format(sign)]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment(FRONTIER_CACHE_DIR=str(tmp_path)), check=True
        )
        said.append(done.stdout.split())
    assert [first for first, _ in said] == ["24", "24", "7"]
    assert [imported for _, imported in said] == ["True", "False", "True"]


# ---- what goes wrong ---------------------------------------------------------------------------------------------


def large(p, v):
    return v + 2700


def far_large(p, src):
    return src + 2700


def all_but_large(p, v):
    return 1999 if v else 1


@pytest.mark.parametrize("count", COUNTS)
def test_a_combination_that_raises_ends_the_run(compiled, count):
    g = fr.grid(20, 20)
    with workers(count):
        p = problem(compiled(g))
        for step in (
            fr.Reduce(large, "raising", into="s_gcd_int64", over="vertices"),
            fr.Reduce(large, "raising", into="total", over="vertices"),
            fr.Gather(far_large, "raising", into="o_gcd_int64", over="vertices"),
        ):
            with pytest.raises(fr.FunctorError, match=r"<lambda> \(.*test_registered.*\) raised (IndexError|an exc)"):
                step(p)
        fr.Reduce(all_but_large, "raising", into="s_gcd_int64", over="vertices")(p)
        assert p.s_gcd_int64 == 1999, "the next run is as good as ever"
    with pytest.raises(IndexError):
        fr.Reduce(large, "raising", into="s_gcd_int64", over="vertices")(problem(g.to("python")))


@pytest.mark.parametrize("count", COUNTS[1:])
def test_one_that_raises_where_results_come_together(compiled, count):
    """Only there are two numbers so large."""
    fr.register_reduction("picky", lambda t, v: t + v + 0 * TABLE[2 + int(t > 300 and v > 300)], identity=0)
    p = problem(compiled(fr.path(64 * count)))
    with workers(count):
        with pytest.raises(fr.FunctorError, match=r"raised (IndexError|an exception)"):
            fr.Reduce(positive, "picky", into="s_gcd_int64", over="vertices")(p)
        fr.Reduce(positive, "sum", into="s_gcd_int64", over="vertices")(p)
    assert p.s_gcd_int64 > 600


def one_is_heavy(p, v):
    return 1000 if v == p.limit else 0


def a_heavy_end(p, src):
    return 1000 if src == p.limit else 0


@pytest.mark.parametrize("sizes", [(3, 20, 50, 1100), (1, 3, 7, 8)])
def test_no_value_is_combined_with_itself(compiled, sizes):
    """Lanes of a GPU whose result nobody reads must not call what may raise: twice the total is too large."""
    fr.register_reduction("exact", lambda t, v: t + v + 0 * TABLE[3 * int(t + v > 1000)], identity=0)
    g = compiled(fr.from_edges(
        np.concatenate([np.arange(size) for size in sizes]), np.repeat(np.arange(len(sizes)), sizes), directed=True
    ))  # fmt: skip
    p = fr.Problem(g, limit=fr.scalar("int64"), total=fr.scalar("int64"), each=fr.vertex("float64"))
    reduce = fr.Reduce(one_is_heavy, "exact", into="total", over="vertices")
    gather = fr.Gather(a_heavy_end, "exact", into="each", over="vertices")
    for count in COUNTS[:2]:
        for limit in sorted({0, 2, 7, 19, 31, 49, 1000} & set(range(max(sizes)))):
            p.limit = limit
            with workers(count):
                reduce(p)
                gather(p)
            assert p.total == 1000
            assert host(p).each[: len(sizes)].tolist() == [1000.0 * (limit < size) for size in sizes]


def test_it_is_explained():
    text = fr.Reduce(even, "prod", into="s_prod_int64", over="vertices").explain(problem(fr.path(3).to("cpu")))
    assert "reduce: prod" in text
    assert "p.s_prod_int64 = the threads' results, combined" in text


ARRAY = np.ones(3)


def from_an_array(total, value):
    return total + ARRAY[0] * value


@pytest.mark.parametrize(
    ("name", "combine", "options", "said"),
    [
        ("sum", gcd, {}, "cannot be called 'sum': it takes an identifier that no shipped reduction has"),
        ("argmin", gcd, {}, "cannot be called 'argmin'"),
        ("a b", gcd, {}, "cannot be called 'a b'"),
        (3, gcd, {}, "cannot be called 3"),
        ("x", max, {}, "combine is a plain Python function, not builtin_function_or_method"),
        ("x", np.maximum, {}, "combine is a plain Python function, not ufunc"),
        ("x", lambda a: a, {}, r"<lambda> \(.*\): it takes two plain arguments"),
        ("x", lambda a, b, c: a, {}, "it takes two plain arguments"),
        ("x", lambda a, b=1: a, {}, "it takes two plain arguments"),
        ("x", lambda a, *b: a, {}, "it takes two plain arguments"),
        ("x", from_an_array, {}, "from_an_array .* captures the array 'ARRAY'"),
        ("x", gcd, {"identity": -1}, "is -1, which bool cannot hold: .* leave 'b' out of kinds="),
        ("x", gcd, {"identity": -1, "kinds": "iu"}, "is -1, which uint64 cannot hold"),
        ("x", gcd, {"identity": np.inf, "kinds": "if"}, "is inf, which int64 cannot hold"),
        ("x", gcd, {"identity": 0.5, "kinds": "i"}, "is 0.5, which int64 cannot hold"),
        ("x", gcd, {"identity": lambda dtype: 300, "kinds": "u"}, "is 300, which uint8 cannot hold"),
        ("x", gcd, {"identity": lambda dtype: np.iinfo(dtype).max}, "for bool: ValueError: .*leave 'b' out of kinds="),
        ("x", gcd, {"identity": "0"}, "identity='0'.: a number, or a function of a dtype"),
        ("x", gcd, {"kinds": "c"}, "kinds='c'.: some letters of 'biuf'"),
        ("x", gcd, {"kinds": ""}, "kinds=''"),
        ("x", gcd, {"exact": 3}, "exact=3"),
    ],
)
def test_what_cannot_be_registered(name, combine, options, said):
    with pytest.raises(fr.FrontierError, match=said) as caught:
        fr.register_reduction(name, combine, **{"identity": 0} | options)
    assert "\n" not in str(caught.value)


def sometimes(total, value):
    if total > 3:
        return total


def halves(total, value):
    return total + value if value == 0 else (total + value) / 2


@pytest.mark.parametrize(
    ("combine", "options", "into", "said"),
    [
        (lambda a, b: (a + b) / 2, {}, "s_gcd_int64", "gave 0.0 of 0 and 0: a float does not go into integers"),
        (halves, {}, "s_gcd_int64", "halves .*: a float does not go into integers"),
        (lambda a, b: a + b + 1, {}, "s_gcd_int64", "makes 1 of 0 and 0, which is the identity of 'wrong'"),
        (lambda a, b: np.log(np.exp(a) + np.exp(b)) + (a - b), {"identity": -np.inf, "kinds": "f"}, "total",
         "makes nan of -inf and -inf"),
        (lambda a, b: None, {}, "total", "returns nothing on some path"),
        (sometimes, {}, "total", r"sometimes .* returns nothing on some path: Reduce needs a number"),
        (lambda a, b: (a, b), {}, "total", "what combines two numbers gives one number"),
        (lambda a, b: [a][0], {}, "total", "uses lists"),
        (lambda a, b: a + undefined, {}, "total", "'undefined' is not defined"),  # noqa: F821
        (gcd, {"identity": 300, "kinds": "iu"}, "small", "holds uint8, which cannot hold the identity of wrong"),
        (gcd, {"kinds": "iu"}, "total", "wrong needs integers"),
        (gcd, {"kinds": "b"}, "total", "wrong needs bools"),
    ],
)  # fmt: skip
def test_what_a_step_refuses(backend, combine, options, into, said):
    fr.register_reduction("wrong", combine, **{"identity": 0} | options)
    p = problem(backend(fr.path(5)))
    with pytest.raises(fr.FrontierError, match=said) as caught:
        fr.Reduce(even, "wrong", into=into, over="vertices")(p)
    assert "\n" not in str(caught.value)


def test_an_unknown_name_lists_what_there_is():
    with pytest.raises(fr.FrontierError, match=r"Reduce\(op='product'\): choose from sum, .*, or, prod, .*gcd"):
        fr.Reduce(even, "product", into="total")
    with pytest.raises(fr.FrontierError, match=r"Gather\(op='product'\): choose from .*, prod, .*, argmin, argmax"):
        fr.Gather(far_value, "product", into="each")
    with pytest.raises(fr.FrontierError, match=r"Intersect\(op=\['sum'\]\): choose from"):
        fr.Intersect(corner, ["sum"], into="total")


def bits(p, v):
    return 3 * v + 1


def far_bits(p, src, dst):
    return 3 * src + 1


def test_a_shipped_reduction_needs_no_operation_of_the_runtimes(backend, monkeypatch):
    """An entry of the table is enough: without ``runtime`` its combination is compiled, as users' are."""
    made = Reduction("parity", lambda total, value: total ^ value, lambda dtype: 0, "iu", "iu", takes="bits")
    monkeypatch.setitem(REDUCTIONS, "parity", made)
    g = fr.karate()
    p = fr.Problem(backend(g), total=fr.scalar("int64"), near=fr.vertex("uint8"))
    fr.Reduce(bits, "parity", into="total", over="vertices")(p)
    fr.Gather(far_bits, "parity", into="near", over="vertices")(p)
    values = 3 * np.arange(34) + 1
    lists = np.split(values[g.targets], g.offsets[1:-1])
    assert int(p.total) == np.bitwise_xor.reduce(values)
    assert host(p.near).tolist() == [np.bitwise_xor.reduce(each) for each in lists]
