"""Words that make programs shorter: counts that scalars hold, loops with until alone, masks, or, argmin and argmax."""

from __future__ import annotations

import numpy as np
import pytest
from compare import WORKERS, equal
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontiers, graphs

import frontier as fr

counts = st.sampled_from(WORKERS)
RING = fr.from_edges([0, 1, 2, 3], [1, 2, 3, 0])


# -- over= a scalar that holds a count -----------------------------------------------------------------


def problem(g):
    return fr.Problem(
        g,
        marks=fr.array(np.zeros(8, np.int64)),
        many=fr.scalar("int32", 3),
        huge=fr.scalar("uint64", 2),
        real=fr.scalar("float64", 2),
        vertex=fr.scalar("int64", 2),
        total=fr.scalar("int64", -1),
        seen=fr.vertex("int64"),
        rest=fr.pile(),
    )


def mark(p, i):
    p.marks[i] += i + 1


def square(p, i):
    return i * i


def one(p, i):
    return 1


def visit(p, v):
    p.seen[v] += 1


def more(p):
    return p.many + 2


COUNTED = {
    "compute": fr.Compute(mark, over="many"),
    "unsigned": fr.Compute(mark, over="huge"),
    "reduce": fr.Reduce(square, "sum", into="total", over="many"),
    "constant": fr.Reduce(one, "sum", into="total", over="many"),
    "vertex": fr.Compute(visit, over="vertex"),
    "loop": fr.Loop(fr.Compute(mark, over="many"), fr.Set(many=more), times=2),
}


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("many", [-2, 0, 1, 3])
@pytest.mark.parametrize("count", WORKERS)
def test_a_scalar_holds_a_count_for_functors_of_i(agree, name, many, count):
    def run(p):
        p.many = many
        COUNTED[name](p)

    p, _ = agree(RING, problem, run, count)
    if name == "compute":
        equal(p.marks, [i + 1 if i < many else 0 for i in range(8)])
    if name == "reduce":
        assert p.total == sum(i * i for i in range(many))
    if name == "vertex":
        equal(p.seen, [0, 0, 1, 0])


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ("real", "the scalar holds float64, not a count"),
        ("rest", "a functor of i runs over a count, or a scalar that holds one"),
        ("vertices", "a functor of i runs over a count"),
        ("nowhere", "a functor of i runs over a count"),
    ],
)
def test_what_holds_no_count(backend, over, message):
    p = problem(backend(RING))
    with pytest.raises(fr.FrontierError, match=message):
        fr.Compute(mark, over=over)(p)


# -- a loop with until alone ----------------------------------------------------------------------------


def enough(p):
    return p.total >= 9


def add(p):
    return p.total + 2


UNTIL = {
    "own": fr.Loop(fr.Compute(visit, over="vertices"), fr.Set(total=add), until=enough),
    "nested": fr.Loop(
        fr.Loop(fr.Compute(visit, over="vertices"), times=2), fr.Sequence(fr.Set(total=add)), until=enough
    ),
    "inner": fr.Loop(fr.Loop(fr.Set(total=add), until=enough), fr.Compute(visit, over="vertices"), times=2),
}


@pytest.mark.parametrize("name", UNTIL)
@pytest.mark.parametrize("count", WORKERS)
def test_a_loop_with_until_alone(agree, name, count):
    p, _ = agree(RING, problem, UNTIL[name], count)
    assert p.total == {"inner": 11}.get(name, 9)
    equal(p.seen, {"own": [5] * 4, "nested": [10] * 4, "inner": [2] * 4}[name])


def test_until_alone_leaves_the_current_frontier(agree):
    _, f = agree(RING, problem, lambda p: UNTIL["own"](p, fr.Frontier(p.graph, [1, 3])))
    assert sorted(f.ids.tolist()) == [1, 3]


def test_until_alone_in_an_enactor_that_stops(backend):
    class Until(fr.Enactor):
        loop = UNTIL["own"]

    p = problem(backend(RING))
    Until(p).run()
    assert p.total == 9
    p = problem(backend(RING))
    with pytest.raises(fr.NotConvergedError):
        Until(p).run(max_steps=3)
    equal(p.seen, [3] * 4)


def test_a_loop_that_nothing_ends(backend):
    p = problem(backend(RING))
    with pytest.raises(fr.FrontierError, match=r"needs a frontier to start with, or over=, times= or until="):
        fr.Loop(fr.Set(total=add))(p)
    with pytest.raises(fr.FrontierError, match="needs a frontier to start with"):
        fr.Loop(fr.Compute(visit), until=enough)(p)


# -- a mask as frontier -----------------------------------------------------------------------------------


@given(st.data())
@pytest.mark.parametrize("kind", ["vertex", "edge"])
def test_a_mask_is_a_frontier(kind, data):
    g = data.draw(graphs(weights=None))
    f = data.draw(frontiers(g, kind))
    for mask in (f.mask, f.mask.tolist()):
        assert fr.Frontier(g, mask, kind=kind) == f


def test_masks_run_everywhere(agree):
    def run(p):
        mask = np.array([True, False, True, False])
        p.rest = mask
        return fr.compute(p, fr.Frontier(p.graph, mask), visit)

    p, _ = agree(RING, problem, run)
    equal(p.seen, [1, 0, 1, 0])


@pytest.mark.parametrize(("kind", "there"), [("vertex", "4 vertices"), ("edge", "8 edge slots")])
def test_a_mask_of_another_length(kind, there):
    with pytest.raises(fr.GraphError, match=f"a mask of 3 bools, but there are {there}"):
        fr.Frontier(RING, np.ones(3, bool), kind=kind)
