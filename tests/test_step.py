"""Steps declare what backends must know of them: operators from outside the package, and none that is known by name."""

from __future__ import annotations

import re

import numpy as np
import pytest
from compare import ids
from processes import ROOT

import frontier as fr
from frontier.program.step import Operator


class Multiples(Operator):
    """The elements whose ids a number divides: an operator for the interpreter alone."""

    name = "multiples"

    def __init__(self, number, over=None):
        super().__init__(over)
        self.number = number

    def interpret(self, context, f):
        return fr.Frontier(f.graph, f.ids[f.ids % self.number == 0], f.kind)

    def lower(self, builder, register):
        raise fr.FrontierError("Multiples is not compiled: g.to('python')")


def settle(p, v):
    p.last[v] = p.passes


def problem(g):
    return fr.Problem(g, last=fr.vertex("int32", -1), passes=fr.scalar("int32", 0))


LOOP = fr.Loop(fr.Sequence(Multiples(2), fr.Compute(settle)), times=2, count="passes")


def test_an_operator_from_outside_the_package():
    p = problem(fr.path(9).to("python"))
    assert ids(LOOP(p, fr.Frontier.all(p.graph))) == ("vertex", [0, 2, 4, 6, 8])
    assert p.last.tolist() == [2, -1] * 4 + [2]
    assert ids(Multiples(3)(p, [1, 3, 4, 6])) == ("vertex", [3, 6])


def test_it_is_lowered_by_its_own_method():
    p = problem(fr.path(9))
    with pytest.raises(fr.FrontierError, match="Multiples is not compiled"):
        LOOP(p, fr.Frontier.all(p.graph))


def test_what_an_operator_must_have():
    class Half(Operator):
        def interpret(self, context, f):
            return f

    with pytest.raises(TypeError, match=r"abstract method '?lower"):
        Half()


def test_what_operators_declare():
    one = {"takes_pile": False, "once_each": False, "fills_record": False}
    for step, but in (
        (fr.Take("far"), {"takes_pile": True}),
        (fr.Compute(settle), {"once_each": True}),
        (fr.Filter(settle), {"once_each": True}),
        (fr.Advance(lambda p, src, dst: True), {"fills_record": True}),
        (LOOP, {}),
    ):
        assert {name: getattr(step, name) for name in one} == {**one, **but}, step


@pytest.mark.parametrize("make", [fr.Compute, fr.Filter, lambda fn, over: fr.Split(fn, "far", over=over)])
@pytest.mark.filterwarnings("error::frontier.errors.FrontierWarning")
def test_the_one_call_over_a_vertex_may_change_what_it_likes(make):
    def count(p, v):
        p.seen[0] += 1
        return True

    p = fr.Problem(
        fr.path(3), seen=fr.array(np.zeros(1, "int64")), source=fr.scalar("int64", 2), far=fr.pile("vertex")
    )
    make(count, over="source")(p)
    assert p.seen[0] == 1


def test_no_operator_is_known_by_its_name():
    for folder in ("frontier", "operators"):
        for path in (ROOT / folder).rglob("*.py"):
            found = re.search(r"(step|part|changing\[0\])\.name (==|!=|in|not in)", path.read_text("utf-8"))
            assert found is None, f"{path}: {found}"
