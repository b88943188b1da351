"""Errors that users make: one clear message of ours on either backend, never one of numba or NumPy.

Each case says which words must be there: those that tell what is wrong, where, and what to do. Errors
of graphs and files have tests of their own (test_build.py, test_graph.py, test_io_errors.py).
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


# -- functors ----------------------------------------------------------------------------------------


def helper(value):
    return value + TABLE[0]


def own_list(p, v):
    p.x[v] = len([i for i in range(v)])


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


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (own_list, ["list", "cannot"]),
        (own_array, ["array", "cannot"]),
        (text, ["str", "int32"]),
        (no_such_function, ["numpy", "floof"]),
        (no_such_math, ["math", "floof"]),
        (no_such_attribute, ["size_of"]),
        (adds_text, ["add(int64"]),
        (two_indices, ["getitem"]),
        (uses_dict, ["NAMES", "dict"]),
        (two_kinds, ["same kind of value on every path"]),
        (gives_text, ["returns", "True, False"]),
        (gives_pair, ["returns", "Tuple"]),
        (catches, ["cannot raise, assert or try"]),
        (raises, ["cannot raise, assert or try"]),
        (opens_file, ["with"]),
        (calls_helper, ["no_such"]),
    ],
)
def test_what_cannot_be_compiled(fn: Callable[..., Any], words: list[str]) -> None:
    """File, line, the one line that matters, a hint; in one line, without a chain of numba's errors."""
    p = problem(Backend("cpu"))
    with pytest.raises(fr.FunctorError) as caught:
        fr.filter(p, everything(p), fn)
    message = str(caught.value)
    for word in [fn.__name__, f"test_errors.py:{inspect.getsourcelines(fn)[1]}", *words]:
        assert word in message
    assert "\n" not in message
    assert len(message) < 500
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert p.x.tolist() == [0] * 5


def test_the_line_within_a_functor() -> None:
    p = problem(Backend("cpu"))
    for fn, line in ((two_indices, 2), (two_kinds, 2)):
        with pytest.raises(fr.FunctorError) as caught:
            fr.filter(p, everything(p), fn)
        first = inspect.getsourcelines(fn)[1]
        assert re.search(rf"test_errors\.py:{first + line}\b", str(caught.value))


def test_the_line_within_a_helper() -> None:
    p = problem(Backend("cpu"))
    with pytest.raises(fr.FunctorError, match=rf"test_errors\.py:{inspect.getsourcelines(deep_helper)[1] + 1}\b"):
        fr.filter(p, everything(p), calls_helper)


def test_the_python_backend_runs_what_python_runs() -> None:
    p = problem(Backend("python"))
    fr.filter(p, everything(p), own_list)
    assert p.x.tolist() == [0, 1, 2, 3, 4]


def test_a_bad_functor_in_a_loop_is_named() -> None:
    class Bad(fr.Enactor):
        loop = fr.Loop(fr.Filter(fine), fr.Compute(text), times=2, over="vertices")

    p = problem(Backend("cpu"))
    with pytest.raises(fr.FunctorError, match=r"^text \(.*test_errors\.py"):
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
    for word in ["test_errors.py", *words]:
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


