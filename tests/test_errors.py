"""Wrong problems, frontiers, steps and loops: one clear message of ours on either backend, never one of NumPy.

Functors, primitives, graphs and files have tests of their own: test_functor_errors.py,
test_primitive_errors.py, test_build.py, test_graph.py, test_io_errors.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import Backend

import frontier as fr


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


def fine(p, v):
    return True


# -- problems ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (lambda: fr.vertex("uint32", -1), "0..4294967295: -1 does not fit"),
        (lambda: fr.vertex("int8", 200), "-128..127: 200 does not fit"),
        (lambda: fr.vertex("int64", 2**63), "does not fit"),
        (lambda: fr.vertex("float32", 1e300), "holds numbers up to 3.4"),
        (lambda: fr.scalar("float32", np.float64(-1e39)), "holds numbers up to"),
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
        (lambda: fr.vertex("integer"), "'integer' is not a dtype"),
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
        (lambda: fr.Loop(fr.Compute(fine), take="rest"), "take: the problem has no field 'rest'"),
        (lambda: fr.Loop(fr.Filter(fine), count="depth", over="vertices"), "count: the problem has no field 'depth'"),
        (lambda: fr.Loop(fr.Filter(fine), times="share", over="vertices"), "is of kind vertex, not scalar"),
        (lambda: fr.Loop(fr.Filter(fine), times=-1), "times=-1"),
        (lambda: fr.Loop(fr.Filter(fine), max_steps=0), "max_steps=0"),
        (lambda: fr.Loop(fr.Filter(fine), until=fine), "no argument 'v' here; there is nothing but the problem"),
        (lambda: fr.Loop(fr.Compute(fine), replay="levels"), "replay='levels'"),
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
        ({"alpha": 0}, "must be positive"),
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
