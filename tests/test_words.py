"""Words that make programs shorter: counts that scalars hold, loops with until alone, masks, or, argmin and argmax."""

from __future__ import annotations

import numpy as np
import pytest
from compare import WORKERS, at, equal
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
        ("rest", "a functor of i runs over a count, a scalar that holds one, or a field with several values a vertex"),
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


# -- or, argmin, argmax ------------------------------------------------------------------------------------


def chosen(g):
    n, m = g.num_vertices, g.num_slots
    slot = np.arange(m)
    real = (slot * 7 % 5 - 2) / 2
    return fr.Problem(
        g,
        number=fr.edge("int64", slot * 7 % 5 - 2),
        real=fr.edge("float64", np.where(slot % 4 == 3, np.nan, real)),
        single=fr.edge("float32", np.where(slot % 2 == 0, -0.0, 0.0)),
        far=fr.edge("float64", np.where(slot % 3 == 0, np.inf, -np.inf)),
        huge=fr.edge("int64", np.where(slot % 2 == 0, 2**63 - 1, -(2**63))),
        flag=fr.edge("bool", slot % 3 == 0),
        bits=fr.vertex("uint32", (1 << np.arange(n) % 31)),
        open=fr.vertex("bool", np.arange(n) % 3 != 1),
        into=fr.vertex("int32", 7),
        wide=fr.vertex("int64", 7),
        mask=fr.vertex("uint32", 7),
        truth=fr.vertex("bool", True),
        total=fr.scalar("int64"),
        any=fr.scalar("bool"),
    )


def number(p, edge):
    return p.number[edge]


def real(p, edge):
    return p.real[edge]


def single(p, edge):
    return p.single[edge]


def far(p, edge):
    return p.far[edge]


def huge(p, edge):
    return p.huge[edge]


def flag(p, edge):
    return p.flag[edge]


def heaviest(p, weight):
    return weight


def far_bits(p, src):
    return p.bits[src]


def near_bits(p, dst):
    return p.bits[dst]


def own_bits(p, v):
    return p.bits[v]


def loose(p, v):
    return p.bits[v] > 4


def half(p, v):
    return 0.5


def src_open(p, src):
    return p.open[src]


def dst_open(p, dst):
    return p.open[dst]


VALUES = {fn.__name__: fn for fn in (number, real, single, far, huge, flag, heaviest)}
CHOICES = {
    (op, name, edges): fr.Gather(
        fn, op, into="into" if name in ("number", "far") else "wide", edges=edges,
        where=None if name in ("real", "huge") else src_open if edges == "in" else dst_open,
    )
    for op in ("argmin", "argmax") for name, fn in VALUES.items() for edges in ("in", "out")
}  # fmt: skip


def expected_end(p, step, v):
    """By sorting: the far end of the best edge that counts, the smallest of several."""
    g = p.graph
    near, far = (g.targets, g.sources) if step.edges == "in" else (g.sources, g.targets)
    best = []
    for slot in np.flatnonzero(near == v):
        if step.where is not None and not p.open[far[slot]]:
            continue
        value = g.weights[slot] if step.fn is heaviest else getattr(p, step.fn.__name__)[slot]
        worth = (1, 0) if value != value else (0, float(value) if step.fn is not huge else int(value))
        best.append(((worth[0], worth[1] if step.op == "argmin" else -worth[1]), int(far[slot])))
    return min(best)[1] if best else -1


@pytest.mark.parametrize("name", CHOICES, ids="-".join)
@given(st.data())
def test_the_edge_of_the_least_or_greatest_value(agree, name, data):
    g = data.draw(graphs(weights="float32"))
    step = CHOICES[name]
    p, _ = agree(g, chosen, lambda p: step(p, fr.Frontier.all(p.graph)), data.draw(counts))
    expected = [expected_end(p, step, v) for v in range(g.num_vertices)]
    equal(p.into if step.into == "into" else p.wide, expected)


@pytest.mark.parametrize("op", ["argmin", "argmax", "or"])
@pytest.mark.parametrize("count", WORKERS)
def test_lists_of_every_length(agree, op, count):
    """Of one edge, of a lane's, a warp's and a block's length."""
    degrees = [0, 1, 3, 17, 40, 100, 1500]
    src = np.concatenate([np.full(d, v) for v, d in enumerate(degrees)])
    dst = np.concatenate([(np.arange(d) * 11 + v) % 1500 for v, d in enumerate(degrees)])
    weights = (np.arange(len(src)) * 37 % 101).astype("float32")
    g = fr.from_edges(src, dst, weights, num_vertices=1500, directed=True, duplicates="keep")
    step = CHOICES[op, "heaviest", "out"] if op != "or" else fr.Gather(near_bits, "or", into="mask", edges="out")
    p, _ = agree(g, chosen, lambda p: step(p, fr.Frontier(p.graph, range(7))), count)
    if op != "or":
        equal(p.wide[:7], [expected_end(p, step, v) for v in range(7)])
    else:
        equal(p.mask[:7], [np.bitwise_or.reduce(p.bits[g.targets[g.offsets[v] : g.offsets[v + 1]]]) for v in range(7)])


