"""Products over semirings, against SciPy's and against the definition edge by edge."""

from __future__ import annotations

import operator
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import oracles
import pytest
import scipy.sparse as sp
from compare import close, equal, workers
from conftest import Backend
from processes import environment
from strategies import random_graphs

import frontier as fr
from frontier.memory.arrays import to_host

#: The definition of multiplications: of x[u], the weight and u.
PRODUCTS = {
    "times": lambda x, w, u: x * w,
    "plus": lambda x, w, u: x + w,
    "min": lambda x, w, u: min(x, w),
    "max": lambda x, w, u: max(x, w),
    "and": lambda x, w, u: x != 0 and w != 0,
    "first": lambda x, w, u: x,
    "second": lambda x, w, u: w,
    "pair": lambda x, w, u: 1,
    "secondi": lambda x, w, u: u,
}

#: Of additions, of (value, far end) for each edge, with the value of no edges.
SUMS: dict[str, Any] = {
    "plus": lambda pairs: sum(value for value, _ in pairs),
    "min": lambda pairs: min((value for value, _ in pairs), default=2**63 - 1),
    "max": lambda pairs: max((value for value, _ in pairs), default=-(2**63)),
    "or": lambda pairs: int(np.bitwise_or.reduce([0, *(int(value) for value, _ in pairs)])),
    "and": lambda pairs: int(all(value for value, _ in pairs)),
    "argmin": lambda pairs: min(pairs, default=(0, -1))[1],
    "argmax": lambda pairs: max(((value, -u) for value, u in pairs), default=(0, 1))[1] * -1,
    "mode": lambda pairs: min(
        {value for value, _ in pairs},
        key=lambda value: (-[each for each, _ in pairs].count(value), value),
        default=-1,
    ),
}

NAMES = (
    "plus_times", "min_plus", "max_min", "or_and", "plus_first", "plus_second", "min_secondi", "min_max", "plus_pair",
    "and_first", "argmin_plus", "argmax_times", "mode_first", "max_plus",
)  # fmt: skip


def valued(name: str) -> bool:
    """Whether it takes a vector."""
    return name.rpartition("_")[2] not in ("second", "pair", "secondi")


def problem(g: fr.Graph) -> fr.Problem:
    n, slots = g.num_vertices, np.arange(g.num_slots)
    return fr.Problem(
        g,
        x=fr.vertex("int64", np.arange(n) * 37 % 5),
        other=fr.vertex("int32", np.arange(n) * 11 % 7 - 3),
        toll=fr.edge("int32", slots * 29 % 6),
        y=fr.vertex("int64", -99),
    )


def expected(p: Any, name: str, x: str | None, weights: Any, edges: str) -> list[int]:
    """The definition."""
    g = p.graph
    add, _, multiply = name.rpartition("_")
    near, far = (to_host(g.targets), to_host(g.sources))[:: 1 if edges == "in" else -1]
    values = to_host(getattr(p, x)).tolist() if x else [0] * g.num_vertices
    pairs: list[list[tuple[int, int]]] = [[] for _ in range(g.num_vertices)]
    for v, u, w in zip(near.tolist(), far.tolist(), to_host(weights).tolist(), strict=True):
        pairs[v].append((PRODUCTS[multiply](values[u], w, u), u))
    return [SUMS[add](each) for each in pairs]


@pytest.mark.parametrize("name", NAMES)
def test_products(backend: Backend, name: str) -> None:
    x = "x" if valued(name) else None
    step = fr.Gather(**fr.semiring(name, x), into="y", over="vertices")
    for g in random_graphs(25, seed=61, max_vertices=30, weights="int32", parallel=True):
        p = problem(backend(g))
        with workers(2):
            step(p)
        equal(p.y, expected(p, name, x, p.graph.weights, "in"))


@pytest.mark.parametrize("name", ["plus_times", "plus_second", "argmin_plus", "min_first"])
def test_other_fields_and_the_other_direction(backend: Backend, name: str) -> None:
    x, toll = "other" if valued(name) else None, None if name == "min_first" else "toll"
    given = fr.semiring(name, x, weight=toll, edges="out")
    assert given["edges"] == "out"
    step = fr.Gather(**given, into="y", over="vertices")
    for g in random_graphs(15, seed=62, max_vertices=30, weights=None, parallel=True):
        p = problem(backend(g))
        step(p)
        equal(p.y, expected(p, name, x, p.toll, "out"))


def test_products_of_matrices(backend: Backend) -> None:
    for place in (backend.name, "ranks:2", "ranks:3,python"):
        for g in random_graphs(5, seed=63, min_vertices=1, max_vertices=40, weights="float64", directed=True):
            matrix = sp.csr_array((g.weights, g.targets, g.offsets), shape=(g.num_vertices, g.num_vertices))
            vector = np.random.default_rng(4).random(g.num_vertices)
            p = fr.Problem(g.to(place), x=fr.vertex("float64", vector), y=fr.vertex("float64"))
            fr.Gather(**fr.semiring("plus_times", "x"), into="y", over="vertices")(p)
            close(p.y, matrix.T @ vector, rtol=1e-12)
            fr.gather(p, fr.Frontier.all(p.graph), **fr.semiring("plus_times", "x", edges="out"), into="y")
            close(p.y, matrix @ vector, rtol=1e-12)