# -- problems ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (lambda: fr.vertex("uint32", -1), "0..4294967295: -1 does not fit"),
        (lambda: fr.vertex("int8", 200), "-128..127: 200 does not fit"),
        (lambda: fr.vertex("int64", 2**63), "does not fit"),
        (lambda: fr.vertex("int32", 1.5), "1.5 is not a whole number"),
        (lambda: fr.vertex("int32", math.nan), "nan is not a whole number"),
        (lambda: fr.vertex("int32", "abc"), "holds int32, not 'abc'"),
        (lambda: fr.vertex("float64", "abc"), "holds float64, not 'abc'"),
        (lambda: fr.vertex("float64", None), "holds float64, not None"),
        (lambda: fr.vertex("float64", 1j), "holds float64"),
        (lambda: fr.vertex("float64", [1, 2]), "shape (2,), but there are 5 vertices"),
        (lambda: fr.edge("float64", np.zeros(5)), "shape (5,), but there are 8 edges"),
        (lambda: fr.vertex("int32", [[1, 2], [3]]), "neither a number nor an array"),
        (lambda: fr.scalar("float64", "a"), "holds float64, not 'a'"),
        (lambda: fr.scalar("int32", [1, 2]), "it is a scalar"),
        (lambda: fr.vertex("complex64"), "not complex64"),
        (lambda: fr.vertex("float16"), "float16"),
        (lambda: fr.vertex("integer"), "'integer' is no dtype"),
        (lambda: fr.vertex("U3"), "not <U3"),
        (lambda: fr.vertex("int32", 0, combine="mean"), "combine='mean': choose from min, max"),
        (lambda: fr.array([[1, 2]]), "one-dimensional"),
        (lambda: fr.array([[1], [2, 3]]), "neither a number nor an array"),
        (lambda: fr.array(["a"]), "not <U1"),
        (lambda: fr.pile("face"), "'vertex' or 'edge', not 'face'"),
        (lambda: 7, "make fields with fr.vertex"),
    ],
)
def test_wrong_fields(field: Callable[[], Any], words: str) -> None:
    with pytest.raises(fr.FrontierError) as caught:
        fr.Problem(fr.path(5), mine=field())
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["_x", "arrays", "fields"])
def test_names_that_fields_cannot_have(name: str) -> None:
    with pytest.raises(fr.FrontierError, match=f"cannot be called '{name}'"):
        fr.Problem(fr.path(5), **{name: fr.vertex("int32")})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("x", [1, 2], "shape (2,), but there are 5"),
        ("x", "a", "holds int32, not 'a'"),
        ("x", 2**31, "does not fit"),
        ("share", "a", "holds float64, not 'a'"),
        ("total", [1, 2], "it is a scalar"),
        ("total", 2**31, "does not fit"),
        ("total", None, "holds int32, not None"),
        ("far", [9], "vertex 9 does not exist: valid are 0..4"),
        ("near_edges", [-1], "edge -1 does not exist: valid are 0..7"),
    ],
)
def test_values_that_fields_cannot_hold(name: str, value: Any, words: str) -> None:
    p = problem(Backend("cpu"))
    with pytest.raises(fr.FrontierError) as caught:
        setattr(p, name, value)
    assert words in str(caught.value)


def test_fields_that_do_not_exist() -> None:
    p = problem(Backend("cpu"))
    with pytest.raises(AttributeError, match="no field 'depth'; it has x, level"):
        p.depth = 1
    with pytest.raises(AttributeError, match="no field 'depth'; it has x, level"):
        _ = p.depth
    with pytest.raises(fr.FrontierError, match="holds vertex ids, not edge ids"):
        p.far = fr.Frontier(p.graph, [0], "edge")


# -- frontiers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([-1], "vertex -1 does not exist: valid are 0..4"),
        ([5], "vertex 5 does not exist: valid are 0..4"),
        ([1.5], "integers, not float64"),
        (["a"], "integers, not <U1"),
        ([[1]], "one-dimensional"),
        ([[1], [2, 3]], "a list or array of integers"),
        (3, "one-dimensional"),
        ([2**70], "integers, not object"),
    ],
)
def test_ids_that_no_frontier_holds(ids: Any, words: str) -> None:
    with pytest.raises(fr.GraphError) as caught:
        fr.Frontier(fr.path(5), ids)
    assert words in str(caught.value)


def test_frontiers_of_different_graphs(backend: Backend) -> None:
    p = problem(backend)
    other = fr.Frontier(backend(fr.path(5)), [0])
    mine = fr.Frontier(p.graph, [0])
    for mix in (lambda: mine | other, lambda: mine & other, lambda: mine - other, lambda: fr.filter(p, other, fine)):
        with pytest.raises(fr.FrontierError, match="different graphs do not mix"):
            mix()
    with pytest.raises(fr.FrontierError, match="different graphs do not mix"):
        p.far = other
    with pytest.raises(fr.FrontierError, match="vertex ids does not combine with one of edge ids"):
        mine | fr.Frontier(p.graph, [0], "edge")
    with pytest.raises(fr.FrontierError, match="not with list"):
        mine | [0]


