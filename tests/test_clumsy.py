"""Arguments of wrong types and names that are not there: one clear error of ours, before anything is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import frontier as fr


def every(p, v):
    return True


def across(p, src, dst):
    return True


class Crossing(fr.Enactor):
    loop = fr.Loop(fr.Advance(across))


def problem() -> fr.Problem:
    return fr.Problem(
        fr.path(4), x=fr.vertex("int64"), e=fr.edge("int64"), s=fr.scalar("int64"), far=fr.pile(), near=fr.pile("edge")
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: fr.split(p, [0], every, rest="nosuch"), "rest: the problem has no field 'nosuch'; it has x, e, s,"),
        (lambda p: fr.split(p, [0], every, rest="x"), "rest: field 'x' is of kind vertex, not pile"),
        (lambda p: fr.Loop(fr.Advance(across), times=1.5), r"times=1.5: a number of passes, or the name"),
        (lambda p: fr.Loop(fr.Advance(across), times=-1), "times=-1: a number of passes is not negative"),
        (lambda p: fr.Loop(fr.Advance(across), max_steps=1.5), "max_steps=1.5: a number of passes"),
        (lambda p: fr.Compute(every, over=-5), r"Compute\(over=-5\): a count is not negative"),
        (lambda p: fr.Filter(every, over=5), r"Filter\(over=5\): only Compute and Reduce run over a count"),
        (lambda p: fr.Schedule(alpha="x"), "must be positive"),
        (lambda p: fr.set_num_threads("x"), "the number of threads must be an integer, not 'x'"),
        (lambda p: fr.set_num_threads(1.5), "the number of threads must be an integer, not 1.5"),
        (lambda p: fr.set_num_threads(0), "must be at least 1, not 0"),
        (lambda p: fr.effects(len), "a functor is a plain Python function, not builtin"),
        (lambda p: setattr(p, "x", np.array([1, 2.5, 3, 4])), "field 'x' holds int64: 2.5 is not a whole number"),
        (lambda p: type("E", (fr.Enactor,), {"loop": 5})(p).run(), r"E.loop is a step, .*, not 5"),
        (lambda p: fr.Frontier(p.graph, {1, 2}), r"a list or a one-dimensional array of integers, not \{1, 2\}"),
        (lambda p: fr.Frontier(p.graph, [[1], [2]]), "not an array of 2 dimensions"),
        (lambda p: fr.Problem(p.graph, x=fr.vertex("int32", with_="nosuch"), y=fr.vertex("int32")), "there is y"),
        (lambda p: fr.Problem(p.graph, x=fr.vertex("int32", with_="x")), "another vertex field; there is none"),
        (lambda p: Crossing(p).run([0], on_step=5), "on_step=5: a function of the enactor"),
        (lambda p: Crossing(p).run([0], max_steps=1.5), "max_steps=1.5: a number of passes"),
        (lambda p: fr.bfs(p.graph, 0).path_to("x"), "there is no vertex 'x': vertices are 0 to 3"),
        (lambda p: fr.write(5, "x.el"), "write takes a Graph first, not int"),
        (lambda p: fr.write(p.graph, 5), "a file is a path or an open file, not int"),
        (lambda p: fr.read(5), "a file is a path or an open file, not int"),
        (lambda p: fr.open(__file__), "not a Frontier graph, which is a folder, but a file"),
        (lambda p: fr.open(__file__ + ".frontier"), "there is no such folder"),
        (lambda p: fr.Frontier(fr.from_edges(["a"], ["b"]), ["a"]), "integers, not <U1; g.vertex_id"),
        (lambda p: fr.from_edges([0], [1], edges=[1]), r"columns are given as a dict .*, not \[1\]"),
        (lambda p: p.graph.with_columns(vertices=5), "columns are given as a dict .*, not 5"),
        (lambda p: p.graph.with_columns(edges=5), "columns are given as a dict .*, not 5"),
        (lambda p: p.graph.with_columns(edges={"x": np.array(5)}), "the edge column 'x' must have one dimension"),
        (lambda p: fr.to_networkx("x"), "to_networkx takes a Graph, not str"),
        (lambda p: fr.to_scipy([(0, 1)]), "to_scipy takes a Graph, not list"),
        (lambda p: fr.to_pandas(None), "to_pandas takes a Graph, not NoneType"),
    ],
)
def test_one_clear_error(make: Callable[[fr.Problem], Any], words: str) -> None:
    with pytest.raises(fr.FrontierError, match=words):
        make(problem())


def test_an_unknown_name_in_an_order_lists_the_users_fields_only() -> None:
    p = problem()
    loop = fr.Loop(fr.Advance(across), order=fr.by("x", delta="nosuch"))
    with pytest.raises(fr.FrontierError, match=r"no field 'nosuch'; it has x, e, s, far, near$"):
        loop(p, fr.Frontier(p.graph, [0]))


def test_passes_may_be_a_number_of_numpy() -> None:
    p = problem()
    fr.Loop(fr.Advance(across), times=np.int32(2), count="s")(p, fr.Frontier(p.graph, [0]))
    assert p.s == 2


def test_names_beyond_int64() -> None:
    g = fr.from_edges([2**70, 5], [5, 6], labels=True)
    assert fr.bfs(g, 2**70).level.tolist() == [0, 1, 2]
    assert g.by_label(fr.bfs(g, 2**70).level) == {2**70: 0, 5: 1, 6: 2}