@pytest.mark.parametrize("place", ["ranks:2", "ranks:2,python", "ranks:4,2x2"])
@pytest.mark.parametrize("name", ["plus_times", "min_plus", "or_and", "argmin_plus", "mode_first"])
def test_on_ranks(name: str, place: str) -> None:
    for g in random_graphs(4, seed=64, max_vertices=30, weights="int32", parallel=True):
        p = problem(g.to(place))
        fr.Gather(**fr.semiring(name, "x"), into="y", over="vertices")(p)
        equal(p.y, expected(p, name, "x", g.weights, "in"))


def test_a_registered_reduction(backend: Backend) -> None:
    fr.register_reduction("log_prod", lambda total, value: total * value, identity=1)
    g = backend(fr.from_edges([0, 1, 2], [3, 3, 3], [2, 3, 7], directed=True))
    p = fr.Problem(g, x=fr.vertex("int64", [1, 2, 3, 4]), y=fr.vertex("int64"))
    fr.Gather(**fr.semiring("log_prod_plus", "x"), into="y", over="vertices")(p)
    assert p.y.tolist() == [1, 1, 1, 3 * 5 * 10]


# ---- relax -------------------------------------------------------------------------------------------------


#: Initial value, that of the source, dtype, and the definition.
RELAXED: dict[str, tuple[Any, ...]] = {
    "min_plus": (np.inf, 0, "float64", np.minimum, operator.add),
    "max_min": (0, np.inf, "float32", np.maximum, np.minimum),
    "max_times": (0, 1, "float64", np.maximum, operator.mul),
    "min_max": (2**40, 0, "int64", np.minimum, np.maximum),
    "or_first": (0, 6, "int32", np.bitwise_or, lambda x, w: x),
    "max_and": (0, 1, "int64", np.maximum, lambda x, w: (x != 0) & (w != 0)),
}


def check_relaxing(name: str, edges: str, place: str, count: int) -> None:
    """Compare it with the definition on some graphs."""
    start, begin, dtype, best, product = RELAXED[name]
    weight = "toll" if name == "max_times" else None
    loop = fr.Loop(fr.Advance(**fr.relax(name, "best", weight=weight, edges=edges)), over="source")
    for g in random_graphs(count, seed=65, min_vertices=1, max_vertices=30, weights="int32"):
        source, chance = g.num_vertices // 2, np.arange(g.num_slots) % 7 / 6
        p = fr.Problem(
            g.to(place),
            best=fr.vertex(dtype, start),
            source=fr.scalar("int64", source),
            toll=fr.edge("float64", chance),
        )
        p.best[source] = begin
        with workers(2):
            loop(p)
        values = np.full(g.num_vertices, start, dtype)
        values[source] = begin
        src, dst = (g.sources, g.targets) if edges == "out" else (g.targets, g.sources)
        for _ in range(g.num_vertices):  # every edge, as often as there are vertices
            best.at(values, dst, product(values[src], chance if weight else g.weights))
        close(p.best, values, rtol=1e-12)


@pytest.mark.parametrize("edges", ["out", "in"])
@pytest.mark.parametrize("name", RELAXED)
def test_relaxing(backend: Backend, name: str, edges: str) -> None:
    check_relaxing(name, edges, backend.name, 12)


@pytest.mark.parametrize("place", ["ranks:2", "ranks:3,python"])
@pytest.mark.parametrize("name", RELAXED)
def test_relaxing_on_ranks(name: str, place: str) -> None:
    check_relaxing(name, "out", place, 4)


def test_components(backend: Backend) -> None:
    """The least label that reaches a vertex."""
    loop = fr.Loop(fr.Advance(**fr.relax("min_first", "label")), over="vertices")
    for g in random_graphs(12, seed=66, max_vertices=40, directed=False, weights=None):
        p = fr.Problem(backend(g), label=fr.vertex("int32", np.arange(g.num_vertices)))
        loop(p)
        equal(p.label, oracles.components(g))


# ---- what they are -----------------------------------------------------------------------------------------


def test_plain_functors() -> None:
    fn = fr.semiring("min_plus", "distance", weight="toll", edges="out")["fn"]
    assert fn.__name__ == "min_plus"
    assert fr.effects(fn).reads == {"distance": {"dst"}, "toll": {"edge"}}
    found = fr.effects(fr.relax("max_min", "width")["fn"])
    assert found.atomics == {"width": {"max"}}
    assert found.writes == {"width": {"dst"}}
    # names of fields are exchanged at once
    assert fr.effects(fr.semiring("plus_times", "w", weight="x")["fn"]).reads == {"w": {"src"}, "x": {"edge"}}
    assert repr(fr.Gather(**fr.semiring("plus_pair"), into="y")) == "Gather(plus_pair)"