# -- steps and loops ----------------------------------------------------------------------------------


def value(p, v):
    return 1


def along(p, src, dst):
    return p.level[src]


def by_weight(p, src, weight):
    return weight > 1


def of_scalars(p):
    return 1


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda: fr.Gather(along, "sum", into="sums"), "into: the problem has no field 'sums'; it has x, level"),
        (lambda: fr.Gather(along, "sum", into="total"), "into: field 'total' is of kind scalar, not vertex"),
        (lambda: fr.Gather(along, "sum", into="level"), "reads field 'level', which this Gather writes"),
        (lambda: fr.Gather(along, "mean", into="x"), "choose from sum, min"),
        (lambda: fr.Reduce(value, "sum", into="sums"), "into: the problem has no field 'sums'"),
        (lambda: fr.Reduce(value, "sum", into="x"), "into: field 'x' is of kind vertex, not scalar"),
        (lambda: fr.Split(fine, rest="rest"), "rest: the problem has no field 'rest'"),
        (lambda: fr.Split(fine, rest="x"), "rest: field 'x' is of kind vertex, not pile"),
        (lambda: fr.Take("x"), "field 'x' is of kind vertex, not pile"),
        (lambda: fr.Set(x=of_scalars), "Set: field 'x' is of kind vertex, not scalar"),
        (lambda: fr.Set(far=of_scalars), "Set: field 'far' is of kind pile, not scalar"),
        (lambda: fr.Set(depth=of_scalars), "Set: the problem has no field 'depth'"),
        (lambda: fr.Set(total="a"), "a function of the problem or a number"),
        (lambda: fr.Set(), "at least one scalar"),
        (lambda: fr.Swap("x", "share"), "one kind and dtype"),
        (lambda: fr.Swap("x", "nothing"), "no field 'nothing'"),
        (lambda: fr.Compute(fine, over="nothing"), "over='nothing'"),
        (lambda: fr.Compute(fine, over=-1), "over=-1"),
        (lambda: fr.Compute(fine, over=1.5), "over=1.5"),
        (lambda: fr.Advance(along, output="face"), "output='face'"),
        (lambda: fr.Advance(along, unique="maybe"), "unique='maybe'"),
        (lambda: fr.Advance(along, edges="all"), "edges='all'"),
        (lambda: fr.Advance(along, part=slice(-1, None)), "non-negative ends"),
        (lambda: fr.Advance(along, part=2), "a slice"),
        (lambda: fr.Advance(by_weight), "takes the weight of an edge, but the graph has no weights"),
        (lambda: fr.Loop(), "at least one step"),
        (lambda: fr.Loop(fine), "made of steps such as fr.Advance(fn)"),
        (lambda: fr.Loop(fr.Filter(fine), take="far", times=3), "take and times do not go together"),
        (lambda: fr.Loop(fr.Filter(fine), take="far", over="vertices"), "take and over do not go together"),
        (lambda: fr.Loop(fr.Filter(fine), take="rest"), "take: the problem has no field 'rest'"),
        (lambda: fr.Loop(fr.Filter(fine), count="depth", over="vertices"), "count: the problem has no field 'depth'"),
        (lambda: fr.Loop(fr.Filter(fine), times="share", over="vertices"), "is of kind vertex, not scalar"),
        (lambda: fr.Loop(fr.Filter(fine), times=-1), "times=-1"),
        (lambda: fr.Loop(fr.Filter(fine), max_steps=0), "max_steps=0"),
        (lambda: fr.Loop(fr.Filter(fine), until=fine), "no argument 'v' here; there is nothing but the problem"),
        (lambda: fr.Loop(fr.Filter(fine), replay="levels"), "replay='levels'"),
    ],
)
def test_wrong_steps(backend: Backend, step: Callable[[], Any], words: str) -> None:
    p = problem(backend)
    with pytest.raises(fr.FrontierError) as caught:
        step()(p, everything(p))
    assert words in str(caught.value)