ORS = {
    "gather": fr.Gather(far_bits, "or", into="mask"),
    "bools": fr.Gather(flag, "or", into="truth", edges="out"),
    "reduce": fr.Reduce(own_bits, "or", into="total"),
    "scalar": fr.Reduce(loose, "or", into="any"),
    "edges": fr.Reduce(flag, "or", into="any", over="edges"),
}


@pytest.mark.parametrize("name", ORS)
@given(st.data())
def test_or(agree, name, data):
    g = data.draw(graphs(weights=None))
    p, _ = agree(g, chosen, lambda p: ORS[name](p, fr.Frontier.all(p.graph)), data.draw(counts))
    if name == "gather":
        expected = [np.bitwise_or.reduce(p.bits[g.sources[g.targets == v]], initial=0) for v in range(g.num_vertices)]
        equal(p.mask, np.array(expected, np.uint32))
    if name == "reduce":
        assert p.total == np.bitwise_or.reduce(p.bits, initial=0)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda: fr.Gather(number, "argmin", into="mask"), r"uint32; it gets vertices, and -1 where there is no edge"),
        (lambda: fr.Gather(number, "argmax", into="bits"), "it gets vertices, and -1"),
        (lambda: fr.Gather(number, "or", into="x"), "or needs integers or bools"),
        (lambda: fr.Reduce(half, "or", into="total"), "op='or' works on integers and bools, not on floats"),
        (lambda: fr.Reduce(number, "argmin", into="total"), "choose from sum, min, max, any, all, or"),
    ],
)
def test_what_or_and_argmin_refuse(backend, step, message):
    p = fr.Problem(
        backend(RING), number=fr.edge("int64"), mask=fr.vertex("uint32"), bits=fr.vertex("bool"),
        x=fr.vertex("float64"), total=fr.scalar("int64"),
    )  # fmt: skip
    with pytest.raises(fr.FrontierError, match=message):
        step()(p, fr.Frontier.all(p.graph))


# -- neighbours inside functors ---------------------------------------------------------------------------


def around(g):
    fields = {name: fr.vertex("int64") for name in ("ends", "starts", "edges", "many", "two")}
    value = fr.vertex("int32", np.arange(g.num_vertices) * 3 % 7)
    return fr.Problem(g, cost=fr.vertex("float64"), value=value, **fields)


def look_around(p, v):
    for e in fr.neighbours(p, v):
        p.ends[v] += fr.target(p, e) + 1
        p.starts[v] += fr.source(p, e) + 1
        p.edges[v] += e
    p.many[v] = fr.degree(p, v)


def weigh(p, v):
    for e in fr.neighbours(p, v):
        p.cost[v] += fr.weight(p, e) / 2
    return fr.degree(p, v) > 1


def of_neighbours(p, v):
    total = 0
    for e in fr.neighbours(p, v):
        total += p.value[fr.target(p, e)]
    return total


def two_hops(p, v):
    """Through a helper; loops in loops."""
    for e in fr.neighbours(p, v):
        p.two[v] += of_neighbours(p, fr.target(p, e))


def smallest(p, src, dst):
    for e in fr.neighbours(p, dst):  # noqa: SIM110 - functors know no generators
        if fr.target(p, e) < src:
            return False
    return True


AROUND = {
    "compute": fr.Compute(look_around),
    "weights": fr.Filter(weigh),
    "helper": fr.Compute(two_hops),
    "advance": fr.Advance(smallest),
    "loop": fr.Loop(fr.Compute(two_hops), fr.Filter(weigh), fr.Advance(smallest), times=2),
}


@pytest.mark.parametrize("name", AROUND)
@pytest.mark.parametrize("weights", ["int32", "int16", "float32"])
@given(st.data())
def test_neighbours(agree, name, weights, data):
    g = data.draw(graphs(weights=weights))
    f = data.draw(frontiers(g))
    p, _ = agree(g, around, lambda p: AROUND[name](p, at(p, f)), data.draw(counts))
    if name == "compute":
        for v in f.ids.tolist():
            slots = range(g.offsets[v], g.offsets[v + 1])
            assert (p.ends[v], p.starts[v]) == (sum(g.targets[e] + 1 for e in slots), (v + 1) * len(slots))
            assert (p.edges[v], p.many[v]) == (sum(slots), len(slots))


def test_what_asks_for_neighbours():
    found = fr.effects(two_hops)
    assert found.topology == {"offsets", "targets"}
    assert found.exact
    assert found.reads == {"two": {"v"}, "value": {"any"}}
    assert fr.effects(weigh).topology == {"offsets", "weights"}


def test_neighbours_and_mistakes(backend):
    p = around(backend(RING))
    with pytest.raises(fr.GraphError, match=r"weigh .*asks for weights of edges, but the graph has none"):
        fr.filter(p, fr.Frontier.all(p.graph), weigh)
    with pytest.raises(fr.FunctorError, match="take the problem first, and work in functors only"):
        fr.neighbours(p.graph, 0)
    with pytest.raises(fr.FrontierError, match="cannot be called 'offsets__'"):
        fr.Problem(p.graph, offsets__=fr.vertex("int32"))


def beyond(p, v):
    p.many[v] = fr.degree(p, v + 1)


def test_the_python_backend_checks_neighbours():
    p = around(RING.to("python"))
    with pytest.raises(fr.FunctorError, match=r"valid are 0\.\.4"):
        fr.compute(p, fr.Frontier.all(p.graph), beyond)