def test_equal_arguments_give_one_functor() -> None:
    """So a step that is made again finds its code."""
    assert fr.semiring("min_plus", "x")["fn"] is fr.semiring("min_plus", "x")["fn"]
    assert fr.semiring("min_plus", "x")["fn"] is not fr.semiring("min_plus", "y")["fn"]
    assert fr.relax("min_plus", "x")["fn"] is fr.relax("min_plus", "x", edges="out")["fn"]


PROGRAM = """
import frontier as fr
p = fr.Problem(fr.karate(weights=(1, 9), seed=1), x=fr.vertex("float64", 1), y=fr.vertex("float64"))
fr.Gather(**fr.semiring("plus_times", "x"), into="y", over="vertices")(p)
fr.Loop(fr.Advance(**fr.relax("max_min", "x")), over="vertices")(p)
print(p.y.sum())
"""


def test_code_is_kept(tmp_path: Path) -> None:
    """A second process compiles nothing: it never imports numba."""
    given = environment(FRONTIER_CACHE_DIR=str(tmp_path), FRONTIER_QUIET="", NUMBA_OPT="3")
    said = []
    for _ in range(2):
        program = PROGRAM + "import sys\nprint('numba' in sys.modules)"
        run = [sys.executable, "-c", program]
        said.append(subprocess.run(run, env=given, check=True, capture_output=True, text=True).stdout.split())
    assert said[0][0] == said[1][0]
    assert [said[0][1], said[1][1]] == ["True", "False"]


# ---- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("min_pls", "x"), "multiplication of times, plus, min"),
        (("plus", "x"), "addition of plus, and, min"),
        (("any_first", "x"), "addition of plus"),
        ((3, "x"), "addition of plus"),
        (("min_plus",), "'plus' takes values of a vertex field: name it"),
        (("plus_pair", "x"), "'pair' takes no field of vertices"),
        (("min_plus", 3), "a field is given by its name, not 3"),
        (("min_plus", [3]), "a field is given by its name"),
        (("min_plus", "x y"), "a field is given by its name"),
    ],
)
def test_what_is_no_semiring(arguments: Any, message: str) -> None:
    with pytest.raises(fr.FrontierError, match=message):
        fr.semiring(*arguments)


def test_other_refused_arguments() -> None:
    with pytest.raises(fr.FrontierError, match="'first' takes no weights"):
        fr.semiring("plus_first", "x", weight="toll")
    with pytest.raises(fr.FrontierError, match="choose from 'in', 'out'"):
        fr.semiring("plus_first", "x", edges="both")
    with pytest.raises(fr.FrontierError, match="an addition of min, max, or, an underscore"):
        fr.relax("plus_times", "x")
    with pytest.raises(fr.FrontierError, match="multiplication of times, plus, min, max, and, first,"):
        fr.relax("min_second", "x")


def test_what_a_step_refuses(backend: Backend) -> None:
    g = backend(fr.path(3))
    p = fr.Problem(g, x=fr.vertex("float64"), y=fr.vertex("float64"))
    with pytest.raises(fr.GraphError, match=r"min_plus .* takes the weight of an edge"):
        fr.Gather(**fr.semiring("min_plus", "x"), into="y", over="vertices")(p)
    with pytest.raises(fr.FunctorError, match="the problem has no field 'z'"):
        fr.Gather(**fr.semiring("min_first", "z"), into="y", over="vertices")(p)
    with pytest.raises(fr.FunctorError, match="reads field 'x', which this Gather writes"):
        fr.Gather(**fr.semiring("min_first", "x"), into="x", over="vertices")(p)
    with pytest.raises(fr.FunctorError, match="atomic_or works on integers"):
        fr.Advance(**fr.relax("or_first", "x"), over="vertices")(p)


def test_fields_of_several_values_are_refused(backend: Backend) -> None:
    g = backend(fr.path(3))
    p = fr.Problem(g, x=fr.vertex("float64", shape=4), y=fr.vertex("float64"), w=fr.edge("float64", shape=2))
    with pytest.raises(fr.FunctorError, match=r"^fr.semiring\('plus_first'\): field 'x' has 4 values each"):
        fr.Gather(**fr.semiring("plus_first", "x"), into="y", over="vertices")(p)
    with pytest.raises(fr.FunctorError, match=r"^fr.semiring\('plus_times'\): field 'w' has 2 values each"):
        fr.Gather(**fr.semiring("plus_times", "y", weight="w"), into="y", over="vertices")(p)
    with pytest.raises(fr.FunctorError, match=r"^fr.relax\('min_first'\): field 'x' has 4 values each"):
        fr.Advance(**fr.relax("min_first", "x"), over="vertices")(p)