def test_a_step_without_a_frontier(backend: Backend) -> None:
    with pytest.raises(fr.FrontierError, match="needs a frontier to start with, or over="):
        fr.Filter(fine)(problem(backend))


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"direction": "up"}, "direction='up'): choose from auto, push, pull"),
        ({"balance": "none"}, "choose from auto, thread"),
        ({"switch": "never"}, "choose from beamer"),
        ({"alpha": 0}, "alpha and beta must be positive"),
    ],
)
def test_wrong_schedules(choice: dict[str, Any], words: str) -> None:
    with pytest.raises(fr.FrontierError) as caught:
        fr.Schedule(**choice)
    assert words in str(caught.value)


def test_a_schedule_by_name(backend: Backend) -> None:
    with pytest.raises(fr.FrontierError, match=r"schedule='push': make one with fr\.Schedule"):
        fr.bfs(backend(fr.path(3)), 0, schedule="push")  # type: ignore[arg-type]


def test_not_done_after_max_steps(backend: Backend) -> None:
    """What there is so far comes with the error."""

    def claim(p, src, dst):
        return fr.atomic_cas(p.parent, dst, -1, src) == -1

    g = backend(fr.path(9))
    for within in ("loop", "run"):
        p = fr.Problem(g, parent=fr.vertex("int32", -1))
        p.parent[0] = 0
        loop = fr.Loop(fr.Advance(claim, unique="claimed"), max_steps=3 if within == "loop" else None)
        enactor = type("Search", (fr.Enactor,), {"loop": loop})(p)
        with pytest.raises(fr.NotConvergedError, match="not done after 3 passes") as caught:
            enactor.run(fr.Frontier(g, [0]), max_steps=3 if within == "run" else None)
        assert caught.value.result is p
        assert p.parent.tolist() == [0, 0, 1, 2, -1, -1, -1, -1, -1]


def test_an_enactor_without_a_loop() -> None:
    class Nothing(fr.Enactor):
        pass

    p = problem(Backend("cpu"))
    with pytest.raises(fr.FrontierError, match="Nothing declares no loop and overrides no step"):
        Nothing(p).run(everything(p))
    with pytest.raises(fr.FrontierError, match="no run to go on with"):
        Nothing(p).resume()


def test_a_source_in_a_scalar_that_is_no_vertex(backend: Backend) -> None:
    p = problem(backend, source=fr.scalar("int32", 7))
    with pytest.raises(fr.GraphError, match=r"vertex 7 does not exist: valid are 0\.\.4"):
        fr.Filter(fine, over="source")(p)


# -- primitives and graphs ------------------------------------------------------------------------------

ABC = ([0, 1], [1, 2], [1.0, 2.0])


@pytest.mark.parametrize("source", [-1, 3, 1.5, "a", None, [0], 2**70])
@pytest.mark.parametrize("search", [fr.bfs, fr.sssp])
def test_a_source_that_does_not_exist(backend: Backend, search: Callable[..., Any], source: Any) -> None:
    with pytest.raises(fr.GraphError, match="there is no vertex .*: vertices are 0 to 2"):
        search(backend(fr.from_edges(*ABC)), source)


def test_a_label_that_does_not_exist(backend: Backend) -> None:
    g = backend(fr.from_edges(["a", "b"], ["b", "c"]))
    with pytest.raises(fr.GraphError, match="there is no vertex 'z': the labels are 'a', 'b', 'c'"):
        fr.bfs(g, "z")


@pytest.mark.parametrize("sources", [-1, 4, [3], [-1], [1.5], [[0]], "abc", 1.5, True])
def test_sources_that_do_not_exist(backend: Backend, sources: Any) -> None:
    with pytest.raises(fr.GraphError, match="there is no vertex|a number of sources from 0 to 3, or a list"):
        fr.betweenness(backend(fr.from_edges(*ABC)), sources)


def test_weights_of_a_graph_without(backend: Backend) -> None:
    g = backend(fr.path(4))
    with pytest.raises(fr.GraphError, match="the graph has none; for numbers of edges use fr.bfs"):
        fr.sssp(g, 0)
    with pytest.raises(fr.GraphError, match="weighted=True, but the graph has no weights"):
        fr.pagerank(g, weighted=True)


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_negative_weights(backend: Backend, dtype: str) -> None:
    g = backend(fr.from_edges([0, 1], [1, 2], np.array([3, -2], dtype)))
    for primitive in (lambda: fr.sssp(g, 0), lambda: fr.pagerank(g, weighted=True)):
        with pytest.raises(fr.NegativeWeightError, match="not negative; the least is -2"):
            primitive()
    assert fr.bfs(g, 0).level.tolist() == [0, 1, 2]


def test_weights_of_the_wrong_length() -> None:
    with pytest.raises(fr.GraphError, match="there are 3 weights for 2 edges"):
        fr.from_edges([0, 1], [1, 2], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("delta", [0, -1, math.nan])
def test_wrong_delta(backend: Backend, delta: float) -> None:
    with pytest.raises(fr.GraphError, match="it must be positive"):
        fr.sssp(backend(fr.from_edges(*ABC)), 0, delta=delta)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"damping": 1}, "damping=1: it must be at least 0 and below 1"),
        ({"damping": -0.1}, "at least 0 and below 1"),
        ({"damping": math.nan}, "at least 0 and below 1"),
        ({"tolerance": -1}, "must not be negative"),
        ({"tolerance": math.nan}, "must not be negative"),
        ({"max_iterations": 0}, "at least one"),
        ({"personalization": [1, 2]}, "shape (2,), but there are 3 vertices"),
        ({"personalization": 3}, "shape (), but there are 3 vertices"),
        ({"personalization": [0, 0, 0]}, "one of them positive"),
        ({"personalization": [-1, 1, 1]}, "not negative"),
        ({"personalization": [math.nan, 1, 1]}, "finite numbers"),
        ({"personalization": ["a", "b", "c"]}, "personalization holds numbers"),
        ({"personalization": [[1], [2, 3]]}, "personalization holds numbers"),
        ({"personalization": {}}, "one of them positive"),
        ({"personalization": {0: "a"}}, "personalization holds numbers"),
        ({"personalization": {7: 1}}, "there is no vertex 7"),
    ],
)
def test_wrong_options_of_pagerank(backend: Backend, options: dict[str, Any], words: str) -> None:
    with pytest.raises(fr.GraphError) as caught:
        fr.pagerank(backend(fr.from_edges(*ABC)), **options)
    assert words in str(caught.value)


def test_a_wrong_method_of_components(backend: Backend) -> None:
    with pytest.raises(fr.GraphError, match="method='fast': choose from afforest, hooking"):
        fr.connected_components(backend(fr.path(3)), method="fast")


def test_backends_that_are_not_there() -> None:
    with pytest.raises(fr.BackendUnavailableError, match="'cuda' is not part of this release"):
        fr.path(3).to("cuda")
    with pytest.raises(fr.GraphError, match="choose 'cpu', 'python' or 'auto'"):
        fr.path(3).to("gpu")


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (fr.GraphError, ValueError),
        (fr.FunctorError, TypeError),
        (fr.BackendUnavailableError, ImportError),
        (fr.DeviceMemoryError, MemoryError),
        (fr.NegativeWeightError, ValueError),
        (fr.NotConvergedError, Exception),
        (fr.VerificationError, AssertionError),
    ],
)
def test_bases(error: type[Exception], base: type[Exception]) -> None:
    assert issubclass(error, fr.FrontierError)
    assert issubclass(error, base)
